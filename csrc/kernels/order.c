/*
** order.c - columns to order words and back, and sorting by them.
*/

#include <stdlib.h>

#include "kernels/order.h"
#include "model/memory.h"
#include "model/names.h"


void pf_order_column (const pf_column *column, size_t rows, uint64_t *words) {
  switch (column->type) {
    case PF_INT:
      for (size_t i = 0; i < rows; i++)
        words[i] = pf_order_int(column->ints[i]);
      break;
    case PF_NUM:
      for (size_t i = 0; i < rows; i++)
        words[i] = pf_order_num(column->nums[i]);
      break;
    case PF_HANDLE:
    case PF_ADDR: memcpy(words, column->addrs, rows * sizeof *words); break;
    case PF_BOOL:
      for (size_t i = 0; i < rows; i++)
        words[i] = column->bools[i] != 0;
      break;
    default:
      for (size_t i = 0; i < rows; i++)
        words[i] = column->ids[i];
  }
}


void pf_unorder (pf_column *column, size_t row, uint64_t word) {
  switch (column->type) {
    case PF_INT: column->ints[row] = pf_unorder_int(word); break;
    case PF_NUM: column->nums[row] = pf_unorder_num(word); break;
    case PF_HANDLE:
    case PF_ADDR: column->addrs[row] = word; break;
    case PF_BOOL: column->bools[row] = (uint8_t)word; break;
    default: column->ids[row] = (uint32_t)word;
  }
}


/* {====== Names by their bytes ====== */

/* Whether the name of `right` comes before that of `left`. */
static bool is_after (const pf_dictionary *names, uint32_t left,
                      uint32_t right) {
  return pf_name_compare(names, left, right) > 0;
}


/* Merge from[low..middle-1] and from[middle..high-1] into `to`. */
static void merge (const pf_dictionary *names, const uint32_t *from,
                   uint32_t *to, size_t low, size_t middle, size_t high) {
  size_t left = low, right = middle;
  for (size_t at = low; at < high; at++)
    if (left < middle &&
        (right == high || !is_after(names, from[left], from[right])))
      to[at] = from[left++];
    else
      to[at] = from[right++];
}


static size_t least (size_t a, size_t b) {
  return a < b ? a : b;
}


/* Bottom up, so that no recursion is needed. Answers the sorted half. */
static uint32_t *merge_sort (const pf_dictionary *names, uint32_t *list,
                             uint32_t *spare, size_t count) {
  for (size_t width = 1; width < count; width *= 2) {
    for (size_t low = 0; low < count; low += 2 * width)
      merge(names, list, spare, low, least(low + width, count),
            least(low + 2 * width, count));
    uint32_t *const sorted = spare;
    spare = list;
    list = sorted;
  }
  return list;
}


pf_status pf_rank_names (const pf_dictionary *dictionary, uint32_t *ranks,
                         uint32_t count) {
  uint32_t *const list = pf_array((size_t)count * 2, sizeof *list);
  if (list == NULL)
    return PF_ENOMEM;
  for (uint32_t i = 0; i < count; i++)
    list[i] = i;
  const uint32_t *const sorted =
      merge_sort(dictionary, list, list + count, count);
  for (uint32_t i = 0; i < count; i++)
    ranks[sorted[i]] = i;
  free(list);
  return PF_OK;
}

/* }====== */


/* {====== Radix sort ====== */

/* The bits in which the words differ. */
static uint64_t varying_bits (const pf_pair *pairs, size_t count) {
  uint64_t all = UINT64_MAX, any = 0;
  for (size_t i = 0; i < count; i++) {
    all &= pairs[i].word;
    any |= pairs[i].word;
  }
  return count == 0 ? 0 : all ^ any;
}


static void sort_by_byte (const pf_pair *from, pf_pair *to, size_t count,
                          unsigned shift) {
  size_t at[256] = {0};
  for (size_t i = 0; i < count; i++)
    at[from[i].word >> shift & 255]++;
  for (size_t digit = 0, start = 0; digit < 256; digit++) {
    const size_t many = at[digit];
    at[digit] = start;
    start += many;
  }
  for (size_t i = 0; i < count; i++)
    to[at[from[i].word >> shift & 255]++] = from[i];
}


void pf_sort_pairs (pf_pair *pairs, pf_pair *spare, size_t count) {
  const uint64_t varying = varying_bits(pairs, count);
  pf_pair *from = pairs, *to = spare;
  for (unsigned shift = 0; shift < 64; shift += 8) {
    if ((varying >> shift & 255) == 0)
      continue;
    sort_by_byte(from, to, count, shift);
    pf_pair *const sorted = to;
    to = from;
    from = sorted;
  }
  if (from != pairs)
    memcpy(pairs, from, count * sizeof *pairs);
}

/* }====== */
