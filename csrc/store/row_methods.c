/*
** row_methods.c - rows of core readers as rows of a database:
** database:insert, and store.scratch for databases that are handed over as the
** bytes of a file.
**
** Called by lua/profio/exports/sqlite.lua. The userdata of connection.c owns
** the database, a scratch one too; the file of a scratch database owns its
** descriptor. Batches are freed before a method returns.
*/

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bytes/temporary.h"
#include "lua/arguments.h"
#include "lua/system/file_handle.h"
#include "model/dictionary/areas.h"
#include "model/rows/batch.h"
#include "os/os.h"
#include "store/connection.h"

#define MAX_COLUMNS 32766 /* parameters of a statement of SQLite */


/* The rows to insert. */
typedef struct insertion {
  pf_reader *reader;
  const size_t *fields; /* of the reader, by parameter */
  int count;
  pf_statement *one;     /* inserts a row */
  pf_statement *several; /* inserts `at_once` rows; or NULL */
  size_t at_once;
  lua_Integer rows; /* inserted so far */
} insertion;


static int bind_value (const pf_database *d, const insertion *in,
                       pf_statement *statement, int parameter,
                       const pf_column *column, size_t row) {
  sqlite3_stmt *const s = statement->handle;
  if (pf_is_missing(column, row))
    return sqlite3_bind_null(s, parameter);
  switch (column->type) {
    case PF_INT: return sqlite3_bind_int64(s, parameter, column->ints[row]);
    case PF_NUM: return sqlite3_bind_double(s, parameter, column->nums[row]);
    case PF_ADDR:
    case PF_HANDLE:
      return sqlite3_bind_int64(s, parameter, (int64_t)column->addrs[row]);
    case PF_BOOL: return sqlite3_bind_int(s, parameter, column->bools[row]);
    case PF_STACK: return sqlite3_bind_int64(s, parameter, column->ids[row]);
    case PF_BYTES: {
      const pf_bytes bytes = column->bytes[row];
      return sqlite3_bind_blob64(s, parameter,
                                 bytes.size == 0 ? (const void *)"" : bytes.at,
                                 bytes.size, SQLITE_STATIC);
    }
    default:
      return pf_bind_text(
          d, statement, parameter,
          pf_text(in->reader->dictionary, column->type, column->ids[row]));
  }
}


/* Inserts `count` rows from `row` on: one, or in->at_once. */
static pf_status insert_some (pf_database *d, insertion *in,
                              const pf_batch *batch, size_t row, size_t count,
                              pf_error *error) {
  pf_statement *const statement = count == 1 ? in->one : in->several;
  int result = SQLITE_OK, parameter = 1;
  for (const size_t end = row + count; row < end; row++)
    for (int i = 0; result == SQLITE_OK && i < in->count; i++)
      result = bind_value(d, in, statement, parameter++,
                          &batch->columns[in->fields[i]], row);
  if (result != SQLITE_OK)
    return pf_database_failure(d, result, error);
  const pf_status status = pf_statement_step(d, statement, error);
  sqlite3_reset(statement->handle);
  in->rows += status == PF_END ? (lua_Integer)count : 0;
  return status < 0 ? status : PF_OK;
}


/* Reads and inserts all rows. *is_read: the failure is that of the reader. */
static pf_status insert_rows (pf_database *d, insertion *in, bool *wanted,
                              bool *is_read, pf_error *error) {
  pf_batch batch;
  pf_status status = PF_OK;
  if (pf_batch_for(&batch, in->reader, wanted) != PF_OK)
    return pf_no_memory(error);
  while (status == PF_OK) {
    status = in->reader->next(in->reader, &batch, error);
    *is_read = status < 0;
    if (status != PF_MORE)
      break;
    for (size_t row = 0, n; row < batch.rows && status == PF_OK; row += n) {
      n = in->several != NULL && batch.rows - row >= in->at_once ? in->at_once
                                                                 : 1;
      status = insert_some(d, in, &batch, row, n, error);
    }
  }
  pf_batch_close(&batch);
  return status < 0 ? status : PF_OK;
}


/* Prepares the SQL at 2, for one row, and that at 3, for several; nil: there is
   none. */
static pf_status prepare (lua_State *L, pf_database *d, insertion *in,
                          pf_error *error) {
  pf_status status =
      pf_statement_take(d, l_text_check(L, 2), &in->one, NULL, error);
  if (status == PF_OK && !lua_isnil(L, 3))
    status =
        pf_statement_take(d, l_text_check(L, 3), &in->several, NULL, error);
  if (status != PF_OK)
    return status;
  const int one = sqlite3_bind_parameter_count(in->one->handle);
  const int all = in->several == NULL
                      ? one
                      : sqlite3_bind_parameter_count(in->several->handle);
  if (one != in->count || one == 0 || all % one != 0)
    return pf_fail(error, PF_EFORMAT, PF_NO_OFFSET,
                   "the SQL has %d parameters, the rows have %d columns", one,
                   in->count);
  in->at_once = (size_t)(all / one);
  return PF_OK;
}


/*
** database:insert(sql, several, reader, columns): executes a command of SQL
** once for each row of a reader of the core, with the values of these columns
** for its parameters. `several` is the same command for several rows at once,
** or nil. Names and areas are bound as TEXT, or as BLOB if they are not UTF-8
** or contain NUL; bytes as BLOB, addresses and handles as signed integers of
** the same 64 bits, stacks as their ids, booleans as 0 and 1, missing values
** and not-a-number as NULL. Returns the number of rows; or nil, message, code.
*/
static int database_insert (lua_State *L) {
  l_database *const d = l_database_check(L, 1);
  insertion in = {.reader = l_reader_check(L, 4)->reader};
  lua_settop(L, 5);
  luaL_checktype(L, 5, LUA_TTABLE);
  size_t *const fields = l_scratch(L, MAX_COLUMNS, sizeof *fields);
  in.count = l_columns_check(L, 5, in.reader, fields, MAX_COLUMNS);
  in.fields = fields;
  bool *const wanted = l_scratch(L, in.reader->nfields, sizeof *wanted);
  for (int i = 0; i < in.count; i++)
    wanted[fields[i]] = true;
  pf_error error;
  bool is_read = false;
  pf_status status = prepare(L, &d->database, &in, &error);
  if (status == PF_OK)
    status = insert_rows(&d->database, &in, wanted, &is_read, &error);
  pf_statement_end(in.one);
  pf_statement_end(in.several);
  if (status != PF_OK)
    return is_read ? l_failure_of(L, &error, 4)
                   : l_database_failed(L, 1, &error);
  lua_pushinteger(L, in.rows);
  return 1;
}

/* Pushes a new file of TMPDIR as a Lua file handle. *path is NULL after a
   failure. */
static pf_status push_file (lua_State *L, char **path, pf_error *error) {
  l_file *const file = l_file_new(L);
  int fd;
  const pf_status status = pf_temporary_path(&fd, path, error);
  if (*path == NULL || l_file_open(file, fd, true, false))
    return status;
  os_close(fd);
  os_remove(*path);
  free(*path);
  *path = NULL;
  return pf_no_memory(error);
}


/*
** store.scratch(): a new database without a name, in TMPDIR or /tmp, and a file
** handle of its bytes, which are complete when the database is closed; or nil,
** message, code. It has no protection against a crash.
*/
static int store_scratch (lua_State *L) {
  pf_error error;
  char *path;
  l_database *const d = l_new(L, L_DATABASE, sizeof *d, 1);
  lua_pushliteral(L, "the temporary database in TMPDIR or /tmp");
  lua_setiuservalue(L, -2, 1);
  (void)push_file(L, &path, &error);
  if (path == NULL)
    return l_failure(L, &error, NULL);
  const pf_status status =
      pf_database_open(&d->database, path, PF_SCRATCH, 0, &error);
  if (os_remove(path))
    free(path);
  else /* it can only be removed when it is closed */
    d->database.leftover = path;
  if (status == PF_OK)
    return 2;
  pf_database_close(&d->database);
  return l_database_failed(L, lua_gettop(L) - 1, &error);
}

void l_open_row_methods (lua_State *L) {
  luaL_getmetatable(L, L_DATABASE);
  lua_getfield(L, -1, "__index");
  L_ADD(L, {"insert", database_insert});
  lua_pop(L, 2);
  L_ADD(L, {"scratch", store_scratch});
}
