/*
** ranges.c - the page table over sorted ranges, and the sort before it.
*/

#include <stdlib.h>
#include <string.h>

#include "model/memory.h"
#include "model/ranges.h"


/* Pages as small as they can be with at most one of them per row. */
static unsigned shift_for (uint64_t span, size_t count) {
  unsigned shift = 0;
  while (span >> shift >= count)
    shift++;
  return shift;
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
  ranges->pages = (size_t)(span >> ranges->shift) + 1;
  ranges->first = pf_array(ranges->pages + 1, sizeof *ranges->first);
  if (ranges->first == NULL) {
    ranges->count = 0;
    return PF_ENOMEM;
  }
  size_t row = 0;
  for (size_t page = 0; page <= ranges->pages; page++) {
    while (row < count &&
           (pf_range_start(ranges, row) - ranges->base) >> ranges->shift < page)
      row++;
    ranges->first[page] = (uint32_t)row;
  }
  return PF_OK;
}


/* The last row that starts at or before an address lies in its page, or is
   the last one before that page: between which row numbers the one behind it
   is. The address is not before all rows. */
static inline void narrow (const pf_ranges *ranges, uint64_t address,
                           uint32_t *low, uint32_t *high) {
  uint64_t page = (address - ranges->base) >> ranges->shift;
  if (page >= ranges->pages)
    page = ranges->pages - 1;
  *low = ranges->first[page];
  *high = ranges->first[page + 1];
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


/* The same: pages mostly have two rows or fewer, and which of them it is
   cannot be foreseen, so both are looked at without a branch. */
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


/* Ask for the page of each address, then for the rows it tells, then search:
   by then the memory has arrived. The row before a page's first is mostly on
   its cache line. */
void pf_ranges_before_all (const pf_ranges *ranges, const uint64_t *addresses,
                           size_t count, uint32_t *found) {
  uint32_t low[PF_RANGES_AT_ONCE], high[PF_RANGES_AT_ONCE];
  const uint64_t base = ranges->count == 0 ? UINT64_MAX : ranges->base;
  for (size_t i = 0; i < count; i++) {
    const uint64_t page = (addresses[i] - base) >> ranges->shift;
    if (page < ranges->pages)
      __builtin_prefetch(&ranges->first[page]);
  }
  for (size_t i = 0; i < count; i++) {
    low[i] = high[i] = 0;
    if (ranges->count == 0 || addresses[i] < base)
      continue;
    narrow(ranges, addresses[i], &low[i], &high[i]);
    const size_t row = low[i] == 0 ? 0 : low[i] - 1;
    __builtin_prefetch(ranges->rows + row * ranges->stride);
    __builtin_prefetch(ranges->rows + low[i] * ranges->stride);
  }
  if (ranges->count == 0)
    memset(found, 0xff, count * sizeof *found);
  for (size_t i = 0; ranges->count > 0 && i < count; i++)
    found[i] = search_few(ranges, addresses[i], low[i], high[i]);
}


void pf_ranges_close (pf_ranges *ranges) {
  free(ranges->first);
  *ranges = (pf_ranges){0};
}


/* {====== Sorting ====== */

#define DIGIT_BITS 8
#define DIGITS     (1u << DIGIT_BITS)

static size_t digit_of (uint64_t word, unsigned shift) {
  return word >> shift & (DIGITS - 1);
}


/* One pass of a radix sort: from `words` to `sorted` by the digit at `shift`.
   Answers false, with nothing done, when all have the same digit. */
static bool sort_by_digit (const uint64_t *words, uint64_t *sorted,
                           size_t count, unsigned shift) {
  size_t at[DIGITS] = {0};
  for (size_t i = 0; i < count; i++)
    at[digit_of(words[i], shift)]++;
  if (at[digit_of(words[0], shift)] == count)
    return false;
  size_t next = 0;
  for (size_t digit = 0; digit < DIGITS; digit++) {
    const size_t here = at[digit];
    at[digit] = next;
    next += here;
  }
  for (size_t i = 0; i < count; i++)
    sorted[at[digit_of(words[i], shift)]++] = words[i];
  return true;
}


/* Sort the words of *pair[0] by their upper halves; *pair[1] is as large. They
   change places until the first one is sorted. */
static void sort_by_upper_half (uint64_t *pair[2], size_t count) {
  for (unsigned shift = 32; shift < 64; shift += DIGIT_BITS)
    if (sort_by_digit(pair[0], pair[1], count, shift)) {
      uint64_t *const sorted = pair[1];
      pair[1] = pair[0];
      pair[0] = sorted;
    }
}


/* Words with the number of a row below 32 bits of its start: first the lower
   bits, then, where starts differ in them, the upper bits. */
static void sort_words (const pf_ranges *rows, uint64_t *pair[2]) {
  uint64_t differing = 0;
  for (size_t i = 0; i < rows->count; i++) {
    differing |= pf_range_start(rows, i) ^ pf_range_start(rows, 0);
    pair[0][i] = pf_range_start(rows, i) << 32 | i;
  }
  sort_by_upper_half(pair, rows->count);
  if (differing >> 32 == 0)
    return;
  for (size_t i = 0; i < rows->count; i++) {
    const uint32_t row = (uint32_t)pair[0][i];
    pair[0][i] = pf_range_start(rows, row) >> 32 << 32 | row;
  }
  sort_by_upper_half(pair, rows->count);
}


pf_status pf_sort_rows (const void *rows, size_t stride, size_t count,
                        uint32_t *order) {
  const pf_ranges unsorted = {.rows = rows, .stride = stride, .count = count};
  if (count >= UINT32_MAX)
    return PF_ELIMIT;
  uint64_t *words = pf_array(2 * count, sizeof *words);
  if (words == NULL)
    return PF_ENOMEM;
  uint64_t *pair[2] = {words, words + count};
  if (count > 0)
    sort_words(&unsorted, pair);
  for (size_t i = 0; i < count; i++)
    order[i] = (uint32_t)pair[0][i];
  free(words);
  return PF_OK;
}

/* }====== */
