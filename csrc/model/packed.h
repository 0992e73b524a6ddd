/*
** packed.h - events in a time and a word each: what the machine of calls wants
** of most tables of events, without a column for each thing.
**
** A reader that can fills them with its next rows (pf_reader.pack), or says
** that `next` must be asked for these: where something is missing or odd, or
** stands in more bits than there are.
*/

#ifndef packed_h
#define packed_h

#include "profio.h"

/* What an event is; those before the others may stand in a word. */
typedef enum pf_event_kind {
  PF_EVENT_LEAVE,
  PF_EVENT_SUSPEND,
  PF_EVENT_RESUME,
  PF_EVENT_ENTER,
  PF_EVENT_WRITE,
  PF_EVENT_OTHER, /* only its time counts */
  PF_EVENT_NONE   /* the row is left out */
} pf_event_kind;

#define PF_PACKED_ROWS 1024 /* a part of PF_BATCH_ROWS */

/* In a word stand, from the lowest bit on, the kind, a number for the lane, and
   the area. */
#define PF_PACKED_LANE 4
#define PF_PACKED_AREA 12

#define PF_PACKED_KINDS    ((1u << PF_PACKED_LANE) - 1)
#define PF_PACKED_LANES    ((1u << PF_PACKED_AREA) - 1 - PF_PACKED_KINDS)
#define PF_PACKED_MAX_AREA (UINT32_MAX >> PF_PACKED_AREA) /* of an area */

struct pf_packed {
  size_t rows;
  const uint32_t *lanes;  /* their names, by the numbers in words: 256; or */
  const int64_t *threads; /* where lanes are whole numbers: these */
  int64_t times[PF_PACKED_ROWS]; /* none before the one before it */
  uint32_t words[PF_PACKED_ROWS + 16];
};

/* One of two numbers without a branch: whether an event enters or leaves is
   chance, and a branch on it is foreseen half of the time. */
static inline uint32_t pf_select (bool first, uint32_t a, uint32_t b) {
  return b ^ ((a ^ b) & (0u - (uint32_t)first));
}

static inline uint32_t pf_packed_kind (uint32_t word) {
  return word & PF_PACKED_KINDS;
}

static inline uint32_t pf_packed_lane (uint32_t word) {
  return (word & PF_PACKED_LANES) >> PF_PACKED_LANE;
}

static inline uint32_t pf_packed_area (uint32_t word) {
  return word >> PF_PACKED_AREA;
}

#endif
