/*
** groups.h - assigns calls to groups and accumulates their durations: by area,
** by area and lane, or by area and caller. Part of a pf_scan: scan.c adds the
** calls, scan_merge.c merges chunks, unpack_sums.c adds packed sums, and
** result_rows.c adds the groups over all lanes. The results do not depend on
** the order of the calls, so accumulators of chunks can be merged.
** pf_groups_free frees all memory; the lanes are borrowed for each call. Areas,
** lanes, slots and durations (in ns): see kernels/calls/lanes.h and call.h.
*/

#ifndef groups_h
#define groups_h

#include "kernels/calls/state_machine.h"
#include "kernels/group/quantile.h"
#include "model/base/wide.h"

/*
** The part that changes for each call, in two cache lines. Sums wrap around. A
** duration >= min and below min + range changes neither the minimum nor the
** maximum, nor the start of the longest call: one comparison decides.
*/
typedef struct pf_hot_sums {
  uint64_t rows;
  struct {
    uint64_t sum;
    int64_t min;    /* minimum of the known durations; INT64_MAX: none */
    uint64_t range; /* maximum - minimum */
  } of[PF_DURATIONS];
} pf_hot_sums;

/* For net, gross and call, the start of the longest call is stored. */
#define PF_MAX_STARTS 3

/* The part that changes rarely. */
typedef struct pf_cold_sums {
  int64_t max[PF_DURATIONS];      /* of the known durations, or -1 */
  uint64_t missing[PF_DURATIONS]; /* number of unknown durations */
  uint64_t wraps[PF_DURATIONS];   /* how often the sums wrapped around */
  uint64_t uncounted;             /* calls whose count is 0 (call.h) */
  int64_t max_at[PF_MAX_STARTS];  /* start of the longest call, the earliest of
                                     equal ones */
} pf_cold_sums;

#define PF_EXACT_CALLS 128u /* up to so many calls quantiles are exact */

#define PF_BUFFERED_CALLS 255 /* capacity of a buffer, in calls */

/* A buffer of durations for the quantiles of a group. Adding many at a time
   causes a few cache misses instead of one for each. */
typedef union pf_duration_buffer {
  int64_t durations[PF_BUFFERED_CALLS * 2 / PF_DURATIONS][PF_DURATIONS];
  uint16_t codes[PF_BUFFERED_CALLS][8]; /* PF_DURATIONS codes, padded */
} pf_duration_buffer;

/* The contents of a buffer. */
typedef struct pf_buffer_state {
  uint8_t count;  /* calls in it */
  bool are_codes; /* it holds codes: all quantiles of the group are in
                     buckets */
} pf_buffer_state;

typedef struct pf_call_sums {
  bool has_squares, has_quantiles; /* what to compute */
  size_t count, capacity;          /* in groups */
  void *memory;        /* the block that malloc returned for `hot` */
  pf_hot_sums *hot;    /* by group, aligned to cache lines; part of `memory` */
  pf_cold_sums *rest;  /* by group */
  pf_squares *squares; /* PF_DURATIONS for each group; or NULL */
  pf_quantile *quantiles;       /* PF_DURATIONS for each group; or NULL */
  pf_quantile_pool pool;        /* of all quantiles; owns no memory */
  pf_duration_buffer **buffers; /* of groups with many calls; for others NULL */
  pf_buffer_state *states;      /* by group */
} pf_call_sums;

/* Whether a duration changes only the sum; false for PF_NO_TIME. */
static inline bool pf_is_in_range (const pf_hot_sums *hot, size_t which,
                                   int64_t length) {
  return (uint64_t)length - (uint64_t)hot->of[which].min < hot->of[which].range;
}

/* Add a duration to a sum only. */
static inline void pf_call_sums_add_sum (pf_call_sums *sums, size_t group,
                                         size_t which, int64_t length) {
  pf_hot_sums *const hot = &sums->hot[group];
  hot->of[which].sum += (uint64_t)length;
  if (__builtin_expect(hot->of[which].sum < (uint64_t)length, 0))
    sums->rest[group].wraps[which]++;
}

/* Add the durations of a call that changes only sums. Otherwise returns false,
   and changes nothing. Most calls change only sums, and have all durations or
   all but `outside`. */
static inline bool pf_call_sums_try_add (pf_call_sums *sums, size_t group,
                                         const int64_t *durations) {
  pf_hot_sums *const hot = &sums->hot[group];
  const bool is_outside = durations[PF_OUTSIDE] >= 0;
  if (is_outside && !pf_is_in_range(hot, PF_OUTSIDE, durations[PF_OUTSIDE]))
    return false;
  if (!pf_is_in_range(hot, PF_NET, durations[PF_NET]) ||
      !pf_is_in_range(hot, PF_GROSS, durations[PF_GROSS]) ||
      !pf_is_in_range(hot, PF_CALL, durations[PF_CALL]) ||
      !pf_is_in_range(hot, PF_PERIOD, durations[PF_PERIOD]))
    return false;
  hot->rows++;
  pf_call_sums_add_sum(sums, group, PF_NET, durations[PF_NET]);
  pf_call_sums_add_sum(sums, group, PF_GROSS, durations[PF_GROSS]);
  pf_call_sums_add_sum(sums, group, PF_CALL, durations[PF_CALL]);
  pf_call_sums_add_sum(sums, group, PF_PERIOD, durations[PF_PERIOD]);
  if (is_outside)
    pf_call_sums_add_sum(sums, group, PF_OUTSIDE, durations[PF_OUTSIDE]);
  else
    sums->rest[group].missing[PF_OUTSIDE]++;
  return true;
}

/* Create the groups up to count-1. PF_ENOMEM. */
pf_status pf_call_sums_reserve (pf_call_sums *sums, size_t count);

/* Add what is buffered to the quantiles: needed before they are read, cleared
   or merged. PF_ENOMEM. */
pf_status pf_call_sums_flush (pf_call_sums *sums);

/* Make one of the durations unknown for all calls of a group. */
void pf_call_sums_clear (pf_call_sums *sums, size_t group, size_t which);

/* The accumulators of one duration of a group, without its quantiles. */
typedef struct pf_duration_sums {
  pf_wide sum;
  int64_t min, max; /* of the known durations; max -1: none is known */
  uint64_t missing; /* number of unknown durations */
  int64_t max_at;   /* start of the longest call; 0 from PF_MAX_STARTS on */
  pf_squares squares;
} pf_duration_sums;

pf_duration_sums pf_call_sums_duration (const pf_call_sums *sums, size_t group,
                                        size_t which);

/* Add such accumulators to those of a group. */
void pf_call_sums_add_duration (pf_call_sums *sums, size_t group, size_t which,
                                const pf_duration_sums *more);

/* Add the accumulators of group `from` of `more` to those of `group`.
   PF_ENOMEM. */
pf_status pf_call_sums_merge (pf_call_sums *sums, size_t group,
                              const pf_call_sums *more, size_t from);

typedef enum pf_group_by {
  PF_BY_AREA,
  PF_BY_LANE,  /* by area and lane */
  PF_BY_CALLER /* by area and caller */
} pf_group_by;

typedef struct pf_groups {
  pf_group_by by; /* of a chunk always PF_BY_LANE */
  pf_call_sums sums;
  pf_id_table keys; /* keys of groups: the area, the slot, or the area in the
                         upper half and its caller in the lower */
  struct {
    uint64_t key;
    uint32_t group;    /* + 1, or 0: none */
  } caller_cache[256]; /* groups by caller, a direct-mapped cache */
  uint32_t *ids;       /* the groups of the calls that are being added */
  size_t capacity;
} pf_groups;

void pf_groups_init (pf_groups *groups, pf_group_by by, bool squares,
                     bool quantiles);
void pf_groups_free (pf_groups *groups);

/* Accumulate calls of a machine with these lanes, whose slots get groups.
   PF_ENOMEM. */
pf_status pf_groups_add (pf_groups *groups, pf_lanes *lanes,
                         const pf_call *calls, size_t count);

/* Find or create the group of a key. PF_ENOMEM. */
pf_status pf_groups_of_key (pf_groups *groups, uint64_t key, uint32_t *group);

/* Find or create the group of a slot; not with PF_BY_CALLER. PF_ENOMEM. */
pf_status pf_groups_of_slot (pf_groups *groups, pf_lanes *lanes, uint32_t slot,
                             uint32_t *group);

#endif
