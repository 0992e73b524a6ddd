/*
** rows.h - conversion of whole batches to text, RowBinary or track packets,
** shared by the .c files of this folder. Used by lua/row_text.c, the exports of
** lua/profile and lua/stages/lane_overview.c.
**
** A job writes the rows of a reader in one format (an aligned table, csv, json,
** ..., or a listing with a template for each kind of row) into a text buffer,
** which is written to a file in large blocks.
**
** Functions return PF_OK, PF_ENOMEM, PF_EIO (job->errnum has the reason),
** PF_EUNSUPPORTED (job->refusal describes it) or PF_ELIMIT. The job owns its
** buffers; lua/row_text.c or lua/profile/export.c frees them. It borrows the
** reader, the columns, the templates and the file.
*/

#ifndef rows_h
#define rows_h

#include <stdio.h>
#include <string.h>

#include "model/base/charset.h"
#include "model/base/id_table.h"
#include "model/dictionary/shared_names.h"
#include "model/rows/batch.h"

/* Maximum bytes of a number without padding. */
#define ROW_NUMBER_SIZE 360

/* A growing buffer of text. Space is reserved once per value or row. The owner
   of the buffer frees `at`. */
typedef struct row_text {
  char *at;
  size_t used, size;
} row_text;

/* A column of the output. */
typedef struct row_column {
  size_t field; /* index of the reader's field */
  const char *name;
  pf_type type;
  int64_t unit;    /* aligned table: ns of the unit shown, or 1 */
  int digits;      /* aligned table: decimals of the unit shown */
  pf_bytes suffix; /* aligned table: the unit, after the name; "": none */
  bool is_time;
  bool is_date;  /* aligned table: show ns since 1970 as date and time in UTC */
  bool is_share; /* aligned table: show a fraction as per cent */
  bool is_key;   /* RowBinary: never missing, so it has no missing mark */
} row_column;

#define ROW_AHEAD 4096u /* rows measured before the first of them is written */
#define ROW_KINDS 256u  /* a power of two */

typedef struct row_job row_job;

/* An output format. */
typedef struct row_format {
  const char *name;
  pf_status (*begin)(row_job *job); /* before the first row; or NULL */
  pf_status (*rows)(row_job *job);  /* for each batch that has rows */
  pf_status (*end)(row_job *job);   /* after the last row; or NULL */
  bool is_independent; /* rows depend only on whether an earlier row exists */
} row_format;

/* A cell of the aligned table whose column width is not known yet. */
typedef struct row_cell {
  size_t at;    /* begin of its text in `waiting` */
  size_t width; /* characters; wide ones count as 1 */
} row_cell;

/* track_packets.c: */

/* Types of events, as Perfetto numbers them. */
enum {
  ROW_BEGIN = 1, /* a slice begins, or */
  ROW_END,       /* ... the innermost one of its track ends */
  ROW_INSTANT,
  ROW_COUNTER
};

/* A kind of rows, or a track. */
typedef struct row_entry {
  uint32_t key;   /* id in the column of kinds, or of tracks */
  uint64_t value; /* the type of the event, or the uuid */
  bool is_open;   /* of a track that a column names: its last event began a
                     slice */
} row_entry;

/* The conversion of the rows of a job to packets. Fields are indices of
   columns; SIZE_MAX: none. `kinds` and `tracks` are borrowed; lua/row_text.c
   frees the rest. */
typedef struct row_packets {
  uint64_t sequence;
  int64_t origin; /* ns, subtracted from all times */
  int64_t last;   /* the latest time of a packet so far */
  int64_t stop;   /* when slices end that are open after the last row */
  size_t time;
  size_t kind;  /* without it each row is a value or an instant */
  size_t by;    /* names the track of a row; without it there is one */
  size_t name;  /* of a slice or an instant */
  size_t value; /* of a counter */
  size_t net, flags;
  bool has_flows;  /* slices of one name are joined by arrows */
  bool is_escaped; /* in names %XX is the byte XX */
  row_entry *kinds, *tracks;
  size_t nkinds, ntracks;
  pf_id_table keys;  /* keys of tracks; the id is the index */
  pf_id_table names; /* names that are written */
  row_text plain;    /* buffer of a name */
} row_packets;

/* Where text goes: to a descriptor, or through a function that may only be
   called in the thread of its owner; without text it writes what it has
   buffered. */
typedef struct row_target {
  int fd; /* -1: none */
  bool (*write)(void *context, int arg, const char *at, size_t size,
                int *errnum); /* NULL: none */
  void *context;
  int arg;
  int errnum; /* why nothing can be written; 0: it can */
} row_target;

/* Of a job whose text stays in memory. */
#define ROW_IN_MEMORY ((row_target){.fd = -1})

static inline bool row_has_target (const row_target *target) {
  return target->fd >= 0 || target->write != NULL;
}

struct row_job {
  pf_reader *reader;
  bool *wanted;   /* flags of the reader's fields */
  pf_batch batch; /* current batch; borrowed */
  const row_format *format;
  row_column *columns;
  size_t ncolumns;
  bool header, color;
  bool is_raw;        /* csv, tsv: keep bytes that are not UTF-8 */
  bool no_formulas;   /* csv, tsv: mark texts that spreadsheets compute */
  bool has_bom;       /* csv, tsv: a byte order mark before the header row */
  char delimiter;     /* csv, tsv: the byte between values */
  char decimal;       /* csv, tsv: the decimal sign of numbers */
  size_t max_width;   /* of a cell of the aligned table */
  size_t line_width;  /* of the aligned table; 0: unlimited */
  bool has_stacks;    /* a column of stacks is written */
  uint32_t max_depth; /* RowBinary: outermost frames written of a stack; 0: all,
                         but a very deep stack is refused */
  uint64_t count;     /* rows written before the current batch */
  row_text text;      /* not written to the file yet */
  row_target target;  /* none: all text stays in `text` */
  size_t max_size;    /* maximum of `text` in memory; 0: unlimited */
  pf_status failed;   /* PF_OK, or the first failure of writing */
  int errnum;         /* errno of a failed write */
  pf_error refusal;   /* after PF_EUNSUPPORTED: the row that has no such form */
  row_text
      *batch_texts; /* texts of batches written ahead (row_text.c), or NULL */

  /* aligned table: */
  size_t about; /* the field that names the columns whose values are estimates,
                   or nfields */
  row_text cut; /* a text cut to the width of its column, or a header */
  pf_shared_names shared; /* names of areas of several files */
  row_text full;          /* such a name with its file */
  row_text waiting;       /* texts of cells that wait for their widths */
  row_cell *cells;        /* ROW_AHEAD rows of cells, and one more */
  size_t rows_waiting;    /* rows in `cells` */
  size_t *widths;    /* by column; followed by their upper bounds, and by the
                          widths of the headers */
  bool chooses_unit; /* the unit of times is that of the largest one */
  bool is_headed;    /* the header has been written */
  size_t nhidden;    /* columns left out, whose upper bound is 0 */

  const struct row_template *templates; /* listing: */
  size_t ntemplates;
  size_t kind;        /* a field; SIZE_MAX: one template for all rows */
  int64_t origin;     /* subtracted from times in us and ms */
  pf_bytes separator; /* before each row but the first one, which must
                            have a template */
  size_t fixed_size;  /* maximum bytes of a row without its texts */
  const struct row_template *kind_cache[ROW_KINDS]; /* by low bits */

  row_packets packets;
};

extern const row_format row_table, row_csv, row_tsv, row_json, row_ndjson,
    row_rowbinary, row_listing, row_track_packets;


#define ROW_UNITS 4 /* ns, us, ms, s */

/* Shows the times of a job in a unit: 0 ns, 1 us, 2 ms, 3 s. */
void row_set_unit (row_job *job, size_t unit);

/* Returns the field that names the columns whose values are estimates
   (kernels/group/estimates.h), or nfields. */
size_t row_about (const pf_reader *reader);

/* Enlarges the buffer so that `more` bytes are free. */
pf_status row_grow (row_text *text, size_t more);

/* Makes sure that `more` bytes are free. */
static inline pf_status row_reserve (row_text *text, size_t more) {
  return more <= text->size - text->used ? PF_OK : row_grow(text, more);
}

/* Appends bytes. */
static inline pf_status row_put (row_text *text, const void *bytes,
                                 size_t size) {
  if (row_reserve(text, size) != PF_OK)
    return PF_ENOMEM;
  if (size > 0)
    memcpy(text->at + text->used, bytes, size);
  text->used += size;
  return PF_OK;
}

/* Writes the text to the file if it is large; with `all` always, and flushes
   the file. Without a file the text stays; PF_ELIMIT if it exceeds max_size. */
pf_status row_flush (row_job *job, bool all);

/* Appends a whole text. If there is a file, both are written and emptied. */
pf_status row_put_text (row_job *job, row_text *text);

/* Writes spaces at `p`, possibly up to 15 bytes too many; returns p + count. */
static inline char *row_put_spaces (char *p, size_t count) {
  for (size_t i = 0; i < count; i += 16)
    memcpy(p + i, "                ", 16);
  return p + count;
}

/* Appends a text for a terminal: control characters and bytes that are not
   UTF-8 become \xNN, characters that a terminal hides or that turn the order
   of others \uNNNN. Sets *width to its number of characters. */
pf_status row_put_printable (row_text *text, pf_bytes bytes, size_t *width);

/* Appends a text as a JSON string; bytes that are not UTF-8 become U+FFFD. */
pf_status row_put_json (row_text *text, pf_bytes bytes);

/* Copies a text to `p`, where its size is free, up to its first byte that is
   not printable ASCII, or is one of `no` and `nor` (0: none). Returns the
   number of bytes before that; what follows them in `p` is undefined. */
static inline size_t row_copy_plain (char *p, pf_bytes bytes, char no,
                                     char nor) {
  const uint64_t ones = 0x0101010101010101, high = ones << 7;
  size_t i = 0;
  for (; bytes.size - i >= 8; i += 8) { /* eight bytes at once */
    uint64_t word;
    memcpy(&word, bytes.at + i, 8);
    memcpy(p + i, &word, 8);
    const uint64_t bad = word | (word - ones * 0x20) |
                         ((word ^ ones * 0x7f) - ones) |
                         ((word ^ ones * (uint8_t)no) - ones) |
                         ((word ^ ones * (uint8_t)nor) - ones);
    if ((bad & high) != 0)
      break;
  }
  for (; i < bytes.size; i++) {
    const uint8_t c = bytes.at[i];
    if ((unsigned)(c - 0x20) >= 0x5f || c == (uint8_t)no || c == (uint8_t)nor)
      break;
    p[i] = (char)c;
  }
  return i;
}

/* Copies a text to `p`. Returns whether it consists of printable ASCII without
   the bytes `no` and `nor` (0: none); otherwise `p` is undefined. */
static inline bool row_copy_ascii (char *p, pf_bytes bytes, char no, char nor) {
  return row_copy_plain(p, bytes, no, nor) == bytes.size;
}

/* Whether a column contains texts; row_bytes returns one of them. */
static inline bool row_is_text (pf_type type) {
  return type == PF_NAME || type == PF_AREA || type == PF_BYTES;
}

static inline pf_bytes row_bytes (const pf_column *column, size_t row,
                                  const pf_dictionary *dictionary) {
  return column->type == PF_BYTES
             ? column->bytes[row]
             : pf_text(dictionary, column->type, column->ids[row]);
}


/* The functions from here to row_right_fixed write a number at `p`, where
   ROW_NUMBER_SIZE bytes (and `width`) are free, and return the position after
   the number. */
char *row_put_uint (char *p, uint64_t value);
char *row_put_int (char *p, int64_t value);

/* Write ns since 1970 in UTC, down to the second: 2026-03-01 12:00:00. */
char *row_put_date (char *p, int64_t ns);


/* Writes value / 10^decimals, with that many digits after the point; without
   decimals, no point. */
char *row_put_decimals (char *p, uint64_t value, size_t decimals);

/* As printf "%.*f", correctly rounded; precision 0 to 15. */
char *row_put_fixed (char *p, double value, int precision);

/* As printf "%.*g". */
char *row_put_significant (char *p, double value, int digits);

/* Writes a value of any type except texts; a boolean as true or false. */
char *row_put_value (char *p, const pf_column *column, size_t row);

/* Writes the shortest decimal that reads back as the same double. */
char *row_put_num (char *p, double value);

/* The same, right-aligned in `width` columns. */
char *row_right_int (char *p, size_t width, int64_t value);
char *row_right_fixed (char *p, size_t width, double value, int precision);


#define ROW_LITERAL 16 /* bytes of a literal in one segment */

/* A segment of a template: a column, followed by literal text. */
typedef struct row_segment {
  size_t field; /* SIZE_MAX: no column */
  uint32_t width;
  int32_t precision; /* decimals, or characters of a text; -1: none */
  bool is_left;
  bool is_json;   /* {column:json} */
  uint8_t digits; /* {column:us} 3, {column:ms} 6, else 0 */
  uint8_t literal_size;
  char literal[ROW_LITERAL]; /* a copy, for a copy of constant size */
} row_segment;

typedef struct row_template {
  uint32_t kind; /* name id of the reader's dictionary, or area id */
  const row_segment *segments; /* borrowed */
  size_t nsegments;
} row_template;

/*
** Compiles a template to segments; one of n bytes has at most n, for which the
** caller has room. PF_EFORMAT has a message.
*/
pf_status row_compile (pf_bytes source, const pf_reader *reader,
                       row_segment *segments, size_t *nsegments,
                       pf_error *error);


#endif
