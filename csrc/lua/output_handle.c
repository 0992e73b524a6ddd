/*
** output_handle.c - output files as Lua file handles. A file gets its name, and
** replaces an older file, at core.commit (bytes/output.h).
**
** The handles have the type of io.open, so exports and scripts write to both in
** the same way. If a handle is closed in any other way (close, <close>, the
** collector), the new file is dropped and the old one stays.
**
** Called by lua/profio/internal/writing/outputs.lua, cli/output.lua and
** internal/recording.lua; core.write_failure also by exports and formats. The
** handle owns the output and a stream with a descriptor of its own.
*/

#include "bytes/output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lua/arguments.h"


/* User value 1 is the path as given. The stream has a copy of the descriptor,
   so that it can be flushed and closed before the commit. */
typedef struct l_output_file {
  luaL_Stream stream; /* first member: Lua's file methods use it */
  pf_output output;
} l_output_file;


static int output_close (lua_State *L) {
  l_output_file *const file = luaL_checkudata(L, 1, LUA_FILEHANDLE);
  const int closed = fclose(file->stream.f);
  const int errnum = errno;
  pf_output_close(&file->output);
  errno = errnum;
  return luaL_fileresult(L, closed == 0, NULL);
}


/* Opens the stream on a copy of the descriptor. */
static pf_status open_stream (l_output_file *file, pf_error *error) {
  const int fd = fcntl(file->output.fd, F_DUPFD_CLOEXEC, 0);
  file->stream.f = fd < 0 ? NULL : fdopen(fd, "wb");
  if (file->stream.f != NULL)
    return PF_OK;
  const int errnum = errno;
  if (fd >= 0)
    close(fd);
  pf_output_close(&file->output);
  return pf_fail(error, PF_EIO, PF_NO_OFFSET, "cannot be written: %s",
                 strerror(errnum));
}


/*
** core.output(path): a file handle, as io.open returns, or nil, message, code.
** The file gets its name, and replaces an older one, at core.commit; if it is
** only closed, nothing is left of it. Pipes and devices are written in place.
*/
static int core_output (lua_State *L) {
  const char *const path = l_path_check(L, 1);
  pf_error error;
  l_output_file *const file =
      l_new(L, LUA_FILEHANDLE, sizeof *file, 1); /* closef NULL: closed */
  l_pin(L, -1, 1, 1);
  pf_status status = pf_output_open(&file->output, path, &error);
  if (status == PF_OK)
    status = open_stream(file, &error);
  if (status != PF_OK)
    return l_failure(L, &error, path);
  file->stream.closef = output_close;
  return 1;
}


/* core.output_path(path): the absolute path of the file that core.output would
   write, with links resolved, and whether it would be written in place (a pipe,
   device or descriptor); or nil, message, code. */
static int core_output_path (lua_State *L) {
  const char *const path = l_path_check(L, 1);
  char *absolute, copy[PATH_MAX];
  bool is_in_place;
  pf_error error;
  if (pf_output_resolve(path, &absolute, &is_in_place, &error) != PF_OK)
    return l_failure(L, &error, path);
  snprintf(copy, sizeof copy, "%s", absolute); /* lua_pushstring may raise */
  free(absolute);
  lua_pushstring(L, copy);
  lua_pushboolean(L, is_in_place);
  return 2;
}


/* core.commit(file): flushes and closes a file of core.output and gives it its
   name; true, or nil, message, code and "EPIPE" if a pipe has no reader any
   more. The file is closed in any case. An earlier write error is reported,
   too. */
static int core_commit (lua_State *L) {
  l_output_file *const file = luaL_checkudata(L, 1, LUA_FILEHANDLE);
  luaL_argcheck(L, file->stream.closef == output_close, 1,
                "not an open file of core.output");
  file->stream.closef = NULL;
  errno = 0;
  const bool failed = ferror(file->stream.f) != 0;
  const bool closed = fclose(file->stream.f) == 0;
  pf_error error;
  if (failed || !closed) {
    const int errnum = errno;
    pf_output_close(&file->output);
    return l_write_failure(L, 1, errnum);
  }
  if (pf_output_commit(&file->output, 1, &error) != PF_OK) {
    pf_output_close(&file->output);
    return l_failure(L, &error, NULL); /* the message names the file */
  }
  lua_pushboolean(L, 1);
  return 1;
}


int l_write_failure (lua_State *L, int arg, int errnum) {
  const luaL_Stream *const stream = luaL_testudata(L, arg, LUA_FILEHANDLE);
  const bool is_standard =
      stream != NULL && stream->closef != NULL && stream->f == stdout;
  arg = lua_absindex(L, arg);
  lua_pushnil(L);
  if (is_standard)
    lua_pushliteral(L, "standard output");
  else if (stream == NULL)
    lua_pushliteral(L, "");
  else if (lua_getiuservalue(L, arg, 1) != LUA_TSTRING) { /* of io.open */
    lua_pop(L, 1);
    lua_pushliteral(L, "");
  }
  lua_pushfstring(L, "%s%swrite failed%s%s", lua_tostring(L, -1),
                  lua_rawlen(L, -1) == 0 ? "" : ": ", errnum == 0 ? "" : ": ",
                  errnum == 0 ? "" : strerror(errnum));
  lua_remove(L, -2);
  lua_pushliteral(L, "io");
  if (errnum != EPIPE)
    return 3;
  lua_pushliteral(L, "EPIPE");
  return 4;
}


/* core.write_failure(file, errnum): nil, message, code and "EPIPE" for a write
   to the file that failed with this errno. */
static int core_write_failure (lua_State *L) {
  luaL_checkudata(L, 1, LUA_FILEHANDLE);
  return l_write_failure(L, 1, (int)luaL_optinteger(L, 2, 0));
}


/* core.flush(file): true, or as core.write_failure if the file cannot be
   flushed or an earlier write to it has failed. The reason of an earlier one is
   lost, but a pipe tells that it has no reader. */
static int core_flush (lua_State *L) {
  const luaL_Stream *const stream = luaL_checkudata(L, 1, LUA_FILEHANDLE);
  luaL_argcheck(L, stream->closef != NULL, 1, "the file is closed");
  const bool is_flushed = fflush(stream->f) == 0;
  int errnum = is_flushed ? 0 : errno;
  if (is_flushed && !ferror(stream->f)) {
    lua_pushboolean(L, true);
    return 1;
  }
  struct pollfd pipe = {.fd = fileno(stream->f), .events = POLLOUT};
  if (errnum == 0 && poll(&pipe, 1, 0) == 1 && (pipe.revents & POLLERR) != 0)
    errnum = EPIPE;
  return l_write_failure(L, 1, errnum);
}


void l_open_output_handle (lua_State *L) {
  L_ADD(L, {"commit", core_commit}, {"output", core_output},
        {"flush", core_flush}, {"output_path", core_output_path},
        {"write_failure", core_write_failure});
}
