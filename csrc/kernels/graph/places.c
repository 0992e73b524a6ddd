/*
** places.c - run-time addresses brought to the ranges of an index.
*/

#include "kernels/graph/places.h"


bool pf_places_open (pf_places *places, const pf_ranges *ranges,
                     uint64_t bias) {
  *places = (pf_places){ranges, ranges->count, bias};
  return ranges->count == 0 ||
         pf_place_start(places, 0) <= pf_place_start(places, ranges->count - 1);
}


/* An address, not before the first place, as the ranges count. What comes out
   behind the last address there is behind all ranges as well. */
static inline uint64_t unmoved (const pf_places *places, uint64_t address) {
  const uint64_t base = places->ranges->base;
  const uint64_t distance = address - (base + places->bias);
  return distance > UINT64_MAX - base ? UINT64_MAX : base + distance;
}


size_t pf_places_before (const pf_places *places, uint64_t address) {
  if (places->count == 0 || address < pf_place_start(places, 0))
    return PF_NO_PLACE;
  return pf_ranges_before(places->ranges, unmoved(places, address));
}


void pf_places_find_all (const pf_places *places, const uint64_t *addresses,
                         size_t count, uint32_t *found) {
  uint64_t moved[PF_PLACES_AT_ONCE] = {0};
  const uint64_t first = places->count == 0 ? 0 : pf_place_start(places, 0);
  for (size_t i = 0; i < count; i++)
    if (addresses[i] >= first)
      moved[i] = unmoved(places, addresses[i]);
  pf_ranges_find_all(places->ranges, moved, count, found);
  for (size_t i = 0; i < count; i++)
    if (addresses[i] < first)
      found[i] = UINT32_MAX;
}
