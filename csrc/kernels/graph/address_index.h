/*
** index.h - which of many address ranges holds a run-time address.
**
** An index over ranges (model/ranges.h), moved by a load bias. Neither the
** ranges nor the index are copied: both must stay. Besides the look-ups of the
** index there is one for an address near the last one.
*/

#ifndef address_index_h
#define address_index_h

#include "model/ranges.h"

#define PF_NO_RANGE      SIZE_MAX
#define PF_INDEX_STEPS   8 /* a search nearby gives up after so many */
#define PF_INDEX_AT_ONCE PF_RANGES_AT_ONCE

typedef struct pf_address_index {
  const pf_ranges *ranges;
  size_t count;
  uint64_t bias;
} pf_address_index;


/* Places at the ranges + bias. False when the bias moves some, but not all of
   them past the last address. */
bool pf_index_open (pf_address_index *index, const pf_ranges *ranges,
                    uint64_t bias);

/* Where place number `at` is: [start, end), empty when the end is at or below
   the start. */
static inline uint64_t pf_index_start (const pf_address_index *index,
                                       size_t at) {
  return pf_range_start(index->ranges, at) + index->bias;
}

static inline uint64_t pf_index_end (const pf_address_index *index, size_t at) {
  return pf_range_end(index->ranges, at) + index->bias;
}

/* The last place that begins at or before `address`, whether it reaches to
   it or not; PF_NO_RANGE when all begin later. */
size_t pf_index_before (const pf_address_index *index, uint64_t address);

/* Which index hold many addresses, at most PF_INDEX_AT_ONCE; those that none
   holds get UINT32_MAX. */
void pf_index_find_all (const pf_address_index *index,
                        const uint64_t *addresses, size_t count,
                        uint32_t *found);

/* As pf_index_before where the answer is likely `near` or a close
   follower. */
static inline size_t pf_index_near (const pf_address_index *index, size_t near,
                                    uint64_t address) {
  if (near >= index->count || pf_index_start(index, near) > address)
    return pf_index_before(index, address);
  for (size_t i = near; i < near + PF_INDEX_STEPS; i++)
    if (i + 1 == index->count || address < pf_index_start(index, i + 1))
      return i;
  return pf_index_before(index, address);
}

#endif
