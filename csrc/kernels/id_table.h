/*
** id_table.h - numbers for 64-bit words, from 0 in the order of first sight.
** The one hash table of group: a key column numbers its values, and two
** columns of numbers are numbered again as pairs.
*/

#ifndef id_table_h
#define id_table_h

#include "profio.h"

#define PF_NO_ID UINT32_MAX

typedef struct pf_id_table {
  uint64_t *words; /* by number */
  uint32_t count, room;
  uint32_t missing; /* the number of "no value", or PF_NO_ID */
  struct pf_id_slot {
    uint64_t word;
    uint32_t number; /* + 1, or 0: free */
  } * slots;
  size_t mask;
  unsigned shift;      /* from a hash to a slot: its top bits */
  uint64_t multiplier; /* not to be known from outside: no file can be made
                          of collisions */
  uint32_t *direct;    /* small words to numbers, or PF_NO_ID */
  uint32_t ndirect;
} pf_id_table;

/* Ready for use; nothing is allocated. */
void pf_id_table_init (pf_id_table *numbering);

/* Set numbers[i] to the number of words[i]. All of these answer PF_OK or
   PF_ENOMEM. */
pf_status pf_id_table_words (pf_id_table *numbering, const uint64_t *words,
                             size_t count, uint32_t *numbers);

/* The same for small words, through a plain array. */
pf_status pf_id_table_small (pf_id_table *numbering, const uint32_t *ids,
                             size_t count, uint32_t *numbers);

/* The same where words of which missing[i] is set are "no value". */
pf_status pf_id_table_nullable (pf_id_table *numbering, const uint64_t *words,
                                const bool *missing, size_t count,
                                uint32_t *numbers);

void pf_id_table_free (pf_id_table *numbering);

#endif
