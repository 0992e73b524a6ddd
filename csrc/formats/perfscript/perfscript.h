/*
** perfscript.h - the format perfscript: the text that Linux's `perf script`
** prints of a recording. Source: the manual page perf-script(1) and what perf
** 6.1 prints.
**
**   # cmdline : perf record -g ./prog    comments, of perf script --header
**   prog 71/73 [003] 19.212345:   1010101 cycles:u: detail     a sample:
**   ^comm ^pid/tid   ^time in s   ^period ^event
**   <tab>ffffffff8109f1b4 symbol+0x24 ([kernel.kallsyms])   its stack, the
**   <tab>          1234ab inlined_function (inlined)        innermost first;
**     file.c:12                          source lines of -F +srcline
**   <empty line>                         end of the sample
**
** Fields that perf script's option -F leaves out are not there; a single number
** is the thread. Without stacks a sample is one line, which begins with blanks
** and ends with the address, symbol and module. Lines of other records have
** PERF_RECORD_... after the time.
**
**   open_perfscript.c    score, facts, events, tables
**   lines_perfscript.c   the parser of lines, headers of samples and frames
**   rows_perfscript.c    readers of the tables samples and raw, and events,
**                        if the option timeline is true
*/

#ifndef perfscript_h
#define perfscript_h

#include "bytes/text.h"
#include "model/dictionary/stacks.h"
#include "model/rows/event_columns.h"
#include "model/rows/put_values.h"
#include "model/rows/raw_text.h"
#include "model/timeline/sampled_calls.h"
#include "model/rows/table_reader.h"

/* The columns in front of those of the events. */
#define PERFSCRIPT_SAMPLES_LIST(X, T)                                     \
  X(T, time, INT, "in ns; missing: not in the file")                      \
  X(T, thread, NAME, "comm and tid")                                      \
  X(T, comm, NAME, "name of the thread, mostly that of the program")      \
  X(T, pid, INT, "the process; missing: not in the file")                 \
  X(T, tid, INT, "the thread; missing: not in the file")                  \
  X(T, cpu, INT, "the CPU; missing: not in the file")                     \
  X(T, event, NAME, "the event that caused the sample")                   \
  X(T, period, INT, "the count that the sample stands for, in its event") \
  X(T, stack, STACK, "functions; the file of each is its module")         \
  X(T, addr, ADDR, "address of the innermost function, as in the file")   \
  X(T, detail, BYTES, "the other fields of the line, as of a tracepoint")
PF_COLUMN_INDEXES(PERFSCRIPT_SAMPLES);

/* An event whose samples have periods. */
typedef struct perfscript_event {
  pf_bytes name;    /* as the file states it */
  char counted[80]; /* name of the column that counts its samples */
} perfscript_event;

/* The state of a trace. */
typedef struct perfscript_file {
  pf_bytes bytes;
  size_t ncounted; /* events whose samples are counted: all, or 0 if there is
                      only one */
  pf_event_columns columns; /* of the periods of each event */
  perfscript_event events[PF_EVENT_COLUMNS];
  bool has_headers, has_time, has_tid; /* of the first sample */
  bool has_frames;                     /* samples have lines of frames */
  pf_field fields[PERFSCRIPT_SAMPLES_COLUMNS + 2 * PF_EVENT_COLUMNS];
  pf_table tables[3];
} perfscript_file;

/* The first line of a sample. Texts are borrowed from it. */
typedef struct perfscript_header {
  pf_bytes lane; /* comm and numbers of process and thread */
  pf_bytes comm, event, detail;
  int64_t time, pid, tid, cpu, period;
  bool has_time, has_pid, has_tid, has_cpu, has_period, has_event;
  bool is_record; /* of another kind than a sample */
  bool is_late;   /* the time does not fit into 64 bits; it is missing */
  pf_bytes frame; /* of a sample in one line: address, symbol, module */
} perfscript_header;

/* A frame. Texts are borrowed from its line. */
typedef struct perfscript_frame {
  uint64_t addr;
  pf_bytes symbol; /* may be empty */
  pf_bytes module; /* empty: not in the file, or that of the frame around it,
                      into which this one has been inlined */
} perfscript_frame;

/* The kind of a line. */
typedef enum perfscript_kind {
  PERFSCRIPT_COMMENT,
  PERFSCRIPT_SAMPLE,
  PERFSCRIPT_FRAME,
  PERFSCRIPT_SOURCE, /* source line of the frame before */
  PERFSCRIPT_RECORD,
  PERFSCRIPT_BLANK,
  PERFSCRIPT_REST, /* none of these */
  PERFSCRIPT_KINDS
} perfscript_kind;

typedef struct perfscript_parser {
  pf_trace *trace; /* borrowed */
  const perfscript_file *file;
  size_t at;       /* of the next line */
  bool is_open;    /* inside a sample */
  bool is_skipped; /* the frames that follow belong to a damaged header */
  bool has_frames; /* the line before was a frame or its source line, */
  bool is_bare;    /* or a sample in front of a stack */
  bool is_cut;     /* the file ends inside the sample, which is left out */
} perfscript_parser;

/* A line. */
typedef struct perfscript_line {
  perfscript_kind kind;
  size_t at;
  pf_bytes text;            /* without its end */
  size_t size;              /* with it */
  bool is_first;            /* a frame that begins a sample without header */
  perfscript_header header; /* of PERFSCRIPT_SAMPLE */
} perfscript_line;

/* Read the next line, and add warnings. PF_MORE; PF_END after the last one; or
   a failure. Frames are not parsed further. */
pf_status perfscript_next (perfscript_parser *parser, perfscript_line *line,
                           pf_error *error);

/* Parse the first line of a sample, without its end. The result states which
   fields it has; a line that is none has neither time nor event. */
perfscript_header perfscript_parse_header (pf_bytes text);

/* Whether a line looks like a frame: blanks, a hexadecimal address, and a blank
   or the end. */
bool perfscript_is_frame (pf_bytes text);

/* Parse a frame, with or without the blanks in front. False if the address does
   not fit into 64 bits. */
bool perfscript_parse_frame (pf_bytes text, perfscript_frame *frame);

/* Whether a line is a comment. */
bool perfscript_is_comment (pf_bytes text);

/* rows_perfscript.c: opens one of the two tables. */
pf_status perfscript_open_table (pf_trace *trace, const pf_table *table,
                                 pf_reader **reader, pf_error *error);

#endif
