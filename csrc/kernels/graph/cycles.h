/*
** cycles.h - the cycles of a call graph (its strongly connected components of
** two or more functions), and the functions in postorder: callees before their
** callers. Used by propagate.c and transform_graph.c.
**
** The algorithm is Gabow's path-based search (Information Processing Letters
** 74, 2000). Time and memory are linear in functions and arcs, but members of a
** cycle are sorted; no recursion, so no call chain is too deep. pf_cycles_close
** frees the arrays; the graph is borrowed during the search.
*/

#ifndef cycles_h
#define cycles_h

#include "model/graph/graph.h"

/*
** The search is depth first, from functions in ascending order of number; arcs
** of a function are followed the newest first. The head of a cycle is the
** member that is discovered first. The members of a cycle are a linked list
** from its head, in the order in which the search joins them to the cycle. This
** is gprof's order, which decides ties and the last bits of sums.
*/
typedef struct pf_cycles {
  size_t count;
  uint32_t *next;  /* of each member: the next one, or PF_NO_FUNCTION */
  uint32_t *order; /* all functions, callees first; members of a cycle together,
                      by number */
  uint32_t *heads; /* of the cycles; cycle number i has heads[i - 1] */
  uint32_t *of;    /* of each function: its cycle from 1, or 0; NULL: there are
                      no cycles */
} pf_cycles;

/* Find the cycles of a finished graph, and number them in ascending order of
   their heads. `in_any_order`: `order` need only have callees before their
   callers, not in the order of the search; most functions then need no search,
   since the components of one function are trimmed first (McLendon et al.,
   Journal of Parallel and Distributed Computing 65, 2005). PF_ENOMEM; close it
   also after a failure. */
pf_status pf_cycles_find (pf_cycles *cycles, const pf_graph *graph,
                          bool in_any_order);

void pf_cycles_close (pf_cycles *cycles);

/* Whether an arc leads from a function to itself or inside its cycle. */
static inline bool pf_cycles_has_arc (const pf_cycles *cycles, uint32_t caller,
                                      uint32_t callee) {
  return caller == callee ||
         (cycles->of != NULL && caller != PF_NO_FUNCTION &&
          cycles->of[callee] != 0 && cycles->of[caller] == cycles->of[callee]);
}

#endif
