/*
** timeline_spans.c - core.store_spans: the spans of all tracks of a timeline,
** read once and stored by track. User value 1: the reader of the events.
**
** Called by lua/profio/exports/lanes.lua. The userdata owns the pf_span_store,
** which its close or the collector frees.
*/


#include "kernels/calls/call_counts.h"
#include "kernels/spans/spans.h"
#include "lua/arguments.h"
#include "lua/stages/timeline_spans.h"
#include "text/rows.h"

#define L_SPANS       "profio.spans"
#define L_CALL_COUNTS "profio.call_counts"

typedef struct l_spans {
  pf_span_store *store; /* owned; NULL when closed */
  bool is_open;         /* flag of its readers */
} l_spans;


const pf_span_store *l_spans_check (lua_State *L, int arg) {
  const l_spans *const s = luaL_checkudata(L, arg, L_SPANS);
  luaL_argcheck(L, s->is_open, arg, "spans are closed");
  return s->store;
}


/* Pushes a reader that borrows the spans at 1. */
static l_reader *new_reader (lua_State *L) {
  l_reader *const r = l_reader_new(L);
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


void l_span_track_facts (lua_State *L, const pf_events *events,
                         const pf_span_track *track) {
  const char *const kind = track->kind == PF_KIND_FUNCTION ? "lane"
                           : track->kind == PF_KIND_STATE  ? "states"
                                                           : "values";
  const bool is_lane = track->kind == PF_KIND_FUNCTION;
  int64_t value = 0;
  uint64_t missing[PF_BATCH_ROWS / 64];
  pf_column column = {
      .type = pf_events_lane_type(events), .data = &value, .missing = missing};
  pf_dictionary *const d = events->reader->dictionary;
  pf_events_put_lane(events, is_lane ? track->lane : PF_NO_SLOT, &column, 0);
  l_push_value(L, &column, 0, d, 0);
  lua_setfield(L, -2, "value");
  l_set_text(L, "kind", kind);
  if (!is_lane)
    l_set_bytes(L, "variable", pf_name(d, pf_span_variable(d, track)));
  l_set_int(L, "run", track->run);
}


/* Pushes the description of a track. */
static void push_track (lua_State *L, const pf_span_store *store,
                        const pf_span_track *track, uint32_t number) {
  lua_createtable(L, 0, 6);
  l_span_track_facts(L, &pf_span_store_tracks(store)->events, track);
  l_set_int(L, "area", track->area);
  l_set_int(L, "rows", (lua_Integer)pf_span_store_rows(store, number));
}


/*
** spans:tracks(): { { kind = "lane", "states" or "values", value = that of the
** lane, variable =, area =, run =, rows = }, ... } in the order of first
** occurrence; area is the id of the first area of a variable, run how often
** the clock has started again before the track, rows the number of opens and
** closes.
*/
static int spans_tracks (lua_State *L) {
  const pf_span_store *const store = l_spans_check(L, 1);
  const pf_span_tracks *const tracks = pf_span_store_tracks(store);
  lua_createtable(L, (int)tracks->count, 0);
  for (uint32_t i = 0; i < tracks->count; i++) {
    push_track(L, store, &tracks->list[i], i);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  return 1;
}


/* spans:ends(): the first and the last time of the events, in ns. */
static int spans_ends (lua_State *L) {
  const pf_span_tracks *const tracks =
      pf_span_store_tracks(l_spans_check(L, 1));
  lua_pushinteger(L, tracks->first);
  lua_pushinteger(L, tracks->last);
  return 2;
}


/* spans:reader(track, origin): a reader of a track (from 1) with kind, time
   minus `origin` (default 0), frame, name, net, flags and depth (of calls,
   from 1). */
static int spans_reader (lua_State *L) {
  const pf_span_store *const store = l_spans_check(L, 1);
  const lua_Integer track = luaL_checkinteger(L, 2);
  const lua_Integer origin = luaL_optinteger(L, 3, 0);
  luaL_argcheck(L, track >= 1 && track <= pf_span_store_tracks(store)->count, 2,
                "no such track");
  l_reader *const r = new_reader(L);
  return l_reader_opened(L,
                         pf_span_store_reader(store, (uint32_t)track - 1,
                                              origin, &r->reader, &r->error));
}


/* spans:frames(): a reader of all frames with frame, area and name. */
static int spans_frames (lua_State *L) {
  const pf_span_store *const store = l_spans_check(L, 1);
  l_reader *const r = new_reader(L);
  return l_reader_opened(L, pf_span_store_frames(store, &r->reader, &r->error));
}


/* spans:frame_count(): the number of frames. */
static int spans_frame_count (lua_State *L) {
  lua_pushinteger(L, pf_span_store_frame_count(l_spans_check(L, 1)));
  return 1;
}


void l_call_times (lua_State *L, int arg, pf_call_options *options) {
  options->has_from = l_option_int(L, arg, "from", &options->from);
  options->has_to = l_option_int(L, arg, "to", &options->to);
  options->has_last = l_option_int(L, arg, "last", &options->last);
  if (lua_getfield(L, arg, "counts") != LUA_TNIL)
    options->counts = luaL_checkudata(L, -1, L_CALL_COUNTS);
  lua_pop(L, 1);
}


/* core.call_counts(): counts of calls (pf_call_counts of call.h), which the
   functions with the option `counts` set when they have read all events. */
static int core_call_counts (lua_State *L) {
  (void)l_new(L, L_CALL_COUNTS, sizeof(pf_call_counts), 0);
  return 1;
}


/*
** call_counts:values(): numbers of calls: all that ended; those without an
** enter or a leave; of these, those that another call unwound or in which they
** were left; enters inside of another call; of these, those that came later
** than its suspend; enters and resumes while another call of the lane ran.
*/
static int counts_values (lua_State *L) {
  const pf_call_counts *const c = luaL_checkudata(L, 1, L_CALL_COUNTS);
  lua_pushinteger(L, (lua_Integer)c->calls);
  lua_pushinteger(L, (lua_Integer)c->unmatched);
  lua_pushinteger(L, (lua_Integer)c->crossed);
  lua_pushinteger(L, (lua_Integer)c->nested);
  lua_pushinteger(L, (lua_Integer)c->late);
  lua_pushinteger(L, (lua_Integer)c->running);
  return 6;
}


/*
** core.store_spans(events, options): the calls of events as properly nested
** opens and closes on tracks; reads all events. Options: from, to, last (see
** trace:calls), lines (of functions too), variables (states and values too),
** idle (rows "idle" and "run"). nil, message, code after a failure.
*/
static int core_store_spans (lua_State *L) {
  l_reader *const events = l_reader_check(L, 1);
  luaL_checktype(L, 2, LUA_TTABLE);
  lua_settop(L, 2);
  pf_spans options = {.lines = l_option_flag(L, 2, "lines"),
                      .variables = l_option_flag(L, 2, "variables"),
                      .idle = l_option_flag(L, 2, "idle"),
                      .put_number = row_put_num};
  l_call_times(L, 2, &options.calls);
  l_spans *const s = l_new(L, L_SPANS, sizeof *s, 1);
  l_pin(L, -1, 1, 1);
  events->is_input = true;
  pf_error error;
  if (pf_span_store_open(events->reader, &options, &s->store, &error) != PF_OK)
    return l_failure_of(L, &error, 1);
  s->is_open = true;
  return 1;
}


void l_open_timeline_spans (lua_State *L) {
  l_class(L, L_SPANS,
          L_METHODS({"ends", spans_ends}, {"frames", spans_frames},
                    {"frame_count", spans_frame_count},
                    {"reader", spans_reader}, {"tracks", spans_tracks},
                    {"close", spans_gc}),
          spans_gc, spans_gc);
  l_class(L, L_CALL_COUNTS, L_METHODS({"values", counts_values}), NULL, NULL);
  L_ADD(L, {"call_counts", core_call_counts},
        {"store_spans", core_store_spans});
}
