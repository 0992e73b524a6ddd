/*
** fuzz_lua.c - use random bytes as a file of a user: spec/fuzz/everything.lua
** reads tables, calls and profiles, runs reports and exports, and saves. Only
** errors with a message are allowed.
**
** Run it in the folder of the project, where the Lua files are. The bytes of an
** input select what is done with it; EVERY=1 does everything.
*/

#include "fuzz_interpreter.h"

int luaopen_profio_core (lua_State *L);

static const char paths[] =
    "package.path = 'lua/?.lua;lua/?/init.lua;' .. package.path "
    "return dofile 'spec/fuzz/everything.lua'";


static int with_traceback (lua_State *L) {
  luaL_traceback(L, L, lua_tostring(L, 1), 1);
  return 1;
}


/* Call the function below `count` arguments; aborts if it raises an error. */
static void call (lua_State *L, int count, int results) {
  const int base = lua_gettop(L) - count;
  lua_pushcfunction(L, with_traceback);
  lua_insert(L, base);
  if (lua_pcall(L, count, results, base) != LUA_OK) {
    fprintf(stderr, "%s\n", lua_tostring(L, -1));
    abort();
  }
  lua_remove(L, base);
}


/* Put the function of everything.lua on the stack. */
static void open_all (lua_State *L) {
  luaL_openlibs(L);
  luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_PRELOAD_TABLE);
  lua_pushcfunction(L, luaopen_profio_core);
  lua_setfield(L, -2, "profio.core");
  lua_pop(L, 1);
  MUST(luaL_loadstring(L, paths) == LUA_OK);
  call(L, 0, 1);
}


int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size) {
  lua_State *const L = fuzz_interpreter(open_all);
  lua_pushvalue(L, 1);
  lua_pushlstring(L, (const char *)data, size);
  lua_pushboolean(L, getenv("EVERY") != NULL);
  call(L, 2, 0);
  MUST(lua_gettop(L) == 1);
  return 0;
}
