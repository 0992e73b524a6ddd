/*
** ranges.h - finding the range that holds an address: a sorted array of rows
** that begin with `uint64_t start, end`, and a table of pages over it. Where a
** page has no gap and at most two rows begin in it, the table alone tells the
** row; else a look-up visits the rows as well.
*/

#ifndef ranges_h
#define ranges_h

#include <string.h>

#include "profio.h"

/* A page of addresses, where it has no gap: those before the first edge belong
   to the row before `first`, those up to the second to `first`, and the others
   to the row behind. An edge that is not there is behind all. */
typedef struct pf_range_page {
  uint32_t first;    /* how many rows start before the page */
  uint16_t edges[2]; /* where those in it start; the second one 0: the rows
                        tell */
} pf_range_page;

typedef struct pf_ranges {
  const uint8_t *rows; /* borrowed */
  size_t stride;       /* bytes from one row to the next */
  size_t count;
  uint64_t base;  /* the first start */
  unsigned shift; /* a page is 2^shift addresses */
  size_t npages;
  pf_range_page *pages; /* and one behind the last */
} pf_ranges;

/*
** Index rows in ascending order of start, without overlaps; they must stay as
** they are while the index lives. PF_ELIMIT for 2^32 rows or more, PF_ENOMEM.
*/
pf_status pf_ranges_open (pf_ranges *ranges, const void *rows, size_t stride,
                          size_t count);

/* The number of the row with start <= address < end, or SIZE_MAX. */
size_t pf_ranges_find (const pf_ranges *ranges, uint64_t address);

/* The last row that starts at or before `address`, whether it reaches to it
   or not; SIZE_MAX when all start later. */
size_t pf_ranges_before (const pf_ranges *ranges, uint64_t address);

/* As pf_ranges_find for many addresses, at most PF_RANGES_AT_ONCE: their cache
   misses overlap. Rows are answered as 32 bits, none as UINT32_MAX. */
#define PF_RANGES_AT_ONCE 64
void pf_ranges_find_all (const pf_ranges *ranges, const uint64_t *addresses,
                         size_t count, uint32_t *found);

/* Where a row starts, and where it ends. */
static inline uint64_t pf_range_start (const pf_ranges *ranges, size_t row) {
  uint64_t start;
  memcpy(&start, ranges->rows + row * ranges->stride, sizeof start);
  return start;
}

static inline uint64_t pf_range_end (const pf_ranges *ranges, size_t row) {
  uint64_t end;
  memcpy(&end, ranges->rows + row * ranges->stride + sizeof end, sizeof end);
  return end;
}

/* Free the table. Zeroed memory is an index over nothing, fine here too. */
void pf_ranges_close (pf_ranges *ranges);


/*
** The numbers of rows that begin with a uint64_t, in ascending order of it;
** equal rows keep their order. Linear time; PF_ELIMIT, PF_ENOMEM as above.
*/
pf_status pf_sort_rows (const void *rows, size_t stride, size_t count,
                        uint32_t *order);

#endif
