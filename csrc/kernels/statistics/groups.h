/*
** groups.h - assigns calls to groups and accumulates their durations: by area,
** by area and lane, or by area and caller. Part of a pf_scan.
*/

#ifndef groups_h
#define groups_h

#include "kernels/calls/state_machine.h"
#include "kernels/statistics/duration_sums.h"

typedef enum pf_group_by {
  PF_BY_AREA,
  PF_BY_LANE,  /* by area and lane */
  PF_BY_CALLER /* by area and caller */
} pf_group_by;

typedef struct pf_groups {
  pf_group_by by;
  pf_call_sums sums;
  pf_id_table keys; /* keys of groups: the area, the slot, or the area in the
                         upper half and its caller in the lower */
  uint32_t *slot_groups; /* the group of each slot, or PF_NO_ID */
  size_t nslots;
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

/* Accumulate calls of a machine with these lanes. PF_ENOMEM. */
pf_status pf_groups_add (pf_groups *groups, const pf_lanes *lanes,
                         const pf_call *calls, size_t count);

/* Find or create the group of a slot; not with PF_BY_CALLER. PF_ENOMEM. */
pf_status pf_groups_of_slot (pf_groups *groups, const pf_lanes *lanes,
                             uint32_t slot, uint32_t *group);

#endif
