/*
** contexts_order.h - contexts in an order that depends on nothing but what
** they say: what views show and what files are written in.
*/

#ifndef contexts_order_h
#define contexts_order_h

#include "model/contexts.h"

/*
** Set sorted[] to the frames in use by name, file and line, *count of them,
** and ranks[area] to the place of each there (UINT32_MAX: not in use). Both
** have room for pf_areas_count of the dictionary. PF_ENOMEM.
*/
pf_status pf_contexts_rank (const pf_contexts *contexts, uint32_t *ranks,
                            uint32_t *sorted, uint32_t *count);

/* Set ranks[area] of some areas to their places by name, file and line;
   UINT32_MAX of all others. `ranks` is as above. PF_ENOMEM. */
pf_status pf_frames_rank (const pf_dictionary *dictionary,
                          const uint32_t *areas, size_t count, uint32_t *ranks);

/* The same ranks of the frames in use and of those in more[nmore] that are not
   PF_NO_AREA, all of one dictionary. */
pf_status pf_contexts_rank_both (const pf_contexts *contexts,
                                 const uint32_t *more, size_t nmore,
                                 uint32_t *ranks);

/*
** A walk over nodes by their numbers, for those that are numbered depth first:
** where it is, from the root down. Open with room for all nodes; what is never
** touched takes no memory.
*/
typedef struct pf_preorder {
  const uint32_t *parents;
  uint32_t *path; /* by depth */
  uint32_t depth; /* of the last node */
} pf_preorder;

bool pf_preorder_open (pf_preorder *descent, const pf_contexts *contexts);
void pf_preorder_close (pf_preorder *descent);

/* Go to the next node, after the root; false: no node on the path calls it. */
static inline bool pf_preorder_next (pf_preorder *descent, uint32_t node) {
  const uint32_t parent = descent->parents[node];
  uint32_t depth = descent->depth;
  while (depth > 0 && descent->path[depth] != parent)
    depth--;
  if (descent->path[depth] != parent)
    return false;
  descent->path[++depth] = node;
  descent->depth = depth;
  return true;
}

/* Whether the nodes are numbered depth first, callees by the rank of their
   frame; then *deepest is the largest depth. False also when memory is short. */
bool pf_contexts_in_order (const pf_contexts *contexts, const uint32_t *ranks,
                           uint32_t *deepest);

/*
** Set order[count] to all nodes, depth first, callees by the rank of their
** frame, or (`totals`, by node, may be NULL) the heaviest first; depths[count]
** to the depth of each node there, 0 for the root. PF_ENOMEM.
*/
pf_status pf_contexts_order (const pf_contexts *contexts, const uint32_t *ranks,
                             const int64_t *totals, uint32_t *order,
                             uint32_t *depths);

#endif
