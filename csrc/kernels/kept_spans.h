/*
** kept_spans.h - spans track by track: events are read once, and each track can
** be read as often as needed.
**
** A span takes a few bytes; where those of a track are many, they are in an
** unlinked file: memory grows with tracks, areas and calls without enter.
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

/* The tracks, by first sight, and the events that know their lanes; how many
   opens and closes there are on one; the name of the variable of one, or
   PF_NO_NAME. */
const pf_span_track *pf_kept_spans_tracks (const pf_kept_spans *kept,
                                           uint32_t *count);
const pf_events *pf_kept_spans_events (const pf_kept_spans *kept);
uint64_t pf_kept_spans_rows (const pf_kept_spans *kept, uint32_t track);
uint32_t pf_kept_spans_variable (const pf_kept_spans *kept, uint32_t track);

/* The columns of the reader of a track. */
enum {
  PF_KEPT_KIND,  /* a name: open, close, rest, run */
  PF_KEPT_TIME,  /* `origin` taken off */
  PF_KEPT_FRAME, /* its number, from 0; missing of a rest and a run */
  PF_KEPT_NAME,  /* of the frame: that of its area, and its value */
  PF_KEPT_NET,   /* of a close; else missing */
  PF_KEPT_FLAGS, /* of a close: words in alphabetical order; else missing */
  PF_KEPT_FIELDS
};

/* A reader of what is opened and closed on a track, calls without enter in
   their places. It borrows `kept`. */
pf_status pf_kept_spans_reader (const pf_kept_spans *kept, uint32_t track,
                                int64_t origin, pf_reader **reader,
                                pf_error *error);

/* How many frames there are; the area of one, from 0, and its name. */
uint32_t pf_kept_spans_frame_count (const pf_kept_spans *kept);
uint32_t pf_kept_spans_area (const pf_kept_spans *kept, uint32_t frame);
uint32_t pf_kept_spans_name (const pf_kept_spans *kept, uint32_t frame);

/* A reader over what was open anywhere: frame, area, name. It borrows `kept`. */
pf_status pf_kept_spans_frames (const pf_kept_spans *kept, pf_reader **reader,
                                pf_error *error);

#endif
