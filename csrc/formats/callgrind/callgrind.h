/*
** callgrind.h - the format of Valgrind's callgrind and cachegrind, of Xdebug,
** and of profio's export: counts of events by source line, and calls with what
** they cost. Source: Valgrind's manual, "Callgrind Format Specification".
**
**   events: Ir Dr         names of the counts of each line
**   positions: instr line what is in front of them; default: line
**   ob=(1) /bin/prog      object, file (also fi= and fe=: of inlined code) and
**   fl=(1) main.c         function of the lines that follow; (1) alone repeats
**   fn=(1) main           a name
**   16 400 12             line and counts; those that are missing are 0
**   +3 10                 a line 3 after the one before (also -3 and *)
**   cfn=(2) work          the next call is of this function; cob=, cfi= or cfl=
**   calls=3 50            how often, and the position of the function called;
**   18 90000              the next line has the line of the call, and counts of
**                         all that was called
**   jump=2 +5             ignored, with jcnd=, jfi=, jfn=
**   summary: 90412 12     sums, in front of the lines or (totals:) after them
**
** A file may have several parts; each begins with further header lines.
**
**   open_callgrind.c     score, header, tables
**   lines_callgrind.c    the parser of lines
**   rows_callgrind.c     readers of the tables costs, call_costs and raw
*/

#ifndef callgrind_h
#define callgrind_h

#include "bytes/text.h"
#include "model/base/id_table.h"
#include "model/dictionary/names.h"
#include "model/rows/event_columns.h"
#include "model/rows/put_values.h"
#include "model/rows/raw_text.h"
#include "model/rows/table_reader.h"

/* The columns in front of those of the events. */
#define CALLGRIND_COSTS_LIST(X, T)                                      \
  X(T, function, NAME, "the function")                                  \
  X(T, file, NAME, "the source file; the object, if that is not known") \
  X(T, object, NAME, "the program or library")                          \
  X(T, line, INT, "the source line; missing: not known")                \
  X(T, instr, ADDR, "address of the instruction; missing: not in the file")
PF_COLUMN_INDEXES(CALLGRIND_COSTS);

#define CALLGRIND_CALLS_LIST(X, T)                                     \
  X(T, caller, NAME, "the calling function")                           \
  X(T, caller_file, NAME, "its source file; the object, if not known") \
  X(T, caller_object, NAME, "its program or library")                  \
  X(T, line, INT, "the source line of the call; missing: not known")   \
  X(T, instr, ADDR, "address of the call; missing: not in the file")   \
  X(T, callee, NAME, "the function called")                            \
  X(T, callee_file, NAME, "its source file; the object, if not known") \
  X(T, callee_object, NAME, "its program or library")                  \
  X(T, calls, INT, "how often")                                        \
  X(T, is_recursive, BOOL, "the function calls itself")
PF_COLUMN_INDEXES(CALLGRIND_CALLS);

/* The state of a trace. */
typedef struct callgrind_file {
  pf_bytes bytes;
  pf_bytes names; /* of the events, as the file states them */
  pf_event_columns events;
  uint64_t
      factors[PF_EVENT_COLUMNS]; /* from the unit of the file to ns, or 1 */
  bool has_units;                /* some events have a factor */
  size_t last_feed;              /* of the file; 0: it has no line feed */
  bool is_estimate; /* the writer does not promise that sums agree */
  pf_field costs[CALLGRIND_COSTS_COLUMNS + PF_EVENT_COLUMNS];
  pf_field calls[CALLGRIND_CALLS_COLUMNS + PF_EVENT_COLUMNS];
  pf_table tables[3];
} callgrind_file;

/* The kind of a line. */
typedef enum callgrind_kind {
  CALLGRIND_HEADER,
  CALLGRIND_NAME,
  CALLGRIND_COST,
  CALLGRIND_CALLS,
  CALLGRIND_INCLUSIVE,
  CALLGRIND_JUMP,
  CALLGRIND_BLANK,
  CALLGRIND_REST, /* none of these */
  CALLGRIND_KINDS
} callgrind_kind;

/* The names of one kind by their numbers in the file. */
typedef struct callgrind_names {
  pf_id_table numbers;
  uint32_t *names; /* ids of the dictionary, by id of the number */
  size_t capacity;
} callgrind_names;

/* A function: ids of names, or PF_NO_NAME. */
typedef struct callgrind_function {
  uint32_t object, file, name;
} callgrind_function;

#define CALLGRIND_NO_FUNCTION \
  ((callgrind_function){PF_NO_NAME, PF_NO_NAME, PF_NO_NAME})

typedef struct callgrind_parser {
  pf_trace *trace; /* borrowed */
  const callgrind_file *file;
  size_t at;             /* of the next line */
  callgrind_names of[3]; /* objects, files, functions */
  uint32_t unknown;      /* the name "???" */
  callgrind_function function, called;
  bool has_instr, has_line;
  bool is_simple;   /* lines begin with the line alone, and costs have no factor
                   */
  bool is_selected; /* false: events of this part differ from the first */
  uint64_t instr;   /* the last position */
  int64_t line;
  bool is_call;  /* the line before was calls= */
  int64_t calls; /* its number, which is 0 if they began in an earlier part */
  uint64_t calls_at;
  bool is_skipped;  /* the line before was calls=, but cannot be read: the cost
                      of the next line is none of the function itself */
  bool has_summary; /* the part has one */
  int64_t costs[PF_EVENT_COLUMNS];   /* of the line */
  int64_t stated[PF_EVENT_COLUMNS];  /* by the summaries of earlier parts, */
  int64_t part[PF_EVENT_COLUMNS];    /* by that of this one */
  int64_t counted[PF_EVENT_COLUMNS]; /* in lines so far */
  bool lacks_summary, has_overflow;
} callgrind_parser;

/* A line. */
typedef struct callgrind_line {
  callgrind_kind kind;
  size_t at;
  pf_bytes text;             /* without its end */
  size_t size;               /* with it */
  callgrind_function called; /* of CALLGRIND_INCLUSIVE, as `calls` */
  int64_t calls;
} callgrind_line;

/* Read the next line, and add warnings. PF_MORE; PF_END after the last one; or
   a failure. */
pf_status callgrind_next (callgrind_parser *parser, callgrind_line *line,
                          pf_error *error);

/* open_callgrind.c: split the text of a header line "name: value". False if it
   is none. */
bool callgrind_split_header (pf_bytes text, pf_bytes *name, pf_bytes *value);

/* rows_callgrind.c: opens one of the three tables. */
pf_status callgrind_open_table (pf_trace *trace, const pf_table *table,
                                pf_reader **reader, pf_error *error);

#endif
