/*
** open_calls.h - sums of what happens within the calls of the area that are
** open, one in each lane, and of the groups to which these calls belong when
** they have ended. Used by explain.c and waits.c. explain.c owns the
** pf_open_calls; pf_open_calls_free frees all sums, also those of open calls.
*/

#ifndef open_calls_h
#define open_calls_h

#include "kernels/calls/state_machine.h"
#include "kernels/explain/call_ranks.h"
#include "model/base/wide.h"

typedef enum pf_explained_group {
  PF_GROUP_TYPICAL,
  PF_GROUP_SLOW,
  PF_GROUP_FIRST,
  PF_GROUP_MEDIAN,
  PF_GROUP_WORST,
  PF_EXPLAINED_GROUPS
} pf_explained_group;

/* Calls at a node. Times are in ns. */
typedef struct pf_node_sum {
  uint64_t count;
  pf_wide net, elapsed;
} pf_node_sum;

/* Calls of a group at a node, and its example: the call of the area in which
   elapsed of the node is largest. */
typedef struct pf_group_sum {
  pf_node_sum sum;
  pf_wide most;
  int64_t start;
  uint32_t lane;
} pf_group_sum;

/* Calls of a group that came right after a call of one area. */
typedef struct pf_before_sum {
  uint64_t count;
  pf_wide net;
} pf_before_sum;

/* The sums of a call that is open. */
typedef struct pf_open_call {
  uint32_t *entries; /* by node: index in `list`, + 1, or 0 */
  size_t nentries;
  struct pf_open_entry {
    uint32_t node;
    pf_node_sum sum;
  } * list; /* the nodes in which calls have ended */
  size_t count, capacity;
  struct pf_open_call *next; /* in pf_open_calls.unused */
} pf_open_call;

typedef struct pf_open_lane {
  pf_open_call *call; /* NULL: nothing has ended within an open call */
  uint32_t before;    /* area of the last call that ended and was not within
                         one of the area, or PF_NO_AREA */
  bool has_begun;     /* `before` is set */
} pf_open_lane;

/* Initialise with zeros, and `before` with pf_id_table_init. */
typedef struct pf_open_calls {
  pf_open_lane *lanes; /* by lane id */
  size_t nlanes;
  pf_open_call *unused; /* sums that no lane has */
  struct {
    pf_group_sum *sums; /* by node */
    size_t nsums;
  } groups[PF_EXPLAINED_GROUPS];
  pf_id_table before; /* words: group and area */
  pf_before_sum *before_sums;
  size_t nbefore;
} pf_open_calls;

/* The lane with an id. NULL when out of memory. */
pf_open_lane *pf_open_calls_lane (pf_open_calls *calls, uint32_t lane);

/* Add sums at a node to the open call of a lane. PF_ENOMEM. */
pf_status pf_open_calls_add (pf_open_calls *calls, pf_open_lane *lane,
                             uint32_t node, const pf_node_sum *sum);

/* Add the open call of a lane, whose sums are complete, to the groups of its
   rank; `call` is its row, `id` that of the lane. PF_ENOMEM. */
pf_status pf_open_calls_put (pf_open_calls *calls, const pf_open_lane *lane,
                             const pf_call_rank *rank, const pf_call *call,
                             uint32_t id);

/* Forget the sums of the open call of a lane, because it has ended. Other lanes
   reuse the memory of the sums. */
void pf_open_calls_end (pf_open_calls *calls, pf_open_lane *lane);

/* Forget which call ended last in each lane, because the next events are not
   related to those so far. */
void pf_open_calls_reset (pf_open_calls *calls);

void pf_open_calls_free (pf_open_calls *calls);

#endif
