/*
** text1.h - main files: the sections of a Text1 file, the rows of its mapping,
** and XML exports. In an opened trace the caller of a function that adds areas
** or sections holds the mutex, unless the function says that it takes it.
**
** Used by open_winidea.c, the readers of a main file and the encoder. Sections
** and areas are added to the winidea_file, which owns them.
*/

#ifndef text1_h
#define text1_h

#include "formats/winidea/winidea.h"

/* The confidence, 0 to 100, that bytes begin a Text1 file, or an XML export. */
int winidea_score_text (pf_bytes head);
int winidea_score_xml (pf_bytes head);

/* Return true if bytes contain a section header, or an XML area. Used if the
   user names winIDEA as the format. */
bool winidea_has_sections (const winidea_headers *headers, pf_bytes head);
bool winidea_has_areas (pf_bytes head);

/*
** Scans up to the end of the header of the next TIMELINE and parses the areas
** and contexts on the way. PF_OK; PF_END at the end of the file (in a live
** trace, for now); or a failure.
*/
pf_status winidea_scan (pf_trace *trace, pf_error *error);

/* Scans to the end of the file. PF_OK or a failure. */
pf_status winidea_scan_all (pf_trace *trace, pf_error *error);

/* A reader reports that a section ends at byte `end`: the scan continues there.
   Takes the mutex. */
void winidea_scan_from (winidea_file *file, size_t section, uint64_t end);

/* A position between the sections of a kind; zeroed: before the first. */
typedef struct winidea_section_cursor {
  size_t next;              /* index of the next section to examine */
  winidea_section now;      /* copy of the current one, */
  winidea_rowformat format; /* and its format, if that is readable */
} winidea_section_cursor;

/* Goes to the next section of a kind, or PF_END. Takes the mutex. */
pf_status winidea_next_section (pf_trace *trace, winidea_section_kind kind,
                                winidea_section_cursor *cursor,
                                pf_error *error);

/* The line that begins at `at`, without its end; *next is the next one. */
pf_bytes winidea_line (pf_bytes text, uint64_t at, uint64_t *next);

/* headers.c: the kind of the section that a line begins; WINIDEA_SECTIONS: it
   is no header. `headers` NULL: only the usual ones. */
winidea_section_kind winidea_header_kind (const winidea_headers *headers,
                                          pf_bytes line);

/* Returns true if some headers may not be usual ones. */
bool winidea_may_be_changed (const winidea_headers *headers);

/* Splits a header: its kind, context (`at` is NULL if it has none) and the
   format of its rows. Returns true if the format is valid for the kind. */
bool winidea_split_header (const winidea_headers *headers, pf_bytes line,
                           winidea_section_kind *kind, pf_bytes *context,
                           pf_bytes *format);

/* Returns true if a format has the macros that the rows of a section need. */
bool winidea_has_required_macros (const winidea_rowformat *format,
                                  winidea_section_kind kind);

/* The facts and options with the row formats: "info_format", ... */
extern const char *const winidea_format_names[WINIDEA_SECTIONS];

/* The base that an option states. */
winidea_base winidea_base_option (const pf_trace *trace, const char *name);

/* mapping.c: takes a row of INFO, CONTEXTS or HANDLE. *is_good is set to false
   if a number is invalid. PF_OK or a failure. */
pf_status winidea_take_fields (pf_trace *trace, winidea_section_kind kind,
                               const winidea_fields *fields, bool *is_good,
                               pf_error *error);

/* xml/open_export.c: reads the facts, contexts and areas of an XML export, up
   to the first event if there are areas before it. PF_OK or a failure. */
pf_status winidea_read_xml (pf_trace *trace, pf_bytes text, pf_error *error);

/* xml/open_export.c: returns true if the first element of an XML file has
   ended. */
bool winidea_is_complete_xml (pf_bytes text);

/* xml/open_export.c: warns about a row of XML without the numbers that it
   needs. The caller holds the mutex. */
pf_status winidea_bad_xml_row (pf_trace *trace, uint64_t offset,
                               winidea_section_kind kind, pf_error *error);

/* mapping.c: sets parent and area of the rows of the mapping since the last
   call. The function of a line is looked for only among the rows since the last
   TIMELINE, unless the line states a handle. PF_OK or PF_ENOMEM. */
pf_status winidea_finish_areas (pf_trace *trace, pf_error *error);

/* Notes that the texts of a row could be split elsewhere, too. */
pf_status winidea_ambiguous_row (pf_trace *trace, uint64_t offset, pf_bytes row,
                                 pf_error *error);

/* Warns about a row that does not match the format of its section. */
pf_status winidea_bad_row (pf_trace *trace, uint64_t offset, pf_bytes row,
                           winidea_section_kind kind, pf_error *error);

#endif
