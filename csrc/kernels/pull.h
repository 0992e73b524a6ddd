/*
** pull.h - reading a few columns of a reader, by name, to its end: what every
** sink of this folder begins with.
*/

#ifndef pull_h
#define pull_h

#include "model/batch.h"

#define PF_MAX_PULLED 12

/* A column a sink wants. */
typedef struct pf_want {
  const char *name;
  pf_type type;
  bool needed; /* without it the reader cannot be used */
} pf_want;

typedef struct pf_pull {
  pf_reader *reader;
  pf_batch batch;
  const pf_column *columns[PF_MAX_PULLED]; /* NULL: the reader has it not */
  bool has_paused; /* it was PF_AGAIN that was answered as PF_END */
} pf_pull;


/* Begin to read the `count` wanted columns. PF_EUNSUPPORTED when a needed one
   is not there or has another type. */
pf_status pf_pull_open (pf_pull *pull, pf_reader *reader, const pf_want *wants,
                        size_t count, pf_error *error);

/* The same for the fields marked in `wanted`, which is widened by what the
   reader needs; pull->columns has none of them. */
pf_status pf_pull_fields (pf_pull *pull, pf_reader *reader, bool *wanted,
                          pf_error *error);

/* Another batch for the same columns of the same reader. PF_ENOMEM. */
pf_status pf_pull_clone (pf_pull *pull, const pf_pull *model, pf_error *error);

/* Let the reader leave out rows in which wanted column `number` is 0. */
void pf_pull_sparse (pf_pull *pull, size_t number);

/* The next batch: PF_MORE, PF_END (also for a live file that has no more
   yet) or a failure. */
pf_status pf_pull_next (pf_pull *pull, pf_error *error);

void pf_pull_close (pf_pull *pull);

/* A whole number of a column; `fallback` when missing or not there. */
static inline int64_t pf_pull_int (const pf_column *column, size_t row,
                                   int64_t fallback) {
  if (column == NULL || pf_is_missing(column, row))
    return fallback;
  return column->ints[row];
}

#endif
