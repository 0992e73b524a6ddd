/*
** table_reader.h - what the readers of all formats share: their allocation, the
** loop over a batch, and the result at its end. A reader of a format is a
** struct that begins with a pf_reader.
*/

#ifndef table_reader_h
#define table_reader_h

#include <stdlib.h>

#include "model/rows/batch.h"
#include "model/rows/trace.h"

/* The `close` of a reader that owns nothing but itself. */
static inline void pf_reader_free (pf_reader *self) {
  free(self);
}

/*
** Allocate the reader of a table: a struct of `size` bytes that begins with a
** pf_reader, with zeros after it. The format may set `close`, which is
** pf_reader_free here, and `can`. NULL with a message when out of memory.
*/
static inline void *pf_reader_new (
    size_t size, const pf_trace *trace, const pf_table *table,
    pf_status (*next)(pf_reader *self, pf_batch *batch, pf_error *error),
    pf_error *error) {
  pf_reader *const self = calloc(1, size);
  if (self == NULL)
    (void)pf_no_memory(error);
  else
    *self = (pf_reader){.fields = table->fields,
                        .nfields = table->nfields,
                        .dictionary = trace->dictionary,
                        .next = next,
                        .close = pf_reader_free};
  return self;
}

/* End the opening of a reader with this status: set *reader, or close the
   reader after a failure. */
static inline pf_status pf_reader_opened (pf_reader *self, pf_status status,
                                          pf_reader **reader) {
  if (status == PF_OK)
    *reader = self;
  else
    self->close(self);
  return status;
}

/* Return what `next` returns when the last step had this status: a failure;
   PF_MORE if there are rows; else PF_AGAIN or PF_END. */
static inline pf_status pf_batch_status (const pf_batch *batch,
                                         pf_status status) {
  if (status < 0)
    return status;
  return batch->rows > 0 ? PF_MORE : status == PF_AGAIN ? PF_AGAIN : PF_END;
}

/* Fill a batch by steps. A step adds a row or none, and returns PF_MORE until
   there are no more rows. The batch is filled as `next` does. */
static inline pf_status pf_batch_fill (pf_reader *self, pf_batch *batch,
                                       pf_status (*step)(pf_reader *self,
                                                         pf_batch *batch,
                                                         pf_error *error),
                                       pf_error *error) {
  pf_status status = PF_MORE;
  pf_batch_clear(batch);
  while (status == PF_MORE && batch->rows < PF_BATCH_ROWS)
    status = step(self, batch, error);
  return pf_batch_status(batch, status);
}

#endif
