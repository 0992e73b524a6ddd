/*
** address_index.c - convert run-time addresses to those of the range index.
*/

#include "kernels/graph/address_index.h"


bool pf_index_open (pf_address_index *index, const pf_ranges *ranges,
                    uint64_t bias) {
  *index = (pf_address_index){ranges, ranges->count, bias};
  return ranges->count == 0 ||
         pf_index_start(index, 0) <= pf_index_start(index, ranges->count - 1);
}


/* Returns the address in the range index for a run-time address at or after the
   first range. Where the result overflows, UINT64_MAX is after all ranges
   too. */
static inline uint64_t without_bias (const pf_address_index *index,
                                     uint64_t address) {
  const uint64_t base = index->ranges->base;
  const uint64_t distance = address - (base + index->bias);
  return distance > UINT64_MAX - base ? UINT64_MAX : base + distance;
}


size_t pf_index_before (const pf_address_index *index, uint64_t address) {
  if (index->count == 0 || address < pf_index_start(index, 0))
    return PF_NO_RANGE;
  return pf_ranges_before(index->ranges, without_bias(index, address));
}


void pf_index_find_all (const pf_address_index *index,
                        const uint64_t *addresses, size_t count,
                        uint32_t *found) {
  uint64_t moved[PF_INDEX_AT_ONCE] = {0};
  const uint64_t first = index->count == 0 ? 0 : pf_index_start(index, 0);
  for (size_t i = 0; i < count; i++)
    if (addresses[i] >= first)
      moved[i] = without_bias(index, addresses[i]);
  pf_ranges_find_all(index->ranges, moved, count, found);
  for (size_t i = 0; i < count; i++)
    if (addresses[i] < first)
      found[i] = UINT32_MAX;
}
