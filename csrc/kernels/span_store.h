/*
** span_store.h - spans track by track: events are read once, and each track can
** be read as often as needed.
**
** A span takes a few bytes; where those of a track are many, they are in an
** unlinked file: memory grows with tracks, areas and calls without enter.
*/

#ifndef span_store_h
#define span_store_h

#include "kernels/spans.h"

typedef struct pf_span_store pf_span_store;

/* Read `events` (borrowed until pf_span_store_close) to their end. */
pf_status pf_span_store_open (pf_reader *events, const pf_spans *options,
                              pf_span_store **kept, pf_error *error);
void pf_span_store_close (pf_span_store *kept);

/* The first and the last time of all events within the range. */
void pf_span_store_limits (const pf_span_store *kept, int64_t *first,
                           int64_t *last);

/* The tracks, by first sight, and the events that know their lanes; how many
   opens and closes there are on one; the name of the variable of one, or
   PF_NO_NAME. */
const pf_span_track *pf_span_store_tracks (const pf_span_store *kept,
                                           uint32_t *count);
const pf_events *pf_span_store_events (const pf_span_store *kept);
uint64_t pf_span_store_rows (const pf_span_store *kept, uint32_t track);
uint32_t pf_span_store_variable (const pf_span_store *kept, uint32_t track);

/* The columns of the reader of a track. */
enum {
  PF_TRACK_KIND,  /* a name: open, close, rest, run */
  PF_TRACK_TIME,  /* `origin` taken off */
  PF_TRACK_FRAME, /* its number, from 0; missing of a rest and a run */
  PF_TRACK_NAME,  /* of the frame: that of its area, and its value */
  PF_TRACK_NET,   /* of a close; else missing */
  PF_TRACK_FLAGS, /* of a close: words in alphabetical order; else missing */
  PF_TRACK_FIELDS
};

/* A reader of what is opened and closed on a track, calls without enter in
   their places. It borrows `kept`. */
pf_status pf_span_store_reader (const pf_span_store *kept, uint32_t track,
                                int64_t origin, pf_reader **reader,
                                pf_error *error);

/* How many frames there are; the area of one, from 0, and its name. */
uint32_t pf_span_store_frame_count (const pf_span_store *kept);
uint32_t pf_span_store_area (const pf_span_store *kept, uint32_t frame);
uint32_t pf_span_store_name (const pf_span_store *kept, uint32_t frame);

/* A reader over what was open anywhere: frame, area, name. It borrows `kept`. */
pf_status pf_span_store_frames (const pf_span_store *kept, pf_reader **reader,
                                pf_error *error);

#endif
