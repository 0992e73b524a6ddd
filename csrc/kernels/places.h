/*
** places.h - which of many address ranges holds an address.
**
** Ranges in order of address, none reaching into the next. The ranges are
** also found by page: a table with about one entry per range narrows the
** search to a few neighbours, so a look-up costs two cache misses and no
** layout of addresses makes it worse than a binary search.
*/

#ifndef places_h
#define places_h

#include "profio.h"

#define PF_NO_PLACE     SIZE_MAX
#define PF_PLACES_STEPS 8 /* a search nearby gives up after so many */

typedef struct pf_places {
  size_t count;
  uint64_t *starts; /* count + 1 of them, the last is UINT64_MAX */
  uint64_t *ends;   /* [start, end); an end at or below the start: empty */
  unsigned shift;
  size_t npages;
  uint32_t *pages; /* the range in effect at the first byte of each page */
} pf_places;


/* Memory for `count` ranges, whose starts and ends the caller then fills. */
pf_status pf_places_open (pf_places *places, size_t count);

/* Make the table, once starts and ends stand. Clips each end to the next
   start; false when the starts do not ascend. */
bool pf_places_index (pf_places *places);

void pf_places_close (pf_places *places);

/* The last range that begins at or before `address`, whether it reaches to
   it or not; PF_NO_PLACE when all begin later. */
size_t pf_places_before (const pf_places *places, uint64_t address);

/* The same for many addresses at once, at most PF_PLACES_AT_ONCE: their cache
   misses overlap. Places are answered as 32 bits, none as UINT32_MAX. */
#define PF_PLACES_AT_ONCE 64
void pf_places_before_all (const pf_places *places, const uint64_t *addresses,
                           size_t count, uint32_t *found);

/* The same, where the answer is likely `near` or a close follower. */
static inline size_t pf_places_near (const pf_places *places, size_t near,
                                     uint64_t address) {
  if (near >= places->count || places->starts[near] > address)
    return pf_places_before(places, address);
  for (size_t i = near; i < near + PF_PLACES_STEPS; i++)
    if (i + 1 == places->count || address < places->starts[i + 1])
      return i;
  return pf_places_before(places, address);
}

#endif
