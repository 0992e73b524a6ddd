/*
** call_groups.h - assigns calls to groups, and aggregates their durations
** (kernels/group/aggregate.h): by area, by area and lane, or by area and
** caller. Part of a pf_scan: scan.c adds the calls, scan_merge.c merges chunks,
** unpack_sums.c adds packed sums, and result_rows.c reads the aggregates.
** pf_call_groups_free frees all memory; the lanes are borrowed for each call.
**
** A call that only changes sums is added to hot sums, as fast as the call
** machine finds it; all others are rows for the aggregates. So the hot sums are
** a part of the aggregates that pf_call_groups_flush moves there.
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

/* What is computed of each group. Borrowed by pf_call_groups. */
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
  uint64_t calls;
  struct {
    uint64_t sum;
    int64_t min; /* INT64_MAX: no call had this duration */
    uint64_t range;
  } of[PF_DURATIONS];
} pf_hot_sums;

typedef struct pf_call_groups {
  pf_group_by by;
  bool each;             /* pf_call_aggregates.each */
  uint64_t calls;        /* in the packed sums that were added */
  pf_aggregates *sums;   /* owned, as all below */
  pf_id_table keys;      /* of the groups: the area, the slot, or the area in the
                            upper half and its caller in the lower */
  pf_hot_sums *hot;      /* by group, aligned to cache lines; in `memory` */
  void *memory;          /* the block that malloc returned */
  uint64_t *inner;       /* by group: number of calls without an outside that are
                            in the hot sums */
  size_t capacity;       /* in groups */
  pf_batch rows;         /* calls that are not added yet, of pf_call_columns */
  uint32_t *row_groups;  /* the group of each row */
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

/* Add the durations of a counted call to the hot sums, if it changes only sums.
   Otherwise returns false, and changes nothing. Most calls change only sums,
   and have all durations or all but `outside`. */
static inline bool pf_call_groups_try_add (pf_call_groups *groups, size_t group,
                                           const int64_t *durations) {
  pf_hot_sums *const hot = &groups->hot[group];
  const bool is_outside = durations[PF_OUTSIDE] >= 0;
  uint64_t sums[PF_DURATIONS];
  for (size_t i = 0; i < PF_DURATIONS; i++) {
    const uint64_t length = (uint64_t)durations[i];
    const bool is_in = length - (uint64_t)hot->of[i].min < hot->of[i].range;
    const bool has_room =
        !__builtin_add_overflow(hot->of[i].sum, length, &sums[i]);
    if (!(is_in && has_room) && (i != PF_OUTSIDE || is_outside))
      return false;
  }
  hot->calls++;
  for (size_t i = 0; i < PF_OUTSIDE; i++)
    hot->of[i].sum = sums[i];
  if (is_outside)
    hot->of[PF_OUTSIDE].sum = sums[PF_OUTSIDE];
  else
    groups->inner[group]++;
  return true;
}

#endif
