/*
** gmon.h - what the files of the format gmon share.
**
** A gmon.out in any dialect is a row of parts: a header, histograms, runs of
** arcs, basic blocks, and what could not be read. A parser goes from segment to
** segment, checks every length against the bytes that are there, and keeps
** nothing: opening a trace is one parser, each reader is another one.
**
**   open.c      the format: score, open, header facts, tables
**   detect.c    which dialect; measure.c: byte order and width of addresses;
**   settle.c    what BSD headers leave unsaid
**   parser.c      the parser: dispatch and damage
**   gnu.c bsd.c apple.c ldprofile.c    one dialect each
**   scale.c     from bins to addresses and back
**   read.c      the readers of arcs, blocks, sets and images
**   histogram.c the reader of histograms
**   raw.c       the reader of the parts as the file states them
**   tables.c    the schemas
**   encode.c sums.c write.c    the way out
*/

#ifndef gmon_h
#define gmon_h

#include <string.h>

#include "bytes/cursor.h"
#include "model/trace.h"
#include "profio.h"

typedef enum gmon_dialect {
  GMON_GNU,   /* "gmon", version 0 or 1 */
  GMON_BSD44, /* header with the signature 0x51879 */
  GMON_BSD,   /* header of three words, nothing to know it by */
  GMON_APPLE, /* 0xbeefbabe or 0xbeefbabf */
  GMON_LD     /* "gmon", version 0x1ffff: written by ld.so for LD_PROFILE */
} gmon_dialect;

#define GMON_DIALECTS    5
#define GMON_SIGNATURE   0x51879u /* "version" of a 4.4BSD header */
#define GMON_LD_VERSION  0x1ffffu
#define GMON_APPLE_MAGIC 0xbeefbabeu /* the next number: 8-byte addresses */
#define GMON_GNU_HEADER  20
#define GMON_BSD_RATE    100        /* hertz of old BSD files */
#define GMON_RATE_LIMIT  0x20000000 /* no real rate reaches it */
#define GMON_DIMENSION   15         /* bytes of a dimension's field */
#define GMON_MAX_ARCS    4096       /* arcs of one segment, at most */
#define GMON_MAX_BINS    0x10000000 /* of a histogram that is written */
#define GMON_MAX_REPEATS 0x4000000  /* bytes of records that repeat a key */

/* How the bytes are to be read: decided once, by detect.c. */
typedef struct gmon_layout {
  gmon_dialect dialect;
  bool big;
  unsigned width;     /* bytes of an address, 4 or 8 */
  uint32_t version;   /* as the file has it; 0 when it has none */
  unsigned header;    /* BSD: bytes of the header */
  unsigned counter;   /* bytes of a bin: 1, 2, 4 or 8 */
  bool is_signed;     /* the bins are signed */
  unsigned arc_count; /* bytes of an arc's count: 4 or 8 */
  uint32_t rate;      /* takes the place of the file's rate; 0: does not */
  bool is_strict;     /* an implausible histogram header ends the parser */
} gmon_layout;

typedef enum gmon_kind {
  GMON_HEADER,    /* of the file, or of a table of arcs */
  GMON_HISTOGRAM, /* its header and its bins */
  GMON_ARCS,      /* 1 to GMON_MAX_ARCS arcs */
  GMON_BLOCKS,    /* a record of basic blocks */
  GMON_IMAGES,    /* Apple's list of loaded images */
  GMON_UNKNOWN,   /* skipped: a kind of record nobody described */
  GMON_REST       /* bytes from which on nothing could be read */
} gmon_kind;

#define GMON_KINDS 7

/* A stretch of the file. Parts follow each other without gaps. */
typedef struct gmon_segment {
  gmon_kind kind;
  uint64_t offset, size; /* all its bytes */
  uint64_t items_at;     /* where its first bin, arc or block is */
  uint64_t count;        /* how many whole ones are there */
  uint64_t declared;     /* how many the file says there are */
  uint64_t stride;       /* bytes from one to the next */
  unsigned count_width;  /* arcs: bytes of the count */
  bool has_order;        /* arcs: a u32 follows the count */
  uint64_t base;         /* arcs: added to addresses, but to a `from` of 0 */
  uint64_t low, high;    /* histogram: its range of addresses */
  uint32_t rate;         /* histogram: as the file has it */
  pf_bytes dimension;    /* histogram: at is NULL where none is stated */
  uint8_t abbreviation;
} gmon_segment;

/* Why a parser could go no further. */
typedef enum gmon_end {
  GMON_COMPLETE,  /* the bytes end where a record ends */
  GMON_TRUNCATED, /* they end table_left a record */
  GMON_INVALID    /* what stands there is no record */
} gmon_end;

/* A position between two parts. */
typedef struct gmon_parser {
  const gmon_layout *layout;
  pf_bytes bytes;
  uint64_t at;         /* the next segment begins here; never past bytes.size */
  unsigned state;      /* what comes next, in dialects without tags */
  uint64_t table_left; /* bytes left of the table of arcs the parser is in */
  uint64_t base;       /* LD_PROFILE: low of the histogram, where text begins */
  gmon_end end;        /* when the parser has ended: why */
  uint64_t valid_end;  /* where the last whole record ends */
  pf_trace *trace;     /* oddities are reported to it; NULL: to nobody */
  pf_error *error;
} gmon_parser;

/* What one parser over everything found. */
typedef struct gmon_totals {
  uint64_t sets, bins, arcs, blocks, block_records, images, parts, raw_rows;
} gmon_totals;

/* The state of an opened trace. */
typedef struct gmon_file {
  gmon_layout layout;
  gmon_totals totals;
  bool extended; /* the scale was made in extended precision */
  pf_table tables[6];
} gmon_file;


/* detect.c */

/* Decide how the bytes of a trace are to be read. PF_EFORMAT,
   PF_ETRUNCATED or PF_EUNSUPPORTED, in words, when they cannot be. */
pf_status gmon_detect (pf_trace *trace, gmon_layout *layout, pf_error *error);

/* How sure it is, 0 to 100, that these are the first bytes of a gmon.out of
   `size` bytes. */
int gmon_score (pf_bytes head, uint64_t size);

extern const char *const gmon_dialect_names[GMON_DIALECTS];


/* parser.c */

/* A parser from the start. `trace` may be NULL: then nothing is reported. */
gmon_parser gmon_new_parser (const gmon_layout *layout, pf_bytes bytes,
                             pf_trace *trace, pf_error *error);

/* The next segment: PF_MORE, PF_END, or a failure when reporting failed. */
pf_status gmon_next_segment (gmon_parser *parser, gmon_segment *segment);

/* Say what is odd, when somebody listens. Answers what pf_warn does. */
pf_status gmon_report (gmon_parser *parser, pf_note_kind kind, const char *code,
                       pf_status status, uint64_t offset, const char *format,
                       ...) PF_PRINTF(6, 7);

/* Report that a record at the parser's position needs more bytes than are
   left, and make what is left the last segment. */
pf_status gmon_truncated (gmon_parser *parser, gmon_segment *segment,
                          const char *what, uint64_t needed);

/* The same for bytes that are no record; the caller has reported. */
void gmon_take_rest (gmon_parser *parser, gmon_segment *segment, gmon_end end);

/* Make the next `size` bytes, which are there, the segment, and go past. */
void gmon_take_segment (gmon_parser *parser, gmon_segment *segment,
                        gmon_kind kind, uint64_t size);

/* Report bins that are cut off, and ranges and rates that make no sense. */
pf_status gmon_check_histogram (gmon_parser *parser,
                                const gmon_segment *segment);

static inline uint64_t gmon_left (const gmon_parser *parser) {
  return parser->bytes.size - parser->at;
}

static inline const uint8_t *gmon_here (const gmon_parser *parser) {
  return parser->bytes.at + parser->at;
}

/* An address of the layout's width. */
static inline uint64_t gmon_address (const gmon_layout *layout,
                                     const uint8_t *at) {
  return pf_load(at, layout->width, layout->big);
}


/* gnu.c, bsd.c, apple.c, ldprofile.c: the next segment of one dialect. The
   parser is not at the end of the bytes. */
pf_status gmon_parse_gnu (gmon_parser *parser, gmon_segment *segment);
pf_status gmon_parse_bsd (gmon_parser *parser, gmon_segment *segment);
pf_status gmon_parse_apple (gmon_parser *parser, gmon_segment *segment);
pf_status gmon_parse_ld (gmon_parser *parser, gmon_segment *segment);

/* A GNU histogram whose tag of `tag` bytes stands at the parser. */
pf_status gmon_gnu_histogram (gmon_parser *parser, gmon_segment *segment,
                              unsigned tag);

/* Whether the 40 or so bytes behind a tag read as a histogram header; they
   must be there (gmon_histogram_header of them). */
bool gmon_plausible_histogram (const gmon_layout *layout,
                               const uint8_t *header);

/* Bytes of a GNU histogram's header behind its tag. */
static inline uint64_t gmon_histogram_header (const gmon_layout *layout) {
  return 2 * (uint64_t)layout->width + 24;
}

/* The fields of a BSD header. */
typedef struct gmon_bsd {
  uint64_t low, high;
  uint32_t ncnt; /* bytes of the header and the bins */
  uint32_t signature, rate;
  int32_t counter; /* FreeBSD: bits of a bin, negative when signed */
} gmon_bsd;

/* Read a BSD header of layout->header bytes, which are there. */
gmon_bsd gmon_bsd_header (const gmon_layout *layout, const uint8_t *at);

/* Bytes of an arc in a BSD file. */
static inline uint64_t gmon_bsd_arc (const gmon_layout *layout) {
  return 3 * (uint64_t)layout->width;
}


/* scale.c */

/* How the bins of a histogram lie in its range. */
typedef struct gmon_scale {
  uint64_t low;
  uint64_t range, bins; /* range 0: the bins have no place */
  uint64_t bin_size;    /* bytes of each bin when all are equal, else 0 */
  uint64_t factor;      /* profil's scale, 65536 for bins of 2 bytes; or 0 */
} gmon_scale;

/* `extended`: the machine that wrote it divided in extended precision. */
gmon_scale gmon_scale_of (uint64_t low, uint64_t high, uint64_t bins,
                          bool extended);

/* The first address of a bin (bin == bins: the end of the last one). */
uint64_t gmon_bin_start (const gmon_scale *scale, uint64_t bin);

/* First addresses of the bins numbers[i] + shift (0 or 1), for rising
   numbers: no division where one bin follows the other. */
void gmon_bin_starts (const gmon_scale *scale, const uint32_t *numbers,
                      size_t count, unsigned shift, uint64_t *starts);

/*
** Shortens a scale to fewer bins: `bins` becomes their number, at least as many
** as before the call and at most twice that and 4,096 more, and `high` the end
** of their range, so that the first `*bins` bins begin where they did. False
** when no range does that.
*/
bool gmon_scale_shorten (const gmon_scale *scale, bool extended, uint64_t *bins,
                         uint64_t *high);

/* The bin that begins at `address`; false when none does. */
bool gmon_bin_at (const gmon_scale *scale, uint64_t address, uint64_t *bin);


/* read.c */

/* What all readers of gmon begin with. A reader takes the parts it has a
   use for, one after the other, and of each a run of rows at a time. */
typedef struct gmon_reader gmon_reader;
struct gmon_reader {
  pf_reader reader;
  pf_trace *trace;
  const gmon_file *file;
  gmon_parser parser;
  gmon_segment segment; /* the one being read */
  uint64_t rows;        /* rows it has */
  uint64_t row;         /* the next one to give */
  int64_t set;          /* number of the last histogram met; -1: none yet */

  /* How many rows a segment has here; 0: it is passed over. */
  uint64_t (*rows_of)(const gmon_segment *segment);

  /* Fill rows of the batch from reader->row on, and advance it. At least
     one is left and there is room for at least one. */
  pf_status (*fill)(gmon_reader *self, pf_batch *batch, pf_error *error);
};

/* Make `size` bytes of reader, zero but for what every reader has. */
pf_status gmon_reader_make (pf_trace *trace, const pf_table *table, size_t size,
                            gmon_reader **made, pf_error *error);

/* How many rows may be nonzero now: what is left and what has room. */
size_t gmon_fillable_rows (const gmon_reader *self, const pf_batch *batch);

/* The first byte of item number `row` of the reader's segment. */
static inline const uint8_t *gmon_item (const gmon_reader *self, uint64_t row) {
  return self->parser.bytes.at + self->segment.items_at +
         row * self->segment.stride;
}

/* The rate in force for a segment: the file's or the option's. */
static inline uint32_t gmon_rate (const gmon_layout *layout,
                                  const gmon_segment *segment) {
  return layout->rate != 0 ? layout->rate : segment->rate;
}

/* The dimension of a histogram; BSD files count seconds and do not say. */
pf_bytes gmon_dimension (const gmon_segment *segment);
pf_bytes gmon_abbreviation (const gmon_segment *segment);

/* Mark a count above 2^63 - 1, which stands at `offset`, as missing, and
   warn. Strict: the failure. */
pf_status gmon_count_too_large (const gmon_reader *self, pf_column *column,
                                size_t row, uint64_t offset, pf_error *error);

/* Load one number of each of `count` records. */
void gmon_load_column (uint64_t *out, const uint8_t *at, size_t stride,
                       size_t count, unsigned width, bool big);

/* Put a string in a column of names. */
pf_status gmon_put_name (pf_dictionary *dictionary, pf_column *column,
                         size_t row, pf_bytes text, pf_error *error);

/* The readers of the tables, for pf_table.open. */
pf_status gmon_open_histogram (pf_trace *trace, const pf_table *table,
                               pf_reader **reader, pf_error *error);
pf_status gmon_open_arcs (pf_trace *trace, const pf_table *table,
                          pf_reader **reader, pf_error *error);
pf_status gmon_open_blocks (pf_trace *trace, const pf_table *table,
                            pf_reader **reader, pf_error *error);
pf_status gmon_open_sets (pf_trace *trace, const pf_table *table,
                          pf_reader **reader, pf_error *error);
pf_status gmon_open_images (pf_trace *trace, const pf_table *table,
                            pf_reader **reader, pf_error *error);
pf_status gmon_open_raw (pf_trace *trace, const pf_table *table,
                         pf_reader **reader, pf_error *error);

/* The bytes of a C string. */
static inline pf_bytes gmon_text (const char *text) {
  return (pf_bytes){(const uint8_t *)text, strlen(text)};
}

/* Whether a column is to be nonzero. */
static inline bool gmon_wanted (const pf_batch *batch, size_t column) {
  return batch->columns[column].data != NULL;
}


/* tables.c: the schemas, and the numbers of their columns. */

enum {
  HISTOGRAM_SET,
  HISTOGRAM_LOW,
  HISTOGRAM_HIGH,
  HISTOGRAM_COUNT,
  HISTOGRAM_SECONDS,
  HISTOGRAM_SPENT,
  HISTOGRAM_BIN,
  HISTOGRAM_REST, /* hidden, as the next: of spent */
  HISTOGRAM_RATE, /* of seconds: the rate */
  HISTOGRAM_COLUMNS
};
enum {
  ARCS_FROM,
  ARCS_TO,
  ARCS_COUNT,
  ARCS_ORDER,
  ARCS_COLUMNS
};
enum {
  BLOCKS_ADDRESS,
  BLOCKS_COUNT,
  BLOCKS_COLUMNS
};
enum {
  SETS_SET,
  SETS_LOW,
  SETS_HIGH,
  SETS_BINS,
  SETS_RATE,
  SETS_DIMENSION,
  SETS_ABBREVIATION,
  SETS_OFFSET,
  SETS_DECLARED,
  SETS_COLUMNS
};
enum {
  IMAGES_ADDRESS,
  IMAGES_PATH,
  IMAGES_COLUMNS
};
enum {
  RAW_OFFSET,
  RAW_SIZE,
  RAW_KIND,
  RAW_LOW,
  RAW_HIGH,
  RAW_BINS,
  RAW_RATE,
  RAW_DIMENSION,
  RAW_ABBREVIATION,
  RAW_FROM,
  RAW_TO,
  RAW_COUNT,
  RAW_ORDER,
  RAW_BYTES,
  RAW_COLUMNS
};

extern const pf_field gmon_histogram_fields[HISTOGRAM_COLUMNS];
extern const pf_field gmon_arcs_fields[ARCS_COLUMNS];
extern const pf_field gmon_blocks_fields[BLOCKS_COLUMNS];
extern const pf_field gmon_sets_fields[SETS_COLUMNS];
extern const pf_field gmon_images_fields[IMAGES_COLUMNS];
extern const pf_field gmon_raw_fields[RAW_COLUMNS];

/* The tables the encoder takes, by number. */
enum {
  WRITTEN_SETS,
  WRITTEN_HISTOGRAM,
  WRITTEN_ARCS,
  WRITTEN_BLOCKS,
  WRITTEN_TABLES
};
extern const pf_table gmon_written[WRITTEN_TABLES];


/* encode.c */
pf_status gmon_encoder (const pf_option *options, size_t noptions,
                        pf_dictionary *dictionary, pf_encoder **encoder,
                        pf_error *error);

#endif
