/*
** call_ranks.c - a counting sort of durations, whose 12 highest bits are kept:
** durations below 4,096 ns exactly, others with an error below 1/2,048.
*/

#include "kernels/explain/call_ranks.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/group/quantile.h"
#include "model/base/memory.h"

#define KEPT_BITS 12
#define BUCKETS   ((size_t)(63 - KEPT_BITS + 2) << (KEPT_BITS - 1))


/* The index of a rounded duration. */
static size_t bucket_of (int64_t duration) {
  const uint64_t value = (uint64_t)duration;
  if (value >> KEPT_BITS == 0)
    return (size_t)value;
  const unsigned shift = 64 - KEPT_BITS - (unsigned)__builtin_clzll(value);
  return ((size_t)shift << (KEPT_BITS - 1)) + (size_t)(value >> shift);
}


pf_status pf_call_ranks_count (pf_call_ranks *r, uint32_t lane,
                               int64_t duration) {
  if (r->counts == NULL)
    r->counts = pf_array_of_zeros(BUCKETS, sizeof *r->counts);
  if (r->counts == NULL ||
      !pf_grow_filled(&r->lanes, &r->nlanes, (size_t)lane + 1, 0))
    return PF_ENOMEM;
  pf_ranked_lane *const l = &r->lanes[lane];
  if (l->calls++ == 0)
    l->first = duration;
  else if (duration > l->longest)
    l->longest = duration;
  if (r->all == 0 || duration > r->longest) {
    r->longest = duration;
    r->worst = r->all;
  }
  r->counts[bucket_of(duration)]++;
  r->all++;
  return PF_OK;
}


void pf_call_ranks_begin (pf_call_ranks *r, uint32_t quantile) {
  uint64_t rank = 0;
  const uint64_t nearest = pf_nearest_rank(r->all, quantile);
  r->slow = r->all > nearest ? r->all - nearest : 0;
  if (r->slow < 5)
    r->slow = 5;
  if (r->slow > r->all / 3)
    r->slow = r->all / 3;
  if (r->slow < 1)
    r->slow = 1;
  for (size_t i = 0; r->counts != NULL && i < BUCKETS; i++) {
    const uint64_t count = r->counts[i];
    r->counts[i] = rank;
    rank += count;
  }
}


pf_status pf_call_ranks_next (pf_call_ranks *r, uint32_t lane, int64_t duration,
                              pf_call_rank *rank) {
  *rank = (pf_call_rank){.is_worst = false};
  if (r->read >= r->all)
    return PF_OK;
  if (!pf_grow_filled(&r->read_in_lanes, &r->nread_lanes, (size_t)lane + 1, 0))
    return PF_ENOMEM;
  const pf_ranked_lane *const l = &r->lanes[lane];
  const uint64_t at = r->counts[bucket_of(duration)]++;
  const uint64_t from = (r->all - r->slow) / 2;
  rank->is_typical = at >= from && at - from < r->slow;
  rank->is_slow = at >= r->all - r->slow;
  rank->is_worst = r->read == r->worst;
  rank->is_median = at == (r->all - 1) / 2;
  rank->is_first = rank->is_slow && r->read_in_lanes[lane] == 0 &&
                   l->calls > 1 && l->first > l->longest;
  r->read_in_lanes[lane]++;
  r->read++;
  return PF_OK;
}


void pf_call_ranks_free (pf_call_ranks *r) {
  free(r->counts);
  free(r->lanes);
  free(r->read_in_lanes);
  memset(r, 0, sizeof *r);
}
