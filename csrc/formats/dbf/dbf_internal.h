/*
** dbf_internal.h - what the files of the format dbf tell each other.
*/

#ifndef dbf_internal_h
#define dbf_internal_h

#include "formats/dbf/dbf_arena.h"
#include "formats/dbf/dbf.h"

/* Where descriptors stand and what is in them, for each family of versions. */
typedef struct dbf_layout {
  uint32_t first;     /* byte of the first descriptor */
  uint32_t size;      /* of a descriptor */
  uint32_t name;      /* most bytes of a name */
  uint32_t type;      /* byte of the type in a descriptor; the length follows */
  uint32_t length;    /* byte of the length */
  uint32_t decimals;  /* byte of the decimals */
  uint32_t flags;     /* byte of the flags; 0: it has none */
  uint32_t fixed_end; /* where records begin whatever the file says, or 0 */
} dbf_layout;

const dbf_layout *dbf_layout_of (uint8_t version);

/* Whether profio has heard of a version byte. */
bool dbf_version_known (uint8_t version);

/* What FoxPro, dBASE and others call a version, for people. */
const char *dbf_version_name (uint8_t version);

static inline bool dbf_is_seven (uint8_t version) {
  return version == 0x04 || version == 0x8C;
}

/* Visual FoxPro: the backlink of 263 bytes behind the descriptors. */
static inline bool dbf_is_visual (uint8_t version) {
  return version >= 0x30 && version <= 0x32;
}

#define DBF_BACKLINK 263

/* layout.c: from descriptors to fields: sizes, offsets, kinds, null bits. */
pf_status dbf_derive_fields (pf_trace *trace, dbf_file *file, pf_error *error);

/* names.c: give each field its name, from the bytes of its descriptor. */
pf_status dbf_name_fields (pf_trace *trace, dbf_file *file, pf_error *error);

/* The bytes of a memo block; false with words in `problem`. */
bool dbf_memo_find (const dbf_file *file, pf_bytes memo, uint64_t block,
                    pf_bytes *value, bool *is_text, const char **problem);

/* The number of a field of digits. */
dbf_digits dbf_parse_digits (const uint8_t *at, size_t size, int64_t *whole,
                             double *number);

/* Write YYYY-MM-DD of a Julian day; false when its year has not 4 digits. */
bool dbf_put_day (uint8_t *out, int64_t julian);

/* Write the date of YYYYMMDD; false when there is no such day. */
bool dbf_put_date (uint8_t *out, const uint8_t *digits);

/* Write the time of day behind it: THH:MM:SS, and .mmm when there are some;
   answers its size. */
size_t dbf_put_clock (uint8_t *out, uint32_t milliseconds);

/* Write a number of 1/10000 exactly, at most 21 bytes; answers the size. */
size_t dbf_put_currency (uint8_t *out, int64_t units);

/* open.c's tables: the readers of data.c, raw.c. */
typedef struct dbf_column {
  size_t field; /* number, or DBF_RECORD and DBF_DELETED */
  bool exact;   /* the exact text of a currency */
} dbf_column;

#define DBF_RECORD  (SIZE_MAX - 1) /* the number of the record, from 1 */
#define DBF_DELETED SIZE_MAX

typedef enum dbf_shown { /* option `deleted` */
  DBF_LIVE,
  DBF_ALL,
  DBF_ONLY_DELETED
} dbf_shown;

/* What the trace of a table owns. */
typedef struct dbf_state {
  dbf_file *file;
  dbf_shown shown;
  dbf_column *columns; /* of table data */
  pf_field *schema;    /* of table data, and of what is written */
  size_t ncolumns;
  char *exact_names; /* of the columns with exact text */
  pf_table tables[3];
} dbf_state;

pf_status dbf_open_data (pf_trace *trace, const pf_table *table,
                         pf_reader **reader, pf_error *error);
pf_status dbf_open_structure (pf_trace *trace, const pf_table *table,
                              pf_reader **reader, pf_error *error);
pf_status dbf_open_raw (pf_trace *trace, const pf_table *table,
                        pf_reader **reader, pf_error *error);

static inline pf_status dbf_no_memory (pf_error *error) {
  return pf_fail(error, PF_ENOMEM, PF_NO_OFFSET, "out of memory");
}

#endif
