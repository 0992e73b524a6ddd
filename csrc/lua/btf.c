/*
** btf.c - core.btf: events as rows of the Best Trace Format.
*/

#include "kernels/btf/btf.h"
#include "lua/binding.h"


static bool is_set (lua_State *L, const char *key) {
  lua_getfield(L, 2, key);
  const bool set = lua_toboolean(L, -1) != 0;
  lua_pop(L, 1);
  return set;
}


/* core.btf(reader, options): the rows that btf.h describes. Options: base,
   close, lines, stimuli. */
static int core_btf (lua_State *L) {
  pf_reader *const input = l_reader_check(L, 1)->reader;
  luaL_checktype(L, 2, LUA_TTABLE);
  lua_getfield(L, 2, "base");
  const pf_btf_options options = {luaL_optinteger(L, -1, 0), is_set(L, "close"),
                                  is_set(L, "lines"), is_set(L, "stimuli")};
  const int pins[] = {1};
  l_reader *const r = l_reader_new(L, pins, 1);
  pf_error error;
  if (pf_btf_open(input, &options, &r->reader, &error) != PF_OK)
    return l_throw(L, &error, 1);
  return 1;
}


void l_open_btf (lua_State *L) {
  lua_pushcfunction(L, core_btf);
  lua_setfield(L, -2, "btf");
}
