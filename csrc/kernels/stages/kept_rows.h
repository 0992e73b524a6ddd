/*
** kept_rows.h - the rows of an input that a stage has to see before it can
** return the first of them. Used by derive.c and lag.c: zero a pf_kept_rows;
** pf_kept_rows_next instead of the `next` of the input; pf_kept_rows_drop. It
** owns the rows and copies of their texts; the input is borrowed.
*/

#ifndef kept_rows_h
#define kept_rows_h

#include "model/rows/store.h"

typedef struct pf_kept_rows {
  pf_store store;       /* with the columns that are wanted */
  pf_dictionary *texts; /* copies of bytes */
  pf_reader *rows;      /* of the store; NULL: the input is not read yet */
  bool has_paused;      /* the input returned PF_AGAIN after the rows */
} pf_kept_rows;

/* Sees a batch of the input, before the first row of it is returned. `wanted`
   is the batch that the stage fills. */
typedef pf_status pf_see_rows (void *context, const pf_batch *rows,
                               const pf_batch *wanted, pf_error *error);

/*
** The first call reads the input to its end, calls `see` for each batch and
** keeps the rows; all calls return the kept rows. Of a live file it reads the
** rows that are there, and returns PF_AGAIN after them; the call after that
** does the same with those that follow. PF_ENOMEM; a failure of `see`.
*/
pf_status pf_kept_rows_next (pf_kept_rows *kept, pf_reader *input,
                             pf_batch *batch, pf_see_rows *see, void *context,
                             pf_error *error);

void pf_kept_rows_drop (pf_kept_rows *kept);

#endif
