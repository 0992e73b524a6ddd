/*
** dcpi.h - types and functions that the files of the format dcpi share.
**
** A file holds the samples of one image: a header of text lines, and then
** either binary chunks of counts for one event (written by the daemon), or one
** line of counts for each address (printed by dcpicat). All functions are
** called by the files of this folder; other code uses pf_format_dcpi.
**
** A parser reads the file as a sequence of segments. dcpi_new_parser makes one,
** dcpi_next_segment is called until it returns PF_END. The parser compares each
** number with the size of the file and stores no segments. It owns no memory:
** all slices point into the source of the trace. The trace owns the dcpi_file
** (trace->state); lua/checked_reader.c closes the readers, which own nothing
** but themselves. Opening a trace and
** each reader use a parser of their own. Damage is reported to the trace as
** warnings with codes "dcpi-..."; with the option `strict` the first one is a
** failure.
**
**   open_dcpi.c          the format: score, options, open, info
**   header_line.c        splits a header line; numbers and times
**   header_dcpi.c        checks the lines of a header
**   parser_dcpi.c        the parser: header segments, dispatch
**   chunk.c              segments of the binary form
**   dcpicat.c            segments of dcpicat's text
**   read_dcpi.c          the reader of samples
**   tables_dcpi.c        the schemas; the readers of the other tables
**
** The encoder is in Lua: lua/profio/formats/dcpi/encode.lua.
*/

#ifndef dcpi_h
#define dcpi_h

#include <string.h>

#include "bytes/cursor.h"
#include "bytes/text.h"
#include "model/rows/trace.h"
#include "model/base/wide.h"
#include "profio.h"

typedef enum dcpi_dialect {
  DCPI_PDB, /* binary: header, chunks, footer */
  DCPI_CAT  /* text of dcpicat */
} dcpi_dialect;

/* The words that header lines begin with. */
typedef enum dcpi_word {
  DCPI_VERSION, /* the first nine are required in a binary file */
  DCPI_IMAGE,
  DCPI_EPOCH,
  DCPI_PLATFORM,
  DCPI_EVENT,
  DCPI_PERIOD,
  DCPI_TSTART,
  DCPI_TSIZE,
  DCPI_CPUSPEED,
  DCPI_CPUAMASK,
  DCPI_CPUIMPLV,
  DCPI_CPUCOUNT,
  DCPI_PATH,
  DCPI_NAME, /* only dcpicat prints the last four */
  DCPI_LABEL,
  DCPI_TEXT_START,
  DCPI_TEXT_SIZE,
  DCPI_WORDS /* the number of words; as a word: unknown */
} dcpi_word;

/* The syntax of a value. */
typedef enum dcpi_syntax {
  DCPI_TEXT,       /* any text */
  DCPI_DECIMAL,    /* decimal number */
  DCPI_HEX,        /* hexadecimal number */
  DCPI_HEX_DIGITS, /* hexadecimal digits, more than a number of 64 bits has */
  DCPI_TIME,       /* epoch, see dcpi_epoch */
  DCPI_PDB_VERSION /* pdb-<major>.<minor> */
} dcpi_syntax;

/* The treatment of a header word in a dialect. */
typedef enum dcpi_role {
  DCPI_FOREIGN, /* a row of the table header, else ignored */
  DCPI_USED,    /* not documented, but the value is used if there is one */
  DCPI_OPTIONAL,
  DCPI_REQUIRED
} dcpi_role;

typedef struct dcpi_rule {
  const char *word;
  dcpi_syntax syntax;
  dcpi_role role[2]; /* by dialect */
} dcpi_rule;

extern const dcpi_rule dcpi_rules[DCPI_WORDS];

#define DCPI_INSN_SIZE    4 /* bytes of an Alpha instruction */
#define DCPI_FOOTER_SIZE  8
#define DCPI_CHUNK_HEAD   8
#define DCPI_HEADER_LIMIT 65536
#define DCPI_MAX_WORD     256
#define DCPI_MAX_EVENTS   64
#define DCPI_FULL_TIME    10000     /* dcpicat's unit: 1/10000 */
#define DCPI_PRESCAN      (1 << 20) /* bytes of the body read at open */

/* A line of a header. The slices point into the source. */
typedef struct dcpi_line {
  uint64_t offset, size; /* of the whole line with its line feed */
  pf_bytes word;         /* from the start of the line to the first blank */
  pf_bytes rest;         /* from the first byte after the blanks on */
  pf_bytes value;        /* `rest` without blanks and CR at its end */
  dcpi_word id;          /* the word as a number; DCPI_WORDS: unknown */
} dcpi_line;

/* An event, and the sum of its counts. */
typedef struct dcpi_event {
  pf_bytes name;
  uint64_t offset;   /* offset of the header line that names it */
  uint64_t period;   /* events per sample; 0: not stated */
  uint64_t fraction; /* of the time it was counted: 1 / DCPI_FULL_TIME */
  uint64_t stated;   /* sum of the counts as dcpicat's header states it */
  bool has_stated;   /* that sum could be read */
  bool has_rate;     /* so could period and fraction; else both are 0 */
  uint64_t counted;  /* sum of the counts that the parser has read */
} dcpi_event;

/* The contents of a header. */
typedef struct dcpi_header {
  uint64_t size;                /* bytes with the last line; 0: not complete */
  pf_bytes values[DCPI_WORDS];  /* of each first line, but dcpicat's last
                                   event; `at` NULL: none */
  uint64_t numbers[DCPI_WORDS]; /* values that are numbers, if valid */
  uint32_t valid_words;         /* bit per word: its syntax is right */
  uint64_t major, minor;
  size_t npaths;
  size_t nevents;
  size_t skipped_events; /* beyond DCPI_MAX_EVENTS */
  dcpi_event events[DCPI_MAX_EVENTS];
} dcpi_header;

static inline bool dcpi_has (const dcpi_header *header, dcpi_word word) {
  return (header->valid_words >> word & 1) != 0;
}

typedef enum dcpi_kind {
  DCPI_LINE,   /* a header line */
  DCPI_CHUNK,  /* offset, number of counts, counts */
  DCPI_FOOTER, /* the two sums at the end */
  DCPI_COUNTS, /* a line of dcpicat's counts */
  DCPI_REST    /* bytes that are none of these */
} dcpi_kind;

/* A segment of the file. Segments cover the file without gaps. */
typedef struct dcpi_segment {
  dcpi_kind kind;
  uint64_t offset, size; /* of the whole segment */
  dcpi_line line;        /* header line or line of counts */
  uint64_t counts_at;    /* chunk: offset of its first count */
  uint64_t count;        /* chunk: number of counts in the file */
  uint32_t words[2];     /* chunk: offset and number; footer: sums */
  uint64_t address;      /* of the first count; chunk: see dcpi_has_start */
} dcpi_segment;

/* The state of an opened trace (pf_trace.state), owned by the trace. */
typedef struct dcpi_file {
  dcpi_dialect dialect;
  bool big;           /* the numbers are big-endian */
  bool by_insn;       /* chunk offsets count instructions, not bytes */
  bool zeros;         /* addresses without samples are rows too */
  uint64_t step;      /* bytes from one address to the next: option insn_size */
  uint64_t limit;     /* of a binary header in bytes: option header_limit */
  uint64_t cpuspeed;  /* option, used if the header states none; 0: unknown */
  pf_table tables[4]; /* dcpi_tables, with numbers of rows */
} dcpi_file;

/* The state of the parser, between two segments. All pointers are borrowed. */
typedef struct dcpi_parser {
  const dcpi_file *file;
  pf_trace *trace;
  pf_error *error;
  pf_bytes bytes;
  uint64_t at;        /* offset of the next segment, at most bytes.size */
  bool reader_counts; /* the caller adds the counts of chunks to the sums */
  dcpi_header header; /* the lines read so far */
  bool in_body;       /* the header has been read */
  bool has_ended;     /* bytes that are left are one segment DCPI_REST */
  bool has_last;      /* `last` is set */
  uint64_t last;      /* start of the last chunk, or the last address */
  uint64_t last_end;  /* end of the last chunk, in bytes from tstart */
  uint64_t addresses; /* number of addresses with samples so far */
  uint64_t samples;   /* sum of the counts so far */
  uint64_t counts[DCPI_MAX_EVENTS]; /* of the last line of dcpicat; above
                                       INT64_MAX: missing */
} dcpi_parser;

/* header_line.c */

/* Split the line that begins at `offset`. Returns false if no line feed
   follows: the line is then all bytes that are left, maybe none. */
bool dcpi_split_line (pf_bytes bytes, uint64_t offset, dcpi_line *line);

/* Returns the word that a text is, or DCPI_WORDS. */
dcpi_word dcpi_word_of (pf_bytes text);

/* Whether the line ends a binary header: "samples" and blanks. */
bool dcpi_is_terminator (const dcpi_line *line);

/* Remove 0x from the start of a text. Returns false if it is not there. */
bool dcpi_cut_prefix (pf_bytes *text);

/* Whether a line begins with 0x and more, as those after dcpicat's header
   do. */
bool dcpi_has_address (const dcpi_line *line);

static inline bool dcpi_is_blank (uint8_t c) {
  return c == ' ' || c == '\t';
}

/* Convert the digits of an epoch to the decimal number YYYYMMDDHHMMSS (UTC),
   which sorts by time. Returns 0 if the digits are not a valid time. */
uint64_t dcpi_epoch (pf_bytes digits);

/* Whether the addresses of counts are known: those of chunks count from
   tstart. */
static inline bool dcpi_has_start (const dcpi_parser *parser) {
  return parser->file->dialect == DCPI_CAT ||
         dcpi_has(&parser->header, DCPI_TSTART);
}

/* header_dcpi.c */

/* Add a line to parser->header and report errors in it. */
pf_status dcpi_take_line (dcpi_parser *parser, const dcpi_line *line);

/* Finish parser->header after its last line: report missing lines and an
   unknown version, and set the event of a binary file. The form of the body is
   known only for major version 0; parsing ends before another one. */
pf_status dcpi_check_header (dcpi_parser *parser);

/* Returns the name of the image: the line `name`, else the last component of
   the path; `at` is NULL if neither is known. */
pf_bytes dcpi_name_of (const dcpi_header *header);

/* Returns the clock rate of the processors in hertz; 0 if it is unknown. */
uint64_t dcpi_clock (const dcpi_header *header);


/* parser_dcpi.c. A parser at the start of the trace's first source. */

dcpi_parser dcpi_new_parser (const dcpi_file *file, pf_trace *trace,
                             pf_error *error);

/* Parse the next segment. Returns PF_MORE, PF_END, or a failure when pf_warn
   fails. */
pf_status dcpi_next_segment (dcpi_parser *parser, dcpi_segment *segment);

/* Add a warning to the trace, as printf, and return the result of pf_warn. */
#define dcpi_report(parser, kind, code, status, offset, ...)   \
  pf_warn((parser)->trace, (kind), (code), (status), (offset), \
          (parser)->error, __VA_ARGS__)

/* As dcpi_report, for damage that violates the format. */
#define dcpi_damage(parser, code, offset, ...) \
  dcpi_report(parser, PF_DAMAGE, code, PF_EFORMAT, offset, __VA_ARGS__)

/* Set the segment to the next `size` bytes, which must exist, and advance. */
void dcpi_take_segment (dcpi_parser *parser, dcpi_segment *segment,
                        dcpi_kind kind, uint64_t size);

/* Set the segment to the rest and end parsing. The caller reports the
   reason. */
void dcpi_take_rest (dcpi_parser *parser, dcpi_segment *segment);

static inline uint64_t dcpi_left (const dcpi_parser *parser) {
  return parser->bytes.size - parser->at;
}

static inline uint32_t dcpi_load (const dcpi_parser *parser, uint64_t at) {
  return pf_load32(parser->bytes.at + at, parser->file->big);
}

/* chunk.c */

/* Parse the next chunk or the footer. */
pf_status dcpi_parse_chunk (dcpi_parser *parser, dcpi_segment *segment);

/* dcpicat.c */

/* Parse the next line of counts into parser->counts; another line, or the begin
   of one at the end of the file, becomes a segment DCPI_REST. At the end of the
   file, check the sums of the events. */
pf_status dcpi_parse_counts (dcpi_parser *parser, dcpi_segment *segment);

/* Parse "470352 cycles:63488:10000" into *event, whose numbers are 0. Returns
   false for another form; event->name is then the whole text (after the sum, if
   there is one), and period and fraction are 0. */
bool dcpi_read_event (pf_bytes text, dcpi_event *event);

/* read_dcpi.c: the reader of samples (pf_table.open). */
pf_status dcpi_open_samples (pf_trace *trace, const pf_table *table,
                             pf_reader **reader, pf_error *error);

/* tables_dcpi.c: the tables. */
enum {
  TABLE_SAMPLES,
  TABLE_PROFILES,
  TABLE_HEADER,
  TABLE_RAW,
  DCPI_TABLES
};
extern const pf_table dcpi_tables[DCPI_TABLES];

/* Reload the bytes of the source before a batch is read. Returns PF_ETRUNCATED
   if the file has become shorter than the position of the parser. */
pf_status dcpi_refresh (dcpi_parser *parser, pf_error *error);

/* The indexes of the columns of samples */

enum {
  SAMPLES_ADDRESS,
  SAMPLES_COUNT,
  SAMPLES_SPENT,
  SAMPLES_REST, /* hidden column: remainder of SPENT */
  SAMPLES_PROFILE,
  SAMPLES_IMAGE,
  SAMPLES_NAME,
  SAMPLES_LABEL,
  SAMPLES_EVENT,
  SAMPLES_EPOCH,
  SAMPLES_PLATFORM,
  SAMPLES_COLUMNS
};

/* The tables that the encoder in Lua accepts. */
enum {
  WRITTEN_SAMPLES,
  WRITTEN_HEADER,
  WRITTEN_TABLES
};
extern const pf_table dcpi_written[WRITTEN_TABLES];

#endif
