/*
** pair_counts.c - counts by pairs of words, and their bytes.
*/

#include "model/base/pair_counts.h"

#include <stdlib.h>

#include "model/base/unpack.h"

#define MAGIC     "\1"       /* version of the layout */
#define WIDE_STEP UINT64_MAX /* mark: flag and difference follow */


pf_pair_count *pf_pair_counts_get (pf_pair_counts *counts, uint64_t a,
                                   uint64_t b) {
  const pf_pair_count pair = {a, b, 0};
  uint32_t at = counts->next;
  if (at >= counts->known.count || counts->list[at].a != a ||
      counts->list[at].b != b)
    at = pf_intern_element(&counts->known, &counts->list, &counts->capacity,
                           &pair, offsetof(pf_pair_count, count));
  if (at == PF_NOT_INTERNED)
    return NULL;
  counts->next = at + 1;
  return &counts->list[at];
}


pf_status pf_pair_counts_add (pf_pair_counts *counts, uint64_t a, uint64_t b,
                              uint64_t count, pf_error *error) {
  pf_pair_count *const pair = pf_pair_counts_get(counts, a, b);
  if (pair == NULL)
    return pf_no_memory(error);
  if (count > (uint64_t)INT64_MAX - pair->count)
    return pf_fail(error, PF_ELIMIT, PF_NO_OFFSET,
                   "a sum of counts is 2^63 or more");
  pair->count += count;
  return PF_OK;
}


static int compare (const void *left, const void *right) {
  const pf_pair_count *const x = left, *const y = right;
  if (x->a != y->a)
    return x->a < y->a ? -1 : 1;
  return (x->b > y->b) - (x->b < y->b);
}


void pf_pair_counts_sort (pf_pair_counts *counts) {
  if (counts->known.count > 1)
    qsort(counts->list, counts->known.count, sizeof *counts->list, compare);
}


void pf_pair_counts_close (pf_pair_counts *counts) {
  free(counts->list);
  pf_intern_table_free(&counts->known);
  *counts = (pf_pair_counts){.list = NULL};
}


/* Put a difference: 2 * step + flag, or in the long form. */
static void put_step (pf_packed *to, uint64_t step, uint8_t flag) {
  if (step < (uint64_t)1 << 63 && (step << 1 | flag) != WIDE_STEP) {
    pf_pack_number(to, step << 1 | flag);
    return;
  }
  pf_pack_number(to, WIDE_STEP);
  pf_pack_number(to, flag);
  pf_pack_number(to, step);
}


void pf_pair_counts_pack (const pf_pair_counts *counts, pf_packed *to) {
  uint64_t a = 0, b = 0;
  pf_pack_bytes(to, MAGIC, 1);
  pf_pack_number(to, counts->known.count);
  for (uint32_t i = 0; i < counts->known.count; i++) {
    const pf_pair_count *const pair = &counts->list[i];
    if (pair->a == a) {
      put_step(to, pair->b - b, 0);
    }
    else {
      put_step(to, pair->a - a, 1);
      pf_pack_number(to, pair->b);
    }
    pf_pack_number(to, pair->count);
    a = pair->a;
    b = pair->b;
  }
}


/* Take the pair after `pair` and its count. */
static void take_pair (pf_unpack *in, pf_pair_count *pair, bool is_first) {
  const uint64_t word = pf_unpack_number(in, UINT64_MAX);
  const bool is_wide = word == WIDE_STEP;
  const bool has_other = (is_wide ? pf_unpack_number(in, 1) : word & 1) != 0;
  const uint64_t step = is_wide ? pf_unpack_number(in, UINT64_MAX) : word >> 1;
  uint64_t *const sum = has_other ? &pair->a : &pair->b;
  pf_unpack_check(in, (step > 0 || is_first) && step <= UINT64_MAX - *sum,
                  "a pair after the one before expected");
  *sum += step;
  if (has_other)
    pair->b = pf_unpack_number(in, UINT64_MAX);
  pair->count = pf_unpack_number(in, INT64_MAX);
}


pf_status pf_pair_counts_unpack (pf_pair_counts *counts, pf_bytes packed,
                                 uint64_t offset, pf_error *error) {
  pf_unpack in = pf_unpack_over(packed, "packed counts", error);
  pf_pair_count pair = {0, 0, 0};
  if (packed.size > 0 && packed.at[0] != MAGIC[0])
    return pf_refuse(error, "packed counts: layout %u is not known",
                     (unsigned)packed.at[0]);
  pf_unpack_magic(&in, MAGIC);
  const size_t count = pf_unpack_length(&in, 2);
  for (size_t i = 0; i < count; i++) {
    take_pair(&in, &pair, i == 0);
    const pf_status status =
        in.status != PF_OK ? in.status
                           : pf_pair_counts_add(counts, pair.a + offset, pair.b,
                                                pair.count, error);
    if (status != PF_OK)
      return status;
  }
  pf_unpack_check(&in, pf_left(&in.cursor) == 0, "bytes after the last pair");
  return in.status;
}
