/*
** callback.c - protected calls of Lua functions for readers of the core.
*/

#include "lua/callback.h"

/* Nested callbacks: each needs some kilobytes of the C stack. */
#define MAX_DEPTH 100

/* Registry key (its address) of the current depth. */
static const char depth_key = 0;

static const char closed_text[] = "trace is closed";


void l_callback_open (lua_State *L, l_callback *callback, int count,
                      const bool *open) {
  *callback = (l_callback){lua_newthread(L), open, false};
  lua_insert(L, -(count + 1));
  lua_xmove(L, callback->thread, count);
  if (lua_rawgetp(L, LUA_REGISTRYINDEX, &depth_key) == LUA_TNIL) {
    lua_pushinteger(L, 0);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &depth_key);
  }
  lua_pop(L, 1);
}


/* Changes the depth and returns it. The key exists, so nothing is allocated. */
static lua_Integer add_depth (lua_State *L, int change) {
  lua_rawgetp(L, LUA_REGISTRYINDEX, &depth_key);
  const lua_Integer depth = lua_tointeger(L, -1) + change;
  lua_pop(L, 1);
  lua_pushinteger(L, depth);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &depth_key);
  return depth;
}


bool l_callback_is_running (lua_State *L) {
  lua_rawgetp(L, LUA_REGISTRYINDEX, &depth_key);
  const bool is_running = lua_tointeger(L, -1) > 0;
  lua_pop(L, 1);
  return is_running;
}


/* Prepares a call of Lua. After PF_OK, `leave` must be called. */
static pf_status enter (l_callback *callback, pf_error *error) {
  if (callback->busy)
    return pf_refuse(error, "a Lua function reads the rows it is called for");
  if (add_depth(callback->thread, 1) > MAX_DEPTH) {
    add_depth(callback->thread, -1);
    return pf_fail(error, PF_ELIMIT, PF_NO_OFFSET,
                   "Lua functions of stages are nested more than %d deep",
                   MAX_DEPTH);
  }
  callback->busy = true;
  return PF_OK;
}


/* Ends a call of Lua with this result and returns the reader's status. */
static pf_status leave (l_callback *callback, int result, pf_error *error) {
  lua_State *const L = callback->thread;
  const bool is_failed = result != LUA_OK && result != LUA_YIELD;
  const pf_status status = is_failed ? l_save_error(L, error) : PF_OK;
  add_depth(L, -1);
  callback->busy = false;
  if (is_failed || *callback->open)
    return status;
  lua_pushstring(L, closed_text);
  return l_save_error(L, error);
}


pf_status l_callback_run (l_callback *callback, lua_CFunction body, void *call,
                          int count, pf_error *error) {
  lua_State *const L = callback->thread;
  const pf_status status = enter(callback, error);
  if (status != PF_OK)
    return status;
  lua_pushcfunction(L, body);
  lua_pushlightuserdata(L, call);
  for (int i = 1; i <= count; i++)
    lua_pushvalue(L, i);
  return leave(callback, lua_pcall(L, count + 1, 0, 0), error);
}


void l_callback_call (lua_State *L, const l_callback *callback, int arguments) {
  lua_call(L, arguments, 1);
  if (!*callback->open)
    luaL_error(L, "%s", closed_text);
}


pf_status l_callback_resume (l_callback *callback, int arguments, bool *is_over,
                             pf_error *error) {
  lua_State *const L = callback->thread;
  const pf_status status = enter(callback, error);
  if (status != PF_OK)
    return status;
  int results = 0;
  const int result = lua_resume(L, NULL, arguments, &results);
  *is_over = result != LUA_YIELD;
  if (result == LUA_YIELD)
    lua_pop(L, results);
  return leave(callback, result, error);
}


/* The body of l_callback_write: calls the method of the file at 1 with the text
   at 2, a light userdata; returns whether it succeeds, and errno. */
static int call_write (lua_State *L) {
  const pf_bytes *const text = lua_touserdata(L, 2);
  lua_getfield(L, 1, text->size == 0 ? "flush" : "write");
  lua_pushvalue(L, 1);
  if (text->size > 0)
    lua_pushlstring(L, (const char *)text->at, text->size);
  lua_call(L, text->size == 0 ? 1 : 2, 3);
  if (lua_toboolean(L, -3))
    return 0;
  lua_pushinteger(L, lua_tointeger(L, -1));
  return 1;
}


bool l_callback_write (lua_State *L, int arg, pf_bytes text, int *errnum) {
  arg = lua_absindex(L, arg);
  lua_pushcfunction(L, call_write);
  lua_pushvalue(L, arg);
  lua_pushlightuserdata(L, &text);
  const bool is_raised = lua_pcall(L, 2, 1, 0) != LUA_OK;
  const bool done = !is_raised && lua_isnil(L, -1);
  *errnum = is_raised || done ? 0 : (int)lua_tointeger(L, -1);
  lua_pop(L, 1);
  return done;
}


int l_callback_raise (lua_State *L, int index) {
  lua_pushvalue(L, index);
  lua_insert(L, -2);
  lua_call(L, 1, 0);
  return 0;
}
