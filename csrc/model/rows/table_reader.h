/*
** table_reader.h - what readers share: their allocation, the loop over a batch,
** and the result at its end; for stages also what they pass on to their input.
** A reader is a struct that begins with a pf_reader.
**
** Included by each file that defines a reader (formats, kernels, lua). In the
** end a reader userdata owns a reader and calls `close`; the reader borrows its
** fields, dictionary and input.
*/

#ifndef table_reader_h
#define table_reader_h

#include <stdlib.h>

#include "model/rows/abilities.h"
#include "model/rows/batch.h"
#include "model/rows/trace.h"

/* The `close` of a reader that owns nothing but itself. */
static inline void pf_reader_free (pf_reader *self) {
  free(self);
}

typedef pf_status pf_next (pf_reader *self, pf_batch *batch, pf_error *error);

/*
** Allocate a reader: a struct of `size` bytes that begins with a pf_reader,
** with zeros after it. The caller may set `close`, which is pf_reader_free
** here, and the optional members. NULL with a message when out of memory.
*/
static inline void *pf_reader_of (size_t size, const pf_field *fields,
                                  size_t nfields, pf_dictionary *dictionary,
                                  pf_next *next, pf_error *error) {
  pf_reader *const self = calloc(1, size);
  if (self == NULL)
    (void)pf_no_memory(error);
  else
    *self = (pf_reader){.fields = fields,
                        .nfields = nfields,
                        .dictionary = dictionary,
                        .next = next,
                        .close = pf_reader_free};
  return self;
}

/* Allocate the reader of a table as pf_reader_of does. */
static inline void *pf_reader_new (size_t size, const pf_trace *trace,
                                   const pf_table *table, pf_next *next,
                                   pf_error *error) {
  return pf_reader_of(size, table->fields, table->nfields, trace->dictionary,
                      next, error);
}

/* The `want` of a stage that needs no column itself: that of its input. */
static inline void pf_stage_want (pf_reader *self, bool *wanted) {
  if (self->input->want != NULL)
    self->input->want(self->input, wanted);
}

/* Allocate a stage over `input` as pf_reader_of does: it has the fields and the
   dictionary of its input, and passes on `want`. */
static inline void *pf_stage_new (size_t size, pf_reader *input, pf_next *next,
                                  pf_error *error) {
  pf_reader *const self = pf_reader_of(size, input->fields, input->nfields,
                                       input->dictionary, next, error);
  if (self == NULL)
    return NULL;
  self->input = input;
  self->want = pf_stage_want;
  return self;
}

/* The `seek` of a stage whose rows are those of its input, which can seek. */
static inline pf_status pf_stage_seek (pf_reader *self, uint64_t row,
                                       pf_error *error) {
  return self->input->can->seek(self->input, row, error);
}

/* Let a stage seek if its input can; its rows are those of the input. */
static inline void pf_stage_pass_seek (pf_reader *self) {
  static const pf_abilities can_seek = {.seek = pf_stage_seek};
  if (pf_can(self->input)->seek != NULL)
    self->can = &can_seek;
}

/* Give a stage the fields of its input and `more` after them, which are zeros.
   The stage frees the array. NULL when out of memory. */
static inline pf_field *pf_stage_fields (pf_reader *self, size_t more) {
  const size_t known = self->input->nfields;
  pf_field *const all = calloc(known + more + 1, sizeof *all);
  if (all == NULL)
    return NULL;
  for (size_t i = 0; i < known; i++)
    all[i] = self->input->fields[i];
  self->fields = all;
  self->nfields = known + more;
  return all;
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
                                       pf_next *step, pf_error *error) {
  pf_status status = PF_MORE;
  pf_batch_clear(batch);
  while (status == PF_MORE && batch->rows < PF_BATCH_ROWS)
    status = step(self, batch, error);
  return pf_batch_status(batch, status);
}

/* Define the function `next` of a reader that only fills batches by steps. */
#define PF_NEXT_BY_STEPS(next, step)                                         \
  static pf_status next(pf_reader *self, pf_batch *batch, pf_error *error) { \
    return pf_batch_fill(self, batch, step, error);                          \
  }

#endif
