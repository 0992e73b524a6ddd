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


/* Pages as small as they can be with at most two of them per row. */
static unsigned shift_for (uint64_t span, size_t count) {
  unsigned shift = 0;
  while (span >> shift >= 2 * (uint64_t)count)
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


static bool is_sorted (const pf_address_key *keys, size_t count) {
  for (size_t i = 1; i < count; i++)
    if (keys[i].address < keys[i - 1].address)
      return false;
  return true;
}


/* One pass of a radix sort: from `keys` to `sorted` by the byte at `shift`.
   Answers false, with nothing done, when all have the same byte. */
static bool sort_by_byte (const pf_address_key *keys, pf_address_key *sorted,
                          size_t count, unsigned shift) {
  size_t at[256] = {0};
  for (size_t i = 0; i < count; i++)
    at[keys[i].address >> shift & 255]++;
  if (at[keys[0].address >> shift & 255] == count)
    return false;
  size_t next = 0;
  for (size_t byte = 0; byte < 256; byte++) {
    const size_t here = at[byte];
    at[byte] = next;
    next += here;
  }
  for (size_t i = 0; i < count; i++)
    sorted[at[keys[i].address >> shift & 255]++] = keys[i];
  return true;
}


pf_status pf_sort_addresses (pf_address_key *keys, size_t count) {
  if (count == 0 || is_sorted(keys, count))
    return PF_OK;
  pf_address_key *other = malloc(count * sizeof *other);
  if (other == NULL)
    return PF_ENOMEM;
  pf_address_key *from = keys, *to = other;
  for (unsigned shift = 0; shift < 64; shift += 8)
    if (sort_by_byte(from, to, count, shift)) {
      pf_address_key *const swap = from;
      from = to;
      to = swap;
    }
  if (from != keys)
    memcpy(keys, from, count * sizeof *keys);
  free(other);
  return PF_OK;
}
