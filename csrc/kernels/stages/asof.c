/*
** asof.c - joins each row with the latest one of another input that is not
** later, among those with equal keys.
*/

#include <string.h>

#include "kernels/stages/kept_cells.h"
#include "kernels/stages/stages.h"
#include "model/base/memory.h"
#include "model/rows/table_reader.h"

typedef struct asof_reader {
  pf_reader reader;
  pf_asof given;     /* its arrays are those copies: */
  size_t *copies[3]; /* owned */
  pf_field *fields;
  char *names; /* of the columns that are added */
  pf_keys *keys;
  pf_dictionary *texts; /* of cells */
  pf_column *projected; /* the key columns of a batch */
  pf_batch batch;       /* of the right input */
  uint32_t *groups;     /* of its rows */
  size_t at;            /* its next row */
  bool is_open, is_over;
  pf_cell *cells; /* of each group: the time of its latest row, then columns */
  size_t capacity;
  int64_t left_last, right_last;
  bool has_left, has_right;
  uint64_t disorder;
} asof_reader;


/* Set the group of each row by its key columns. */
static pf_status find_groups (asof_reader *a, const pf_batch *batch,
                              const size_t *columns, uint32_t *groups,
                              pf_error *error) {
  for (size_t i = 0; i < a->given.nkeys; i++)
    a->projected[i] = batch->columns[columns[i]];
  const pf_batch keys = {batch->rows, a->given.nkeys, a->projected};
  const pf_status status = pf_keys_find(a->keys, &keys, groups, error);
  if (status != PF_OK)
    return status;
  const size_t wanted = pf_keys_count(a->keys) * (a->given.count + 1);
  return pf_grow_filled(&a->cells, &a->capacity, wanted, 0)
             ? PF_OK
             : pf_no_memory(error);
}


/* Whether a time is before the latest one, which is set. */
static bool is_disordered (int64_t time, int64_t *last, bool *has_last) {
  const bool is_late = *has_last && time < *last;
  if (!is_late)
    *last = time;
  *has_last = true;
  return is_late;
}


/* {====== The right input ====== */

static pf_status open_right (asof_reader *a, pf_error *error) {
  pf_reader *const right = a->given.right;
  bool *const wanted = calloc(right->nfields + 1, sizeof *wanted);
  if (wanted == NULL)
    return pf_no_memory(error);
  for (size_t i = 0; i < a->given.count; i++)
    wanted[a->given.columns[i]] = true;
  for (size_t i = 0; i < a->given.nkeys; i++)
    wanted[a->given.right_keys[i]] = true;
  wanted[a->given.right_time] = true;
  a->is_open = pf_batch_for(&a->batch, right, wanted) == PF_OK;
  free(wanted);
  return a->is_open ? PF_OK : pf_no_memory(error);
}


/* Read the next batch, if all rows of the one before are taken. A live file
   without more rows is taken as one that has ended for now. */
static pf_status fill (asof_reader *a, pf_error *error) {
  if (a->at < a->batch.rows || a->is_over)
    return PF_OK;
  pf_status status = a->is_open ? PF_OK : open_right(a, error);
  if (status == PF_OK)
    status = a->given.right->next(a->given.right, &a->batch, error);
  if (status < 0)
    return status;
  a->at = 0;
  a->is_over = status == PF_END;
  if (status != PF_MORE) {
    a->batch.rows = 0;
    return PF_OK;
  }
  return find_groups(a, &a->batch, a->given.right_keys, a->groups, error);
}


/* Let the next row be the latest one of its group. */
static pf_status take_row (asof_reader *a, pf_error *error) {
  pf_cell *const cells = a->cells + a->groups[a->at] * (a->given.count + 1);
  bool has_memory = pf_cell_take(
      &cells[0], &a->batch.columns[a->given.right_time], a->at, a->texts);
  for (size_t i = 0; i < a->given.count; i++)
    has_memory =
        pf_cell_take(&cells[i + 1], &a->batch.columns[a->given.columns[i]],
                     a->at, a->texts) &&
        has_memory;
  a->at++;
  return has_memory ? PF_OK : pf_no_memory(error);
}


/* Take all rows up to a time. Rows without a time are left out. */
static pf_status take_until (asof_reader *a, int64_t time, pf_error *error) {
  for (;;) {
    pf_status status = fill(a, error);
    if (status != PF_OK || a->at >= a->batch.rows)
      return status;
    const pf_column *const times = &a->batch.columns[a->given.right_time];
    if (pf_is_missing(times, a->at)) {
      a->at++;
      continue;
    }
    if (times->ints[a->at] > time)
      return PF_OK;
    a->disorder +=
        is_disordered(times->ints[a->at], &a->right_last, &a->has_right);
    status = take_row(a, error);
    if (status != PF_OK)
      return status;
  }
}

/* }====== */


/* Put the columns of the latest row of a group. */
static void put_row (const asof_reader *a, pf_batch *batch, size_t row,
                     uint32_t group, int64_t time, bool has_time) {
  const pf_cell *const cells = a->cells + group * (a->given.count + 1);
  const bool is_near =
      has_time && cells[0].has &&
      (uint64_t)time - cells[0].word <= (uint64_t)a->given.within;
  for (size_t i = 0; i < a->given.count; i++) {
    pf_column *const column = &batch->columns[a->reader.input->nfields + i];
    if (is_near)
      pf_cell_put(&cells[i + 1], column, row, a->texts);
    else
      pf_put_none(column, row, 1);
  }
}


static pf_status asof_next (pf_reader *self, pf_batch *batch, pf_error *error) {
  asof_reader *const a = (asof_reader *)(void *)self;
  uint32_t groups[PF_BATCH_ROWS];
  pf_status status = self->input->next(self->input, batch, error);
  if (status != PF_MORE)
    return status;
  status = find_groups(a, batch, a->given.left_keys, groups, error);
  const pf_column *const times = &batch->columns[a->given.left_time];
  for (size_t row = 0; row < batch->rows && status == PF_OK; row++) {
    const bool has_time = !pf_is_missing(times, row);
    const int64_t time = has_time ? times->ints[row] : 0;
    if (has_time) {
      a->disorder += is_disordered(time, &a->left_last, &a->has_left);
      status = take_until(a, time, error);
    }
    if (status == PF_OK)
      put_row(a, batch, row, groups[row], time, has_time);
  }
  if (a->given.disorder != NULL && *a->given.disorder < a->disorder)
    *a->given.disorder = a->disorder;
  return status == PF_OK ? PF_MORE : status;
}


static void asof_want (pf_reader *self, bool *wanted) {
  const asof_reader *const a = (const asof_reader *)(const void *)self;
  wanted[a->given.left_time] = true;
  for (size_t i = 0; i < a->given.nkeys; i++)
    wanted[a->given.left_keys[i]] = true;
  pf_stage_want(self, wanted);
}


static void asof_close (pf_reader *self) {
  asof_reader *const a = (asof_reader *)(void *)self;
  pf_batch_close(&a->batch);
  pf_keys_close(a->keys);
  pf_dictionary_free(a->texts);
  for (size_t i = 0; i < 3; i++)
    free(a->copies[i]);
  free(a->projected);
  free(a->groups);
  free(a->cells);
  free(a->names);
  free(a->fields);
  free(a);
}


/* A copy of an array of columns, or NULL. */
static size_t *copy_of (const size_t *columns, size_t count) {
  size_t *const copy = calloc(count + 1, sizeof *copy);
  if (copy != NULL && count > 0)
    memcpy(copy, columns, count * sizeof *copy);
  return copy;
}


/* The fields of the right input; one whose name the left has gets "_right". */
static bool set_fields (asof_reader *a) {
  const pf_reader *const right = a->given.right;
  const size_t known = a->reader.input->nfields;
  size_t size = 1;
  for (size_t i = 0; i < a->given.count; i++)
    size += strlen(right->fields[a->given.columns[i]].name) + sizeof "_right";
  a->names = malloc(size);
  a->fields = pf_stage_fields(&a->reader, a->given.count);
  if (a->names == NULL || a->fields == NULL)
    return false;
  char *at = a->names;
  for (size_t i = 0; i < a->given.count; i++) {
    pf_field *const field = &a->fields[known + i];
    *field = right->fields[a->given.columns[i]];
    const size_t length = strlen(field->name);
    const bool is_known =
        pf_field_index(a->fields, known + i, field->name) < known + i;
    memcpy(at, field->name, length + 1);
    if (is_known)
      memcpy(at + length, "_right", sizeof "_right");
    field->name = at;
    if (pf_is_file(field))
      field->help = NULL;
    at += strlen(at) + 1;
  }
  return true;
}


/* Whether the keys fit each other; opens them. */
static pf_status set_keys (asof_reader *a, pf_error *error) {
  pf_key keys[PF_MAX_KEYS];
  for (size_t i = 0; i < a->given.nkeys; i++) {
    const pf_field *const mine =
        &a->reader.input->fields[a->given.left_keys[i]];
    const pf_type other = a->given.right->fields[a->given.right_keys[i]].type;
    if (mine->type != other)
      return pf_refuse(error, "column \"%s\" is of two types: %s and %s",
                       mine->name, pf_type_name(mine->type),
                       pf_type_name(other));
    keys[i] = (pf_key){.column = i};
  }
  return pf_keys_open(keys, a->given.nkeys, &a->keys) == PF_OK
             ? PF_OK
             : pf_no_memory(error);
}


pf_status pf_asof_open (pf_reader *left, const pf_asof *given,
                        pf_reader **reader, pf_error *error) {
  asof_reader *const a = pf_stage_new(sizeof *a, left, asof_next, error);
  if (a == NULL)
    return PF_ENOMEM;
  a->reader.want = asof_want;
  a->reader.close = asof_close;
  a->given = *given;
  a->given.columns = a->copies[0] = copy_of(given->columns, given->count);
  a->given.left_keys = a->copies[1] = copy_of(given->left_keys, given->nkeys);
  a->given.right_keys = a->copies[2] = copy_of(given->right_keys, given->nkeys);
  a->projected = calloc(given->nkeys + 1, sizeof *a->projected);
  a->groups = malloc(PF_BATCH_ROWS * sizeof *a->groups);
  a->texts = pf_dictionary_new();
  const bool has_memory = a->given.columns != NULL &&
                          a->given.left_keys != NULL &&
                          a->given.right_keys != NULL && a->projected != NULL &&
                          a->groups != NULL && a->texts != NULL;
  const pf_status status =
      has_memory && set_fields(a) ? set_keys(a, error) : pf_no_memory(error);
  return pf_reader_opened(&a->reader, status, reader);
}
