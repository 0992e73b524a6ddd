/*
** sorts.c - the radix sort of pairs (LSD), which skips the bytes in which all
** words agree.
*/

#include "model/base/sorts.h"

#define INSERTION_MAX 48 /* pairs; fewer are sorted by insertion */


/* Sort by the bytes in which the words differ, the lowest one first. */
static void sort_by_bytes (pf_pair *pairs, pf_pair *spare, size_t count,
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


static bool is_sorted (const pf_pair *pairs, size_t count) {
  for (size_t i = 1; i < count; i++)
    if (pairs[i - 1].word > pairs[i].word)
      return false;
  return true;
}


void pf_sort_pairs (pf_pair *pairs, pf_pair *spare, size_t count) {
  if (is_sorted(pairs, count))
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
  sort_by_bytes(pairs, spare, count, all ^ any);
}
