/*
** store.c - growing columns in memory, and a reader of them.
*/

#include <string.h>

#include "model/base/memory.h"
#include "model/dictionary/names.h"
#include "model/rows/store.h"
#include "model/rows/table_reader.h"


pf_status pf_store_open (pf_store *store, const pf_field *fields,
                         size_t nfields, pf_dictionary *dictionary) {
  *store = (pf_store){fields, nfields, dictionary, NULL, 0, 0};
  store->columns = calloc(nfields == 0 ? 1 : nfields, sizeof(pf_column));
  if (store->columns == NULL)
    return PF_ENOMEM;
  for (size_t i = 0; i < nfields; i++)
    store->columns[i].type = fields[i].type;
  return PF_OK;
}


void pf_store_close (pf_store *store) {
  if (store->columns == NULL)
    return;
  for (size_t i = 0; i < store->nfields; i++) {
    free(store->columns[i].data);
    free(store->columns[i].missing);
  }
  free(store->columns);
  *store = (pf_store){NULL, 0, NULL, NULL, 0, 0};
}


pf_status pf_store_reserve (pf_store *store, size_t rows) {
  if (rows <= store->capacity - store->rows)
    return PF_OK;
  size_t capacity = store->capacity == 0 ? 64 : store->capacity;
  while (capacity - store->rows < rows)
    if (capacity > SIZE_MAX / 64)
      return PF_ENOMEM;
    else
      capacity *= 2;
  for (size_t i = 0; i < store->nfields; i++) {
    pf_column *const column = &store->columns[i];
    if (!pf_widen_array(&column->data, store->capacity, capacity,
                        pf_type_size(column->type)) ||
        !pf_widen(&column->missing, store->capacity / 64, capacity / 64))
      return PF_ENOMEM;
  }
  store->capacity = capacity;
  return PF_OK;
}


pf_status pf_store_add (pf_store *store, size_t *row) {
  const pf_status status = pf_store_reserve(store, 1);
  if (status == PF_OK)
    *row = store->rows++;
  return status;
}


void pf_store_set_missing (pf_store *store, size_t column, size_t row) {
  store->columns[column].has_missing = true;
  store->columns[column].missing[row >> 6] |= (uint64_t)1 << (row & 63);
}


pf_status pf_store_append (pf_store *store, const pf_batch *batch) {
  if (batch->rows == 0)
    return PF_OK;
  if (pf_store_reserve(store, batch->rows) != PF_OK)
    return PF_ENOMEM;
  for (size_t i = 0; i < store->nfields; i++) {
    const pf_column *const from = &batch->columns[i];
    if (from->data == NULL)
      continue;
    const size_t size = pf_type_size(from->type);
    memcpy((uint8_t *)store->columns[i].data + store->rows * size, from->data,
           batch->rows * size);
    for (size_t r = 0; from->has_missing && r < batch->rows; r++)
      if (pf_is_missing(from, r))
        pf_store_set_missing(store, i, store->rows + r);
  }
  store->rows += batch->rows;
  return PF_OK;
}


pf_status pf_store_append_copies (pf_store *store, pf_dictionary *texts,
                                  const pf_batch *batch) {
  for (size_t c = 0; c < batch->ncolumns; c++) {
    const pf_column *const column = &batch->columns[c];
    if (column->type != PF_BYTES || column->data == NULL)
      continue;
    for (size_t i = 0; i < batch->rows; i++) {
      if (pf_is_missing(column, i)) {
        column->bytes[i] = (pf_bytes){NULL, 0};
        continue;
      }
      const uint32_t number = pf_intern(texts, column->bytes[i]);
      if (number == PF_NO_NAME)
        return PF_ENOMEM;
      column->bytes[i] = pf_name(texts, number);
    }
  }
  return pf_store_append(store, batch);
}


typedef struct store_reader {
  pf_reader reader;
  const pf_store *store;
  const size_t *order;
  size_t count, at;
} store_reader;


/* Copies the values of the next `count` rows in the order of the reader. */
static void copy_column (const store_reader *r, const pf_column *from,
                         pf_column *to, size_t count) {
  const size_t size = pf_type_size(from->type);
  const uint8_t *const data = from->data;
  if (r->order == NULL)
    memcpy(to->data, data + r->at * size, count * size);
  else
    for (size_t i = 0; i < count; i++)
      memcpy((uint8_t *)to->data + i * size, data + r->order[r->at + i] * size,
             size);
  for (size_t i = 0; from->has_missing && i < count; i++) {
    const size_t row = r->order == NULL ? r->at + i : r->order[r->at + i];
    if (pf_is_missing(from, row))
      pf_set_missing(to, i);
  }
}


static pf_status store_next (pf_reader *self, pf_batch *batch,
                             pf_error *error) {
  store_reader *const r = (store_reader *)(void *)self;
  (void)error;
  pf_batch_clear(batch);
  size_t count = r->count - r->at;
  if (count == 0)
    return PF_END;
  if (count > PF_BATCH_ROWS)
    count = PF_BATCH_ROWS;
  for (size_t i = 0; i < r->store->nfields; i++)
    if (batch->columns[i].data != NULL)
      copy_column(r, &r->store->columns[i], &batch->columns[i], count);
  batch->rows = count;
  r->at += count;
  return PF_MORE;
}


static pf_status store_seek (pf_reader *self, uint64_t row, pf_error *error) {
  store_reader *const r = (store_reader *)(void *)self;
  (void)error;
  r->at = row < r->count ? (size_t)row : r->count;
  return PF_OK;
}


static const pf_abilities store_abilities = {.seek = store_seek};


pf_status pf_store_reader (const pf_store *store, const size_t *order,
                           size_t count, pf_reader **reader, pf_error *error) {
  store_reader *const r = pf_reader_of(sizeof *r, store->fields, store->nfields,
                                       store->dictionary, store_next, error);
  if (r == NULL)
    return PF_ENOMEM;
  r->reader.can = &store_abilities;
  r->store = store;
  r->order = order;
  r->count = order == NULL ? store->rows : count;
  *reader = &r->reader;
  return PF_OK;
}
