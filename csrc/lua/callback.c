/*
** callback.c - runs Lua under lua_pcall on a thread that belongs to a stage.
*/

#include "lua/callback.h"

/* Callbacks within callbacks: each costs a few kilobytes of the C stack. */
#define MAX_DEPTH 100

/* The key of the depth in the registry: its address is what counts. */
static const char depth_key = 0;


void l_callback_open (lua_State *L, l_callback *callback, int count) {
  *callback = (l_callback){lua_newthread(L), false};
  lua_insert(L, -(count + 1));
  lua_xmove(L, callback->thread, count);
  if (lua_rawgetp(L, LUA_REGISTRYINDEX, &depth_key) == LUA_TNIL) {
    lua_pushinteger(L, 0);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &depth_key);
  }
  lua_pop(L, 1);
}


/* Change the depth and answer it. The key is there: nothing is allocated. */
static lua_Integer add_depth (lua_State *L, int change) {
  lua_rawgetp(L, LUA_REGISTRYINDEX, &depth_key);
  const lua_Integer depth = lua_tointeger(L, -1) + change;
  lua_pop(L, 1);
  lua_pushinteger(L, depth);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &depth_key);
  return depth;
}


pf_status l_callback_run (l_callback *callback, lua_CFunction body, void *call,
                          int count, pf_error *error) {
  lua_State *const L = callback->thread;
  if (callback->busy)
    return pf_fail(error, PF_EUNSUPPORTED, PF_NO_OFFSET,
                   "a Lua function reads the rows it is called for");
  pf_status status = PF_OK;
  callback->busy = true;
  if (add_depth(L, 1) > MAX_DEPTH)
    status = pf_fail(error, PF_ELIMIT, PF_NO_OFFSET,
                     "Lua functions of stages within each other, %d deep",
                     MAX_DEPTH);
  else {
    lua_pushcfunction(L, body);
    lua_pushlightuserdata(L, call);
    for (int i = 1; i <= count; i++)
      lua_pushvalue(L, i);
    if (lua_pcall(L, count + 1, 0, 0) != LUA_OK)
      status = l_keep_raise(L, error);
  }
  add_depth(L, -1);
  callback->busy = false;
  return status;
}
