/*
** overview_functions.c - methods of core.overview about functions: how long
** their calls last, and the longest ones.
*/

#include "kernels/base/order.h"
#include "lua/arguments.h"
#include "lua/stages/lane_overview.h"
#include "model/base/sorts.h"
#include "model/dictionary/areas.h"

void l_set_frame (lua_State *L, const pf_overview *o, uint32_t frame) {
  const uint32_t area = o->areas[frame];
  pf_dictionary *const d = o->known.events.reader->dictionary;
  const bool is_area =
      o->known.events.reader->fields[o->known.events.area].type == PF_AREA;
  l_push_name(L, d, is_area ? pf_area_name(d, area) : area, 0);
  lua_setfield(L, -2, "name");
  const uint32_t file = is_area ? pf_area_at(d, area)->file : PF_NO_NAME;
  if (file != PF_NO_NAME) {
    l_push_name(L, d, file, 0);
    lua_setfield(L, -2, "file");
  }
}


void l_add_number (luaL_Buffer *b, bool is_first, int64_t value) {
  char *const at = luaL_prepbuffsize(b, ROW_NUMBER_SIZE);
  char *p = at;
  if (!is_first)
    *p++ = ',';
  luaL_addsize(b, (size_t)(row_put_int(p, value) - at));
}


/* overview:heat_width(): ns of a column of the heat maps. */
int l_overview_heat_width (lua_State *L) {
  lua_pushinteger(L, l_overview_of(L)->durations.width);
  return 1;
}

/* Returns the frame with the number at index 2. */
static size_t frame_check (lua_State *L) {
  const pf_overview *const o = l_overview_of(L);
  const lua_Integer frame = luaL_checkinteger(L, 2);
  luaL_argcheck(L, frame >= 1 && (uint64_t)frame <= o->nframes, 2,
                "no such frame");
  return (size_t)frame;
}


/* overview:heaviest(most): the frames with most net time, of those with
   durations (PF_OVERVIEW_DURATIONS), each a table with `frame`, `name` and
   `file`. */
int l_overview_heaviest (lua_State *L) {
  pf_overview *const o = l_overview_of(L);
  const lua_Integer most = luaL_checkinteger(L, 2);
  const size_t count = o->durations.count;
  pf_pair *const pairs = l_scratch(L, 2 * count + 1, sizeof *pairs);
  size_t found = 0;
  for (size_t i = 1; i < count; i++)
    if (o->durations.frames[i].histograms[0].count > 0 ||
        o->worst[i].length >= 0)
      pairs[found++] = (pf_pair){~(uint64_t)o->durations.frames[i].net, i};
  pf_sort_pairs(pairs, pairs + count, found);
  lua_newtable(L);
  for (size_t i = 0; i < found && (lua_Integer)i < most; i++) {
    lua_createtable(L, 0, 3);
    l_set_int(L, "frame", (int64_t)pairs[i].row);
    l_set_frame(L, o, (uint32_t)pairs[i].row);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  return 1;
}


/* overview:worst(frame): track (from 1), start in ns from the first time on,
   length and depth of the longest call of a frame in a lane; nothing without
   calls. */
int l_overview_worst (lua_State *L) {
  const pf_overview *const o = l_overview_of(L);
  const size_t frame = frame_check(L);
  const pf_overview_call *const call = &o->worst[frame];
  if (call->length < 0)
    return 0;
  lua_pushinteger(L, (lua_Integer)o->worst_track[frame] + 1);
  lua_pushinteger(L, l_distance(o->options.first, call->start));
  lua_pushinteger(L, call->length);
  lua_pushinteger(L, call->depth);
  return 4;
}


/* Adds four numbers for each bucket that has calls. */
static void add_cells (luaL_Buffer *b, const pf_overview *o,
                       const pf_duration_histogram *h) {
  bool is_first = true;
  for (size_t i = 0; i < h->count; i++) {
    const pf_duration_cell *const cell = &h->cells[i];
    const int64_t numbers[] = {pf_duration_low(h->first + (uint32_t)i),
                               (int64_t)cell->count, (int64_t)cell->track + 1,
                               l_distance(o->options.first, cell->start)};
    for (size_t n = 0; cell->count > 0 && n < 4; n++) {
      l_add_number(b, is_first, numbers[n]);
      is_first = false;
    }
  }
}


/* overview:histogram(frame, duration): the counts of a duration (net, gross,
   period) as an array of JSON with four numbers for each bucket that has calls:
   its least duration, count, and track (from 1) and start of one of the calls,
   in ns from the first time on; p50, p99 and maximum; whether p50 and p99 are
   estimates. Nothing without calls. */
int l_overview_histogram (lua_State *L) {
  static const char *const names[] = {"net", "gross", "period", NULL};
  pf_overview *const o = l_overview_of(L);
  const size_t frame = frame_check(L);
  const int kind = luaL_checkoption(L, 3, NULL, names);
  pf_frame_durations *const f = pf_durations_of(&o->durations, frame);
  luaL_Buffer b;
  if (f == NULL || f->histograms[kind].count == 0)
    return 0;
  luaL_buffinit(L, &b);
  luaL_addchar(&b, '[');
  add_cells(&b, o, &f->histograms[kind]);
  luaL_addchar(&b, ']');
  luaL_pushresult(&b);
  pf_quantile *const q = &f->quantiles[kind];
  const uint32_t p50 = PF_RANK_SCALE / 2, p99 = PF_RANK_SCALE / 100 * 99;
  lua_pushinteger(L, pf_unorder_int(pf_quantile_at(q, PF_INT, p50)));
  lua_pushinteger(L, pf_unorder_int(pf_quantile_at(q, PF_INT, p99)));
  lua_pushinteger(L, f->max[kind]);
  lua_pushboolean(L, pf_quantile_error(q, PF_INT, p50) > 0);
  lua_pushboolean(L, pf_quantile_error(q, PF_INT, p99) > 0);
  return 6;
}


/* overview:heat(frame): the calls by time and gross duration as an array of
   JSON with five numbers for each cell that has calls: its column minus that of
   the cell before, bucket, count, and of one of the calls track (from 1) and
   start in ns from the begin of the column on. */
int l_overview_heat (lua_State *L) {
  pf_overview *const o = l_overview_of(L);
  const pf_frame_durations *const f =
      pf_durations_of(&o->durations, frame_check(L));
  uint32_t last = 0;
  luaL_Buffer b;
  luaL_buffinit(L, &b);
  luaL_addchar(&b, '[');
  for (size_t i = 0; f != NULL && i < f->ncells; i++) {
    const uint64_t key = o->durations.keys.words[f->cells[i]];
    const pf_heat_cell *const cell = &o->durations.cells[f->cells[i]];
    const uint32_t column = pf_heat_column(key);
    l_add_number(&b, i == 0, column - last);
    l_add_number(&b, false, pf_heat_bucket(key));
    l_add_number(&b, false, (int64_t)cell->count);
    l_add_number(&b, false, (int64_t)cell->track + 1);
    l_add_number(&b, false,
                 pf_limited((pf_wide)cell->start - o->durations.first -
                            (pf_wide)column * o->durations.width));
    last = column;
  }
  luaL_addchar(&b, ']');
  luaL_pushresult(&b);
  return 1;
}
