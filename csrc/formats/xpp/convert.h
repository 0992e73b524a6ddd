/*
** convert.h - converts numbers of a trace's fields, whatever their type, to the
** columns of table entries. Used by entries_xpp.c.
*/

#ifndef convert_h
#define convert_h

#include "formats/xpp/parser/fill_rows.h"

/* Returns true if the field of a role is decimal text with a fraction. The
   other tables have it as a double, which would not be exact here, so it is
   converted directly from the records. */
bool xpp_is_decimal (const xpp_file *file, xpp_role role);

/* Fills a column of int64 for the rows of the current batch from the field of a
   role, in profio's units: ns for times. Numbers are rounded to the nearest
   integer. Values that are not numbers or do not fit are missing, with a
   warning; without a field all are. Returns PF_OK or what pf_warn returned. */
pf_status xpp_fill_numbers (xpp_rows *rows, xpp_role role, pf_column *column,
                            pf_error *error);

#endif
