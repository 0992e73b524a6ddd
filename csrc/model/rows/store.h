/*
** store.h - rows in memory, stored by column: the results of sorts, formulas,
** reports and arrays of Lua. The columns grow by doubling.
**
** Used by kernels/stages, group, statistics, explain and spans, and by
** lua/stages/array_reader.c. Order of calls: open, add or append, reader,
** close. The store owns its columns and borrows fields and dictionary, which
** must outlive it. Functions with a status return PF_OK or PF_ENOMEM.
*/

#ifndef store_h
#define store_h

#include "model/rows/batch.h"

typedef struct pf_store {
  const pf_field *fields; /* borrowed */
  size_t nfields;
  pf_dictionary *dictionary; /* borrowed */
  pf_column *columns;        /* of `capacity` rows; all have missing bitmaps */
  size_t rows, capacity;
} pf_store;

pf_status pf_store_open (pf_store *store, const pf_field *fields,
                         size_t nfields, pf_dictionary *dictionary);
void pf_store_close (pf_store *store);

/* Reserve capacity for `rows` more rows, whose values are zero and not
   missing. */
pf_status pf_store_reserve (pf_store *store, size_t rows);

/* Append one row of zeros and set *row to its index. The caller writes the
   values to columns[i].ints[*row] etc. and marks those that are missing. */
pf_status pf_store_add (pf_store *store, size_t *row);

/* Mark a value as missing. */
void pf_store_set_missing (pf_store *store, size_t column, size_t row);

/* Append all rows of a batch of the same schema. Values of columns without
   memory become zero and are not marked as missing. Values of PF_BYTES still
   point into the source, which must outlive the store. */
pf_status pf_store_append (pf_store *store, const pf_batch *batch);

/* The same for rows whose bytes the source keeps only until its next `next`:
   copies them into `texts`, which must outlive the store, and lets the batch
   point to the copies. */
pf_status pf_store_append_copies (pf_store *store, pf_dictionary *texts,
                                  const pf_batch *batch);

/*
** Open a reader of the rows, which the caller closes. It borrows the store and
** `order`: the `count` row indices to read, in this order (NULL: all rows).
*/
pf_status pf_store_reader (const pf_store *store, const size_t *order,
                           size_t count, pf_reader **reader, pf_error *error);

#endif
