/*
** lane_overview.c - core.overview: the summary of all tracks of a timeline, as
** arrays of JSON for a page. User value 1: the reader of the events.
**
** Called by lua/profio/exports/html/timeline.lua. The userdata owns the
** pf_overview; close or the collector frees it.
*/

#include <math.h>
#include <stdlib.h>

#include "bytes/cursor.h"
#include "lua/arguments.h"
#include "lua/stages/lane_overview.h"
#include "lua/stages/timeline_spans.h"
#include "model/base/memory.h"

l_overview *l_overview_check (lua_State *L) {
  l_overview *const o = luaL_checkudata(L, 1, L_OVERVIEW);
  luaL_argcheck(L, o->overview != NULL, 1, "the overview is closed");
  return o;
}


/* Returns the track with the number (from 1) at index 2. */
static const pf_overview_track *track_check (lua_State *L) {
  const pf_overview *const o = l_overview_of(L);
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
  free(o->indices);
  free(o->shown);
  *o = (l_overview){.overview = NULL};
  return 0;
}


/* Returns the index of a frame in the texts, or -1 for frame 0. */
static int64_t index_of (l_overview *o, uint32_t frame) {
  if (frame == 0)
    return -1;
  if (o->indices[frame] == 0) {
    o->shown[o->nshown++] = frame;
    o->indices[frame] = o->nshown;
  }
  return (int64_t)o->indices[frame] - 1;
}


/* overview:tracks(): { { kind =, value =, variable =, run =, calls =, kept =,
   pauses =, kept_pauses =, intervals =, width =, is_left_out = }, ... } in
   order of first occurrence; calls and pauses count also those that are left
   out. */
static int overview_tracks (lua_State *L) {
  const pf_overview *const o = l_overview_of(L);
  const pf_events *const events = &o->known.events;
  lua_createtable(L, (int)o->known.count, 0);
  for (uint32_t i = 0; i < o->known.count; i++) {
    const pf_span_track *const track = &o->known.list[i];
    lua_createtable(L, 0, 10);
    l_span_track_facts(L, events, track);
    const pf_overview_track *const t = pf_overview_track_at(o, i);
    l_set_bool(L, "is_left_out", t == NULL);
    if (t != NULL) {
      l_set_int(L, "calls", (lua_Integer)t->calls.total);
      l_set_int(L, "kept", (lua_Integer)t->calls.count);
      l_set_int(L, "pauses", (lua_Integer)t->pauses.total);
      l_set_int(L, "kept_pauses", (lua_Integer)t->pauses.count);
      l_set_int(L, "intervals", t->nintervals);
      l_set_int(L, "width", t->width);
    }
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  return 1;
}


/* overview:frames(): { { name =, file = }, ... } of the frames in the texts so
   far, by index + 1. */
static int overview_frames (lua_State *L) {
  const l_overview *const o = l_overview_check(L);
  lua_createtable(L, (int)o->nshown, 0);
  for (uint32_t i = 0; i < o->nshown; i++) {
    lua_createtable(L, 0, 2);
    l_set_frame(L, o->overview, o->shown[i]);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  return 1;
}


/* overview:losses(): { from, to, from, to, ... } of the times in which events
   are lost, in ns from the first time on. */
static int overview_losses (lua_State *L) {
  const pf_overview *const o = l_overview_of(L);
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
  const pf_overview *const o = l_overview_of(L);
  lua_createtable(L, 0, PF_CALL_FLAG_NAMES);
  for (size_t i = 0; i < PF_CALL_FLAG_NAMES; i++)
    l_set_int(L, pf_call_flag_names[i], (lua_Integer)o->known.flagged[i]);
  return 1;
}


/* overview:trim(most): keep fewer calls of all tracks together. The frames of
   earlier texts are forgotten. */
static int overview_trim (lua_State *L) {
  l_overview *const o = l_overview_check(L);
  const lua_Integer most = luaL_checkinteger(L, 2);
  while (o->nshown > 0)
    o->indices[o->shown[--o->nshown]] = 0;
  if (!pf_overview_trim(o->overview, most < 0 ? 0 : (uint64_t)most))
    l_no_memory(L);
  return 0;
}


enum {
  START,
  LENGTH,
  VALUE
};

/* Adds a value of a variable, or null. */
static void add_value (luaL_Buffer *b, bool is_first, double value) {
  char *const at = luaL_prepbuffsize(b, ROW_NUMBER_SIZE + 1);
  char *p = at;
  if (!is_first)
    *p++ = ',';
  if (isfinite(value))
    luaL_addsize(b, (size_t)(row_put_num(p, value) - at));
  else {
    luaL_addsize(b, (size_t)(p - at));
    luaL_addstring(b, "null");
  }
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
    const pf_overview_call *const call = &list->calls[i];
    switch (member) {
      case START:
        l_add_number(&b, i == 0, l_distance(last, call->start));
        break;
      case LENGTH: l_add_number(&b, i == 0, call->length); break;
      default: add_value(&b, i == 0, call->value); break;
    }
    last = call->start;
  }
  luaL_addchar(&b, ']');
  luaL_pushresult(&b);
}


/* overview:column(track, list, member): a member (start, length, value) of the
   calls or pauses of a track as an array of JSON. */
static int overview_column (lua_State *L) {
  static const char *const lists[] = {"calls", "pauses", NULL};
  static const char *const members[] = {"start", "length", "value", NULL};
  const pf_overview *const o = l_overview_of(L);
  const pf_overview_track *const t = track_check(L);
  const int list = luaL_checkoption(L, 3, NULL, lists);
  const int member = luaL_checkoption(L, 4, NULL, members);
  push_calls(L, o, list == 0 ? &t->calls : &t->pauses, member);
  return 1;
}


static void add_varint (luaL_Buffer *b, int64_t value) {
  uint8_t bytes[PF_VARINT_SIZE];
  const uint8_t *const end = pf_save_varint(bytes, (uint64_t)value);
  luaL_addlstring(b, (const char *)bytes, (size_t)(end - bytes));
}


/* overview:packed(track): the calls of a track as bytes: varints (LEB128) of
   the start of each minus that of the one before (of the first one, from the
   first time on), length, depth and frame. */
static int overview_packed (lua_State *L) {
  l_overview *const o = l_overview_check(L);
  const pf_overview_list *const list = &track_check(L)->calls;
  int64_t last = o->overview->options.first;
  luaL_Buffer b;
  luaL_buffinit(L, &b);
  for (size_t i = 0; i < list->count; i++) {
    const pf_overview_call *const call = &list->calls[i];
    add_varint(&b, l_distance(last, call->start));
    add_varint(&b, call->length);
    add_varint(&b, call->depth);
    add_varint(&b, index_of(o, call->frame));
    last = call->start;
  }
  luaL_pushresult(&b);
  return 1;
}


/* overview:uncounted(track): the indices (from 0) of the calls of a track that
   began before it, as an array of JSON. */
static int overview_uncounted (lua_State *L) {
  (void)l_overview_of(L);
  const pf_overview_list *const calls = &track_check(L)->calls;
  bool is_first = true;
  luaL_Buffer b;
  luaL_buffinit(L, &b);
  luaL_addchar(&b, '[');
  for (size_t i = 0; i < calls->count; i++)
    if (!calls->calls[i].is_counted) {
      l_add_number(&b, is_first, (int64_t)i);
      is_first = false;
    }
  luaL_addchar(&b, ']');
  luaL_pushresult(&b);
  return 1;
}


/* overview:intervals(track, member, each): a member (busy and idle in
   thousandths, top, begun, low, high) of the intervals of a track, of which
   `each` (from 1) are merged, as an array of JSON. */
static int overview_intervals (lua_State *L) {
  static const char *const members[] = {"busy", "idle", "top", "begun",
                                        "low",  "high", NULL};
  l_overview *const o = l_overview_check(L);
  const pf_overview_track *const t = track_check(L);
  const int member = luaL_checkoption(L, 3, NULL, members);
  const lua_Integer given = luaL_optinteger(L, 4, 1);
  const uint32_t all = t->nintervals;
  const uint32_t each = given < 1 ? 1 : given > all ? all : (uint32_t)given;
  const double whole = (double)t->width * each;
  luaL_Buffer b;
  luaL_buffinit(L, &b);
  luaL_addchar(&b, '[');
  for (uint32_t n = 0; n < all; n += each) {
    const pf_overview_interval i =
        pf_intervals_merged(&t->intervals[n], all - n < each ? all - n : each);
    if (member >= 4) {
      add_value(&b, n == 0,
                !i.has_values ? (double)NAN
                : member == 4 ? i.low
                              : i.high);
      continue;
    }
    int64_t value;
    switch (member) {
      case 0: value = pf_thousandths(i.busy, whole); break;
      case 1: value = pf_thousandths(i.idle, whole); break;
      case 2: value = index_of(o, i.top); break;
      default: value = (int64_t)i.begun; break;
    }
    l_add_number(&b, n == 0, value);
  }
  luaL_addchar(&b, ']');
  luaL_pushresult(&b);
  return 1;
}

/* Returns an option that is a positive number of elements. */
static uint32_t option_count (lua_State *L, const char *name) {
  int64_t value = 1;
  l_option_int(L, 2, name, &value);
  return value < 1 ? 1 : value > 1 << 24 ? 1 << 24 : (uint32_t)value;
}


/*
** core.overview(events, options): reads all events. Options: first and length
** (ns), intervals (of each track), most_calls (of all tracks), most_pauses (of
** each track), most_variables, most_values, most_longest (functions), from, to,
** last (see trace:calls). nil, message, code if the events cannot be read.
*/
static int core_overview (lua_State *L) {
  l_reader *const events = l_reader_check(L, 1);
  luaL_checktype(L, 2, LUA_TTABLE);
  lua_settop(L, 2);
  pf_overview_options options = {
      .intervals = option_count(L, "intervals"),
      .most_values = option_count(L, "most_values"),
      .most_calls = option_count(L, "most_calls"),
      .most_pauses = option_count(L, "most_pauses"),
      .most_variables = option_count(L, "most_variables"),
      .most_longest = option_count(L, "most_longest")};
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
  const size_t frames = o->overview->nframes + 1;
  o->indices = pf_array_of_zeros(frames, sizeof *o->indices);
  o->shown = pf_array(frames, sizeof *o->shown);
  if (o->indices == NULL || o->shown == NULL ||
      !pf_overview_trim(o->overview, options.most_calls))
    l_no_memory(L);
  return 1;
}


void l_open_lane_overview (lua_State *L) {
  static const luaL_Reg methods[] = {{"column", overview_column},
                                     {"flagged", overview_flagged},
                                     {"frames", overview_frames},
                                     {"intervals", overview_intervals},
                                     {"losses", overview_losses},
                                     {"packed", overview_packed},
                                     {"tracks", overview_tracks},
                                     {"trim", overview_trim},
                                     {"uncounted", overview_uncounted},
                                     {"heat", l_overview_heat},
                                     {"heat_width", l_overview_heat_width},
                                     {"heaviest", l_overview_heaviest},
                                     {"histogram", l_overview_histogram},
                                     {"worst", l_overview_worst},
                                     {"close", overview_gc},
                                     {NULL, NULL}};
  l_class(L, L_OVERVIEW, methods, overview_gc, overview_gc);
  lua_pushcfunction(L, core_overview);
  lua_setfield(L, -2, "overview");
}
