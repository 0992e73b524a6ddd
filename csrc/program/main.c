/*
** main.c - the program: the command profio, or with `lua` as its first word the
** interpreter.
*/

#include <lauxlib.h>
#include <lualib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "os/os.h"
#include "program/program.h"

int luaopen_profio_core (lua_State *L);
int luaopen_profio_store (lua_State *L);

/* Nothing is left to close, and the system frees memory faster than Lua. */
static const char command[] =
    "local status, is_closed = require('profio.cli').main(arg)\n"
    "os.exit(status, not is_closed)\n";

/* What the program was called with. */
typedef struct call {
  char **argv;
  bool is_lua;
} call;


/* Runs the program in protected mode; returns whether it succeeds. */
static int run (lua_State *L) {
  const call *const c = lua_touserdata(L, 1);
  luaL_checkversion(L);
  luaL_openlibs(L);
  luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_PRELOAD_TABLE);
  lua_pushcfunction(L, luaopen_profio_core);
  lua_setfield(L, -2, "profio.core");
  lua_pushcfunction(L, luaopen_profio_store);
  lua_setfield(L, -2, "profio.store");
  lua_settop(L, 0);
  program_add_modules(L, c->is_lua);
  lua_gc(L, LUA_GCGEN, 0, 0); /* as the program lua does */
  if (c->is_lua) {
    lua_pushboolean(L, program_interpret(L, c->argv, 2));
    return 1;
  }
  program_set_arg(L, c->argv, 0);
  lua_pushboolean(L, program_init(L) && luaL_loadstring(L, command) == LUA_OK &&
                         program_call(L, 0, 0));
  return 1;
}


int main (int argc, char **argv) {
  os_begin_program(&argc, &argv);
  lua_State *const L = luaL_newstate();
  call c = {argv, argc > 1 && strcmp(argv[1], "lua") == 0 &&
                      (argc == 2 || strcmp(argv[2], "--help") != 0)};
  if (L == NULL) {
    fputs("profio: not enough memory\n", stderr);
    return EXIT_FAILURE;
  }
  lua_pushcfunction(L, run);
  lua_pushlightuserdata(L, &c);
  const int status = lua_pcall(L, 1, 1, 0);
  const bool done = status == LUA_OK && lua_toboolean(L, -1);
  if (status != LUA_OK)
    fprintf(stderr, "profio: %s\n", lua_tostring(L, -1));
  lua_close(L);
  return done ? EXIT_SUCCESS : EXIT_FAILURE;
}
