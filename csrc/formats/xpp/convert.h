/*
** convert.h - converts values of a trace's fields, whatever their type, to
** the columns of table entries. Used by entries_xpp.c.
*/

#ifndef convert_h
#define convert_h

#include "formats/xpp/parser/fill_rows.h"

/* Converts a column of integers, digits or doubles (rounded to the nearest
   integer) to int64 in profio's units: ns for times. Values that are not
   numbers or do not fit are missing; `bad` counts them, and `first_bad` is the
   row of the first. `wraps`: negative numbers are unsigned numbers of 32
   bits. */
typedef struct xpp_numbers {
  xpp_role role;
  bool wraps;
  size_t bad, first_bad;
} xpp_numbers;
void xpp_convert_numbers (xpp_numbers *numbers, const pf_column *from,
                          pf_column *to, size_t rows);

/* Returns true if the field of a role is decimal text with a fraction. The
   other tables have it as a double, which would not be exact here. */
bool xpp_is_decimal (const xpp_file *file, xpp_role role);

/* Converts such a field directly from the records of the current batch. PF_OK,
   or what pf_warn returned. */
pf_status xpp_convert_decimals (xpp_rows *rows, xpp_role role, pf_column *to,
                                pf_error *error);

/* Converts texts to names, without the blanks around them. PF_OK or
   PF_ENOMEM. */
pf_status xpp_convert_names (pf_dictionary *dictionary, const pf_column *from,
                             pf_column *to, size_t rows);

#endif
