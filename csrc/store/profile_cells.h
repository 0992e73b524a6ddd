/*
** profile_cells.h - profiles in a store: put_cells.c writes one, sum_cells.c
** adds up those of many runs, function_sums.c only the weights of functions.
** Used by cell_methods.c. The caller owns the contexts.
*/

#ifndef profile_cells_h
#define profile_cells_h

#include "model/base/wide.h"
#include "model/contexts/contexts.h"
#include "store/cells.h"
#include "store/database.h"
#include "store/interning.h"

/* Set *version to a number that changes when another connection commits. Fails
   as the database does. */
pf_status pf_data_version (pf_database *database, int64_t *version,
                           pf_error *error);

/* Ids of frames and stacks that a connection has found or added. They are
   forgotten when another process may have changed the tables, and after a
   rollback. Begins as zeros; pf_interning_free frees the memory. */
typedef struct pf_stored_ids {
  pf_interning interning;
  int64_t version;  /* of the database, when ids were found */
  uint64_t changes; /* of the dictionary, then */
} pf_stored_ids;

/*
** Write a profile: its frames and stacks into the dictionary of the store, and
** a row of `cells` for each metric, also for one without weights. Stacks
** without weights are not kept. Sets *count to the number of cells. A
** transaction must have begun, which is to be rolled back after a failure.
** PF_EFORMAT if two contents have one hash, since the ids in cells would not
** say which is meant; PF_ELIMIT for too many frames or stacks, PF_ENOMEM, and
** failures of the database.
*/
pf_status pf_cells_store (pf_stored_ids *ids, pf_database *database,
                          int64_t run, const pf_contexts *contexts,
                          uint64_t *count, pf_error *error);

/* Stacks and frames that were read from a store, for the next sum; it begins as
   zeros. They are forgotten when the store has changed. All arrays are
   owned. */
typedef struct pf_read_stacks {
  int64_t version;  /* of the store; other processes change it */
  uint64_t changes; /* of the dictionary, by this connection */
  uint32_t stack_limit, frame_limit; /* of ids */
  bool has_all;                      /* all stacks of the store were read */
  uint32_t *parents;                 /* by stack */
  uint32_t *frames; /* by stack: id of the frame; 0: not read, or none */
  uint32_t *areas;  /* by frame: 1 + area of the dictionary; 0: not read */
  pf_dictionary *dictionary; /* owned */
} pf_read_stacks;

/* Free all memory. */
void pf_read_stacks_free (pf_read_stacks *read);

/*
** Add up all cells of a query (run, metric, data), which was given its values,
** into contexts without nodes. Metrics that these have keep their order; others
** follow in the order of their names and units. The nodes are those of the
** stacks that have a cell, and their callers, in the order of their ids. Sums
** are exact, and saturate at the end (has_overflowed), so they do not depend on
** the order of rows. Memory is proportional to the number of stacks of the
** store. PF_EFORMAT if the store is damaged, naming what is; PF_EUNSUPPORTED
** for cells in a newer layout, PF_EIO after Ctrl-C, PF_ELIMIT for too large
** ids, PF_ENOMEM, and failures of the database. After a failure the contexts
** can only be closed.
*/
pf_status pf_cells_sum (pf_database *database, pf_read_stacks *read,
                        pf_statement *query, pf_contexts *contexts,
                        pf_error *error);


/*
** Sums of functions: each frame of the store belongs to at most one of several
** functions, which have numbers from 1. All arrays are owned.
*/
typedef struct pf_function_sums {
  uint32_t stack_limit;     /* ids of stacks are below it */
  uint32_t count;           /* of functions */
  uint32_t *leaf_functions; /* by stack: 0: there is no such stack; 1: its
                               innermost frame is in no function; else 1 + the
                               function */
  bool *has_function; /* by stack: a frame of it is in one of the functions */
  pf_wide *self;      /* by function: weight of the stacks that end in it; of
                           0: of the others */
} pf_function_sums;

/* Read the stacks of a store. functions[] has the function of each frame id
   below `nframes`, or 0, and is borrowed until this returns. PF_EFORMAT if the
   store is damaged, PF_ELIMIT, PF_ENOMEM, and failures of the database. */
pf_status pf_function_sums_open (pf_function_sums *sums, pf_database *database,
                                 const uint32_t *functions, uint32_t nframes,
                                 uint32_t count, pf_error *error);
void pf_function_sums_close (pf_function_sums *sums);

/* The weight of all stacks, and of those with a frame in any function. */
typedef struct pf_function_totals {
  pf_wide all, in_functions;
} pf_function_totals;

/* Set self[] and the totals to the sums of all cells of a query as that of
   pf_cells_sum, of one metric, whose runs were in the store when the sums were
   opened. Failures as of pf_cells_sum. */
pf_status pf_function_sums_read (pf_function_sums *sums, pf_database *database,
                                 pf_statement *query,
                                 pf_function_totals *totals, pf_error *error);


/* A row of the table stacks. */
typedef struct pf_stack_row {
  uint32_t id, parent, frame;
} pf_stack_row;

/* Take the statement of a query, whose parameter (if it has one) is a number;
   go to its first row, as pf_statement_step. It is to be ended also after a
   failure. */
pf_status pf_query_first (pf_database *database, const char *sql,
                          int64_t number, pf_statement **statement,
                          pf_error *error);

/* Set *limit to 1 more than the number that `sql` asks for, such as the highest
   id of a table (0: it is empty). PF_ELIMIT if that is PF_STACK_LIMIT or more;
   failures of the database. */
pf_status pf_id_limit (pf_database *database, const char *sql, uint32_t *limit,
                       pf_error *error);

/* Take the current row: id, parent, frame. PF_EFORMAT if that is impossible. */
pf_status pf_stack_of_row (sqlite3_stmt *s, uint32_t stack_limit,
                           uint32_t frame_limit, pf_stack_row *row,
                           pf_error *error);

/* Begin to read the cells of the current row: run, metric, data. The checksum
   is compared first. PF_EFORMAT: the row is damaged; PF_EUNSUPPORTED. Sets no
   error: pf_cells_failed does. */
pf_status pf_cells_of_row (sqlite3_stmt *s, pf_cells_reader *reader);

/* Set the error for the cells of the current row, whose reader has failed with
   `status`. */
pf_status pf_cells_failed (pf_status status, sqlite3_stmt *s, pf_error *error);

#endif
