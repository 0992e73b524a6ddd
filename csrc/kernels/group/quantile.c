/*
** quantile.c - stores values up to a limit, then counts them in log-linear
** buckets.
*/

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/order.h"
#include "kernels/group/quantile.h"
#include "model/base/memory.h"


#define COUNT_BITS 8 /* of `counts`; `high` has the others */


static uint32_t bucket_of (double magnitude) {
  uint64_t bits;
  memcpy(&bits, &magnitude, sizeof bits);
  return (uint32_t)(bits >> PF_BUCKET_SHIFT);
}


static double bucket_start (uint32_t bucket) {
  const uint64_t bits = (uint64_t)bucket << PF_BUCKET_SHIFT;
  double start;
  memcpy(&start, &bits, sizeof start);
  return start;
}


/* Move counters of `width` bytes to a new array of `size` elements that begins
   `offset` elements earlier. NULL when out of memory; then they are
   unchanged. */
static void *move (void *counts, uint32_t old_size, size_t offset, size_t size,
                   size_t width) {
  uint8_t *const moved = calloc(size, width);
  if (moved == NULL)
    return NULL;
  if (old_size > 0)
    memcpy(moved + offset * width, counts, old_size * width);
  free(counts);
  return moved;
}


/* Extend the counters to `bucket`, with a margin beyond it. */
static bool extend (pf_buckets *b, uint32_t bucket) {
  const uint32_t margin = b->size / 2 + 16;
  uint32_t first = b->first, end = b->first + b->size;
  if (bucket - first < b->size)
    return true;
  if (b->size == 0)
    first = end = bucket;
  if (bucket < first)
    first = bucket > margin ? bucket - margin : 0;
  if (bucket >= end)
    end = bucket + margin;
  const size_t offset = b->size == 0 ? 0 : b->first - first;
  const uint32_t size = end - first;
  void *const counts =
      move(b->counts, b->size, offset, size, sizeof *b->counts);
  if (counts == NULL)
    return false;
  b->counts = counts;
  if (b->high != NULL) {
    void *const high = move(b->high, b->size, offset, size, sizeof *b->high);
    if (high == NULL)
      return false; /* counts and high differ in size now, but all callers
                       fail */
    b->high = high;
  }
  b->first = first;
  b->size = size;
  return true;
}


/* The counter at `i` has wrapped around to 0. */
static pf_status carry (pf_buckets *b, uint32_t i) {
  if (b->high == NULL)
    b->high = calloc(b->size, sizeof *b->high);
  if (b->high == NULL)
    return PF_ENOMEM;
  b->high[i]++;
  return PF_OK;
}


static inline pf_status count_bucket (pf_buckets *b, uint32_t bucket) {
  if (bucket - b->first >= b->size && !extend(b, bucket))
    return PF_ENOMEM;
  const uint32_t i = bucket - b->first;
  return ++b->counts[i] != 0 ? PF_OK : carry(b, i);
}


static uint64_t count_at (const pf_buckets *b, uint32_t i) {
  const uint64_t high = b->high == NULL ? 0 : b->high[i];
  return high << COUNT_BITS | b->counts[i];
}


/* The middle of a bucket; for integers, of the integers in it. */
static double bucket_middle (uint32_t bucket, pf_type type) {
  const double start = bucket_start(bucket);
  const double width = bucket_start(bucket + 1) - start;
  if (!(width < HUGE_VAL)) /* the last bucket before infinity, or infinity */
    return start;
  if (type == PF_NUM)
    return start + width / 2;
  return width <= 1 ? start : start + (width - 1) / 2;
}


static uint64_t word_of (double value, pf_type type) {
  if (type == PF_NUM)
    return pf_order_num(value);
  if (value >= 0x1p63)
    return UINT64_MAX;
  return value <= -0x1p63 ? 0 : pf_order_int((int64_t)value);
}


static double value_of (uint64_t word, pf_type type) {
  return type == PF_NUM ? pf_unorder_num(word) : (double)pf_unorder_int(word);
}


static inline pf_status add_to_buckets (pf_quantile *q, pf_type type,
                                        uint64_t word) {
  const double value = value_of(word, type);
  if (word < q->min)
    q->min = word;
  if (word > q->max)
    q->max = word;
  if (value == 0) {
    q->zeros++;
    return PF_OK;
  }
  return value < 0 ? count_bucket(&q->negative, bucket_of(-value))
                   : count_bucket(&q->positive, bucket_of(value));
}


static uint32_t most_words (const pf_quantile_pool *pool) {
  return pool->needed > PF_EXACT_TOTAL ? PF_EXACT_REDUCED : PF_EXACT_VALUES;
}


/* Move the stored values into buckets. */
static pf_status sketch (pf_quantile *q, pf_quantile_pool *pool, pf_type type) {
  q->sketched = true;
  q->min = UINT64_MAX;
  q->max = 0;
  for (uint64_t i = 0; q->words != NULL && i < q->count; i++)
    if (add_to_buckets(q, type, q->words[i]) != PF_OK)
      return PF_ENOMEM;
  pool->needed += PF_EXACT_VALUES - q->capacity;
  free(q->words);
  q->words = NULL;
  return PF_OK;
}


/* Reserve memory for one more value, or change to buckets. */
static pf_status reserve (pf_quantile *q, pf_quantile_pool *pool,
                          pf_type type) {
  size_t capacity = q->capacity;
  if (capacity >= most_words(pool))
    return sketch(q, pool, type);
  if (!pf_grow(&q->words, &capacity, capacity + 1))
    return PF_ENOMEM;
  pool->needed += capacity - q->capacity;
  q->capacity = (uint32_t)capacity;
  return PF_OK;
}


pf_status pf_quantile_settle (pf_quantile *q, pf_quantile_pool *pool,
                              pf_type type) {
  return q->words != NULL && q->count > most_words(pool) ? sketch(q, pool, type)
                                                         : PF_OK;
}


pf_status pf_quantile_add (pf_quantile *q, pf_quantile_pool *pool, pf_type type,
                           uint64_t word) {
  if (!q->sketched && q->count == q->capacity &&
      reserve(q, pool, type) != PF_OK)
    return PF_ENOMEM;
  if (q->sketched && add_to_buckets(q, type, word) != PF_OK)
    return PF_ENOMEM;
  if (q->words != NULL)
    q->words[q->count] = word;
  q->count++;
  return PF_OK;
}


/* Eight counters in one word. */
#define EIGHT   8
#define HIGHEST UINT64_C(0x8080808080808080)

static uint64_t load_eight (const uint8_t *counts) {
  uint64_t word;
  memcpy(&word, counts, sizeof word);
  return word;
}


/* Add eight counters to others. False, and nothing is added, if one would
   overflow. */
static bool add_eight (uint8_t *counts, uint64_t more) {
  const uint64_t old = load_eight(counts);
  const uint64_t sum =
      ((old & ~HIGHEST) + (more & ~HIGHEST)) ^ ((old ^ more) & HIGHEST);
  if ((((old & more) | ((old | more) & ~sum)) & HIGHEST) != 0)
    return false;
  memcpy(counts, &sum, sizeof sum);
  return true;
}


/* Add `count` to a counter. */
static pf_status add_count (pf_buckets *b, uint32_t at, uint64_t count) {
  const uint64_t sum = count_at(b, at) + count;
  b->counts[at] = (uint8_t)sum;
  if (sum >> COUNT_BITS != 0 && b->high == NULL &&
      (b->high = calloc(b->size, sizeof *b->high)) == NULL)
    return PF_ENOMEM;
  if (b->high != NULL)
    b->high[at] = sum >> COUNT_BITS;
  return PF_OK;
}


pf_status pf_quantile_add_count (pf_quantile *q, pf_quantile_pool *pool,
                                 uint16_t code, uint64_t values) {
  if (!q->sketched && sketch(q, pool, PF_INT) != PF_OK)
    return PF_ENOMEM;
  q->count += values;
  if (code <= 1) {
    q->zeros += values;
    return PF_OK;
  }
  const uint32_t bucket = code + PF_BUCKET_CODED;
  return extend(&q->positive, bucket)
             ? add_count(&q->positive, bucket - q->positive.first, values)
             : PF_ENOMEM;
}


/* Add the counters of `more`. */
static pf_status merge_buckets (pf_buckets *b, const pf_buckets *more) {
  uint32_t first = 0, last = more->size; /* the buckets that are used */
  while (first < last && count_at(more, first) == 0)
    first++;
  while (last > first && count_at(more, last - 1) == 0)
    last--;
  if (first < last &&
      (!extend(b, more->first + first) || !extend(b, more->first + last - 1)))
    return PF_ENOMEM;
  for (uint32_t i = 0; i < more->size;) {
    const uint32_t at = more->first + i - b->first;
    const bool are_eight = more->size - i >= EIGHT && more->high == NULL;
    const uint64_t eight = are_eight ? load_eight(more->counts + i) : 0;
    if (are_eight && (eight == 0 || (at < b->size && b->size - at >= EIGHT &&
                                     add_eight(b->counts + at, eight)))) {
      i += EIGHT;
      continue;
    }
    for (uint32_t end = i + (are_eight ? EIGHT : 1); i < end; i++)
      if (count_at(more, i) != 0 &&
          add_count(b, more->first + i - b->first, count_at(more, i)) != PF_OK)
        return PF_ENOMEM;
  }
  return PF_OK;
}


pf_status pf_quantile_merge (pf_quantile *q, pf_quantile_pool *pool,
                             pf_type type, const pf_quantile *more) {
  if (!more->sketched) {
    for (uint64_t i = 0; i < more->count; i++)
      if (pf_quantile_add(q, pool, type, more->words[i]) != PF_OK)
        return PF_ENOMEM;
    return PF_OK;
  }
  if (!q->sketched && sketch(q, pool, type) != PF_OK)
    return PF_ENOMEM;
  if (more->min < q->min)
    q->min = more->min;
  if (more->max > q->max)
    q->max = more->max;
  q->zeros += more->zeros;
  q->count += more->count;
  return merge_buckets(&q->positive, &more->positive) == PF_OK
             ? merge_buckets(&q->negative, &more->negative)
             : PF_ENOMEM;
}


static int compare_words (const void *left, const void *right) {
  uint64_t a, b;
  memcpy(&a, left, sizeof a);
  memcpy(&b, right, sizeof b);
  return (a > b) - (a < b);
}


/* Skip counters, eight at a time, while their sum is less than the rank.
   Returns the first one not skipped. */
static uint32_t skip_counts (const pf_buckets *b, uint64_t *rank) {
  const uint64_t every_other = UINT64_C(0x00ff00ff00ff00ff);
  uint32_t i = 0;
  for (; b->high == NULL && b->size - i >= EIGHT; i += EIGHT) {
    const uint64_t eight = load_eight(b->counts + i);
    const uint64_t pairs =
        (eight & every_other) + (eight >> COUNT_BITS & every_other);
    const uint64_t sum = pairs * UINT64_C(0x0001000100010001) >> 48;
    if (*rank <= sum)
      break;
    *rank -= sum;
  }
  return i;
}


/* The value at rank `rank` in ascending order. */
static double value_at_rank (const pf_quantile *q, pf_type type,
                             uint64_t rank) {
  for (uint32_t i = q->negative.size; i-- > 0;) {
    if (rank <= count_at(&q->negative, i))
      return -bucket_middle(q->negative.first + i, type);
    rank -= count_at(&q->negative, i);
  }
  if (rank <= q->zeros)
    return 0;
  rank -= q->zeros;
  for (uint32_t i = skip_counts(&q->positive, &rank); i < q->positive.size;
       i++) {
    if (rank <= count_at(&q->positive, i))
      return bucket_middle(q->positive.first + i, type);
    rank -= count_at(&q->positive, i);
  }
  return value_of(q->max, type);
}


const uint64_t *pf_quantile_words (pf_quantile *q) {
  if (q->words != NULL)
    qsort(q->words, (size_t)q->count, sizeof *q->words, compare_words);
  return q->words;
}


#define DIGIT_BITS 8
#define DIGITS     (1u << DIGIT_BITS)
#define FEW        16 /* words that are sorted */

static inline size_t digit_of (uint64_t word, unsigned shift) {
  return word >> shift & (DIGITS - 1);
}


/* Move the words that have a digit to the front. Returns their number. */
static size_t gather (uint64_t *words, size_t count, unsigned shift,
                      size_t digit) {
  size_t found = 0;
  for (size_t i = 0; i < count; i++) {
    const uint64_t word = words[i];
    if (digit_of(word, shift) == digit) {
      words[i] = words[found];
      words[found++] = word;
    }
  }
  return found;
}


/* The number of low bits in which words differ. */
static unsigned differing_bits (const uint64_t *words, size_t count) {
  uint64_t differences = 0;
  unsigned bits = 0;
  for (size_t i = 1; i < count; i++)
    differences |= words[i] ^ words[0];
  for (; differences != 0; differences >>= 1)
    bits++;
  return bits;
}


/* The word with `rank` smaller ones, by a radix selection: the words are
   counted by their highest digit; of those with the digit of the wanted one the
   next digit is counted. */
static uint64_t select_word (uint64_t *words, size_t count, size_t rank) {
  unsigned shift = differing_bits(words, count);
  while (shift > 0 && count > FEW) {
    uint32_t counts[DIGITS] = {0};
    size_t digit = 0;
    shift = shift > DIGIT_BITS ? shift - DIGIT_BITS : 0;
    for (size_t i = 0; i < count; i++)
      counts[digit_of(words[i], shift)]++;
    for (; rank >= counts[digit]; digit++)
      rank -= counts[digit];
    count = gather(words, count, shift, digit);
  }
  if (shift > 0)
    qsort(words, count, sizeof *words, compare_words);
  return words[shift > 0 ? rank : 0];
}


bool pf_quantile_next_count (const pf_quantile *q, uint16_t *code,
                             uint64_t *values) {
  const pf_buckets *const b = &q->positive;
  if (*code < 1 && q->zeros > 0) {
    *code = 1;
    *values = q->zeros;
    return true;
  }
  const uint32_t next = *code + 1u + PF_BUCKET_CODED;
  for (uint32_t i = next < b->first ? 0 : next - b->first; i < b->size; i++)
    if (count_at(b, i) > 0) {
      *code = (uint16_t)(b->first + i - PF_BUCKET_CODED);
      *values = count_at(b, i);
      return true;
    }
  return false;
}


double pf_quantile_error (const pf_quantile *q, pf_type type, uint32_t rank) {
  const uint64_t nearest = pf_nearest_rank(q->count, rank);
  if (!q->sketched || nearest == 1 || nearest == q->count || q->min == q->max)
    return 0;
  const double value = fabs(value_at_rank(q, type, nearest));
  const uint32_t bucket = bucket_of(value);
  const double width = bucket_start(bucket + 1) - bucket_start(bucket);
  if (value == 0 || !(width < HUGE_VAL))
    return 0;
  return type == PF_NUM ? width / 2 : width <= 1 ? 0 : (width - 1) / 2;
}


uint64_t pf_quantile_at (pf_quantile *q, pf_type type, uint32_t rank) {
  const uint64_t nearest = pf_nearest_rank(q->count, rank);
  if (q->words != NULL)
    return select_word(q->words, (size_t)q->count, (size_t)nearest - 1);
  if (nearest == 1 || nearest == q->count)
    return nearest == 1 ? q->min : q->max;
  const uint64_t word = word_of(value_at_rank(q, type, nearest), type);
  if (word < q->min)
    return q->min;
  return word > q->max ? q->max : word;
}


void pf_quantile_free (pf_quantile *q) {
  free(q->words);
  free(q->positive.counts);
  free(q->positive.high);
  free(q->negative.counts);
  free(q->negative.high);
  *q = (pf_quantile){0};
}
