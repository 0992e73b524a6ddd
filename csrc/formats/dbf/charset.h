/*
** charset.h - the code pages of tables, and text in them as UTF-8.
**
** A code page of single bytes becomes a table of 256 entries once, at open.
** Those of more bytes go through iconv. Bytes a code page has no character
** for become U+FFFD.
*/

#ifndef charset_h
#define charset_h

#include <iconv.h>

#include "profio.h"

typedef enum dbf_charset_kind {
  DBF_AS_BYTES, /* none known: bytes pass through */
  DBF_BY_TABLE, /* one byte is one character */
  DBF_BY_ICONV  /* one or more bytes are a character */
} dbf_charset_kind;

typedef struct dbf_charset {
  dbf_charset_kind kind;
  char name[32]; /* as iconv knows it; "" when bytes pass through */
  /* UTF-8 of each byte: up to three bytes, the count in the highest. */
  uint32_t utf8[256];
} dbf_charset;

/* What converts for one reader. */
typedef struct dbf_converter {
  const dbf_charset *charset;
  iconv_t iconv; /* only of DBF_BY_ICONV */
} dbf_converter;

/* The name of the code page of a header's byte 29; NULL: unknown; "": none. */
const char *dbf_code_page (uint8_t mark);

/* The code page that the text of a .cpg file states: UTF-8, 1252, ANSI 1252,
   ISO 88591, LDID/87, OEM 866 or a name of iconv's. False: none. */
bool dbf_cpg_page (pf_bytes text, char name[32]);

/* The mark that says a code page, by its name in letters of any case; 0 when
   there is none. */
uint8_t dbf_code_page_mark (const char *name);

/* Get ready for a code page: "raw" passes bytes through. False when the
   system does not know it. */
bool dbf_charset_open (dbf_charset *charset, const char *name);

/* PF_EUNSUPPORTED or PF_ENOMEM without words when it cannot be had. */
pf_status dbf_converter_open (dbf_converter *converter,
                              const dbf_charset *charset);
void dbf_converter_close (dbf_converter *converter);

/* Most bytes that `size` bytes become. */
size_t dbf_converted_room (const dbf_charset *charset, size_t size);

/* Whether text is the same in UTF-8 as it stands. */
bool dbf_is_plain (const dbf_charset *charset, pf_bytes text);

/* Convert into `out`, which has room; answers the size. */
size_t dbf_convert (dbf_converter *converter, pf_bytes text, uint8_t *out);

#endif
