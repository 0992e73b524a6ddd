/*
** code_page.h - code pages of tables. Used by the reader and the encoder.
** The names are those of iconv.
*/

#ifndef code_page_h
#define code_page_h

#include "profio.h"

/* Returns the name of the code page of a mark (byte 29); "" for 0, NULL if it
   is unknown. */
const char *dbf_code_page (uint8_t mark);

/* Get the code page that a .cpg file states: UTF-8, 1252, ANSI 1252, ISO 88591,
   LDID/87, OEM 866 or a name of iconv. Returns false if there is none. */
bool dbf_cpg_page (pf_bytes text, char name[32]);

/* Returns the mark of a code page by its name, ignoring case; 0 if it has
   none. */
uint8_t dbf_code_page_mark (const char *name);

#endif
