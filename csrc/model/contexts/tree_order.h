/*
** tree_order.h - orders the nodes of contexts by their frames, independent of
** the order in which they were added; and a traversal of nodes in pre-order.
** Used by ordered_merge.c, formats/pprof, kernels/contexts and
** lua/profile/export.c. The caller owns all arrays that are filled, and closes
** a pf_preorder.
*/

#ifndef tree_order_h
#define tree_order_h

#include "model/contexts/contexts.h"

/*
** Set sorted[] to the frames in use, ordered by name, file and line, *count of
** them, and ranks[area] to the index of each there (UINT32_MAX: not in use).
** Both arrays have pf_areas_count elements. PF_ENOMEM.
*/
pf_status pf_contexts_rank (const pf_contexts *contexts, uint32_t *ranks,
                            uint32_t *sorted, uint32_t *count);

/* Compare two areas by name, file and line: below 0, 0 or above 0. */
int pf_frame_compare (const pf_dictionary *dictionary, uint32_t left,
                      uint32_t right);

/* Set the ranks of `count` areas by name, file and line, and UINT32_MAX for all
   others. Areas may occur several times, and be PF_NO_AREA. PF_ENOMEM. */
pf_status pf_frames_rank (const pf_dictionary *dictionary,
                          const uint32_t *areas, size_t count, uint32_t *ranks);

/* The position of a traversal in order of node numbers, for nodes that are
   numbered in pre-order (depth first): the path from the root to the last
   node. */
typedef struct pf_preorder {
  const uint32_t *parents; /* borrowed from the contexts */
  uint32_t *path;          /* owned; by depth */
  uint32_t depth;          /* of the last node */
} pf_preorder;

/* Begin a traversal at the root. False when out of memory. */
bool pf_preorder_open (pf_preorder *descent, const pf_contexts *contexts);
void pf_preorder_close (pf_preorder *descent);

/* Go to `node`, the next one by number; false: its parent is not on the path,
   so nodes are not in pre-order. */
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

/* Whether the nodes are numbered in pre-order, with siblings in order of their
   ranks; then *deepest is the largest depth. False also when memory is
   short. */
bool pf_contexts_in_order (const pf_contexts *contexts, const uint32_t *ranks,
                           uint32_t *deepest);

/*
** Set order[count] to all nodes in pre-order, with siblings in order of their
** ranks, or, if `totals` (by node) is not NULL, by descending total; and
** depths[count] to the depth of each, 0 for the root. PF_ENOMEM.
*/
pf_status pf_contexts_order (const pf_contexts *contexts, const uint32_t *ranks,
                             const int64_t *totals, uint32_t *order,
                             uint32_t *depths);

#endif
