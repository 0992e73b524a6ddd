/*
** groups.h - calls into the tallies of their groups: of an area, of an area in
** a lane, or of an area called by another.
*/

#ifndef groups_h
#define groups_h

#include "kernels/calls/call_machine.h"
#include "kernels/calls/call_sums.h"

typedef enum pf_group_by {
  PF_BY_AREA,
  PF_BY_LANE,  /* of each area and lane */
  PF_BY_CALLER /* of each area and caller */
} pf_group_by;

typedef struct pf_groups {
  pf_group_by by;
  pf_call_sums tallies;
  pf_id_table keys;   /* of groups: the area, the slot, or the area in the
                         upper half and its caller in the lower */
  uint32_t *of_slots; /* the group of each slot, or PF_NO_ID */
  size_t nslots;
  struct {
    uint64_t key;
    uint32_t group;  /* + 1, or 0: none */
  } recent[256];     /* of callers */
  uint32_t *numbers; /* of the calls at hand */
  size_t room;
} pf_groups;

void pf_groups_init (pf_groups *groups, pf_group_by by, bool squares,
                     bool quantiles);
void pf_groups_free (pf_groups *groups);

/* Add calls of a machine. PF_ENOMEM. */
pf_status pf_groups_add (pf_groups *groups, const pf_lanes *lanes,
                         const pf_call *calls, size_t count);

/* The group of a slot, not by caller; made when it is not there. PF_ENOMEM. */
pf_status pf_groups_of_slot (pf_groups *groups, const pf_lanes *lanes,
                             uint32_t slot, uint32_t *group);

#endif
