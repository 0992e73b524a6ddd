/*
** arguments.c - arguments, options and results (see arguments.h).
*/

#include <limits.h>
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


const char *l_string_check (lua_State *L, int index, const char *name) {
  if (lua_type(L, index) != LUA_TSTRING)
    luaL_error(L, "%s must be a string, got %s", name, luaL_typename(L, index));
  return lua_tostring(L, index);
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
  if (!lua_isnoneornil(L, arg))
    luaL_checktype(L, arg, LUA_TTABLE);
  *count = lua_isnoneornil(L, arg) ? 0 : l_length(L, arg);
  pf_bytes *const texts = l_scratch(L, *count, sizeof *texts);
  for (size_t i = 0; i < *count; i++) {
    lua_rawgeti(L, arg, (lua_Integer)i + 1);
    luaL_argcheck(L, lua_type(L, -1) == LUA_TSTRING, arg, "strings expected");
    texts[i] = l_text_check(L, -1);
    lua_pop(L, 1);
  }
  return texts;
}


/* Pushes field `key`, or else element `n`, of the table on top. */
static void get_either (lua_State *L, const char *key, lua_Integer n) {
  if (lua_getfield(L, -1, key) != LUA_TNIL)
    return;
  lua_pop(L, 1);
  lua_rawgeti(L, -1, n);
}


void l_fields_check (lua_State *L, int arg, pf_field *fields, size_t count,
                     int pins) {
  static const char *const types[] = {"int",    "num",  "addr",  "bool",
                                      "name",   "area", "stack", "bytes",
                                      "handle", NULL};
  const int top = lua_gettop(L);
  for (size_t i = 0; i < count; i++) {
    lua_rawgeti(L, arg, (lua_Integer)i + 1);
    luaL_checktype(L, -1, LUA_TTABLE);
    get_either(L, "type", 2);
    const pf_type type =
        (pf_type)luaL_checkoption(L, lua_gettop(L), NULL, types);
    lua_pop(L, 1);
    get_either(L, "name", 1);
    fields[i] = (pf_field){luaL_checkstring(L, -1), type, NULL};
    if (lua_getfield(L, -2, "help") != LUA_TNIL)
      fields[i].help = luaL_checkstring(L, -1);
    l_append(L, pins);
    l_append(L, pins);
    lua_settop(L, top);
  }
}


void l_push_fields (lua_State *L, const pf_field *fields, size_t nfields) {
  lua_createtable(L, (int)nfields, 0);
  for (size_t i = 0; i < nfields; i++) {
    if (pf_is_hidden(&fields[i]))
      continue;
    lua_createtable(L, 0, 3);
    l_set_text(L, "name", fields[i].name);
    l_set_text(L, "type", pf_type_name(fields[i].type));
    l_set_text(L, "help", fields[i].help == NULL ? "" : fields[i].help);
    l_append(L, -2);
  }
}


size_t l_field_check (lua_State *L, int arg, const pf_reader *reader) {
  const char *const name = luaL_checkstring(L, arg);
  const size_t found = pf_field_index(reader->fields, reader->nfields, name);
  if (found < reader->nfields)
    return found;
  luaL_Buffer buffer;
  luaL_buffinit(L, &buffer);
  for (size_t i = 0; i < reader->nfields; i++) {
    if (pf_is_hidden(&reader->fields[i]))
      continue;
    luaL_addstring(&buffer, i == 0 ? "" : ", ");
    luaL_addstring(&buffer, reader->fields[i].name);
  }
  luaL_pushresult(&buffer);
  luaL_error(L, "no column '%s'; there are: %s", name, lua_tostring(L, -1));
  return found;
}


int l_columns_check (lua_State *L, int arg, const pf_reader *reader,
                     size_t *columns, int capacity) {
  int count = 0;
  luaL_checktype(L, arg, LUA_TTABLE);
  const lua_Unsigned n = l_length(L, arg);
  luaL_argcheck(L, n <= (lua_Unsigned)capacity, arg, "too many columns");
  for (; count < (int)n; count++) {
    lua_rawgeti(L, arg, count + 1);
    columns[count] = l_field_check(L, -1, reader);
    lua_pop(L, 1);
  }
  return count;
}


size_t *l_columns_at (lua_State *L, int arg, const pf_reader *reader,
                      int *count) {
  const bool is_all = lua_isnoneornil(L, arg);
  const size_t n = is_all ? reader->nfields : l_length(L, arg);
  luaL_argcheck(L, n <= INT_MAX, arg, "too many columns");
  size_t *const columns = l_scratch(L, n, sizeof *columns);
  *count = is_all ? 0 : l_columns_check(L, arg, reader, columns, (int)n);
  for (size_t i = 0; is_all && i < n; i++)
    if (!pf_is_hidden(&reader->fields[i]))
      columns[(*count)++] = i;
  return columns;
}


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
  const bool given = get(L, arg, name);
  const char *const text = given ? l_string_check(L, -1, name) : fallback;
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


size_t l_option_field (lua_State *L, int arg, const char *name,
                       const pf_reader *reader) {
  get(L, arg, name);
  const size_t field = l_field_check(L, -1, reader);
  lua_pop(L, 1);
  return field;
}


uint32_t l_option_name (lua_State *L, int arg, const char *name,
                        pf_dictionary *dictionary) {
  const bool given = get(L, arg, name);
  const uint32_t id = given ? l_name_check(L, -1, dictionary) : PF_NO_NAME;
  lua_pop(L, 1);
  return id;
}


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


#define L_PACKED "profio.packed"

static int packed_gc (lua_State *L) {
  pf_packed *const packed = luaL_checkudata(L, 1, L_PACKED);
  free(packed->at);
  *packed = (pf_packed){.at = NULL};
  return 0;
}


pf_packed *l_packed_new (lua_State *L) {
  return l_new(L, L_PACKED, sizeof(pf_packed), 0);
}


int l_push_packed (lua_State *L, pf_packed *packed) {
  if (packed->is_out_of_memory)
    l_no_memory(L);
  l_push_bytes(L, (pf_bytes){packed->at, packed->used});
  free(packed->at);
  *packed = (pf_packed){.at = NULL};
  return 1;
}


void l_open_arguments (lua_State *L) {
  l_class(L, L_PACKED, NULL, packed_gc, NULL);
}


void l_append (lua_State *L, int index) {
  index = lua_absindex(L, index);
  lua_rawseti(L, index, (lua_Integer)l_length(L, index) + 1);
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
