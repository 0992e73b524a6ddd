/*
** flags.h - the words of columns of flags: gap, lost, open, orphan, run,
** unwound. A set of them is a sum; as a name they stand in alphabetical order.
*/

#ifndef flags_h
#define flags_h

#include "model/names.h"

enum {
  PF_FLAG_GAP = 1,
  PF_FLAG_LOST = 2,
  PF_FLAG_OPEN = 4,
  PF_FLAG_ORPHAN = 8,
  PF_FLAG_RUN = 16, /* of a row: another run begins with it */
  PF_FLAG_UNWOUND = 32,
  PF_FLAG_SETS = 64
};

/* Set names[set] to the number of each set's words; false when out of
   memory. */
bool pf_flag_names (pf_dictionary *dictionary, uint32_t names[PF_FLAG_SETS]);

/* Which of our words a text of words has. */
unsigned pf_flags_in (pf_bytes text);

/* The number of the words of two names, each in order; PF_NO_NAME when out of
   memory. */
uint32_t pf_flags_merge (pf_dictionary *dictionary, uint32_t left,
                         uint32_t right);

#endif
