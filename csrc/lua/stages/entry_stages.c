/*
** entry_stages.c - core.unfilter, core.refilter and core.events: stages over
** entries with operations (i, I, O, o).
*/

#include "kernels/operations/unfilter.h"
#include "lua/binding.h"

typedef pf_status opener (pf_reader *input, pf_reader **reader,
                          pf_error *error);


/* Pushes a stage over the reader at 1. */
static int open_stage (lua_State *L, opener *open) {
  pf_reader *const input = l_reader_check(L, 1)->reader;
  const int pins[] = {1};
  lua_settop(L, 1);
  l_reader *const r = l_reader_new(L, pins, 1);
  pf_error error;
  if (open(input, &r->reader, &error) != PF_OK)
    return l_throw(L, &error, 1);
  return 1;
}


/* core.unfilter(reader): one row for each enter and leave. */
static int core_unfilter (lua_State *L) {
  return open_stage(L, pf_unfilter_open);
}


/* Reads the names in the table at `arg` into memory that is pushed. */
static size_t names_at (lua_State *L, int arg, pf_bytes **names) {
  const size_t n = lua_rawlen(L, arg);
  *names = lua_newuserdatauv(L, (n + 1) * sizeof **names, 0);
  for (size_t i = 0; i < n; i++) {
    size_t size;
    lua_rawgeti(L, arg, (lua_Integer)i + 1);
    const char *const text = luaL_checklstring(L, -1, &size);
    (*names)[i] = (pf_bytes){(const uint8_t *)text, size};
    lua_pop(L, 1); /* the table keeps the string */
  }
  return n;
}


/* core.events(reader, options): converts entries to a table of events.
   options.idle: names of functions in which threads wait; options.by_line:
   calls that begin on different lines are different areas; options.details:
   with columns line and params. */
static int core_events (lua_State *L) {
  pf_reader *const input = l_reader_check(L, 1)->reader;
  const int pins[] = {1};
  pf_unfilter_options options = {NULL, 0, false, false};
  pf_bytes *idle = NULL;
  lua_settop(L, 2);
  if (lua_istable(L, 2)) {
    lua_getfield(L, 2, "by_line");
    options.by_line = lua_toboolean(L, -1) != 0;
    lua_getfield(L, 2, "details");
    options.details = lua_toboolean(L, -1) != 0;
    if (lua_getfield(L, 2, "idle") == LUA_TTABLE)
      options.nidle = names_at(L, lua_gettop(L), &idle);
  }
  options.idle = idle;
  l_reader *const r = l_reader_new(L, pins, 1);
  pf_error error;
  if (pf_unfilter_events(input, &options, &r->reader, &error) != PF_OK)
    return l_throw(L, &error, 1);
  return 1;
}


/* core.refilter(reader): one entry for each enter and one for each leave. */
static int core_refilter (lua_State *L) {
  return open_stage(L, pf_refilter_open);
}


void l_open_entries (lua_State *L) {
  static const luaL_Reg functions[] = {{"events", core_events},
                                       {"refilter", core_refilter},
                                       {"unfilter", core_unfilter},
                                       {NULL, NULL}};
  luaL_setfuncs(L, functions, 0);
}
