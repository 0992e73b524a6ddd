/*
** quantile.h - quantiles of the values of one group, by nearest rank. Used by
** this folder, kernels/statistics and kernels/spans: add values or codes,
** merge, settle, at, free. Initialise with zeros. A quantile owns its words and
** buckets.
**
** Few values are all stored, so quantiles are exact: up to PF_EXACT_VALUES of a
** group, or PF_EXACT_REDUCED in a pool whose groups need memory for more than
** PF_EXACT_TOTAL values. More are only counted, in log-linear buckets (as in
** HDR histograms) whose width is at most 1/128 of their lower bound: then the
** relative error is at most 1/256, while integers below 256, the minimum and
** the maximum stay exact.
**
** Which groups are stored depends only on how many values each has in the end,
** not on their order: what a group needs never becomes less, and a group that
** has more than PF_EXACT_REDUCED when the pool is full moves into buckets when
** it is settled. So the quantiles of chunks can be merged.
*/

#ifndef quantile_h
#define quantile_h

#include <string.h>

#include "model/base/switches.h"
#include "profio.h"

#define PF_EXACT_VALUES  4096u
#define PF_EXACT_REDUCED 512u
#define PF_EXACT_TOTAL   ((size_t)8 << 20)

/* The bucket of a magnitude is the top of its bits as a double: 11 bits of
   exponent and 7 of the fraction, so each power of two has 128 buckets. */
#define PF_BUCKET_SHIFT 45
#define PF_BUCKET_CODED \
  ((UINT32_C(1023) << 7) - 2) /* the bucket of 1 has code
                                                       2 */

#define PF_QUANTILE_ERROR (1.0 / 256)

/* The unit of ranks: p50 is PF_RANK_SCALE / 2. */
#define PF_RANK_SCALE 100000000u

/* Which of `count` sorted values the quantile at `rank` is, from 1: the nearest
   rank, the first value that at least this part of them does not exceed. */
static inline uint64_t pf_nearest_rank (uint64_t count, uint32_t rank) {
  const uint64_t rest =
      (count % PF_RANK_SCALE * rank + PF_RANK_SCALE - 1) / PF_RANK_SCALE;
  const uint64_t nearest = count / PF_RANK_SCALE * rank + rest;
  return nearest == 0 ? 1 : nearest;
}

/* Counts shared by all groups of one result. Initialise with zeros. It owns no
   memory. */
typedef struct pf_quantile_pool {
  size_t needed; /* values for which the groups had memory, or would have had
                    if their values had come as words */
} pf_quantile_pool;

/* Counters of buckets first..first+size-1. Few need more than 8 bits, and less
   memory causes fewer cache misses. */
typedef struct pf_buckets {
  uint8_t *counts;
  uint64_t *high; /* the upper bits; NULL: all are 0 */
  uint32_t first, size;
} pf_buckets;

/* The values of a group, as order words. Initialise with zeros. */
typedef struct pf_quantile {
  uint64_t count;
  uint64_t *words; /* the stored values; NULL: none, or they are in buckets */
  uint32_t capacity;
  bool sketched;
  uint64_t min, max;             /* when sketched */
  uint64_t zeros;                /* when sketched: values that are 0 */
  pf_buckets positive, negative; /* when sketched: by magnitude */
} pf_quantile;

/* The bucket code of an integer: 0 if it is negative, 1 if it is 0, otherwise 2
   or more, increasing with the value. */
static inline uint16_t pf_quantile_code (int64_t value) {
  const double magnitude = (double)value;
  uint64_t bits;
  memcpy(&bits, &magnitude, sizeof bits);
  const uint32_t code = (uint32_t)(bits >> PF_BUCKET_SHIFT) - PF_BUCKET_CODED;
  return (uint16_t)(value > 0 ? code : value == 0);
}

/* Add a value while it has memory for one more word. */
static inline void pf_quantile_store (pf_quantile *quantile, uint64_t word) {
  quantile->words[quantile->count++] = word;
}

/* Prefetch what adding a value reads: first the quantile, then, some values
   later, the place of the value. */
PF_PREFETCHER pf_quantile_prefetch (const pf_quantile *quantile) {
  __builtin_prefetch(quantile, 1);
  __builtin_prefetch(&quantile->positive, 1);
}
PF_PREFETCHER pf_quantile_prefetch_value (const pf_quantile *quantile,
                                          pf_type type, uint64_t word) {
  const pf_buckets *const b = &quantile->positive;
  if (!quantile->sketched || type != PF_INT)
    return;
  const uint32_t at = pf_quantile_code((int64_t)(word ^ (UINT64_C(1) << 63))) +
                      PF_BUCKET_CODED - b->first;
  if (at < b->size)
    __builtin_prefetch(b->counts + at, 1);
}

/* Add a value of type PF_INT or PF_NUM. PF_OK or PF_ENOMEM. */
pf_status pf_quantile_add (pf_quantile *quantile, pf_quantile_pool *pool,
                           pf_type type, uint64_t word);

/* Add `values` integers with a code, 1 or more. If the values are stored, they
   are moved into buckets first. After all codes, extend. PF_OK or
   PF_ENOMEM. */
pf_status pf_quantile_add_count (pf_quantile *quantile, pf_quantile_pool *pool,
                                 uint16_t code, uint64_t values);

/* Set the order words of minimum and maximum of what was added as codes. */
static inline void pf_quantile_extend (pf_quantile *quantile, uint64_t min,
                                       uint64_t max) {
  quantile->min = min < quantile->min ? min : quantile->min;
  quantile->max = max > quantile->max ? max : quantile->max;
}

/* Set *code to the next code above it that a sketched quantile of integers >= 0
   has values of, and *values to their number. False: there is none. */
bool pf_quantile_next_count (const pf_quantile *quantile, uint16_t *code,
                             uint64_t *values);

/* Sort the stored values. Returns them in ascending order, as many as `count`;
   NULL when there are none or they are in buckets. */
const uint64_t *pf_quantile_words (pf_quantile *quantile);

/* After the last value: move the values into buckets if the pool demands it.
   PF_OK or PF_ENOMEM. */
pf_status pf_quantile_settle (pf_quantile *quantile, pf_quantile_pool *pool,
                              pf_type type);

/* Add the values of `more`. PF_OK or PF_ENOMEM. */
pf_status pf_quantile_merge (pf_quantile *quantile, pf_quantile_pool *pool,
                             pf_type type, const pf_quantile *more);

/* The order word of the value at `rank` (in units of 1/PF_RANK_SCALE, nearest
   rank). The count must not be 0. Stored values change their order. */
uint64_t pf_quantile_at (pf_quantile *quantile, pf_type type, uint32_t rank);

/* How far the value at `rank` may be away from that of pf_quantile_at: 0 if it
   is exact, else at most PF_QUANTILE_ERROR of it. The count must not be 0. */
double pf_quantile_error (const pf_quantile *quantile, pf_type type,
                          uint32_t rank);

void pf_quantile_free (pf_quantile *quantile);

#endif
