/*
** keys.h - which group a row belongs to. Groups are numbered from 0 in the
** order of first sight. A missing value is a value of its own.
*/

#ifndef keys_h
#define keys_h

#include "model/store.h"

#define PF_MAX_KEYS 64

/* A key that is made of a row by somebody else. The maker gives each value a
   number (equal values the same one) and turns numbers back into values. */
typedef struct pf_maker {
  void *context;         /* borrowed */
  const size_t *columns; /* what it looks at; borrowed */
  size_t ncolumns;
  pf_status (*make)(void *context, const pf_batch *batch, uint64_t *words,
                    bool *missing, pf_error *error);
  pf_status (*put)(void *context, uint64_t word, pf_column *column, size_t row,
                   pf_error *error);
} pf_maker;

typedef struct pf_key {
  const char *name; /* of the result column */
  size_t column;    /* when there is no maker */

  /* Above 0: the value is rounded down to a multiple of it. The first is for
     int and addr columns, the second for num columns. */
  int64_t bucket;
  double bucket_num;

  /* Of int columns: the value is rounded down to a power of two, or to 0, or
     to minus a power of two. */
  bool octave;

  const pf_maker *maker; /* borrowed; NULL: the key is a column */
} pf_key;

typedef struct pf_keys pf_keys;

/* Keys over the columns of batches; at most PF_MAX_KEYS. */
pf_status pf_keys_open (const pf_key *keys, size_t nkeys, pf_keys **made);

/* Set groups[i] to the group of row i. Without keys all rows are group 0. */
pf_status pf_keys_find (pf_keys *keys, const pf_batch *batch, uint32_t *groups,
                        pf_error *error);

/* How many groups there are. Without keys 1, even when there are no rows. */
size_t pf_keys_count (const pf_keys *keys);

/* Whether rows of these fields may be numbered apart, and the groups put
   together: no key is made by somebody else, and none is of bytes. */
bool pf_keys_split (const pf_keys *keys, const pf_field *fields);

/* Begin again with the same keys. PF_OK or PF_ENOMEM. */
pf_status pf_keys_like (const pf_keys *keys, pf_keys **made);

/* Take the groups of rows that follow: groups[i] becomes the number here of
   group i there. PF_OK or PF_ENOMEM. */
pf_status pf_keys_merge (pf_keys *keys, const pf_keys *more, uint32_t *groups);

/* Write the keys of all groups into the first columns of the store's rows
   0..count-1. Texts lie in the keys: they must outlive the store. */
pf_status pf_keys_finish (const pf_keys *keys, pf_store *store,
                          pf_error *error);

void pf_keys_close (pf_keys *keys);

#endif
