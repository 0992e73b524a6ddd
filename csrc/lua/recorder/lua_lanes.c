/*
** lua_lanes.c - the recorder's stack of each Lua thread. Errors leave
** functions without a return event, so frames are compared with Lua's own calls
** by CallInfo (`ci`): all frames above the one of an event have ended.
**
** Used by hooks.c, coroutines.c, recorder.c and hook_cost.c. The recorder owns
** the lanes; l_lane_end frees one, l_lanes_free all.
*/

#include <stdlib.h>
#include <string.h>

#include "lua/recorder/fast_events.h"
#include "model/base/memory.h"


static uint64_t address_of (const lua_State *thread) {
  return (uint64_t)(uintptr_t)thread;
}


l_lane *l_lane_find (const l_recorder *r, const lua_State *thread) {
  const uint32_t id = pf_id_table_find(&r->lanes.threads, address_of(thread));
  return id == PF_NO_ID ? NULL : r->lanes.list[id];
}


l_lane *l_lane_new (l_recorder *r, lua_State *thread) {
  l_lanes *const lanes = &r->lanes;
  const uint64_t address = address_of(thread);
  uint32_t id;
  if (!pf_grow_filled(&lanes->list, &lanes->capacity,
                      (size_t)lanes->threads.count + 1, 0) ||
      pf_id_table_words(&lanes->threads, &address, 1, &id) != PF_OK)
    return NULL;
  l_lane *const lane = calloc(1, sizeof *lane);
  if (lane == NULL)
    return NULL;
  if (!l_lane_reserve(r, lane)) {
    free(lane);
    return NULL;
  }
  lane->thread = thread;
  lane->base = l_labels_path(r, thread);
  lane->number = lanes->nfree > 0 ? lanes->free[--lanes->nfree] : lanes->used++;
  lane->recorded =
      lane->number < r->max_lanes ? lane->number : r->max_lanes - 1;
  return lanes->list[id] = lane;
}


void l_lane_end (l_recorder *r, lua_State *thread) {
  l_lane *const lane = l_lane_find(r, thread);
  if (lane == NULL || (lane == r->running && r->is_on))
    return;
  if (lane == r->running)
    r->running = NULL;
  l_lane_leave(r, lane, 0);
  r->lanes.list[pf_id_table_find(&r->lanes.threads, address_of(thread))] = NULL;
  /* When out of memory, the number is not used again. */
  if (pf_grow(&r->lanes.free, &r->lanes.free_capacity, r->lanes.nfree + 1))
    r->lanes.free[r->lanes.nfree++] = lane->number;
  free(lane->block);
  free(lane);
}


void l_lanes_mark_stale (l_recorder *r) {
  for (uint32_t i = 0; i < r->lanes.threads.count; i++)
    if (r->lanes.list[i] != NULL)
      r->lanes.list[i]->is_stale = true;
}


void l_lanes_put_open (l_recorder *r) {
  for (uint32_t i = 0; i < r->lanes.threads.count; i++) {
    const l_lane *const lane = r->lanes.list[i];
    for (l_frame *f = lane == NULL ? NULL : lane->frames;
         f != NULL && f <= lane->top; f++)
      l_put_open(r, lane, f);
  }
}


void l_lanes_leave_all (l_recorder *r) {
  for (uint32_t i = 0; i < r->lanes.threads.count; i++) {
    l_lane *const lane = r->lanes.list[i];
    if (lane == NULL)
      continue;
    l_lane_leave(r, lane, 0);
    lane->is_suspended = false;
  }
}


void l_lanes_free (l_lanes *lanes) {
  for (uint32_t i = 0; i < lanes->threads.count; i++) {
    if (lanes->list[i] != NULL)
      free(lanes->list[i]->block);
    free(lanes->list[i]);
  }
  pf_id_table_free(&lanes->threads);
  free(lanes->list);
  free(lanes->free);
  *lanes = (l_lanes){.list = NULL};
  pf_id_table_init(&lanes->threads);
}


bool l_lane_reserve (l_recorder *r, l_lane *lane) {
  const size_t count = lane->block == NULL ? 0 : l_lane_count(lane);
  const size_t capacity = count == 0 ? 32 : count * 2;
  l_frame *const all = pf_array_resize(lane->block, capacity + 2, sizeof *all);
  if (all == NULL) {
    l_recorder_fail(r, PF_ENOMEM, "out of memory");
    return false;
  }
  memset(all + 1 + count, 0, (capacity + 1 - count) * sizeof *all);
  *all = (l_frame){.ci = NULL};
  lane->block = all;
  lane->frames = all + 1;
  lane->top = all + count;
  lane->last = all + capacity;
  return true;
}


void l_lane_leave (l_recorder *r, l_lane *lane, size_t count) {
  while (l_lane_count(lane) > count)
    l_lane_pop(r, lane);
}


size_t l_lane_index (const l_lane *lane, const void *ci) {
  for (const l_frame *f = lane->top; f >= lane->frames; f--)
    if (f->ci == ci)
      return (size_t)(f - lane->frames);
  return SIZE_MAX;
}


/* Returns the current line of a call; in modes without lines the line where its
   function begins. */
static int line_of (lua_State *L, lua_Debug *ar, const l_recorder *r,
                    const l_function *function) {
  lua_getinfo(L, "l", ar);
  const int line = r->by_line ? ar->currentline : function->key.first;
  return line > 0 ? line : 0;
}


/* Moves a frame that is still active to another line. */
static void set_line (l_recorder *r, const l_lane *lane, l_frame *f, int line) {
  if (f->line == line)
    return;
  if (f->has_line && !f->is_hidden && r->mode != L_CALLS)
    l_put_line(r, lane, f);
  f->line = line;
  f->spent = 0;
  f->path = L_NO_ID;
}


/* Returns how many of the lane's calls are still on Lua's stack. `at` is the
   stack level of the outermost one. */
static size_t match_calls (l_recorder *r, l_lane *lane, int at, int level) {
  lua_State *const L = lane->thread;
  lua_Debug ar;
  size_t i = 0;
  for (; i < l_lane_count(lane) && at >= level; i++, at--) {
    l_frame *const f = &lane->frames[i];
    if (f->zone != 0) {
      at++; /* Lua has no call for it */
      continue;
    }
    if (!lua_getstack(L, at, &ar) || f->ci != (const void *)ar.i_ci ||
        f->function != l_function_of(L, &ar, r))
      break;
    set_line(r, lane, f, line_of(L, &ar, r, f->function));
  }
  return i;
}


void l_lane_sync (l_recorder *r, l_lane *lane, int level) {
  lua_State *const L = lane->thread;
  lua_Debug ar;
  lane->is_stale = false;
  l_labels_move(r, lane);
  if (!lua_checkstack(L, LUA_MINSTACK))
    return;
  int first = level - 1;
  while (lua_getstack(L, first + 1, &ar))
    first++;
  const size_t kept = match_calls(r, lane, first, level);
  l_lane_leave(r, lane, kept);
  for (int at = first - (int)kept; at >= level; at--) {
    if (!lua_getstack(L, at, &ar))
      break;
    l_frame *const f = l_lane_push(r, lane, ar.i_ci, l_function_of(L, &ar, r));
    if (f == NULL)
      return;
    f->line = line_of(L, &ar, r, f->function);
    f->has_line = true;
  }
  /* Hides C functions that only exist to call the recorder's own Lua code
     (require, pcall), and the outermost C function, which is the
     interpreter's. */
  for (l_frame *f = lane->frames; f <= lane->top; f++) {
    if (f->function->key.c == NULL)
      continue;
    f->is_hidden |=
        f == lane->frames || (f < lane->top && f[1].function->is_own);
  }
  for (l_frame *f = lane->frames + kept; r->mode == L_CALLS && f <= lane->top;
       f++)
    l_put_enter(r, lane, f);
}
