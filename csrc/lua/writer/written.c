/*
** written.c - formats, options, tables and columns that can be written.
*/

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "bytes/target.h"
#include "formats/formats.h"
#include "lua/arguments.h"
#include "lua/writer/written.h"


size_t l_options_at (lua_State *L, int arg, pf_option **options) {
  size_t n = 0;
  for (lua_pushnil(L); lua_next(L, arg) != 0; lua_pop(L, 1))
    n++;
  pf_option *const o = l_scratch(L, n, sizeof *o);
  size_t i = 0;
  for (lua_pushnil(L); lua_next(L, arg) != 0; lua_pop(L, 1), i++) {
    o[i].name = luaL_checkstring(L, -2);
    o[i].is_text = lua_type(L, -1) == LUA_TSTRING;
    if (o[i].is_text)
      o[i].text = l_text_check(L, -1);
    else
      o[i].integer = lua_isboolean(L, -1) ? lua_toboolean(L, -1)
                                          : luaL_checkinteger(L, -1);
  }
  *options = o;
  return n;
}


pf_status l_numbered_prefix (const char *path, char **prefix, pf_error *error) {
  const pf_status status = pf_target_absolute(path, prefix, error);
  char *const dot = *prefix == NULL ? NULL : strrchr(*prefix, '.');
  if (*prefix != NULL && dot == NULL)
    return pf_fail(error, PF_EIO, PF_NO_OFFSET,
                   "%.100s does not end in a number", path);
  if (dot != NULL)
    *dot = '\0';
  return status;
}


bool l_numbered_path (char *path, size_t capacity, const char *prefix,
                      uint64_t number) {
  const int size =
      snprintf(path, capacity, "%s.%06llu", prefix, (unsigned long long)number);
  if (size > 0 && (size_t)size < capacity)
    return true;
  errno = ENAMETOOLONG;
  return false;
}


size_t l_sides_at (lua_State *L, int arg, l_side *sides, size_t max) {
  const size_t n = lua_istable(L, arg) ? l_length(L, arg) : 0;
  luaL_argcheck(L, n <= max, arg, "too many outputs");
  for (size_t i = 0; i < n; i++) {
    lua_rawgeti(L, arg, (lua_Integer)i + 1);
    lua_getfield(L, -1, "path");
    sides[i].path = lua_isnil(L, -1) ? NULL : l_path_check(L, lua_gettop(L));
    sides[i].is_numbered = l_option_flag(L, -2, "numbered");
    lua_getfield(L, -2, "role");
    sides[i].role = luaL_checkstring(L, -1);
    l_append(L, -4);
    lua_pop(L, 2);
  }
  return n;
}


const pf_format *l_written_format (lua_State *L, int arg) {
  const char *const name = luaL_checkstring(L, arg);
  const pf_format *const format = pf_format_named(name);
  if (format == NULL || format->encoder == NULL)
    luaL_error(L, "format '%s' cannot be written", name);
  return format;
}


int l_no_column (lua_State *L, const pf_table *table, const char *name) {
  l_push_list(L, &table->fields[0].name, sizeof *table->fields, table->nfields);
  return luaL_error(L, "table '%s' has no column '%s'; there are: %s",
                    table->name, name, lua_tostring(L, -1));
}


const pf_table *l_written_table (lua_State *L, int arg, const pf_format *format,
                                 const pf_table *tables, size_t count,
                                 size_t *number) {
  const char *const name = luaL_checkstring(L, arg);
  for (size_t i = 0; i < count; i++)
    if (strcmp(tables[i].name, name) == 0) {
      *number = i;
      return &tables[i];
    }
  l_push_list(L, &tables[0].name, sizeof *tables, count);
  luaL_error(L, "format '%s' has no table '%s' to write; there are: %s",
             format->name, name, lua_tostring(L, -1));
  return NULL;
}


size_t l_written_columns (lua_State *L, int arg, const pf_table *table,
                          size_t *columns) {
  luaL_checktype(L, arg, LUA_TTABLE);
  const size_t count = l_length(L, arg);
  if (count == 0)
    luaL_error(L, "emitter expects names of columns");
  for (size_t i = 0; i < count; i++) {
    lua_rawgeti(L, arg, (lua_Integer)i + 1);
    const char *const name = luaL_checkstring(L, -1);
    const size_t column = pf_field_index(table->fields, table->nfields, name);
    if (column == table->nfields)
      l_no_column(L, table, name);
    for (size_t k = 0; k < i; k++) /* no more of them than columns */
      if (columns[k] == column)
        luaL_error(L, "column '%s' is given twice", name);
    columns[i] = column;
    lua_pop(L, 1);
  }
  return count;
}


void l_row_of (lua_State *L, pf_batch *row, size_t *of, const pf_table *table,
               size_t number) {
  if (row->columns != NULL && *of == number)
    return;
  pf_batch_close(row);
  if (pf_batch_open(row, table->fields, table->nfields, NULL) != PF_OK)
    l_no_memory(L);
  *of = number;
}


void l_fill_row (lua_State *L, int arg, pf_batch *row, const pf_table *table,
                 pf_dictionary *dictionary) {
  pf_batch_clear(row);
  for (lua_pushnil(L); lua_next(L, arg) != 0; lua_pop(L, 1)) {
    const char *const name =
        lua_type(L, -2) == LUA_TSTRING ? lua_tostring(L, -2) : "?";
    if (pf_field_index(table->fields, table->nfields, name) == table->nfields)
      l_no_column(L, table, name);
  }
  for (size_t i = 0; i < table->nfields; i++) {
    lua_getfield(L, arg, table->fields[i].name);
    if (!l_to_value(L, lua_gettop(L), &row->columns[i], 0, dictionary))
      luaL_error(L, "column '%s' is of type %s, got %s", table->fields[i].name,
                 pf_type_name(table->fields[i].type), luaL_typename(L, -1));
    lua_pop(L, 1); /* the table keeps a string */
  }
  row->rows = 1;
}


void l_push_tables (lua_State *L, const pf_table *tables, size_t count) {
  lua_newtable(L);
  for (size_t i = 0; i < count; i++) {
    lua_createtable(L, 0, 2);
    l_set_text(L, "name", tables[i].name);
    l_push_fields(L, tables[i].fields, tables[i].nfields);
    lua_setfield(L, -2, "fields");
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
}


/* core.written(format): { { name=, fields= }, ... }, the tables that a format
   of the core writes by default, also if its encoder is in Lua. */
static int core_written (lua_State *L) {
  const pf_format *const format = pf_format_named(luaL_checkstring(L, 1));
  luaL_argcheck(L, format != NULL, 1, "a format of the core expected");
  l_push_tables(L, format->written, format->nwritten);
  return 1;
}


void l_open_written (lua_State *L) {
  L_ADD(L, {"written", core_written});
}
