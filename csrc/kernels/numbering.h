/*
** numbering.h - numbers for 64-bit words, from 0 in the order of first sight.
** The one hash table of group: a key column numbers its values, and two
** columns of numbers are numbered again as pairs.
*/

#ifndef numbering_h
#define numbering_h

#include "profio.h"

#define PF_UNNUMBERED UINT32_MAX

typedef struct pf_numbering {
  uint64_t *words; /* by number */
  uint32_t count, room;
  uint32_t missing; /* the number of "no value", or PF_UNNUMBERED */
  struct pf_number_slot {
    uint64_t word;
    uint32_t number; /* + 1, or 0: free */
  } * slots;
  size_t mask;
  unsigned shift;      /* from a hash to a slot: its top bits */
  uint64_t multiplier; /* not to be known from outside: no file can be made
                          of collisions */
  uint32_t *direct;    /* small words to numbers, or PF_UNNUMBERED */
  uint32_t ndirect;
} pf_numbering;

/* Ready for use; nothing is allocated. */
void pf_numbering_init (pf_numbering *numbering);

/* Set numbers[i] to the number of words[i]. All of these answer PF_OK or
   PF_ENOMEM. */
pf_status pf_number_words (pf_numbering *numbering, const uint64_t *words,
                           size_t count, uint32_t *numbers);

/* The same for small words, through a plain array. */
pf_status pf_number_ids (pf_numbering *numbering, const uint32_t *ids,
                         size_t count, uint32_t *numbers);

/* The same where words of which missing[i] is set are "no value". */
pf_status pf_number_present (pf_numbering *numbering, const uint64_t *words,
                             const bool *missing, size_t count,
                             uint32_t *numbers);

void pf_numbering_free (pf_numbering *numbering);

#endif
