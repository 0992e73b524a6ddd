/*
** quantile.h - the values of one group for quantiles by nearest rank.
**
** Exact while there are few values: all are kept. Past PF_EXACT_VALUES (or
** PF_EXACT_CROWDED once a pool holds PF_EXACT_TOTAL of them, or what a pool
** says) they are only counted, in buckets whose width is 1/128 of their lower bound: an answer is
** then at most 1/256 of the true value away, and whole numbers below 256, the
** least and the greatest value are exact still.
*/

#ifndef quantile_h
#define quantile_h

#include <string.h>

#include "profio.h"

#define PF_EXACT_VALUES  4096u
#define PF_EXACT_CROWDED 512u
#define PF_EXACT_TOTAL   ((size_t)8 << 20)

/* The bucket of a magnitude is the top of its bits as a double: 11 bits of
   exponent and 7 of the fraction, so each power of two has 128 buckets. */
#define PF_LINE         64 /* bytes of a cache */
#define PF_BUCKET_SHIFT 45
#define PF_BUCKET_CODED ((UINT32_C(1023) << 7) - 2) /* that of 1 has code 2 */

/* Quantiles in parts of this: p50 is PF_RANK_SCALE / 2. */
#define PF_RANK_SCALE 100000000u

/* What the groups of one result share. Begin with zeros. */
typedef struct pf_quantile_pool {
  size_t kept;   /* values kept in all groups */
  uint32_t most; /* values kept of one group; 0: as said above */
  bool sketched; /* some group has gone over to buckets */
} pf_quantile_pool;

/* Counters of buckets first..first+size-1. Few of them ever need more than 8
   bits, and less memory is fewer misses of the cache. */
typedef struct pf_buckets {
  uint8_t *counts;
  uint64_t *high; /* the upper bits; NULL: all are 0 */
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

/* What buckets know of a whole number: 0 when it is negative, 1 when it is 0,
   else 2 and more, by its size. */
static inline uint16_t pf_quantile_code (int64_t value) {
  const double magnitude = (double)value;
  uint64_t bits;
  memcpy(&bits, &magnitude, sizeof bits);
  const uint32_t code = (uint32_t)(bits >> PF_BUCKET_SHIFT) - PF_BUCKET_CODED;
  return (uint16_t)(value > 0 ? code : value == 0);
}

/* Add whole numbers, 0 or more, of which the codes codes[0], codes[step], ...
   are known, to a sketched quantile; those whose code is 0 are left out.
   PF_OK or PF_ENOMEM. pf_quantile_set_range must follow before it is asked. */
pf_status pf_quantile_add_codes (pf_quantile *quantile, const uint16_t *codes,
                                 size_t step, size_t count);

/* Codes from..to will soon be added: have their counters ready. */
static inline void pf_quantile_prefetch (const pf_quantile *quantile,
                                         uint16_t from, uint16_t to) {
  const pf_buckets *const b = &quantile->positive;
  const uint32_t first = from + PF_BUCKET_CODED - b->first;
  const uint32_t last = to + PF_BUCKET_CODED - b->first;
  for (uint32_t i = first < b->size ? first : 0; i <= last && i < b->size;
       i += PF_LINE)
    __builtin_prefetch(b->counts + i, 1);
}

/* Tell a sketched quantile the least and the greatest of all its values, as
   order words. */
static inline void pf_quantile_set_range (pf_quantile *quantile, uint64_t least,
                                          uint64_t greatest) {
  quantile->least = least;
  quantile->greatest = greatest;
}

/* Add the values of another one. PF_OK or PF_ENOMEM. */
pf_status pf_quantile_merge (pf_quantile *quantile, pf_quantile_pool *pool,
                             pf_type type, const pf_quantile *more);

/* The order word of the value at `rank` parts of PF_RANK_SCALE (nearest
   rank); the count must not be 0. */
uint64_t pf_quantile_at (pf_quantile *quantile, pf_type type, uint32_t rank);

void pf_quantile_free (pf_quantile *quantile);

#endif
