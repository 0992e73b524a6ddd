/*
** address_index.h - find the range (symbol, line) that holds a run-time
** address. Used by the attribution of samples and the counting of arcs.
**
** An address index is the range index of model/base/ranges.h, shifted by the
** load bias. It borrows the ranges, which must outlive it, and allocates
** nothing. A range is known by its number in the range index.
*/

#ifndef address_index_h
#define address_index_h

#include "model/base/ranges.h"

#define PF_NO_RANGE      SIZE_MAX
#define PF_INDEX_STEPS   8 /* ranges that pf_index_near tries in sequence */
#define PF_INDEX_AT_ONCE 64

typedef struct pf_address_index {
  const pf_ranges *ranges; /* borrowed */
  size_t count;            /* ranges */
  uint64_t bias;           /* run-time address = address in `ranges` + bias */
} pf_address_index;


/* Set up an index over `ranges`, shifted by `bias`. Returns false when the bias
   moves some of the ranges, but not all, past the last address. */
bool pf_index_open (pf_address_index *index, const pf_ranges *ranges,
                    uint64_t bias);

/* Range number `at` is [start, end); it is empty when end <= start. */
static inline uint64_t pf_index_start (const pf_address_index *index,
                                       size_t at) {
  return pf_range_start(index->ranges, at) + index->bias;
}

static inline uint64_t pf_index_end (const pf_address_index *index, size_t at) {
  return pf_range_end(index->ranges, at) + index->bias;
}

/* Returns the last range that starts at or before `address`; the range may end
   before the address. PF_NO_RANGE when all ranges start after it. */
size_t pf_index_before (const pf_address_index *index, uint64_t address);

/* Set found[i] to the range that contains addresses[i], or to UINT32_MAX when
   none does. `count` is at most PF_INDEX_AT_ONCE. */
void pf_index_find_all (const pf_address_index *index,
                        const uint64_t *addresses, size_t count,
                        uint32_t *found);

/* Returns what pf_index_before returns; faster when that is range `near` or one
   of the PF_INDEX_STEPS - 1 ranges after it. */
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
