/*
** rank.h - the orders in which a profile is shown: gprof's, ties included.
*/

#ifndef rank_h
#define rank_h

#include "kernels/graph/propagate.h"

/*
** Functions for the flat profile: most time first, then most calls, then by
** name. Those without time and calls are left out, unless `zeros` is set.
** *functions is the caller's to free. PF_ENOMEM.
*/
pf_status pf_rank_flat (const pf_flow *flow, bool zeros, uint32_t **functions,
                        size_t *count);

/*
** All nodes for the call graph: most time with callees first, then cycles,
** then names without an underscore before others, then most calls, then by
** name. `flow->nnodes` of them, the caller's to free. The index number of a
** node is its place in this order, from 1. PF_ENOMEM.
*/
pf_status pf_rank_graph (const pf_flow *flow, uint32_t **nodes);

/* Functions for the index: those with time or calls (or all) by name. The
   caller frees them. PF_ENOMEM. */
pf_status pf_rank_index (const pf_flow *flow, bool zeros, uint32_t **functions,
                         size_t *count);

/*
** pf_flow_open with pf_rank_flat, or with pf_rank_graph and pf_rank_index, on
** two processors where there are two: the orders are kept in the flow, for the
** listings to find. PF_ENOMEM; close the flow also after a failure.
*/
pf_status pf_flow_open_flat (pf_flow *flow, pf_graph *graph, size_t metric,
                             const uint8_t *filter, bool zeros);
pf_status pf_flow_open_graph (pf_flow *flow, pf_graph *graph, size_t metric,
                              const uint8_t *filter, bool zeros);

/* Make the orders of the call graph and its index in a flow that is open, if
   they are not there. PF_ENOMEM. */
pf_status pf_flow_rank (pf_flow *flow, bool zeros);

/* Kinds of arcs, in the order in which they are shown. */
enum {
  PF_ARC_SELF,  /* of a function to itself */
  PF_ARC_INNER, /* inside a cycle */
  PF_ARC_PLAIN  /* any other: only these hand time along */
};

/* An arc of an entry, or a member of a cycle, with what puts it in order. */
typedef struct pf_item {
  uint32_t number; /* of the arc, or of the function */
  uint32_t kind;   /* of the arc */
  int64_t count;   /* calls */
  double time;     /* the sum of: */
  pf_share share;  /* what is handed along, or what is shown of the member */
} pf_item;
pf_item pf_arc_item (const pf_flow *flow, uint32_t number);
pf_item pf_member_item (const pf_flow *flow, uint32_t member);

/*
** Put items in order, by kind, time and count; `reverse` turns the order
** round. Equal ones stay as they come. `spare` has the room of `items`.
*/
void pf_rank_items (pf_item *items, pf_item *spare, size_t count, bool reverse);

#endif
