/*
** pull.c - reads selected columns of a reader, by name.
*/

#include "kernels/base/pull.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>


pf_status pf_pull_fields (pf_pull *pull, pf_reader *reader, bool *wanted,
                          pf_error *error) {
  memset(pull, 0, sizeof *pull);
  const pf_status status = pf_batch_for(&pull->batch, reader, wanted);
  if (status != PF_OK)
    return pf_no_memory(error);
  pull->reader = reader;
  return PF_OK;
}


pf_status pf_pull_open (pf_pull *pull, pf_reader *reader, const pf_want *wants,
                        size_t count, pf_error *error) {
  size_t fields[PF_MAX_PULLED] = {0};
  assert(count <= PF_MAX_PULLED);
  memset(pull, 0, sizeof *pull);
  bool *wanted = calloc(reader->nfields + 1, sizeof *wanted);
  if (wanted == NULL)
    return pf_no_memory(error);
  pf_status status = PF_OK;
  for (size_t i = 0; i < count && status == PF_OK; i++) {
    fields[i] = pf_field_index(reader->fields, reader->nfields, wants[i].name);
    if (fields[i] < reader->nfields &&
        reader->fields[fields[i]].type != wants[i].type)
      fields[i] = reader->nfields;
    wanted[fields[i]] = true;
    if (fields[i] == reader->nfields && wants[i].needed)
      status = pf_refuse(error, "a column \"%s\" of type %s is needed",
                         wants[i].name, pf_type_name(wants[i].type));
  }
  if (status == PF_OK)
    status = pf_pull_fields(pull, reader, wanted, error);
  free(wanted);
  if (status != PF_OK)
    return status;
  for (size_t i = 0; i < count; i++)
    if (fields[i] < reader->nfields)
      pull->columns[i] = &pull->batch.columns[fields[i]];
  return PF_OK;
}


pf_status pf_pull_clone (pf_pull *pull, const pf_pull *model, pf_error *error) {
  const pf_batch *const like = &model->batch;
  memset(pull, 0, sizeof *pull);
  if (pf_batch_like(&pull->batch, model->reader->fields, like->ncolumns,
                    like) != PF_OK)
    return pf_no_memory(error);
  pull->reader = model->reader;
  for (size_t i = 0; i < PF_MAX_PULLED; i++)
    if (model->columns[i] != NULL)
      pull->columns[i] =
          &pull->batch.columns[model->columns[i] - like->columns];
  return PF_OK;
}


/* Set missing addresses to 0: the cells have values of an earlier batch. */
static void clear_addresses (const pf_pull *pull) {
  for (size_t i = 0; i < PF_MAX_PULLED; i++) {
    const pf_column *const column = pull->columns[i];
    if (column == NULL || column->type != PF_ADDR || !column->has_missing)
      continue;
    for (size_t row = 0; row < pull->batch.rows; row++)
      if (pf_is_missing(column, row))
        column->addrs[row] = 0;
  }
}


pf_status pf_pull_next (pf_pull *pull, pf_error *error) {
  const pf_status status =
      pull->reader->next(pull->reader, &pull->batch, error);
  assert(status != PF_MORE ||
         (pull->batch.rows > 0 && pull->batch.rows <= PF_BATCH_ROWS));
  pull->has_paused = status == PF_AGAIN;
  if (status == PF_MORE)
    clear_addresses(pull);
  return pull->has_paused ? PF_END : status;
}


void pf_pull_close (pf_pull *pull) {
  if (pull->reader != NULL)
    pf_batch_close(&pull->batch);
  pull->reader = NULL;
}
