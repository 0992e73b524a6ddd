/*
** filter.c - reads batches until one has rows to keep, and compacts it in
** place; a limit counts the rows and keeps those between its bounds.
*/

#include "kernels/stages/stages.h"
#include "model/rows/table_reader.h"

typedef struct filter_reader {
  pf_reader reader;
  pf_predicate predicate;
  uint16_t keep[PF_BATCH_ROWS];
  size_t ncolumns;
  size_t columns[]; /* that the predicate reads */
} filter_reader;


static pf_status filter_next (pf_reader *self, pf_batch *batch,
                              pf_error *error) {
  filter_reader *const f = (filter_reader *)(void *)self;
  for (;;) {
    pf_status status = self->input->next(self->input, batch, error);
    if (status != PF_MORE)
      return status;
    size_t count = 0;
    status = f->predicate.select(f->predicate.context, batch, f->keep, &count,
                                 error);
    if (status != PF_OK)
      return status;
    if (count > 0) {
      pf_batch_keep(batch, f->keep, count);
      return PF_MORE;
    }
  }
}


static void filter_want (pf_reader *self, bool *wanted) {
  filter_reader *const f = (filter_reader *)(void *)self;
  for (size_t i = 0; i < f->ncolumns; i++)
    wanted[f->columns[i]] = true;
  pf_stage_want(self, wanted);
}


static void filter_close (pf_reader *self) {
  filter_reader *const f = (filter_reader *)(void *)self;
  f->predicate.close(f->predicate.context);
  free(f);
}


pf_status pf_filter_open (pf_reader *input, const size_t *columns,
                          size_t ncolumns, pf_predicate predicate,
                          pf_reader **reader, pf_error *error) {
  filter_reader *const f = pf_stage_new(sizeof *f + ncolumns * sizeof *columns,
                                        input, filter_next, error);
  if (f == NULL)
    return PF_ENOMEM;
  f->reader.want = filter_want;
  f->reader.close = filter_close;
  f->predicate = predicate;
  f->ncolumns = ncolumns;
  for (size_t i = 0; i < ncolumns; i++)
    f->columns[i] = columns[i];
  *reader = &f->reader;
  return PF_OK;
}


typedef struct limit_reader {
  pf_reader reader;
  uint64_t skip, left; /* rows still to skip, and to return */
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
    return PF_MORE;
  }
  return PF_END;
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
