/*
** call_groups.h - assigns calls to groups, and aggregates their durations
** (kernels/group/aggregate.h): by area, by area and lane, or by area and
** caller. Part of a pf_scan: scan.c adds the calls, scan_merge.c merges chunks,
** unpack_sums.c adds packed sums, and result_rows.c reads the aggregates.
** pf_call_groups_free frees all memory; the lanes are borrowed for each call.
**
** The durations of a call are added up as fast as the call machine finds them.
** pf_call_groups_flush moves the sums to the aggregates. Only for deviations
** and quantiles are calls rows.
*/

#ifndef call_groups_h
#define call_groups_h

#include "kernels/calls/state_machine.h"
#include "kernels/group/aggregate.h"
#include "model/base/id_table.h"

/* The columns of the aggregates: the durations of a call, in ns, its start and
   its count. */
enum {
  PF_CALL_START = PF_DURATIONS,
  PF_CALL_COUNT,
  PF_CALL_COLUMNS
};

extern const pf_field pf_call_columns[PF_CALL_COLUMNS];

typedef enum pf_group_by {
  PF_BY_AREA,
  PF_BY_LANE,  /* by area and lane */
  PF_BY_CALLER /* by area and caller */
} pf_group_by;

/* The aggregates of each group. Borrowed by pf_call_groups. */
typedef struct pf_call_aggregates {
  const pf_aggregate *list; /* of pf_call_columns */
  size_t count;
  const pf_field *results; /* as in pf_aggregates_open */
  bool each; /* deviations or quantiles are in the list, so that each call must
                be a row */
} pf_call_aggregates;

/* The part that most calls change, in two cache lines. A duration >= min and
   below min + range changes neither the minimum nor the maximum, nor the start
   of the longest call: one comparison decides. */
typedef struct pf_hot_sums {
  uint64_t calls; /* also those that are not counted */
  struct {
    uint64_t sum; /* wraps around */
    int64_t min;  /* INT64_MAX: no call had this duration */
    uint64_t range;
  } of[PF_DURATIONS];
} pf_hot_sums;

#define PF_MAX_STARTS 3 /* net, gross and call have the start of the longest */

/* The part that changes rarely. */
typedef struct pf_rare_sums {
  uint64_t missing[PF_DURATIONS]; /* number of unknown durations */
  uint64_t carries[PF_DURATIONS]; /* how often the sums wrapped around */
  uint64_t uncounted;             /* calls whose count is 0 (call.h) */
  int64_t max_at[PF_MAX_STARTS];  /* start of the longest call, the earliest of
                                     equal ones */
} pf_rare_sums;

typedef struct pf_call_groups {
  pf_group_by by;
  bool each;           /* pf_call_aggregates.each */
  pf_aggregates *sums; /* owned, as all below */
  pf_id_table keys;    /* of the groups: the area, the slot, or the area in the
                          upper half and its caller in the lower */
  pf_hot_sums *hot;    /* by group, aligned to cache lines; in `memory` */
  void *memory;        /* the block that malloc returned */
  pf_rare_sums *rare;  /* by group */
  size_t capacity;     /* in groups */
  pf_batch rows;       /* with `each`: calls that are not added yet, as rows of
                          pf_call_columns */
  uint32_t *row_groups;
  struct {
    uint64_t key;
    uint32_t group;    /* + 1, or 0: none */
  } caller_cache[256]; /* groups by caller, a direct-mapped cache */
} pf_call_groups;

/* PF_ENOMEM; free it then, too. */
pf_status pf_call_groups_open (pf_call_groups *groups, pf_group_by by,
                               const pf_call_aggregates *aggregates,
                               pf_dictionary *dictionary);
void pf_call_groups_free (pf_call_groups *groups);

/* Accumulate calls of a machine with these lanes, whose slots get groups.
   PF_ENOMEM. */
pf_status pf_call_groups_add (pf_call_groups *groups, pf_lanes *lanes,
                              const pf_call *calls, size_t count);

/* Find or create the group of a key. PF_ENOMEM. */
pf_status pf_call_groups_of_key (pf_call_groups *groups, uint64_t key,
                                 uint32_t *group);

/* Find or create the group of a slot; not with PF_BY_CALLER. PF_ENOMEM. */
pf_status pf_call_groups_of_slot (pf_call_groups *groups, pf_lanes *lanes,
                                  uint32_t slot, uint32_t *group);

/* Add all that is not added yet to the aggregates: needed before they are read
   or merged. PF_ENOMEM. */
pf_status pf_call_groups_flush (pf_call_groups *groups);

/* Whether a duration changes only the sum; false for PF_NO_TIME. */
static inline bool pf_is_in_range (const pf_hot_sums *hot, size_t which,
                                   int64_t length) {
  return (uint64_t)length - (uint64_t)hot->of[which].min < hot->of[which].range;
}

static inline void pf_add_to_sum (pf_call_groups *groups, size_t group,
                                  size_t which, int64_t length) {
  uint64_t *const sum = &groups->hot[group].of[which].sum;
  *sum += (uint64_t)length;
  if (__builtin_expect(*sum < (uint64_t)length, 0))
    groups->rare[group].carries[which]++;
}

/* Add the durations of a counted call to the hot sums, if it changes only sums.
   Otherwise returns false, and changes nothing. Most calls change only sums,
   and have all durations or all but `outside`. */
static inline bool pf_call_groups_try_add (pf_call_groups *groups, size_t group,
                                           const int64_t *durations) {
  pf_hot_sums *const hot = &groups->hot[group];
  const bool is_outside = durations[PF_OUTSIDE] >= 0;
  if (is_outside && !pf_is_in_range(hot, PF_OUTSIDE, durations[PF_OUTSIDE]))
    return false;
  if (!pf_is_in_range(hot, PF_NET, durations[PF_NET]) ||
      !pf_is_in_range(hot, PF_GROSS, durations[PF_GROSS]) ||
      !pf_is_in_range(hot, PF_CALL, durations[PF_CALL]) ||
      !pf_is_in_range(hot, PF_PERIOD, durations[PF_PERIOD]))
    return false;
  hot->calls++;
  pf_add_to_sum(groups, group, PF_NET, durations[PF_NET]);
  pf_add_to_sum(groups, group, PF_GROSS, durations[PF_GROSS]);
  pf_add_to_sum(groups, group, PF_CALL, durations[PF_CALL]);
  pf_add_to_sum(groups, group, PF_PERIOD, durations[PF_PERIOD]);
  if (is_outside)
    pf_add_to_sum(groups, group, PF_OUTSIDE, durations[PF_OUTSIDE]);
  else
    groups->rare[group].missing[PF_OUTSIDE]++;
  return true;
}

#endif
