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
**   lanes_chrome.c    names of lanes, and whether events are in order
**   items_chrome.c    what happens at a time, in order
**   events_chrome.c   the table `events`: the stacks of all lanes
**   entries_chrome.c  the tables `entries` and `raw`
*/

#ifndef chrome_h
#define chrome_h

#include "bytes/text_cache.h"
#include "model/base/id_table.h"
#include "model/dictionary/areas.h"
#include "model/dictionary/json_names.h"
#include "model/rows/json_members.h"
#include "model/rows/nesting.h"
#include "model/rows/put_values.h"
#include "model/rows/raw_text.h"
#include "model/rows/sorter.h"
#include "model/rows/table_reader.h"

#define CHROME_EVENTS_LIST(X, T)                                          \
  X(T, time, INT, "time, ns")                                             \
  X(T, event, NAME,                                                       \
    "enter, leave or write (a counter; without value: an instant); end: " \
    "when the last event ended")                                          \
  X(T, area, AREA, "the name of the event, with its category as file")    \
  X(T, lane, NAME, "thread, with its process if there are several")       \
  X(T, value, INT, "of a counter, if it is a whole number")               \
  X(T, number, NUM, "of a counter")                                       \
  X(T, params, BYTES, "the member args, as JSON")
PF_COLUMN_INDEXES(CHROME_EVENTS);

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

/* {====== lanes_chrome.c ====== */

/* A thread, or work that has an id. */
typedef struct chrome_lane {
  uint32_t pid, tid; /* names */
  uint32_t title;    /* name of a thread, or PF_NO_NAME */
  uint32_t process;  /* its name, if there are several, or PF_NO_NAME */
  uint32_t name;     /* of the lane, unique */
  bool is_work;      /* it has an id */

  /* While the order is examined: */
  int64_t start, end, last_end; /* of the last event; of the last span */
  bool was_span;                /* the last event is one */
  bool is_unordered;            /* spans do not come by start, */
  bool is_unended;              /* nor by end */
} chrome_lane;

/* All lanes of a file. */
typedef struct chrome_lanes {
  chrome_lane *lanes;
  size_t capacity;
  pf_id_table known;   /* words: pid and tid; of work see work_word */
  pf_id_table works;   /* words: process and category of work */
  pf_id_table pids;    /* processes */
  uint32_t *processes; /* their names */
  size_t process_capacity;
  pf_bytes last_pid, last_tid; /* texts of the thread that was asked for last */
  uint32_t last;               /* its lane, or UINT32_MAX */
} chrome_lanes;

void chrome_lanes_init (chrome_lanes *lanes);
void chrome_lanes_free (chrome_lanes *lanes);

/* Sets *lane to the lane of an event, which is added if it is new. */
pf_status chrome_lane_of (chrome_lanes *lanes, pf_trace *trace,
                          const chrome_event *event, uint32_t *lane,
                          pf_error *error);

/* Takes the name of a process or of a thread. */
pf_status chrome_take_metadata (chrome_lanes *lanes, pf_trace *trace,
                                const chrome_event *event, pf_error *error);

/* Sets the names of all lanes, which differ. */
pf_status chrome_name_lanes (chrome_lanes *lanes, pf_dictionary *dictionary,
                             pf_error *error);

/* }====== */

/* {====== items_chrome.c ====== */

typedef enum chrome_kind {
  CHROME_END,
  CHROME_BEGIN,
  CHROME_MARK,   /* an instant */
  CHROME_WRITE,  /* of a whole number */
  CHROME_NUMBER, /* of a double */
  CHROME_SPAN
} chrome_kind;

/* The begin or end of an event in a lane, or a value. */
typedef struct chrome_item {
  int64_t start;
  int64_t end;    /* of a span; of a counter its value, or the bits of it */
  uint64_t place; /* the event's byte * 8 + kind */
  uint32_t lane;
  uint32_t area; /* of an end without a name PF_NO_AREA */
} chrome_item;

static inline chrome_kind chrome_kind_of (const chrome_item *item) {
  return (chrome_kind)(item->place & 7);
}

#define CHROME_HELD ((size_t)1 << 18) /* items that are kept: 8 MiB */

/* The state of a trace. */
typedef struct chrome_file {
  pf_bytes bytes;
  size_t begin;   /* byte after the bracket of the array of events */
  int64_t origin; /* added to all times, ns */
  chrome_lanes lanes;
  bool is_scanned;
  bool is_ordered; /* events come by start, those around others first */
  int64_t step_of_ts, step_of_dur; /* to which they are rounded, ns */
  bool has_samples;   /* events of a profiler, which are not read */
  chrome_item *items; /* all, in order; NULL: there are more than are kept */
  size_t nitems, capacity;
} chrome_file;

/* Reads the items of a file in the order of their time. */
typedef struct chrome_items {
  chrome_parser parser;
  chrome_file *file;
  chrome_event event;          /* the last one that was parsed */
  pf_bytes detail;             /* member of args that names get; or empty */
  uint32_t function, variable; /* names of classes */
  uint32_t unnamed;            /* the name of what has none */
  pf_text_cache functions;     /* areas by name; the category may differ */
  bool is_light;          /* items have no areas: only their order counts */
  bool has_category;      /* the last one is known: */
  pf_bytes category_text; /* its text, */
  uint32_t category;      /* and its name */
  chrome_item *held;      /* of the event */
  size_t nheld, at, held_capacity;
  pf_sorter *sorter; /* NULL: they come in order */
} chrome_items;

/* The first time, the whole file is read: the names of its lanes may stand
   anywhere. */
pf_status chrome_items_open (chrome_items *items, pf_trace *trace,
                             pf_error *error);
void chrome_items_close (chrome_items *items);

/* Sets *item to the next one, valid until the next call. PF_MORE, PF_END, or a
   failure. */
pf_status chrome_items_next (chrome_items *items, const chrome_item **item,
                             pf_error *error);

/* }====== */

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
