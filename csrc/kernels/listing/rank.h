/*
** rank.h - the sort orders of the flat profile, the call graph and its index.
** They are gprof's, in compat graphs including ties. Used by the listings (the
** files *_rows.c that sort) and by lua/profile/profile.c (pf_flow_rank). Flows
** are borrowed during the call.
*/

#ifndef rank_h
#define rank_h

#include "kernels/graph/propagate.h"

/*
** Functions of the flat profile by descending time, descending calls, name.
** Functions without time and calls are left out, unless `zeros` is set. The
** caller frees *functions. PF_ENOMEM.
*/
pf_status pf_rank_flat (const pf_flow *flow, bool zeros, uint32_t **functions,
                        size_t *count);

/* Functions of the index, by name: those with time or calls, or all if `zeros`
   is set. The caller frees *functions. PF_ENOMEM. */
pf_status pf_rank_index (const pf_flow *flow, bool zeros, uint32_t **functions,
                         size_t *count);

/*
** Set flow->entries (freed by pf_flow_close), if a flow does not have them, to
** all nodes for the call graph: by descending total time; then cycles, names
** without a leading underscore, other names; then by descending calls; then by
** name. The index number of a node is its position in this order, from 1.
** PF_ENOMEM.
*/
pf_status pf_flow_rank (pf_flow *flow);

/* Kinds of arcs, in ascending order (see pf_items). */
enum {
  PF_ARC_SELF,  /* of a function to itself */
  PF_ARC_INNER, /* inside a cycle */
  PF_ARC_PLAIN  /* any other: only these propagate time */
};

/* An arc of an entry, or a member of a cycle, with its sort keys. */
typedef struct pf_item {
  uint32_t number; /* of the arc, or of the function */
  uint32_t other;  /* the function at the other end, or PF_NO_FUNCTION */
  uint32_t kind;   /* of the arc; 0 for members */
  int64_t count;   /* calls */
  double time;     /* share.self + share.child */
  pf_share share;  /* propagated by the arc, or shown of the member */
} pf_item;

/* Arcs and members in the order in which they are shown: by kind, time and
   count, descending, then by the address of the other function, so that the
   order of the input does not matter; equal ones of compat graphs stay in that
   order, as gprof shows them. The reader that opens a list closes it. */
typedef struct pf_items {
  pf_item *list, *spare; /* for all arcs of any function, or any cycle */
  size_t count;
} pf_items;

/* Open an empty list. PF_ENOMEM; close it also after a failure. */
pf_status pf_items_open (pf_items *items, const pf_flow *flow);
void pf_items_close (pf_items *items);

/* Append the arcs from the callers of a function, of those from outside the
   program only if `only_outside`, or to its callees, or the members of a cycle.
   `ascending`: kind, time and count are ascending. */
void pf_items_callers (pf_items *items, const pf_flow *flow, size_t function,
                       bool only_outside, bool ascending);
void pf_items_callees (pf_items *items, const pf_flow *flow, size_t function);
void pf_items_members (pf_items *items, const pf_flow *flow, size_t cycle);

#endif
