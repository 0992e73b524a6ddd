/*
** exports.c - exports whose bytes the core makes whole: profiles of pprof.
*/

#include <errno.h>
#include <string.h>

#include "formats/pprof/write.h"
#include "lua/contexts.h"

#define L_SINK "profio.sink"


/* {====== A sink into memory, freed by the collector ====== */

static int sink_gc (lua_State *L) {
  pf_sink_close(luaL_checkudata(L, 1, L_SINK));
  return 0;
}


static pf_sink *push_sink (lua_State *L) {
  pf_sink *const sink = lua_newuserdatauv(L, sizeof *sink, 0);
  memset(sink, 0, sizeof *sink);
  sink->fd = -1;
  luaL_setmetatable(L, L_SINK);
  if (pf_sink_open(sink, -1) != PF_OK)
    luaL_error(L, "not enough memory");
  return sink;
}


/* Write what a sink holds into the file of Lua at `arg`, and close the sink: a profile may be
   written while the state closes, when the collector takes nothing new. True, or
   nil, message, code and "EPIPE" when the reader of a pipe left. */
static int put_file (lua_State *L, pf_sink *sink, int arg, FILE *file) {
  const pf_bytes bytes = pf_sink_bytes(sink);
  errno = 0;
  const bool done =
      fwrite(bytes.at, 1, bytes.size, file) == bytes.size && fflush(file) == 0;
  const int errnum = errno;
  pf_sink_close(sink);
  if (done) {
    lua_pushboolean(L, 1);
    return 1;
  }
  return l_write_failure(L, arg, errnum);
}


static FILE *file_check (lua_State *L, int arg) {
  const luaL_Stream *const stream = luaL_checkudata(L, arg, LUA_FILEHANDLE);
  luaL_argcheck(L, stream->closef != NULL, arg, "file is closed");
  return stream->f;
}

/* }====== */


/* {====== pprof ====== */

static int64_t fact (lua_State *L, const char *name) {
  lua_getfield(L, 2, name);
  const lua_Integer value = luaL_optinteger(L, -1, 0);
  lua_pop(L, 1);
  return value;
}


/* The texts of the list `comments` at 2, ended by NULL; at most 8. */
static void take_comments (lua_State *L, const char **comments) {
  size_t n = 0;
  if (lua_getfield(L, 2, "comments") == LUA_TTABLE)
    for (; n < 8; n++) {
      lua_rawgeti(L, -1, (lua_Integer)n + 1);
      if (lua_isnil(L, -1))
        break;
      comments[n] = luaL_checkstring(L, -1);
      lua_pop(L, 1); /* it stays in its table */
    }
  comments[n] = NULL;
}


/*
** core.write_pprof(contexts, options, file): true, or nil, message, code.
** Options: packed, time_nanos, duration_nanos, period, comments (a list).
*/
static int core_write_pprof (lua_State *L) {
  const char *comments[9];
  pf_error error;
  const pf_contexts *const contexts = l_contexts_check(L, 1);
  luaL_checktype(L, 2, LUA_TTABLE);
  FILE *const file = file_check(L, 3);
  lua_settop(L, 3);
  take_comments(L, comments);
  lua_getfield(L, 2, "packed");
  const bool is_packed = lua_isnil(L, -1) || lua_toboolean(L, -1);
  const pprof_facts facts = {fact(L, "time_nanos"), fact(L, "duration_nanos"),
                             fact(L, "period"), comments};
  pf_sink *const sink = push_sink(L);
  const pf_status status =
      is_packed ? pf_pprof_write_packed(contexts, &facts, sink, &error)
                : pf_pprof_write(contexts, &facts, sink, &error);
  if (status != PF_OK)
    return l_failure(L, &error, NULL);
  return put_file(L, sink, 3, file);
}

/* }====== */


void l_open_exports (lua_State *L) {
  static const luaL_Reg none[] = {{NULL, NULL}};
  l_class(L, L_SINK, none, sink_gc);
  lua_pushcfunction(L, core_write_pprof);
  lua_setfield(L, -2, "write_pprof");
}
