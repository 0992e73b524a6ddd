/*
** spans.h - events of calls made to nest: what viewers of timelines read.
*/

#ifndef spans_h
#define spans_h

#include "kernels/calls/events.h"

/* What is shown. */
typedef struct pf_spans {
  bool has_lane; /* only the lane of this number, in order of first sight */
  uint32_t lane;
  bool lines;     /* lines of functions too */
  int64_t origin; /* taken away from all times */
} pf_spans;

/*
** A reader of `events` (borrowed; its columns: kernels/calls/events.h): kind
** (open, close), time, area, frame (areas by number from 1, in order of first sight),
** lane. In each lane they are balanced and nest: a leave closes what is open
** above it, one without an enter is left out, and what is open at the end is
** closed at the last time. Suspends and resumes are not shown. A gap closes
** all. Memory grows with lanes, areas and depth.
*/
pf_status pf_spans_open (pf_reader *events, const pf_spans *options,
                         pf_reader **reader, pf_error *error);

#endif
