/*
** spans.h - the calls of events in the order in which they begin and end: the
** rows that timelines for viewers are written from. What a call is says
** kernels/calls/call.h; the machine there makes the calls, this reader looks at
** its stacks after each event.
**
** Spans lie on tracks. A track is the call stack of a lane, the states of one
** variable, or the values of one variable. On a track rows never go back in
** time; where the times of a lane begin again, a new track begins.
*/

#ifndef spans_h
#define spans_h

#include "kernels/calls/events.h"

/* Options of pf_spans_open. Begin with zeros. */
typedef struct pf_spans {
  pf_call_options calls; /* of which from, to and last are used */
  bool lines;            /* lines of functions too */
  bool variables;        /* tracks of states, and of the values of variables */
  bool rests;            /* rows for the times in which a lane does not run */
} pf_spans;

typedef enum pf_span_kind {
  PF_SPAN_OPEN,
  PF_SPAN_CLOSE, /* the span that was opened last */
  PF_SPAN_LATE,  /* a call without enter: a span that was open since the base,
                    around all spans since then; it is open now */
  PF_SPAN_BASE,  /* where spans of PF_SPAN_LATE begin; no span is open */
  PF_SPAN_REST,  /* the innermost call stops running */
  PF_SPAN_RUN    /* ... and runs again; it does at a base */
} pf_span_kind;

/* The columns, in order; all are of type int. */
enum {
  PF_SPAN_KIND,  /* pf_span_kind */
  PF_SPAN_TRACK, /* its number, from 0, by first sight */
  PF_SPAN_TIME,  /* ns */
  PF_SPAN_FRAME, /* the number of what is open, from 1, by first sight; the
                    columns below are those of pf_span_frame */
  PF_SPAN_AREA,
  PF_SPAN_VALUE, /* missing: there is none */
  PF_SPAN_NET,   /* of a close: ns in which the call was active, or missing */
  PF_SPAN_FLAGS, /* of a close: pf_call_flag bits */
  PF_SPAN_FIELDS
};

/* The stack or variable of a track. */
typedef struct pf_span_track {
  pf_area_kind kind; /* PF_KIND_FUNCTION: of a lane */
  uint32_t lane;     /* of a lane: its number among the events */
  uint32_t area;     /* of a variable: the first one that was met */
  uint32_t run;      /* how often times began again before it */
} pf_span_track;

/*
** A reader of the spans of `events` (borrowed; its columns:
** kernels/calls/events.h). On each track opens and closes are balanced and
** nest. Memory grows with tracks, areas, distinct values and depth.
*/
pf_status pf_spans_open (pf_reader *events, const pf_spans *options,
                         pf_reader **reader, pf_error *error);

/* Of a reader of spans that came to its end: the events that it read; its
   tracks, `count` of them; and the first and the last time within the range,
   both 0 when there was none. */
const pf_events *pf_spans_events (const pf_reader *spans);
const pf_span_track *pf_spans_tracks (const pf_reader *spans, uint32_t *count);
void pf_spans_limits (const pf_reader *spans, int64_t *first, int64_t *last);

#endif
