/*
** cycles.h - the cycles of a call graph (its strongly connected components of
** two or more functions), and the functions in postorder: callees before their
** callers. Used by propagate.c and transform_graph.c.
**
** The algorithm is Gabow's path-based search (Information Processing Letters
** 74, 2000). Time and memory are linear in functions and arcs, but members of a
** cycle are sorted; no recursion, so no call chain is too deep.
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
                      by number; NULL if there was a visitor */
  uint32_t *heads; /* of the cycles; cycle number i has heads[i - 1] */
} pf_cycles;

/* A visitor of functions, in an order in which callees come first. */
typedef struct pf_visitor {
  /* Called for a function, or for all members of a cycle, by number, after all
     other functions that they call. */
  void (*visit)(void *context, const uint32_t *functions, size_t count);
  void *context;
} pf_visitor;

/*
** Find the cycles of a finished graph. Without a visitor (NULL), set `order`,
** and number the cycles by their heads. A visitor gets the functions in another
** order, which is faster to find, and cycles are numbered in that order until
** pf_cycles_number is called. PF_ENOMEM; close it also after a failure.
*/
pf_status pf_cycles_find (pf_cycles *cycles, const pf_graph *graph,
                          const pf_visitor *visitor);

/* Number the cycles in ascending order of their heads. */
void pf_cycles_number (pf_cycles *cycles);

void pf_cycles_close (pf_cycles *cycles);

#endif
