/*
** chrome.h - the Trace Event Format of Chrome: JSON that Chrome, Node.js,
** clang's -ftime-trace, Bazel, PyTorch and many others write, and profio's
** export. Source: Google's document "Trace Event Format".
**
**   [                                     an array of events, which may end
**    {"ph": "X", "name": "parse",         anywhere; or an object whose member
**     "cat": "js", "pid": 1, "tid": 2,    traceEvents is the array
**     "ts": 12.5, "dur": 3,               microseconds, with fractions
**     "args": {"file": "a.js"}},
**
**   ph   B, E     a call begins, ends        b, n, e (S, F)  the same of work
**        X        a call with its duration                   with an id
**        i, I     an instant                 C  a counter: numbers in args
**        M        names of processes and threads, in args.name
**        s, t, f and others: in table `entries` only
**
** Members and events have any order.
**
**   open_chrome.c     score, members around the events, tables
**   parse_chrome.c    one event after the other
**   lanes_chrome.c    the lanes of events
**   items_chrome.c    what happens at a time
**   events_chrome.c   the table `events`
**   entries_chrome.c  the tables `entries` and `raw`
*/

#ifndef chrome_h
#define chrome_h

#include "bytes/text_cache.h"
#include "model/dictionary/areas.h"
#include "model/dictionary/json_names.h"
#include "model/rows/json_members.h"
#include "model/rows/put_values.h"
#include "model/rows/raw_text.h"
#include "model/rows/table_reader.h"
#include "model/timeline/span_events.h"

#define CHROME_ENTRIES_LIST(X, T)                                          \
  X(T, time, INT, "ts, ns")                                                \
  X(T, duration, INT, "dur, ns")                                           \
  X(T, phase, NAME, "ph: X, B, E, b, n, e, i, C, s, t, f, M, ...")         \
  X(T, name, NAME, "the name of the event")                                \
  X(T, category, NAME, "cat")                                              \
  X(T, pid, NAME, "the process, as the file has it")                       \
  X(T, tid, NAME, "the thread, as the file has it")                        \
  X(T, id, BYTES, "id or id2 of work in several steps, flows and objects") \
  X(T, args, BYTES, "the member args, as JSON")
PF_COLUMN_INDEXES(CHROME_ENTRIES);

/* {====== parse_chrome.c ====== */

/* A time in ns and thousandths of it. */
typedef struct chrome_time {
  int64_t ns;
  int ps;
} chrome_time;

/* The members of an event that are read, and one for all others. */
typedef enum chrome_member {
  CHROME_NAME,
  CHROME_CATEGORY,
  CHROME_PID,
  CHROME_TID,
  CHROME_ID,
  CHROME_ARGS,
  CHROME_PHASE,
  CHROME_TS,
  CHROME_DUR,
  CHROME_ID2,
  CHROME_OTHER,
  CHROME_TEXTS
} chrome_member;

/* An event; of texts that are missing the kind is PF_JSON_NONE. */
typedef struct chrome_event {
  size_t at, size; /* its bytes */
  uint8_t phase;   /* of `ph`, the first byte */
  bool has_ts, has_dur;
  chrome_time ts, dur;
  pf_json texts[CHROME_TEXTS];
} chrome_event;

/* A position in a file; `shape` has zeros at the begin. */
typedef struct chrome_parser {
  pf_trace *trace; /* NULL: quiet */
  pf_bytes bytes;
  size_t at;
  bool is_quiet;     /* no warnings */
  bool is_truncated; /* the file ends in an event */
  pf_json_shape shape;
} chrome_parser;

/* Reads the next event; `at` is then behind it. PF_MORE; PF_END: no more, and
   `at` is that of the bracket after them, or of the end; or a failure. */
pf_status chrome_next (chrome_parser *parser, chrome_event *event,
                       pf_error *error);

/* Warns of something at a byte, and shows what stands there. */
pf_status chrome_warn (const chrome_parser *parser, pf_note_kind kind,
                       const char *code, size_t at, const char *what,
                       pf_error *error);

/* Sets the start of an event and its end, which is the start without a
   duration, in ns after `origin`. False: there is none, or it is too large. */
bool chrome_interval (const chrome_event *event, int64_t origin, int64_t *start,
                      int64_t *end);

/* Whether events with this phase happen in a lane: they are items. */
static inline bool chrome_has_items (uint8_t phase) {
  static const bool has[256] = {
      ['X'] = true, ['B'] = true, ['E'] = true, ['i'] = true,
      ['I'] = true, ['C'] = true, ['b'] = true, ['e'] = true,
      ['n'] = true, ['S'] = true, ['F'] = true};
  return has[phase];
}

/* Whether they are steps of work with an id, which may overlap. */
static inline bool chrome_is_work (uint8_t phase) {
  static const bool is[256] = {
      ['b'] = true, ['e'] = true, ['n'] = true, ['S'] = true, ['F'] = true};
  return is[phase];
}

/* }====== */

/* The state of a trace. */
typedef struct chrome_file {
  pf_bytes bytes;
  size_t begin;   /* byte after the bracket of the array of events */
  int64_t origin; /* added to all times, ns */
  pf_threads lanes;
  pf_id_table works;           /* words: process and category of work */
  pf_bytes last_pid, last_tid; /* texts of the last thread asked for, */
  uint32_t last_lane;          /* and its lane, or PF_NO_ID */
  pf_order order;
  int64_t step_of_ts, step_of_dur; /* to which they are rounded, ns */
  bool has_samples; /* events of a profiler, which are not read */
} chrome_file;

/* lanes_chrome.c: sets *lane to the lane of an event, which is added if it is
   new; takes the name of a process or of a thread. */
pf_status chrome_lane_of (pf_trace *trace, const chrome_event *event,
                          uint32_t *lane, pf_error *error);
pf_status chrome_take_metadata (pf_trace *trace, const chrome_event *event,
                                pf_error *error);

/* items_chrome.c: the items of events. */
typedef struct chrome_items {
  pf_timed_reader items;
  chrome_parser parser;
  chrome_file *file;
  chrome_event event;          /* the last one that was parsed */
  pf_bytes detail;             /* member of args that names get; or empty */
  uint32_t function, variable; /* names of classes */
  uint32_t unnamed;            /* the name of what has none */
  pf_text_cache functions;     /* areas by name; the category may differ */
  bool has_category;           /* the last one is known: */
  pf_bytes category_text;      /* its text, */
  uint32_t category;           /* and its name */
} chrome_items;

/* The first time, the whole file is read: the names of its lanes may stand
   anywhere. */
pf_status chrome_items_open (chrome_items *items, pf_trace *trace,
                             pf_error *error);

/* open_chrome.c: reads the members of the outer object that follow the array of
   events, the bracket of which is at a byte. */
void chrome_read_members (pf_trace *trace, size_t at);

/* events_chrome.c, entries_chrome.c: open tables. */
pf_status chrome_open_events (pf_trace *trace, const pf_table *table,
                              pf_reader **reader, pf_error *error);
pf_status chrome_open_entries (pf_trace *trace, const pf_table *table,
                               pf_reader **reader, pf_error *error);
pf_status chrome_open_raw (pf_trace *trace, const pf_table *table,
                           pf_reader **reader, pf_error *error);

#endif
