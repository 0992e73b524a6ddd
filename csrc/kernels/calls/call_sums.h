/*
** call_sums.h - the numbers of the calls of groups, added up. Nothing of it
** depends on the order of the calls, so that parts of a trace can be added up
** apart and merged.
*/

#ifndef call_sums_h
#define call_sums_h

#include "kernels/calls/call.h"
#include "kernels/calls/squares.h"
#include "kernels/quantile.h"

/*
** What is added up for each call: two lines of a cache. Sums wrap around. A
** length from `least` on and less than `reach` above it changes neither the
** least nor the greatest, nor where the worst began: one look tells.
*/
typedef struct pf_hot_sums {
  uint64_t rows;
  struct {
    uint64_t sum;
    int64_t least;  /* of present lengths; INT64_MAX: there are none */
    uint64_t reach; /* from the least to the greatest */
  } of[PF_DURATIONS];
} pf_hot_sums;

#define PF_WORST 3 /* of net, gross and call the start of the worst is kept */

/* What is seldom touched. */
typedef struct pf_cold_sums {
  int64_t greatest[PF_DURATIONS]; /* of present lengths, or -1 */
  uint64_t absent[PF_DURATIONS];  /* lengths that are missing */
  uint64_t wraps[PF_DURATIONS];   /* of sums */
  uint64_t uncounted;             /* calls whose enter was not recorded */
  int64_t worst_at[PF_WORST];     /* the earliest, of equal ones */
} pf_cold_sums;

#define PF_EXACT_CALLS 128u /* of a group whose lengths are all kept */

#define PF_BUFFERED_CALLS \
  255 /* calls of a group that wait for their quantiles */

/* Lengths on their way into the quantiles of a group: so many at once cost a
   few misses of the cache in place of one each. */
typedef union pf_duration_buffer {
  int64_t lengths[PF_BUFFERED_CALLS * 2 / PF_DURATIONS][PF_DURATIONS];
  uint16_t codes[PF_BUFFERED_CALLS]
                [8]; /* of PF_DURATIONS, in steps that shifts make */
} pf_duration_buffer;

/* What a stage holds. */
typedef struct pf_buffer_state {
  uint8_t count;  /* of calls */
  bool are_codes; /* since the quantiles of all lengths are sketched */
} pf_buffer_state;

typedef struct pf_call_sums {
  bool has_squares, has_quantiles; /* what is wanted of them */
  size_t count, room;              /* groups */
  void *memory;
  pf_hot_sums *hot;
  pf_cold_sums *rest;
  pf_squares *squares;    /* PF_DURATIONS of each group; or NULL */
  pf_quantile *quantiles; /* likewise */
  pf_quantile_pool pool;
  pf_duration_buffer **stages; /* of groups with many calls; else NULL */
  pf_buffer_state *staged;
} pf_call_sums;

void pf_call_sums_init (pf_call_sums *tallies, bool squares, bool quantiles);
void pf_call_sums_free (pf_call_sums *tallies);

/* Have groups 0..count-1. PF_ENOMEM. */
pf_status pf_call_sums_reserve (pf_call_sums *tallies, size_t count);

/* Add calls to the groups groups[i]. PF_ENOMEM. */
pf_status pf_call_sums_add (pf_call_sums *tallies, const pf_call *calls,
                            size_t count, const uint32_t *groups);

/* A group will soon be counted in: have its tally ready. */
static inline void pf_call_sums_prefetch (const pf_call_sums *tallies,
                                          size_t group) {
  const pf_hot_sums *const tally = &tallies->hot[group];
  __builtin_prefetch(tally, 1);
  __builtin_prefetch(&tally->of[PF_DURATIONS - 1], 1);
}

/* The lengths of a call; PF_NO_TIME and more than 2^63-1 are large here. */
typedef struct pf_durations {
  uint64_t net, gross, call, period, outside;
} pf_durations;

/* Whether a length of a group is one that changes but its sum. */
static inline __attribute__((always_inline)) bool pf_duration_in_range (
    const pf_hot_sums *hot, size_t which, uint64_t length) {
  return length - (uint64_t)hot->of[which].least < hot->of[which].reach;
}

/* Add a length that fits. */
static inline __attribute__((always_inline)) void pf_duration_sum (
    pf_call_sums *tallies, size_t group, size_t which, uint64_t length) {
  pf_hot_sums *const hot = &tallies->hot[group];
  hot->of[which].sum += length;
  if (__builtin_expect(hot->of[which].sum < length, 0))
    tallies->rest[group].wraps[which]++;
}

/* Add one call that was recorded from enter to leave, if all its lengths fit
   (`outside` may be missing); else false, and nothing is added. Of squares and
   quantiles it knows nothing. */
static inline __attribute__((always_inline)) bool pf_call_sums_try_add (
    pf_call_sums *tallies, size_t group, pf_durations of) {
  pf_hot_sums *const hot = &tallies->hot[group];
  const bool is_outside = (int64_t)of.outside >= 0;
  if (!pf_duration_in_range(hot, PF_NET, of.net) ||
      !pf_duration_in_range(hot, PF_GROSS, of.gross) ||
      !pf_duration_in_range(hot, PF_CALL, of.call) ||
      !pf_duration_in_range(hot, PF_PERIOD, of.period) ||
      (is_outside && !pf_duration_in_range(hot, PF_OUTSIDE, of.outside)))
    return false;
  hot->rows++;
  pf_duration_sum(tallies, group, PF_NET, of.net);
  pf_duration_sum(tallies, group, PF_GROSS, of.gross);
  pf_duration_sum(tallies, group, PF_CALL, of.call);
  pf_duration_sum(tallies, group, PF_PERIOD, of.period);
  if (is_outside)
    pf_duration_sum(tallies, group, PF_OUTSIDE, of.outside);
  else
    tallies->rest[group].absent[PF_OUTSIDE]++;
  return true;
}

/* Finish the quantiles: before they are looked at, supplied, hidden or merged.
   PF_ENOMEM. */
pf_status pf_call_sums_flush (pf_call_sums *tallies);

/* A length of a call of a group that was counted as missing. PF_ENOMEM. */
pf_status pf_call_sums_supply (pf_call_sums *tallies, size_t group,
                               size_t which, int64_t length);

/* Count all of a length of a group as missing. */
void pf_call_sums_clear (pf_call_sums *tallies, size_t group, size_t which);

/* Add group `from` of another to a group of this. PF_ENOMEM. */
pf_status pf_call_sums_merge (pf_call_sums *tallies, size_t group,
                              const pf_call_sums *more, size_t from);

#endif
