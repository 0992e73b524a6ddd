/*
** processes.c - for specs: a process that goes on as two.
**
**   local processes = require "processes"
**   pid = processes.fork()       0 in the new one
**   status = processes.wait(pid)
**   processes.leave(status)      at once, and nothing is closed
*/

#include <lauxlib.h>
#include <sys/wait.h>
#include <unistd.h>

int luaopen_processes (lua_State *L);


static int processes_fork (lua_State *L) {
  lua_pushinteger(L, fork());
  return 1;
}


static int processes_wait (lua_State *L) {
  int status = 0;
  waitpid((pid_t)luaL_checkinteger(L, 1), &status, 0);
  lua_pushinteger(L, WIFEXITED(status) ? WEXITSTATUS(status)
                                       : 128 + WTERMSIG(status));
  return 1;
}


static int processes_leave (lua_State *L) {
  _exit((int)luaL_checkinteger(L, 1));
}


__attribute__((visibility("default"))) int luaopen_processes (lua_State *L) {
  static const luaL_Reg functions[] = {{"fork", processes_fork},
                                       {"wait", processes_wait},
                                       {"leave", processes_leave},
                                       {NULL, NULL}};
  luaL_newlib(L, functions);
  return 1;
}
