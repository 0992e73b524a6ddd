/*
** kept_rows.c - reads an input to its end, and returns its rows from memory.
*/

#include "kernels/stages/kept_rows.h"

#include <stdlib.h>

#include "model/dictionary/names.h"

/* Store the rows of the input to PF_END, PF_AGAIN or a failure. */
static pf_status keep_rows (pf_kept_rows *k, pf_reader *input,
                            const pf_batch *wanted, pf_batch *pulled,
                            pf_see_rows *see, void *context, pf_error *error) {
  pf_status status;
  while ((status = input->next(input, pulled, error)) == PF_MORE) {
    const pf_status seen = see(context, pulled, wanted, error);
    if (seen < 0)
      return seen;
    if (pf_store_append_copies(&k->store, k->texts, pulled) != PF_OK)
      return pf_no_memory(error);
  }
  return status;
}


/* Read the input to PF_END or PF_AGAIN. */
static pf_status keep_input (pf_kept_rows *k, pf_reader *input,
                             const pf_batch *wanted, pf_see_rows *see,
                             void *context, pf_error *error) {
  pf_batch pulled;
  if (k->texts == NULL)
    k->texts = pf_dictionary_new();
  if (k->texts == NULL ||
      (k->store.columns == NULL &&
       pf_store_open(&k->store, input->fields, input->nfields,
                     input->dictionary) != PF_OK) ||
      pf_batch_like(&pulled, input->fields, input->nfields, wanted) != PF_OK)
    return pf_no_memory(error);
  const pf_status status =
      keep_rows(k, input, wanted, &pulled, see, context, error);
  pf_batch_close(&pulled);
  if (status < 0)
    return status;
  k->has_paused = status == PF_AGAIN;
  return pf_store_reader(&k->store, NULL, 0, &k->rows, error);
}


void pf_kept_rows_drop (pf_kept_rows *k) {
  if (k->rows != NULL)
    k->rows->close(k->rows);
  k->rows = NULL;
  pf_store_close(&k->store);
  pf_dictionary_free(k->texts);
  k->texts = NULL;
}


pf_status pf_kept_rows_next (pf_kept_rows *k, pf_reader *input, pf_batch *batch,
                             pf_see_rows *see, void *context, pf_error *error) {
  if (k->rows == NULL) {
    const pf_status status = keep_input(k, input, batch, see, context, error);
    if (k->rows == NULL)
      return status;
  }
  const pf_status status = k->rows->next(k->rows, batch, error);
  if (status != PF_END || !k->has_paused)
    return status;
  pf_kept_rows_drop(k);
  return PF_AGAIN;
}
