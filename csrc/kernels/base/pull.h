/*
** pull.h - reads selected columns of a reader, by name. Used by pipeline.c,
** histograms.c, read_btf.c and lua/symbol_table.c: open, next until PF_END,
** close. A pull owns its batch; the reader is borrowed until pf_pull_close.
*/

#ifndef pull_h
#define pull_h

#include "model/rows/batch.h"

#define PF_MAX_PULLED 12

/* A wanted column. */
typedef struct pf_want {
  const char *name;
  pf_type type;
  bool needed; /* required: without it the reader is refused */
} pf_want;

typedef struct pf_pull {
  pf_reader *reader;                       /* borrowed */
  pf_batch batch;                          /* `columns` point into it */
  const pf_column *columns[PF_MAX_PULLED]; /* by index into the wants; NULL: not
                                              in the reader */
  bool has_paused; /* the reader returned PF_AGAIN, and pf_pull_next PF_END */
} pf_pull;


/* Open a reader (borrowed) for `count` wanted columns. PF_EUNSUPPORTED when a
   required one is missing or has another type; PF_ENOMEM. */
pf_status pf_pull_open (pf_pull *pull, pf_reader *reader, const pf_want *wants,
                        size_t count, pf_error *error);

/* Open a reader for the fields marked in `wanted`, to which the fields that the
   reader itself needs are added; pull->columns stays empty. PF_ENOMEM. */
pf_status pf_pull_fields (pf_pull *pull, pf_reader *reader, bool *wanted,
                          pf_error *error);

/* Open another batch for the same columns of the same reader. PF_ENOMEM. */
pf_status pf_pull_clone (pf_pull *pull, const pf_pull *model, pf_error *error);

/* Read the next batch: PF_MORE, PF_END (also when a live file has no more data
   yet) or a failure. Missing addresses have the value 0. */
pf_status pf_pull_next (pf_pull *pull, pf_error *error);

void pf_pull_close (pf_pull *pull);

/* Return an integer of a column, or an id. When the value or the column is
   missing: `fallback`, or UINT32_MAX. */
static inline int64_t pf_pull_int (const pf_column *column, size_t row,
                                   int64_t fallback) {
  if (column == NULL || pf_is_missing(column, row))
    return fallback;
  return column->ints[row];
}

static inline uint32_t pf_pull_id (const pf_column *column, size_t row) {
  return column == NULL || pf_is_missing(column, row) ? UINT32_MAX
                                                      : column->ids[row];
}

#endif
