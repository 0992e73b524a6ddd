/*
** traversal.h - the nodes of a context tree in depth-first order, and the
** function of each node. Used by views.c, transform_contexts.c and the exports.
** The order depends only on the contents of the profile, not on the order in
** which its nodes were added. pf_traversal_close frees the arrays of a
** traversal.
*/

#ifndef traversal_h
#define traversal_h

#include "model/contexts/contexts.h"

/*
** All nodes in preorder, callees by name, file and line. Frames with the same
** name and file are one function, whatever their lines. The root has no
** function.
*/
typedef struct pf_traversal {
  const pf_contexts *contexts; /* borrowed; must not change */
  uint32_t *order;             /* all nodes, the root first */
  uint32_t *depths;            /* depths[i] of node order[i]; the root has 0 */
  uint32_t max_depth;
  uint32_t *functions; /* of each node; PF_NO_FUNCTION for the root */
  uint32_t nfunctions; /* numbered in the order of name and file */
  uint32_t *areas;     /* of each function: its frame with the lowest line */
} pf_traversal;

#define PF_NO_FUNCTION UINT32_MAX

/* Open a traversal. With `totals` (by node, may be NULL), callees are sorted by
   descending total first, then by name, file and line; they are not kept.
   PF_ENOMEM: then it need not be closed. */
pf_status pf_traversal_open (pf_traversal *traversal,
                             const pf_contexts *contexts,
                             const int64_t *totals);
void pf_traversal_close (pf_traversal *traversal);

/*
** Set outermost[node], which has room for all nodes, for nodes that have no
** ancestor of the same class:
** classes[node] is below nclasses, or UINT32_MAX for nodes in no class. The total
** of a function, whose class is t->functions, is the sum of the totals of these
** nodes. PF_ENOMEM.
*/
pf_status pf_traversal_outermost (const pf_traversal *t,
                                  const uint32_t *classes, size_t nclasses,
                                  bool *outermost);

#endif
