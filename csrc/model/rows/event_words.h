/*
** event_words.h - the form in which the call machine processes events: a time
** and a word of 64 bits each. Used by kernels/calls, which converts columns to
** it, and by formats/winidea, whose records are decoded to it directly
** (next_events of abilities.h). Nothing is allocated.
*/

#ifndef event_words_h
#define event_words_h

#include "profio.h"

typedef enum pf_event_kind {
  PF_EVENT_LEAVE,
  PF_EVENT_SUSPEND,
  PF_EVENT_RESUME,
  PF_EVENT_ENTER,
  PF_EVENT_WRITE,
  PF_EVENT_OTHER, /* only its time is used */
  PF_EVENT_NONE   /* the row is ignored */
} pf_event_kind;

#define PF_LANE_IDS (UINT32_C(1) << 28) /* ids of lanes are below this */

/* The word of an event: the area in the upper half, below it the id of the lane
   and 4 bits of its kind. */
static inline uint64_t pf_event_word (uint64_t kind, uint64_t lane,
                                      uint32_t area) {
  return (uint64_t)area << 32 | lane << 4 | kind;
}

static inline pf_event_kind pf_event_kind_of (uint64_t word) {
  return (pf_event_kind)(word & 15);
}

static inline uint32_t pf_event_lane (uint64_t word) {
  return (uint32_t)word >> 4;
}

static inline uint32_t pf_event_area (uint64_t word) {
  return (uint32_t)(word >> 32);
}

/* The destination of next_events (abilities.h). */
typedef struct pf_event_target {
  int64_t *times;  /* PF_BATCH_ROWS of them */
  uint64_t *words; /* likewise */
  /* Returns the id of a lane by the id of its name; PF_NO_ID when out of
     memory. */
  uint32_t (*lane_id)(void *context, uint32_t name);
  void *context;
} pf_event_target;

#endif
