/*
** gmon.h - types and functions that the files of the format gmon share.
**
** A gmon.out of any dialect is a sequence of segments: headers, histograms,
** arcs, basic blocks, and bytes that cannot be read. All functions are called
** by the files of this folder; other code uses pf_format_gmon.
**
** gmon_detect and gmon_detect_counters determine the layout of the bytes once,
** at open. A parser then yields the segments: gmon_new_parser makes one,
** gmon_next_segment is called until it returns PF_END. It compares each length
** with the size of the file and stores no segments. It owns no memory: all
** slices point into the source of the trace. The trace owns the gmon_file
** (trace->state); lua/checked_reader.c closes the readers, which own nothing
** but themselves. Opening a trace parses
** the whole file; each reader parses it again. Damage is reported to the trace
** as warnings with codes "gmon-...".
**
**   open_gmon.c         the format: open, info, tables and their schemas
**   detect_gmon.c       score; dialect; order and width of BSD and Apple
**   width.c             byte order and address width of GNU and LD_PROFILE
**   counters.c          types of counters, and the rate, that BSD headers lack
**   parser_gmon.c       the parser: dispatch and warnings
**   gnu.c bsd.c apple.c the dialects
**   scale.c             converts bins to addresses and back
**   read_gmon.c         functions of all readers; arcs, blocks, sets and images
**   histogram.c         the reader of histograms
**   raw_gmon.c          the reader of all segments
**   encode_gmon.c write_gmon.c
**                       the encoder
**   sum_gmon.c          the sum of many files of one program
*/

#ifndef gmon_h
#define gmon_h

#include <string.h>

#include "bytes/cursor.h"
#include "model/rows/abilities.h"
#include "model/rows/batch.h"
#include "model/rows/trace.h"
#include "profio.h"
#include "model/base/pair_counts.h"
#include "model/writer/encoder.h"

typedef enum gmon_dialect {
  GMON_GNU,   /* "gmon", version 0 or 1 */
  GMON_BSD44, /* header with the signature 0x51879 */
  GMON_BSD,   /* header of low, high and size without a signature */
  GMON_APPLE, /* 0xbeefbabe or 0xbeefbabf */
  GMON_LD     /* "gmon", version 0x1ffff: written by ld.so for LD_PROFILE */
} gmon_dialect;

#define GMON_DIALECTS    5
#define GMON_SIGNATURE   0x51879u /* in the header of 4.4BSD */
#define GMON_LD_VERSION  0x1ffffu
#define GMON_APPLE_MAGIC 0xbeefbabeu /* plus 1: addresses of 8 bytes */
#define GMON_GNU_HEADER  20
#define GMON_BSD_RATE    100        /* hertz, assumed for old BSD files */
#define GMON_RATE_LIMIT  0x20000000 /* above all rates in use */
#define GMON_DIMENSION   15         /* bytes of the field dimension */
#define GMON_MAX_ARCS    4096       /* maximum of a segment */
#define GMON_MAX_BINS    0x10000000 /* maximum of a histogram that is written */
#define GMON_MAX_REPEATS 0x4000000  /* bytes of repeated records */

/* The layout of the bytes, determined once at open: gmon_detect, then
   gmon_detect_counters. */
typedef struct gmon_layout {
  gmon_dialect dialect;
  bool big;
  unsigned width;       /* bytes of an address, 4 or 8 */
  uint32_t version;     /* as stated; 0: none */
  unsigned header_size; /* BSD and Apple: bytes of a histogram's header */
  unsigned counter;     /* bytes of a bin: 1, 2, 4 or 8; GNU: 2 or 8 */
  bool is_signed;       /* the bins are signed */
  unsigned arc_count;   /* bytes of an arc's count: 4 or 8 */
  uint32_t rate;        /* option, replaces the rate of the file; 0: unset */
  bool is_strict;       /* an implausible histogram header ends parsing */
} gmon_layout;

typedef enum gmon_kind {
  GMON_HEADER,    /* of the file, or of a table of arcs */
  GMON_HISTOGRAM, /* a histogram header and its bins */
  GMON_ARCS,      /* 1 to GMON_MAX_ARCS arcs */
  GMON_BLOCKS,    /* a record of basic blocks */
  GMON_IMAGES,    /* Apple's list of loaded images */
  GMON_UNKNOWN,   /* skipped: a record of unknown type */
  GMON_REST       /* bytes after a point where parsing ends */
} gmon_kind;

#define GMON_KINDS 7

/* A segment of the file. Segments cover the file without gaps. */
typedef struct gmon_segment {
  gmon_kind kind;
  uint64_t offset, size; /* of the whole segment */
  uint64_t items_at;     /* offset of its first bin, arc or block */
  uint64_t count;        /* complete items in the file; images: as stated */
  uint64_t declared;     /* number of items that the file states */
  uint64_t stride;       /* bytes from one item to the next */
  unsigned count_width;  /* arcs: bytes of the count */
  bool has_order;        /* arcs: a u32 follows, the order of the first call */
  uint64_t base;         /* arcs: added to addresses, except a `from` of 0 */
  uint64_t low, high;    /* histogram: address range, `high` exclusive */
  uint32_t rate;         /* histogram: as stated; old BSD: GMON_BSD_RATE */
  pf_bytes dimension;    /* histogram: `at` is NULL if not stated */
  uint8_t abbreviation;
} gmon_segment;

/* Why parsing ended. */
typedef enum gmon_end {
  GMON_COMPLETE,  /* at the end of a record */
  GMON_TRUNCATED, /* inside a record */
  GMON_INVALID    /* at bytes that are not a record */
} gmon_end;

/* The state of the parser, between two segments. All pointers are borrowed. */
typedef struct gmon_parser {
  const gmon_layout *layout;
  pf_bytes bytes;
  uint64_t at;         /* offset of the next segment, at most bytes.size */
  unsigned state;      /* dialects without tags: what follows */
  uint64_t table_left; /* bytes left in the current table of arcs */
  uint64_t base;       /* LD_PROFILE: start of the text segment */
  gmon_end end;        /* valid after the last segment */
  uint64_t valid_end;  /* end of the last complete record */
  pf_trace *trace;     /* receives warnings; NULL: none are reported */
  pf_error *error;
} gmon_parser;

/* Row counts of the whole file. */
typedef struct gmon_totals {
  uint64_t sets, bins, arcs, blocks, block_records, images, raw_rows;
} gmon_totals;

/* The state of an opened trace (pf_trace.state), owned by the trace. */
typedef struct gmon_file {
  gmon_layout layout;
  gmon_totals totals;
  bool extended; /* option extended_precision, see gmon_scale_of */
  pf_table tables[6];
} gmon_file;

/* detect_gmon.c, with width.c and counters.c */

/* The caller's options. Unset ones are 0 or -1. */
typedef struct gmon_options {
  int dialect;        /* a gmon_dialect, or -1 */
  unsigned width;     /* 4, 8, or 0 */
  int order;          /* 0 little, 1 big, or -1 */
  unsigned elf_width; /* of the executable: used only if both widths fit */
  int elf_order;
} gmon_options;

/* width.c: detect version, byte order and width of a file that begins with
   "gmon" and has a complete header. PF_EUNSUPPORTED: another version;
   PF_EFORMAT: both widths or both orders fit equally well; or the result of
   pf_warn. */
pf_status gmon_detect_gnu (pf_trace *trace, const gmon_options *options,
                           gmon_layout *layout, pf_error *error);

/* counters.c: add counter types and the option rate to a layout.
   PF_EUNSUPPORTED for an invalid option, or the result of pf_warn. */
pf_status gmon_detect_counters (pf_trace *trace, gmon_layout *layout,
                                pf_error *error);

/* Read an option that is a width in bytes: 4, 8, or 0 if it is unset.
   PF_EUNSUPPORTED for another number. */
pf_status gmon_width_option (const pf_trace *trace, const char *name,
                             unsigned *width, pf_error *error);

/* Determine the layout of a trace. Returns PF_EFORMAT, PF_ETRUNCATED or
   PF_EUNSUPPORTED if the file cannot be read, or PF_ENOMEM. */
pf_status gmon_detect (pf_trace *trace, gmon_layout *layout, pf_error *error);

/* pf_format.score: 0 to 100. */
int gmon_score (pf_bytes head, uint64_t size);

extern const char *const gmon_dialect_names[GMON_DIALECTS];

/* parser_gmon.c */

/* A parser at the start. With `trace` NULL nothing is reported and nothing
   fails. */
gmon_parser gmon_new_parser (const gmon_layout *layout, pf_bytes bytes,
                             pf_trace *trace, pf_error *error);

/* Parse the next segment. Returns PF_MORE, PF_END, or a failure when pf_warn
   fails. */
pf_status gmon_next_segment (gmon_parser *parser, gmon_segment *segment);

/* Add a warning to the trace, if there is one. Returns the result of
   pf_warn. */
pf_status gmon_report (gmon_parser *parser, pf_note_kind kind, const char *code,
                       pf_status status, uint64_t offset, const char *format,
                       ...) PF_PRINTF(6, 7);

/* Report that a record needs `needed` bytes and fewer are left; the remaining
   bytes become the last segment. */
pf_status gmon_truncated (gmon_parser *parser, gmon_segment *segment,
                          const char *what, uint64_t needed);

/* Set the segment to the rest and end parsing. The caller reports the
   reason. */
void gmon_take_rest (gmon_parser *parser, gmon_segment *segment, gmon_kind kind,
                     gmon_end end);

/* Set the segment to the next `size` bytes, which must exist, and advance. */
void gmon_take_segment (gmon_parser *parser, gmon_segment *segment,
                        gmon_kind kind, uint64_t size);

/* Set the segment to arcs of segment->stride bytes from the next `available`
   bytes, which must exist, and advance: at most GMON_MAX_ARCS. */
void gmon_take_arcs (gmon_parser *parser, gmon_segment *segment,
                     uint64_t available);

/* The same for the table_left bytes of a table of arcs; after its last arc the
   state becomes `next`. */
pf_status gmon_take_table (gmon_parser *parser, gmon_segment *segment,
                           unsigned next);

/* Report a reversed address range, or else a rate of 0; and missing bins, or
   else that the histogram has none. */
pf_status gmon_check_histogram (gmon_parser *parser,
                                const gmon_segment *segment);

static inline uint64_t gmon_left (const gmon_parser *parser) {
  return parser->bytes.size - parser->at;
}

static inline const uint8_t *gmon_here (const gmon_parser *parser) {
  return parser->bytes.at + parser->at;
}

/* Load an address of the layout's width and byte order. */
static inline uint64_t gmon_address (const gmon_layout *layout,
                                     const uint8_t *at) {
  return pf_load(at, layout->width, layout->big);
}

/* gnu.c, bsd.c, apple.c: parse the next segment of one dialect. At least one
   byte must be left. */
pf_status gmon_parse_gnu (gmon_parser *parser, gmon_segment *segment);
pf_status gmon_parse_bsd (gmon_parser *parser, gmon_segment *segment);
pf_status gmon_parse_apple (gmon_parser *parser, gmon_segment *segment);
pf_status gmon_parse_ld (gmon_parser *parser, gmon_segment *segment);

/* The fields of a BSD header. */
typedef struct gmon_bsd {
  uint64_t low, high;
  uint32_t ncnt; /* bytes of the header and the bins */
  uint32_t signature, rate;
  int32_t counter; /* FreeBSD: bits of a bin, negative when signed */
} gmon_bsd;

/* Decode a BSD header of layout->header_size bytes, which must exist. */
gmon_bsd gmon_bsd_header (const gmon_layout *layout, const uint8_t *at);

/* Set the fields of a histogram from a BSD header after `tag` bytes;
   `available` bytes of bins follow it. Returns the bytes of bins that it
   states. */
uint64_t gmon_read_bsd (const gmon_parser *parser, gmon_segment *segment,
                        unsigned tag, uint64_t available);

/* Bytes of an arc in a BSD file. */
static inline uint64_t gmon_bsd_arc (const gmon_layout *layout) {
  return 3 * (uint64_t)layout->width;
}

/* scale.c */

/* The mapping between bins and addresses of a histogram. */
typedef struct gmon_scale {
  uint64_t low;
  uint64_t range, bins; /* range in bytes; 0: bins have no addresses */
  uint64_t bin_size;    /* bytes of each bin if all are equal, else 0 */
  uint64_t factor;      /* profil's scale (2 bytes per bin: 65536); 0: none,
                           the range is divided evenly */
} gmon_scale;

/* Compute the scale of a histogram. `extended`: its writer divided in extended
   precision (x87). */
gmon_scale gmon_scale_of (uint64_t low, uint64_t high, uint64_t bins,
                          bool extended);

/* Returns the first address of a bin; for bin == bins the end of the last
   one. */
uint64_t gmon_bin_start (const gmon_scale *scale, uint64_t bin);

/* Reduce a scale to fewer bins, so that the first *bins bins keep their
   addresses. Sets *bins to the new number, at least the given one and at most
   twice that plus 4,096, and *high to the end of the range. Returns false if no
   such range is found. */
bool gmon_scale_shorten (const gmon_scale *scale, bool extended, uint64_t *bins,
                         uint64_t *high);

/* Find the bin that begins at `address`. Returns false if there is none. */
bool gmon_bin_at (const gmon_scale *scale, uint64_t address, uint64_t *bin);

/* read_gmon.c */

/* The beginning of the state of each reader. A reader decodes the segments of
   its kind, many rows at a time. */
typedef struct gmon_reader gmon_reader;

/* A table, and what its reader does. */
typedef struct gmon_table {
  const char *name;
  const pf_field *fields;
  size_t nfields;
  size_t size; /* bytes of the reader */
  const pf_abilities *can;
  gmon_kind kind; /* of the segments that have rows; GMON_KINDS: of all kinds */
  bool has_items; /* a row for each item, else for each segment and arc */

  /* Append rows from self->row on to the batch and advance. At least one row is
     left, and the batch has space for at least one. */
  pf_status (*fill)(gmon_reader *self, pf_batch *batch, pf_error *error);
} gmon_table;

extern const gmon_table gmon_histogram_table, gmon_arcs_table,
    gmon_blocks_table, gmon_sets_table, gmon_images_table, gmon_raw_table;

struct gmon_reader {
  pf_reader reader;
  const gmon_table *table;
  pf_trace *trace;
  const gmon_file *file;
  gmon_parser parser;
  gmon_segment segment; /* the current segment */
  uint64_t rows;        /* rows of the segment */
  uint64_t row;         /* the next row */
  int64_t set;          /* index of the current histogram; -1: none yet */
};

/* Open a reader of a table: its memory after the gmon_reader is zeros. */
pf_status gmon_open_reader (pf_trace *trace, const pf_table *table,
                            const gmon_table *kind, pf_reader **reader,
                            pf_error *error);

/* pf_abilities.seek, and the abilities of a table that has nothing else. Not
   for segments that may have fewer rows than they state. */
pf_status gmon_seek (pf_reader *self, uint64_t row, pf_error *error);
extern const pf_abilities gmon_seekable;

/* Returns how many rows can be appended: the minimum of the rows left and the
   space in the batch. */
size_t gmon_fillable_rows (const gmon_reader *self, const pf_batch *batch);

/* Returns the first byte of item `row` of the current segment. */
static inline const uint8_t *gmon_item (const gmon_reader *self, uint64_t row) {
  return self->parser.bytes.at + self->segment.items_at +
         row * self->segment.stride;
}

/* Returns the sampling rate in hertz: that of the option or else the file. */
static inline uint32_t gmon_rate (const gmon_layout *layout,
                                  const gmon_segment *segment) {
  return layout->rate != 0 ? layout->rate : segment->rate;
}

/* Return the dimension ("seconds" if none is stated) and the abbreviation. */
pf_bytes gmon_dimension (const gmon_segment *segment);
pf_bytes gmon_abbreviation (const gmon_segment *segment);

/* Mark a count above 2^63 - 1, found at `offset`, as missing and warn. PF_OK or
   the failure of pf_warn. */
pf_status gmon_count_too_large (const gmon_reader *self, pf_column *column,
                                size_t row, uint64_t offset, pf_error *error);

/* The columns of the tables; open_gmon.c has the fields. */

enum {
  HISTOGRAM_SET,
  HISTOGRAM_LOW,
  HISTOGRAM_HIGH,
  HISTOGRAM_COUNT,
  HISTOGRAM_SECONDS,
  HISTOGRAM_SPENT,
  HISTOGRAM_BIN,
  HISTOGRAM_REST, /* hidden, as the next: remainder of SPENT */
  HISTOGRAM_RATE, /* rate of SECONDS */
  HISTOGRAM_COLUMNS
};
#define ARCS_LIST(X, T)                                         \
  X(T, from, ADDR, "a place in the caller, often rounded down") \
  X(T, to, ADDR, "a place in the callee")                       \
  X(T, count, INT, "calls")                                     \
  X(T, order, INT, "Apple: order of the first call")
PF_COLUMN_INDEXES(ARCS);

#define BLOCKS_LIST(X, T)                                 \
  X(T, address, ADDR, "first address of the basic block") \
  X(T, count, INT, "executions")
PF_COLUMN_INDEXES(BLOCKS);

#define SETS_LIST(X, T)                                               \
  X(T, set, INT, "index of the histogram record")                     \
  X(T, low, ADDR, "first address of the range")                       \
  X(T, high, ADDR, "first address after the range")                   \
  X(T, bins, INT, "bins in the file")                                 \
  X(T, rate, INT, "samples per unit of the dimension; 0: not stated") \
  X(T, dimension, NAME, "unit of the rate: seconds")                  \
  X(T, abbreviation, NAME, "abbreviation of the dimension")           \
  X(T, offset, INT, "offset of the record in the file")               \
  X(T, declared, INT, "bins the record states")
PF_COLUMN_INDEXES(SETS);

extern const pf_field gmon_histogram_fields[HISTOGRAM_COLUMNS];
extern const pf_field gmon_arcs_fields[ARCS_COLUMNS];
extern const pf_field gmon_blocks_fields[BLOCKS_COLUMNS];
extern const pf_field gmon_sets_fields[SETS_COLUMNS];

/* The tables that the encoder accepts. */
enum {
  WRITTEN_SETS,
  WRITTEN_HISTOGRAM,
  WRITTEN_ARCS,
  WRITTEN_BLOCKS,
  WRITTEN_TABLES
};
extern const pf_table gmon_written[WRITTEN_TABLES];

/* encode_gmon.c: pf_format.encoder. It keeps sums in memory and writes the file
   in `finish`. PF_EUNSUPPORTED for an invalid option, PF_ENOMEM. */
pf_status gmon_encoder (const pf_option *options, size_t noptions,
                        pf_dictionary *dictionary, pf_encoder **encoder,
                        pf_error *error);

/* The sums of the encoder: encode_gmon.c adds rows up, write_gmon.c writes the
   sums. The gmon_writer owns their memory until its close. */

/* A histogram: the sum of all records with the same header. */
typedef struct gmon_set {
  uint64_t low, high, bins;
  uint32_t rate;
  uint32_t dimension, abbreviation; /* names in the encoder's dictionary */
  uint64_t read; /* bins with counts, from 0 on; at most `bins` */
  gmon_scale scale;
  uint64_t *counts; /* by bin, `read` of them */
} gmon_set;

/* Histograms by header, in the order of their first occurrence. */
typedef struct gmon_sets {
  gmon_set *list;
  size_t capacity;
  pf_intern_table known; /* index of `list` by header; has its count */
} gmon_sets;

typedef struct gmon_writer {
  pf_encoder encoder;
  pf_dictionary *dictionary;
  pf_sink *sink;        /* set by `finish`, borrowed during that call */
  gmon_dialect dialect; /* GMON_GNU or GMON_BSD44 */
  bool big;
  unsigned width; /* bytes of an address */
  bool is_wide;   /* GNU: counts of bins and arcs have 8 bytes */
  bool extended;  /* option extended_precision, see gmon_scale_of */
  bool is_sorted; /* several inputs: their order must not matter */
  gmon_sets sets;
  pf_pair_counts
      set_ids;       /* (id of a set in the input, 0) -> index in sets.list,
                        + 1; 0: no set, only a refused row has that id */
  uint64_t nset_ids; /* ids that have a set; id of a set that states none */
  /* The pair of an arc is (from, to), that of a block (address, 0). */
  pf_pair_counts arcs, blocks;
} gmon_writer;

/* Write the file. Returns PF_EUNSUPPORTED, before any byte is written, if the
   dialect cannot hold the contents; PF_EIO or PF_ENOMEM of the sink. */
pf_status gmon_write (const gmon_writer *self, pf_error *error);

/* sum_gmon.c: pf_format.sum. PF_OK or PF_ENOMEM. */
pf_status gmon_open_sum (const pf_trace *first, pf_sum **sum, pf_error *error);

#endif
