/*
** module.c - the module profio.store: opens all files of csrc/store.
**
** Called by require "profio.store", after profio.core, whose classes it uses;
** owns nothing.
*/

#include "lua/arguments.h"
#include "store/connection.h"
#include "store/schema.h"

__attribute__((visibility("default"))) int luaopen_profio_store (lua_State *L);


int luaopen_profio_store (lua_State *L) {
  lua_newtable(L);
  lua_pushliteral(L, PF_STORE_SCHEMA);
  lua_setfield(L, -2, "schema");
  lua_newtable(L);
  l_set_text(L, "sqlite", sqlite3_libversion());
  l_set_text(L, "profio", PF_VERSION);
  lua_setfield(L, -2, "version");
  l_open_connection(L);
  l_open_cell_methods(L);
  l_open_row_methods(L);
  l_open_hasher(L);
  l_open_exchange(L);
  l_open_run_row_methods(L);
  return 1;
}
