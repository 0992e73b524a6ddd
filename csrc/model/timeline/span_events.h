/*
** span_events.h - the table `events` of spans: rows that enter and leave areas
** in lanes, made of what happens in order. A span that overlaps the one around
** it, without lying in it, gets a lane beside. Work with an id gets the lane
** `async` of its process that was free last, as any number of it may overlap.
**
** Used by the format chrome, and by kernels/chains/chain_spans.c, whose rows
** end with the lane. Order of calls: zero a pf_span_events and set the members
** in front; pf_span_events_open; pf_span_events_step until PF_END;
** pf_span_events_close. The reader of a table owns it.
*/

#ifndef span_events_h
#define span_events_h

#include "model/rows/put_values.h"
#include "model/rows/table_reader.h"
#include "model/timeline/timed.h"
#include "model/timeline/nesting.h"

#define PF_SPAN_EVENTS_LIST(X, T)                                         \
  X(T, time, INT, "time, ns")                                             \
  X(T, event, NAME,                                                       \
    "enter, leave or write (a counter; without value: an instant); end: " \
    "when the last event ended")                                          \
  X(T, area, AREA, "the name of the event, with its category as file")    \
  X(T, lane, NAME, "thread, with its process if there are several")       \
  X(T, value, INT, "of a counter, if it is a whole number")               \
  X(T, number, NUM, "of a counter")                                       \
  X(T, params, BYTES, "the arguments of the event, as in the file")
PF_COLUMN_INDEXES(PF_SPAN_EVENTS);
extern const pf_field pf_span_fields[PF_SPAN_EVENTS_COLUMNS];

/* Unusual things, which are noted. */
typedef enum pf_span_note {
  PF_SPAN_OVERLAP,
  PF_SPAN_ROUNDED,
  PF_SPAN_UNMATCHED
} pf_span_note;

typedef struct pf_span_events {
  pf_dictionary *dictionary;
  pf_timed_reader *items; /* closed by its owner */
  const pf_threads *lanes;
  int64_t inexact; /* by how many ns the ends of two spans may differ that are
                      one in truth */
  void *context;
  /* The arguments of the event at a byte; without them `at` is NULL. */
  pf_bytes (*params)(void *context, uint64_t place);
  /* Adds the note, of an event at a byte. */
  pf_status (*note)(void *context, pf_span_note note, const char *text,
                    uint64_t place, pf_error *error);

  const pf_timed *item; /* the next one, unless it is taken */
  bool is_taken;
  pf_nesting *nesting;
  uint32_t *names; /* of lanes, by stack */
  size_t name_capacity;
  uint32_t *of_lane; /* its first stack, or UINT32_MAX */
  size_t lane_capacity;
  struct pf_span_works *works; /* by process */
  size_t work_capacity;
  int64_t last;           /* the latest time of a row */
  bool has_rows, is_done; /* all items are read; */
  bool is_ended;          /* so is the event `end` */
  uint32_t words[4];      /* names: enter, leave, write, end */
} pf_span_events;

pf_status pf_span_events_open (pf_span_events *spans, pf_error *error);

/* A step of the reader of the table. */
pf_status pf_span_events_step (pf_span_events *spans, pf_batch *batch,
                               pf_error *error);

void pf_span_events_close (pf_span_events *spans);

#endif
