/*
** arguments.c - arguments, options and results (see arguments.h).
*/

#include <stdlib.h>
#include <string.h>

#include "lua/arguments.h"


void l_no_memory (lua_State *L) {
  luaL_error(L, "not enough memory");
  abort(); /* not reached */
}


void *l_scratch (lua_State *L, size_t count, size_t size) {
  void *const memory = lua_newuserdatauv(L, count * size + 1, 0);
  return memset(memory, 0, count * size + 1);
}


/* {====== Arguments ====== */

FILE *l_file_check (lua_State *L, int arg) {
  const luaL_Stream *const stream = luaL_checkudata(L, arg, LUA_FILEHANDLE);
  luaL_argcheck(L, stream->closef != NULL, arg, "file is closed");
  return stream->f;
}


const char *l_path_check (lua_State *L, int arg) {
  size_t length;
  const char *const path = luaL_checklstring(L, arg, &length);
  luaL_argcheck(L, strlen(path) == length, arg, "path contains a zero byte");
  return path;
}


pf_bytes l_text_check (lua_State *L, int arg) {
  pf_bytes text;
  text.at = (const uint8_t *)luaL_checklstring(L, arg, &text.size);
  return text;
}


uint32_t l_name_check (lua_State *L, int arg, pf_dictionary *dictionary) {
  const uint32_t name = pf_intern(dictionary, l_text_check(L, arg));
  if (name == PF_NO_NAME)
    l_no_memory(L);
  return name;
}


pf_bytes *l_texts_check (lua_State *L, int arg, size_t *count) {
  *count = lua_isnoneornil(L, arg) ? 0 : lua_rawlen(L, arg);
  pf_bytes *const texts = l_scratch(L, *count, sizeof *texts);
  for (size_t i = 0; i < *count; i++) {
    lua_rawgeti(L, arg, (lua_Integer)i + 1);
    luaL_argcheck(L, lua_type(L, -1) == LUA_TSTRING, arg, "strings expected");
    texts[i] = l_text_check(L, -1);
    lua_pop(L, 1);
  }
  return texts;
}

/* }====== */


/* {====== Options ====== */

/* Pushes an option; false if it is absent. */
static bool get (lua_State *L, int arg, const char *name) {
  if (lua_istable(L, arg))
    return lua_getfield(L, arg, name) != LUA_TNIL;
  lua_pushnil(L);
  return false;
}


bool l_option_flag (lua_State *L, int arg, const char *name) {
  get(L, arg, name);
  const bool is_set = lua_toboolean(L, -1) != 0;
  lua_pop(L, 1);
  return is_set;
}


bool l_option_int (lua_State *L, int arg, const char *name, int64_t *value) {
  const bool given = get(L, arg, name);
  if (given)
    *value = luaL_checkinteger(L, -1);
  lua_pop(L, 1);
  return given;
}


lua_Number l_option_number (lua_State *L, int arg, const char *name,
                            lua_Number fallback) {
  get(L, arg, name);
  const lua_Number value = luaL_optnumber(L, -1, fallback);
  lua_pop(L, 1);
  return value;
}


const char *l_option_text (lua_State *L, int arg, const char *name,
                           const char *fallback) {
  get(L, arg, name);
  const char *const text = luaL_optstring(L, -1, fallback);
  lua_pop(L, 1);
  return text;
}


int l_option_word (lua_State *L, int arg, const char *name,
                   const char *fallback, const char *const *words) {
  get(L, arg, name);
  const int index = luaL_checkoption(L, -1, fallback, words);
  lua_pop(L, 1);
  return index;
}

/* }====== */


/* {====== Results ====== */

void l_set_int (lua_State *L, const char *name, int64_t value) {
  lua_pushinteger(L, value);
  lua_setfield(L, -2, name);
}


void l_set_number (lua_State *L, const char *name, double value) {
  lua_pushnumber(L, value);
  lua_setfield(L, -2, name);
}


void l_set_bool (lua_State *L, const char *name, bool value) {
  lua_pushboolean(L, value);
  lua_setfield(L, -2, name);
}


void l_set_text (lua_State *L, const char *name, const char *text) {
  lua_pushstring(L, text);
  lua_setfield(L, -2, name);
}


void l_set_bytes (lua_State *L, const char *name, pf_bytes bytes) {
  l_push_bytes(L, bytes);
  lua_setfield(L, -2, name);
}


void l_push_bytes (lua_State *L, pf_bytes bytes) {
  lua_pushlstring(L, bytes.size == 0 ? "" : (const char *)bytes.at, bytes.size);
}


void l_append (lua_State *L, int index) {
  index = lua_absindex(L, index);
  lua_rawseti(L, index, (lua_Integer)lua_rawlen(L, index) + 1);
}


void l_push_list (lua_State *L, const void *names, size_t size, size_t count) {
  const char *const first = names;
  luaL_Buffer b;
  luaL_buffinit(L, &b);
  for (size_t i = 0; i < count; i++) {
    luaL_addstring(&b, i == 0 ? "" : ", ");
    luaL_addstring(&b, *(const char *const *)(const void *)(first + i * size));
  }
  luaL_pushresult(&b);
}

/* }====== */
