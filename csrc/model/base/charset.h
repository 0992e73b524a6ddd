/*
** charset.h - code pages, and text in them as UTF-8 and back.
**
** A code page of single bytes becomes a table of 256 entries once, at open.
** Those of more bytes go through iconv. Bytes a code page has no character
** for become U+FFFD.
*/

#ifndef charset_h
#define charset_h

#include <iconv.h>

#include "profio.h"

typedef enum pf_charset_kind {
  PF_TEXT_AS_BYTES, /* none known: bytes pass through */
  PF_TEXT_BY_TABLE, /* one byte is one character */
  PF_TEXT_BY_ICONV  /* one or more bytes are a character */
} pf_charset_kind;

typedef struct pf_charset {
  pf_charset_kind kind;
  char name[32]; /* as iconv knows it; "" when bytes pass through */
  /* UTF-8 of each byte: up to three bytes, the count in the highest. */
  uint32_t utf8[256];
} pf_charset;

/* The state of one reader that converts texts. */
typedef struct pf_converter {
  const pf_charset *charset;
  iconv_t iconv; /* only of PF_TEXT_BY_ICONV */
} pf_converter;

/* Get ready for a code page: "raw" passes bytes through. False when the
   system does not know it. */
bool pf_charset_open (pf_charset *charset, const char *name);

/* The same by the text of an option; an unknown name is PF_EUNSUPPORTED. */
pf_status pf_charset_open_given (pf_charset *charset, pf_bytes name,
                                 pf_error *error);

/* PF_EUNSUPPORTED or PF_ENOMEM without words when it cannot be had. */
pf_status pf_converter_open (pf_converter *converter,
                             const pf_charset *charset);
void pf_converter_close (pf_converter *converter);

/* The same for text of UTF-8 that becomes text of the code page. */
pf_status pf_converter_open_back (pf_converter *converter,
                                  const pf_charset *charset);

/* Most bytes that `size` bytes become: in any code page, and in this one. */
#define PF_CONVERTED_MAX(size) (5 * (size) + 16)
size_t pf_converted_max (const pf_charset *charset, size_t size);

/* Whether text is the same in UTF-8 as it stands. */
bool pf_is_same_in_utf8 (const pf_charset *charset, pf_bytes text);

/* Convert into `out`, which has room; answers the size. */
size_t pf_convert (pf_converter *converter, pf_bytes text, uint8_t *out);

/* Convert UTF-8 into the code page, by a converter that was opened for it.
   `out` has room for PF_CONVERTED_MAX(text.size) bytes. False when a character
   is not in the code page. */
bool pf_convert_back (pf_converter *converter, pf_bytes text, uint8_t *out,
                      size_t *size);

#endif
