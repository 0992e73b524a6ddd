/*
** flags.h - sets of flags and their names in columns: gap, lost, open, orphan,
** run, unwound. A set is a sum of PF_FLAG_...; its name lists them in
** alphabetical order, separated by blanks. Used by unfilter and refilter.
*/

#ifndef flags_h
#define flags_h

#include "model/dictionary/names.h"

enum {
  PF_FLAG_GAP = 1,
  PF_FLAG_LOST = 2,
  PF_FLAG_OPEN = 4,
  PF_FLAG_ORPHAN = 8,
  PF_FLAG_RUN = 16, /* of a row: it begins another run */
  PF_FLAG_UNWOUND = 32,
  PF_FLAG_SETS = 64
};

/* Set names[set] to the id of the name of each set; false when out of
   memory. */
bool pf_flag_names (pf_dictionary *dictionary, uint32_t names[PF_FLAG_SETS]);

/* The set of flags named in a text. */
unsigned pf_flags_in (pf_bytes text);

/* The id of a name with the words of two names, each in alphabetical order;
   words beyond 127 bytes are dropped. PF_NO_NAME when out of memory. */
uint32_t pf_flags_merge (pf_dictionary *dictionary, uint32_t left,
                         uint32_t right);

#endif
