/*
** element_rows.h - the rows of an XML export, one after the other, as fields of
** Text1 rows. The file is parsed in chunks, so the memory does not grow with
** it.
**
** open_export.c reads the mapping at the open and detects the format;
** sections.c and text_timeline.c read the other sections, each with a parser of
** its own. The owner of a winidea_xml frees it with winidea_xml_free; the bytes
** of the file are borrowed.
*/

#ifndef element_rows_h
#define element_rows_h

#include "formats/winidea/rowformat.h"
#include "formats/winidea/winidea.h"

typedef struct winidea_xml winidea_xml;

/* A row of a section. */
typedef struct winidea_xml_row {
  winidea_section_kind kind;
  uint64_t offset;       /* byte at which its element begins */
  winidea_fields fields; /* valid until the next row is read */
  bool is_certain;       /* its element and its section have the known names */
} winidea_xml_row;

/* Creates a parser that stands before the first byte. `kinds`: a bit for each
   winidea_section_kind whose rows are wanted. `is_head`: the file continues
   after the bytes that are parsed. NULL when out of memory. */
winidea_xml *winidea_xml_new (unsigned kinds, uint64_t seed, bool is_head);
void winidea_xml_free (winidea_xml *self);

/* Reads the next row of the file `text`. PF_OK, PF_END (also where damage
   begins), or PF_ENOMEM without a message. */
pf_status winidea_xml_next (winidea_xml *self, pf_bytes text,
                            winidea_xml_row *row);

/* Other sections are wanted from here on. */
void winidea_xml_want (winidea_xml *self, unsigned kinds);

/* Returns true if the file was parsed to the end of its first element, without
   damage. */
bool winidea_xml_is_whole (const winidea_xml *self);

/* Returns true if the rest is not read because of what it has, and not because
   of damage. */
bool winidea_xml_is_refused (const winidea_xml *self);

/* Returns a bit for each kind of section that has begun. */
unsigned winidea_xml_seen (const winidea_xml *self);

/* At the end of the rows, warns if there is damage, or if a section has
   elements but no rows. The caller holds the mutex of the file. PF_OK or a
   failure. */
pf_status winidea_xml_end (const winidea_xml *self, pf_trace *trace,
                           pf_bytes text, pf_error *error);


/* element_names.c: */
#define WINIDEA_MAX_PATH   48     /* bytes of a path that are examined */
#define WINIDEA_XML_CORE   MACROS /* a field that Text1 does not have */
#define WINIDEA_XML_FIELDS (MACROS + 1)

extern const char *const winidea_xml_sections[WINIDEA_SECTIONS];

/* The field (a winidea_macro or WINIDEA_XML_CORE) that a path within a row
   names: upper-case words with points between them. MACRO_UNKNOWN: none. */
unsigned winidea_xml_field (const char *path, size_t size);

/* The kind of the section that an element begins, or WINIDEA_SECTIONS. */
winidea_section_kind winidea_xml_section (const char *name);

/* Returns true if this is how the elements of rows of a section are called. */
bool winidea_xml_is_row (const char *name, winidea_section_kind section);

#endif
