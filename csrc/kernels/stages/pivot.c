/*
** pivot.c - the stage of view:pivot: one loop over a batch per pivot column.
*/

#include <string.h>

#include "kernels/stages/stages.h"
#include "model/rows/table_reader.h"

typedef struct pivot_reader {
  pf_reader reader;
  size_t key, value; /* columns of the input */
  pf_field *fields;
  char *names; /* of the pivot columns, concatenated, each ends with a NUL */
  size_t count;
  uint32_t pivots[]; /* for each pivot column, the name in `key` */
} pivot_reader;


static void fill_pivot (const pf_column *keys, const pf_column *values,
                        uint32_t name, pf_column *pivot, size_t rows) {
  for (size_t i = 0; i < rows; i++) {
    const bool is_here = keys->ids[i] == name && !pf_is_missing(keys, i);
    const bool is_there = is_here && !pf_is_missing(values, i);
    pivot->ints[i] = is_there ? values->ints[i] : 0;
    if (is_here && !is_there)
      pf_set_missing(pivot, i);
  }
}


static pf_status pivot_next (pf_reader *self, pf_batch *batch,
                             pf_error *error) {
  const pivot_reader *const p = (const pivot_reader *)(void *)self;
  const pf_status status = self->input->next(self->input, batch, error);
  if (status != PF_MORE)
    return status;
  for (size_t i = 0; i < p->count; i++) {
    pf_column *const pivot = &batch->columns[self->input->nfields + i];
    if (pivot->data != NULL)
      fill_pivot(&batch->columns[p->key], &batch->columns[p->value],
                 p->pivots[i], pivot, batch->rows);
  }
  return PF_MORE;
}


static void pivot_want (pf_reader *self, bool *wanted) {
  const pivot_reader *const p = (const pivot_reader *)(void *)self;
  for (size_t i = 0; i < p->count; i++)
    if (wanted[self->input->nfields + i])
      wanted[p->key] = wanted[p->value] = true;
  pf_stage_want(self, wanted);
}


static void pivot_close (pf_reader *self) {
  pivot_reader *const p = (pivot_reader *)(void *)self;
  free(p->fields);
  free(p->names);
  free(p);
}


/* Set the names of the pivot columns and all fields; false: out of memory. */
static bool make_fields (pivot_reader *p, const pf_pivot_column *columns) {
  const pf_reader *const input = p->reader.input;
  size_t size = 1;
  for (size_t i = 0; i < p->count; i++)
    size += strlen(columns[i].column) + 1;
  p->names = malloc(size);
  p->fields = pf_stage_fields(&p->reader, p->count);
  if (p->names == NULL || p->fields == NULL)
    return false;
  char *at = p->names;
  for (size_t i = 0; i < p->count; i++) {
    const size_t length = strlen(columns[i].column) + 1;
    memcpy(at, columns[i].column, length);
    p->fields[input->nfields + i] = (pf_field){
        at, PF_INT, pf_is_time(&input->fields[p->value]) ? "ns" : NULL};
    p->pivots[i] = columns[i].name;
    at += length;
  }
  return true;
}


pf_status pf_pivot_open (pf_reader *input, size_t key, size_t value,
                         const pf_pivot_column *columns, size_t count,
                         pf_reader **reader, pf_error *error) {
  if (input->fields[key].type != PF_NAME ||
      (input->fields[value].type != PF_INT &&
       !pf_has_any_type(&input->fields[value])))
    return pf_refuse(
        error, "pivot expects a column of names and one of whole numbers");
  pivot_reader *const p = pf_stage_new(sizeof *p + count * sizeof *p->pivots,
                                       input, pivot_next, error);
  if (p == NULL)
    return PF_ENOMEM;
  p->reader.want = pivot_want;
  p->reader.close = pivot_close;
  p->key = key;
  p->value = value;
  p->count = count;
  const pf_status status =
      make_fields(p, columns) ? PF_OK : pf_no_memory(error);
  return pf_reader_opened(&p->reader, status, reader);
}
