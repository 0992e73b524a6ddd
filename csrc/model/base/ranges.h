/*
** ranges.h - finds the range that contains an address, in a sorted array of
** rows that begin with `uint64_t start, end`; and sorts such rows. An index
** divides the addresses into pages; if a page has no gap and at most two
** starts, the index alone gives the row, else the rows of the page are
** searched. Used by model/symbols, kernels/graph, kernels/stages/symbolize.c
** and lua/symbol_table.c. The pf_ranges owns the index, which pf_ranges_close
** frees, and borrows the rows.
*/

#ifndef ranges_h
#define ranges_h

#include <string.h>

#include "profio.h"

/* A page of addresses without a gap: those before edges[0] belong to row first
   - 1, those before edges[1] to row `first`, the others to row first + 1. A
   missing edge is after all addresses. */
typedef struct pf_range_page {
  uint32_t first;    /* how many rows start before the page */
  uint16_t edges[2]; /* starts in the page; edges[1] == 0: search the rows */
} pf_range_page;

typedef struct pf_ranges {
  const uint8_t *rows; /* borrowed */
  size_t stride;       /* bytes from one row to the next */
  size_t count;
  uint64_t base;  /* the first start */
  unsigned shift; /* a page is 2^shift addresses */
  size_t npages;
  pf_range_page *pages; /* owned; and one after the last */
} pf_ranges;

/*
** Index rows in ascending order of start, without overlaps; they must stay as
** they are while the index lives. PF_ELIMIT for 2^32 - 1 rows or more,
** PF_ENOMEM.
*/
pf_status pf_ranges_open (pf_ranges *ranges, const void *rows, size_t stride,
                          size_t count);

/* The index of the row with start <= address < end, or SIZE_MAX. */
size_t pf_ranges_find (const pf_ranges *ranges, uint64_t address);

/* The index of the last row with start <= address; SIZE_MAX: all start
   later. */
size_t pf_ranges_before (const pf_ranges *ranges, uint64_t address);

/* pf_ranges_find for `count` addresses, with overlapping cache misses. Sets
   found[] to row indices, or UINT32_MAX. */
void pf_ranges_find_all (const pf_ranges *ranges, const uint64_t *addresses,
                         size_t count, uint32_t *found);

/* The start and the end of a row. */
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

/* Free the index. A zeroed pf_ranges is an index of no rows. */
void pf_ranges_close (pf_ranges *ranges);


/*
** Set order[count] to the indices of rows in ascending order of the uint64_t at
** their beginning; equal ones stay in order. PF_ELIMIT and PF_ENOMEM as
** pf_ranges_open.
*/
pf_status pf_sort_rows (const void *rows, size_t stride, size_t count,
                        uint32_t *order);

#endif
