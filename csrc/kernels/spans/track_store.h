/*
** track_store.h - stores spans by track: the events are read once, and each
** track can be read as often as needed. Used by
** csrc/lua/stages/timeline_spans.c and csrc/lua/profile/export_samples.c: open,
** read tracks, close. The caller closes the readers before the store, which
** owns tracks, frames and file.
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

/* The tracks in the order of first occurrence; the number of opens and closes on
   one; the name of its variable, or PF_NO_NAME. */
const pf_span_tracks *pf_span_store_tracks (const pf_span_store *store);
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

/* An area, or a value of a variable. */
typedef struct pf_span_frame {
  uint32_t area, name; /* `name`: of the area, followed by the value */
  bool has_value;
  int64_t value;
} pf_span_frame;

/* The number of frames; one of them, by id from 0. */
uint32_t pf_span_store_frame_count (const pf_span_store *store);
const pf_span_frame *pf_span_store_frame (const pf_span_store *store,
                                          uint32_t frame);

/* Open a reader over all frames: frame, area, name. It borrows the store.
   PF_ENOMEM. */
pf_status pf_span_store_frames (const pf_span_store *store, pf_reader **reader,
                                pf_error *error);

#endif
