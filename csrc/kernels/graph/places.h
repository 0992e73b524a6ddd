/*
** places.h - which of many address ranges holds a run-time address.
**
** An index over ranges (model/ranges.h), moved by a load bias. Neither the
** ranges nor the index are copied: both must stay. Besides the look-ups of the
** index there is one for an address near the last one.
*/

#ifndef places_h
#define places_h

#include "model/ranges.h"

#define PF_NO_PLACE       SIZE_MAX
#define PF_PLACES_STEPS   8 /* a search nearby gives up after so many */
#define PF_PLACES_AT_ONCE PF_RANGES_AT_ONCE

typedef struct pf_places {
  const pf_ranges *ranges;
  size_t count;
  uint64_t bias;
} pf_places;


/* Places at the ranges + bias. False when the bias moves some, but not all of
   them past the last address. */
bool pf_places_open (pf_places *places, const pf_ranges *ranges, uint64_t bias);

/* Where place number `at` is: [start, end), empty when the end is at or below
   the start. */
static inline uint64_t pf_place_start (const pf_places *places, size_t at) {
  return pf_range_start(places->ranges, at) + places->bias;
}

static inline uint64_t pf_place_end (const pf_places *places, size_t at) {
  return pf_range_end(places->ranges, at) + places->bias;
}

/* The last place that begins at or before `address`, whether it reaches to
   it or not; PF_NO_PLACE when all begin later. */
size_t pf_places_before (const pf_places *places, uint64_t address);

/* Which places hold many addresses, at most PF_PLACES_AT_ONCE; those that none
   holds get UINT32_MAX. */
void pf_places_find_all (const pf_places *places, const uint64_t *addresses,
                         size_t count, uint32_t *found);

/* As pf_places_before where the answer is likely `near` or a close
   follower. */
static inline size_t pf_places_near (const pf_places *places, size_t near,
                                     uint64_t address) {
  if (near >= places->count || pf_place_start(places, near) > address)
    return pf_places_before(places, address);
  for (size_t i = near; i < near + PF_PLACES_STEPS; i++)
    if (i + 1 == places->count || address < pf_place_start(places, i + 1))
      return i;
  return pf_places_before(places, address);
}

#endif
