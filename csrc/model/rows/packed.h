/*
** packed.h - compact event encoding: a time stamp and a 32-bit word (kind,
** lane, area) per event, instead of a column for each. Used by kernels/calls.
**
** pf_reader.pack fills a pf_packed with the next rows. If it returns false, the
** caller reads these rows with `next`: a value is missing or does not fit.
*/

#ifndef packed_h
#define packed_h

#include "profio.h"

/* Kinds of events. The word of a packed event has one of those before
   PF_EVENT_OTHER. */
typedef enum pf_event_kind {
  PF_EVENT_LEAVE,
  PF_EVENT_SUSPEND,
  PF_EVENT_RESUME,
  PF_EVENT_ENTER,
  PF_EVENT_WRITE,
  PF_EVENT_OTHER, /* only its time is used */
  PF_EVENT_NONE   /* the row is ignored */
} pf_event_kind;

#define PF_PACKED_ROWS 1024 /* divides PF_BATCH_ROWS */

/* First bits of the lane and of the area in a word; the kind is below them. */
#define PF_PACKED_LANE 4
#define PF_PACKED_AREA 12

#define PF_PACKED_KINDS    ((1u << PF_PACKED_LANE) - 1)
#define PF_PACKED_LANES    ((1u << PF_PACKED_AREA) - 1 - PF_PACKED_KINDS)
#define PF_PACKED_MAX_AREA (UINT32_MAX >> PF_PACKED_AREA) /* the maximum area */

struct pf_packed {
  size_t rows;
  const uint32_t *lanes;  /* name ids of 256 lanes, by the lane in a word; or */
  const int64_t *threads; /* lane numbers, if lanes are integers */
  int64_t times[PF_PACKED_ROWS]; /* ns, ascending */
  uint32_t words[PF_PACKED_ROWS + 16];
};

/* One of two numbers without a branch: enters and leaves are in random order,
   so a branch would be mispredicted half of the time. */
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
