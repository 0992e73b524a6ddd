/*
** spans.h - the begins and ends of calls in the order of the events, from which
** timelines for viewers are written. kernels/calls/call.h defines calls; the
** call machine runs, and its stacks are compared after each event. Used by
** csrc/lua/stages/timeline_spans.c, csrc/lua/profile/export_samples.c, and
** overview.c and track_store.c of this folder.
**
** Spans lie on tracks. A track is the call stack of a lane, the states of one
** variable, or the values of one variable. Times on a track never go back; if
** the times of a lane start again, a new track begins.
**
** The caller closes the tracks (pf_span_tracks_close) or the store
** (pf_span_store_close), which own all memory and borrow the events.
*/

#ifndef spans_h
#define spans_h

#include <math.h>
#include <string.h>

#include "kernels/calls/events.h"

/* Options of pf_spans_read. Initialise with zeros. */
typedef struct pf_spans {
  pf_call_options calls; /* only from, to and last may be set */
  bool lines;            /* include lines of functions */
  bool variables;        /* include tracks of states and values of variables */
  bool idle;             /* include rows for the times in which a lane does not
                            run */
  char *(*put_number)(char *at, double value); /* for a store with variables:
                            writes a value, at most 30 bytes, and returns its
                            end; the names of frames have values */
} pf_spans;

/* A value that was written to a variable. */
typedef struct pf_span_value {
  bool is_known, is_number;
  int64_t bits; /* the value or, with is_number, the bits of a double */
} pf_span_value;

/* Sums and differences of times that are damaged: beyond 2^63-1 they are that,
   and a negative difference is 0. */
static inline int64_t pf_time_between (int64_t from, int64_t to) {
  const uint64_t time = (uint64_t)to - (uint64_t)from;
  return to <= from ? 0 : time > INT64_MAX ? INT64_MAX : (int64_t)time;
}

/* `more` is at least 0. */
static inline int64_t pf_time_after (int64_t time, int64_t more) {
  return time > 0 && more > INT64_MAX - time ? INT64_MAX : time + more;
}

typedef enum pf_span_kind {
  PF_SPAN_OPEN,
  PF_SPAN_CLOSE, /* the span that was opened last ends */
  PF_SPAN_LATE,  /* a call without an enter: a span that was open since the
                    base, around all spans since then; it is open now */
  PF_SPAN_BASE,  /* where spans of PF_SPAN_LATE begin; no span is open */
  PF_SPAN_IDLE,  /* the innermost call stops running */
  PF_SPAN_RUN    /* ... runs again; at a base it runs */
} pf_span_kind;

typedef struct pf_span {
  pf_span_kind kind;
  uint32_t track; /* id from 0, in the order of first occurrence */
  uint32_t frame; /* id of the frame (area and value), from 1, in the order of
                     first occurrence; 0: none */
  uint32_t area;
  uint32_t flags;  /* of a close: pf_call_flag bits */
  bool is_counted; /* of a close: the call begins in the range */
  pf_span_value value;
  int64_t time; /* ns */
  int64_t net;  /* of a close: ns in which the call was active, or PF_NO_TIME;
                  of PF_SPAN_LATE: those until now, 0 if it is resumed now */
  const int64_t
      *durations; /* of a close of a call: by PF_NET, ...; else NULL */
} pf_span;

/* Takes a span, which is valid only during the call. A failure, with a message,
   ends the reading. */
typedef pf_status pf_put_span (void *context, const pf_span *span,
                               pf_error *error);

/* Returns a value as a double; not a number if it is not known. */
static inline double pf_span_number (const pf_span_value *value) {
  double number = value->is_known ? (double)value->bits : (double)NAN;
  if (value->is_number)
    memcpy(&number, &value->bits, sizeof number);
  return number;
}

/* The stack or variable of a track. */
typedef struct pf_span_track {
  pf_area_kind kind; /* PF_KIND_FUNCTION: a lane */
  uint32_t lane;     /* of a lane: its id in the events */
  uint32_t area;     /* of a variable: its first area */
  uint32_t run;      /* how often the times of the lane started again before */
} pf_span_track;

/* A time without events because they are lost: from the event before to the
   first one after it, which is flagged `gap` or `lost`. ns */
typedef struct pf_span_loss {
  int64_t from, to;
} pf_span_loss;

#define PF_SPAN_MOST_LOSSES 1000 /* that are kept */

/* Facts about all spans. `first` and `last` are 0 if there was no event.
   `events`, `list` and `losses` are freed by pf_span_tracks_close. */
typedef struct pf_span_tracks {
  pf_events events; /* with the lanes */
  pf_span_track *list;
  uint32_t count;
  size_t capacity;
  pf_span_loss *losses; /* the first ones, in the order of events */
  size_t nlosses, losses_capacity;
  uint64_t flagged[PF_CALL_FLAG_NAMES]; /* calls of functions with the flag at
                                           this index of pf_call_flag_names */
  int64_t first, last;                  /* of the times within the range, ns */
  bool has_times;
} pf_span_tracks;

/*
** Read `events` (borrowed until the tracks are closed; its columns:
** kernels/calls/events.h) to their end, and pass their spans to `put`. On each
** track opens and closes nest, and are balanced unless a live file has not
** ended. Memory grows with tracks, areas, distinct values and depth. Close the
** tracks also after a failure: PF_EUNSUPPORTED when the columns are not those
** of events; PF_ENOMEM; that of `put` or of the events.
*/
pf_status pf_spans_read (pf_reader *events, const pf_spans *options,
                         pf_put_span *put, void *context,
                         pf_span_tracks *tracks, pf_error *error);
void pf_span_tracks_close (pf_span_tracks *tracks);

/* Returns the name id of the variable of a track, or PF_NO_NAME for a lane. */
uint32_t pf_span_variable (const pf_dictionary *dictionary,
                           const pf_span_track *track);

/*
** track_store.c: stores spans by track, so that the events are read once, and
** each track can be read as often as needed: open, read tracks, close. The
** caller closes the readers before the store, which owns tracks, frames and
** file. A span takes a few bytes; tracks with many spans are stored in an
** unlinked file. Memory grows with tracks, areas and calls without an enter.
*/
typedef struct pf_span_store pf_span_store;

/* Read `events` (borrowed until pf_span_store_close) to their end. A failure of
   the events, PF_ENOMEM, or PF_EIO of the file. */
pf_status pf_span_store_open (pf_reader *events, const pf_spans *options,
                              pf_span_store **store, pf_error *error);
void pf_span_store_close (pf_span_store *store);

/* The tracks in the order of first occurrence; the number of opens and closes
   on one. */
const pf_span_tracks *pf_span_store_tracks (const pf_span_store *store);
uint64_t pf_span_store_rows (const pf_span_store *store, uint32_t track);

/* The columns of the reader of a track. */
enum {
  PF_TRACK_KIND,  /* a name: open, close, idle, run */
  PF_TRACK_TIME,  /* ns, minus `origin` */
  PF_TRACK_FRAME, /* its id, from 0; missing for idle and run */
  PF_TRACK_NAME,  /* of the frame: name of its area, and value */
  PF_TRACK_NET,   /* only of a close */
  PF_TRACK_FLAGS, /* only of a close: names in alphabetical order */
  PF_TRACK_DEPTH, /* of the call, from 1; missing for idle and run */
  PF_TRACK_FIELDS
};

/* Open a reader of the rows of a track, with calls without an enter where they
   began. It borrows the store. PF_ENOMEM. */
pf_status pf_span_store_reader (const pf_span_store *store, uint32_t track,
                                int64_t origin, pf_reader **reader,
                                pf_error *error);

/* An area, or a value of a variable. */
typedef struct pf_span_frame {
  uint32_t area, name; /* `name`: of the area, followed by the value */
  pf_span_value value;
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
