/*
** group_key.c - calls a Lua function for each row and numbers its values.
**
** A Lua table maps values to numbers, so keys are equal if Lua says so: 1 and
** 1.0 are one key. nil is a missing key.
*/

#include <math.h>

#include "lua/arguments.h"
#include "lua/stages/group_key.h"
#include "model/dictionary/names.h"

/* Stack indices of the bodies: the key, then the values of the callback. */
enum {
  KEY = 1,
  FUNCTION,
  CACHE,
  NUMBERS,
  VALUES,
  NVALUES = VALUES - KEY
};

static const char *const type_names[] = {"int", "num", "bool", "name", NULL};
static const pf_type types[] = {PF_INT, PF_NUM, PF_BOOL, PF_NAME};


/* {====== Values to numbers ====== */

static pf_type type_of (lua_State *L, const l_key *key) {
  switch (lua_type(L, -1)) {
    case LUA_TSTRING: return PF_NAME;
    case LUA_TBOOLEAN: return PF_BOOL;
    case LUA_TNUMBER: return lua_isinteger(L, -1) ? PF_INT : PF_NUM;
    default:
      luaL_error(L,
                 "key '%s' is a %s; it must be a string, a number, a "
                 "boolean or nil",
                 key->name, luaL_typename(L, -1));
      return PF_NAME;
  }
}


/* Whether the value on top fits into a column of the declared type. */
static bool fits (lua_State *L, pf_type declared, pf_type type) {
  int is_integer = declared == type;
  if (declared == PF_INT && type == PF_NUM)
    lua_tointegerx(L, -1, &is_integer);
  return is_integer != 0 || (declared == PF_NUM && type == PF_INT);
}


/* Returns the number of the value on top and pops it; a new value gets the next
   number. */
static uint64_t id_of (lua_State *L, l_key *key) {
  lua_pushvalue(L, -1);
  if (lua_rawget(L, NUMBERS) == LUA_TNIL) {
    lua_pop(L, 1);
    lua_pushvalue(L, -1);
    lua_rawseti(L, VALUES, ++key->values);
    lua_pushvalue(L, -1);
    lua_pushinteger(L, key->values);
    lua_rawset(L, NUMBERS);
    lua_pushinteger(L, key->values);
  }
  const uint64_t number = (uint64_t)lua_tointeger(L, -1);
  lua_pop(L, 2);
  return number;
}


/* Stores the value on top (popped) as the key of a row. */
static void read_value (lua_State *L, l_key *key, size_t row) {
  if (lua_isnil(L, -1) ||
      (lua_type(L, -1) == LUA_TNUMBER && isnan(lua_tonumber(L, -1)))) {
    key->call.missing[row] = true;
    lua_pop(L, 1);
    return;
  }
  const pf_type type = type_of(L, key);
  if (key->typed && !fits(L, key->type, type))
    luaL_error(L, "key '%s' is declared %s, got %s", key->name,
               pf_type_name(key->type), luaL_tolstring(L, -1, NULL));
  key->seen |= 1u << type;
  key->call.words[row] = id_of(L, key);
}


static int make_body (lua_State *L) {
  l_key *const key = lua_touserdata(L, KEY);
  const pf_batch *const batch = key->call.batch;
  luaL_checkstack(L, key->count + 6, "too many columns");
  for (size_t row = 0; row < batch->rows; row++) {
    lua_pushvalue(L, FUNCTION);
    for (int i = 0; i < key->count; i++)
      l_push_value(L, &batch->columns[key->columns[i]], row,
                   key->input->dictionary, CACHE);
    l_callback_call(L, &key->callback, key->count);
    read_value(L, key, row);
  }
  return 0;
}


static pf_status make (void *context, const pf_batch *batch, uint64_t *words,
                       bool *missing, pf_error *error) {
  l_key *const key = context;
  key->call = (struct l_key_call){batch, words, missing, 0, NULL, 0};
  return l_callback_run(&key->callback, make_body, key, NVALUES, error);
}

/* }====== */


/* {====== Numbers to values ====== */

static int put_body (lua_State *L) {
  l_key *const key = lua_touserdata(L, KEY);
  pf_column *const column = key->call.column;
  const size_t row = key->call.row;
  lua_rawgeti(L, VALUES, (lua_Integer)key->call.word);
  if (column->type != PF_NAME) {
    l_to_value(L, -1, column, row, key->input->dictionary);
    return 0;
  }
  luaL_tolstring(L, -1, NULL);
  column->ids[row] = l_name_check(L, -1, key->input->dictionary);
  return 0;
}


static pf_status put (void *context, uint64_t word, pf_column *column,
                      size_t row, pf_error *error) {
  l_key *const key = context;
  key->call = (struct l_key_call){NULL, NULL, NULL, word, column, row};
  return l_callback_run(&key->callback, put_body, key, NVALUES, error);
}

/* }====== */


static pf_type type_of_values (const l_key *key) {
  const unsigned whole = 1u << PF_INT, number = whole | 1u << PF_NUM;
  if (key->seen == whole)
    return PF_INT;
  if (key->seen != 0 && (key->seen & ~number) == 0)
    return PF_NUM;
  return key->seen == 1u << PF_BOOL ? PF_BOOL : PF_NAME;
}


const char l_open_type_help[] = "value that a function returns for each row";


void l_key_retype (const l_key *key, pf_field *field) {
  field->type = key->typed ? key->type : type_of_values(key);
  if (!key->typed)
    field->help = key->seen == 0 ? pf_any_type_help : l_open_type_help;
}


l_key *l_key_new (lua_State *L, int index, int reader_arg) {
  l_key *const key = l_scratch(L, 1, sizeof *key);
  key->input = l_reader_check(L, reader_arg)->reader;
  lua_getfield(L, index, "columns");
  luaL_argcheck(L, lua_istable(L, -1), index,
                "a key that is a function needs columns");
  key->count = l_columns_check(L, lua_gettop(L), key->input, key->columns,
                               L_KEY_COLUMNS);
  lua_pop(L, 1);
  lua_getfield(L, index, "name"); /* the caller pins the string */
  key->name = luaL_checkstring(L, -1);
  lua_pop(L, 1);
  key->typed = lua_getfield(L, index, "type") != LUA_TNIL;
  key->type = PF_NAME;
  if (key->typed)
    key->type = types[luaL_checkoption(L, -1, NULL, type_names)];
  lua_pop(L, 1);
  key->computed =
      (pf_computed_key){key, key->columns, (size_t)key->count, make, put};
  if (lua_getfield(L, index, "fn") != LUA_TFUNCTION)
    luaL_error(L, "key '%s': fn must be a function, got %s", key->name,
               luaL_typename(L, -1));
  l_reader_push_dictionary(L, reader_arg);
  l_push_name_cache(L, lua_gettop(L));
  lua_remove(L, -2);
  lua_newtable(L); /* NUMBERS */
  lua_newtable(L); /* VALUES */
  l_callback_open(L, &key->callback, NVALUES,
                  l_reader_check(L, reader_arg)->open);
  return key;
}
