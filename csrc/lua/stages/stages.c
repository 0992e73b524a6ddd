/*
** stages.c - core.filter, core.limit and core.range, which select rows;
** core.concat, which concatenates tables; core.with_area, which adds columns;
** core.stacks, the stacks of a dictionary. (core.where is in conditions.c.)
**
** Called by internal/views, internal/bodies, internal/several and exports.
** A reader userdata owns each stage and pins its input.
*/

#include <string.h>

#include "kernels/stages/stages.h"
#include "lua/arguments.h"
#include "lua/callback.h"
#include "lua/trace_part.h"
#include "model/rows/abilities.h"

#define MAX_COLUMNS 200 /* maximum number of arguments of a filter */


typedef struct l_filter {
  l_callback callback; /* values: 1 the function, 2 the cache of names */
  pf_dictionary *dictionary;
  const pf_batch *batch; /* valid during a call */
  uint16_t *keep;
  size_t nkept;
  int count;
  size_t columns[MAX_COLUMNS];
} l_filter;


/* Arguments: (filter, function, cache). Calls the function for each row. */
static int filter_body (lua_State *L) {
  l_filter *const f = lua_touserdata(L, 1);
  luaL_checkstack(L, f->count + 4, "too many columns");
  for (size_t row = 0; row < f->batch->rows; row++) {
    lua_pushvalue(L, 2);
    for (int i = 0; i < f->count; i++)
      l_push_value(L, &f->batch->columns[f->columns[i]], row, f->dictionary, 3);
    l_callback_call(L, &f->callback, f->count);
    f->keep[f->nkept] = (uint16_t)row;
    f->nkept += lua_toboolean(L, -1) != 0;
    lua_pop(L, 1);
  }
  return 0;
}


static pf_status filter_rows (void *context, const pf_batch *batch,
                              uint16_t *keep, size_t *count, pf_error *error) {
  l_filter *const f = context;
  f->batch = batch;
  f->keep = keep;
  f->nkept = 0;
  const pf_status status =
      l_callback_run(&f->callback, filter_body, f, 2, error);
  *count = f->nkept;
  return status;
}


/* The collector frees the context, which is a userdata. */
static void filter_release (void *context) {
  (void)context;
}


/* core.filter(reader, f, columns): the rows for which f(values) is true. */
static int core_filter (lua_State *L) {
  pf_reader *const input = l_reader_check(L, 1)->reader;
  luaL_checktype(L, 2, LUA_TFUNCTION);
  luaL_checktype(L, 3, LUA_TTABLE);
  lua_settop(L, 3);
  l_filter *const f = l_scratch(L, 1, sizeof *f);
  f->dictionary = input->dictionary;
  f->count = l_columns_check(L, 3, input, f->columns, MAX_COLUMNS);
  lua_pushvalue(L, 2);
  l_reader_push_cache(L, 1);
  l_callback_open(L, &f->callback, 2, l_reader_check(L, 1)->open);
  l_reader *const r = l_reader_new(L);
  const pf_predicate choice = {f, filter_rows, filter_release};
  return l_reader_opened(L, pf_filter_open(input, f->columns, (size_t)f->count,
                                           choice, &r->reader, &r->error));
}


/* Returns a number of rows; `none` if the argument is absent. */
static uint64_t check_rows (lua_State *L, int arg, uint64_t none) {
  if (lua_isnoneornil(L, arg))
    return none;
  const lua_Integer n = luaL_checkinteger(L, arg);
  luaL_argcheck(L, n >= 0, arg, "the number of rows must not be negative");
  return (uint64_t)n;
}


/* core.limit(reader, n, skip): at most n rows (nil: all) after skipping `skip`.
   If the reader is a sort, it need not keep all rows in memory. */
static int core_limit (lua_State *L) {
  pf_reader *const input = l_reader_check(L, 1)->reader;
  const uint64_t limit = check_rows(L, 2, PF_NO_LIMIT);
  const uint64_t skip = check_rows(L, 3, 0);
  if (limit <= PF_NO_LIMIT - skip && pf_can(input)->expect_rows != NULL)
    input->can->expect_rows(input, limit + skip);
  l_reader *const r = l_reader_new(L);
  return l_reader_opened(
      L, pf_limit_open(input, limit, skip, &r->reader, &r->error));
}


/* core.range(reader, column, from, to): the rows with from <= column < to, an
   int column; nil: open end. Found by bisection where the reader can seek. */
static int core_range (lua_State *L) {
  pf_reader *const input = l_reader_check(L, 1)->reader;
  const size_t column = l_field_check(L, 2, input);
  const lua_Integer from = luaL_optinteger(L, 3, LUA_MININTEGER);
  const lua_Integer to = luaL_optinteger(L, 4, LUA_MAXINTEGER);
  const bool is_empty = !lua_isnoneornil(L, 4) && to == LUA_MININTEGER;
  const lua_Integer last = lua_isnoneornil(L, 4) ? to : to - !is_empty;
  const pf_field *const field = &input->fields[column];
  if (field->type != PF_INT && !pf_has_any_type(field))
    return luaL_error(L, "range: column '%s' is of type %s, not int%s",
                      field->name, pf_type_name(field->type),
                      field->help != l_open_type_help
                          ? ""
                          : "; declare that a function returns whole numbers: "
                            "group { function, type = \"int\" }");
  l_reader *const r = l_reader_new(L);
  return l_reader_opened(L, pf_range_open(input, column,
                                          is_empty ? LUA_MAXINTEGER : from,
                                          last, &r->reader, &r->error));
}


/* core.with_area(reader, column): the rows with the columns class, handle,
   value, parent, file and line of the area in the column. */
static int core_with_area (lua_State *L) {
  pf_reader *const input = l_reader_check(L, 1)->reader;
  const size_t column = l_field_check(L, 2, input);
  l_reader *const r = l_reader_new(L);
  return l_reader_opened(
      L, pf_area_join_open(input, column, &r->reader, &r->error));
}


/* core.stacks(reader): the stacks that the dictionary of a reader has now:
   stack, parent, depth, frame. */
static int core_stacks (lua_State *L) {
  pf_dictionary *const dictionary = l_reader_check(L, 1)->reader->dictionary;
  l_reader *const r = l_reader_new(L);
  return l_reader_opened(L,
                         pf_stack_rows_open(dictionary, &r->reader, &r->error));
}


/* Stack indices of core.concat. */
enum {
  READERS = 1,
  CONSTANTS,
  ID,
  USED,
  PINS,
  FIRST
};


/* Raises if the columns of a reader differ from those of the first one. */
static void check_same (lua_State *L, const pf_reader *first,
                        const pf_reader *other, size_t part) {
  bool same = first->nfields == other->nfields &&
              first->dictionary == other->dictionary;
  for (size_t i = 0; same && i < first->nfields; i++)
    same = first->fields[i].type == other->fields[i].type &&
           strcmp(first->fields[i].name, other->fields[i].name) == 0;
  if (!same)
    luaL_error(L, "concat: table %d has other columns, or another dictionary",
               (int)part + 1);
}


/* Sets the input of the reader, or the part whose reader is opened later, on
   top of the stack. */
static void set_reader (lua_State *L, pf_concat_input *parts, size_t p) {
  l_part *const part = p == 0 ? NULL : luaL_testudata(L, -1, L_PART);
  if (part != NULL) {
    luaL_argcheck(L,
                  l_part_is_reader(parts[0].reader) &&
                      parts[0].reader->dictionary == part->trace.dictionary,
                  READERS, "the first reader is not of a part of this trace");
    parts[p].open = l_part_reader_like;
    parts[p].context = part;
    return;
  }
  l_reader *const reader = l_reader_check(L, -1);
  parts[p].reader = reader->reader;
  parts[p].owner = reader->is_input ? NULL : &reader->reader;
  reader->is_input = true;
  check_same(L, parts[0].reader, parts[p].reader, p);
}


/* Sets the readers of the parts and pins them. */
static void set_readers (lua_State *L, pf_concat_input *parts, size_t nparts) {
  for (size_t p = 0; p < nparts; p++) {
    lua_rawgeti(L, READERS, (lua_Integer)p + 1);
    set_reader(L, parts, p);
    lua_rawseti(L, PINS, (lua_Integer)p + 1);
    if (!lua_istable(L, USED))
      continue;
    lua_rawgeti(L, USED, (lua_Integer)p + 1);
    const lua_Integer used = lua_tointeger(L, -1);
    luaL_argcheck(L, used >= 0, USED, "a number of ids must not be negative");
    parts[p].ids_used = (uint64_t)used;
    lua_pop(L, 1);
  }
}


/* Reads constant `c` of the table at CONSTANTS: sets its value for all parts
   and returns its name. */
static const char *set_constant (lua_State *L, const pf_concat_input *parts,
                                 size_t nparts, uint32_t *constants,
                                 size_t count, size_t c) {
  const pf_reader *const reader = parts[0].reader;
  lua_rawgeti(L, CONSTANTS, (lua_Integer)c + 1);
  luaL_checktype(L, -1, LUA_TTABLE);
  lua_getfield(L, -1, "values");
  luaL_checktype(L, -1, LUA_TTABLE);
  for (size_t p = 0; p < nparts; p++) {
    const bool is_given = lua_rawgeti(L, -1, (lua_Integer)p + 1) != LUA_TNIL;
    constants[p * count + c] =
        is_given ? l_name_check(L, -1, reader->dictionary) : PF_NO_NAME;
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
  lua_getfield(L, -1, "name");
  const char *const name = l_string_check(L, -1, "name");
  if (pf_field_index(reader->fields, reader->nfields, name) < reader->nfields)
    luaL_error(L, "concat: there is a column '%s' already", name);
  lua_pop(L, 2); /* the table keeps the string */
  return name;
}


/*
** core.concat(readers, constants, id, used): the rows of all readers,
** concatenated. Instead of a reader, except the first one, there may be a part:
** its table that the first reader reads of another part, with the same columns.
** There is an additional column of names for each constant { name=,
** values= one string per reader }. `id` names an int column that counts from 0
** in each reader and has used[i] values in reader i: it counts on.
*/
static int core_concat (lua_State *L) {
  luaL_checktype(L, READERS, LUA_TTABLE);
  lua_settop(L, USED);
  if (lua_isnil(L, CONSTANTS)) {
    lua_newtable(L);
    lua_replace(L, CONSTANTS);
  }
  luaL_checktype(L, CONSTANTS, LUA_TTABLE);
  const size_t nparts = l_length(L, READERS);
  const size_t nconstants = l_length(L, CONSTANTS);
  luaL_argcheck(L, nparts > 0, READERS, "no table to read");
  lua_newtable(L); /* PINS */
  lua_rawgeti(L, READERS, 1);
  pf_concat_input *const parts = l_scratch(L, nparts, sizeof *parts);
  const char **const names = l_scratch(L, nconstants, sizeof *names);
  uint32_t *const constants =
      l_scratch(L, nparts * nconstants, sizeof *constants);
  set_readers(L, parts, nparts);
  for (size_t c = 0; c < nconstants; c++)
    names[c] = set_constant(L, parts, nparts, constants, nconstants, c);
  for (size_t p = 0; p < nparts; p++)
    parts[p].constants = constants + p * nconstants;
  /* the column of ids, or SIZE_MAX if there is none */
  const pf_reader *const first = parts[0].reader;
  size_t id =
      pf_field_index(first->fields, first->nfields, luaL_optstring(L, ID, ""));
  if (id == first->nfields || first->fields[id].type != PF_INT)
    id = SIZE_MAX;
  l_reader *const r = l_reader_new(L);
  return l_reader_opened(L, pf_concat_open(parts, nparts, names, nconstants, id,
                                           &r->reader, &r->error));
}


void l_open_stages (lua_State *L) {
  L_ADD(L, {"concat", core_concat}, {"stacks", core_stacks},
        {"with_area", core_with_area}, {"filter", core_filter},
        {"limit", core_limit}, {"range", core_range});
}
