/*
** grouping.c - core.group and core.sort.
**
** A key of a group may be a Lua function, which is called for each row. A Lua
** table maps its values to numbers, so keys are equal if Lua says so: 1 and 1.0
** are one key. nil and NaN are missing keys.
**
** Called by view_methods.lua; core.group also by internal/table_readers.lua.
** The reader userdata owns the stage and pins its input and callbacks.
*/

#include <math.h>

#include "kernels/group/group.h"
#include "kernels/group/quantile.h"
#include "kernels/stages/stages.h"
#include "lua/arguments.h"
#include "lua/callback.h"
#include "lua/trace_part.h"

/* Stack indices of core.group. */
enum {
  READER = 1,
  KEYS,
  AGGREGATES,
  PARTS,
  PINS,
  BLOCK,
  SPEC
};

#define MAX_ARGUMENTS 200 /* of a key */

/* A function of some columns that returns a key. */
typedef struct l_key {
  l_callback callback; /* values: FUNCTION to VALUES */
  pf_computed_key
      computed; /* callbacks for the kernel; their context is this key */
  const pf_reader *input;
  const char *name;
  bool typed;         /* the type was declared, else the values determine it */
  pf_type type;       /* PF_INT, PF_NUM, PF_BOOL or PF_NAME */
  unsigned seen;      /* bit set of the types of values */
  lua_Integer values; /* number of distinct values */
  int count;
  size_t columns[MAX_ARGUMENTS];
  struct l_key_call { /* arguments of the current call */
    const pf_batch *batch;
    uint64_t *words;
    bool *missing;
    uint64_t word;
    pf_column *column;
    size_t row;
  } call;
} l_key;

/* The arguments of core.group; the kernel copies them. */
typedef struct group_block {
  size_t nkeys, naggregates;
  pf_key keys[PF_MAX_KEYS];
  pf_type types[PF_MAX_KEYS];
  const l_key *functions[PF_MAX_KEYS]; /* NULL for a key that is a column */
  pf_aggregate aggregates[];
} group_block;

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


/* Returns the number of the value on top and pops it; new ones get the next. */
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


const char l_open_type_help[] = "value that a function returns for each row";


/* Sets the type of a key's column after all rows were read: the declared type,
   else the type of the values; PF_NAME if they have several types. A column
   without values fits any type (pf_has_any_type). */
static void retype (void *context, size_t number, pf_field *field) {
  const l_key *const key = ((const group_block *)context)->functions[number];
  if (key == NULL)
    return;
  field->type = key->type;
  if (key->typed)
    return;
  const unsigned whole = 1u << PF_INT, numbers = whole | 1u << PF_NUM;
  if (key->seen == whole)
    field->type = PF_INT;
  else if (key->seen != 0 && (key->seen & ~numbers) == 0)
    field->type = PF_NUM;
  else
    field->type = key->seen == 1u << PF_BOOL ? PF_BOOL : PF_NAME;
  field->help = key->seen == 0 ? pf_any_type_help : l_open_type_help;
}


/* Pushes a key for the table { fn=, columns=, name=, type= } at SPEC, then its
   thread; the caller must pin both, and the name. */
static l_key *new_key (lua_State *L) {
  l_key *const key = l_scratch(L, 1, sizeof *key);
  key->input = l_reader_check(L, READER)->reader;
  lua_getfield(L, SPEC, "columns");
  luaL_argcheck(L, lua_istable(L, -1), SPEC,
                "a key that is a function needs columns");
  key->count = l_columns_check(L, lua_gettop(L), key->input, key->columns,
                               MAX_ARGUMENTS);
  lua_getfield(L, SPEC, "name"); /* the caller pins the string */
  key->name = l_string_check(L, -1, "name");
  lua_pop(L, 2);
  key->typed = lua_getfield(L, SPEC, "type") != LUA_TNIL;
  key->type = PF_NAME;
  if (key->typed)
    key->type = types[luaL_checkoption(L, -1, NULL, type_names)];
  lua_pop(L, 1);
  key->computed =
      (pf_computed_key){key, key->columns, (size_t)key->count, make, put};
  if (lua_getfield(L, SPEC, "fn") != LUA_TFUNCTION)
    luaL_error(L, "key '%s': fn must be a function, got %s", key->name,
               luaL_typename(L, -1));
  l_reader_push_cache(L, READER);
  lua_newtable(L); /* NUMBERS */
  lua_newtable(L); /* VALUES */
  l_callback_open(L, &key->callback, NVALUES, l_reader_check(L, READER)->open);
  return key;
}


static void set_bucket (lua_State *L, pf_key *key, const pf_field *field) {
  if (lua_getfield(L, SPEC, "bucket") == LUA_TNIL || pf_has_any_type(field)) {
    lua_pop(L, 1);
    return;
  }
  int is_integer;
  key->bucket_num = luaL_checknumber(L, -1);
  key->bucket = lua_tointegerx(L, -1, &is_integer);
  lua_pop(L, 1);
  if (field->type == PF_NUM) {
    if (!(key->bucket_num > 0) || isinf(key->bucket_num))
      luaL_error(L, "bucket(%s, ...): the width must be above 0 and finite",
                 field->name);
  }
  else if (field->type != PF_INT && field->type != PF_ADDR &&
           field->type != PF_HANDLE)
    luaL_error(L, "bucket(%s, ...): the column is of type %s, not a number",
               field->name, pf_type_name(field->type));
  else if (!is_integer || key->bucket <= 0)
    luaL_error(L, "bucket(%s, ...): the width must be a whole number above 0",
               field->name);
}


static void set_column_key (lua_State *L, pf_key *key, pf_type *type,
                            const pf_reader *input) {
  key->column = l_option_field(L, SPEC, "column", input);
  const pf_field *const field = &input->fields[key->column];
  *type = field->type;
  set_bucket(L, key, field);
  key->octave = l_option_flag(L, SPEC, "octave") && !pf_has_any_type(field);
  if (key->octave && field->type != PF_INT)
    luaL_error(L, "octave(%s): the column is of type %s, not int", field->name,
               pf_type_name(field->type));
  key->name = l_option_text(L, SPEC, "name", field->name);
}


static void set_key (lua_State *L, group_block *b, size_t i,
                     const pf_reader *input) {
  pf_key *const key = &b->keys[i];
  luaL_checktype(L, SPEC, LUA_TTABLE);
  if (lua_getfield(L, SPEC, "fn") == LUA_TNIL) {
    set_column_key(L, key, &b->types[i], input);
    return;
  }
  lua_getfield(L, SPEC, "name");
  l_append(L, PINS);
  const l_key *const function = new_key(L);
  l_append(L, PINS); /* the key's thread */
  l_append(L, PINS); /* the key */
  key->name = function->name;
  key->computed = &function->computed;
  b->functions[i] = function;
  b->types[i] = function->type;
}


static void set_aggregate (lua_State *L, pf_aggregate *aggregate,
                           const pf_reader *input) {
  luaL_checktype(L, SPEC, LUA_TTABLE);
  lua_getfield(L, SPEC, "fn");
  const char *const function = luaL_checkstring(L, -1);
  if (!pf_aggregate_named(function, aggregate))
    luaL_error(L,
               "no aggregate '%s'; there are count, sum, min, max, mean, "
               "stddev, first, last, distinct and p0 to p100",
               function);
  aggregate->name = l_option_text(L, SPEC, "name", function);
  if (lua_getfield(L, SPEC, "column") == LUA_TNIL) {
    if (aggregate->function != PF_COUNT)
      luaL_error(L, "aggregate %s needs a column: %s(column)", function,
                 function);
    aggregate->column = PF_NO_COLUMN;
    return;
  }
  aggregate->column = l_field_check(L, -1, input);
  const pf_field *const field = &input->fields[aggregate->column];
  if (!pf_aggregate_fits(aggregate->function, field))
    luaL_error(L, "aggregate %s(%s): the column is of type %s", function,
               field->name, pf_type_name(field->type));
}


static group_block *read_group (lua_State *L, const pf_reader *input) {
  const size_t nkeys = l_length(L, KEYS);
  const size_t count = l_length(L, AGGREGATES);
  luaL_argcheck(L, nkeys <= PF_MAX_KEYS, KEYS, "more than 64 keys");
  const size_t size = sizeof(group_block) + count * sizeof(pf_aggregate);
  group_block *const b = l_scratch(L, size, 1);
  b->nkeys = nkeys;
  b->naggregates = count;
  for (size_t i = 0; i < nkeys; i++) {
    lua_rawgeti(L, KEYS, (lua_Integer)i + 1);
    set_key(L, b, i, input);
    lua_settop(L, BLOCK);
  }
  for (size_t i = 0; i < count; i++) {
    lua_rawgeti(L, AGGREGATES, (lua_Integer)i + 1);
    set_aggregate(L, &b->aggregates[i], input);
    b->aggregates[i].to = nkeys + i;
    lua_settop(L, BLOCK);
  }
  return b;
}


/* Passes the readers in the table at PARTS to the group. */
static pf_status split (lua_State *L, pf_reader *group) {
  const size_t count = l_length(L, PARTS);
  pf_reader **const readers = l_scratch(L, count, sizeof *readers);
  for (size_t i = 0; i < count; i++) {
    lua_rawgeti(L, PARTS, (lua_Integer)i + 1);
    l_reader *const part = l_reader_check(L, -1);
    part->is_input = true;
    readers[i] = part->reader;
    lua_pop(L, 1);
  }
  lua_getfield(L, PARTS, "part");
  bool *const strict = &l_part_check(L, -1)->trace.strict;
  lua_pop(L, 2);
  return pf_group_split(group, readers, count, strict);
}


/* Returns whether the type of a key depends on its values. */
static bool has_open_key (const group_block *b) {
  for (size_t i = 0; i < b->nkeys; i++)
    if (b->functions[i] != NULL && !b->functions[i]->typed)
      return true;
  return false;
}


/*
** core.group(reader, keys, aggregates, parts): a row for each combination of
** keys. A key is { column=, bucket=, octave=, name= } or { fn=, columns=,
** name=, type= }; an aggregate is { fn=, column=, name= }. The input is read at
** the first batch. If the type ("int", "num", "bool", "name") of a function is
** not given, the input is read at once, because the values determine the type.
** `parts` is a list of readers that together have the rows of `reader` and may
** be read in threads; its field `part` is the part that they read.
*/
static int core_group (lua_State *L) {
  pf_reader *const input = l_reader_check(L, READER)->reader;
  luaL_checktype(L, KEYS, LUA_TTABLE);
  luaL_checktype(L, AGGREGATES, LUA_TTABLE);
  lua_settop(L, PARTS);
  if (!lua_isnil(L, PARTS))
    luaL_checktype(L, PARTS, LUA_TTABLE);
  lua_newtable(L); /* PINS */
  group_block *const b = read_group(L, input);
  luaL_argcheck(L, b->nkeys + b->naggregates > 0, KEYS, "nothing to group by");
  l_reader *const r = l_reader_new(L);
  pf_error error;
  if (pf_group_open(input, b->keys, b->types, b->nkeys, b->aggregates,
                    b->naggregates, &r->reader, &error) != PF_OK)
    return l_throw(L, &error, READER);
  if (!lua_isnil(L, PARTS) && split(L, r->reader) != PF_OK)
    l_no_memory(L);
  const pf_reader *const rows = r->reader;
  for (size_t i = 0; i < rows->nfields; i++)
    if (pf_field_index(rows->fields, rows->nfields, rows->fields[i].name) < i)
      luaL_error(L,
                 "group: two columns would be called '%s'; give one of "
                 "them another name",
                 rows->fields[i].name);
  const pf_status status =
      has_open_key(b) ? pf_group_run(r->reader, retype, b, &error) : PF_OK;
  return status == PF_OK ? 1 : l_throw(L, &error, READER);
}


/* core.sort(reader, keys): the rows ordered by the keys { column=, descending=
   }; stable, missing values last. */
static int core_sort (lua_State *L) {
  pf_reader *const input = l_reader_check(L, 1)->reader;
  luaL_checktype(L, 2, LUA_TTABLE);
  lua_settop(L, 2);
  const size_t nkeys = l_length(L, 2);
  pf_sort_key *const keys = l_scratch(L, nkeys, sizeof *keys);
  for (size_t i = 0; i < nkeys; i++) {
    lua_rawgeti(L, 2, (lua_Integer)i + 1);
    luaL_checktype(L, -1, LUA_TTABLE);
    keys[i].column = l_option_field(L, -1, "column", input);
    keys[i].descending = l_option_flag(L, -1, "descending");
    lua_pop(L, 1);
  }
  l_reader *const r = l_reader_new(L);
  return l_reader_opened(
      L, pf_sort_open(input, keys, nkeys, &r->reader, &r->error));
}


/* core.nearest_rank(name, count): which of `count` sorted values the quantile
   "p99.9" is, from 1; nil for a name of no quantile. */
static int core_nearest_rank (lua_State *L) {
  const char *const name = luaL_checkstring(L, 1);
  const lua_Integer count = luaL_checkinteger(L, 2);
  uint32_t rank;
  luaL_argcheck(L, count >= 0, 2, "must not be negative");
  if (pf_rank_named(name, &rank))
    lua_pushinteger(L, (lua_Integer)pf_nearest_rank((uint64_t)count, rank));
  else
    lua_pushnil(L);
  return 1;
}


void l_open_grouping (lua_State *L) {
  L_ADD(L, {"group", core_group}, {"nearest_rank", core_nearest_rank},
        {"sort", core_sort});
  lua_pushnumber(L, PF_QUANTILE_ERROR);
  lua_setfield(L, -2, "quantile_error");
}
