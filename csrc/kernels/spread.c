/*
** spread.c - values side by side: for each stripe one pass over the batch.
*/

#include <stdlib.h>
#include <string.h>

#include "kernels/spread.h"

typedef struct spread_reader {
  pf_reader reader;
  pf_reader *input;
  size_t key, value; /* columns of the input */
  pf_field *fields;
  char *names; /* of the new columns, one behind the other */
  size_t count;
  uint32_t stripes[]; /* the name of each */
} spread_reader;


static void fill_stripe (const pf_column *keys, const pf_column *values,
                         uint32_t name, pf_column *stripe, size_t rows) {
  for (size_t i = 0; i < rows; i++) {
    const bool is_here = keys->ids[i] == name && !pf_is_missing(keys, i);
    const bool is_there = is_here && !pf_is_missing(values, i);
    stripe->ints[i] = is_there ? values->ints[i] : 0;
    if (is_here && !is_there)
      pf_set_missing(stripe, i);
  }
}


static pf_status spread_next (pf_reader *self, pf_batch *batch,
                              pf_error *error) {
  const spread_reader *const s = (const spread_reader *)(void *)self;
  const pf_status status = s->input->next(s->input, batch, error);
  if (status != PF_MORE)
    return status;
  for (size_t i = 0; i < s->count; i++) {
    pf_column *const stripe = &batch->columns[s->input->nfields + i];
    if (stripe->data != NULL)
      fill_stripe(&batch->columns[s->key], &batch->columns[s->value],
                  s->stripes[i], stripe, batch->rows);
  }
  return PF_MORE;
}


static void spread_want (pf_reader *self, bool *wanted) {
  const spread_reader *const s = (const spread_reader *)(void *)self;
  for (size_t i = 0; i < s->count; i++)
    if (wanted[s->input->nfields + i])
      wanted[s->key] = wanted[s->value] = true;
  if (s->input->want != NULL)
    s->input->want(s->input, wanted);
}


static void spread_close (pf_reader *self) {
  spread_reader *const s = (spread_reader *)(void *)self;
  free(s->fields);
  free(s->names);
  free(s);
}


/* Copy the names of the new columns and make the fields. */
static bool make_fields (spread_reader *s, const pf_stripe *stripes) {
  const size_t known = s->input->nfields;
  size_t size = 1;
  for (size_t i = 0; i < s->count; i++)
    size += strlen(stripes[i].column) + 1;
  s->names = malloc(size);
  s->fields = calloc(known + s->count + 1, sizeof *s->fields);
  if (s->names == NULL || s->fields == NULL)
    return false;
  char *at = s->names;
  memcpy(s->fields, s->input->fields, known * sizeof *s->fields);
  for (size_t i = 0; i < s->count; i++) {
    const size_t length = strlen(stripes[i].column) + 1;
    memcpy(at, stripes[i].column, length);
    s->fields[known + i] = (pf_field){
        at, PF_INT, pf_is_time(&s->input->fields[s->value]) ? "ns" : NULL,
        false};
    s->stripes[i] = stripes[i].name;
    at += length;
  }
  return true;
}


pf_status pf_spread_open (pf_reader *input, size_t key, size_t value,
                          const pf_stripe *stripes, size_t count,
                          pf_reader **reader, pf_error *error) {
  if (input->fields[key].type != PF_NAME ||
      (input->fields[value].type != PF_INT &&
       !pf_has_any_type(&input->fields[value])))
    return pf_fail(error, PF_EUNSUPPORTED, PF_NO_OFFSET,
                   "whole numbers are spread by a column of names");
  spread_reader *const s = calloc(1, sizeof *s + count * sizeof *s->stripes);
  if (s == NULL)
    return pf_fail(error, PF_ENOMEM, PF_NO_OFFSET, "out of memory");
  s->input = input;
  s->key = key;
  s->value = value;
  s->count = count;
  if (!make_fields(s, stripes)) {
    spread_close(&s->reader);
    return pf_fail(error, PF_ENOMEM, PF_NO_OFFSET, "out of memory");
  }
  s->reader = (pf_reader){.fields = s->fields,
                          .nfields = input->nfields + count,
                          .dictionary = input->dictionary,
                          .next = spread_next,
                          .want = spread_want,
                          .close = spread_close};
  *reader = &s->reader;
  return PF_OK;
}
