/*
** dcpi.h - what the files of the format dcpi share.
**
** A file holds the samples of one image: a header of text lines, and then
** either binary chunks of counts for one event (what the daemon writes), or
** a line of counts for each address (what dcpicat prints). A parser goes from
** segment to segment, compares every number with the bytes that are there, and
** keeps no segment: each reader is a parser of its own.
**
**   open.c     the format: score, open, header fields, tables
**   line.c     a header line: its word, its value
**   header.c   the lines of a header, and what they must be
**   epoch.c    times written as digits
**   parser.c     the parser: from segment to segment, damage
**   chunk.c    the binary parts
**   text.c     the parts of dcpicat's text
**   read.c     the reader of samples
**   lists.c    the readers of header lines and of profiles
**   raw.c      the reader of the parts as the file has_value them
**   tables.c   the schemas
**   encode.c gather.c header.c write.c    the way out
*/

#ifndef dcpi_h
#define dcpi_h

#include <string.h>

#include "bytes/cursor.h"
#include "model/trace.h"
#include "model/wide.h"
#include "profio.h"

typedef enum dcpi_dialect {
  DCPI_PDB, /* header, chunks, footer */
  DCPI_CAT  /* dcpicat's text */
} dcpi_dialect;

/* The words a header line can begin with. */
typedef enum dcpi_word {
  DCPI_VERSION, /* the first nine are required of a binary file */
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
  DCPI_NAME, /* the last four only dcpicat prints */
  DCPI_LABEL,
  DCPI_TEXT_START,
  DCPI_TEXT_SIZE,
  DCPI_WORDS /* none of them */
} dcpi_word;

/* What a value looks like. */
typedef enum dcpi_syntax {
  DCPI_TEXT,       /* anything */
  DCPI_DECIMAL,    /* digits */
  DCPI_HEX,        /* hexadecimal digits that are a number */
  DCPI_HEX_DIGITS, /* hexadecimal digits that are none: too many */
  DCPI_TIME,       /* of an epoch */
  DCPI_PDB_VERSION /* pdb-<major>.<minor> */
} dcpi_syntax;

typedef struct dcpi_rule {
  const char *word;
  dcpi_syntax syntax;
} dcpi_rule;

extern const dcpi_rule dcpi_rules[DCPI_WORDS];

#define DCPI_INSN_SIZE    4 /* bytes of an Alpha instruction */
#define DCPI_FOOTER_SIZE  8
#define DCPI_CHUNK_HEAD   8
#define DCPI_HEADER_LIMIT 65536
#define DCPI_MAX_WORD     256
#define DCPI_MAX_EVENTS   64
#define DCPI_FULL_TIME    10000     /* dcpicat's fraction of a time, at most */
#define DCPI_PRESCAN      (1 << 20) /* so much is read when a file is opened */

/* A line of a header. The slices are in the source. */
typedef struct dcpi_line {
  uint64_t offset, size; /* all its bytes, the line feed too */
  pf_bytes word;         /* up to the first blank */
  pf_bytes rest;         /* behind the blanks, to the end of the line */
  pf_bytes value;        /* the same without blanks and CR at its end */
  dcpi_word id;          /* which word it is */
} dcpi_line;

/* One event, a column of counts. */
typedef struct dcpi_event {
  pf_bytes name;
  uint64_t offset;   /* of the line that names it */
  uint64_t period;   /* events for one sample; 0: not stated */
  uint64_t fraction; /* of the time, in parts of DCPI_FULL_TIME */
  uint64_t stated;   /* sum of the counts: dcpicat has_value it first */
  uint64_t counted;  /* so far, by the parser */
} dcpi_event;

/* What a header says. */
typedef struct dcpi_header {
  uint64_t size;                /* bytes, with its last line; 0: not read */
  pf_bytes values[DCPI_WORDS];  /* of the first line of each; at NULL: none */
  uint64_t numbers[DCPI_WORDS]; /* of values that are numbers */
  uint32_t valid_words;         /* bit per word: its value is as it should be */
  uint64_t major, minor;
  size_t npaths;
  size_t nevents;
  dcpi_event events[DCPI_MAX_EVENTS];
} dcpi_header;

static inline bool dcpi_has (const dcpi_header *header, dcpi_word word) {
  return (header->valid_words >> word & 1) != 0;
}

typedef enum dcpi_kind {
  DCPI_LINE,   /* of the header */
  DCPI_CHUNK,  /* offset, number, counts */
  DCPI_FOOTER, /* the two sums */
  DCPI_COUNTS, /* a line of dcpicat's counts */
  DCPI_REST    /* bytes that are none of these */
} dcpi_kind;

#define DCPI_KINDS 5

/* A stretch of the file. Parts follow each other without gaps. */
typedef struct dcpi_segment {
  dcpi_kind kind;
  uint64_t offset, size; /* all its bytes */
  dcpi_line line;        /* of the header */
  uint64_t counts_at;    /* chunk: where its first count is */
  uint64_t count;        /* chunk: how many counts are there */
  uint32_t words[2];     /* chunk: offset and number; footer: its sums */
  uint64_t address;      /* of the first count */
} dcpi_segment;

/* The state of an opened trace. */
typedef struct dcpi_file {
  dcpi_dialect dialect;
  bool big;          /* a copy in the other byte order */
  bool by_insn;      /* offsets count instructions, not bytes */
  bool zeros;        /* addresses without samples are rows too */
  uint64_t step;     /* bytes from an address to the next */
  uint64_t limit;    /* of the header */
  uint64_t cpuspeed; /* where the header does not say it; 0: not known */
  pf_table tables[4];
} dcpi_file;

/* A position between two parts. */
typedef struct dcpi_parser {
  const dcpi_file *file;
  pf_trace *trace;
  pf_error *error;
  pf_bytes bytes;
  uint64_t at;        /* the next segment begins here; at most bytes.size */
  bool reader_counts; /* its user adds up the chunks' counts himself */
  dcpi_header header; /* as far as it has been read */
  bool in_body;       /* the header is behind */
  bool has_ended;     /* the footer, or damage that ends the reading */
  bool has_chunk;     /* one of them, or a line of counts */
  uint64_t last;      /* offset of the last chunk, or address of the line */
  uint64_t last_end;  /* first offset behind the last chunk */
  uint64_t addresses; /* with samples, so far */
  uint64_t samples;   /* so far */
  uint64_t counts[DCPI_MAX_EVENTS]; /* of the last line of counts */
} dcpi_parser;


/* line.c */

/* Cut the line that begins at `offset`; false when no line feed follows. */
bool dcpi_split_line (pf_bytes bytes, uint64_t offset, dcpi_line *line);

/* Cut what is left as a line that has no end. */
void dcpi_split_last_line (pf_bytes bytes, uint64_t offset, dcpi_line *line);

/* The word of a text, or DCPI_WORDS. */
dcpi_word dcpi_word_of (pf_bytes text);

/* Whether a line is "samples" and blanks. */
bool dcpi_is_terminator (const dcpi_line *line);

/* The digits of a number in base 10 or 16. Not all of them are digits, or
   there are none: PF_EFORMAT; above 2^64 - 1: PF_ELIMIT. */
pf_status dcpi_number (pf_bytes digits, unsigned base, uint64_t *number);

/* Cut the first word off `text`: false when there is none. */
bool dcpi_next_word (pf_bytes *text, pf_bytes *word);

/* Whether a text is a C string. */
bool dcpi_equals (pf_bytes text, const char *string);

static inline bool dcpi_is_blank (uint8_t c) {
  return c == ' ' || c == '\t';
}

static inline pf_bytes dcpi_text (const char *text) {
  return (pf_bytes){(const uint8_t *)text, strlen(text)};
}


/* epoch.c */

/* The digits of an epoch as YYYYMMDDHHMMSS in decimal, so that later ones
   are greater; 0 when they are no time. */
uint64_t dcpi_epoch (pf_bytes digits);


/* header.c */

/* Report a byte that a header line cannot have. */
pf_status dcpi_check_bytes (dcpi_parser *parser, const dcpi_line *line);

/* Take a line into a header and report what is wrong with it. */
pf_status dcpi_take_line (dcpi_parser *parser, const dcpi_line *line);

/* The header is whole: report required lines that it has not, and what its
   version means. */
pf_status dcpi_check_header (dcpi_parser *parser);

/* The last name of a path, without blanks in front, which its text has no room
   for: what dcpicat calls the name of an image. */
pf_bytes dcpi_base_name (pf_bytes path);

/* The name, as the header has it or as its path ends. */
pf_bytes dcpi_name_of (const dcpi_header *header);

/* The clock of the processors in hertz; 0: not known. */
uint64_t dcpi_clock (const dcpi_header *header);

/* The nanoseconds that a sample of an event stands for, in the parts of
   model/wide.h; 0: it counts no time. */
pf_wide dcpi_sample_time (const dcpi_header *header, const dcpi_event *event);


/* parser.c */

dcpi_parser dcpi_new_parser (const dcpi_file *file, pf_trace *trace,
                             pf_error *error);

/* The next segment: PF_MORE, PF_END, or a failure when reporting failed. */
pf_status dcpi_next_segment (dcpi_parser *parser, dcpi_segment *segment);

/* Say what is odd, unless it was said. Answers what pf_warn does. */
pf_status dcpi_report (dcpi_parser *parser, pf_note_kind kind, const char *code,
                       pf_status status, uint64_t offset, const char *format,
                       ...) PF_PRINTF(6, 7);

/* Make the next `size` bytes, which are there, the segment, and go past. */
void dcpi_take_segment (dcpi_parser *parser, dcpi_segment *segment,
                        dcpi_kind kind, uint64_t size);

/* Make all that is left the last segment; the caller reports. */
void dcpi_take_rest (dcpi_parser *parser, dcpi_segment *segment);

static inline uint64_t dcpi_left (const dcpi_parser *parser) {
  return parser->bytes.size - parser->at;
}

static inline uint32_t dcpi_load (const dcpi_parser *parser, uint64_t at) {
  return pf_load32(parser->bytes.at + at, parser->file->big);
}


/* chunk.c */

/* The next chunk, or the footer. */
pf_status dcpi_parse_chunk (dcpi_parser *parser, dcpi_segment *segment);

/* Add the counts of a segment to the sums of its parser. */
void dcpi_add_counts (dcpi_parser *parser, const dcpi_segment *segment);


/* text.c */

/* The next line of counts: parser->counts has them, one of each event. */
pf_status dcpi_parse_counts (dcpi_parser *parser, dcpi_segment *segment);

/* Read "470352 cycles:63488:10000"; false when it is not of that form: the
   event then has all of the text for a name. */
bool dcpi_read_event (pf_bytes text, dcpi_event *event);

/* Take an event line into the header. */
pf_status dcpi_take_event (dcpi_parser *parser, const dcpi_line *line);

/* Report sums of events that are not as stated, when all has been read. */
pf_status dcpi_check_events (dcpi_parser *parser);


/* read.c, lists.c, raw.c: the readers, for pf_table.open. */
pf_status dcpi_open_samples (pf_trace *trace, const pf_table *table,
                             pf_reader **reader, pf_error *error);
pf_status dcpi_open_header (pf_trace *trace, const pf_table *table,
                            pf_reader **reader, pf_error *error);
pf_status dcpi_open_profiles (pf_trace *trace, const pf_table *table,
                              pf_reader **reader, pf_error *error);
pf_status dcpi_open_raw (pf_trace *trace, const pf_table *table,
                         pf_reader **reader, pf_error *error);

/* What all readers begin with. */
typedef struct dcpi_reader {
  pf_reader reader;
  pf_trace *trace;
  dcpi_parser parser;
} dcpi_reader;

/* Make `size` bytes of reader, zero but for what every reader has. */
pf_status dcpi_reader_make (pf_trace *trace, const pf_table *table, size_t size,
                            dcpi_reader **made, pf_error *error);

/* Look at the bytes as they are now; the file may have become shorter. */
pf_status dcpi_refresh (dcpi_reader *self, pf_error *error);

/* Put a text in a column of names, or mark it missing when `at` is NULL. */
pf_status dcpi_put_text (dcpi_reader *self, pf_batch *batch, size_t column,
                         size_t row, pf_bytes text, pf_error *error);

/* Put a number in a column of numbers or addresses, when it is wanted. */
void dcpi_put_number (pf_batch *batch, size_t column, size_t row, bool is_there,
                      uint64_t value);

static inline bool dcpi_wanted (const pf_batch *batch, size_t column) {
  return batch->columns[column].data != NULL;
}


/* tables.c: the schemas, and the numbers of their columns. */

enum {
  SAMPLES_ADDRESS,
  SAMPLES_COUNT,
  SAMPLES_SPENT,
  SAMPLES_REST, /* hidden */
  SAMPLES_PROFILE,
  SAMPLES_IMAGE,
  SAMPLES_NAME,
  SAMPLES_LABEL,
  SAMPLES_EVENT,
  SAMPLES_EPOCH,
  SAMPLES_PLATFORM,
  SAMPLES_COLUMNS
};
enum {
  PROFILES_PROFILE,
  PROFILES_IMAGE,
  PROFILES_NAME,
  PROFILES_LABEL,
  PROFILES_PATH,
  PROFILES_EVENT,
  PROFILES_EPOCH,
  PROFILES_PLATFORM,
  PROFILES_PERIOD,
  PROFILES_FRACTION,
  PROFILES_CPUSPEED,
  PROFILES_TSTART,
  PROFILES_TSIZE,
  PROFILES_SAMPLES,
  PROFILES_COLUMNS
};
enum {
  HEADER_PROFILE,
  HEADER_OFFSET,
  HEADER_KIND,
  HEADER_WORD,
  HEADER_VALUE,
  HEADER_LINE,
  HEADER_COLUMNS
};
enum {
  RAW_OFFSET,
  RAW_SIZE,
  RAW_KIND,
  RAW_WORD,
  RAW_VALUE,
  RAW_START,
  RAW_NUMBER,
  RAW_ADDRESSES,
  RAW_SAMPLES,
  RAW_ADDRESS,
  RAW_BYTES,
  RAW_COLUMNS
};

extern const pf_field dcpi_samples_fields[SAMPLES_COLUMNS];
extern const pf_field dcpi_profiles_fields[PROFILES_COLUMNS];
extern const pf_field dcpi_header_fields[HEADER_COLUMNS];
extern const pf_field dcpi_raw_fields[RAW_COLUMNS];

/* The tables the encoder takes, by number. */
enum {
  WRITTEN_SAMPLES,
  WRITTEN_HEADER,
  WRITTEN_TABLES
};
extern const pf_table dcpi_written[WRITTEN_TABLES];


/* encode.c */
pf_status dcpi_encoder (const pf_option *options, size_t noptions,
                        pf_dictionary *dictionary, pf_encoder **encoder,
                        pf_error *error);

#endif
