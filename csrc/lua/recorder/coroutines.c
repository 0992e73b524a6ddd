/*
** coroutines.c - create, resume, wrap and close that replace those of Lua's
** coroutine library (lcorolib.c) during recording and behave like them. They
** inform the recorder which coroutine runs and which has ended, and set hooks
** on coroutines that were created before recording began.
**
** Called by internal/recording.lua through core.coroutines; owns nothing.
*/

#include "lua/recorder/sampling.h"


/* Whether a coroutine is suspended or has resumed another one. One that cannot
   be resumed because it runs is alive too. */
static bool is_alive (lua_State *co) {
  lua_Debug ar;
  const int status = lua_status(co);
  return status == LUA_YIELD ||
         (status == LUA_OK && lua_getstack(co, 0, &ar) != 0);
}


/* To be called when `co` has yielded, ended, been closed or not been resumed: L
   runs again. Ends the lane of `co` if it has ended. */
static void on_stop (lua_State *L, lua_State *co) {
  l_recorder *const r = l_recording_of(L);
  if (r == NULL)
    return;
  l_timer_follow(L, r);
  if (is_alive(co))
    return;
  l_zones_end(r, co);
  l_labels_end(r, co);
  if (l_lane_find(r, co) == NULL)
    return;
  if (r->hook != NULL)
    l_switch(r, L, 0, l_now(r));
  l_lane_end(r, co);
}


/* Resumes `co` with the arguments on top. Returns the number of results on the
   stack, or -1 with an error value. */
static int resume (lua_State *L, lua_State *co, int nargs) {
  int nresults;
  if (!lua_checkstack(co, nargs)) {
    lua_pushliteral(L, "too many arguments to resume");
    return -1;
  }
  lua_xmove(L, co, nargs);
  l_recorder *const r = l_recording_of(L);
  if (r != NULL && r->hook != NULL && lua_gethook(co) == NULL)
    lua_sethook(co, r->hook, r->mask, L_IDLE_COUNT);
  if (r != NULL) {
    l_c_threads_forget(r->c_threads, co);
    atomic_store(&r->thread, co);
  }
  const int status = lua_resume(co, L, nargs, &nresults);
  on_stop(L, co);
  if (status != LUA_OK && status != LUA_YIELD) {
    lua_xmove(co, L, 1);
    return -1;
  }
  if (!lua_checkstack(L, nresults + 1)) {
    lua_pop(co, nresults);
    lua_pushliteral(L, "too many results to resume");
    return -1;
  }
  lua_xmove(co, L, nresults);
  return nresults;
}


static int coroutine_resume (lua_State *L) {
  lua_State *const co = lua_tothread(L, 1);
  luaL_argexpected(L, co != NULL, 1, "thread");
  const int n = resume(L, co, lua_gettop(L) - 1);
  lua_pushboolean(L, n >= 0);
  lua_insert(L, n < 0 ? -2 : -(n + 1));
  return n < 0 ? 2 : n + 1;
}


static int coroutine_create (lua_State *L) {
  luaL_checktype(L, 1, LUA_TFUNCTION);
  lua_State *const co = lua_newthread(L);
  /* The coroutine may have the address of a collected one whose lane still
     exists. */
  l_recorder *const r = l_recording_of(L);
  if (l_timer_is_armed(co))
    lua_sethook(co, NULL, 0, 0);
  if (r != NULL) {
    l_lane_end(r, co);
    l_zones_end(r, co);
    l_labels_end(r, co);
    l_labels_inherit(r, L, co);
  }
  lua_pushvalue(L, 1);
  lua_xmove(L, co, 1);
  return 1;
}


static int wrapped (lua_State *L) {
  lua_State *const co = lua_tothread(L, lua_upvalueindex(1));
  const int n = resume(L, co, lua_gettop(L));
  if (n >= 0)
    return n;
  int status = lua_status(co);
  if (status != LUA_OK && status != LUA_YIELD) {
    status = lua_resetthread(co); /* closes its variables */
    lua_xmove(co, L, 1);
  }
  if (status != LUA_ERRMEM && lua_type(L, -1) == LUA_TSTRING) {
    luaL_where(L, 1);
    lua_insert(L, -2);
    lua_concat(L, 2);
  }
  return lua_error(L);
}


static int coroutine_wrap (lua_State *L) {
  coroutine_create(L);
  lua_pushcclosure(L, wrapped, 1);
  return 1;
}

/* Calls the library's close, so that its errors are raised as usual. */
static int coroutine_close (lua_State *L) {
  const lua_CFunction library_close = lua_tocfunction(L, lua_upvalueindex(1));
  lua_State *const co = lua_tothread(L, 1);
  const int n = library_close(L);
  on_stop(L, co);
  return n;
}


/* core.coroutines(close): { create =, resume =, wrap =, close = }; `close` is
   the library's. */
int l_core_coroutines (lua_State *L) {
  static const luaL_Reg functions[] = {{"create", coroutine_create},
                                       {"resume", coroutine_resume},
                                       {"wrap", coroutine_wrap},
                                       {NULL, NULL}};
  luaL_newlib(L, functions);
  if (!lua_iscfunction(L, 1))
    return 1; /* the program has replaced coroutine.close */
  lua_pushvalue(L, 1);
  lua_pushcclosure(L, coroutine_close, 1);
  lua_setfield(L, -2, "close");
  return 1;
}
