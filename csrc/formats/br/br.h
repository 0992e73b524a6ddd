/*
** br.h - the records of the format br, the output of DEBUG PROFILE of Business
** Rules! BASIC, and the functions that its files share. Times are in ns.
**
** A file is a sequence of records without header, magic number, version or
** lengths; all numbers are big-endian:
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
** Records form groups, with mappings between them. A group is one line that was
** executed, or one sample:
**
**   group := 03 tag? (04 | 05 tag?)* 06        tag := 07 | 08 | 09
**
** From the page "Profiler File Layout" of the BR wiki. It does not specify the
** order of the backtraces, whether times include called lines, and type 02 (nor
** its length, so nothing after it can be read).
**
**   records_br.c  decodes one record; interns names, from the code page
**   groups_br.c   parser of groups; reports all damage
**   open_br.c     the format: score, open; decides what the page leaves open
**   rows_br.c     readers of the tables
**   encoder.c     the encoder
**
** The files of this folder call the functions below; other code uses
** pf_format_br. The pre-scan and each reader of samples or frames own a
** br_parser, a reader of raw owns a br_names; the br_file belongs to the trace.
*/

#ifndef br_h
#define br_h

#include <string.h>

#include "bytes/cursor.h"
#include "model/rows/batch.h"
#include "model/base/charset.h"
#include "model/dictionary/areas.h"
#include "model/dictionary/names.h"
#include "model/rows/trace.h"

typedef enum br_type {
  BR_REST = 0, /* not a type: the bytes up to the end, which are no record */
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

#define BR_MODULES         65536 /* possible numbers of modules */
#define BR_LAST_LINE       99999 /* of a BR program; the first is 1 */
#define BR_DEPTH           65536 /* default of option max_depth */
#define BR_LONG_TIME       (1000000000000000000u) /* 32 years: implausible */
#define BR_MAX_NAME        255                    /* bytes of a function name */
#define BR_MAX_MODULE_NAME 65535                  /* bytes of a module name */

/* Bytes of a module name as UTF-8. */
#define BR_MAX_CONVERTED PF_CONVERTED_MAX(BR_MAX_MODULE_NAME)

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
  BR_TRUNCATED, /* the bytes end inside the record; size: its minimum */
  BR_INVALID    /* not a record */
} br_result;

/* records_br.c: decodes the record at `at`, before the end of the bytes. */
br_result br_record_at (pf_bytes bytes, uint64_t at, br_record *record);

/* The conversion of a reader's names from the file's code page to UTF-8. */
typedef struct br_names {
  pf_dictionary *dictionary;
  pf_converter converter;
  uint8_t *text; /* owned: BR_MAX_CONVERTED bytes; NULL until needed */
} br_names;

/* Returns true if profio's recorder wrote the file; *recorder is then the name
   of its first mapping. */
bool br_recorded_by (const pf_trace *trace, pf_bytes *recorder);

/* Returns true if a file that begins with `bytes` is profio's recorder's. */
bool br_is_recording (pf_bytes bytes);

/* Opens the names of a trace. PF_EUNSUPPORTED or PF_ENOMEM. Call br_names_close
   also after a failure; it accepts a zeroed struct. */
pf_status br_names_open (br_names *names, const pf_trace *trace,
                         pf_error *error);
void br_names_close (br_names *names);

/* Interns a name of the file as UTF-8. PF_NO_NAME when out of memory. */
uint32_t br_intern (br_names *names, pf_bytes name);

/* groups_br.c: the kind of routine that contains the line of a frame. */
typedef enum br_routine {
  BR_UNKNOWN, /* the file does not state it */
  BR_IN_FUNCTION,
  BR_IN_GOSUB,
  BR_IN_MAIN,
  BR_ROUTINES
} br_routine;

/* The values of column `kind` and the classes of areas. */
extern const char *const br_routine_names[BR_ROUTINES];

/* A line of a program. No padding, because frames are compared with memcmp. */
typedef struct br_frame {
  uint32_t module; /* id of the name of its file */
  uint32_t line;
  uint32_t function; /* id of a name, or PF_NO_NAME */
  uint16_t clause;
  uint16_t routine; /* br_routine */
} br_frame;

typedef struct br_group {
  uint64_t offset;
  br_frame *frames; /* owned: the current line, then backtraces */
  size_t nframes, capacity;
  uint64_t dropped; /* backtraces beyond the maximum depth */
  bool has_time;
  uint64_t spent;
} br_group;

/* Returns true if a group has a time that fits into a column. */
static inline bool br_has_time (const br_group *group) {
  return group->has_time && group->spent <= INT64_MAX;
}

/* The parser of groups: a position between two records, and the current group.
   Call br_parser_open, br_next_group until PF_END, br_parser_close. */
typedef struct br_parser {
  pf_trace *trace;
  pf_error *error; /* of the current call of br_next_group */
  br_names names;
  uint64_t at;
  uint32_t *modules;                /* owned; ids of names + 1; 0: none */
  uint64_t mappings, groups, timed; /* so far; `timed` have a time */
  size_t depth;                     /* maximum backtraces of a group */
  bool is_live; /* the file may grow: an incomplete record is not reported */
  bool in_group;
  bool may_have_tag;    /* only tags have followed the last frame */
  bool has_warned_line; /* an implausible line number has been reported */
  br_group group;
} br_parser;

/* Sets the parser to the start. PF_EUNSUPPORTED for an invalid max_depth or a
   code page that the system cannot convert, PF_ENOMEM. Call br_parser_close
   also after a failure. */
pf_status br_parser_open (br_parser *parser, pf_trace *trace, pf_error *error);
void br_parser_close (br_parser *parser);

/* Parses the next group into parser->group. Returns PF_MORE, PF_END (in a live
   trace PF_AGAIN instead), or a failure of pf_warn or PF_ENOMEM. */
pf_status br_next_group (br_parser *parser, pf_error *error);

/* The time of lines whose caller has not ended, by their number of frames. */
typedef struct br_callees {
  uint64_t *times; /* owned; ns, at most UINT64_MAX */
  size_t capacity;
} br_callees;

/* Ends the line of a group. Sets *called to the time of the lines that it
   called: the groups one frame deeper since the last group of its depth. The
   time of the group, or *called if it has none, is added for its caller. False
   when out of memory. */
bool br_end_line (br_callees *callees, const br_group *group, uint64_t *called);

/* a + b, at most UINT64_MAX. */
static inline uint64_t br_sum (uint64_t a, uint64_t b) {
  return b > UINT64_MAX - a ? UINT64_MAX : a + b;
}

static inline uint64_t br_left (const br_parser *parser) {
  return parser->trace->sources[0].bytes.size - parser->at;
}

/* Choices that the page of the format leaves open; open_br.c decides them. */
typedef struct br_interpretation {
  bool outer_first; /* backtraces are in the order from the outermost frame */
  bool inclusive;   /* times include called lines */
  bool has_callers; /* some group of the pre-scan has backtraces */
  bool is_assumed;  /* nothing states the order of backtraces */
  int64_t interval; /* ns between two samples; 0: unknown */
} br_interpretation;

/* Returns true if a group is evidence for the order of backtraces: it has two
   or more, and the main routine only on the first or only on the last one. */
static inline bool br_has_main_only (const br_group *group, bool is_first) {
  const size_t last = group->nframes - 1;
  if (last < 2 || group->dropped > 0)
    return false;
  return group->frames[is_first ? 1 : last].routine == BR_IN_MAIN &&
         group->frames[is_first ? last : 1].routine != BR_IN_MAIN;
}

/* The frame of a group at a level: 0 is the line itself, 1 its caller, ... */
static inline const br_frame *br_frame_of (const br_group *group,
                                           const br_interpretation *interp,
                                           size_t level) {
  const bool turn = interp->outer_first && level > 0;
  return &group->frames[turn ? group->nframes - level : level];
}

/* rows_br.c: the tables, and the columns of the first one. */

#define SAMPLES_LIST(X, T)                                                  \
  X(T, module, NAME, "file of the program, or module#N when N has no name") \
  X(T, line, INT, "line number")                                            \
  X(T, clause, INT, "number of the clause in the line")                     \
  X(T, function, NAME, "function the line is in")                           \
  X(T, kind, NAME, "what the line is in: function, gosub, main or unknown") \
  X(T, spent, INT, "time as stated, ns; missing in samples")                \
  X(T, depth, INT, "frames of the stack, the line itself included")         \
  X(T, stack, STACK, "the line and its callers")                            \
  X(T, self, INT, "time of the line without what it called, ns")            \
  X(T, labels, NAME, "labels that a Lua program set, as route=/login")      \
  X(T, time, INT, "sum of the self times before it, ns")                    \
  X(T, offset, INT, "byte at which the group begins")
PF_COLUMN_INDEXES(SAMPLES);

#define BR_TABLES  3
#define BR_WRITTEN 1 /* the encoder takes the first one, samples */
extern const pf_table br_tables[BR_TABLES];

/* The state of an opened trace (trace->state), which the trace owns. */
typedef struct br_file {
  br_interpretation interp;
  pf_charset charset; /* of names */
  pf_table tables[BR_TABLES];
} br_file;

/* encoder.c */
pf_status br_encoder (const pf_option *options, size_t noptions,
                      pf_dictionary *dictionary, pf_encoder **encoder,
                      pf_error *error);

#endif
