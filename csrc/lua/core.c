/*
** core.c - the module profio.core: opens all files of the binding.
**
** Called by require "profio.core"; owns nothing.
*/

#include <lauxlib.h>
#include <lua.h>

#include "lua/binding.h"

__attribute__((visibility("default"))) int luaopen_profio_core (lua_State *L);


int luaopen_profio_core (lua_State *L) {
  lua_newtable(L);
  lua_pushliteral(L, PF_VERSION);
  lua_setfield(L, -2, "version");
#define L_CALL(name) l_open_##name(L)
  L_FILES(L_CALL);
  return 1;
}
