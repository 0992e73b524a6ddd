/*
** br_columns.h - what br_open.c and the readers share.
*/

#ifndef br_columns_h
#define br_columns_h

#include "formats/br/br.h"

/* The state of an opened trace. */
typedef struct br_file {
  br_interpretation interp;
  pf_charset charset; /* of its names */
  pf_table tables[3];
} br_file;

/* Whether a column is to be filled. */
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

/* A value that is not there reads as 0. */
static inline void br_put_missing (pf_batch *batch, size_t column, size_t row) {
  pf_column *const c = &batch->columns[column];
  if (c->data == NULL)
    return;
  memset((uint8_t *)c->data + row * pf_type_size(c->type), 0,
         pf_type_size(c->type));
  pf_set_missing(c, row);
}

#endif
