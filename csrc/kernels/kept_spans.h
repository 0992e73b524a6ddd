/*
** kept_spans.h - spans lane by lane: events are read once, and what each lane
** has can be read as often as it is wanted.
**
** They wait in a few bytes each, and where those of a lane are many in a file
** without a name: memory grows with lanes and areas.
*/

#ifndef kept_spans_h
#define kept_spans_h

#include "kernels/spans.h"

typedef struct pf_kept_spans pf_kept_spans;

/* Read `events` (borrowed until pf_kept_spans_close) to their end. */
pf_status pf_kept_spans_open (pf_reader *events, const pf_spans *options,
                              pf_kept_spans **kept, pf_error *error);
void pf_kept_spans_close (pf_kept_spans *kept);

/* The first and the last time of all events within the range. */
void pf_kept_spans_ends (const pf_kept_spans *kept, int64_t *first,
                         int64_t *last);

/* How many lanes there are, by first sight; the events that know them; how
   many spans begin and end in one. */
uint32_t pf_kept_spans_lanes (const pf_kept_spans *kept);
const pf_events *pf_kept_spans_events (const pf_kept_spans *kept);
uint64_t pf_kept_spans_rows (const pf_kept_spans *kept, uint32_t lane);

/* A reader over what is open and closed in a lane: kind, time (`origin` taken
   off), frame. It borrows `kept`. */
pf_status pf_kept_spans_reader (const pf_kept_spans *kept, uint32_t lane,
                                int64_t origin, pf_reader **reader,
                                pf_error *error);

/* A reader over what was open anywhere: frame, area. It borrows `kept`. */
pf_status pf_kept_spans_frames (const pf_kept_spans *kept, pf_reader **reader,
                                pf_error *error);

#endif
