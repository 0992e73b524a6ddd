/*
** xpp_rows.h - rows of a trace as columns of the fields that the file has: what
** the tables entries and raw are made from.
*/

#ifndef xpp_rows_h
#define xpp_rows_h

#include "formats/dbf/arena.h"
#include "formats/xpp/xpp_items.h"
#include "model/batch.h"

/* Rows of one kind that follow each other in a source. */
typedef struct xpp_run {
  xpp_item item; /* of the first one; has_gap is true of that only */
  size_t row;    /* where they begin in the batch */
} xpp_run;

typedef struct xpp_rows {
  xpp_parser parser;
  bool has_all;        /* pieces that are no entries are rows too */
  bool has_deleted;    /* deleted records are entries */
  pf_batch batch;      /* of file->fields; those nobody wants have no memory */
  dbf_decoder decoder; /* of tables; its arena also of text */
  pf_converter converter; /* of text */
  xpp_run *runs;          /* PF_BATCH_ROWS, as long as rows are open */
  size_t nruns;
} xpp_rows;

/* Begin at the first row; wanted[nfields] says which fields are decoded. */
pf_status xpp_rows_open (xpp_rows *rows, pf_trace *trace, const bool *wanted,
                         bool has_all, pf_error *error);
void xpp_rows_close (xpp_rows *rows);

/* Fill the batch: PF_MORE, PF_END, PF_AGAIN or a failure. What it had is gone.
   At most `most` rows. */
pf_status xpp_rows_next (xpp_rows *rows, size_t most, pf_error *error);

/* Have the next records as rows, none of whose fields is wanted. They are
   there, and live. */
void xpp_rows_advance (xpp_rows *rows, size_t count);

/* Where a row of the batch run_starts in its source. */
uint64_t xpp_row_offset (const xpp_rows *rows, size_t row);

#endif
