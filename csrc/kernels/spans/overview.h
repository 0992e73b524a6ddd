/*
** overview.h - a summary of all tracks whose size does not depend on the number
** of events: of each track the longest calls and suspensions, and for intervals
** of equal length how busy it was and with what. Used by
** csrc/lua/stages/lane_overview.c: open, trim (kept_calls.c), read the members,
** close.
**
** The longest calls stay, and if the tracks have no more calls than they may
** keep, all of them are there. The pf_overview owns all arrays, which
** pf_overview_close frees; the events are borrowed until then.
*/

#ifndef overview_h
#define overview_h

#include "kernels/spans/durations.h"
#include "kernels/spans/intervals.h"
#include "kernels/spans/longest_calls.h"
#include "kernels/spans/spans.h"

/* Frames with durations. */
#define PF_OVERVIEW_DURATIONS 20000
#define PF_OVERVIEW_RANGES    1024

typedef struct pf_overview_options {
  pf_call_options calls;   /* only from, to and last may be set */
  int64_t first, length;   /* ns: the intervals divide this time */
  uint32_t intervals;      /* of each lane, at least 1; a variable has at most
                              PF_OVERVIEW_RANGES */
  uint32_t most_values;    /* of each track of values, at least 1 */
  uint32_t most_calls;     /* of all tracks together, at least 1; up to twice as
                              many are in memory while the events are read */
  uint32_t most_variables; /* tracks of variables; further ones are left out */
  uint32_t most_pauses;    /* of each track, at least 1 */
  uint32_t most_longest; /* functions whose longest call is kept although it is
                              shorter than others of its lane */
} pf_overview_options;

typedef struct pf_overview_track pf_overview_track;
struct pf_overview_track {
  pf_overview_list calls, pauses;
  pf_overview_interval *intervals;
  uint32_t nintervals;                /* of them */
  int64_t width;                      /* of an interval, ns */
  struct overview_progress *progress; /* private */
};

typedef struct pf_overview {
  pf_overview_options options;
  pf_span_tracks known;
  pf_overview_track *tracks; /* by id; read with pf_overview_track_at */
  size_t capacity;
  uint32_t *areas;         /* by frame: its area; index 0 is unused */
  uint32_t *worst_track;   /* by frame: track of its longest call */
  pf_overview_call *worst; /* by frame: its longest call in a lane; length -1:
                              none */
  uint32_t nvariables;
  uint64_t level;   /* private: calls that each list has kept at most, */
  uint64_t nopened; /* calls that were opened */
  uint64_t held, most_held; /* calls in all lists while the events are read */
  pf_durations durations;   /* of the first PF_OVERVIEW_DURATIONS frames */
  size_t nframes, areas_capacity, worst_track_capacity, worst_capacity;
} pf_overview;

/* Read `events` (borrowed until pf_overview_close) to their end. On success
   *overview is set, which the caller closes. Errors: see pf_spans_read. */
pf_status pf_overview_open (pf_reader *events,
                            const pf_overview_options *options,
                            pf_overview **overview, pf_error *error);
void pf_overview_close (pf_overview *overview);

/* Reduce the lists of calls, possibly again with a smaller number, so that all
   tracks together keep at most `most_calls`: each track may keep the same
   number, and tracks with fewer leave theirs to the others. Values of a
   variable stay if all of them fit into a quarter of it. In addition the
   longest call of up to `most_longest` functions stays, if it is shorter
   than the others of its track. Order all lists by start. False when
   out of memory. */
bool pf_overview_trim (pf_overview *overview, uint64_t most_calls);

/* Add a call to the list of its track; for overview.c. False when out of
   memory. */
bool pf_overview_keep (pf_overview *overview, uint32_t track,
                       const pf_overview_call *call);

/* Whether a track has values, which are of use only if they are all there. */
static inline bool pf_overview_has_values (const pf_overview *o,
                                           uint32_t track) {
  return o->known.list[track].kind == PF_KIND_VALUE;
}

/* Returns a track by id; NULL if it is left out. */
static inline pf_overview_track *pf_overview_track_at (const pf_overview *o,
                                                       uint32_t track) {
  return track < o->capacity && o->tracks[track].progress != NULL
             ? &o->tracks[track]
             : NULL;
}

#endif
