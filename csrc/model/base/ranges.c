/*
** ranges.c - the page index over sorted ranges, look-ups in it, and the order
** of rows.
*/

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/memory.h"
#include "model/base/ranges.h"
#include "model/base/sorts.h"
#include "model/base/switches.h"

#define MOST_SHIFT 15 /* edges are 16-bit numbers */
#define NO_EDGE    UINT16_MAX


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
  pf_range_page entry = {(uint32_t)first, {NO_EDGE, NO_EDGE}};
  const pf_range_page unknown = {(uint32_t)first, {0, 0}};
  if (ranges->shift > MOST_SHIFT || next - first > 2)
    return unknown;
  for (size_t row = next; row-- > first;) { /* backwards */
    const uint64_t edge = pf_range_start(ranges, row) - ranges->base;
    if (edge >= high || !reaches(ranges, row, high))
      return unknown;
    entry.edges[row - first] = (uint16_t)(edge - low);
    high = edge;
  }
  if (high > low && (first == 0 || !reaches(ranges, first - 1, high)))
    return unknown;
  return entry;
}


pf_status pf_ranges_open (pf_ranges *ranges, const void *rows, size_t stride,
                          size_t count) {
  *ranges = (pf_ranges){.rows = rows, .stride = stride, .count = count};
  if (count >= UINT32_MAX)
    return PF_ELIMIT;
  if (count == 0)
    return PF_OK;
  for (size_t row = 1; row < count; row++)
    assert(pf_range_start(ranges, row - 1) <= pf_range_start(ranges, row) &&
           pf_range_end(ranges, row - 1) <= pf_range_start(ranges, row));
  ranges->base = pf_range_start(ranges, 0);
  const uint64_t span = pf_range_start(ranges, count - 1) - ranges->base;
  unsigned shift = 0; /* the smallest with at most as many pages as rows */
  while (span >> shift >= count)
    shift++;
  ranges->shift = shift;
  ranges->npages = (size_t)(span >> ranges->shift) + 1;
  ranges->pages = pf_array(ranges->npages + 1, sizeof *ranges->pages);
  if (ranges->pages == NULL) {
    ranges->count = 0;
    return PF_ENOMEM;
  }
  for (size_t page = 0, row = 0; page < ranges->npages; page++) {
    const size_t first = row;
    while (row < count &&
           (pf_range_start(ranges, row) - ranges->base) >> shift == page)
      row++;
    ranges->pages[page] = page_with(ranges, page, first, row);
  }
  ranges->pages[ranges->npages] = (pf_range_page){(uint32_t)count, {0, 0}};
  return PF_OK;
}


void pf_ranges_close (pf_ranges *ranges) {
  free(ranges->pages);
  *ranges = (pf_ranges){0};
}


/* The last row that starts at or before the address is in the page of the
   address, or is the last row before that page. */
size_t pf_ranges_before (const pf_ranges *ranges, uint64_t address) {
  if (ranges->count == 0 || address < ranges->base)
    return SIZE_MAX;
  uint64_t page = (address - ranges->base) >> ranges->shift;
  if (page >= ranges->npages)
    page = ranges->npages - 1;
  uint32_t low = ranges->pages[page].first;
  uint32_t high = ranges->pages[page + 1].first;
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    if (pf_range_start(ranges, middle) <= address)
      low = middle + 1;
    else
      high = middle;
  }
  return low - 1;
}


size_t pf_ranges_find (const pf_ranges *ranges, uint64_t address) {
  const size_t row = pf_ranges_before(ranges, address);
  return row != SIZE_MAX && address < pf_range_end(ranges, row) ? row
                                                                : SIZE_MAX;
}


void pf_ranges_find_all (const pf_ranges *ranges, const uint64_t *addresses,
                         size_t count, uint32_t *found) {
  const uint64_t mask = ((uint64_t)1 << ranges->shift) - 1;
  for (size_t i = 0; i < count; i++) {
    const uint64_t distance = addresses[i] - ranges->base;
    const uint64_t page = distance >> ranges->shift;
    found[i] = UINT32_MAX;
    if (ranges->count == 0 || addresses[i] < ranges->base)
      continue;
    const pf_range_page *const entry =
        &ranges->pages[page < ranges->npages ? page : ranges->npages];
    found[i] = !PF_FAST(MISSES) || entry->edges[1] == 0
                   ? (uint32_t)pf_ranges_find(ranges, addresses[i])
                   : entry->first - 1 + ((distance & mask) >= entry->edges[0]) +
                         ((distance & mask) >= entry->edges[1]);
  }
}


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
