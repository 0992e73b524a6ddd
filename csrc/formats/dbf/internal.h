/*
** internal.h - what the files of formats/dbf share; xpp's encoder includes it
** through encode_dbf.h. dbf_open_data allocates a reader, and
** dbf_converter_open a converter; all others allocate nothing. Readers and
** tables borrow the dbf_file of the trace.
*/

#ifndef internal_h
#define internal_h

#include "formats/dbf/dbf.h"

/* The layout of descriptors in a family of versions. Offsets are in bytes. */
typedef struct dbf_layout {
  uint32_t first;     /* offset of the first descriptor in the file */
  uint32_t size;      /* bytes of a descriptor */
  uint32_t name;      /* maximum bytes of a name */
  uint32_t type;      /* offset of the type in a descriptor */
  uint32_t length;    /* offset of the length of the field */
  uint32_t decimals;  /* offset of the number of decimals */
  uint32_t flags;     /* offset of the flags; 0: the version has none */
  uint32_t fixed_end; /* fixed offset of the records; 0: stated by the header */
} dbf_layout;

const dbf_layout *dbf_layout_of (uint8_t version);

/* Returns the product name of a version; NULL if it is unknown. */
const char *dbf_version_name (uint8_t version);

/* Whether a version is dBASE 7. */
static inline bool dbf_is_seven (uint8_t version) {
  return version == 0x04 || version == 0x8C;
}

/* Visual FoxPro has a backlink of 263 bytes after the descriptors. */
static inline bool dbf_is_visual (uint8_t version) {
  return version >= 0x30 && version <= 0x32;
}

#define DBF_BACKLINK 263

/* code_page.c: code pages of tables, by their names in iconv. */

/* The name of the code page of a mark, byte 29 of the header (the identifier of
   the language driver); "" for 0, NULL: unknown. */
const char *dbf_code_page (uint8_t mark);

/* Open the code page of the .cpg file, which formats/dbf.lua packs: a mark or
   0, a name that a zero byte ends, and the text. Returns false if there is no
   such file, or with a note if it is not usable. */
bool dbf_open_cpg (pf_trace *trace, pf_charset *charset, pf_error *error);

/* Returns the mark of a code page by its name, ignoring case; 0 if it has
   none. */
uint8_t dbf_code_page_mark (const char *name);

/* layout.c: compute sizes, offsets, kinds and bits of the fields from their
   descriptors, and correct the start and the size of the records. */
pf_status dbf_derive_fields (pf_trace *trace, dbf_file *file, pf_error *error);

/* header_dbf.c: open a converter from the code page of a table. PF_EUNSUPPORTED
   or PF_ENOMEM. Close it with pf_converter_close, also after a failure. */
pf_status dbf_converter_open (pf_converter *converter, const dbf_file *file,
                              pf_error *error);

/* memo.c: the names of dbf_memo_form. */
extern const char *const dbf_memo_names[];

/* memo.c: find the memo at a block of the memo file `memo`. *value points into
   that file; *is_text: it is text, else binary. Returns false with a message in
   *problem. */
bool dbf_memo_find (const dbf_file *file, pf_bytes memo, uint64_t block,
                    pf_bytes *value, bool *is_text, const char **problem);

/* digits.c: parse a number. For DBF_DIGITS_INT *integer and *number are
   set, for DBF_DIGITS_NUM *number. */
dbf_digits dbf_parse_digits (const uint8_t *at, size_t size, int64_t *integer,
                             double *number);

/*
** digits.c: a fast path for integers of the common form: blanks, then up to
** eight digits at the end of the field. Call dbf_fast_int_open once per field,
** then dbf_fast_int_fill; values of another form are left to dbf_parse_digits.
** The last eight bytes of a field are loaded as one word, and a shorter field
** is extended by blanks.
*/
typedef struct dbf_fast_int {
  ptrdiff_t offset; /* of the word from the start of the field */
  unsigned shift;   /* left shift in bits */
  uint64_t mask;    /* bits of the word that belong to the field */
  uint64_t blanks;  /* spaces in all other bytes */
  size_t prefix;    /* bytes of the field before the word: must be blank */
} dbf_fast_int;

/* Returns false if fields of this size and position need the general path.
   `record` is the size of a record. */
bool dbf_fast_int_open (dbf_fast_int *fast, const dbf_field *field,
                        size_t record);

/* Parse a field in up to `count` records of `stride` bytes; `at` is the field
   in the first record. Stops at the first value of another form, and returns
   the number of values before it. */
size_t dbf_fast_int_fill (const dbf_fast_int *fast, const uint8_t *at,
                          size_t stride, size_t count, int64_t *out);

/* Write YYYY-MM-DD of a Julian day. False if the year is not in 1 to 9999. */
bool dbf_put_day (uint8_t *out, int64_t julian);

/* Write YYYY-MM-DD from YYYYMMDD, 10 bytes. False if there is no such day. */
bool dbf_put_date (uint8_t *out, const uint8_t *digits);

/* Copy the eight digits of the YYYY-MM-DD that a text begins with to `digits`,
   which has room for 8. Returns false if it is not a date. */
bool dbf_parse_date (pf_bytes text, uint8_t *digits);

/* Returns the value of `count` ASCII digits, at most nine, which are not
   checked. */
uint32_t dbf_number_of (const uint8_t *digits, size_t count);

/* Write a time, THH:MM:SS or THH:MM:SS.mmm. Returns the size, at most 13. */
size_t dbf_put_clock (uint8_t *out, uint32_t milliseconds);

/* Write units of 1/10000 exactly, at most 21 bytes. Returns the size. */
size_t dbf_put_currency (uint8_t *out, int64_t units);

/* Numbers of the columns of table data that are not fields of the file. */
#define DBF_RECORD  (SIZE_MAX - 1) /* the number of the record, from 1 */
#define DBF_DELETED SIZE_MAX

/* The records that table data shows: option `deleted`. */
typedef enum dbf_shown {
  DBF_LIVE,
  DBF_ALL,
  DBF_ONLY_DELETED
} dbf_shown;

/* The state of an opened trace (pf_trace.state), owned by the trace. */
typedef struct dbf_state {
  dbf_file *file;
  dbf_shown shown;
  size_t *columns;  /* of data: field, DBF_RECORD or DBF_DELETED; owned */
  pf_field *schema; /* of table data; owned */
  size_t ncolumns;
  char *exact_names; /* of the columns with exact text of a currency; owned */
  pf_table tables[3];
} dbf_state;

/* data.c: pf_table.open of table data. */
pf_status dbf_open_data (pf_trace *trace, const pf_table *table,
                         pf_reader **reader, pf_error *error);

/* raw_dbf.c: the tables that are the same for every file. */
extern const pf_table dbf_structure_table, dbf_raw_table;

#endif
