/*
** quantile.h - the values of one group for quantiles by nearest rank.
**
** Exact while there are few values: all are kept. Past PF_EXACT_VALUES (or
** PF_EXACT_CROWDED once a pool holds PF_EXACT_TOTAL of them) they are only
** counted, in buckets whose width is 1/128 of their lower bound: an answer is
** then at most 1/256 of the true value away, and whole numbers below 256, the
** least and the greatest value are exact still.
*/

#ifndef quantile_h
#define quantile_h

#include "profio.h"

#define PF_EXACT_VALUES  4096u
#define PF_EXACT_CROWDED 512u
#define PF_EXACT_TOTAL   ((size_t)8 << 20)

/* Quantiles in parts of this: p50 is PF_RANK_SCALE / 2. */
#define PF_RANK_SCALE 100000000u

/* What the groups of one result share. Begin with zeros. */
typedef struct pf_quantile_pool {
  size_t kept;   /* values kept in all groups */
  bool sketched; /* some group has gone over to buckets */
} pf_quantile_pool;

/* Counters of buckets first..first+size-1. Few of them ever need more than 32
   bits, and half the memory is half the misses of the cache. */
typedef struct pf_buckets {
  uint32_t *counts;
  uint32_t *high; /* the upper halves; NULL: all are 0 */
  uint32_t first, size;
} pf_buckets;

/* The values of a group, as order words. Begin with zeros. */
typedef struct pf_quantile {
  uint64_t count;
  uint64_t *words; /* the values, or NULL when they are in buckets */
  uint32_t room;
  bool sketched, sorted;
  uint64_t least, greatest;      /* when sketched */
  uint64_t zeros;                /* when sketched: values that are 0 */
  pf_buckets positive, negative; /* when sketched: by magnitude */
} pf_quantile;

/* Add a value of type PF_INT or PF_NUM. PF_OK or PF_ENOMEM. */
pf_status pf_quantile_add (pf_quantile *quantile, pf_quantile_pool *pool,
                           pf_type type, uint64_t word);

/* Add many, which costs less than one after the other. */
pf_status pf_quantile_add_all (pf_quantile *quantile, pf_quantile_pool *pool,
                               pf_type type, const uint64_t *words,
                               size_t count);

/* Add the values of another one. PF_OK or PF_ENOMEM. */
pf_status pf_quantile_merge (pf_quantile *quantile, pf_quantile_pool *pool,
                             pf_type type, const pf_quantile *more);

/* The order word of the value at `rank` parts of PF_RANK_SCALE (nearest
   rank); the count must not be 0. */
uint64_t pf_quantile_at (pf_quantile *quantile, pf_type type, uint32_t rank);

void pf_quantile_free (pf_quantile *quantile);

#endif
