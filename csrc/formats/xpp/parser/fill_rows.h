/*
** fill_rows.h - decodes rows of a trace into columns of the file's own fields.
** Used by entries_xpp.c, raw_xpp.c and fields.c.
**
** Call xpp_rows_open, then xpp_rows_next until it returns PF_END, then
** xpp_rows_close, which ignores rows that are not open.
**
** The trace is borrowed until then. xpp_rows_close frees the batch, the runs
** and the converted texts.
*/

#ifndef fill_rows_h
#define fill_rows_h

#include "formats/xpp/parser/items.h"
#include "model/rows/batch.h"

/* Consecutive rows of one kind in a source. */
typedef struct xpp_run {
  xpp_item item; /* of the first row; has_gap applies to that row only */
  size_t row;    /* index of the first row in the batch */
} xpp_run;

typedef struct xpp_rows {
  bool is_open;
  xpp_parser parser;
  bool has_all;        /* items that are not entries become rows, too */
  bool has_deleted;    /* option deleted = "show" */
  pf_batch batch;      /* columns of file->fields, if wanted */
  dbf_decoder decoder; /* text uses only its arena and converter */
  xpp_run *runs;       /* PF_BATCH_ROWS of them: the runs of the batch */
  size_t nruns;
} xpp_rows;

/* Starts at the first row. wanted[file->nfields]: the fields to decode.
   `has_all`: every item becomes a row. PF_OK or a failure. */
pf_status xpp_rows_open (xpp_rows *rows, pf_trace *trace, const bool *wanted,
                         bool has_all, pf_error *error);
void xpp_rows_close (xpp_rows *rows);

/* Replaces the batch and its runs by the next rows, at most `max_rows`. Returns
   PF_MORE, PF_END, PF_AGAIN or a failure. Texts live until the next call. */
pf_status xpp_rows_next (xpp_rows *rows, size_t max_rows, pf_error *error);

/* The byte of its source at which a row of the batch begins. */
uint64_t xpp_row_offset (const xpp_rows *rows, size_t row);

#endif
