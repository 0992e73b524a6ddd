/*
** binding.c - functions shared by the files of the binding (see binding.h).
*/

#include <stdio.h>
#include <string.h>

#include "lua/arguments.h"

const bool l_always_open = true;

/* Registry keys: the error value that l_save_error saves, and the message of
   the last input that could not be read. They are names, since profio.store has
   a copy of this code and calls readers of profio.core. */
#define RAISED      "profio.raised"
#define UNREAD      "profio.unread"
#define UNREAD_CODE "profio.unread_code"


void l_class (lua_State *L, const char *name, const luaL_Reg *methods,
              lua_CFunction gc, lua_CFunction close) {
  const luaL_Reg ends[] = {{"__gc", gc}, {"__close", close}, {NULL, NULL}};
  luaL_newmetatable(L, name);
  if (methods != NULL) {
    lua_newtable(L);
    luaL_setfuncs(L, methods, 0);
    lua_setfield(L, -2, "__index");
  }
  for (const luaL_Reg *end = ends; end->name != NULL; end++)
    if (end->func != NULL) {
      lua_pushcfunction(L, end->func);
      lua_setfield(L, -2, end->name);
    }
  lua_pop(L, 1);
}


void *l_new (lua_State *L, const char *class, size_t size, int values) {
  void *const object = lua_newuserdatauv(L, size, values);
  memset(object, 0, size);
  luaL_setmetatable(L, class);
  return object;
}


void l_pin (lua_State *L, int object, int number, int value) {
  object = lua_absindex(L, object);
  lua_pushvalue(L, value);
  lua_setiuservalue(L, object, number);
}


/* Returns the stable code of a failure. */
static const char *code_of (pf_status status) {
  switch (status) {
    case PF_EIO: return "io";
    case PF_ETRUNCATED: return "truncated";
    case PF_EUNSUPPORTED: return "unsupported";
    case PF_ELIMIT: return "limit";
    default: return "format";
  }
}


/* A label in the error goes first: it names the file that failed. */
static void push_message (lua_State *L, const pf_error *error,
                          const char *label) {
  luaL_Buffer buffer;
  luaL_buffinit(L, &buffer);
  if (error->label != NULL)
    label = error->label;
  if (label != NULL && label[0] != '\0') {
    luaL_addstring(&buffer, label);
    luaL_addstring(&buffer, ": ");
  }
  luaL_addstring(&buffer, error->what);
  if (error->offset != PF_NO_OFFSET) {
    char offset[40];
    snprintf(offset, sizeof offset, " (byte %llu)",
             (unsigned long long)error->offset);
    luaL_addstring(&buffer, offset);
  }
  luaL_pushresult(&buffer);
}


/* Marks that no error is saved. It is not nil, so that the slot stays allocated
   and l_save_error needs no memory. */
static void clear_raised (lua_State *L) {
  lua_pushlightuserdata(L, NULL);
  lua_setfield(L, LUA_REGISTRYINDEX, RAISED);
}


/* Raises failures that are not returned as nil, message, code: errors raised by
   Lua functions, and out of memory. A reader may return the failure again,
   after the error of the Lua function was raised. */
static void raise_fatal (lua_State *L, const pf_error *error) {
  if (error->status == PF_ERAISED) {
    lua_getfield(L, LUA_REGISTRYINDEX, RAISED);
    if (lua_islightuserdata(L, -1) && lua_touserdata(L, -1) == NULL)
      luaL_error(L, "the rows cannot be read: a Lua function raised an error");
    clear_raised(L);
    lua_error(L);
  }
  if (error->status == PF_ENOMEM)
    l_no_memory(L);
}


int l_failure (lua_State *L, const pf_error *error, const char *label) {
  raise_fatal(L, error);
  lua_pushnil(L);
  push_message(L, error, label);
  lua_pushstring(L, code_of(error->status));
  return 3;
}


int l_failure_of (lua_State *L, const pf_error *error, int index) {
  lua_getiuservalue(L, index, 2);
  return l_failure(L, error, lua_tostring(L, -1));
}


int l_throw (lua_State *L, const pf_error *error, int reader_arg) {
  raise_fatal(L, error);
  const char *label = NULL;
  if (reader_arg != 0 && lua_getiuservalue(L, reader_arg, 2) == LUA_TSTRING)
    label = lua_tostring(L, -1);
  push_message(L, error, label);
  if (error->status == PF_EIO || error->status == PF_ETRUNCATED ||
      error->status == PF_EFORMAT) {
    lua_pushvalue(L, -1);
    lua_setfield(L, LUA_REGISTRYINDEX, UNREAD);
    lua_pushstring(L, code_of(error->status));
    lua_setfield(L, LUA_REGISTRYINDEX, UNREAD_CODE);
  }
  return lua_error(L);
}


/*
** core.unread([value]): the last message, without position, that l_throw raised
** because an input could not be read, and its code; or error of a reader of the
** user, or nil; sets it to a value that is given. cli.lua and script_writer.lua
** compare it with the message of an error, to tell such errors from wrong use.
*/
static int core_unread (lua_State *L) {
  if (!lua_isnone(L, 1)) {
    lua_settop(L, 1);
    lua_setfield(L, LUA_REGISTRYINDEX, UNREAD);
    lua_pushnil(L);
    lua_setfield(L, LUA_REGISTRYINDEX, UNREAD_CODE);
  }
  lua_getfield(L, LUA_REGISTRYINDEX, UNREAD);
  lua_getfield(L, LUA_REGISTRYINDEX, UNREAD_CODE);
  return 2;
}


pf_status l_save_error (lua_State *L, pf_error *error) {
  lua_setfield(L, LUA_REGISTRYINDEX, RAISED);
  return pf_fail(error, PF_ERAISED, PF_NO_OFFSET, "a Lua function raised");
}


l_reader *l_reader_new (lua_State *L) {
  const int count = lua_gettop(L);
  l_reader *const r = l_new(L, L_READER, sizeof *r, 2);
  r->open = &l_always_open;
  lua_createtable(L, count, 0);
  for (int i = count; i > 0; i--) {
    l_reader *const pinned = luaL_testudata(L, i, L_READER);
    if (pinned != NULL) {
      pinned->is_input = true;
      r->open = pinned->open;
      lua_getiuservalue(L, i, 2);
      lua_setiuservalue(L, count + 1, 2);
    }
    lua_pushvalue(L, i);
    lua_rawseti(L, -2, i);
  }
  lua_setiuservalue(L, -2, 1);
  return r;
}


int l_reader_opened (lua_State *L, pf_status status) {
  const l_reader *const r = lua_touserdata(L, -1);
  return status == PF_OK ? 1 : l_throw(L, &r->error, lua_gettop(L));
}


void l_reader_check_open (lua_State *L, const l_reader *reader) {
  if (reader->reader == NULL)
    luaL_error(L, "reader is closed");
  if (!*reader->open)
    luaL_error(L, "trace is closed");
}


l_reader *l_reader_check (lua_State *L, int arg) {
  l_reader *const r = luaL_checkudata(L, arg, L_READER);
  l_reader_check_open(L, r);
  return r;
}


typedef struct l_dictionary {
  pf_dictionary *dictionary;
} l_dictionary;


pf_dictionary *l_dictionary_check (lua_State *L, int arg) {
  const l_dictionary *const d = luaL_checkudata(L, arg, L_DICTIONARY);
  luaL_argcheck(L, d->dictionary != NULL, arg, "dictionary is closed");
  return d->dictionary;
}


static int dictionary_gc (lua_State *L) {
  l_dictionary *const d = luaL_checkudata(L, 1, L_DICTIONARY);
  pf_dictionary_free(d->dictionary);
  d->dictionary = NULL;
  return 0;
}


static void set_text (lua_State *L, pf_dictionary *d, uint32_t name,
                      const char *key, int cache) {
  if (name == PF_NO_NAME)
    return;
  l_push_name(L, d, name, cache);
  lua_setfield(L, -2, key);
}


/* dictionary:stack(id): the frames of a stack (a value of a column of stacks),
   innermost first, as { area=, class=, file=, line=, value= }. Raises for an
   unknown id. */
static int dictionary_stack (lua_State *L) {
  pf_dictionary *const d = l_dictionary_check(L, 1);
  const lua_Integer number = luaL_checkinteger(L, 2);
  luaL_argcheck(L, number >= 0 && number < pf_stacks_count(d), 2,
                "no stack has this number");
  l_push_name_cache(L, 1);
  const int cache = lua_gettop(L);
  lua_newtable(L);
  for (uint32_t s = (uint32_t)number; s != PF_NO_STACK;
       s = pf_stack_at(d, s)->parent) {
    const pf_area *const area = pf_area_at(d, pf_stack_at(d, s)->frame);
    lua_createtable(L, 0, 5);
    set_text(L, d, area->name, "area", cache);
    set_text(L, d, area->class, "class", cache);
    set_text(L, d, area->file, "file", cache);
    if (area->line != 0)
      l_set_int(L, "line", area->line);
    if (area->has_value)
      l_set_int(L, "value", area->value);
    l_append(L, -2);
  }
  return 1;
}


/* dictionary:has(text): whether the text is one of its names. */
static int dictionary_has (lua_State *L) {
  const pf_dictionary *const d = l_dictionary_check(L, 1);
  lua_pushboolean(L, pf_find_name(d, l_text_check(L, 2)) != PF_NO_NAME);
  return 1;
}


/*
** User value 1 is the string cache: name id + 1 -> Lua string. A weak table in
** the registry maps the core's pointer to the userdata, to find the userdata of
** a reader's dictionary.
*/
pf_dictionary *l_dictionary_new (lua_State *L) {
  l_dictionary *const d = l_new(L, L_DICTIONARY, sizeof *d, 1);
  lua_newtable(L);
  lua_setiuservalue(L, -2, 1);
  d->dictionary = pf_dictionary_new();
  if (d->dictionary == NULL)
    l_no_memory(L);
  lua_getfield(L, LUA_REGISTRYINDEX, L_DICTIONARY "s");
  lua_pushvalue(L, -2);
  lua_rawsetp(L, -2, d->dictionary);
  lua_pop(L, 1);
  return d->dictionary;
}


/* core.dictionary(): an empty dictionary of names, areas and stacks, which all
   parts of a trace share. */
static int core_dictionary (lua_State *L) {
  l_dictionary_new(L);
  return 1;
}


void l_reader_push_dictionary (lua_State *L, int arg) {
  const l_reader *const r = l_reader_check(L, arg);
  lua_getfield(L, LUA_REGISTRYINDEX, L_DICTIONARY "s");
  lua_rawgetp(L, -1, r->reader->dictionary);
  lua_remove(L, -2);
}


void l_push_name_cache (lua_State *L, int dictionary_arg) {
  luaL_checkudata(L, dictionary_arg, L_DICTIONARY);
  lua_getiuservalue(L, dictionary_arg, 1);
}


void l_reader_push_cache (lua_State *L, int arg) {
  l_reader_push_dictionary(L, arg);
  l_push_name_cache(L, lua_gettop(L));
  lua_remove(L, -2);
}


void l_push_name (lua_State *L, pf_dictionary *dictionary, uint32_t name,
                  int cache) {
  if (cache == 0) {
    l_push_bytes(L, pf_name(dictionary, name));
    return;
  }
  if (lua_rawgeti(L, cache, (lua_Integer)name + 1) == LUA_TSTRING)
    return;
  lua_pop(L, 1);
  l_push_bytes(L, pf_name(dictionary, name));
  lua_pushvalue(L, -1);
  lua_rawseti(L, cache, (lua_Integer)name + 1);
}


void l_push_value (lua_State *L, const pf_column *column, size_t row,
                   pf_dictionary *dictionary, int cache) {
  if (pf_is_missing(column, row)) {
    lua_pushnil(L);
    return;
  }
  switch (column->type) {
    case PF_NUM: lua_pushnumber(L, column->nums[row]); break;
    case PF_BOOL: lua_pushboolean(L, column->bools[row]); break;
    case PF_NAME: l_push_name(L, dictionary, column->ids[row], cache); break;
    case PF_AREA:
      l_push_name(L, dictionary, pf_area_name(dictionary, column->ids[row]),
                  cache);
      break;
    case PF_STACK: lua_pushinteger(L, column->ids[row]); break;
    case PF_BYTES: l_push_bytes(L, column->bytes[row]); break;
    default: lua_pushinteger(L, column->ints[row]);
  }
}


/* Reads an integer at `arg`, which may be a float with an integral value. */
static bool to_integer (lua_State *L, int arg, int64_t *value) {
  int is_integer;
  *value = lua_tointegerx(L, arg, &is_integer);
  return is_integer && lua_type(L, arg) == LUA_TNUMBER;
}


static bool to_name (lua_State *L, int arg, uint32_t *id,
                     pf_dictionary *dictionary) {
  if (lua_type(L, arg) != LUA_TSTRING)
    return false;
  *id = l_name_check(L, arg, dictionary);
  return true;
}


/* Reads an integer field of the table at `arg`; false if it is absent. */
static bool area_integer (lua_State *L, int arg, const char *name,
                          int64_t *value) {
  const bool given = lua_getfield(L, arg, name) != LUA_TNIL;
  if (given && !to_integer(L, -1, value))
    luaL_error(L, "%s of an area must be a whole number", name);
  lua_pop(L, 1);
  return given;
}


static uint32_t area_text (lua_State *L, int arg, const char *name,
                           pf_dictionary *dictionary) {
  uint32_t id = PF_NO_NAME;
  if (lua_getfield(L, arg, name) != LUA_TNIL &&
      !to_name(L, lua_gettop(L), &id, dictionary))
    luaL_error(L, "%s of an area must be a string", name);
  lua_pop(L, 1);
  return id;
}


/* Reads the fields name, class, file, line, handle, value of the table at
   `arg`. */
static void area_of_table (lua_State *L, int arg, pf_area *area,
                           pf_dictionary *dictionary) {
  int64_t handle = 0;
  area->name = area_text(L, arg, "name", dictionary);
  area->class = area_text(L, arg, "class", dictionary);
  area->file = area_text(L, arg, "file", dictionary);
  area_integer(L, arg, "line", &area->line);
  area->has_value = area_integer(L, arg, "value", &area->value);
  area->has_handle = area_integer(L, arg, "handle", &handle);
  area->handle = (uint64_t)handle;
}


static uint32_t add_area (lua_State *L, const pf_area *area,
                          pf_dictionary *dictionary) {
  const uint32_t number = pf_area_add(dictionary, area);
  if (number == PF_NO_AREA)
    l_no_memory(L);
  return number;
}


/* A string is the name of an area without other fields; a table has a field for
   each property, and may have a parent. */
static bool to_area (lua_State *L, int arg, uint32_t *id,
                     pf_dictionary *dictionary) {
  pf_area area = PF_AREA_NONE;
  if (lua_istable(L, arg)) {
    luaL_checkstack(L, 4, "too many columns");
    area_of_table(L, lua_absindex(L, arg), &area, dictionary);
    pf_area parent = PF_AREA_NONE; /* a table without a parent, or a string */
    const int type = lua_getfield(L, arg, "parent");
    if (type == LUA_TTABLE)
      area_of_table(L, lua_gettop(L), &parent, dictionary);
    else if (type == LUA_TNIL || !to_name(L, -1, &parent.name, dictionary))
      parent.name = PF_NO_NAME;
    lua_pop(L, 1);
    if (type != LUA_TNIL)
      area.parent = add_area(L, &parent, dictionary);
  }
  else if (!to_name(L, arg, &area.name, dictionary))
    return false;
  *id = add_area(L, &area, dictionary);
  return true;
}


bool l_to_value (lua_State *L, int arg, pf_column *column, size_t row,
                 pf_dictionary *dictionary) {
  int64_t whole;
  if (lua_isnoneornil(L, arg)) {
    pf_set_missing(column, row);
    return true;
  }
  switch (column->type) {
    case PF_NUM:
      if (lua_type(L, arg) != LUA_TNUMBER)
        return false;
      column->nums[row] = lua_tonumber(L, arg);
      return true;
    case PF_BOOL:
      column->bools[row] = (uint8_t)lua_toboolean(L, arg);
      return lua_isboolean(L, arg);
    case PF_NAME: return to_name(L, arg, &column->ids[row], dictionary);
    case PF_BYTES:
      if (lua_type(L, arg) != LUA_TSTRING)
        return false;
      column->bytes[row] = l_text_check(L, arg);
      return true;
    case PF_AREA: return to_area(L, arg, &column->ids[row], dictionary);
    case PF_STACK:
      if (!to_integer(L, arg, &whole) || whole < 0 || whole >= UINT32_MAX)
        return false;
      column->ids[row] = (uint32_t)whole;
      return true;
    default: return to_integer(L, arg, &column->ints[row]);
  }
}


void l_open_binding (lua_State *L) {
  clear_raised(L);
  l_class(L, L_DICTIONARY,
          L_METHODS({"has", dictionary_has}, {"stack", dictionary_stack}),
          dictionary_gc, dictionary_gc);
  lua_newtable(L); /* core pointer -> userdata, weak values */
  lua_newtable(L);
  lua_pushliteral(L, "v");
  lua_setfield(L, -2, "__mode");
  lua_setmetatable(L, -2);
  lua_setfield(L, LUA_REGISTRYINDEX, L_DICTIONARY "s");
  L_ADD(L, {"dictionary", core_dictionary}, {"unread", core_unread});
}
