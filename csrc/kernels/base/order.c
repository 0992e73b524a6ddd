/*
** order.c - converts columns to order words and back, and sorts by them.
*/

#include <stdlib.h>

#include "kernels/base/order.h"
#include "model/base/memory.h"
#include "model/dictionary/names.h"


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

/* Whether the name of `right` sorts before that of `left`. */
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


static size_t smaller (size_t a, size_t b) {
  return a < b ? a : b;
}


/* Bottom-up merge sort, without recursion. Returns the array that is sorted. */
static uint32_t *merge_sort (const pf_dictionary *names, uint32_t *list,
                             uint32_t *spare, size_t count) {
  for (size_t width = 1; width < count; width *= 2) {
    for (size_t low = 0; low < count; low += 2 * width)
      merge(names, list, spare, low, smaller(low + width, count),
            smaller(low + 2 * width, count));
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


/* Packed pairs: the varying bits of the word, above the bits of the row, in 64
   bits. */

#define WORD sizeof(uint64_t)

/* How pairs are packed. */
typedef struct packing {
  uint64_t same;      /* the bits in which all words agree */
  unsigned low;       /* position of the lowest varying bit */
  unsigned row_bits;  /* bits of the row */
  unsigned word_bits; /* bits of the word, above those of the row */
} packing;


static inline uint64_t get (const uint8_t *packed, size_t i) {
  uint64_t word;
  memcpy(&word, packed + i * WORD, WORD);
  return word;
}


static inline void put (uint8_t *packed, size_t i, uint64_t word) {
  memcpy(packed + i * WORD, &word, WORD);
}


static unsigned bits_of (uint64_t value) {
  return value == 0 ? 0 : 64 - (unsigned)__builtin_clzll(value);
}


/* Whether two packed arrays fit into the memory of the pairs, and how to pack;
   `varying` is not 0. */
static bool find_packing (const pf_pair *pairs, size_t count, uint64_t varying,
                          packing *how) {
  uint64_t rows = 0;
  for (size_t i = 0; i < count; i++)
    rows |= pairs[i].row;
  how->low = (unsigned)__builtin_ctzll(varying);
  how->word_bits = bits_of(varying) - how->low;
  how->row_bits = bits_of(rows);
  how->same = pairs[0].word & ~varying;
  return sizeof(pf_pair) >= 2 * WORD && how->word_bits + how->row_bits <= 64 &&
         how->word_bits < 64 && how->row_bits < 64;
}


/* Constant bits between the varying ones are packed, too. */
static void pack (pf_pair *pairs, size_t count, const packing *how) {
  const uint64_t mask = ((uint64_t)1 << how->word_bits) - 1;
  for (size_t i = 0; i < count; i++) {
    const pf_pair pair = pairs[i];
    put((uint8_t *)pairs, i,
        (pair.word >> how->low & mask) << how->row_bits | pair.row);
  }
}


/* Backwards, because the elements become longer. */
static void unpack (pf_pair *pairs, size_t count, const packing *how) {
  const uint64_t mask = ((uint64_t)1 << how->row_bits) - 1;
  for (size_t i = count; i-- > 0;) {
    const uint64_t packed = get((const uint8_t *)pairs, i);
    const pf_pair pair = {how->same | packed >> how->row_bits << how->low,
                          (size_t)(packed & mask)};
    memcpy((uint8_t *)pairs + i * sizeof pair, &pair, sizeof pair);
  }
}


static void sort_packed_by_byte (const uint8_t *from, uint8_t *to, size_t count,
                                 unsigned shift) {
  size_t at[256] = {0};
  for (size_t i = 0; i < count; i++)
    at[get(from, i) >> shift & 255]++;
  for (size_t digit = 0, start = 0; digit < 256; digit++) {
    const size_t many = at[digit];
    at[digit] = start;
    start += many;
  }
  for (size_t i = 0; i < count; i++) {
    const uint64_t word = get(from, i);
    put(to, at[word >> shift & 255]++, word);
  }
}


/* Sort packed pairs: this moves half of the bytes and needs no other memory. */
static void sort_packed (pf_pair *pairs, size_t count, const packing *how) {
  uint8_t *from = (uint8_t *)pairs, *to = from + count * WORD;
  pack(pairs, count, how);
  for (unsigned bit = 0; bit < how->word_bits; bit += 8) {
    sort_packed_by_byte(from, to, count, how->row_bits + bit);
    uint8_t *const sorted = to;
    to = from;
    from = sorted;
  }
  if (from != (uint8_t *)pairs)
    memcpy(pairs, from, count * WORD);
  unpack(pairs, count, how);
}


/* Sort whole pairs, using the spare array. */
static void sort_whole (pf_pair *pairs, pf_pair *spare, size_t count,
                        uint64_t varying) {
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


void pf_sort_pairs (pf_pair *pairs, pf_pair *spare, size_t count) {
  const uint64_t varying = varying_bits(pairs, count);
  packing how;
  if (varying == 0)
    return;
  if (find_packing(pairs, count, varying, &how))
    sort_packed(pairs, count, &how);
  else
    sort_whole(pairs, spare, count, varying);
}

/* }====== */
