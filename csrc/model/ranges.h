/*
** ranges.h - finding the range that holds an address: a sorted array of rows
** that begin with `uint64_t start, end`, and a table of pages over it, so
** that a look-up costs one visit of the table and one of the rows.
*/

#ifndef ranges_h
#define ranges_h

#include <string.h>

#include "profio.h"

typedef struct pf_ranges {
  const uint8_t *rows; /* borrowed */
  size_t stride;       /* bytes from one row to the next */
  size_t count;
  uint64_t base;   /* the first start */
  unsigned shift;  /* a page is 2^shift addresses */
  size_t pages;    /* first[0..pages] */
  uint32_t *first; /* of each page: how many rows start before it */
} pf_ranges;

/*
** Index rows in ascending order of start, without overlaps; they must stay
** while the index lives. PF_ELIMIT for 2^32 rows or more, PF_ENOMEM.
*/
pf_status pf_ranges_open (pf_ranges *ranges, const void *rows, size_t stride,
                          size_t count);

/* The number of the row with start <= address < end, or SIZE_MAX. */
size_t pf_ranges_find (const pf_ranges *ranges, uint64_t address);

/* The last row that starts at or before `address`, whether it reaches to it
   or not; SIZE_MAX when all start later. */
size_t pf_ranges_before (const pf_ranges *ranges, uint64_t address);

/* The same for many addresses, at most PF_RANGES_AT_ONCE: their cache misses
   overlap. Rows are answered as 32 bits, none as UINT32_MAX. */
#define PF_RANGES_AT_ONCE 64
void pf_ranges_before_all (const pf_ranges *ranges, const uint64_t *addresses,
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
