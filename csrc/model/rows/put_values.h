/*
** put_values.h - puts values into the columns of a batch. Nothing is put into a
** column that is not wanted. If a value is missing (`has` is false, or an id is
** UINT32_MAX), the row is marked as missing.
**
** Used by readers in formats and kernels. Only pf_put_text allocates, a name.
** The column has memory for the row; the bytes of pf_put_bytes are borrowed.
*/

#ifndef put_values_h
#define put_values_h

#include <string.h>

#include "model/dictionary/names.h"
#include "model/rows/batch.h"

static inline void pf_put_int (pf_column *column, size_t row, int64_t value,
                               bool has) {
  if (column->data == NULL)
    return;
  column->ints[row] = value;
  if (!has)
    pf_set_missing(column, row);
}

static inline void pf_put_num (pf_column *column, size_t row, double value,
                               bool has) {
  if (column->data == NULL)
    return;
  column->nums[row] = value;
  if (!has)
    pf_set_missing(column, row);
}

static inline void pf_put_addr (pf_column *column, size_t row, uint64_t value,
                                bool has) {
  if (column->data == NULL)
    return;
  column->addrs[row] = value;
  if (!has)
    pf_set_missing(column, row);
}

static inline void pf_put_bool (pf_column *column, size_t row, bool value,
                                bool has) {
  if (column->data == NULL)
    return;
  column->bools[row] = value;
  if (!has)
    pf_set_missing(column, row);
}

static inline void pf_put_bytes (pf_column *column, size_t row, pf_bytes value,
                                 bool has) {
  if (column->data == NULL)
    return;
  column->bytes[row] = value;
  if (!has)
    pf_set_missing(column, row);
}

/* The id of a name, an area or a stack. */
static inline void pf_put_id (pf_column *column, size_t row, uint32_t id) {
  if (column->data == NULL)
    return;
  column->ids[row] = id;
  if (id == UINT32_MAX)
    pf_set_missing(column, row);
}

/* The id of a text, which is added to the dictionary if the column is wanted
   and `has` is true. False when out of memory. */
static inline bool pf_put_text (pf_dictionary *dictionary, pf_column *column,
                                size_t row, pf_bytes text, bool has) {
  if (column->data == NULL)
    return true;
  pf_put_id(column, row, has ? pf_intern(dictionary, text) : PF_NO_NAME);
  return !has || column->ids[row] != PF_NO_NAME;
}

/* Copy `count` values from row `first` of a column of the same type into the
   first rows. If that column is not wanted, all are missing. */
static inline void pf_put_values (pf_column *column, const pf_column *from,
                                  size_t first, size_t count) {
  if (column->data == NULL)
    return;
  const size_t size = pf_type_size(column->type);
  if (from->data != NULL)
    memcpy(column->data, (const uint8_t *)from->data + first * size,
           count * size);
  for (size_t row = 0; row < count; row++)
    if (from->data == NULL || pf_is_missing(from, first + row))
      pf_set_missing(column, row);
}

/* Mark `count` rows from row `first` on as missing, with the value 0. */
static inline void pf_put_none (pf_column *column, size_t first, size_t count) {
  if (column->data == NULL)
    return;
  const size_t size = pf_type_size(column->type);
  memset((uint8_t *)column->data + first * size, 0, count * size);
  for (size_t row = first; row < first + count;) {
    const bool has_word = (row & 63) == 0 && first + count - row >= 64;
    pf_set_missing(column, row);
    if (has_word)
      column->missing[row >> 6] = UINT64_MAX;
    row += has_word ? 64 : 1;
  }
}

#endif
