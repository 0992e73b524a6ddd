/*
** keys.h - assigns each row to a group by its key columns: group ids are dense
** from 0, in the order of first occurrence. A missing value is a value of its
** own. Used by group.c: open, find for each batch, finish, close; group.c also
** clones the keys for chunks and merges them. The keys own their id tables and
** texts until pf_keys_close. Definitions of keys are copied, but not their
** names, which are not used; computed keys are borrowed until pf_keys_close.
*/

#ifndef keys_h
#define keys_h

#include "model/rows/store.h"

#define PF_MAX_KEYS 64

/* A key that callbacks compute from other columns. `compute` writes a word for
   each row of the batch, equal for equal values, or marks it as missing; `put`
   writes the value of a word into a column of the result. */
typedef struct pf_computed_key {
  void *context;         /* borrowed */
  const size_t *columns; /* that `compute` reads; borrowed */
  size_t ncolumns;
  pf_status (*compute)(void *context, const pf_batch *batch, uint64_t *words,
                       bool *missing, pf_error *error);
  pf_status (*put)(void *context, uint64_t word, pf_column *column, size_t row,
                   pf_error *error);
} pf_computed_key;

typedef struct pf_key {
  const char *name; /* of the result column */
  size_t column;    /* unless the key is computed */

  /* Above 0: values are rounded down to a multiple of it; `bucket` for int,
     addr and handle columns, `bucket_num` for num columns. */
  int64_t bucket;
  double bucket_num;

  /* For int columns: values are rounded down to a power of two, 0, or minus a
     power of two. */
  bool octave;

  const pf_computed_key *computed; /* borrowed; NULL: the key is a column */
} pf_key;

typedef struct pf_keys pf_keys;

/* Open keys over the columns of batches; nkeys <= PF_MAX_KEYS. PF_ENOMEM. */
pf_status pf_keys_open (const pf_key *keys, size_t nkeys, pf_keys **made);

/* Set groups[i] to the group of row i; without keys to 0. `groups` has room for
   the rows of the batch. PF_ENOMEM, or the failure of a computed key. */
pf_status pf_keys_find (pf_keys *keys, const pf_batch *batch, uint32_t *groups,
                        pf_error *error);

/* The number of groups; without keys 1, even when there are no rows. */
size_t pf_keys_count (const pf_keys *keys);

/* Whether chunks of a table with these fields can have keys of their own that
   are merged later: no key is computed, and none is of type PF_BYTES. */
bool pf_keys_are_mergeable (const pf_keys *keys, const pf_field *fields);

/* Open keys with the same definitions and no groups. PF_ENOMEM. */
pf_status pf_keys_clone (const pf_keys *keys, pf_keys **made);

/* Add the groups of a later chunk: groups[i] becomes the id in `keys` of group
   i of `more`. PF_ENOMEM. */
pf_status pf_keys_merge (pf_keys *keys, const pf_keys *more, uint32_t *groups);

/* Write the keys of all groups into the first columns of the store's rows
   0..count-1. Texts are borrowed from the keys, which must outlive the store.
   PF_OK, or the failure of a computed key. */
pf_status pf_keys_finish (const pf_keys *keys, pf_store *store,
                          pf_error *error);

void pf_keys_close (pf_keys *keys);

#endif
