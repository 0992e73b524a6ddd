/*
** xpp_convert.h - values of a trace's fields, of whatever type, as those of the
** columns of table entries.
*/

#ifndef xpp_convert_h
#define xpp_convert_h

#include "formats/xpp/xpp_rows.h"

/* Numbers of a role in profio's units: digits, integers, doubles as the nearest
   whole numbers. Others, and those that do not fit, are missing; `bad` counts
   these, and `first_bad` is the row of the first. `wraps`: negative ones are
   those of an unsigned 32-bit number. */
typedef struct xpp_numbers {
  xpp_role role;
  bool wraps;
  size_t bad, first_bad;
} xpp_numbers;
void xpp_convert_numbers (xpp_numbers *numbers, const pf_column *from,
                          pf_column *to, size_t rows);

/* Whether the field of a role is decimal text with a fraction: as a double,
   which it is in the other tables, it would not be exact. */
bool xpp_is_decimal (const xpp_file *file, xpp_role role);

/* The same of such a field, out of the records of the rows at hand: PF_OK, or
   what a warning answers. */
pf_status xpp_convert_decimals (xpp_rows *rows, xpp_role role, pf_column *to,
                                pf_error *error);

/* Texts without the blanks around them, as names. PF_OK or PF_ENOMEM. */
pf_status xpp_convert_names (pf_dictionary *dictionary, const pf_column *from,
                             pf_column *to, size_t rows);

#endif
