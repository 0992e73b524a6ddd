/*
** dbf.h - tables of dBASE, FoxBASE, FoxPro, Clipper and Xbase++ (.dbf with
** .dbt or .fpt). What formats over such tables may use: open the description,
** ask how many records there are, decode fields of runs of them.
**
**   dbf_file     what the header says: fields, sizes, code page. Immutable
**   dbf_run      records that follow each other in some bytes
**   dbf_decoder  turns a field of a run into a column; owns converted text
**
** A loop over a table: dbf_open; dbf_decoder_open; for each batch
** dbf_decoder_begin, then for a run that dbf_available found dbf_fill for
** each name_key field; dbf_decoder_close; dbf_close. The bytes of the records
** need not be those the description came from: packets of a file have none.
** Nothing is kept of a file's size or count: ask again, and a file that has
** grown is read on.
**
** All warnings have codes "dbf-..." and go to the trace.
*/

#ifndef dbf_h
#define dbf_h

#include "formats/dbf/dbf_code_page.h"
#include "model/charset.h"
#include "model/trace.h"
#include "profio.h"

/* How the bytes of a field are to be understood. */
typedef enum dbf_kind {
  DBF_TEXT,      /* C and V: characters in the file's code page */
  DBF_BINARY,    /* Q, and types nobody knows: bytes as they stand */
  DBF_DIGITS,    /* N and F: a number in ASCII */
  DBF_LOGICAL,   /* L: T t Y y, F f N n, blank or ? */
  DBF_DATE,      /* D: YYYYMMDD */
  DBF_INTEGER,   /* I: int32, little-endian */
  DBF_SORTABLE,  /* dBASE 7's I and +: int32, big-endian, sign inverted */
  DBF_DOUBLE,    /* B: little-endian */
  DBF_ORDERED,   /* dBASE 7's O: a double whose bytes sort as the numbers */
  DBF_CURRENCY,  /* Y: int64 in units of 1/10000, little-endian */
  DBF_TIME,      /* T: Julian day and ms since midnight, int32 each */
  DBF_INSTANT,   /* dBASE 7's @: double, ms since the day before year 1 */
  DBF_MEMO,      /* M G P W, and dBASE's B: the number of a memo block */
  DBF_NULL_FLAGS /* 0: which fields are null or not full */
} dbf_kind;

#define DBF_SYSTEM   1 /* flags of a field: not for people */
#define DBF_NULLABLE 2
#define DBF_AS_IS    4 /* no conversion between code pages */

typedef struct dbf_field {
  const char *name; /* UTF-8, ends with NUL; as the file has it */
  char type;        /* its letter */
  dbf_kind kind;
  pf_type column;         /* the type of column dbf_fill makes of it */
  uint32_t offset;        /* in the record: 1 is behind the delete flag */
  uint32_t size;          /* offset + size never passes the record's end */
  uint32_t stated;        /* size as the header states it */
  uint8_t decimals;       /* digits behind the point */
  uint8_t flags;          /* DBF_SYSTEM, ... */
  int32_t null_bit;       /* its bit in the null flags, or -1 */
  int32_t length_bit;     /* the bit "the last byte is the length", or -1 */
  uint64_t descriptor_at; /* the byte at which its descriptor begins */
} dbf_field;

/* The forms of memo files. */
typedef enum dbf_memo_form {
  DBF_NO_MEMO, /* there is none, or it cannot be read */
  DBF_FPT,     /* FoxPro: type and length, big-endian */
  DBF_DBT3,    /* dBASE III, Clipper: up to a byte 0x1A */
  DBF_DBT4     /* dBASE IV and 7: length, little-endian */
} dbf_memo_form;

/* What the header of a table says. Read it freely, change nothing. */
typedef struct dbf_file {
  uint8_t version;          /* its first byte */
  uint8_t mark;             /* its code page byte */
  uint32_t start;           /* the byte at which the first record begins */
  uint32_t record;          /* bytes of a record, delete flag included; >= 1 */
  uint32_t descriptors_end; /* the byte behind the last descriptor */
  dbf_field *fields;
  size_t nfields;
  size_t null_flags; /* the number of that field, or nfields */
  pf_charset charset;
  dbf_memo_form memo;
  uint32_t memo_block; /* bytes of a memo block, >= 1 */
  const char *memo_role;
  char *names; /* private: what the names point into */
} dbf_file;

/*
** Read the header of the trace's first source, and that of the memo file in
** its source "memo" when there is one. Takes the options code_page and
** memo_form where the trace has them. Free with dbf_close, also after a
** failure (NULL is fine).
*/
pf_status dbf_open (pf_trace *trace, dbf_file **file, pf_error *error);
void dbf_close (dbf_file *file);

/* Look at the memo file of the trace, if there is one: dbf_open does it, and who
   reads a live trace does it again, since the file may have come meanwhile. */
pf_status dbf_memo_open (pf_trace *trace, dbf_file *file, pf_error *error);

/* How sure it is that these are the first bytes of such a table, 0 to 100. */
int dbf_score (pf_bytes head, uint64_t size);

/* The number of the field of that name, letters of both cases alike, or
   nfields. */
size_t dbf_field_named (const dbf_file *file, const char *name);

/* Records that follow each other. */
typedef struct dbf_run {
  const uint8_t *at; /* the first one's delete flag */
  size_t count;
  uint64_t offset; /* of `at` in its source, for warnings */
} dbf_run;

/*
** Up to `maximum` records from number `first` (0 is the first) on: those the
** header counts and the bytes hold, then whole ones behind them that begin
** like a record, for a file whose header is older than its end. Answers an
** empty run behind the last.
*/
dbf_run dbf_available (const dbf_file *file, pf_bytes bytes, uint64_t first,
                       size_t maximum);

/* How many records the header counts, and how many whole ones the bytes have
   room for. */
uint64_t dbf_header_count (const dbf_file *file, pf_bytes bytes);
uint64_t dbf_complete_records (const dbf_file *file, pf_bytes bytes);

static inline bool dbf_is_deleted (const uint8_t *record) {
  return record[0] == 0x2A;
}

typedef struct dbf_chunk dbf_chunk;

/* Memory for converted text: all of it is free again at dbf_decoder_begin. */
typedef struct dbf_arena {
  dbf_chunk *first, *current;
  size_t used;      /* of the current chunk */
  size_t allocated; /* in all, since the beginning */
} dbf_arena;

typedef struct dbf_decoder {
  const dbf_file *file;
  pf_trace *trace;
  pf_bytes memo; /* of the memo file, as it is now */
  dbf_arena arena;
  pf_converter converter;
} dbf_decoder;

pf_status dbf_decoder_open (dbf_decoder *decoder, pf_trace *trace,
                            const dbf_file *file, pf_error *error);
void dbf_decoder_close (dbf_decoder *decoder);

/* A new batch: values of the last one are gone. */
void dbf_decoder_begin (dbf_decoder *decoder);

/*
** Decode one field of the records of a run into rows `row`, row + 1, ... of a
** column of the field's type. Text points into the records or the memo file,
** or where it had to be converted into the decoder, until the next
** dbf_decoder_begin. What cannot be understood is missing, with a warning.
*/
pf_status dbf_fill (dbf_decoder *decoder, const dbf_field *field,
                    const dbf_run *run, pf_column *column, size_t row,
                    pf_error *error);

/* The same for a DBF_CURRENCY field as exact decimal text: PF_BYTES. */
pf_status dbf_fill_exact (dbf_decoder *decoder, const dbf_field *field,
                          const dbf_run *run, pf_column *column, size_t row,
                          pf_error *error);

/* What the digits of a field say. */
typedef enum dbf_digits {
  DBF_DIGITS_NONE,  /* blank: nothing was entered */
  DBF_DIGITS_INT,   /* a whole number, in `whole` */
  DBF_DIGITS_NUM,   /* another number, in `number` */
  DBF_DIGITS_STARS, /* the number did not fit when it was stored */
  DBF_DIGITS_BAD    /* no number */
} dbf_digits;

/*
** A decimal number times 10^power (at maximum 18) as the nearest whole number; of
** two equally near ones the one farther from zero. DBF_DIGITS_INT, or why there
** is none: DBF_DIGITS_BAD also when it does not fit into 64 bits.
*/
dbf_digits dbf_parse_scaled (const uint8_t *at, size_t size, unsigned power,
                             int64_t *whole);

/* Decode a DBF_DIGITS field so, into a column of type PF_INT. The rest as
   dbf_fill does it. */
pf_status dbf_fill_scaled (dbf_decoder *decoder, const dbf_field *field,
                           const dbf_run *run, unsigned power,
                           pf_column *column, size_t row, pf_error *error);

/*
** Writing: an encoder whose only table, `data`, has a column for each field of
** the option `fields` ("TID I, OP C(1), MSG C(20), NOTE M null"), for each
** currency NAME also NAME_exact, and `deleted`. Other options: dialect ("visual"
** or "foxpro2"), code_page, memo_block, changed (a date), round. Memos go to
** the side sink "memo". With the option cpg = 1 a code page that has no mark is
** allowed; its name goes to the side sink "cpg". The encoder's `flush` makes the counts right on the way.
*/
pf_status dbf_encoder (const pf_option *options, size_t noptions,
                       pf_dictionary *dictionary, pf_encoder **encoder,
                       pf_error *error);

#endif
