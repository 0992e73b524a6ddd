/*
** counter.c - counts the work of a program in steps, which are the same on any
** machine and at any load: the blocks of code of the core that run, in a build
** with -fsanitize-coverage=trace-pc (`make counted`), and the instructions of
** Lua. Preloaded, so that the core finds the function that it calls in each
** block; and a Lua module:
**
**    LD_PRELOAD=counter.so LUA_CPATH="build/counted/?.so" lua5.4 program.lua
**
**   local counter = require "counter"
**   counter.start()   counts instructions of Lua as well, in this coroutine and
**                     those that it creates
**   counter.steps()   so far
**
** Blocks of libraries (zlib) do not count. Two threads that count at one
** moment may lose a block.
*/

#include <lauxlib.h>
#include <stdint.h>

#define PUBLIC __attribute__((visibility("default")))
#define EVERY  100 /* instructions of Lua between two calls of the hook */

void __sanitizer_cov_trace_pc (void);
int luaopen_counter (lua_State *L);

static uint64_t steps;


/* Called at the beginning of each block of the core. */
PUBLIC void __sanitizer_cov_trace_pc (void) {
  steps++;
}


static void count (lua_State *L, lua_Debug *ar) {
  (void)L;
  (void)ar;
  steps += EVERY;
}


static int counter_start (lua_State *L) {
  lua_sethook(L, count, LUA_MASKCOUNT, EVERY);
  return 0;
}


static int counter_steps (lua_State *L) {
  lua_pushinteger(L, (lua_Integer)steps);
  return 1;
}


PUBLIC int luaopen_counter (lua_State *L) {
  static const luaL_Reg functions[] = {
      {"start", counter_start}, {"steps", counter_steps}, {NULL, NULL}};
  luaL_newlib(L, functions);
  return 1;
}
