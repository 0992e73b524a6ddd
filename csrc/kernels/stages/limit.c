/*
** limit.c - counts rows and cuts the batches at the limits.
*/

#include "kernels/stages/limit.h"
#include "model/rows/table_reader.h"

typedef struct limit_reader {
  pf_reader reader;
  uint64_t skip, left; /* rows still to skip, and to return */
  uint64_t passed;
} limit_reader;


static pf_status limit_next (pf_reader *self, pf_batch *batch,
                             pf_error *error) {
  limit_reader *const l = (limit_reader *)(void *)self;
  pf_batch_clear(batch);
  while (l->left > 0) {
    const pf_status status = self->input->next(self->input, batch, error);
    if (status != PF_MORE)
      return status;
    if (l->skip >= batch->rows) {
      l->skip -= batch->rows;
      continue;
    }
    const size_t from = (size_t)l->skip;
    size_t to = batch->rows;
    if (to - from > l->left)
      to = from + (size_t)l->left;
    /* Keep rows [from, to) of the batch. */
    uint16_t keep[PF_BATCH_ROWS];
    for (size_t i = from; i < to; i++)
      keep[i - from] = (uint16_t)i;
    pf_batch_keep(batch, keep, to - from);
    l->skip = 0;
    l->left -= to - from;
    l->passed += to - from;
    return PF_MORE;
  }
  return PF_END;
}


uint64_t pf_limit_passed (const pf_reader *reader) {
  return ((const limit_reader *)(const void *)reader)->passed;
}


pf_status pf_limit_open (pf_reader *input, uint64_t limit, uint64_t skip,
                         pf_reader **reader, pf_error *error) {
  limit_reader *const l = pf_stage_new(sizeof *l, input, limit_next, error);
  if (l == NULL)
    return PF_ENOMEM;
  l->left = limit;
  l->skip = skip;
  *reader = &l->reader;
  return PF_OK;
}
