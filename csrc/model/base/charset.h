/*
** charset.h - conversion of text between a code page and UTF-8. Used by the
** formats br, dbf and xpp; the checks of UTF-8 also by text, lua/profile and
** store.
**
** A single-byte code page becomes a table of 256 entries when it is opened.
** Other code pages are converted by the system, if it knows them (os/os.h).
** Bytes that are no character of the code page become U+FFFD.
**
**   pf_charset_open          once per file; nothing to free
**   pf_converter_open        once per thread or reader
**   pf_convert               for each text
**   pf_converter_close
*/

#ifndef charset_h
#define charset_h

#include "os/os.h"
#include "profio.h"

typedef enum pf_charset_kind {
  PF_TEXT_AS_BYTES, /* no conversion: the caller copies the bytes */
  PF_TEXT_BY_TABLE, /* single-byte code page */
  PF_TEXT_BY_SYSTEM /* multibyte code page, or one without a table */
} pf_charset_kind;

typedef struct pf_charset {
  pf_charset_kind kind;
  char name[32]; /* "": bytes are copied */
  /* UTF-8 of each byte: up to three bytes, and their number in the highest
     byte. */
  uint32_t utf8[256];
} pf_charset;

/* The state of a conversion, used by one thread. It borrows the charset. */
typedef struct pf_converter {
  const pf_charset *charset;
  os_code_page page; /* open only for PF_TEXT_BY_SYSTEM */
} pf_converter;

/* Open a code page by its name; "raw" and "" copy bytes. False when neither
   code_pages.h nor the system knows the name, or ASCII is something else in
   this code page. The names of Shift_JIS open CP932. */
bool pf_charset_open (pf_charset *charset, const char *name);

/* The same for the value of an option. PF_EUNSUPPORTED with a message when the
   name is unknown. */
pf_status pf_charset_open_given (pf_charset *charset, pf_bytes name,
                                 pf_error *error);

/* Open a conversion from the code page to UTF-8. PF_EUNSUPPORTED or PF_ENOMEM,
   without a message. */
pf_status pf_converter_open (pf_converter *converter,
                             const pf_charset *charset);
void pf_converter_close (pf_converter *converter);

/* The same for a conversion from UTF-8 to the code page. */
pf_status pf_converter_open_back (pf_converter *converter,
                                  const pf_charset *charset);

/* The capacity of the output that `size` bytes of input need, in bytes: for any
   code page, and for this one. It includes scratch memory. */
#define PF_CONVERTED_MAX(size) (5 * (size) + 16)
size_t pf_converted_max (const pf_charset *charset, size_t size);

/* The size of the UTF-8 character at p; 0 if it is invalid or longer than the
   `left` bytes, which are at least 1. */
size_t pf_utf8 (const uint8_t *p, size_t left);

/* Whether a text is UTF-8. */
bool pf_is_utf8 (pf_bytes text);

/* Whether a text needs no conversion: it is ASCII, or bytes are copied. */
bool pf_is_same_in_utf8 (const pf_charset *charset, pf_bytes text);

/* Convert a text for which pf_is_same_in_utf8 is false to UTF-8 into `out`,
   which has pf_converted_max(text.size) bytes. Returns the number of bytes of
   the result. */
size_t pf_convert (pf_converter *converter, pf_bytes text, uint8_t *out);

/* Convert UTF-8 for which pf_is_same_in_utf8 is false to the code page, by a
   converter of pf_converter_open_back. `out` has PF_CONVERTED_MAX(text.size)
   bytes; *size is set to the size of the result. False when a character is not
   in the code page. */
bool pf_convert_back (pf_converter *converter, pf_bytes text, uint8_t *out,
                      size_t *size);

#endif
