/*
** columns.h - the state of an opened br trace, and functions of the readers
** that set values of columns (of unwanted columns they ignore them).
*/

#ifndef columns_h
#define columns_h

#include "formats/br/br.h"

/* The state of an opened trace (trace->state), freed by `close` of
   open_br.c. */
typedef struct br_file {
  br_interpretation interp;
  pf_charset charset; /* of names */
  pf_table tables[3];
} br_file;

/* Returns true if a column is wanted. */
static inline bool br_wanted (const pf_batch *batch, size_t column) {
  return batch->columns[column].data != NULL;
}

static inline void br_put_int (pf_batch *batch, size_t column, size_t row,
                               int64_t value) {
  if (br_wanted(batch, column))
    batch->columns[column].ints[row] = value;
}

static inline void br_put_id (pf_batch *batch, size_t column, size_t row,
                              uint32_t id) {
  if (br_wanted(batch, column))
    batch->columns[column].ids[row] = id;
}

/* Sets a value to missing, and to 0. */
static inline void br_put_missing (pf_batch *batch, size_t column, size_t row) {
  pf_column *const c = &batch->columns[column];
  if (c->data == NULL)
    return;
  memset((uint8_t *)c->data + row * pf_type_size(c->type), 0,
         pf_type_size(c->type));
  pf_set_missing(c, row);
}

/* Sets a value, which is missing unless `is_there`. */
static inline void br_put_int_if (pf_batch *batch, size_t column, size_t row,
                                  bool is_there, int64_t value) {
  if (is_there)
    br_put_int(batch, column, row, value);
  else
    br_put_missing(batch, column, row);
}

#endif
