/*
** xpp_lines.c - core.line_ranges: the ranges of lines of the functions of an
** Xbase++ trace (line_ranges.h), for the stages that find calls which a BREAK
** left. The userdata owns the ranges; readers pin it.
*/

#include "formats/xpp/operations/line_ranges.h"
#include "lua/arguments.h"
#include "lua/binding.h"
#include "lua/stages/xpp_lines.h"

#define L_LINE_RANGES "profio.line_ranges"


xpp_line_ranges *l_line_ranges (lua_State *L, int arg) {
  return lua_isnoneornil(L, arg) ? NULL
                                 : luaL_checkudata(L, arg, L_LINE_RANGES);
}


static int ranges_gc (lua_State *L) {
  xpp_line_ranges_free(luaL_checkudata(L, 1, L_LINE_RANGES));
  return 0;
}


/*
** core.line_ranges(reader, learns): the smallest and the largest line of each
** function in entries, all of which it reads; `learns`: the stages that get
** the ranges extend them by the rows that they read. nil, message, code after
** a failure.
*/
static int core_line_ranges (lua_State *L) {
  l_reader *const entries = l_reader_check(L, 1);
  const bool learns = lua_toboolean(L, 2);
  lua_settop(L, 2);
  xpp_line_ranges *const ranges = l_new(L, L_LINE_RANGES, sizeof *ranges, 0);
  xpp_line_ranges_init(ranges);
  ranges->learns = learns;
  pf_error error;
  if (xpp_line_ranges_read(ranges, entries->reader, &error) != PF_OK)
    return l_failure_of(L, &error, 1);
  return 1;
}


/*
** line_ranges:values(): the number of functions with lines; of these, of those
** that overlap others; whether lines of callers are known; and of the last
** reading the number of calls that a BREAK left, the time after them and that
** of all threads, ns.
*/
static int ranges_values (lua_State *L) {
  const xpp_line_ranges *const ranges = luaL_checkudata(L, 1, L_LINE_RANGES);
  uint32_t overlaps;
  if (xpp_line_ranges_overlaps(ranges, &overlaps) != PF_OK)
    l_no_memory(L);
  lua_pushinteger(L, ranges->functions.count);
  lua_pushinteger(L, overlaps);
  lua_pushboolean(L, ranges->has_calls);
  lua_pushinteger(L, (lua_Integer)ranges->left);
  lua_pushinteger(L, (lua_Integer)ranges->after);
  lua_pushinteger(L, (lua_Integer)ranges->total);
  return 6;
}


void l_open_xpp_lines (lua_State *L) {
  l_class(L, L_LINE_RANGES, L_METHODS({"values", ranges_values}), ranges_gc,
          ranges_gc);
  L_ADD(L, {"line_ranges", core_line_ranges});
}
