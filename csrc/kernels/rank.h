/*
** rank.h - the orders in which a profile is shown: gprof's, ties included.
*/

#ifndef rank_h
#define rank_h

#include "kernels/propagate.h"

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
** name. `flow->nodes` of them, the caller's to free. The index number of a
** node is its place in this order, from 1. PF_ENOMEM.
*/
pf_status pf_rank_graph (const pf_flow *flow, uint32_t **nodes);

/* Nodes for the index: functions with time or calls (or all) by name, then
   the cycles. The caller frees them. PF_ENOMEM. */
pf_status pf_rank_index (const pf_flow *flow, bool zeros, uint32_t **nodes,
                         size_t *count);

/*
** Put arcs that share an end in order: arcs of a function to itself, then
** arcs inside a cycle by count, then the others by time and count; `reverse`
** turns the order round, but not that of equal arcs, which is that of their
** numbers. `spare` has the room of `arcs`.
*/
void pf_rank_arcs (const pf_flow *flow, uint32_t *arcs, uint32_t *spare,
                   size_t count, bool reverse);

/* Put the members of a cycle in order: most time with callees first, then
   most calls, then as they came. */
void pf_rank_members (const pf_flow *flow, uint32_t *members, uint32_t *spare,
                      size_t count);

#endif
