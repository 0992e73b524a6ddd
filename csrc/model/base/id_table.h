/*
** id_table.h - dictionary encoding: assigns ids to 64-bit words, dense from 0
** in the order of first occurrence, by an intern table over an array of the
** words. Used in all layers from model on, such as for keys of groups, lanes
** and slots. Order of calls: init, encode as often as needed, free. The caller
** owns the struct; pf_id_table_free frees its arrays.
*/

#ifndef id_table_h
#define id_table_h

#include "model/base/intern_table.h"

#define PF_NO_ID UINT32_MAX

typedef struct pf_id_table {
  uint64_t *words; /* by id */
  size_t capacity;
  uint32_t count;
  uint32_t missing;      /* the id of "no value", or PF_NO_ID */
  pf_intern_table known; /* index of `words`; its seed is odd */
  uint32_t *direct;      /* by small word: its id, or PF_NO_ID */
  uint32_t ndirect;      /* 0 or a power of two */
} pf_id_table;

/* Initialise a table; nothing is allocated. */
void pf_id_table_init (pf_id_table *table);

/* Set ids[i] to the id of words[i]; new words get the next id. This function
   and the next two return PF_OK or PF_ENOMEM, also for more than 2^31 words. */
pf_status pf_id_table_words (pf_id_table *table, const uint64_t *words,
                             size_t count, uint32_t *ids);

/* As pf_id_table_words for mostly small words, which are looked up in an
   array. */
pf_status pf_id_table_small (pf_id_table *table, const uint32_t *values,
                             size_t count, uint32_t *ids);

/* As pf_id_table_words; a word with missing[i] is "no value", which has an id
   of its own. `missing` NULL: all have values. */
pf_status pf_id_table_nullable (pf_id_table *table, const uint64_t *words,
                                const bool *missing, size_t count,
                                uint32_t *ids);

/* The id of a word, or PF_NO_ID if it has none; it is not added. */
uint32_t pf_id_table_find (const pf_id_table *table, uint64_t word);

void pf_id_table_free (pf_id_table *table);

#endif
