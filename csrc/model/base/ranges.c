/*
** ranges.c - the page index over sorted ranges, look-ups in it, and the order
** of rows.
*/

#include <stdlib.h>
#include <string.h>

#include "model/base/memory.h"
#include "model/base/parallel.h"
#include "model/base/ranges.h"
#include "model/base/sorts.h"

#define MANY       16384 /* pages from which a second thread pays */
#define MOST_SHIFT 15    /* edges are 16-bit numbers */
#define NO_EDGE    UINT16_MAX


/* {====== The table ====== */

/* Returns the shift of the smallest pages of which there is at most one per
   row. */
static unsigned shift_for (uint64_t span, size_t count) {
  unsigned shift = 0;
  while (span >> shift >= count)
    shift++;
  return shift;
}


/* Returns the page in which a row starts. */
static uint64_t page_of (const pf_ranges *ranges, size_t row) {
  return (pf_range_start(ranges, row) - ranges->base) >> ranges->shift;
}


/* Returns the number of rows that start before a page, by binary search. */
static size_t rows_before (const pf_ranges *ranges, size_t page) {
  size_t low = 0, high = ranges->count;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (page_of(ranges, middle) < page)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}


/* Returns whether a row ends at least `distance` addresses after the base. */
static bool reaches (const pf_ranges *ranges, size_t row, uint64_t distance) {
  const uint64_t end = pf_range_end(ranges, row);
  return end >= ranges->base && end - ranges->base >= distance;
}


/* Returns the index entry of a page. The rows [first, next) start in the page.
   If the page has a gap or more than two starts, the entry refers to the rows.
   */
static pf_range_page page_with (const pf_ranges *ranges, size_t page,
                                size_t first, size_t next) {
  const uint64_t low = (uint64_t)page << ranges->shift;
  uint64_t high = low + ((uint64_t)1 << ranges->shift);
  pf_range_page told = {(uint32_t)first, {NO_EDGE, NO_EDGE}};
  const pf_range_page unknown = {(uint32_t)first, {0, 0}};
  if (ranges->shift > MOST_SHIFT || next - first > 2)
    return unknown;
  for (size_t row = next; row-- > first;) { /* backwards */
    const uint64_t edge = pf_range_start(ranges, row) - ranges->base;
    if (edge >= high || !reaches(ranges, row, high))
      return unknown;
    told.edges[row - first] = (uint16_t)(edge - low);
    high = edge;
  }
  if (high > low && (first == 0 || !reaches(ranges, first - 1, high)))
    return unknown;
  return told;
}


static void fill_pages (void *context, size_t from, size_t to) {
  const pf_ranges *const ranges = context;
  size_t row = rows_before(ranges, from);
  for (size_t page = from; page < to; page++) {
    const size_t first = row;
    while (row < ranges->count && page_of(ranges, row) == page)
      row++;
    ranges->pages[page] = page_with(ranges, page, first, row);
  }
}


pf_status pf_ranges_open (pf_ranges *ranges, const void *rows, size_t stride,
                          size_t count) {
  *ranges = (pf_ranges){.rows = rows, .stride = stride, .count = count};
  if (count >= UINT32_MAX)
    return PF_ELIMIT;
  if (count == 0)
    return PF_OK;
  ranges->base = pf_range_start(ranges, 0);
  const uint64_t span = pf_range_start(ranges, count - 1) - ranges->base;
  ranges->shift = shift_for(span, count);
  ranges->npages = (size_t)(span >> ranges->shift) + 1;
  ranges->pages = pf_array(ranges->npages + 1, sizeof *ranges->pages);
  if (ranges->pages == NULL) {
    ranges->count = 0;
    return PF_ENOMEM;
  }
  pf_run_halves(fill_pages, ranges, ranges->npages, MANY);
  ranges->pages[ranges->npages] = (pf_range_page){(uint32_t)count, {0, 0}};
  return PF_OK;
}


void pf_ranges_close (pf_ranges *ranges) {
  free(ranges->pages);
  *ranges = (pf_ranges){0};
}

/* }====== */


/* {====== Look-ups ====== */

/* Sets [low, high] to the possible indices of the first row that starts after
   an address. The last row that starts at or before the address is in the page
   of the address, or is the last row before that page. The address must not be
   below the base. */
static inline void narrow (const pf_ranges *ranges, uint64_t address,
                           uint32_t *low, uint32_t *high) {
  uint64_t page = (address - ranges->base) >> ranges->shift;
  if (page >= ranges->npages)
    page = ranges->npages - 1;
  *low = ranges->pages[page].first;
  *high = ranges->pages[page + 1].first;
}


static inline uint32_t search (const pf_ranges *ranges, uint64_t address,
                               uint32_t low, uint32_t high) {
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    if (pf_range_start(ranges, middle) <= address)
      low = middle + 1;
    else
      high = middle;
  }
  return low - 1;
}


size_t pf_ranges_before (const pf_ranges *ranges, uint64_t address) {
  uint32_t low, high;
  if (ranges->count == 0 || address < ranges->base)
    return SIZE_MAX;
  narrow(ranges, address, &low, &high);
  return search(ranges, address, low, high);
}


size_t pf_ranges_find (const pf_ranges *ranges, uint64_t address) {
  const size_t row = pf_ranges_before(ranges, address);
  return row != SIZE_MAX && address < pf_range_end(ranges, row) ? row
                                                                : SIZE_MAX;
}


/* As search. Most pages have at most two rows, and a branch on which of them
   matches would often be mispredicted, so both are compared without a branch.
   */
static inline uint32_t search_few (const pf_ranges *ranges, uint64_t address,
                                   uint32_t low, uint32_t high) {
  const uint32_t rows = high - low, last = (uint32_t)ranges->count - 1;
  if (rows > 2)
    return search(ranges, address, low, high);
  const uint32_t first = low < last ? low : last;
  const uint32_t second = first < last ? first + 1 : last;
  const bool is_behind =
      (rows > 0) & (pf_range_start(ranges, first) <= address);
  const bool is_far = (rows > 1) & (pf_range_start(ranges, second) <= address);
  return low - 1 + is_behind + is_far;
}


/* An address that the index alone does not resolve, and the rows to search: see
   narrow. */
typedef struct question {
  size_t i; /* index of the address */
  uint32_t low, high;
} question;


static question ask (const pf_ranges *ranges, uint64_t address, size_t i) {
  question q = {.i = i};
  narrow(ranges, address, &q.low, &q.high);
  const size_t row =
      q.low == 0 ? 0 : q.low - 1; /* mostly in the same cache line */
  __builtin_prefetch(ranges->rows + row * ranges->stride);
  __builtin_prefetch(ranges->rows + q.low * ranges->stride);
  return q;
}


static uint32_t answer (const pf_ranges *ranges, uint64_t address,
                        const question *q) {
  const uint32_t row = search_few(ranges, address, q->low, q->high);
  return address < pf_range_end(ranges, row) ? row : UINT32_MAX;
}


/* Works in three steps so that cache misses overlap: prefetch the page of each
   address; look up the pages, and prefetch the rows of addresses that need a
   search; search these rows. */
void pf_ranges_find_all (const pf_ranges *ranges, const uint64_t *addresses,
                         size_t count, uint32_t *found) {
  question questions[PF_RANGES_AT_ONCE];
  size_t asked = 0;
  const uint64_t base = ranges->count == 0 ? UINT64_MAX : ranges->base;
  const uint64_t mask = ((uint64_t)1 << ranges->shift) - 1;
  for (size_t i = 0; i < count; i++) {
    const uint64_t page = (addresses[i] - base) >> ranges->shift;
    if (page < ranges->npages)
      __builtin_prefetch(&ranges->pages[page]);
  }
  for (size_t i = 0; i < count; i++) {
    const uint64_t distance = addresses[i] - base;
    const uint64_t page = distance >> ranges->shift;
    found[i] = UINT32_MAX;
    if (ranges->count == 0 || addresses[i] < base)
      continue;
    const pf_range_page *const told =
        &ranges->pages[page < ranges->npages ? page : ranges->npages];
    if (told->edges[1] != 0)
      found[i] = told->first - 1 + ((distance & mask) >= told->edges[0]) +
                 ((distance & mask) >= told->edges[1]);
    else
      questions[asked++] = ask(ranges, addresses[i], i);
  }
  for (size_t k = 0; k < asked; k++)
    found[questions[k].i] =
        answer(ranges, addresses[questions[k].i], &questions[k]);
}

/* }====== */


/* {====== Sorting ====== */

pf_status pf_sort_rows (const void *rows, size_t stride, size_t count,
                        uint32_t *order) {
  const pf_ranges unsorted = {.rows = rows, .stride = stride, .count = count};
  if (count >= UINT32_MAX)
    return PF_ELIMIT;
  pf_pair *const pairs = pf_array(2 * count, sizeof *pairs);
  if (pairs == NULL)
    return PF_ENOMEM;
  for (size_t i = 0; i < count; i++)
    pairs[i] = (pf_pair){pf_range_start(&unsorted, i), i};
  pf_sort_pairs(pairs, pairs + count, count);
  for (size_t i = 0; i < count; i++)
    order[i] = (uint32_t)pairs[i].row;
  free(pairs);
  return PF_OK;
}

/* }====== */
