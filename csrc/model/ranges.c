/*
** ranges.c - the page table over sorted ranges, and the sort before it.
*/

#include <stdlib.h>
#include <string.h>

#include "model/ranges.h"


static uint64_t word_of (const pf_ranges *ranges, size_t row, size_t word) {
  uint64_t value;
  memcpy(&value, ranges->rows + row * ranges->stride + word * sizeof value,
         sizeof value);
  return value;
}


static uint64_t start_of (const pf_ranges *ranges, size_t row) {
  return word_of(ranges, row, 0);
}


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
  ranges->base = start_of(ranges, 0);
  const uint64_t span = start_of(ranges, count - 1) - ranges->base;
  ranges->shift = shift_for(span, count);
  ranges->pages = (size_t)(span >> ranges->shift) + 1;
  ranges->first = malloc((ranges->pages + 1) * sizeof *ranges->first);
  if (ranges->first == NULL) {
    ranges->count = 0;
    return PF_ENOMEM;
  }
  size_t row = 0;
  for (size_t page = 0; page <= ranges->pages; page++) {
    while (row < count &&
           (start_of(ranges, row) - ranges->base) >> ranges->shift < page)
      row++;
    ranges->first[page] = (uint32_t)row;
  }
  return PF_OK;
}


/* The last row that starts at or before the address lies in its page, or is
   the last one before that page. */
size_t pf_ranges_find (const pf_ranges *ranges, uint64_t address) {
  if (ranges->count == 0 || address < ranges->base)
    return SIZE_MAX;
  uint64_t page = (address - ranges->base) >> ranges->shift;
  if (page >= ranges->pages)
    page = ranges->pages - 1;
  size_t low = ranges->first[page], high = ranges->first[page + 1];
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (start_of(ranges, middle) <= address)
      low = middle + 1;
    else
      high = middle;
  }
  return address < word_of(ranges, low - 1, 1) ? low - 1 : SIZE_MAX;
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
    differing |= start_of(rows, i) ^ start_of(rows, 0);
    pair[0][i] = start_of(rows, i) << 32 | i;
  }
  sort_by_upper_half(pair, rows->count);
  if (differing >> 32 == 0)
    return;
  for (size_t i = 0; i < rows->count; i++) {
    const uint32_t row = (uint32_t)pair[0][i];
    pair[0][i] = start_of(rows, row) >> 32 << 32 | row;
  }
  sort_by_upper_half(pair, rows->count);
}


pf_status pf_sort_rows (const void *rows, size_t stride, size_t count,
                        uint32_t *order) {
  const pf_ranges unsorted = {.rows = rows, .stride = stride, .count = count};
  if (count >= UINT32_MAX || count >= SIZE_MAX / (2 * sizeof(uint64_t)))
    return PF_ELIMIT;
  uint64_t *words = malloc(2 * count * sizeof *words + 1);
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
