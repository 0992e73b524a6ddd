/*
** zones.c - zones: parts of a function that the program names, which are
** recorded as calls. A zone lies on the stack above the function in which it
** begins, or above recorder.zone if that calls a function, and has the module
** of the caller.
**
** Modes with hooks have a frame of the zone, with the CallInfo of the function,
** on their own stack. Samples are read from Lua's stack, and get the zones that
** are open in each call. A zone that a program leaves open ends with its call.
**
** core.zone is called by programs. The recorder owns the list of open zones.
*/

#include <stdlib.h>
#include <string.h>

#include "lua/arguments.h"
#include "lua/recorder/fast_events.h"
#include "lua/recorder/sampling.h"
#include "model/base/memory.h"

#define ZONE "profio.zone"

/* Registry key of the value that closes the innermost zone. */
static const char closer_key;


/* Whether the innermost call on a lane is that of recorder.zone or of the
   function that closes a zone. */
static bool has_own_call (const l_lane *lane) {
  return l_lane_count(lane) > 0 && lane->top->function->is_own &&
         lane->top->function->key.c != NULL;
}


/* Returns the lane of the running thread, charged until now, if the mode has
   lanes. */
static l_lane *lane_of (lua_State *L, l_recorder *r) {
  return (r->mask & LUA_MASKCALL) == 0 ? NULL : l_switch(r, L, 0, l_now(r));
}


/* Puts the frame of a zone on a lane, below the call of recorder.zone unless
   the zone lies in that. */
static void push (l_recorder *r, l_lane *lane, const l_zone *zone) {
  const bool is_below =
      has_own_call(lane) && lane->top->ci != (const void *)zone->ci;
  const l_frame call = *lane->top;
  if (is_below)
    lane->top--;
  l_frame *f = l_lane_push(r, lane, zone->ci, zone->function);
  if (f == NULL)
    return;
  f->zone = zone->number;
  f->line = zone->function->key.first;
  f->has_line = true;
  if (r->mode == L_CALLS)
    l_put_enter(r, lane, f);
  if (is_below && (f = l_lane_push(r, lane, call.ci, call.function)) != NULL)
    f->is_hidden = true;
}


/* Leaves the frame of a zone and those above it, but not the call that does
   so. */
static void pop (l_recorder *r, l_lane *lane, const l_zone *zone) {
  size_t at = l_lane_count(lane);
  while (at > 0 && lane->frames[at - 1].zone != zone->number)
    at--;
  if (at == 0)
    return; /* an error has left it */
  const l_frame call = *lane->top;
  const bool is_own = has_own_call(lane);
  if (is_own)
    lane->top--;
  l_lane_leave(r, lane, at - 1);
  l_frame *const f =
      is_own ? l_lane_push(r, lane, call.ci, call.function) : NULL;
  if (f != NULL)
    f->is_hidden = true;
}


/* Opens a zone in the call at `level`. Pushes the value that closes it, or nil
   without a recording. */
static void open_zone (lua_State *L, int level) {
  l_recorder *const r = l_recording_of(L);
  lua_Debug ar, caller;
  if (r == NULL || !r->is_on || !lua_getstack(L, level, &ar) ||
      !lua_getstack(L, 1, &caller)) {
    lua_pushnil(L);
    return;
  }
  const char *const name = lua_tostring(L, 1);
  l_function *const owner = l_function_of(L, &ar, r);
  const l_function *const from = l_function_of(L, &caller, r);
  lua_getinfo(L, "l", &caller);
  const int line = caller.currentline > 0 ? caller.currentline : 0;
  l_function *const function =
      owner == NULL || from == NULL
          ? NULL
          : l_named_function(r, name, from->module, line);
  if (function == NULL ||
      !pf_grow(&r->zones, &r->zone_capacity, r->nzones + 1)) {
    l_recorder_fail(r, PF_ENOMEM, "out of memory");
    lua_pushnil(L);
    return;
  }
  l_zone *const zone = &r->zones[r->nzones++];
  *zone = (l_zone){.thread = L,
                   .ci = ar.i_ci,
                   .owner = owner,
                   .function = function,
                   .number = ++r->last_zone};
  l_lane *const lane = lane_of(L, r);
  if (lane != NULL)
    push(r, lane, zone);
  lua_rawgetp(L, LUA_REGISTRYINDEX, &closer_key);
}


/* Closes the innermost zone of the thread, if the recording of the value at 1
   still runs. */
static int close_zone (lua_State *L) {
  l_recorder *const r = l_recording_of(L);
  const int64_t *const start = luaL_checkudata(L, 1, ZONE);
  if (r == NULL || r->start != *start)
    return 0;
  size_t i = r->nzones;
  while (i > 0 && r->zones[i - 1].thread != L)
    i--;
  if (i == 0)
    return 0;
  const l_zone zone = r->zones[i - 1];
  memmove(&r->zones[i - 1], &r->zones[i], (r->nzones - i) * sizeof zone);
  r->nzones--;
  l_lane *const lane = r->is_on ? lane_of(L, r) : NULL;
  if (lane != NULL)
    pop(r, lane, &zone);
  return 0;
}


static int after_call (lua_State *L, int status, lua_KContext context) {
  (void)status;
  (void)context;
  return lua_gettop(L) - 1;
}


/* core.zone(name): opens a zone and returns the value that closes it when it is
   closed (`local zone <close> = `), nil if nothing is recorded. core.zone(name,
   f, ...): calls f in the zone and returns its results. */
static int core_zone (lua_State *L) {
  if (lua_type(L, 1) != LUA_TSTRING)
    return luaL_error(L, "recorder.zone expects a name, got %s",
                      luaL_typename(L, 1));
  if (lua_gettop(L) == 1) {
    open_zone(L, 1);
    return 1;
  }
  open_zone(L, 0);
  lua_replace(L, 1);
  lua_toclose(L, 1);
  lua_callk(L, lua_gettop(L) - 2, LUA_MULTRET, 0, after_call);
  return after_call(L, LUA_OK, 0);
}


bool l_zone_is_own (lua_CFunction f) {
  return f == core_zone || f == close_zone;
}


size_t l_zones_read (l_recorder *r, const lua_State *thread, const void *ci,
                     const l_function *owner, int line, size_t n) {
  for (size_t i = r->nzones; i > 0 && n < r->depth; i--) {
    const l_zone *const zone = &r->zones[i - 1];
    if (zone->thread == thread && zone->ci == ci && zone->owner == owner)
      r->areas[n++] = l_sample_area(
          r, zone->function, line > 0 ? line : zone->function->key.first);
  }
  return n;
}


void l_zones_end (l_recorder *r, const lua_State *thread) {
  size_t kept = 0;
  for (size_t i = 0; i < r->nzones; i++)
    if (r->zones[i].thread != thread)
      r->zones[kept++] = r->zones[i];
  r->nzones = kept;
}


void l_zones_open (lua_State *L, const l_recorder *r) {
  *(int64_t *)lua_newuserdatauv(L, sizeof r->start, 0) = r->start;
  luaL_setmetatable(L, ZONE);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &closer_key);
}


void l_open_zones (lua_State *L) {
  luaL_newmetatable(L, ZONE);
  lua_pushcfunction(L, close_zone);
  lua_setfield(L, -2, "__close");
  lua_pop(L, 1);
  L_ADD(L, {"zone", core_zone});
}
