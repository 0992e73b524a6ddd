/*
** spans.c - core.kept_spans: what opens and closes in each lane of events,
** read once. User value 1: the reader of the events.
*/

#include <string.h>

#include "kernels/kept_spans.h"
#include "lua/binding.h"

#define L_SPANS "profio.spans"

typedef struct l_spans {
  pf_kept_spans *kept; /* NULL when closed */
  bool is_open;        /* its readers look at it */
} l_spans;


static const pf_kept_spans *check (lua_State *L) {
  const l_spans *const s = luaL_checkudata(L, 1, L_SPANS);
  luaL_argcheck(L, s->is_open, 1, "spans are closed");
  return s->kept;
}


/* Push a reader that borrows from the spans at 1. */
static l_reader *new_reader (lua_State *L) {
  const int pins[] = {1};
  l_reader *const r = l_reader_new(L, pins, 1);
  r->open = &((const l_spans *)lua_touserdata(L, 1))->is_open;
  return r;
}


static int spans_gc (lua_State *L) {
  l_spans *const s = luaL_checkudata(L, 1, L_SPANS);
  s->is_open = false;
  pf_kept_spans_close(s->kept);
  s->kept = NULL;
  return 0;
}


/* Push the value of a lane; nil: it is not known, or there are none. */
static void push_lane (lua_State *L, const pf_kept_spans *kept, uint32_t lane) {
  const pf_events *const events = pf_kept_spans_events(kept);
  int64_t value = 0;
  uint64_t missing[PF_BATCH_ROWS / 64];
  pf_column column = {
      .type = pf_events_lane_type(events), .data = &value, .missing = missing};
  pf_events_put_lane(events, lane, &column, 0);
  l_push_value(L, &column, 0, events->reader->dictionary, 0);
}


/* spans:lanes(): { { value =, rows = }, ... } by first sight; rows are what
   opens and what closes. */
static int spans_lanes (lua_State *L) {
  const pf_kept_spans *const kept = check(L);
  const uint32_t count = pf_kept_spans_lanes(kept);
  lua_createtable(L, (int)count, 0);
  for (uint32_t i = 0; i < count; i++) {
    lua_createtable(L, 0, 2);
    push_lane(L, kept, i);
    lua_setfield(L, -2, "value");
    lua_pushinteger(L, (lua_Integer)pf_kept_spans_rows(kept, i));
    lua_setfield(L, -2, "rows");
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  return 1;
}


/* spans:ends(): the first and the last time of the events. */
static int spans_ends (lua_State *L) {
  int64_t first, last;
  pf_kept_spans_ends(check(L), &first, &last);
  lua_pushinteger(L, first);
  lua_pushinteger(L, last);
  return 2;
}


/* spans:reader(lane, origin): kind, time, frame of a lane, from 1. */
static int spans_reader (lua_State *L) {
  const pf_kept_spans *const kept = check(L);
  const lua_Integer lane = luaL_checkinteger(L, 2);
  const lua_Integer origin = luaL_optinteger(L, 3, 0);
  luaL_argcheck(L, lane >= 1 && lane <= pf_kept_spans_lanes(kept), 2,
                "no such lane");
  l_reader *const r = new_reader(L);
  pf_error error;
  if (pf_kept_spans_reader(kept, (uint32_t)lane - 1, origin, &r->reader,
                           &error) != PF_OK)
    return l_throw(L, &error, 0);
  return 1;
}


/* spans:frames(): frame, area of all that was open. */
static int spans_frames (lua_State *L) {
  const pf_kept_spans *const kept = check(L);
  l_reader *const r = new_reader(L);
  pf_error error;
  if (pf_kept_spans_frames(kept, &r->reader, &error) != PF_OK)
    return l_throw(L, &error, 0);
  return 1;
}


static bool time_option (lua_State *L, const char *name, int64_t *time) {
  const bool given = lua_getfield(L, 2, name) != LUA_TNIL;
  if (given)
    *time = luaL_checkinteger(L, -1);
  lua_pop(L, 1);
  return given;
}


/*
** core.kept_spans(events, options): read them to their end. Options: lines,
** from, to. nil, message, code when they cannot be read, or kept.
*/
static int core_kept_spans (lua_State *L) {
  l_reader *const events = l_reader_check(L, 1);
  pf_spans options;
  memset(&options, 0, sizeof options);
  luaL_checktype(L, 2, LUA_TTABLE);
  lua_settop(L, 2);
  options.has_from = time_option(L, "from", &options.from);
  options.has_to = time_option(L, "to", &options.to);
  lua_getfield(L, 2, "lines");
  options.lines = lua_toboolean(L, -1) != 0;
  l_spans *const s = lua_newuserdatauv(L, sizeof *s, 1);
  *s = (l_spans){NULL, false};
  luaL_setmetatable(L, L_SPANS);
  lua_pushvalue(L, 1);
  lua_setiuservalue(L, -2, 1);
  events->taken = true;
  pf_error error;
  if (pf_kept_spans_open(events->reader, &options, &s->kept, &error) == PF_OK) {
    s->is_open = true;
    return 1;
  }
  const char *label = NULL;
  if (lua_getiuservalue(L, 1, 2) == LUA_TSTRING)
    label = lua_tostring(L, -1);
  return l_failure(L, &error, label);
}


void l_open_spans (lua_State *L) {
  static const luaL_Reg methods[] = {
      {"ends", spans_ends},   {"frames", spans_frames},
      {"lanes", spans_lanes}, {"reader", spans_reader},
      {"close", spans_gc},    {NULL, NULL}};
  l_class(L, L_SPANS, methods, spans_gc);
  lua_pushcfunction(L, core_kept_spans);
  lua_setfield(L, -2, "kept_spans");
}
