/*
** filter.h - the stages that keep only some rows: those for which a predicate
** holds (the conditions of where.h, or a Lua function), or some in a row. Used by
** where.c and csrc/lua/stages/stages.c. The caller closes the reader.
*/

#ifndef filter_h
#define filter_h

#include "model/rows/batch.h"

/* A predicate. The filter owns the context and frees it with `close`. */
typedef struct pf_predicate {
  void *context;

  /* Write the indexes of the rows to keep into keep[], ascending, and their
     number into *count, which is 0 before. keep[] has room for all rows of the
     batch, which has at least 1. */
  pf_status (*select)(void *context, const pf_batch *batch, uint16_t *keep,
                      size_t *count, pf_error *error);

  void (*close)(void *context);
} pf_predicate;

/*
** Open a reader of the selected rows of `input` (borrowed). The predicate reads
** the columns columns[0..ncolumns-1] (copied). On a failure (PF_ENOMEM) the
** predicate stays with the caller.
*/
pf_status pf_filter_open (pf_reader *input, const size_t *columns,
                          size_t ncolumns, pf_predicate predicate,
                          pf_reader **reader, pf_error *error);

#define PF_NO_LIMIT UINT64_MAX

/* Open a reader that skips the first `skip` rows of `input` (borrowed), then
   returns at most `limit` rows and reads no further. PF_ENOMEM. */
pf_status pf_limit_open (pf_reader *input, uint64_t limit, uint64_t skip,
                         pf_reader **reader, pf_error *error);

/* The number of rows that a reader of pf_limit_open has returned. */
uint64_t pf_limit_passed (const pf_reader *reader);

#endif
