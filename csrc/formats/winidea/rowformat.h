/*
** rowformat.h - the row formats in the section headers of a Text1 file: literal
** text and macros between per cent signs. Compile a format once with
** winidea_compile, then split each row with winidea_split. Nothing is
** allocated.
**
** Used by the other files of this folder. The fields of a row point into the
** row.
*/

#ifndef rowformat_h
#define rowformat_h

#include "profio.h"

/* The macros of the export, in the order of their names in the .c file. */
typedef enum winidea_macro {
  MACRO_HANDLE,
  MACRO_PARENT, /* HANDLE.PARENT */
  MACRO_STATE,  /* HANDLE.STATE */
  MACRO_VALUE,
  MACRO_TYPE, /* VALUE.TYPE */
  MACRO_EVENT,
  MACRO_TIME,
  MACRO_TOTAL_TIME,
  MACRO_COUNT, /* from here to MACRO_NAME as the columns of statistics */
  MACRO_NET,   /* five times, each as sum, minimum, maximum, mean */
  MACRO_NAME = MACRO_NET + 20, /* this one and those after it are free text */
  MACRO_PARENT_NAME,
  MACRO_UNIT, /* VALUE.UNIT */
  MACRO_FILE,
  MACRO_PATH,
  MACRO_CONTEXT,
  MACRO_CLASS,
  MACRO_FORMAT,
  MACRO_UNKNOWN, /* a %WORD% that is none of these */
  MACROS
} winidea_macro;

#define WINIDEA_MAX_MACROS 48 /* maximum in one format */

/* A compiled format: literals[0] macros[0] literals[1] ... literals[count]. */
typedef struct winidea_rowformat {
  unsigned count;
  uint8_t macros[WINIDEA_MAX_MACROS]; /* winidea_macro */
  pf_bytes literals[WINIDEA_MAX_MACROS + 1];
} winidea_rowformat;

/* Compiles a format; literals point into `text`. False: too many macros. */
bool winidea_compile (winidea_rowformat *format, pf_bytes text);

/* Returns true if a format contains a macro. */
bool winidea_has_macro (const winidea_rowformat *format, winidea_macro macro);

/* Returns true if a format contains free text. */
bool winidea_has_text (const winidea_rowformat *format);

/* Returns true if each literal between macros has a byte that no number
   contains, so that rows of numbers can be split in only one way. An event has
   one byte and may be followed by a macro. */
bool winidea_is_separated (const winidea_rowformat *format);

/* The macro of a name in upper case, with or without the first `T.` of times;
   else MACRO_UNKNOWN. */
winidea_macro winidea_find_macro (const char *name);

/* The fields of a row, by macro; `at` is NULL if the format does not have
   it. */
typedef struct winidea_fields {
  pf_bytes of[MACROS];
  bool is_ambiguous; /* adjacent free texts could be split elsewhere, too */
  bool is_xml;       /* of an XML export: handles may be decimal */
  pf_bytes core;     /* of a timeline in XML */
} winidea_fields;

/*
** Splits a row. Numbers are taken from the left up to the first free text and
** from the right down to the last one. Nothing is quoted, so everything between
** belongs to the texts. Returns false if the row does not match the format.
*/
bool winidea_split (const winidea_rowformat *format, pf_bytes row,
                    winidea_fields *fields);

/* The base of the digits of a value. */
typedef enum winidea_base {
  WINIDEA_BASE_AUTO, /* hexadecimal: 0x, 8 or 16 digits, or letters */
  WINIDEA_DECIMAL,
  WINIDEA_HEXADECIMAL
} winidea_base;

/* Parse a whole text as a number. Return false if it is not one, or too
   large. Handles of XML are hexadecimal with 0x, letters or 8 digits, else
   decimal; those of Text1 are always hexadecimal. */
bool winidea_read_handle (pf_bytes text, uint32_t *handle);
bool winidea_read_handle_of (const winidea_fields *fields, winidea_macro macro,
                             uint32_t *handle);
bool winidea_read_time (const winidea_fields *fields, int64_t *time);
bool winidea_read_decimal (pf_bytes text, int64_t *number);
bool winidea_read_value (pf_bytes text, winidea_base base, int64_t *value);

/* Whether a trimmed value has 16 hexadecimal digits, perhaps after 0x: all bits
   of a number, which may be a double. */
bool winidea_has_all_bits (pf_bytes text, winidea_base base);

#endif
