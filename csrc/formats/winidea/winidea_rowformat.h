/*
** winidea_rowformat.h - the formats of rows that a Text1 file states in its section
** headers: literal text and macros between per cent signs.
*/

#ifndef winidea_rowformat_h
#define winidea_rowformat_h

#include "profio.h"

/* The macros of the export, in the order of their names below. */
typedef enum winidea_macro {
  MACRO_HANDLE,
  MACRO_PARENT, /* HANDLE.PARENT */
  MACRO_STATE,  /* HANDLE.STATE */
  MACRO_VALUE,
  MACRO_TYPE, /* VALUE.TYPE */
  MACRO_COUNT,
  MACRO_EVENT,
  MACRO_TIME,
  MACRO_TOTAL_TIME,
  MACRO_NET, /* four each: all, least, most, mean */
  MACRO_GROSS = MACRO_NET + 4,
  MACRO_CALL = MACRO_GROSS + 4,
  MACRO_PERIOD = MACRO_CALL + 4,
  MACRO_OUTSIDE = MACRO_PERIOD + 4,
  MACRO_NAME = MACRO_OUTSIDE + 4, /* from here on free text */
  MACRO_PARENT_NAME,
  MACRO_UNIT, /* VALUE.UNIT */
  MACRO_FILE,
  MACRO_PATH,
  MACRO_CONTEXT,
  MACRO_CLASS,
  MACRO_FORMAT,
  MACRO_UNKNOWN, /* %WORD% that is none of these */
  MACROS
} winidea_macro;

#define WINIDEA_MAX_MACROS 48 /* in one format */

/* literals[0] macros[0] literals[1] ... macros[count - 1] literals[count] */
typedef struct winidea_rowformat {
  unsigned count;
  uint8_t macros[WINIDEA_MAX_MACROS]; /* winidea_macro */
  pf_bytes literals[WINIDEA_MAX_MACROS + 1];
} winidea_rowformat;

/* Take a format apart; its literals are slices of `text`. False when it has
   too many macros. */
bool winidea_compile (winidea_rowformat *format, pf_bytes text);

/* Whether a format has a macro. */
bool winidea_has_macro (const winidea_rowformat *format, winidea_macro macro);

/* The fields of a row, by macro; `at` is NULL where the format has it not. */
typedef struct winidea_fields {
  pf_bytes of[MACROS];
  bool is_ambiguous; /* free texts side by side could end elsewhere too */
} winidea_fields;

/*
** Take a row apart. Numbers are taken from the left up to the first free text
** and from the right up to the last: no text is quoted, so what stands between
** is the text, whatever is in it. False when the row is not of the format.
*/
bool winidea_split (const winidea_rowformat *format, pf_bytes row,
                    winidea_fields *fields);

/* The bytes between blanks. */
pf_bytes winidea_trim (pf_bytes text);

/* How the digits of a value are read. */
typedef enum winidea_base {
  WINIDEA_BASE_AUTO, /* hexadecimal after 0x, of 8 or 16 digits, or by letters */
  WINIDEA_DECIMAL,
  WINIDEA_HEXADECIMAL
} winidea_base;

/* Numbers of whole texts; false when they are none. */
bool winidea_read_handle (pf_bytes text, uint32_t *handle);
bool winidea_read_decimal (pf_bytes text, int64_t *number);
bool winidea_read_value (pf_bytes text, winidea_base base, int64_t *value);

#endif
