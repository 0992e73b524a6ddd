/*
** reader.c - reader userdata and their iterators:
**
**   each     returns the values of a row; creates no table, fastest
**   records  returns a new table for each row
**   rows     returns all rows in an array
*/

#include <stdlib.h>
#include <string.h>

#include "lua/arguments.h"
#include "lua/callback.h"

#define L_CURSOR    "profio.cursor"
#define MAX_COLUMNS 4096

/* A batch and a position in it. User value 1 pins the reader; 2 is the string
   cache, 3 the array of column names, for records. */
typedef struct l_cursor {
  const l_reader *reader;
  pf_dictionary *dictionary; /* of the reader, also when that is closed */
  pf_batch batch;
  size_t row, rows; /* rows: 0 while a batch is being read */
  bool borrows;     /* a column of bytes: values end with the trace */
  bool is_reading;  /* for detecting recursion */
  int count;        /* number of selected columns */
  size_t columns[]; /* their indices */
} l_cursor;


static int cursor_gc (lua_State *L) {
  l_cursor *const c = luaL_checkudata(L, 1, L_CURSOR);
  pf_batch_close(&c->batch);
  return 0;
}


/* Pushes a cursor over the columns at 2 of the reader at 1. */
static l_cursor *new_cursor (lua_State *L) {
  const l_reader *const r = l_reader_check(L, 1);
  lua_settop(L, 2);
  size_t columns[MAX_COLUMNS];
  const int count = l_columns_check(L, 2, r->reader, columns, MAX_COLUMNS);
  const size_t size = (size_t)count * sizeof *columns;
  l_cursor *const c = l_new(L, L_CURSOR, sizeof *c + size, 3);
  c->reader = r;
  c->dictionary = r->reader->dictionary;
  c->count = count;
  memcpy(c->columns, columns, size);
  l_pin(L, 3, 1, 1);
  l_reader_push_cache(L, 1);
  lua_setiuservalue(L, 3, 2);
  lua_settop(L, 3);
  bool *const wanted = l_scratch(L, r->reader->nfields, sizeof *wanted);
  lua_createtable(L, count, 0);
  for (int i = 0; i < count; i++) {
    const pf_field *const field = &r->reader->fields[columns[i]];
    c->borrows |= field->type == PF_BYTES;
    wanted[columns[i]] = true;
    lua_pushstring(L, field->name);
    lua_rawseti(L, 5, i + 1);
  }
  lua_setiuservalue(L, 3, 3);
  if (pf_batch_for(&c->batch, r->reader, wanted) != PF_OK)
    l_no_memory(L);
  lua_settop(L, 3);
  return c;
}


/* Raises if the values of the batch are no longer valid. */
static void cursor_check_open (lua_State *L, const l_cursor *c) {
  if (c->borrows)
    l_reader_check_open(L, c->reader);
}


/* Reads the next batch; false at the end. The cursor is at `index`. */
static bool refill (lua_State *L, l_cursor *c, int index) {
  l_reader_check_open(L, c->reader);
  pf_reader *const reader = c->reader->reader;
  pf_error error;
  if (c->is_reading)
    luaL_error(L, "a Lua function calls the iterator that calls it");
  c->row = c->rows = 0;
  c->is_reading = true;
  const pf_status status = reader->next(reader, &c->batch, &error);
  c->is_reading = false;
  if (status == PF_MORE) {
    c->rows = c->batch.rows;
    return true;
  }
  if (status < 0) {
    lua_getiuservalue(L, index, 1);
    l_throw(L, &error, lua_gettop(L));
  }
  return false;
}


/* As l_push_value; usual values are pushed inline. */
static inline void push (lua_State *L, const pf_column *column, size_t row,
                         pf_dictionary *dictionary, int cache) {
  const pf_type type = column->type;
  if ((type == PF_INT || type == PF_ADDR) && !column->has_missing)
    lua_pushinteger(L, column->ints[row]);
  else if (type == PF_NAME && !column->has_missing)
    l_push_name(L, dictionary, column->ids[row], cache);
  else if (type == PF_AREA && !column->has_missing)
    l_push_name(L, dictionary, pf_area_name(dictionary, column->ids[row]),
                cache);
  else
    l_push_value(L, column, row, dictionary, cache);
}


/* Upvalues: 1 the cursor, 2 the string cache. */
static int each_next (lua_State *L) {
  l_cursor *const c = lua_touserdata(L, lua_upvalueindex(1));
  if (c->row == c->rows && !refill(L, c, lua_upvalueindex(1)))
    return 0;
  cursor_check_open(L, c);
  const int count = c->count;
  if (count >= LUA_MINSTACK)
    luaL_checkstack(L, count + 2, "too many columns");
  const pf_column *const columns = c->batch.columns;
  const size_t row = c->row++;
  if (pf_is_missing(&columns[c->columns[0]], row))
    lua_pushboolean(L, 0); /* nil would end the for loop */
  else
    push(L, &columns[c->columns[0]], row, c->dictionary, lua_upvalueindex(2));
  for (int i = 1; i < count; i++)
    push(L, &columns[c->columns[i]], row, c->dictionary, lua_upvalueindex(2));
  return count;
}


/* core.each(reader, columns): an iterator that returns the values of a row.
   Missing values are nil; a missing first value is false. */
static int core_each (lua_State *L) {
  l_cursor *const c = new_cursor(L);
  luaL_argcheck(L, c->count > 0, 2, "no column");
  lua_getiuservalue(L, 3, 2);
  lua_pushcclosure(L, each_next, 2);
  return 1;
}


/* Pushes a row as a table; `names` and `cache` are stack indices. */
static void push_record (lua_State *L, const l_cursor *c, size_t row, int names,
                         int cache) {
  lua_createtable(L, 0, c->count);
  for (int i = 0; i < c->count; i++) {
    lua_rawgeti(L, names, i + 1);
    l_push_value(L, &c->batch.columns[c->columns[i]], row, c->dictionary,
                 cache);
    lua_rawset(L, -3);
  }
}


/* Upvalues: 1 the cursor, 2 the string cache, 3 the column names. */
static int records_next (lua_State *L) {
  l_cursor *const c = lua_touserdata(L, lua_upvalueindex(1));
  if (c->row == c->rows && !refill(L, c, lua_upvalueindex(1)))
    return 0;
  cursor_check_open(L, c);
  push_record(L, c, c->row++, lua_upvalueindex(3), lua_upvalueindex(2));
  return 1;
}


/* core.records(reader, columns): an iterator that returns a new table for each
   row; missing values are absent. */
static int core_records (lua_State *L) {
  new_cursor(L);
  lua_getiuservalue(L, 3, 2);
  lua_getiuservalue(L, 3, 3);
  lua_pushcclosure(L, records_next, 3);
  return 1;
}


/* core.rows(reader, columns, most): the rows in an array: all, or the first
   ones. */
static int core_rows (lua_State *L) {
  const lua_Integer most = luaL_optinteger(L, 3, LUA_MAXINTEGER);
  l_cursor *const c = new_cursor(L); /* at 3 */
  lua_getiuservalue(L, 3, 2);
  lua_getiuservalue(L, 3, 3);
  lua_newtable(L);
  lua_Integer n = 0;
  while (n < most && refill(L, c, 3))
    for (size_t row = 0; row < c->rows && n < most; row++) {
      push_record(L, c, row, 5, 4);
      lua_rawseti(L, 6, ++n);
    }
  pf_batch_close(&c->batch); /* before the collector does */
  lua_settop(L, 6);
  return 1;
}


/* core.drain(reader, all): reads all rows and returns their number. Without
   `all` only columns that stages need are decoded. */
static int core_drain (lua_State *L) {
  const bool all = lua_toboolean(L, 2) != 0;
  lua_settop(L, 1);
  if (!all)
    lua_newtable(L); /* no columns */
  l_cursor *const c = new_cursor(L);
  lua_Integer n = 0;
  while (refill(L, c, 3))
    n += (lua_Integer)c->rows;
  pf_batch_close(&c->batch);
  lua_pushinteger(L, n);
  return 1;
}


static int reader_gc (lua_State *L) {
  l_reader *const r = luaL_checkudata(L, 1, L_READER);
  if (r->reader != NULL)
    r->reader->close(r->reader);
  r->reader = NULL;
  return 0;
}


/* reader:close(). The reader is left to the collector if another reader reads
   from it, or if it may be waiting for a Lua function. */
static int reader_close (lua_State *L) {
  const l_reader *const r = luaL_checkudata(L, 1, L_READER);
  return r->is_input || l_callback_is_running(L) ? 0 : reader_gc(L);
}


/* reader:fields(): { { name=, type=, help= }, ... } */
static int reader_fields (lua_State *L) {
  const l_reader *const r = l_reader_check(L, 1);
  l_push_fields(L, r->reader->fields, r->reader->nfields);
  return 1;
}


void l_open_reader (lua_State *L) {
  static const luaL_Reg methods[] = {
      {"close", reader_close}, {"fields", reader_fields}, {NULL, NULL}};
  static const luaL_Reg functions[] = {{"drain", core_drain},
                                       {"each", core_each},
                                       {"records", core_records},
                                       {"rows", core_rows},
                                       {NULL, NULL}};
  l_class(L, L_READER, methods, reader_gc, reader_close);
  l_class(L, L_CURSOR, NULL, cursor_gc, cursor_gc);
  luaL_setfuncs(L, functions, 0);
}
