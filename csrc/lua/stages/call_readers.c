/*
** call_readers.c - core.calls, core.statistics and core.processors.
*/

#include <unistd.h>

#include "kernels/group/aggregate.h"
#include "kernels/calls/calls.h"
#include "kernels/statistics/statistics.h"
#include "lua/binding.h"


static bool is_option (lua_State *L, int arg, const char *name,
                       const char *value) {
  lua_getfield(L, arg, name);
  lua_pushstring(L, value);
  const bool same = lua_rawequal(L, -1, -2);
  lua_pop(L, 2);
  return same;
}


static bool time_option (lua_State *L, int arg, const char *name,
                         int64_t *time) {
  const bool given = lua_getfield(L, arg, name) != LUA_TNIL;
  if (given)
    *time = luaL_checkinteger(L, -1);
  lua_pop(L, 1);
  return given;
}


/* Reads the options at `arg`, which lua/ has checked. */
static pf_call_options options_at (lua_State *L, int arg) {
  pf_call_options options = {0};
  luaL_checktype(L, arg, LUA_TTABLE);
  options.outermost = is_option(L, arg, "recursion", "outermost");
  options.whole_only = is_option(L, arg, "partial", "exclude");
  options.edges = is_option(L, arg, "edges", "include");
  options.has_from = time_option(L, arg, "from", &options.from);
  options.has_to = time_option(L, arg, "to", &options.to);
  options.has_last = time_option(L, arg, "last", &options.last);
  lua_getfield(L, arg, "max_depth");
  const lua_Integer depth = luaL_optinteger(L, -1, 0);
  luaL_argcheck(L, depth >= 0 && depth <= 1 << 24, arg,
                "max_depth must be 2 to 16777216");
  options.max_depth = (uint32_t)depth;
  lua_pop(L, 1);
  return options;
}


/* core.calls(events, options): a reader of the calls in the events. */
static int core_calls (lua_State *L) {
  pf_reader *const events = l_reader_check(L, 1)->reader;
  const pf_call_options options = options_at(L, 2);
  const int pins[] = {1};
  l_reader *const r = l_reader_new(L, pins, 1);
  pf_error error;
  if (pf_calls_open(events, &options, &r->reader, &error) != PF_OK)
    return l_throw(L, &error, 1);
  return 1;
}


/* Reads the list `quantiles` of the options: "p50", ... The list keeps the
   strings alive. */
static void read_ranks (lua_State *L, int arg, pf_statistics_options *options) {
  if (lua_getfield(L, arg, "quantiles") != LUA_TNIL) {
    luaL_checktype(L, -1, LUA_TTABLE);
    const lua_Integer count = luaL_len(L, -1);
    luaL_argcheck(L, count <= PF_MAX_RANKS, arg, "more than 16 quantiles");
    for (lua_Integer i = 1; i <= count; i++) {
      pf_aggregate aggregate;
      lua_rawgeti(L, -1, i);
      const char *const name = luaL_checkstring(L, -1);
      if (!pf_aggregate_named(name, &aggregate) ||
          aggregate.function != PF_QUANTILE)
        luaL_error(L, "no quantile '%s'; there are p0 to p100", name);
      options->ranks[options->nranks] = aggregate.rank;
      options->rank_names[options->nranks++] = name;
      lua_pop(L, 1);
    }
  }
  lua_pop(L, 1);
}


/* Reads the option `parts` of the options at 2: a list of readers, which is
   kept at index 3. */
static void read_parts (lua_State *L, pf_statistics_options *options) {
  lua_getfield(L, 2, "rows");
  options->rows = (uint64_t)luaL_optinteger(L, -1, 0);
  lua_getfield(L, 2, "threads");
  options->threads = (size_t)luaL_optinteger(L, -1, 1);
  lua_pop(L, 2);
  if (lua_getfield(L, 2, "parts") == LUA_TNIL)
    lua_newtable(L);
  lua_replace(L, 3);
  const size_t count = lua_rawlen(L, 3);
  pf_reader **const parts =
      lua_newuserdatauv(L, (count + 1) * sizeof *parts, 0); /* at 4 */
  for (size_t i = 0; i < count; i++) {
    lua_rawgeti(L, 3, (lua_Integer)i + 1);
    parts[i] = l_reader_check(L, -1)->reader;
    luaL_argcheck(L, parts[i]->seek != NULL, 2,
                  "a reader of parts cannot seek");
    lua_pop(L, 1);
  }
  options->chunks = parts;
  options->nchunks = count;
}


/*
** core.statistics(events, options): a reader of the calls summed up by area.
** Options in addition to those of calls: by, quantiles; and for reading a file
** in chunks with several threads: parts (more readers of the same events), rows
** (their number) and threads. If `events` is a progress stage, it shows the
** progress of all threads.
*/
static int core_statistics (lua_State *L) {
  pf_reader *const events = l_reader_check(L, 1)->reader;
  pf_statistics_options options = {.calls = options_at(L, 2)};
  lua_settop(L, 3);
  read_parts(L, &options);
  if (is_option(L, 2, "by", "context"))
    options.by = PF_BY_LANE;
  else if (is_option(L, 2, "by", "caller"))
    options.by = PF_BY_CALLER;
  read_ranks(L, 2, &options);
  if (l_is_progress(events))
    options.progress = (pf_progress){l_progress_is_cancelled, events};
  const int pins[] = {1, 3};
  l_reader *const r = l_reader_new(L, pins, 2);
  pf_error error;
  if (pf_statistics_open(events, &options, &r->reader, &error) != PF_OK)
    return l_throw(L, &error, 1);
  return 1;
}


/* core.processors(): the number of online processors. */
static int core_processors (lua_State *L) {
  const long count = sysconf(_SC_NPROCESSORS_ONLN);
  lua_pushinteger(L, count < 1 ? 1 : count);
  return 1;
}


void l_open_call_readers (lua_State *L) {
  static const luaL_Reg functions[] = {{"calls", core_calls},
                                       {"processors", core_processors},
                                       {"statistics", core_statistics},
                                       {NULL, NULL}};
  luaL_setfuncs(L, functions, 0);
}
