/*
** processes.c - a Lua module for specs: fork, kill and wait for processes, and
** share numbers with them.
**
**   local processes = require "processes"
**   pid = processes.fork()       0 in the child, which is killed when its parent
**                                ends
**   status = processes.wait(pid)
**   processes.leave(status)      exits at once; nothing is closed
**   processes.kill(pid)          by SIGKILL
**   processes.has_ended(pid)
**   processes.yield()            others run; for loops that wait for a number
**   processes.pause()            waits to be killed
**   numbers = processes.share(count); numbers:get(i), :set(i, n), :add(i, n)
*/

#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */

#include <lauxlib.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

int luaopen_processes (lua_State *L);

typedef struct numbers {
  _Atomic lua_Integer *at;
  size_t count;
} numbers;


static int processes_fork (lua_State *L) {
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) /* it has ended before that */
      raise(SIGKILL);
  }
  lua_pushinteger(L, pid);
  return 1;
}


static int processes_wait (lua_State *L) {
  int status = 0;
  waitpid((pid_t)luaL_checkinteger(L, 1), &status, 0);
  lua_pushinteger(L, WIFEXITED(status) ? WEXITSTATUS(status)
                                       : 128 + WTERMSIG(status));
  return 1;
}


static int processes_kill (lua_State *L) {
  lua_pushboolean(L, kill((pid_t)luaL_checkinteger(L, 1), SIGKILL) == 0);
  return 1;
}


static int processes_has_ended (lua_State *L) {
  siginfo_t info = {.si_pid = 0};
  waitid(P_PID, (id_t)luaL_checkinteger(L, 1), &info,
         WEXITED | WNOHANG | WNOWAIT);
  lua_pushboolean(L, info.si_pid != 0);
  return 1;
}


/* The rest keeps a loop that waits from taking the processor from others. */
static int processes_yield (lua_State *L) {
  const struct timespec rest = {0, 10000};
  (void)L;
  sched_yield();
  nanosleep(&rest, NULL);
  return 0;
}


static int processes_pause (lua_State *L) {
  (void)L;
  while (pause() != 0) /* it is never 0 */
    continue;
  return 0;
}


/* Create numbers that this process and its later children share, all 0. */
static int processes_share (lua_State *L) {
  const size_t count = (size_t)luaL_checkinteger(L, 1);
  numbers *const n = lua_newuserdatauv(L, sizeof *n, 0);
  n->count = count;
  n->at = mmap(NULL, count * sizeof *n->at, PROT_READ | PROT_WRITE,
               MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (n->at == MAP_FAILED)
    return luaL_error(L, "no shared memory");
  luaL_setmetatable(L, "numbers");
  return 1;
}


static _Atomic lua_Integer *number_at (lua_State *L) {
  const numbers *const n = luaL_checkudata(L, 1, "numbers");
  const lua_Integer i = luaL_checkinteger(L, 2);
  luaL_argcheck(L, i >= 1 && (size_t)i <= n->count, 2, "no such number");
  return &n->at[i - 1];
}


static int numbers_get (lua_State *L) {
  lua_pushinteger(L, *number_at(L));
  return 1;
}


static int numbers_set (lua_State *L) {
  *number_at(L) = luaL_checkinteger(L, 3);
  return 0;
}


/* numbers:add(i, n) returns the sum. */
static int numbers_add (lua_State *L) {
  const lua_Integer n = luaL_checkinteger(L, 3);
  lua_pushinteger(L, atomic_fetch_add(number_at(L), n) + n);
  return 1;
}


static int processes_leave (lua_State *L) {
  _exit((int)luaL_checkinteger(L, 1));
}


__attribute__((visibility("default"))) int luaopen_processes (lua_State *L) {
  static const luaL_Reg functions[] = {{"fork", processes_fork},
                                       {"wait", processes_wait},
                                       {"leave", processes_leave},
                                       {"kill", processes_kill},
                                       {"has_ended", processes_has_ended},
                                       {"yield", processes_yield},
                                       {"pause", processes_pause},
                                       {"share", processes_share},
                                       {NULL, NULL}};
  static const luaL_Reg methods[] = {{"get", numbers_get},
                                     {"set", numbers_set},
                                     {"add", numbers_add},
                                     {NULL, NULL}};
  luaL_newmetatable(L, "numbers");
  luaL_newlib(L, methods);
  lua_setfield(L, -2, "__index");
  luaL_newlib(L, functions);
  return 1;
}
