/*
** pair_counts.c - counts by pairs of words, and their bytes.
*/

#include "model/base/pair_counts.h"

#include <stdlib.h>

#include "bytes/cursor.h"

#define VERSION   1
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


/* Put a difference: 2 * step + flag, or in the long form. Returns the end. */
static uint8_t *put_step (uint8_t *at, uint64_t step, unsigned flag) {
  if (step < (uint64_t)1 << 63 && (step << 1 | flag) != WIDE_STEP)
    return pf_save_varint(at, step << 1 | flag);
  at = pf_save_varint(at, WIDE_STEP);
  *at++ = (uint8_t)flag;
  return pf_save_varint(at, step);
}


void pf_pair_counts_pack (const pf_pair_counts *counts, pf_sink *sink) {
  uint8_t bytes[1 + 4 * PF_VARINT_SIZE] = {VERSION};
  uint64_t a = 0, b = 0;
  (void)pf_sink_put(
      sink, bytes,
      (size_t)(pf_save_varint(bytes + 1, counts->known.count) - bytes));
  for (uint32_t i = 0; i < counts->known.count; i++) {
    const pf_pair_count *const pair = &counts->list[i];
    uint8_t *at = bytes;
    if (pair->a == a) {
      at = put_step(at, pair->b - b, 0);
    }
    else {
      at = put_step(at, pair->a - a, 1);
      at = pf_save_varint(at, pair->b);
    }
    at = pf_save_varint(at, pair->count);
    (void)pf_sink_put(sink, bytes, (size_t)(at - bytes));
    a = pair->a;
    b = pair->b;
  }
}


/* Take the pair after `pair` and its count. False: the bytes are damaged. */
static bool take_pair (pf_cursor *in, pf_pair_count *pair, bool is_first) {
  uint64_t word, step;
  if (!pf_take_varint(in, &word))
    return false;
  step = word >> 1;
  bool has_other = (word & 1) != 0;
  if (word == WIDE_STEP) {
    if (!pf_take_uint(in, 1, &word) || word > 1 || !pf_take_varint(in, &step))
      return false;
    has_other = word == 1;
  }
  uint64_t *const sum = has_other ? &pair->a : &pair->b;
  if ((step == 0 && !is_first) || step > UINT64_MAX - *sum)
    return false;
  *sum += step;
  if (has_other && !pf_take_varint(in, &pair->b))
    return false;
  return pf_take_varint(in, &pair->count) && pair->count <= INT64_MAX;
}


pf_status pf_pair_counts_unpack (pf_pair_counts *counts, pf_bytes packed,
                                 uint64_t offset, pf_error *error) {
  pf_cursor in = pf_cursor_over(packed, false);
  uint64_t version, left;
  pf_pair_count pair = {0, 0, 0};
  if (!pf_take_uint(&in, 1, &version) || !pf_take_varint(&in, &left) ||
      left > pf_left(&in) / 2)
    return pf_fail(error, PF_EFORMAT, in.at,
                   "packed counts: a version and a number of pairs expected");
  if (version != VERSION)
    return pf_refuse(error, "packed counts: layout %u is not known",
                     (unsigned)version);
  for (bool is_first = true; left > 0; left--, is_first = false) {
    if (!take_pair(&in, &pair, is_first))
      return pf_fail(error, PF_EFORMAT, in.at,
                     "packed counts: a pair after the one before and a count "
                     "below 2^63 expected");
    const pf_status status =
        pf_pair_counts_add(counts, pair.a + offset, pair.b, pair.count, error);
    if (status != PF_OK)
      return status;
  }
  if (pf_left(&in) > 0)
    return pf_fail(error, PF_EFORMAT, in.at,
                   "packed counts: bytes after the last pair");
  return PF_OK;
}
