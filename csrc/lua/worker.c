/*
** worker.c - core.fork: starts copies of this process. Called by
** lua/profio/cli/store, which reads files in them. The userdata owns the
** process; the pipe is a Lua file.
*/

#define _GNU_SOURCE /* F_SETPIPE_SZ */

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lua/arguments.h"

#define L_WORKER "profio.worker"

#define PIPE_SIZE (1 << 20) /* so that a copy works on while this one writes */

typedef struct l_worker {
  pid_t process; /* 0: none, or it has been waited for */
  pid_t owner;   /* the process that started it, and that ends it */
} l_worker;


static int close_pipe (lua_State *L) {
  luaL_Stream *const pipe = luaL_checkudata(L, 1, LUA_FILEHANDLE);
  return luaL_fileresult(L, fclose(pipe->f) == 0, NULL);
}


/* Makes a file of the end of a pipe that this process uses, and closes the
   other one. False if that fails: errno says why. */
static bool take_end (luaL_Stream *file, const int *ends, int own,
                      const char *mode) {
  (void)close(ends[1 - own]);
  file->f = fdopen(ends[own], mode);
  const int errnum = errno;
  if (file->f == NULL) {
    (void)close(ends[own]);
    errno = errnum;
  }
  else
    file->closef = close_pipe;
  return file->f != NULL;
}


/* Lets the system end this process after some seconds. */
static void end_after (unsigned seconds) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGALRM);
  (void)signal(SIGALRM, SIG_DFL); /* it may have been ignored or blocked */
  (void)sigprocmask(SIG_UNBLOCK, &set, NULL);
  (void)alarm(seconds);
}


/*
** core.fork([seconds]): starts a copy of this process, which the signal
** core.SIGALRM ends after some seconds. Returns in this process a file
** from which it reads what the copy writes, and the worker; in the copy a file
** to which it writes, and nothing else. The copy must end with core.leave.
** Returns nil, message, code if no process can be started.
*/
static int core_fork (lua_State *L) {
  int ends[2] = {-1, -1};
  const lua_Integer seconds = luaL_optinteger(L, 1, 0);
  luaL_argcheck(L, seconds >= 0 && seconds <= 86400, 1,
                "0 to 86400 seconds expected");
  luaL_Stream *const file = l_new(L, LUA_FILEHANDLE, sizeof *file, 0);
  l_worker *const w = l_new(L, L_WORKER, sizeof *w, 0);
  w->owner = getpid();
  (void)fflush(NULL); /* the copy would write the buffers again */
  const pid_t process = pipe(ends) == 0 ? fork() : -1;
  int errnum = errno;
  if (process == 0) {
    if (!take_end(file, ends, 1, "w"))
      _exit(1);
    if (seconds > 0)
      end_after((unsigned)seconds);
    lua_settop(L, -2);
    return 1;
  }
  if (process > 0) {
    w->process = process;
#ifdef F_SETPIPE_SZ
    (void)fcntl(ends[0], F_SETPIPE_SZ, PIPE_SIZE); /* a hint */
#endif
    if (take_end(file, ends, 0, "r"))
      return 2;
    errnum = errno;
  }
  else if (ends[0] >= 0) {
    (void)close(ends[0]);
    (void)close(ends[1]);
  }
  pf_error error;
  (void)pf_fail(&error, PF_EIO, PF_NO_OFFSET, "no process can be started: %s",
                strerror(errnum));
  return l_failure(L, &error, NULL);
}


/* core.leave(status): ends a copy of a process. Unlike os.exit it leaves the
   files that both have open as they are: the C library would move the position
   of the standard input back to what was not read. */
static int core_leave (lua_State *L) {
  _exit((int)luaL_checkinteger(L, 1));
}


/* Waits until the worker has ended; returns the status of waitpid. */
static int wait_for (l_worker *w) {
  int status = 0;
  while (waitpid(w->process, &status, 0) < 0 && errno == EINTR)
    ;
  w->process = 0;
  return status;
}


/* worker:wait(): waits until the process has ended by itself. Returns "exit"
   and its status, or "signal" and the number of the signal that has killed it;
   nil if it has been waited for. */
static int worker_wait (lua_State *L) {
  l_worker *const w = luaL_checkudata(L, 1, L_WORKER);
  if (w->process == 0)
    return 0;
  const int status = wait_for(w);
  const bool is_killed = WIFSIGNALED(status);
  lua_pushstring(L, is_killed ? "signal" : "exit");
  lua_pushinteger(L, is_killed ? WTERMSIG(status) : WEXITSTATUS(status));
  return 2;
}


/* worker:close(): ends the process if it has not ended. Does nothing in copies
   of the process that started it. */
static int worker_close (lua_State *L) {
  l_worker *const w = luaL_checkudata(L, 1, L_WORKER);
  if (w->process != 0 && w->owner == getpid()) {
    (void)kill(w->process, SIGKILL);
    (void)wait_for(w);
  }
  return 0;
}


void l_open_worker (lua_State *L) {
  l_class(L, L_WORKER,
          L_METHODS({"close", worker_close}, {"wait", worker_wait}),
          worker_close, worker_close);
  L_ADD(L, {"fork", core_fork}, {"leave", core_leave});
  lua_pushinteger(L, SIGALRM);
  lua_setfield(L, -2, "SIGALRM");
}
