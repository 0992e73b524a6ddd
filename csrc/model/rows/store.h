/*
** store.h - rows in memory, by column, as the results of groups, sorts and
** reports. The columns grow by doubling. Order of calls: open, add or append,
** reader, close.
*/

#ifndef store_h
#define store_h

#include "model/rows/batch.h"

typedef struct pf_store {
  const pf_field *fields; /* borrowed: as long as the store lives */
  size_t nfields;
  pf_dictionary *dictionary;
  pf_column *columns; /* data of `capacity` values each; missing bitmaps too */
  size_t rows, capacity;
} pf_store;

pf_status pf_store_open (pf_store *store, const pf_field *fields,
                         size_t nfields, pf_dictionary *dictionary);
void pf_store_close (pf_store *store);

/* Reserve capacity for `rows` more rows, whose values are zero and not
   missing. */
pf_status pf_store_reserve (pf_store *store, size_t rows);

/* Append one row of zeros; set its values through columns[i].ints[row]...
   `row` is its number. Mark missing values with pf_store_set_missing. */
pf_status pf_store_add (pf_store *store, size_t *row);

/* Mark a value as missing. */
void pf_store_set_missing (pf_store *store, size_t column, size_t row);

/* Append all rows of a batch of the same schema (unwanted columns: zero).
   PF_BYTES are kept as slices: the source must outlive the store. */
pf_status pf_store_append (pf_store *store, const pf_batch *batch);

/*
** A reader over the rows. `order` (may be NULL) gives the row numbers in the
** order to read them, `count` of them; it is borrowed like the store.
*/
pf_status pf_store_reader (const pf_store *store, const size_t *order,
                           size_t count, pf_reader **reader, pf_error *error);

#endif
