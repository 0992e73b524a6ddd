/*
** program_hooks.c - sethook and gethook that replace those of Lua's debug
** library while hooks record. A hook of the program pauses the recording until
** the program removes it; to remove a hook where there is none, as libraries do
** to be sure, changes nothing. The recorder's own hook is not seen.
**
** Called by internal/recording.lua through core.program_hooks; owns nothing.
** Mode "sampled" needs no such functions: its hook keeps that of the program.
*/

#include "lua/recorder/sampling.h"


/* Returns the recorder whose hooks the program may not remove, or NULL. */
static l_recorder *hooking (lua_State *L) {
  l_recorder *const r = l_recording_of(L);
  return r != NULL && r->mask != 0 && r->error.status == PF_OK ? r : NULL;
}


/* Calls the library's function, the upvalue, with all arguments. */
static int call_upvalue (lua_State *L) {
  const lua_CFunction library = lua_tocfunction(L, lua_upvalueindex(1));
  if (library != NULL)
    return library(L); /* without an event */
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_insert(L, 1);
  lua_call(L, lua_gettop(L) - 1, LUA_MULTRET);
  return lua_gettop(L);
}


/* As call_upvalue; a sample that waits for its event on `thread` waits until
   the library has returned. */
static int call_library (lua_State *L, lua_State *thread) {
  l_recorder *const r = l_recording_of(L);
  const bool was_armed = r != NULL && l_timer_disarm(r, thread);
  const int n = call_upvalue(L);
  if (was_armed && r->is_on)
    l_timer_arm(r);
  return n;
}


static bool has_our_hook (const l_recorder *r, lua_State *thread) {
  return r->hook != NULL && lua_gethook(thread) == r->hook;
}


static int program_sethook (lua_State *L) {
  l_recorder *const r = hooking(L);
  lua_State *const other = lua_tothread(L, 1);
  lua_State *const thread = other != NULL ? other : L;
  if (r == NULL)
    return call_library(L, thread);
  const bool is_ours = has_our_hook(r, thread);
  if (is_ours && lua_isnoneornil(L, other != NULL ? 2 : 1))
    return 0;
  if (is_ours)
    l_recorder_take(L, r, thread);
  const int n = call_library(L, thread);
  if (r->taker == thread && lua_gethook(thread) == NULL)
    l_recorder_give_back(L, r);
  return n;
}


static int program_gethook (lua_State *L) {
  const l_recorder *const r = hooking(L);
  lua_State *const other = lua_tothread(L, 1);
  lua_State *const thread = other != NULL ? other : L;
  if (r == NULL || !has_our_hook(r, thread))
    return call_library(L, thread);
  luaL_pushfail(L);
  return 1;
}


/* core.program_hooks(sethook, gethook): { sethook =, gethook = }; the arguments
   are the library's. */
int l_core_program_hooks (lua_State *L) {
  lua_settop(L, 2);
  lua_createtable(L, 0, 2);
  lua_pushvalue(L, 1);
  lua_pushcclosure(L, program_sethook, 1);
  lua_setfield(L, 3, "sethook");
  lua_pushvalue(L, 2);
  lua_pushcclosure(L, program_gethook, 1);
  lua_setfield(L, 3, "gethook");
  return 1;
}
