/*
** spans.h - a stage that returns the begins and ends of calls in the order of
** the events, from which timelines for viewers are written.
** kernels/calls/call.h defines calls; the reader runs the call machine and
** compares its stacks after each event. Used by track_store.c.
**
** Spans lie on tracks. A track is the call stack of a lane, the states of one
** variable, or the values of one variable. Times on a track never go back; if
** the times of a lane start again, a new track begins.
*/

#ifndef spans_h
#define spans_h

#include "kernels/calls/events.h"

/* Options of pf_spans_open. Initialise with zeros. */
typedef struct pf_spans {
  pf_call_options calls; /* only from, to and last are used */
  bool lines;            /* include lines of functions */
  bool variables;        /* include tracks of states and values of variables */
  bool idle;             /* include rows for the times in which a lane does not
                            run */
} pf_spans;

typedef enum pf_span_kind {
  PF_SPAN_OPEN,
  PF_SPAN_CLOSE, /* the span that was opened last ends */
  PF_SPAN_LATE,  /* a call without an enter: a span that was open since the
                    base, around all spans since then; it is open now */
  PF_SPAN_BASE,  /* where spans of PF_SPAN_LATE begin; no span is open */
  PF_SPAN_IDLE,  /* the innermost call stops running */
  PF_SPAN_RUN    /* ... runs again; at a base it runs */
} pf_span_kind;

/* The columns, in order; all are of type int. */
enum {
  PF_SPAN_KIND,  /* pf_span_kind */
  PF_SPAN_TRACK, /* id from 0, in the order of first occurrence */
  PF_SPAN_TIME,  /* ns */
  PF_SPAN_FRAME, /* id of the frame (area and value), from 1, in the order of
                    first occurrence */
  PF_SPAN_AREA,
  PF_SPAN_VALUE, /* missing: none */
  PF_SPAN_NET,   /* of a close: ns in which the call was active, or missing */
  PF_SPAN_FLAGS, /* of a close: pf_call_flag bits */
  PF_SPAN_FIELDS
};

/* The stack or variable of a track. */
typedef struct pf_span_track {
  pf_area_kind kind; /* PF_KIND_FUNCTION: a lane */
  uint32_t lane;     /* of a lane: its id in the events */
  uint32_t area;     /* of a variable: its first area */
  uint32_t run;      /* how often the times of the lane started again before */
} pf_span_track;

/*
** Open a reader of the spans of `events` (borrowed; its columns:
** kernels/calls/events.h). On each track opens and closes are balanced and
** nest. Memory grows with tracks, areas, distinct values and depth.
** PF_EUNSUPPORTED when the columns are not those of events; PF_ENOMEM.
*/
pf_status pf_spans_open (pf_reader *events, const pf_spans *options,
                         pf_reader **reader, pf_error *error);

/* For a reader of spans that has returned PF_END: the events that it read; its
   *count tracks; the first and the last time within the range (ns), both 0 when
   there was none. */
const pf_events *pf_spans_events (const pf_reader *spans);
const pf_span_track *pf_spans_tracks (const pf_reader *spans, uint32_t *count);
void pf_spans_limits (const pf_reader *spans, int64_t *first, int64_t *last);

#endif
