/*
** dbf_code_page.h - how a table states the code page of its text.
*/

#ifndef dbf_code_page_h
#define dbf_code_page_h

#include "profio.h"

/* The name of the code page of a header's byte 29; NULL: unknown; "": none. */
const char *dbf_code_page (uint8_t mark);

/* The code page that the text of a .cpg file states: UTF-8, 1252, ANSI 1252,
   ISO 88591, LDID/87, OEM 866 or a name of iconv's. False: none. */
bool dbf_cpg_page (pf_bytes text, char name[32]);

/* The mark that says a code page, by its name in letters of any case; 0 when
   there is none. */
uint8_t dbf_code_page_mark (const char *name);

#endif
