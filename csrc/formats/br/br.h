/*
** br.h - what the files of the format br share: the output of DEBUG PROFILE
** of Business Rules! BASIC.
**
** A row of records without header, magic number, version or lengths; all
** numbers are big-endian:
**
**   OFFSET SIZE FIELD            01 CREATE MODULE MAPPING
**   0      1    01
**   1      2    number of the module
**   3      2    length n of its file name
**   5      n    file name
**
**   OFFSET SIZE FIELD            03 CURRENT LINE, 05 BACKTRACE INFORMATION
**   0      1    03 or 05
**   1      2    number of the module
**   3      4    line number
**   7      1    clause number
**
**   OFFSET SIZE FIELD            04 TIME SPENT IN LINE
**   0      1    04
**   1      8    nanoseconds
**
**   OFFSET SIZE FIELD            07 FUNCTION NAME
**   0      1    07
**   1      1    length n of the name
**   2      n    name
**
**   06 END CURRENT LINE, 08 GOSUB, 09 MAIN ROUTINE: that byte alone
**
** They stand in groups, mappings between them:
**
**   group := 03 tag? (04 | 05 tag?)* 06        tag := 07 | 08 | 09
**
** From the page "Profiler File Layout" of the BR wiki. It does not say in
** which order the backtraces stand, whether times include what a line called,
** nor what type 02 is (and how long: nothing behind it can be read).
**
**   br_record.c    from record to record
**   br_names.c     names of modules and functions, in the code page of the file
**   br_groups.c     from group to group, and what is wrong with them
**   br_prescan.c    how to read what the page leaves open
**   br_open.c      the format: score, open, header facts, tables
**   br_samples.c   the reader of groups
**   br_frames.c    the reader of the frames of groups
**   br_raw_records.c       the reader of records
**   br_encoder.c    the way out
*/

#ifndef br_h
#define br_h

#include <string.h>

#include "bytes/cursor.h"
#include "model/batch.h"
#include "model/charset.h"
#include "model/stacks.h"
#include "model/trace.h"

typedef enum br_type {
  BR_REST = 0, /* no type: bytes from which on nothing could be read */
  BR_MODULE = 1,
  BR_LINE = 3,
  BR_TIME = 4,
  BR_BACKTRACE = 5,
  BR_END = 6,
  BR_FUNCTION = 7,
  BR_GOSUB = 8,
  BR_MAIN = 9,
  BR_TYPES = 10
} br_type;

#define BR_MODULES         65536 /* numbers a module may have */
#define BR_LAST_LINE       99999 /* of a BR program; the first is 1 */
#define BR_DEPTH           65536 /* frames kept of a group, unless told */
#define BR_LONG_TIME       (1000000000000000000u) /* 32 years: no real time */
#define BR_MAX_NAME        255   /* bytes of a function's name */
#define BR_MAX_MODULE_NAME 65535 /* bytes of a module's name */

/* Bytes of a module's name as UTF-8. */
#define BR_MAX_CONVERTED PF_CONVERTED_MOST(BR_MAX_MODULE_NAME)


/* br_record.c */

typedef struct br_record {
  br_type type;
  uint64_t offset, size;
  uint16_t module; /* 01, 03, 05 */
  uint32_t line;   /* 03, 05 */
  uint8_t clause;  /* 03, 05 */
  uint64_t spent;  /* 04 */
  pf_bytes name;   /* 01, 07 */
} br_record;

typedef enum br_result {
  BR_COMPLETE,
  BR_TRUNCATED, /* the bytes end inside the record; its size is what it needs */
  BR_INVALID    /* what stands there is no record */
} br_result;

/* The record at `at`, where at least one byte is left. */
br_result br_record_at (pf_bytes bytes, uint64_t at, br_record *record);


/* br_names.c */

/* Converts the names of one reader from the code page of the file to UTF-8. */
typedef struct br_names {
  pf_dictionary *dictionary;
  pf_converter converter;
  uint8_t *text; /* BR_MAX_CONVERTED bytes; NULL until a name needs them */
} br_names;

/* Whether profio's recorder wrote the file: its first mapping says so, in
   `author`. */
bool br_recorded_by (const pf_trace *trace, pf_bytes *author);

/* Set `charset`, which is zeroed, to the option code_page, and state it in the
   trace's info. The names of a recording stay as they are: they are UTF-8
   whatever the option says. An unknown code page is PF_EUNSUPPORTED. */
pf_status br_charset_open (pf_charset *charset, pf_trace *trace,
                           pf_error *error);

/* For the names of an opened trace. Close also after a failure, or zeroed. */
pf_status br_names_open (br_names *names, const pf_trace *trace,
                         pf_error *error);
void br_names_close (br_names *names);

/* The id of a name of the file in the dictionary, where it is UTF-8;
   PF_NO_NAME: no memory. */
uint32_t br_intern (br_names *names, pf_bytes name);


/* br_groups.c */

/* What the line of a frame belongs to. */
typedef enum br_routine {
  BR_UNKNOWN, /* the file does not say */
  BR_IN_FUNCTION,
  BR_IN_GOSUB,
  BR_IN_MAIN,
  BR_ROUTINES
} br_routine;

/* The numbers in a dictionary of the words for them, which column `kind` has
   and areas have as their class. */
pf_status br_intern_routines (pf_dictionary *dictionary,
                              uint32_t routines[BR_ROUTINES], pf_error *error);

/* A line of a program. Without gaps: frames compare with memcmp. */
typedef struct br_frame {
  uint32_t module; /* the name of its file: of the dictionary */
  uint32_t line;
  uint32_t function; /* a name, or PF_NO_NAME */
  uint16_t clause;
  uint16_t routine; /* br_routine */
} br_frame;

typedef struct br_group {
  uint64_t offset;
  br_frame *frames; /* the current line, then the backtraces as they come */
  size_t nframes, capacity;
  uint64_t dropped; /* backtraces beyond the depth that is kept */
  bool has_time;
  uint64_t spent;
} br_group;

/* A position between two records, and the group it is in. */
typedef struct br_parser {
  pf_trace *trace;
  br_names names;
  uint64_t at;
  uint32_t *modules;                /* by number: its name + 1; 0: not mapped */
  uint64_t mappings, groups, timed; /* how many there were */
  size_t depth;                     /* frames kept of a group */
  bool is_live; /* the file grows: what is cut short may become whole */
  bool in_group;
  bool may_tag;      /* a frame has just begun */
  bool has_odd_line; /* one was reported */
  br_group group;
} br_parser;

/* A parser from the start; close it also after a failure. */
pf_status br_parser_open (br_parser *parser, pf_trace *trace, pf_error *error);
void br_parser_close (br_parser *parser);

/* The next group into parser->group: PF_MORE, PF_END, in a live trace PF_AGAIN,
   or a failure. */
pf_status br_next_group (br_parser *parser, pf_error *error);

static inline uint64_t br_left (const br_parser *parser) {
  return parser->trace->sources[0].bytes.size - parser->at;
}


/* br_prescan.c */

/* How the groups are to be read. */
typedef struct br_interpretation {
  bool outer_first; /* backtraces stand with the outermost frame first */
  bool inclusive;   /* times include what the line called */
  bool has_callers; /* some group has backtraces */
} br_interpretation;

/* Read the first megabyte, or with an option `wall` everything: decide on the
   readings, and say in the trace's info what they are and why. `rows` is how
   many groups there are, or -1 when that was not all. */
pf_status br_prescan (pf_trace *trace, br_interpretation *interp, int64_t *rows,
                      pf_error *error);


/* The frame at a level of the parser's group: 0 is the line itself, 1 its caller,
   and so on to the outermost. */
static inline const br_frame *br_frame_of (const br_group *group,
                                           const br_interpretation *interp,
                                           size_t level) {
  const bool turn = interp->outer_first && level > 0;
  return &group->frames[turn ? group->nframes - level : level];
}


/* br_samples.c, br_frames.c, br_raw_records.c, br_encoder.c */

enum {
  SAMPLES_MODULE,
  SAMPLES_LINE,
  SAMPLES_CLAUSE,
  SAMPLES_FUNCTION,
  SAMPLES_KIND,
  SAMPLES_SPENT,
  SAMPLES_DEPTH,
  SAMPLES_STACK,
  SAMPLES_SELF,
  SAMPLES_OFFSET,
  SAMPLES_COLUMNS
};
extern const pf_field br_samples_fields[SAMPLES_COLUMNS];

enum {
  FRAMES_OFFSET,
  FRAMES_LEVEL,
  FRAMES_FRAME,
  FRAMES_MODULE,
  FRAMES_LINE,
  FRAMES_CLAUSE,
  FRAMES_FUNCTION,
  FRAMES_KIND,
  FRAMES_SPENT,
  FRAMES_COLUMNS
};
extern const pf_field br_frames_fields[FRAMES_COLUMNS];

enum {
  RAW_OFFSET,
  RAW_SIZE,
  RAW_KIND,
  RAW_MODULE_NUMBER,
  RAW_LINE,
  RAW_CLAUSE,
  RAW_SPENT,
  RAW_NAME,
  RAW_BYTES,
  RAW_COLUMNS
};
extern const pf_field br_raw_fields[RAW_COLUMNS];

pf_status br_open_samples (pf_trace *trace, const pf_table *table,
                           pf_reader **reader, pf_error *error);
pf_status br_open_frames (pf_trace *trace, const pf_table *table,
                          pf_reader **reader, pf_error *error);
pf_status br_open_raw (pf_trace *trace, const pf_table *table,
                       pf_reader **reader, pf_error *error);

#define BR_WRITTEN 1 /* the tables the encoder takes: samples */
extern const pf_table br_written[BR_WRITTEN];

pf_status br_encoder (const pf_option *options, size_t noptions,
                      pf_dictionary *dictionary, pf_encoder **encoder,
                      pf_error *error);

static inline pf_bytes br_text (const char *text) {
  return (pf_bytes){(const uint8_t *)text, strlen(text)};
}

static inline pf_status br_no_memory (pf_error *error) {
  return pf_fail(error, PF_ENOMEM, PF_NO_OFFSET, "out of memory");
}

#endif
