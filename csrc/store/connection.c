/*
** connection.c - the userdata of a database, and its rows. Called by
** lua/profio/internal/store/sqlite/ and lua/profio/exports/sqlite.lua. The
** userdata owns the connection; one of rows borrows a statement and pins the
** database.
*/

#include <string.h>

#include "lua/arguments.h"
#include "lua/profile/context_profile.h"
#include "store/connection.h"

#define L_ROWS "profio.database.rows"

#define BUSY_MS 60000


l_database *l_database_check (lua_State *L, int arg) {
  l_database *const d = luaL_checkudata(L, arg, L_DATABASE);
  luaL_argcheck(L, d->database.handle != NULL, arg, "database is closed");
  return d;
}


int l_database_failed (lua_State *L, int arg, const pf_error *error) {
  lua_getiuservalue(L, arg, 1);
  return l_failure(L, error, lua_tostring(L, -1));
}


/*
** store.sqlite(path, mode, options): a database of SQLite 3, whose triggers
** and views are ignored, or nil, message, code. The mode is "read", "write"
** (the file must exist) or "create" (it is created if it is absent). Option
** busy: how long to wait for the lock of another process, in seconds (60).
*/
static int store_sqlite (lua_State *L) {
  static const char *const modes[] = {
      [PF_READ] = "read", [PF_WRITE] = "write", [PF_CREATE] = "create", NULL};
  const char *const path = l_path_check(L, 1);
  const pf_access mode = (pf_access)luaL_checkoption(L, 2, NULL, modes);
  const lua_Number busy = l_option_number(L, 3, "busy", BUSY_MS / 1000.0);
  pf_error error;
  luaL_argcheck(L, busy >= 0 && busy <= 86400, 3,
                "busy must be 0 to 86400 seconds");
  l_database *const d = l_new(L, L_DATABASE, sizeof *d, 2);
  l_pin(L, -1, 1, 1);
  if (pf_database_open(&d->database, path, mode, (int)(busy * 1000), &error) ==
      PF_OK)
    return 1;
  pf_database_close(&d->database);
  return l_failure(L, &error, path);
}


/* database:close(); rows that are being read end with an error. */
static int database_close (lua_State *L) {
  l_database *const d = luaL_checkudata(L, 1, L_DATABASE);
  pf_interning_free(&d->ids.interning);
  pf_read_stacks_free(&d->read);
  pf_database_close(&d->database);
  return 0;
}

void l_bindable_check (lua_State *L, int first) {
  for (int i = first; i <= lua_gettop(L); i++) {
    const int type = lua_type(L, i);
    luaL_argcheck(L,
                  type == LUA_TNIL || type == LUA_TBOOLEAN ||
                      type == LUA_TNUMBER || type == LUA_TSTRING,
                  i, "nil, boolean, number or string expected");
    luaL_argcheck(
        L, type != LUA_TNUMBER || lua_tonumber(L, i) == lua_tonumber(L, i), i,
        "the number is not a number (NaN)");
  }
}


/* A parameter with a name that begins with ':' gets strings as texts. */
static int bind (lua_State *L, const pf_database *d, pf_statement *statement,
                 int parameter, int index) {
  sqlite3_stmt *const s = statement->handle;
  const char *const name = sqlite3_bind_parameter_name(s, parameter);
  switch (lua_type(L, index)) {
    case LUA_TBOOLEAN:
      return sqlite3_bind_int(s, parameter, lua_toboolean(L, index));
    case LUA_TNUMBER:
      return lua_isinteger(L, index)
                 ? sqlite3_bind_int64(s, parameter, lua_tointeger(L, index))
                 : sqlite3_bind_double(s, parameter, lua_tonumber(L, index));
    case LUA_TSTRING: {
      const pf_bytes text = l_text_check(L, index);
      return name != NULL && name[0] == ':'
                 ? pf_bind_text(d, statement, parameter, text)
                 : sqlite3_bind_blob64(s, parameter, text.at, text.size,
                                       SQLITE_STATIC);
    }
    default: return sqlite3_bind_null(s, parameter);
  }
}


pf_status l_bind (lua_State *L, l_database *d, pf_statement *statement,
                  int first, int last, pf_error *error) {
  const int wanted = sqlite3_bind_parameter_count(statement->handle);
  const int given = last - first + 1;
  if (wanted != given)
    return pf_fail(error, PF_EFORMAT, PF_NO_OFFSET,
                   "the SQL has %d parameters, %d values are given", wanted,
                   given);
  for (int i = 0; i < given; i++) {
    const int result = bind(L, &d->database, statement, i + 1, first + i);
    if (result != SQLITE_OK)
      return pf_database_failure(&d->database, result, error);
  }
  return PF_OK;
}


/* Pushes the value of a column; blobs and texts are strings. */
static void push_column (lua_State *L, sqlite3_stmt *s, int column) {
  switch (sqlite3_column_type(s, column)) {
    case SQLITE_INTEGER:
      lua_pushinteger(L, sqlite3_column_int64(s, column));
      break;
    case SQLITE_FLOAT:
      lua_pushnumber(L, sqlite3_column_double(s, column));
      break;
    case SQLITE_NULL: lua_pushnil(L); break;
    default: {
      const void *const bytes = sqlite3_column_blob(s, column);
      const int size = sqlite3_column_bytes(s, column);
      lua_pushlstring(L, size == 0 ? "" : bytes, (size_t)size);
    }
  }
}

pf_contexts *l_open_contexts (lua_State *L, int arg) {
  l_contexts *const c = luaL_checkudata(L, arg, L_CONTEXTS);
  luaL_argcheck(L, c->open, arg, "profile is closed");
  return &c->contexts;
}


void l_push_sum (lua_State *L, pf_wide sum, bool *is_limited) {
  const int64_t limited = pf_limited(sum);
  *is_limited |= limited != sum;
  lua_pushinteger(L, limited);
}

static bool is_blank (pf_bytes text) {
  for (size_t i = 0; i < text.size; i++)
    if (strchr(" \t\r\n;", text.at[i]) == NULL)
      return false;
  return true;
}


/* Run one command, or all of a text without parameters. */
static pf_status run (lua_State *L, l_database *d, pf_error *error) {
  pf_statement *statement;
  pf_bytes rest;
  pf_status status = pf_statement_take(&d->database, l_text_check(L, 2),
                                       &statement, &rest, error);
  if (status != PF_OK)
    return status;
  if (!is_blank(rest)) {
    pf_statement_end(statement);
    if (lua_gettop(L) > 2)
      return pf_fail(error, PF_EFORMAT, PF_NO_OFFSET,
                     "several commands in one SQL text cannot have values");
    return pf_database_execute(&d->database, lua_tostring(L, 2), error);
  }
  status = l_bind(L, d, statement, 3, lua_gettop(L), error);
  while (status == PF_MORE)
    status = pf_statement_step(&d->database, statement, error);
  pf_statement_end(statement);
  return status == PF_END ? PF_OK : status;
}


/*
** database:run(sql, ...): executes a command of SQL with these values for its
** parameters, or several commands without parameters. Strings are bound as
** blobs, those of parameters with a name (":name") as texts (pf_bind_text),
** booleans as 0 and 1. Returns the number of rows that the last command
** has inserted, changed or deleted; or nil, message, code.
*/
static int database_run (lua_State *L) {
  l_database *const d = l_database_check(L, 1);
  pf_error error;
  luaL_checkstring(L, 2);
  l_bindable_check(L, 3);
  const sqlite3_int64 before = sqlite3_total_changes64(d->database.handle);
  if (run(L, d, &error) != PF_OK)
    return l_database_failed(L, 1, &error);
  const sqlite3_int64 after = sqlite3_total_changes64(d->database.handle);
  lua_pushinteger(L,
                  after == before ? 0 : sqlite3_changes64(d->database.handle));
  return 1;
}


/*
** database:set_blob_texts(): texts are bound as blobs from now on, as stores
** that were written before schema 4 have them.
*/
static int database_set_blob_texts (lua_State *L) {
  l_database_check(L, 1)->database.has_blob_texts = true;
  return 0;
}


/* database:last_id(): the id of the row that was inserted last. */
static int database_last_id (lua_State *L) {
  lua_pushinteger(
      L, sqlite3_last_insert_rowid(l_database_check(L, 1)->database.handle));
  return 1;
}


/* database:in_transaction(): whether a transaction has begun. */
static int database_in_transaction (lua_State *L) {
  lua_pushboolean(
      L, sqlite3_get_autocommit(l_database_check(L, 1)->database.handle) == 0);
  return 1;
}

/* User value 1: the database; 2: a table with the values of parameters. */
typedef struct l_rows {
  l_database *database;
  pf_statement *statement; /* in use; NULL after the last row */
  bool has_row;            /* the current row was not returned yet */
} l_rows;


/* Ends the query. A closed database has ended all its statements. */
static int rows_close (lua_State *L) {
  l_rows *const r = luaL_checkudata(L, 1, L_ROWS);
  if (r->statement != NULL && r->database->database.handle != NULL)
    pf_statement_end(r->statement);
  r->statement = NULL;
  return 0;
}


/* Raises { message =, code = }, which tostring converts to the message. */
static int raise_failure (lua_State *L, const pf_error *error) {
  lua_getiuservalue(L, 1, 1);
  l_database_failed(L, lua_gettop(L), error);
  lua_createtable(L, 0, 2);
  lua_insert(L, -3);
  lua_setfield(L, -3, "code");
  lua_setfield(L, -2, "message");
  luaL_setmetatable(L, L_ROWS ".failure");
  return lua_error(L);
}


static int failure_tostring (lua_State *L) {
  lua_getfield(L, 1, "message");
  return 1;
}


/* Returns the values of the next row. */
static int rows_next (lua_State *L) {
  l_rows *const r = luaL_checkudata(L, 1, L_ROWS);
  pf_error error;
  lua_settop(L, 1);
  if (r->database->database.handle == NULL)
    return luaL_error(L, "database is closed");
  if (r->statement == NULL)
    return 0;
  const pf_status status =
      r->has_row
          ? PF_MORE
          : pf_statement_step(&r->database->database, r->statement, &error);
  r->has_row = false;
  if (status != PF_MORE) {
    rows_close(L);
    return status == PF_END ? 0 : raise_failure(L, &error);
  }
  sqlite3_stmt *const s = r->statement->handle;
  const int count = sqlite3_column_count(s);
  luaL_checkstack(L, count, "too many columns");
  for (int i = 0; i < count; i++)
    push_column(L, s, i);
  if (count > 0 && lua_isnil(L, 2))
    return luaL_error(L, "the first column of a row is NULL, which would end "
                         "the loop: select another one first");
  return count;
}


/* Begin a query, up to its first row. */
static pf_status begin_rows (lua_State *L, l_rows *r, int last,
                             pf_error *error) {
  pf_bytes rest;
  pf_status status = pf_statement_take(
      &r->database->database, l_text_check(L, 2), &r->statement, &rest, error);
  if (status != PF_OK)
    return status;
  if (!is_blank(rest))
    return pf_fail(error, PF_EFORMAT, PF_NO_OFFSET,
                   "rows are of one command, the SQL has several");
  status = l_bind(L, r->database, r->statement, 3, last, error);
  if (status == PF_OK)
    status = pf_statement_step(&r->database->database, r->statement, error);
  r->has_row = status == PF_MORE;
  return status == PF_END ? PF_OK : status;
}


/*
** database:rows(sql, ...): the rows of a query for a generic for loop, each as
** its values: integers, floats, strings (of blobs and texts), and nil for NULL,
** which the first column must not be. A failure before the first row gives nil,
** message, code; one after it is raised as a table { message =, code = }.
*/
static int database_rows (lua_State *L) {
  l_database *const d = l_database_check(L, 1);
  const int last = lua_gettop(L);
  pf_error error;
  luaL_checkstring(L, 2);
  l_bindable_check(L, 3);
  lua_createtable(L, last, 0);
  for (int i = 3; i <= last; i++) {
    lua_pushvalue(L, i);
    lua_rawseti(L, -2, i);
  }
  lua_pushcfunction(L, rows_next);
  l_rows *const r = l_new(L, L_ROWS, sizeof *r, 2);
  r->database = d;
  l_pin(L, -1, 1, 1);
  l_pin(L, -1, 2, last + 1);
  if (begin_rows(L, r, last, &error) != PF_OK) {
    pf_statement_end(r->statement);
    r->statement = NULL;
    return l_database_failed(L, 1, &error);
  }
  lua_pushnil(L);
  lua_pushvalue(L, -2);
  return 4;
}

void l_open_connection (lua_State *L) {
  l_class(L, L_DATABASE,
          L_METHODS({"close", database_close},
                    {"in_transaction", database_in_transaction},
                    {"last_id", database_last_id}, {"rows", database_rows},
                    {"run", database_run},
                    {"set_blob_texts", database_set_blob_texts}),
          database_close, database_close);
  l_class(L, L_ROWS, NULL, rows_close, rows_close);
  luaL_newmetatable(L, L_ROWS ".failure");
  L_ADD(L, {"__tostring", failure_tostring});
  lua_pop(L, 1);
  L_ADD(L, {"sqlite", store_sqlite});
}
