/*
** timeline_spans.c - core.kept_spans: the spans of all tracks of a timeline,
** read once and stored by track. User value 1: the reader of the events.
*/

#include <string.h>

#include "kernels/spans/track_store.h"
#include "lua/binding.h"
#include "lua/stages/timeline_spans.h"

#define L_SPANS "profio.spans"

typedef struct l_spans {
  pf_span_store *store; /* owned; NULL when closed */
  bool is_open;         /* flag of its readers */
} l_spans;


const pf_span_store *l_spans_check (lua_State *L, int arg) {
  const l_spans *const s = luaL_checkudata(L, arg, L_SPANS);
  luaL_argcheck(L, s->is_open, arg, "spans are closed");
  return s->store;
}


static const pf_span_store *check (lua_State *L) {
  return l_spans_check(L, 1);
}


/* Pushes a reader that borrows the spans at 1. */
static l_reader *new_reader (lua_State *L) {
  const int pins[] = {1};
  l_reader *const r = l_reader_new(L, pins, 1);
  r->open = &((const l_spans *)lua_touserdata(L, 1))->is_open;
  return r;
}


static int spans_gc (lua_State *L) {
  l_spans *const s = luaL_checkudata(L, 1, L_SPANS);
  s->is_open = false;
  pf_span_store_close(s->store);
  s->store = NULL;
  return 0;
}


/* Pushes the value of a lane; nil if it is unknown. */
static void push_lane (lua_State *L, const pf_span_store *store,
                       uint32_t lane) {
  const pf_events *const events = pf_span_store_events(store);
  int64_t value = 0;
  uint64_t missing[PF_BATCH_ROWS / 64];
  pf_column column = {
      .type = pf_events_lane_type(events), .data = &value, .missing = missing};
  pf_events_put_lane(events, lane, &column, 0);
  l_push_value(L, &column, 0, events->reader->dictionary, 0);
}


/* Pushes the description of a track. */
static void push_track (lua_State *L, const pf_span_store *store,
                        const pf_span_track *track, uint32_t number) {
  const char *const kind = track->kind == PF_KIND_FUNCTION ? "lane"
                           : track->kind == PF_KIND_STATE  ? "states"
                                                           : "values";
  const uint32_t variable = pf_span_store_variable(store, number);
  lua_createtable(L, 0, 6);
  push_lane(L, store,
            track->kind == PF_KIND_FUNCTION ? track->lane : PF_NO_SLOT);
  lua_setfield(L, -2, "value");
  lua_pushstring(L, kind);
  lua_setfield(L, -2, "kind");
  if (variable != PF_NO_NAME) {
    const pf_bytes name =
        pf_name(pf_span_store_events(store)->reader->dictionary, variable);
    lua_pushlstring(L, (const char *)name.at, name.size);
    lua_setfield(L, -2, "variable");
  }
  lua_pushinteger(L, track->area);
  lua_setfield(L, -2, "area");
  lua_pushinteger(L, track->run);
  lua_setfield(L, -2, "run");
  lua_pushinteger(L, (lua_Integer)pf_span_store_rows(store, number));
  lua_setfield(L, -2, "rows");
}


/* spans:tracks(): { { kind =, value =, variable =, area =, run =, rows = }, ...
   } in order of appearance; rows is the number of opens and closes, area the id
   of one area. */
static int spans_tracks (lua_State *L) {
  uint32_t count;
  const pf_span_store *const store = check(L);
  const pf_span_track *const tracks = pf_span_store_tracks(store, &count);
  lua_createtable(L, (int)count, 0);
  for (uint32_t i = 0; i < count; i++) {
    push_track(L, store, &tracks[i], i);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  return 1;
}


/* spans:ends(): the first and the last time of the events, in ns. */
static int spans_ends (lua_State *L) {
  int64_t first, last;
  pf_span_store_limits(check(L), &first, &last);
  lua_pushinteger(L, first);
  lua_pushinteger(L, last);
  return 2;
}


/* spans:reader(track, origin): a reader of a track (from 1) with kind, time,
   frame, name, net and flags. */
static int spans_reader (lua_State *L) {
  uint32_t count;
  const pf_span_store *const store = check(L);
  const lua_Integer track = luaL_checkinteger(L, 2);
  const lua_Integer origin = luaL_optinteger(L, 3, 0);
  (void)pf_span_store_tracks(store, &count);
  luaL_argcheck(L, track >= 1 && track <= count, 2, "no such track");
  l_reader *const r = new_reader(L);
  pf_error error;
  if (pf_span_store_reader(store, (uint32_t)track - 1, origin, &r->reader,
                           &error) != PF_OK)
    return l_throw(L, &error, 0);
  return 1;
}


/* spans:frames(): a reader of all frames with frame, area and name. */
static int spans_frames (lua_State *L) {
  const pf_span_store *const store = check(L);
  l_reader *const r = new_reader(L);
  pf_error error;
  if (pf_span_store_frames(store, &r->reader, &error) != PF_OK)
    return l_throw(L, &error, 0);
  return 1;
}


static int spans_frame_count (lua_State *L) {
  lua_pushinteger(L, pf_span_store_frame_count(check(L)));
  return 1;
}


static bool time_option (lua_State *L, const char *name, int64_t *time) {
  const bool given = lua_getfield(L, 2, name) != LUA_TNIL;
  if (given)
    *time = luaL_checkinteger(L, -1);
  lua_pop(L, 1);
  return given;
}


static bool is_set (lua_State *L, const char *name) {
  lua_getfield(L, 2, name);
  const bool set = lua_toboolean(L, -1) != 0;
  lua_pop(L, 1);
  return set;
}


/*
** core.kept_spans(events, options): reads all events. Options: from, to, last
** (see trace:calls), lines (of functions too), variables (states and values
** too), rests (rows "rest" and "run"). nil, message, code if they cannot be
** read or stored.
*/
static int core_kept_spans (lua_State *L) {
  l_reader *const events = l_reader_check(L, 1);
  pf_spans options;
  memset(&options, 0, sizeof options);
  luaL_checktype(L, 2, LUA_TTABLE);
  lua_settop(L, 2);
  pf_call_options *const calls = &options.calls;
  calls->has_from = time_option(L, "from", &calls->from);
  calls->has_to = time_option(L, "to", &calls->to);
  calls->has_last = time_option(L, "last", &calls->last);
  options.lines = is_set(L, "lines");
  options.variables = is_set(L, "variables");
  options.rests = is_set(L, "rests");
  l_spans *const s = lua_newuserdatauv(L, sizeof *s, 1);
  *s = (l_spans){NULL, false};
  luaL_setmetatable(L, L_SPANS);
  lua_pushvalue(L, 1);
  lua_setiuservalue(L, -2, 1);
  events->is_input = true;
  pf_error error;
  if (pf_span_store_open(events->reader, &options, &s->store, &error) ==
      PF_OK) {
    s->is_open = true;
    return 1;
  }
  const char *label = NULL;
  if (lua_getiuservalue(L, 1, 2) == LUA_TSTRING)
    label = lua_tostring(L, -1);
  return l_failure(L, &error, label);
}


void l_open_timeline_spans (lua_State *L) {
  static const luaL_Reg methods[] = {{"ends", spans_ends},
                                     {"frames", spans_frames},
                                     {"frame_count", spans_frame_count},
                                     {"reader", spans_reader},
                                     {"tracks", spans_tracks},
                                     {"close", spans_gc},
                                     {NULL, NULL}};
  l_class(L, L_SPANS, methods, spans_gc);
  lua_pushcfunction(L, core_kept_spans);
  lua_setfield(L, -2, "kept_spans");
}
