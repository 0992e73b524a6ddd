/*
** track_store.h - stores spans by track: the events are read once, and each
** track can be read as often as needed. Used by csrc/lua/spans.c and
** csrc/lua/profile/export_samples.c: open, read tracks, close.
**
** A span takes a few bytes; tracks with many spans are stored in an unlinked
** file. Memory grows with tracks, areas and calls without an enter.
*/

#ifndef track_store_h
#define track_store_h

#include "kernels/spans/spans.h"

typedef struct pf_span_store pf_span_store;

/* Read `events` (borrowed until pf_span_store_close) to their end. A failure of
   the events, PF_ENOMEM, or PF_EIO of the file. */
pf_status pf_span_store_open (pf_reader *events, const pf_spans *options,
                              pf_span_store **store, pf_error *error);
void pf_span_store_close (pf_span_store *store);

/* The first and the last time (ns) of all spans within the range. */
void pf_span_store_limits (const pf_span_store *store, int64_t *first,
                           int64_t *last);

/* The tracks in the order of first occurrence, and the events with their lanes;
   the number of opens and closes on a track; the name of the variable of a
   track, or PF_NO_NAME. */
const pf_span_track *pf_span_store_tracks (const pf_span_store *store,
                                           uint32_t *count);
const pf_events *pf_span_store_events (const pf_span_store *store);
uint64_t pf_span_store_rows (const pf_span_store *store, uint32_t track);
uint32_t pf_span_store_variable (const pf_span_store *store, uint32_t track);

/* The columns of the reader of a track. */
enum {
  PF_TRACK_KIND,  /* a name: open, close, idle, run */
  PF_TRACK_TIME,  /* ns, minus `origin` */
  PF_TRACK_FRAME, /* its id, from 0; missing for idle and run */
  PF_TRACK_NAME,  /* of the frame: name of its area, and value */
  PF_TRACK_NET,   /* only of a close */
  PF_TRACK_FLAGS, /* only of a close: names in alphabetical order */
  PF_TRACK_FIELDS
};

/* Open a reader of the opens and closes on a track, with calls without an enter
   where they began. It borrows the store. PF_ENOMEM. */
pf_status pf_span_store_reader (const pf_span_store *store, uint32_t track,
                                int64_t origin, pf_reader **reader,
                                pf_error *error);

/* The number of frames; the area and the name of one, by id from 0. */
uint32_t pf_span_store_frame_count (const pf_span_store *store);
uint32_t pf_span_store_area (const pf_span_store *store, uint32_t frame);
uint32_t pf_span_store_name (const pf_span_store *store, uint32_t frame);

/* Open a reader over all frames: frame, area, name. It borrows the store.
   PF_ENOMEM. */
pf_status pf_span_store_frames (const pf_span_store *store, pf_reader **reader,
                                pf_error *error);

#endif
