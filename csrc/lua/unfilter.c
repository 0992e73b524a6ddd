/*
** unfilter.c - stages over entries with letters: core.unfilter, core.refilter
** and core.events.
*/

#include "kernels/unfilter.h"
#include "lua/binding.h"

typedef pf_status opener (pf_reader *input, pf_reader **reader,
                          pf_error *error);


/* Put a stage over the reader at 1. */
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


/* core.unfilter(reader): its rows as enters and leaves. */
static int core_unfilter (lua_State *L) {
  return open_stage(L, pf_unfilter_open);
}


/* core.events(reader): the same as a table of events. */
static int core_events (lua_State *L) {
  return open_stage(L, pf_unfilter_events);
}


/* core.refilter(reader): one entry per enter and one per leave. */
static int core_refilter (lua_State *L) {
  return open_stage(L, pf_refilter_open);
}


void l_open_unfilter (lua_State *L) {
  static const luaL_Reg functions[] = {{"events", core_events},
                                       {"refilter", core_refilter},
                                       {"unfilter", core_unfilter},
                                       {NULL, NULL}};
  luaL_setfuncs(L, functions, 0);
}
