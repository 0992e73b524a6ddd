/*
** pair_counts.h - counts by pairs of 64-bit words, such as the calls of an arc
** by its two addresses; and such counts as bytes, which can be kept and added
** up. Used by encode_gmon.c, sum_gmon.c and lua/stages/packed_counts.c. The
** caller owns the struct; pf_pair_counts_close frees its memory.
**
** The bytes depend only on the pairs and their counts:
**
**   OFFSET SIZE  DESCRIPTION
**   0      1     version of the layout: 1
**   1      1..10 number of pairs
**   then for each pair, in ascending order of its first and second word:
**          1..10 2n: the second word is n above that of the pair before, which
**                has the same first word; before the first pair both are 0
**                2n+1: the first word is n above that of the pair before
**          1..10 only after 2n+1: the second word
**          1..10 the count, below 2^63
**
** All numbers are varints (bytes/cursor.h), the version is a byte. If n is 2^63
** or more, or 2n+1 is 2^64-1, three things stand for it: 2^64-1, a byte 0 (for
** 2n) or 1 (for 2n+1), and n as a varint. Only the first pair may have n = 0.
** No bytes follow the last pair.
*/

#ifndef pair_counts_h
#define pair_counts_h

#include "model/base/intern_table.h"
#include "model/base/pack.h"

typedef struct pf_pair_count {
  uint64_t a, b; /* the pair */
  uint64_t count;
} pf_pair_count;

/* A struct of zeros with a seed in `known` is empty; pf_pair_counts_close frees
   what it owns. */
typedef struct pf_pair_counts {
  pf_pair_count *list; /* in the order of first occurrence */
  size_t capacity;
  pf_intern_table known; /* index of `list` by pair; has its count */
  uint32_t next;         /* index of the pair that probably comes next */
} pf_pair_counts;

/* Return the entry of a pair, added with count 0 if it is new; NULL if out of
   memory. Valid until the next call. */
pf_pair_count *pf_pair_counts_get (pf_pair_counts *counts, uint64_t a,
                                   uint64_t b);

/* Add to the count of a pair, which must stay below 2^63: else PF_ELIMIT.
   PF_ENOMEM. */
pf_status pf_pair_counts_add (pf_pair_counts *counts, uint64_t a, uint64_t b,
                              uint64_t count, pf_error *error);

/* Sort the entries by pair: after that only pack and close may be called. */
void pf_pair_counts_sort (pf_pair_counts *counts);

/* Append the bytes of sorted counts. */
void pf_pair_counts_pack (const pf_pair_counts *counts, pf_packed *to);

/* Add counts that were packed, with `offset` added to each first word, modulo
   2^64. Returns PF_EFORMAT or PF_ETRUNCATED for damaged bytes, PF_EUNSUPPORTED
   for another layout, PF_ELIMIT, PF_ENOMEM; then a part of them may have been
   added. */
pf_status pf_pair_counts_unpack (pf_pair_counts *counts, pf_bytes packed,
                                 uint64_t offset, pf_error *error);

void pf_pair_counts_close (pf_pair_counts *counts);

#endif
