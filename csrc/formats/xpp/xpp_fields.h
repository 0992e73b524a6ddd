/*
** xpp_fields.h - the fields that a trace has, and what each of them says.
*/

#ifndef xpp_fields_h
#define xpp_fields_h

#include "formats/xpp/xpp.h"

/*
** Find the fields of the trace's first rows: file->fields, is_text and what
** belongs to it. PF_EFORMAT when there are no rows of fields.
*/
pf_status xpp_find_fields (pf_trace *trace, xpp_file *file, pf_error *error);

/* Find their roles, by names and by the first rows; the segments must be
   known. */
pf_status xpp_find_roles (pf_trace *trace, xpp_file *file, pf_error *error);

/* Look at the first rows once more: whether both letters of pairs are there
   (file->is_unfiltered), and whether the letters are where they should. */
pf_status xpp_inspect_ops (pf_trace *trace, xpp_file *file, pf_error *error);

/* xpp_structure.c: the table of the fields. */
#define XPP_STRUCTURE_COLUMNS 6
extern const pf_field xpp_structure_fields[XPP_STRUCTURE_COLUMNS];
pf_status xpp_open_structure (pf_trace *trace, const pf_table *table,
                              pf_reader **reader, pf_error *error);

/* The first text of a trace that is text: of the header packet, or of the
   first packet that is not empty. */
pf_bytes xpp_first_text (const pf_trace *trace);

/* The separator that the option names: 0 leaves it open. */
uint8_t xpp_separator_given (const pf_trace *trace);

/* How sure it is that text, or a table, is a trace, from its first bytes. */
int xpp_text_score (pf_bytes head, uint64_t size);
int xpp_table_score (pf_bytes head, uint64_t size);

#endif
