/*
** lane_overview.c - core.overview: the summary of all tracks of a timeline, as
** arrays of JSON for a page. User value 1: the reader of the events.
*/

#include "kernels/spans/overview.h"
#include "lua/arguments.h"
#include "lua/binding.h"
#include "lua/stages/timeline_spans.h"
#include "model/dictionary/areas.h"
#include "text/rows.h"

#define L_OVERVIEW "profio.overview"

typedef struct l_overview {
  pf_overview *overview; /* owned; NULL when closed */
} l_overview;


static const pf_overview *overview_check (lua_State *L) {
  const l_overview *const o = luaL_checkudata(L, 1, L_OVERVIEW);
  luaL_argcheck(L, o->overview != NULL, 1, "the overview is closed");
  return o->overview;
}


/* Returns the track with the number (from 1) at index 2. */
static const pf_overview_track *track_check (lua_State *L) {
  const pf_overview *const o = overview_check(L);
  const lua_Integer number = luaL_checkinteger(L, 2);
  const bool is_number = number >= 1 && number <= o->known.count;
  const pf_overview_track *const track =
      is_number ? pf_overview_track_at(o, (uint32_t)number - 1) : NULL;
  luaL_argcheck(L, track != NULL, 2, "no such track");
  return track;
}


static int overview_gc (lua_State *L) {
  l_overview *const o = luaL_checkudata(L, 1, L_OVERVIEW);
  pf_overview_close(o->overview);
  o->overview = NULL;
  return 0;
}


/* Pushes the name of an area of the events. */
static void push_name (lua_State *L, const pf_overview *o, uint32_t area) {
  pf_dictionary *const d = o->known.events.reader->dictionary;
  const pf_type type =
      o->known.events.reader->fields[o->known.events.area].type;
  l_push_name(L, d, type == PF_AREA ? pf_area_name(d, area) : area, 0);
}


/* overview:tracks(): { { kind =, value =, variable =, run =, calls =, kept =,
   pauses =, is_left_out = }, ... } in order of first occurrence; calls and
   pauses count also those that are left out. */
static int overview_tracks (lua_State *L) {
  const pf_overview *const o = overview_check(L);
  const pf_events *const events = &o->known.events;
  lua_createtable(L, (int)o->known.count, 0);
  for (uint32_t i = 0; i < o->known.count; i++) {
    const pf_span_track *const track = &o->known.list[i];
    lua_createtable(L, 0, 7);
    l_span_track_facts(L, events, track);
    const pf_overview_track *const t = pf_overview_track_at(o, i);
    l_set_bool(L, "is_left_out", t == NULL);
    if (t != NULL) {
      l_set_int(L, "calls", (lua_Integer)t->calls.total);
      l_set_int(L, "kept", (lua_Integer)t->calls.count);
      l_set_int(L, "pauses", (lua_Integer)t->pauses.total);
    }
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  return 1;
}


/* overview:frames(): the names of the frames. */
static int overview_frames (lua_State *L) {
  const pf_overview *const o = overview_check(L);
  lua_createtable(L, (int)o->nframes, 0);
  for (size_t frame = 1; frame <= o->nframes; frame++) {
    push_name(L, o, o->areas[frame]);
    lua_rawseti(L, -2, (lua_Integer)frame);
  }
  return 1;
}


/* overview:losses(): { from, to, from, to, ... } of the times in which events
   are lost, in ns from the first time on. */
static int overview_losses (lua_State *L) {
  const pf_overview *const o = overview_check(L);
  const pf_span_tracks *const known = &o->known;
  lua_createtable(L, (int)known->nlosses * 2, 0);
  for (size_t i = 0; i < known->nlosses; i++) {
    lua_pushinteger(L, known->losses[i].from - o->options.first);
    lua_rawseti(L, -2, (lua_Integer)(2 * i + 1));
    lua_pushinteger(L, known->losses[i].to - o->options.first);
    lua_rawseti(L, -2, (lua_Integer)(2 * i + 2));
  }
  return 1;
}


/* overview:flagged(): how many calls of functions have each flag (call.h), by
   its name. */
static int overview_flagged (lua_State *L) {
  const pf_overview *const o = overview_check(L);
  lua_createtable(L, 0, PF_CALL_FLAG_NAMES);
  for (size_t i = 0; i < PF_CALL_FLAG_NAMES; i++)
    l_set_int(L, pf_call_flag_names[i], (lua_Integer)o->known.flagged[i]);
  return 1;
}


/* overview:worst(): of each frame its longest call in a lane, or false: { track
   =, start =, length =, depth = }; times in ns from the first time on. */
static int overview_worst (lua_State *L) {
  const pf_overview *const o = overview_check(L);
  lua_createtable(L, (int)o->nframes, 0);
  for (size_t frame = 1; frame <= o->nframes; frame++) {
    const pf_overview_call *const call = &o->worst[frame];
    if (call->length < 0)
      lua_pushboolean(L, false);
    else {
      lua_createtable(L, 0, 4);
      l_set_int(L, "track", (lua_Integer)o->worst_track[frame] + 1);
      l_set_int(L, "start", call->start - o->options.first);
      l_set_int(L, "length", call->length);
      l_set_int(L, "depth", call->depth);
    }
    lua_rawseti(L, -2, (lua_Integer)frame);
  }
  return 1;
}


/* {====== Columns ====== */

enum {
  START,
  LENGTH,
  DEPTH,
  FRAME,
  FLAGS,
  VALUE
};

static int64_t call_member (const pf_overview_call *call, int member) {
  switch (member) {
    case START: return call->start;
    case LENGTH: return call->length;
    case DEPTH: return call->depth;
    case FRAME: return (int64_t)call->frame - 1;
    case FLAGS: return call->flags;
    default: return call->value;
  }
}


static void add_number (luaL_Buffer *b, bool is_first, int64_t value) {
  char *const at = luaL_prepbuffsize(b, ROW_NUMBER_SIZE);
  char *p = at;
  if (!is_first)
    *p++ = ',';
  luaL_addsize(b, (size_t)(row_put_int(p, value) - at));
}


/* Pushes an array; starts are differences, the first one from the first time
   on. */
static void push_calls (lua_State *L, const pf_overview *o,
                        const pf_overview_list *list, int member) {
  luaL_Buffer b;
  int64_t last = o->options.first;
  luaL_buffinit(L, &b);
  luaL_addchar(&b, '[');
  for (size_t i = 0; i < list->count; i++) {
    const int64_t value = call_member(&list->calls[i], member);
    add_number(&b, i == 0, member == START ? value - last : value);
    last = value;
  }
  luaL_addchar(&b, ']');
  luaL_pushresult(&b);
}


/* overview:column(track, list, member): a member (start, length, depth, frame,
   flags, value) of the calls or pauses of a track as an array of JSON. */
static int overview_column (lua_State *L) {
  static const char *const lists[] = {"calls", "pauses", NULL};
  static const char *const members[] = {"start", "length", "depth", "frame",
                                        "flags", "value",  NULL};
  const pf_overview *const o = overview_check(L);
  const pf_overview_track *const t = track_check(L);
  const int list = luaL_checkoption(L, 3, NULL, lists);
  const int member = luaL_checkoption(L, 4, NULL, members);
  push_calls(L, o, list == 0 ? &t->calls : &t->pauses, member);
  return 1;
}


/* overview:intervals(track, member): a member (busy and idle in thousandths,
   top, begun, low, high) of the intervals of a track as an array of JSON. */
static int overview_intervals (lua_State *L) {
  static const char *const members[] = {"busy", "idle", "top", "begun",
                                        "low",  "high", NULL};
  const pf_overview *const o = overview_check(L);
  const pf_overview_track *const t = track_check(L);
  const int member = luaL_checkoption(L, 3, NULL, members);
  luaL_Buffer b;
  luaL_buffinit(L, &b);
  luaL_addchar(&b, '[');
  for (uint32_t n = 0; n < o->options.intervals; n++) {
    const pf_overview_interval *const i = &t->intervals[n];
    const double thousandth = (double)o->width / 1000;
    const int64_t values[] = {(int64_t)((double)i->busy / thousandth + 0.5),
                              (int64_t)((double)i->idle / thousandth + 0.5),
                              (int64_t)i->top - 1,
                              (int64_t)i->begun,
                              i->low,
                              i->high};
    add_number(&b, n == 0, values[member]);
  }
  luaL_addchar(&b, ']');
  luaL_pushresult(&b);
  return 1;
}

/* overview:histogram(frame, duration): the counts of a duration (net, gross,
   period) as an array of JSON with four numbers for each bucket that has calls:
   its least duration, count, and track (from 1) and start of one of the calls,
   in ns from the first time on; nil without calls. */
static int overview_histogram (lua_State *L) {
  static const char *const names[] = {"net", "gross", "period", NULL};
  const pf_overview *const o = overview_check(L);
  const lua_Integer frame = luaL_checkinteger(L, 2);
  const int duration = luaL_checkoption(L, 3, NULL, names);
  luaL_argcheck(L, frame >= 1 && (size_t)frame <= o->nframes, 2,
                "no such frame");
  if ((size_t)frame >= o->histograms_capacity)
    return 0;
  const pf_histogram *const h = &o->histograms[frame][duration];
  bool is_first = true;
  luaL_Buffer b;
  luaL_buffinit(L, &b);
  luaL_addchar(&b, '[');
  for (size_t i = 0; i < h->count; i++) {
    const pf_histogram_cell *const cell = &h->cells[i];
    const int64_t numbers[] = {pf_histogram_low(h->first + (uint32_t)i),
                               (int64_t)cell->count, (int64_t)cell->track + 1,
                               cell->start - o->options.first};
    for (size_t n = 0; cell->count > 0 && n < 4; n++) {
      add_number(&b, is_first, numbers[n]);
      is_first = false;
    }
  }
  luaL_addchar(&b, ']');
  luaL_pushresult(&b);
  return h->count > 0;
}

/* }====== */


/* Returns an option that is a positive number of elements. */
static uint32_t option_count (lua_State *L, const char *name) {
  int64_t value = 1;
  l_option_int(L, 2, name, &value);
  return value < 1 ? 1 : value > 1 << 24 ? 1 << 24 : (uint32_t)value;
}


/*
** core.overview(events, options): reads all events. Options: first and length
** (ns), intervals (of each track), most_calls and most_pauses (of each track),
** most_variables,
** most_values, all_calls (of all tracks), from, to, last (see trace:calls). nil, message,
** code if the events cannot be read.
*/
static int core_overview (lua_State *L) {
  l_reader *const events = l_reader_check(L, 1);
  luaL_checktype(L, 2, LUA_TTABLE);
  lua_settop(L, 2);
  pf_overview_options options = {.intervals = option_count(L, "intervals"),
                                 .most_values = option_count(L, "most_values"),
                                 .most_calls = option_count(L, "most_calls"),
                                 .most_pauses = option_count(L, "most_pauses"),
                                 .most_variables =
                                     option_count(L, "most_variables")};
  const uint32_t all = option_count(L, "all_calls");
  l_option_int(L, 2, "first", &options.first);
  l_option_int(L, 2, "length", &options.length);
  l_call_times(L, 2, &options.calls);
  luaL_argcheck(L, options.length >= 0, 2, "length is negative");
  l_overview *const o = l_new(L, L_OVERVIEW, sizeof *o, 1);
  l_pin(L, -1, 1, 1);
  events->is_input = true;
  pf_error error;
  if (pf_overview_open(events->reader, &options, &o->overview, &error) != PF_OK)
    return l_failure_of(L, &error, 1);
  if (!pf_overview_trim(o->overview, all))
    l_no_memory(L);
  return 1;
}


void l_open_lane_overview (lua_State *L) {
  static const luaL_Reg methods[] = {{"column", overview_column},
                                     {"flagged", overview_flagged},
                                     {"frames", overview_frames},
                                     {"histogram", overview_histogram},
                                     {"intervals", overview_intervals},
                                     {"losses", overview_losses},
                                     {"tracks", overview_tracks},
                                     {"worst", overview_worst},
                                     {"close", overview_gc},
                                     {NULL, NULL}};
  l_class(L, L_OVERVIEW, methods, overview_gc, overview_gc);
  lua_pushcfunction(L, core_overview);
  lua_setfield(L, -2, "overview");
}
