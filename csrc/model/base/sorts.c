/*
** sorts.c - the radix sort of pairs (LSD), which skips bits or bytes in which
** all words agree.
*/

#include "model/base/sorts.h"

#define INSERTION_MAX 48 /* pairs that are sorted by insertion, at most */


/* Packed pairs: the varying bits of the word, above the bits of the row, in 64
   bits. */

#define WORD sizeof(uint64_t)

/* The layout of packed pairs. */
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
  /* Constant bits between the varying ones are packed, too. */
  const uint64_t mask = ((uint64_t)1 << how->word_bits) - 1;
  for (size_t i = 0; i < count; i++) {
    const pf_pair pair = pairs[i];
    put((uint8_t *)pairs, i,
        (pair.word >> how->low & mask) << how->row_bits | pair.row);
  }
  for (unsigned bit = 0; bit < how->word_bits; bit += 8) {
    sort_packed_by_byte(from, to, count, how->row_bits + bit);
    uint8_t *const sorted = to;
    to = from;
    from = sorted;
  }
  if (from != (uint8_t *)pairs)
    memcpy(pairs, from, count * WORD);
  /* Unpack backwards, because the elements become longer. */
  for (size_t i = count; i-- > 0;) {
    const uint64_t packed = get((const uint8_t *)pairs, i);
    const pf_pair pair = {
        how->same | packed >> how->row_bits << how->low,
        (size_t)(packed & (((uint64_t)1 << how->row_bits) - 1))};
    memcpy((uint8_t *)pairs + i * sizeof pair, &pair, sizeof pair);
  }
}


/* Sort whole pairs, using the spare array. */
static void sort_whole (pf_pair *pairs, pf_pair *spare, size_t count,
                        uint64_t varying) {
  pf_pair *from = pairs, *to = spare;
  for (unsigned shift = 0; shift < 64; shift += 8) {
    if ((varying >> shift & 255) == 0)
      continue;
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
    pf_pair *const sorted = to;
    to = from;
    from = sorted;
  }
  if (from != pairs)
    memcpy(pairs, from, count * sizeof *pairs);
}


void pf_sort_pairs (pf_pair *pairs, pf_pair *spare, size_t count) {
  size_t sorted = 1;
  while (sorted < count && pairs[sorted - 1].word <= pairs[sorted].word)
    sorted++;
  if (sorted >= count)
    return;
  if (count <= INSERTION_MAX) {
    for (size_t i = 1; i < count; i++) {
      const pf_pair moved = pairs[i];
      size_t at = i;
      for (; at > 0 && pairs[at - 1].word > moved.word; at--)
        pairs[at] = pairs[at - 1];
      pairs[at] = moved;
    }
    return;
  }
  /* The bits in which the words differ. */
  uint64_t all = UINT64_MAX, any = 0;
  for (size_t i = 0; i < count; i++) {
    all &= pairs[i].word;
    any |= pairs[i].word;
  }
  const uint64_t varying = all ^ any;
  packing how;
  if (find_packing(pairs, count, varying, &how))
    sort_packed(pairs, count, &how);
  else
    sort_whole(pairs, spare, count, varying);
}
