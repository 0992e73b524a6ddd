/*
** database.c - a connection to a file of SQLite 3 (see database.h).
*/

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "model/base/charset.h"
#include "model/system/parallel.h"
#include "os/os.h"
#include "store/database.h"


static pf_status status_of (int result) {
  switch (result & 0xff) {
    case SQLITE_NOMEM: return PF_ENOMEM;
    case SQLITE_TOOBIG: return PF_ELIMIT;
    case SQLITE_PERM:
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_READONLY:
    case SQLITE_IOERR:
    case SQLITE_FULL:
    case SQLITE_CANTOPEN:
    case SQLITE_PROTOCOL: return PF_EIO;
    default: return PF_EFORMAT;
  }
}


pf_status pf_database_failure (const pf_database *database, int result,
                               pf_error *error) {
  const pf_status status = status_of(result);
  int number;
  if (status == PF_ENOMEM)
    return pf_no_memory(error);
  switch (result & 0xff) {
    case SQLITE_BUSY:
      if (os_is_interrupted())
        return pf_interrupted(error);
      return pf_fail(error, status, PF_NO_OFFSET,
                     "another process is writing to it and has not finished "
                     "within %g s: try again later",
                     database->busy_ms / 1000.0);
    case SQLITE_READONLY:
      return pf_fail(error, status, PF_NO_OFFSET,
                     "it can only be read: there is no right to write it, or "
                     "opening it for writing has failed");
    case SQLITE_NOTADB:
      return pf_fail(error, status, PF_NO_OFFSET,
                     "it is not a database of SQLite 3");
    case SQLITE_CORRUPT:
      return pf_fail(error, status, PF_NO_OFFSET, "the database is damaged: %s",
                     sqlite3_errmsg(database->handle));
    case SQLITE_CANTOPEN:
    case SQLITE_IOERR:
      number = sqlite3_system_errno(database->handle);
      return pf_fail(error, status, PF_NO_OFFSET, "%s: %s",
                     sqlite3_errmsg(database->handle),
                     number == 0 ? "no reason given" : os_message(number));
    default:
      return pf_fail(error, status, PF_NO_OFFSET, "%s",
                     sqlite3_extended_errcode(database->handle) == result
                         ? sqlite3_errmsg(database->handle)
                         : sqlite3_errstr(result));
  }
}

/* Ids of the dictionary that were assigned in a transaction become invalid when
   it is rolled back. */
static void on_rollback (void *context) {
  ((pf_database *)context)->dictionary_changes++;
}


/* Wait for the lock of another process, longer and longer; 0: long enough. */
static int on_busy (void *context, int tries) {
  pf_database *const d = context;
  const int left = d->busy_ms - (tries == 0 ? 0 : d->waited_ms);
  const int longest = tries < 6 ? 1 << tries : 50;
  const int wait = left < longest ? left : longest;
  if (wait <= 0 || os_is_interrupted())
    return 0;
  d->waited_ms = (tries == 0 ? 0 : d->waited_ms) + wait;
  os_sleep((int64_t)wait * 1000000);
  return 1;
}


/* Refuse files that SQLite would accept, wait for or create: those that are not
   regular, and absent or empty ones. */
static pf_status check_file (const char *path, pf_access access,
                             pf_error *error) {
  os_state state;
  if (!os_state_of(path, &state))
    return access == PF_CREATE && errno == ENOENT
               ? PF_OK
               : pf_fail(error, PF_EIO, PF_NO_OFFSET, "cannot open it: %s",
                         strerror(errno));
  if (state.kind != OS_REGULAR)
    return pf_fail(error, PF_EIO, PF_NO_OFFSET,
                   "it is not a regular file, as a database must be");
  if (state.size == 0 && access != PF_CREATE && access != PF_SCRATCH)
    return pf_fail(error, PF_ETRUNCATED, PF_NO_OFFSET, "the file is empty");
  return PF_OK;
}


/* Whether the write-ahead log of a database has contents. */
static bool has_log (const char *path) {
  os_state state;
  char *const log = sqlite3_mprintf("%s-wal", path);
  const bool has = log == NULL || (os_state_of(log, &state) && state.size > 0);
  sqlite3_free(log);
  return has;
}


/* Write a path as the URI of a file that does not change while it is open.
   `uri` has 3 * strlen(path) + 32 bytes. */
static void write_uri (char *uri, const char *path) {
  uri += sprintf(uri, "file:%s", path[0] == '.' || path[0] == '/' ? "" : "/");
  for (; *path != '\0'; path++)
    if (*path == '%' || *path == '?' || *path == '#')
      uri += sprintf(uri, "%%%02X", (unsigned)*path);
    else
      *uri++ = *path;
  sprintf(uri, "?immutable=1");
}


/* Open the file; in SQLite ":memory:" and "file:..." have other meanings, so a
   relative path begins with "./". */
static int open_file (pf_database *d, const char *path, int flags,
                      bool immutable) {
  const size_t size = strlen(path);
  char *const name = sqlite3_malloc64(3 * size + 64);
  char *const uri = sqlite3_malloc64(9 * size + 256);
  int result = SQLITE_NOMEM;
  if (name != NULL && uri != NULL) {
    sprintf(name, "%s%s", os_is_absolute(path) ? "" : "./", path);
    write_uri(uri, name);
    result = sqlite3_open_v2(
        immutable ? uri : name, &d->handle,
        flags | SQLITE_OPEN_NOMUTEX | (immutable ? SQLITE_OPEN_URI : 0), NULL);
  }
  sqlite3_free(name);
  sqlite3_free(uri);
  if (d->handle == NULL)
    return result;
  sqlite3_extended_result_codes(d->handle, 1);
  return result;
}


/* Set up the connection, and read the file for the first time. */
static int configure (pf_database *d, pf_access access) {
  static const struct {
    int option, value;
  } switches[] = {
      {SQLITE_DBCONFIG_DEFENSIVE, 1},      {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
      {SQLITE_DBCONFIG_ENABLE_TRIGGER, 0}, {SQLITE_DBCONFIG_ENABLE_VIEW, 0},
      {SQLITE_DBCONFIG_DQS_DML, 0},        {SQLITE_DBCONFIG_DQS_DDL, 0},
      {SQLITE_DBCONFIG_ENABLE_FKEY, 1}};
  for (size_t i = 0; i < sizeof switches / sizeof *switches; i++)
    (void)sqlite3_db_config(d->handle, switches[i].option, switches[i].value,
                            NULL);
  sqlite3_busy_handler(d->handle, on_busy, d);
  sqlite3_rollback_hook(d->handle, on_rollback, d);
  const int result = sqlite3_exec(d->handle,
                                  "PRAGMA cell_size_check = ON;"
                                  "PRAGMA cache_size = -65536;"
                                  "PRAGMA temp_store = MEMORY;"
                                  "PRAGMA schema_version",
                                  NULL, NULL, NULL);
  if (result != SQLITE_OK || access == PF_READ)
    return result;
  if (access == PF_SCRATCH)
    return sqlite3_exec(d->handle,
                        "PRAGMA locking_mode = EXCLUSIVE;"
                        "PRAGMA journal_mode = MEMORY;"
                        "PRAGMA synchronous = OFF;"
                        "PRAGMA cache_size = -8192",
                        NULL, NULL, NULL);
  return sqlite3_exec(d->handle,
                      "PRAGMA journal_mode = WAL;"
                      "PRAGMA wal_autocheckpoint = 8192;" /* pages: 32 MiB */
                      "PRAGMA synchronous = FULL",
                      NULL, NULL, NULL);
}


pf_status pf_database_open (pf_database *d, const char *path, pf_access access,
                            int busy_ms, pf_error *error) {
  static const int flags[] = {[PF_READ] = SQLITE_OPEN_READONLY,
                              [PF_WRITE] = SQLITE_OPEN_READWRITE,
                              [PF_SCRATCH] = SQLITE_OPEN_READWRITE,
                              [PF_CREATE] =
                                  SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE};
  *d = (pf_database){.busy_ms = busy_ms};
  const pf_status status = check_file(path, access, error);
  if (status != PF_OK)
    return status;
  int result = open_file(d, path, flags[access], false);
  if (result == SQLITE_OK)
    result = configure(d, access);
  const bool is_refused =
      (result & 0xff) == SQLITE_CANTOPEN || (result & 0xff) == SQLITE_READONLY;
  if (is_refused && access == PF_READ) {
    if (has_log(path))
      return pf_fail(error, PF_EIO, PF_NO_OFFSET,
                     "its folder is read-only, but the last changes are in the "
                     "log beside it: open it once where it can be written");
    sqlite3_close(d->handle);
    d->handle = NULL;
    result = open_file(d, path, flags[access], true);
    if (result == SQLITE_OK)
      result = configure(d, access);
  }
  return result == SQLITE_OK ? PF_OK : pf_database_failure(d, result, error);
}


void pf_database_close (pf_database *d) {
  for (size_t i = 0; i < PF_STATEMENTS; i++)
    sqlite3_finalize(d->statements[i].handle);
  sqlite3_close(d->handle);
  if (d->leftover != NULL)
    os_remove(d->leftover);
  free(d->leftover);
  *d = (pf_database){.handle = NULL};
}

/* Returns the unused statement with this SQL, or NULL. */
static pf_statement *find (pf_database *d, pf_bytes sql) {
  for (size_t i = 0; i < PF_STATEMENTS; i++) {
    pf_statement *const s = &d->statements[i];
    if (s->handle != NULL && !s->is_used && s->size == sql.size &&
        memcmp(sqlite3_sql(s->handle), sql.at, sql.size) == 0)
      return s;
  }
  return NULL;
}


/* Returns a free place, or that of the unused statement which was used least
   recently; NULL if all are in use. */
static pf_statement *make_place (pf_database *d) {
  pf_statement *oldest = NULL;
  for (size_t i = 0; i < PF_STATEMENTS; i++) {
    pf_statement *const s = &d->statements[i];
    if (s->handle == NULL)
      return s;
    if (!s->is_used && (oldest == NULL || s->used < oldest->used))
      oldest = s;
  }
  if (oldest != NULL) {
    sqlite3_finalize(oldest->handle);
    *oldest = (pf_statement){.handle = NULL};
  }
  return oldest;
}


/* Whether the SQL of a statement that writes names a table of which ids are
   cached. */
static bool changes_dictionary (sqlite3_stmt *handle) {
  const char *const sql = sqlite3_sql(handle);
  return !sqlite3_stmt_readonly(handle) &&
         (strstr(sql, "stacks") != NULL || strstr(sql, "frames") != NULL);
}


/* Returns a place with the new statement; NULL: `error` says why not. */
static pf_statement *prepare (pf_database *d, pf_bytes sql, const char **rest,
                              pf_error *error) {
  pf_statement *const s = make_place(d);
  int result = SQLITE_TOOBIG;
  if (s == NULL) {
    pf_fail(error, PF_ELIMIT, PF_NO_OFFSET,
            "more than %d queries are in use: close some", PF_STATEMENTS);
    return NULL;
  }
  if (sql.size <= INT32_MAX)
    result = sqlite3_prepare_v3(d->handle, (const char *)sql.at, (int)sql.size,
                                SQLITE_PREPARE_PERSISTENT, &s->handle, rest);
  if (result != SQLITE_OK) {
    pf_database_failure(d, result, error);
    return NULL;
  }
  if (s->handle == NULL) {
    pf_fail(error, PF_EFORMAT, PF_NO_OFFSET, "the SQL has no command");
    return NULL;
  }
  s->size = strlen(sqlite3_sql(s->handle));
  s->changes_dictionary = changes_dictionary(s->handle);
  return s;
}


pf_status pf_statement_take (pf_database *d, pf_bytes sql,
                             pf_statement **statement, pf_bytes *rest,
                             pf_error *error) {
  const char *const last = (const char *)sql.at + sql.size;
  const char *end = last;
  pf_statement *s = find(d, sql);
  *statement = NULL;
  if (s == NULL)
    s = prepare(d, sql, &end, error);
  if (s == NULL)
    return error->status;
  if (rest != NULL)
    *rest = (pf_bytes){(const uint8_t *)end, (size_t)(last - end)};
  s->is_used = true;
  s->used = ++d->uses;
  *statement = s;
  return PF_OK;
}


pf_status pf_statement_step (pf_database *d, pf_statement *s, pf_error *error) {
  const int result = sqlite3_step(s->handle);
  d->dictionary_changes += s->changes_dictionary;
  if (result == SQLITE_ROW)
    return PF_MORE;
  return result == SQLITE_DONE ? PF_END : pf_database_failure(d, result, error);
}


void pf_statement_end (pf_statement *s) {
  if (s == NULL || s->handle == NULL)
    return;
  sqlite3_reset(s->handle);
  sqlite3_clear_bindings(s->handle);
  s->is_used = false;
}


int pf_bind_text (const pf_database *d, pf_statement *statement, int parameter,
                  pf_bytes text) {
  const char *const at = text.size == 0 ? "" : (const char *)text.at;
  if (d->has_blob_texts || memchr(at, 0, text.size) != NULL ||
      !pf_is_utf8(text))
    return sqlite3_bind_blob64(statement->handle, parameter, at, text.size,
                               SQLITE_STATIC);
  return sqlite3_bind_text64(statement->handle, parameter, at, text.size,
                             SQLITE_STATIC, SQLITE_UTF8);
}


pf_status pf_database_execute (pf_database *d, const char *sql,
                               pf_error *error) {
  d->dictionary_changes++;
  const int result = sqlite3_exec(d->handle, sql, NULL, NULL, NULL);
  return result == SQLITE_OK ? PF_OK : pf_database_failure(d, result, error);
}
