/*
** fields.h - finds the fields of a trace and the role of each. open_xpp.c
** calls xpp_find_fields, xpp_find_segments (items.h) and xpp_find_roles in this
** order.
*/

#ifndef fields_h
#define fields_h

#include "formats/xpp/xpp.h"

/*
** Sets file->fields, nfields, is_text, and for text the separator, the code
** page and has_names, for a table file->dbf. Returns PF_EFORMAT if the trace
** contains neither a table nor rows of text.
*/
pf_status xpp_find_fields (pf_trace *trace, xpp_file *file, pf_error *error);

/* Sets file->roles by the names of the fields and by the values of the first
   rows, or as the option map says; also file->is_unfiltered, and
   file->op_offset if each of these rows has an operation. Needs the segments. */
pf_status xpp_find_roles (pf_trace *trace, xpp_file *file, pf_error *error);

/* raw_xpp.c: table structure, a row for each field. */
extern const pf_table xpp_structure_table;

/* detect_xpp.c: the confidence, 0 to 100, that a file of `size` bytes which
   begins with `head` is a trace as text, or as a table. */
int xpp_text_score (pf_bytes head, uint64_t size);
int xpp_table_score (pf_bytes head, uint64_t size);

#endif
