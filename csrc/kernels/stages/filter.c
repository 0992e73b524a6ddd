/*
** filter.c - reads batches until one has rows to keep, and compacts it in
** place.
*/

#include <stdlib.h>
#include <string.h>

#include "kernels/stages/filter.h"

typedef struct filter_reader {
  pf_reader reader;
  pf_reader *input;
  pf_predicate predicate;
  uint16_t keep[PF_BATCH_ROWS];
  size_t ncolumns;
  size_t columns[]; /* that the predicate reads */
} filter_reader;


static pf_status filter_next (pf_reader *self, pf_batch *batch,
                              pf_error *error) {
  filter_reader *const f = (filter_reader *)(void *)self;
  for (;;) {
    pf_status status = f->input->next(f->input, batch, error);
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
  if (f->input->want != NULL)
    f->input->want(f->input, wanted);
}


static void filter_close (pf_reader *self) {
  filter_reader *const f = (filter_reader *)(void *)self;
  f->predicate.close(f->predicate.context);
  free(f);
}


pf_status pf_filter_open (pf_reader *input, const size_t *columns,
                          size_t ncolumns, pf_predicate predicate,
                          pf_reader **reader, pf_error *error) {
  filter_reader *const f = calloc(1, sizeof *f + ncolumns * sizeof *columns);
  if (f == NULL)
    return pf_no_memory(error);
  f->reader = (pf_reader){.fields = input->fields,
                          .nfields = input->nfields,
                          .dictionary = input->dictionary,
                          .next = filter_next,
                          .want = filter_want,
                          .close = filter_close};
  f->input = input;
  f->predicate = predicate;
  f->ncolumns = ncolumns;
  for (size_t i = 0; i < ncolumns; i++)
    f->columns[i] = columns[i];
  *reader = &f->reader;
  return PF_OK;
}
