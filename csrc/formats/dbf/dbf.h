/*
** dbf.h - reads and writes tables of dBASE, FoxBASE, FoxPro, Clipper and
** Xbase++ (.dbf with .dbt or .fpt). Used by the format dbf and by formats over
** such tables (xpp).
**
**   dbf_file     the contents of a header: fields, sizes, code page
**   dbf_run      consecutive records in some bytes
**   dbf_decoder  decodes a field of a run into a column; owns converted text
**
** Order of calls: dbf_open; dbf_decoder_open; for each batch dbf_decoder_begin,
** dbf_available for a run, and dbf_fill for each wanted field;
** dbf_decoder_close; dbf_close. The records may be in other bytes than the
** header: packets of Xbase++ have no header. The size and record count of a
** file are not stored, so a file that has grown is read on.
**
** Warnings go to the trace and have codes "dbf-...". Unless stated otherwise,
** functions with a pf_error return PF_OK, PF_ENOMEM, or with the option
** `strict` the status of the first damage.
*/

#ifndef dbf_h
#define dbf_h

#include "model/base/charset.h"
#include "model/rows/trace.h"
#include "profio.h"

/* arena.c: an allocator for the converted text of one batch; memory is
   allocated in chunks and freed all at once (Hanson, C Interfaces and
   Implementations, chapter 6). A zeroed arena is empty. */
typedef struct dbf_chunk dbf_chunk;
typedef struct dbf_arena {
  dbf_chunk *first, *current;
  size_t used;      /* bytes of the current chunk */
  size_t allocated; /* bytes since the last reset */
} dbf_arena;

/* Returns bytes that are valid until the next dbf_arena_reset, or NULL. */
uint8_t *dbf_arena_alloc (dbf_arena *arena, size_t size);

/* Convert a text to UTF-8. If its bytes are not the same there, *text becomes
   the result, which is in the arena. Returns false if out of memory. */
bool dbf_arena_convert (dbf_arena *arena, pf_converter *converter,
                        pf_bytes *text);

/* Free all allocations. Chunks of the usual size are kept for reuse. */
void dbf_arena_reset (dbf_arena *arena);

void dbf_arena_close (dbf_arena *arena);


/* The encoding of a field. */
typedef enum dbf_kind {
  DBF_TEXT,      /* C and V: text in the code page of the file */
  DBF_BINARY,    /* Q, and unknown types: bytes */
  DBF_DIGITS,    /* N and F: a number in ASCII */
  DBF_LOGICAL,   /* L: T t Y y, F f N n, blank or ? */
  DBF_DATE,      /* D: YYYYMMDD */
  DBF_INTEGER,   /* I: int32, little-endian */
  DBF_SORTABLE,  /* I of dBASE 7 and +: int32, big-endian, sign bit inverted */
  DBF_DOUBLE,    /* B: double, little-endian */
  DBF_ORDERED,   /* O of dBASE 7: a double whose bytes sort like the numbers */
  DBF_CURRENCY,  /* Y: int64 in units of 1/10000, little-endian */
  DBF_TIME,      /* T: Julian day and ms since midnight, uint32 each */
  DBF_INSTANT,   /* @ of dBASE 7: double, ms since the day before year 1 */
  DBF_MEMO,      /* M G P W, and B of dBASE: the number of a memo block */
  DBF_NULL_FLAGS /* 0: bits for null fields and field lengths */
} dbf_kind;

#define DBF_SYSTEM   1 /* flags of a field: hidden system column */
#define DBF_NULLABLE 2
#define DBF_AS_IS    4 /* no code page conversion */

typedef struct dbf_field {
  const char *name; /* UTF-8, ends with NUL, unique; in dbf_file.names */
  char type;        /* its letter */
  dbf_kind kind;
  pf_type column;         /* the type of column that dbf_fill needs */
  uint32_t offset;        /* in the record; the delete flag is byte 0 */
  uint32_t size;          /* limited to the end of the record */
  uint32_t stated;        /* the size as the header states it */
  uint8_t decimals;       /* digits after the decimal point */
  uint8_t flags;          /* DBF_SYSTEM | DBF_NULLABLE | DBF_AS_IS */
  int32_t null_bit;       /* index of its null bit, or -1 */
  int32_t length_bit;     /* index of its length bit, or -1; if set, the last
                             byte is the length */
  uint64_t descriptor_at; /* offset of its descriptor in the file */
} dbf_field;

/* The format of a memo file. */
typedef enum dbf_memo_form {
  DBF_NO_MEMO, /* no memo file, or not readable */
  DBF_FPT,     /* FoxPro: type and length, big-endian */
  DBF_DBT3,    /* dBASE III, Clipper: up to a byte 0x1A */
  DBF_DBT4     /* dBASE IV and 7: length, little-endian */
} dbf_memo_form;

/* The contents of a header. Owned by the caller of dbf_open. After it only
   dbf_memo_open changes `memo` and `memo_block`. */
typedef struct dbf_file {
  uint8_t version;          /* first byte of the file */
  uint8_t mark;             /* code page mark: byte 29 */
  uint32_t start;           /* offset of the first record */
  uint32_t record;          /* bytes of a record with its delete flag, > 0 */
  uint32_t descriptors_end; /* offset after the last descriptor */
  dbf_field *fields;        /* owned */
  size_t nfields;
  size_t null_flags; /* index of the field of null flags, or nfields */
  pf_charset charset;
  dbf_memo_form memo;
  uint32_t memo_block;  /* bytes of a memo block, at least 1 */
  pf_dictionary *names; /* owned: names of added columns, then of fields */
} dbf_file;

/*
** Read the header of the trace's first source, and the header of the memo file
** in its source "memo", if there is one. Uses the options code_page, memo_form
** and live and the source "cpg" of the trace. PF_ETRUNCATED for an incomplete
** header, PF_EUNSUPPORTED for an unknown code page. The caller frees *file by
** dbf_close, also after a failure (NULL is allowed).
*/
pf_status dbf_open (pf_trace *trace, dbf_file **file, pf_error *error);
void dbf_close (dbf_file *file);

/* Read the header of the memo file, if there is one. dbf_open calls it; readers
   of a live trace call it again, because the file may be created later. */
pf_status dbf_memo_open (pf_trace *trace, dbf_file *file, pf_error *error);

/* pf_format.score: 0 to 100. */
int dbf_score (pf_bytes head, uint64_t size);

/* Consecutive records. */
typedef struct dbf_run {
  const uint8_t *at; /* delete flag of the first record */
  size_t count;
  uint64_t offset; /* of `at` in the source, for warnings */
} dbf_run;

/*
** Returns up to `maximum` records from index `first` on: those that the header
** counts and the bytes contain, then complete ones after them that begin with a
** delete flag (the header may be older than the end of the file). The run is
** empty after the last record.
*/
dbf_run dbf_available (const dbf_file *file, pf_bytes bytes, uint64_t first,
                       size_t maximum);

/* Returns the number of records that the header states, and the number of
   complete records for which the bytes have space. */
uint64_t dbf_header_count (const dbf_file *file, pf_bytes bytes);
uint64_t dbf_complete_records (const dbf_file *file, pf_bytes bytes);

/* Whether a byte is a delete flag. */
static inline bool dbf_is_flag (uint8_t byte) {
  return byte == 0x20 || byte == 0x2A;
}

static inline bool dbf_is_deleted (const uint8_t *record) {
  return record[0] == 0x2A;
}

/* The file and the trace are borrowed until dbf_decoder_close. */
typedef struct dbf_decoder {
  const dbf_file *file;
  pf_trace *trace;
  pf_bytes memo;   /* contents of the memo file at dbf_decoder_begin */
  dbf_arena arena; /* memory of converted text */
  pf_converter converter;
  const dbf_field *last_field; /* of the last memo of the batch, or NULL */
  uint64_t last_block;
  pf_bytes last_memo; /* its text in UTF-8: records may share a memo */
} dbf_decoder;

/* PF_EUNSUPPORTED or PF_ENOMEM. Close it also after a failure. */
pf_status dbf_decoder_open (dbf_decoder *decoder, pf_trace *trace,
                            const dbf_file *file, pf_error *error);
void dbf_decoder_close (dbf_decoder *decoder);

/* Begin a batch: values of the last one become invalid. */
void dbf_decoder_begin (dbf_decoder *decoder);

/*
** Decode one field of the records of a run into the rows from `row` on of a
** column of the field's type; a DBF_CURRENCY field also into a column of
** PF_BYTES, as exact decimal text. Texts point into the records, into the memo
** file, or, if they were converted, into memory of the decoder that is valid
** until the next dbf_decoder_begin. Null values, and blank ones of kinds other
** than text and bytes, are missing; invalid ones are missing, with a warning.
*/
pf_status dbf_fill (dbf_decoder *decoder, const dbf_field *field,
                    const dbf_run *run, pf_column *column, size_t row,
                    pf_error *error);

/* The result of parsing a number in ASCII. */
typedef enum dbf_digits {
  DBF_DIGITS_NONE,  /* blank: no value */
  DBF_DIGITS_INT,   /* an integer, stored in `integer` */
  DBF_DIGITS_NUM,   /* another number, stored in `number` */
  DBF_DIGITS_STARS, /* asterisks: the number did not fit when it was written */
  DBF_DIGITS_BAD    /* not a number */
} dbf_digits;

/*
** Parse a decimal number and multiply it by 10^power (0 to 18). Stores the
** nearest integer, ties away from zero. Returns DBF_DIGITS_INT, or the reason
** why there is none; DBF_DIGITS_BAD also if it does not fit into 64 bits.
*/
dbf_digits dbf_parse_scaled (const uint8_t *at, size_t size, int power,
                             int64_t *integer);

/* Decode a DBF_DIGITS field by dbf_parse_scaled into a column of PF_INT;
   otherwise like dbf_fill. */
pf_status dbf_fill_scaled (dbf_decoder *decoder, const dbf_field *field,
                           const dbf_run *run, int power, pf_column *column,
                           size_t row, pf_error *error);

/*
** Create an encoder. Its only table `data` has a column for each field of the
** option `fields` ("TID I, OP C(1), MSG C(20), NOTE M null"), for each currency
** NAME also NAME_exact, and `deleted`. Other options: dialect ("visual" or
** "foxpro2"), code_page, memo_block, changed (a date), round. Memos are written
** to the side sink "memo". With the option cpg = 1 a code page without a mark
** is allowed; its name is written to the side sink "cpg". `flush` updates the
** record count in the header. PF_EUNSUPPORTED for an invalid option, PF_ELIMIT
** for too many fields or too large a record, PF_ENOMEM.
*/
pf_status dbf_encoder (const pf_option *options, size_t noptions,
                       pf_dictionary *dictionary, pf_encoder **encoder,
                       pf_error *error);

#endif
