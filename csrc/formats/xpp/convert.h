/*
** convert.h - values of a trace's fields, of whatever type, as those of the
** columns of table entries.
*/

#ifndef convert_h
#define convert_h

#include "formats/xpp/rows.h"

/* Whole numbers times `scale`: digits, integers, doubles. Others, and what
   does not fit, are missing; *bad counts those that are no number, and
   *first_bad is the row of the first. `wraps`: negative ones are those of an
   unsigned 32-bit number. */
typedef struct xpp_numbers {
  int64_t scale;
  bool wraps;
  size_t bad, first_bad;
} xpp_numbers;
void xpp_convert_numbers (xpp_numbers *numbers, const pf_column *from,
                          pf_column *to, size_t rows);

/* Texts without the blanks around them, as names. PF_OK or PF_ENOMEM. */
pf_status xpp_convert_names (pf_dictionary *dictionary, const pf_column *from,
                             pf_column *to, size_t rows);

#endif
