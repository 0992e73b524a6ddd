/*
** rows.h - how whole batches become text: what the files rows*.c share.
**
** A job reads a reader to its end and writes each row in one form (an
** aligned table, csv, json, ..., or a listing with a template for each kind
** of row) into a growing text that is handed to a file in large segments.
*/

#ifndef rows_h
#define rows_h

#include <stdio.h>
#include <string.h>

#include "model/areas.h"
#include "model/batch.h"

/* A number printed without padding fits in this many bytes. */
#define ROW_NUMBER_SIZE 360

/* Text that grows. Room is made once per value or row, not per byte. */
typedef struct row_text {
  char *at;
  size_t used, size;
} row_text;

/* One column of what is written. */
typedef struct row_column {
  size_t field; /* its number in the reader */
  const char *name;
  pf_type type;
  int64_t unit;       /* aligned text: nanoseconds in the unit shown, or 1 */
  int digits;         /* ... and how many digits of it behind the point */
  const char *suffix; /* ... and the unit's name; "": it is no time */
  bool is_share;      /* aligned text: a fraction, shown as per cent */
} row_column;

#define ROW_AHEAD 4096u /* rows measured before the first is written */
#define ROW_KINDS 256u  /* a power of two */

typedef struct row_job row_job;

/* A form of output. */
typedef struct row_format {
  const char *name;
  pf_status (*begin)(row_job *job); /* called before the first row */
  pf_status (*rows)(row_job *job);  /* called for each batch that has rows */
  pf_status (*end)(row_job *job);   /* called after the last row */
  bool is_independent; /* the text of a row depends on no other row */
} row_format;

/* A cell of the aligned table that waits for its column's width. */
typedef struct row_cell {
  size_t at;    /* where its text begins in `waiting` */
  size_t width; /* how many places it takes on the screen */
} row_cell;

struct row_job {
  pf_reader *reader;
  bool *wanted;   /* which of its fields */
  pf_batch batch; /* in work; somebody else's */
  const row_format *format;
  const row_column *columns;
  size_t ncolumns;
  bool header, color;
  bool is_raw;       /* csv, tsv: bytes that are not UTF-8 stay */
  size_t max_width;  /* of a cell of the aligned table */
  size_t line_width; /* of a line of it; 0: no bound */
  uint64_t count;    /* rows written so far */
  row_text text;     /* still to be given to the file */
  FILE *file;        /* NULL: everything stays in `text` */
  size_t max_size;   /* bytes that may stay there; 0: as many as there are */
  pf_status failed;  /* PF_OK until a row could not be written */
  int errnum;        /* of a write that failed */
  row_text *batch_texts; /* texts of batches written ahead (rows.c), or NULL */

  /* of the aligned table */
  row_text cut;        /* a text that is cut to its column's bound */
  row_text waiting;    /* the texts of cells whose widths are not known */
  row_cell *cells;     /* ROW_AHEAD rows of them, and one more */
  size_t rows_waiting; /* of `cells` */
  size_t *widths;      /* by column; behind them how wide each may become */
  bool is_headed;      /* the header stands */

  const struct row_template *templates; /* of the listing */
  size_t ntemplates;
  size_t kind;        /* a field; SIZE_MAX: one template for all rows */
  int64_t origin;     /* subtracted from times in us and ms */
  pf_bytes separator; /* between rows, the first of which is not left out */
  size_t fixed_size;  /* what a row takes at most, texts not counted */
  const struct row_template *kind_cache[ROW_KINDS]; /* found, by low bits */
};

extern const row_format row_table, row_csv, row_tsv, row_json, row_ndjson,
    row_listing;


/* {====== rows_put.c: values into text ====== */

/* Make the text larger, for `more` bytes behind text->used. */
pf_status row_grow (row_text *text, size_t more);

/* Make room for `more` bytes behind text->used. */
static inline pf_status row_reserve (row_text *text, size_t more) {
  return more <= text->size - text->used ? PF_OK : row_grow(text, more);
}

/* Append bytes. */
static inline pf_status row_put (row_text *text, const void *bytes,
                                 size_t size) {
  if (row_reserve(text, size) != PF_OK)
    return PF_ENOMEM;
  if (size > 0)
    memcpy(text->at + text->used, bytes, size);
  text->used += size;
  return PF_OK;
}

/* Give the text to the file when it has grown large, or when `all` is set;
   without a file it stays. PF_EIO: job->errnum says why. PF_ELIMIT: more than
   may stay. */
pf_status row_flush (row_job *job, bool all);

/* Put a whole text behind what was written, and empty it, maybe. */
pf_status row_put_text (row_job *job, row_text *text);

/* Write spaces at `p`, where up to 15 bytes more may be overwritten; answers
   the position behind. */
static inline char *row_put_spaces (char *p, size_t count) {
  for (size_t i = 0; i < count; i += 16)
    memcpy(p + i, "                ", 16);
  return p + count;
}

/* How many bytes the UTF-8 character at p takes, 0 when it is none. */
size_t row_utf8 (const uint8_t *p, size_t left);

/* Append a text for people: what a terminal would obey, and what is not
   UTF-8, becomes \xNN. Answers through `width` the places it takes. */
pf_status row_put_printable (row_text *text, pf_bytes bytes, size_t *width);

/* Append a text as json has it, in quotes; what is not UTF-8 becomes U+FFFD. */
pf_status row_put_json (row_text *text, pf_bytes bytes);

/* Whether some byte of a word is `byte`. */
static inline bool row_has_byte (uint64_t word, char byte) {
  const uint64_t ones = 0x0101010101010101u;
  const uint64_t differs = word ^ ones * (uint8_t)byte;
  return ((differs - ones) & ~differs & 0x80 * ones) != 0;
}

/* Copy eight bytes; whether all are printable ASCII and none is `no`, `nor`. */
static inline bool row_copy_eight (char *p, const uint8_t *from, char no,
                                   char nor) {
  const uint64_t ones = 0x0101010101010101u;
  uint64_t word;
  memcpy(&word, from, 8);
  memcpy(p, &word, 8);
  return (((word - 0x20 * ones) | (word + ones) | word) & 0x80 * ones) == 0 &&
         !row_has_byte(word, no) && !row_has_byte(word, nor);
}

static inline bool row_copy_short (char *p, pf_bytes bytes, char no, char nor) {
  bool plain = true;
  for (size_t i = 0; i < bytes.size; i++) {
    p[i] = (char)bytes.at[i];
    plain &= p[i] >= 0x20 && p[i] < 0x7f && p[i] != no && p[i] != nor;
  }
  return plain;
}

/* Copy a text to `p`, eight bytes at a time, as long as it is printable ASCII
   without the bytes `no` and `nor` (0: none). False: it is not all that, and
   what stands at `p` is worth nothing. */
static inline bool row_copy_ascii (char *p, pf_bytes bytes, char no, char nor) {
  if (bytes.size < 8)
    return row_copy_short(p, bytes, no, nor);
  const size_t last = bytes.size - 8;
  bool plain = row_copy_eight(p + last, bytes.at + last, no, nor);
  for (size_t i = 0; plain && i < last; i += 8)
    plain = row_copy_eight(p + i, bytes.at + i, no, nor);
  return plain;
}

#define ROW_PREFETCH 32u /* rows whose texts are asked for at once */

void row_prefetch_next (const row_job *job, size_t row);

/* To be called before each row of a batch: names lie scattered in memory, and
   the cache misses of those that are asked for at once overlap. */
static inline void row_prefetch (const row_job *job, size_t row) {
  if (row % ROW_PREFETCH == 0)
    row_prefetch_next(job, row);
}

/* The bytes of a column of texts (PF_NAME, PF_AREA, PF_BYTES); `is_text` false for
   all other types. */
static inline bool row_is_text (pf_type type) {
  return type == PF_NAME || type == PF_AREA || type == PF_BYTES;
}

static inline pf_bytes row_bytes (const pf_column *column, size_t row,
                                  const pf_dictionary *dictionary) {
  return column->type == PF_BYTES
             ? column->bytes[row]
             : pf_text(dictionary, column->type, column->ids[row]);
}

/* }====== */


/* {====== rows_number.c: numbers into text ====== */

/* Each writes at `p`, where ROW_NUMBER_SIZE bytes (and `width`) are free, and
   answers the position behind. */
char *row_put_uint (char *p, uint64_t value);
char *row_put_int (char *p, int64_t value);
char *row_put_addr (char *p, uint64_t value);   /* 0x, lower-case hex */
char *row_put_handle (char *p, uint64_t value); /* 8 or 16 hex digits */

/* As printf "%.*f" prints it, to the last digit; precision at most 15. */
char *row_put_fixed (char *p, double value, int precision);

/* The shortest decimal that reads back as the same double. */
char *row_put_num (char *p, double value);

/* The same at the right of `width` places. */
char *row_right_int (char *p, size_t width, int64_t value);
char *row_right_fixed (char *p, size_t width, double value, int precision);

/* }====== */


/* {====== rows_listing.c: rows by a template for each kind ====== */

/* A segment of a template: a column, and the literal text behind it. */
typedef struct row_segment {
  size_t field; /* SIZE_MAX: no column, only text */
  uint32_t width;
  int32_t precision; /* -1: none. Digits of a number, places of a text */
  bool is_left;
  bool is_json;   /* as json has it, null when it is missing */
  uint8_t digits; /* a whole number: so many digits behind the point, or 0 */
  pf_bytes after;
  uint8_t head[16]; /* the first bytes of it, for a copy of fixed size */
} row_segment;

typedef struct row_template {
  uint32_t kind; /* a name of the reader's dictionary, or an area */
  const row_segment *segments;
  size_t nsegments;
} row_template;

/*
** Cut a template into segments; at most `room` (a template of n bytes never
** has more than n). The literals stay slices of `source`. A failure has the
** words for what is wrong with it.
*/
pf_status row_compile (pf_bytes source, const pf_reader *reader,
                       row_segment *segments, size_t *nsegments,
                       pf_error *error);

/* }====== */

#endif
