/*
** flags.h - sets of flags and their names in columns: gap, lost, open, orphan,
** run, unwound. A set is a sum of XPP_FLAG_...; its name lists them in
** alphabetical order, separated by blanks. Used by unfilter and refilter.
** Nothing is allocated but names in the dictionary.
*/

#ifndef flags_h
#define flags_h

#include "model/dictionary/names.h"

enum {
  XPP_FLAG_GAP = 1,
  XPP_FLAG_LOST = 2,
  XPP_FLAG_OPEN = 4,
  XPP_FLAG_ORPHAN = 8,
  XPP_FLAG_RUN = 16, /* of a row: it begins another run */
  XPP_FLAG_UNWOUND = 32,
  XPP_FLAG_SETS = 64
};

/* Set names[set] to the id of the name of each set; false when out of
   memory. */
bool xpp_flag_names (pf_dictionary *dictionary, uint32_t names[XPP_FLAG_SETS]);

/* The set of flags named in a text. */
unsigned xpp_flags_in (pf_bytes text);

/* The id of a name with the words of two names, each in alphabetical order;
   words beyond 127 bytes are dropped. PF_NO_NAME when out of memory. */
uint32_t xpp_flags_merge (pf_dictionary *dictionary, uint32_t left,
                          uint32_t right);

#endif
