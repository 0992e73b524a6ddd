/*
** walk.h - contexts in an order that depends on nothing but the profile, and
** which function each node stands for: what every view of them begins with.
*/

#ifndef traversal_h
#define traversal_h

#include "model/contexts.h"

/*
** All nodes depth first, callees by name, file and line. A function is a name
** and a file: its frames may differ in the line. The root has no function.
*/
typedef struct pf_traversal {
  const pf_contexts *contexts; /* borrowed, and must not change */
  uint32_t *order;             /* count nodes, the root first */
  uint32_t *depths;            /* of the nodes in that order; the root's is 0 */
  uint32_t max_depth;
  uint32_t *functions; /* of each node; of the root PF_NO_FUNCTION */
  uint32_t nfunctions; /* numbered by name and file */
  uint32_t *areas;     /* one frame of each function, its lowest line */
} pf_traversal;

#define PF_NO_FUNCTION UINT32_MAX

/* `totals` (by node, may be NULL): the heaviest callees come first, and only
   those of one weight by their texts. PF_ENOMEM. */
pf_status pf_traversal_open (pf_traversal *walk, const pf_contexts *contexts,
                             const int64_t *totals);
void pf_traversal_close (pf_traversal *walk);

/*
** Which nodes are not called, however indirectly, by their own function: only
** their totals add up to that of the function. outermost[count]; PF_ENOMEM.
*/
pf_status pf_traversal_outermost (const pf_traversal *walk, bool *outermost);

/*
** The same for any classes of nodes: classes[node] below nclasses, or
** UINT32_MAX for nodes of none.
*/
pf_status pf_traversal_outermost_of (const pf_traversal *walk,
                                     const uint32_t *classes, size_t nclasses,
                                     bool *outermost);

#endif
