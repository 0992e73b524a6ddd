/*
** worker.c - core.spawn: starts other programs, without a shell. Called by
** lua/profio/cli. The userdata owns the process; its pipes are files of the
** core.
*/

#include <errno.h>
#include <string.h>

#include "lua/arguments.h"
#include "lua/system/file_handle.h"
#include "os/os.h"

#define L_WORKER "profio.worker"

#define PIPE_SIZE (1 << 20) /* so that a worker goes on while this one writes */


/* Pushes an array of the strings of a list, which ends with NULL. */
static const char **list_of (lua_State *L, int list) {
  const size_t count = l_length(L, list);
  const char **const words = l_scratch(L, count + 1, sizeof *words);
  for (size_t i = 0; i < count; i++) { /* the list keeps the strings */
    lua_rawgeti(L, list, (lua_Integer)i + 1);
    words[i] = l_path_check(L, -1);
    lua_pop(L, 1);
  }
  return words;
}


/* Opens a pipe if the option is true: its end for this process in a new file,
   which is pushed, else nil. Returns the end for the program; -1: none; -2: a
   failure. */
static int open_pipe (lua_State *L, const char *option, bool is_input) {
  int ends[2];
  if (!l_option_flag(L, 1, option)) {
    lua_pushnil(L);
    return -1;
  }
  l_file *const file = l_file_new(L);
  if (!os_pipe(ends, PIPE_SIZE))
    return -2;
  const int own = ends[is_input], other = ends[!is_input];
  if (l_file_open(file, own, !is_input, is_input))
    return other;
  os_close(own);
  os_close(other);
  errno = ENOMEM;
  return -2;
}


/*
** core.spawn{ program, argument, ..., variables=, input=, output=, errors=,
** detached= }: starts a program, which is searched for as a shell does.
** variables is a list of NAME=VALUE. With input=true and output=true its
** standard input and output are pipes; with errors=false nothing is seen of its
** standard error. A detached program outlives this process. Returns the
** process, the file from which its output is read or nil, and the file to which
** its input is written or nil; or nil, message, code.
*/
static int core_spawn (lua_State *L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  lua_settop(L, 1);
  luaL_argcheck(L, l_length(L, 1) > 0, 1, "no program");
  os_process *const process = l_new(L, L_WORKER, sizeof *process, 0);
  os_start start = {.words = list_of(L, 1),
                    .input = -1,
                    .output = -1,
                    .errors = -1,
                    .is_detached = l_option_flag(L, 1, "detached")};
  const bool is_quiet =
      lua_getfield(L, 1, "errors") == LUA_TBOOLEAN && !lua_toboolean(L, -1);
  if (lua_getfield(L, 1, "variables") == LUA_TTABLE)
    start.variables = list_of(L, lua_gettop(L));
  start.output = open_pipe(L, "output", false);
  start.input = start.output == -2 ? -1 : open_pipe(L, "input", true);
  int errnum = errno;
  const int null = is_quiet ? os_open_null() : -1;
  start.errors = null;
  if (start.is_detached && start.output == -1)
    start.output = null;
  const bool done = start.output != -2 && start.input != -2 &&
                    os_process_start(process, &start);
  errnum = start.output == -2 || start.input == -2 ? errnum : errno;
  if (start.output >= 0 && start.output != null)
    os_close(start.output);
  if (start.input >= 0)
    os_close(start.input);
  if (null >= 0)
    os_close(null);
  if (done) {
    lua_pushvalue(L, 2);
    lua_pushvalue(L, -3);
    lua_pushvalue(L, -3);
    return 3;
  }
  pf_error error;
  (void)pf_fail(&error, PF_EIO, PF_NO_OFFSET, "no process can be started: %s",
                strerror(errnum));
  return l_failure(L, &error, NULL);
}


/* core.open_page(path): whether the user's browser shows the page. */
static int core_open_page (lua_State *L) {
  lua_pushboolean(L, os_show(l_path_check(L, 1)));
  return 1;
}


/* core.end_after(seconds): lets the system end this process after some seconds,
   0: never, as the signal core.ALARM does. */
static int core_end_after (lua_State *L) {
  const lua_Integer seconds = luaL_checkinteger(L, 1);
  luaL_argcheck(L, seconds >= 0 && seconds <= 86400, 1,
                "0 to 86400 seconds expected");
  os_end_after((unsigned)seconds);
  return 0;
}


/* worker:wait(attends): waits until the process has ended by itself; what asks
   this process to end meanwhile is passed on if `attends`. Returns "exit" and
   its status, or "signal" and the number of the signal that has killed it;
   nil if it has been waited for. */
static int worker_wait (lua_State *L) {
  os_process *const process = luaL_checkudata(L, 1, L_WORKER);
  if (process->id == 0)
    return 0;
  const int status = lua_toboolean(L, 2) ? os_process_attend(process)
                                         : os_process_wait(process);
  lua_pushstring(L, status < 0 ? "signal" : "exit");
  lua_pushinteger(L, status < 0 ? -status : status);
  return 2;
}


/* worker:close(): ends the process if it has not ended. Does nothing in copies
   of the process that started it. */
static int worker_close (lua_State *L) {
  os_process_end(luaL_checkudata(L, 1, L_WORKER));
  return 0;
}


/* worker:release(): lets the process go on by itself. */
static int worker_release (lua_State *L) {
  os_process_release(luaL_checkudata(L, 1, L_WORKER));
  return 0;
}


void l_open_worker (lua_State *L) {
  l_class(L, L_WORKER,
          L_METHODS({"close", worker_close}, {"release", worker_release},
                    {"wait", worker_wait}),
          worker_close, worker_close);
  L_ADD(L, {"end_after", core_end_after}, {"open_page", core_open_page},
        {"spawn", core_spawn});
  lua_pushinteger(L, OS_ALARM);
  lua_setfield(L, -2, "ALARM");
}
