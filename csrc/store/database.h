/*
** database.h - a connection to a file of SQLite 3, with the statements that it
** has prepared. Used by the files of csrc/store that access SQLite. The
** userdata of connection.c owns the connection (row_methods.c opens a scratch
** one); pf_database_close frees it with its statements. Each connection is used
** by one thread at a time.
**
** The file may come from anywhere. So the schema cannot call functions with
** side effects, triggers and views are ignored, and the file cannot be damaged
** by SQL (SQLITE_DBCONFIG_DEFENSIVE).
*/

#ifndef database_h
#define database_h

#include <sqlite3.h>

#include "profio.h"

#define PF_STATEMENTS 48 /* that are kept prepared */

/* The access for which a file is opened. */
typedef enum pf_access {
  PF_READ,   /* never written; its folder may be read-only */
  PF_WRITE,  /* it must exist */
  PF_CREATE, /* it is created if it is absent */
  PF_SCRATCH /* an empty file that nobody else opens and that is not kept */
} pf_access;

/* A prepared statement. `is_used` from pf_statement_take to
   pf_statement_end. */
typedef struct pf_statement {
  sqlite3_stmt *handle; /* owned; NULL: free */
  size_t size;          /* of its SQL */
  uint64_t used;        /* value of `uses` at its last use */
  bool is_used;
  bool changes_dictionary; /* its SQL names a table of the dictionary */
} pf_statement;

typedef struct pf_database {
  sqlite3 *handle; /* owned; NULL: closed */
  pf_statement statements[PF_STATEMENTS];
  uint64_t uses;
  int waited_ms;               /* for the lock of another process, until now */
  int busy_ms;                 /* how long to wait for it */
  uint64_t dictionary_changes; /* statements and rollbacks that may change it */
  bool has_blob_texts;         /* all texts are BLOBs: see pf_bind_text */
  char *leftover; /* path of a file that is removed when it is closed; owned */
} pf_database;

/* Open a file. PF_EIO, PF_EFORMAT if it is no database, PF_ETRUNCATED if it is
   empty, PF_ENOMEM. The database must be closed also after a failure. */
pf_status pf_database_open (pf_database *database, const char *path,
                            pf_access access, int busy_ms, pf_error *error);

/* Close the file; statements in use are ended too. */
void pf_database_close (pf_database *database);

/* Set the error to the description of a result of SQLite that is no success,
   and return its status. */
pf_status pf_database_failure (const pf_database *database, int result,
                               pf_error *error);

/*
** Take the statement of the first SQL command of a text, which is prepared if
** it is new. Each one that was taken must be ended; after a failure *statement
** is NULL. PF_EFORMAT if SQLite cannot compile it, PF_ELIMIT if PF_STATEMENTS
** are in use, PF_EIO, PF_ENOMEM. *rest (may be NULL) is set to the text after
** the command. The parameters have no values.
*/
pf_status pf_statement_take (pf_database *database, pf_bytes sql,
                             pf_statement **statement, pf_bytes *rest,
                             pf_error *error);

/* Go to the next row: PF_MORE, PF_END after the last one, or a failure. */
pf_status pf_statement_step (pf_database *database, pf_statement *statement,
                             pf_error *error);

/* End the use of a statement; NULL: nothing happens. */
void pf_statement_end (pf_statement *statement);

/* Bind a text, which must stay valid while the statement is used: as TEXT, of
   which other readers expect UTF-8 without NUL, else as BLOB. So equal texts
   are equal values, and no byte changes. With has_blob_texts always as BLOB.
   Returns a result of SQLite. */
int pf_bind_text (const pf_database *database, pf_statement *statement,
                  int parameter, pf_bytes text);

/* Execute all commands of a text. Failures of the database. */
pf_status pf_database_execute (pf_database *database, const char *sql,
                               pf_error *error);

#endif
