/*
** output_handle.c - output files as Lua file handles. A file gets its name, and
** replaces an older file, at core.commit (bytes/output.h).
**
** The handles have the methods of io.open's, so exports and scripts write to
** both in the same way. If a handle is closed in any other way (close, <close>,
** the collector), the new file is dropped and the old one stays.
**
** Called by lua/profio/internal/writing/outputs.lua, cli/output.lua and
** internal/recording.lua; core.write_failure also by exports and formats.
*/

#include "bytes/output.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lua/arguments.h"
#include "lua/system/file_handle.h"
#include "os/os.h"


/*
** core.output(path): a file handle, as io.open returns, or nil, message, code.
** The file gets its name, and replaces an older one, at core.commit; if it is
** only closed, nothing is left of it. Pipes and devices are written in place.
*/
static int core_output (lua_State *L) {
  const char *const path = l_path_check(L, 1);
  pf_error error;
  l_file *const file = l_file_new(L);
  l_pin(L, -1, 1, 1);
  if (pf_output_open(&file->output, path, &error) != PF_OK)
    return l_failure(L, &error, path);
  file->is_output = true;
  if (!l_file_open(file, file->output.fd, false, true)) {
    l_file_close(file);
    l_no_memory(L);
  }
  return 1;
}


/* core.output_path(path): the absolute path of the file that core.output would
   write, with links resolved, and whether it would be written in place (a pipe,
   device or descriptor); or nil, message, code. */
static int core_output_path (lua_State *L) {
  const char *const path = l_path_check(L, 1);
  char *absolute, copy[OS_LONGEST_PATH];
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
  l_file *const file = luaL_checkudata(L, 1, L_FILE);
  luaL_argcheck(L, file->is_output && file->sink.fd >= 0, 1,
                "not an open file of core.output");
  luaL_argcheck(L, !file->is_busy, 1, "rows are written into the file");
  pf_error error;
  const bool is_written = l_file_flush(file);
  const int errnum = errno;
  const pf_status status =
      is_written ? pf_output_commit(&file->output, 1, &error) : PF_OK;
  l_file_close(file);
  if (!is_written)
    return l_write_failure(L, 1, errnum);
  if (status != PF_OK)
    return l_failure(L, &error, NULL); /* the message names the file */
  lua_pushboolean(L, 1);
  return 1;
}


int l_write_failure (lua_State *L, int arg, int errnum) {
  arg = lua_absindex(L, arg);
  const bool is_standard = l_is_standard_output(L, arg);
  if (is_standard && os_has_no_reader(1))
    errnum = EPIPE; /* whatever the C library of Lua has said */
  lua_pushnil(L);
  if (is_standard)
    lua_pushliteral(L, "standard output");
  else if (luaL_testudata(L, arg, L_FILE) == NULL ||
           lua_getiuservalue(L, arg, 1) != LUA_TSTRING) { /* of io.open */
    lua_settop(L, lua_gettop(L) - (lua_isnil(L, -1) ? 0 : 1));
    lua_pushliteral(L, "");
  }
  lua_pushfstring(L, "%s%swrite failed%s%s", lua_tostring(L, -1),
                  l_length(L, -1) == 0 ? "" : ": ", errnum == 0 ? "" : ": ",
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
  luaL_checktype(L, 1, LUA_TUSERDATA);
  return l_write_failure(L, 1, (int)luaL_optinteger(L, 2, 0));
}


/* core.flush(file): true, or as core.write_failure if the file cannot be
   flushed or an earlier write to it has failed. The reason of an earlier one to
   standard output is lost, but a pipe tells that it has no reader. */
static int core_flush (lua_State *L) {
  row_target target = l_target_check(L, 1);
  if (target.errnum == 0 && target.write != NULL)
    (void)target.write(target.context, target.arg, NULL, 0, &target.errnum);
  const bool has_failed = l_is_standard_output(L, 1) && ferror(stdout) != 0;
  if (target.errnum == 0 && !has_failed) {
    lua_pushboolean(L, true);
    return 1;
  }
  return l_write_failure(L, 1, target.errnum);
}


void l_open_output_handle (lua_State *L) {
  L_ADD(L, {"commit", core_commit}, {"output", core_output},
        {"flush", core_flush}, {"output_path", core_output_path},
        {"write_failure", core_write_failure});
}
