/*
** winidea_text1.h - main files: the sections of a Text1 file, and what is read of them
** when a trace is opened.
*/

#ifndef winidea_text1_h
#define winidea_text1_h

#include "formats/winidea/winidea.h"

/* Whether bytes are a Text1 file, or an XML export, by how they begin: 0 to
   100. */
int winidea_score_text (pf_bytes head);
int winidea_score_xml (pf_bytes head);

/* Whether there is anything to read in them: a section anywhere, or an area.
   It decides how a file is read that the user calls an export of winIDEA. */
bool winidea_has_sections (pf_bytes head);
bool winidea_has_areas (pf_bytes head);

/*
** Read on in the main file: sections up to and with the next TIMELINE, areas
** and contexts of those that have them. PF_END: there are no more, or in a live
** trace none so far. In an opened trace the caller holds the mutex.
*/
pf_status winidea_scan (pf_trace *trace, pf_error *error);

/* The same to the end of the file. */
pf_status winidea_scan_all (pf_trace *trace, pf_error *error);

/* A reader found that the section ends at a byte, where the next one begins or
   the file ends: look there and not before. */
void winidea_scan_from (winidea_file *file, size_t section, uint64_t end);

/* A section of a kind, from number `from` on, and its format where that is
   readable; *found false when there is none. Scans when it must. Takes the
   mutex. */
pf_status winidea_next_section (pf_trace *trace, winidea_section_kind kind,
                                size_t *from, winidea_section *section,
                                winidea_rowformat *format, bool *found,
                                pf_error *error);

/* The line that begins at `at`, without its end; `next` is where the next one
   begins. */
pf_bytes winidea_line (pf_bytes text, uint64_t at, uint64_t *next);

/* Whether a line is the header of a section, and of which. */
bool winidea_is_header (pf_bytes line);
winidea_section_kind winidea_kind_of_header (pf_bytes line);

/* Whether a format has what the rows of a section cannot do without. */
bool winidea_has_required_macros (const winidea_rowformat *format,
                                  winidea_section_kind kind);

/* Read a base from an option. */
winidea_base winidea_base_option (const pf_trace *trace, const char *name);

/* Read areas out of an XML export. */
pf_status winidea_read_xml (pf_trace *trace, pf_bytes text, pf_error *error);

/* Give parents and areas to the rows of the mapping that have none yet: those
   that may be their parents are there. */
pf_status winidea_finish_areas (pf_trace *trace, pf_error *error);

/* Say that a row is not as its format says. */
pf_status winidea_bad_row (pf_trace *trace, uint64_t offset, pf_bytes row,
                           const char *what, pf_error *error);

#endif
