/*
** spans.h - events of calls made to nest: what viewers of timelines read.
*/

#ifndef spans_h
#define spans_h

#include "kernels/calls/events.h"

/* What is shown. */
typedef struct pf_spans {
  bool lines; /* lines of functions too */
  bool has_from, has_to;
  int64_t from, to; /* only from <= time < to: what lasts longer is cut */
} pf_spans;

/* The columns, in order. */
enum {
  PF_SPAN_KIND,  /* a name: open, close */
  PF_SPAN_TIME,  /* ns; in a lane it never goes back */
  PF_SPAN_AREA,  /* an area or a name, as the events have it */
  PF_SPAN_FRAME, /* its number, from 1, by first sight */
  PF_SPAN_LANE,  /* the number of the lane, from 0, by first sight */
  PF_SPAN_FIELDS
};

/*
** A reader of `events` (borrowed; its columns: kernels/calls/events.h). In
** each lane opens and closes are balanced and nest: a leave closes what is
** open above it, one without an enter is left out, and what is open at the
** end is closed at the last time. Suspends and resumes are not shown. A gap, or another
** file, closes all. Memory grows with lanes, areas and depth.
*/
pf_status pf_spans_open (pf_reader *events, const pf_spans *options,
                         pf_reader **reader, pf_error *error);

/* What a reader of spans that came to its end has read: its events, whose
   lanes they know; and the first and the last time within the range, both 0
   when there was none. */
const pf_events *pf_spans_events (const pf_reader *spans);
void pf_spans_ends (const pf_reader *spans, int64_t *first, int64_t *last);

#endif
