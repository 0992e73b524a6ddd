/*
** histogram.h - counts of durations in buckets, four for each power of two.
** Used by durations.c and csrc/lua/stages/lane_overview.c. The owner
** initialises a histogram with zeros and frees `cells`.
*/

#ifndef histogram_h
#define histogram_h

#include <string.h>

#include "model/base/memory.h"

typedef struct pf_duration_cell {
  uint64_t count;
  int64_t start;  /* ns: of the first call that was counted */
  uint32_t track; /* its track */
} pf_duration_cell;

typedef struct pf_duration_histogram {
  pf_duration_cell *cells; /* of the buckets first, first + 1, ... */
  size_t count, capacity;
  uint32_t first;
} pf_duration_histogram;

/* Returns the bucket of a duration of at least 0 ns. */
static inline uint32_t pf_duration_bucket (int64_t duration) {
  if (duration < 4)
    return (uint32_t)duration;
  const uint32_t power = 63 - (uint32_t)__builtin_clzll((uint64_t)duration);
  return 4 * (power - 1) + (uint32_t)(duration >> (power - 2) & 3);
}


/* Returns the least duration of a bucket, in ns. */
static inline int64_t pf_duration_low (uint32_t bucket) {
  return bucket < 4 ? bucket : (int64_t)(4 + bucket % 4) << (bucket / 4 - 1);
}


/* Count a call with a duration of at least 0 ns. False when out of memory. */
static inline bool pf_duration_add (pf_duration_histogram *h, int64_t duration,
                                    int64_t start, uint32_t track) {
  const uint32_t bucket = pf_duration_bucket(duration);
  const size_t before =
      h->count > 0 && bucket < h->first ? h->first - bucket : 0;
  const size_t last =
      h->count == 0 || bucket < h->first ? 0 : bucket - h->first;
  const size_t wanted = last >= h->count ? last + 1 : h->count + before;
  if (!pf_grow(&h->cells, &h->capacity, wanted))
    return false;
  if (before > 0)
    memmove(h->cells + before, h->cells, h->count * sizeof *h->cells);
  const size_t begin = before > 0 ? 0 : h->count;
  const size_t added = wanted - h->count;
  memset(h->cells + begin, 0, added * sizeof *h->cells);
  if (h->count == 0 || before > 0)
    h->first = bucket;
  h->count = wanted;
  pf_duration_cell *const cell = &h->cells[bucket - h->first];
  if (cell->count++ == 0) {
    cell->start = start;
    cell->track = track;
  }
  return true;
}

#endif
