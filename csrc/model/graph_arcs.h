/*
** graph_arcs.h - what the files behind graph.h share about arcs. Nobody else
** includes this.
*/

#ifndef graph_arcs_h
#define graph_arcs_h

#include "model/graph.h"

#define PF_NO_ARC UINT32_MAX

/* The arcs of a graph that is being built, in another order: by caller, the
   newest first, those from outside last. Of arcs between the same two functions
   the oldest stands for all, with the sum of their counts. */
typedef struct pf_arc_order {
  pf_arc *arcs;
  size_t count;
  uint32_t *first;   /* of each caller: where its arcs begin */
  uint32_t *numbers; /* of each arc: which it was as they came */
} pf_arc_order;

/* Room for where the arcs of each end begin. */
static inline size_t pf_arc_places (const pf_graph *graph) {
  return graph->nfunctions + 3;
}

/* One end of an arc as a place in an index: the outside comes last. */
static inline size_t pf_arc_place (const pf_graph *graph, uint32_t end) {
  return end == PF_NO_FUNCTION ? graph->nfunctions : end;
}

/* Room for an order, and its arcs; after a failure too it is to be closed.
   Both leave the graph alone. */
bool pf_arc_order_open (pf_arc_order *order, const pf_graph *graph);
pf_status pf_arc_order_make (pf_arc_order *order, const pf_graph *graph);
void pf_arc_order_close (pf_arc_order *order);

/* Of each of `came` arcs as they came: where it is, by the numbers of the
   `count` that are left; PF_NO_ARC when an older one stands for it. The caller
   frees it; NULL when out of memory. */
uint32_t *pf_arc_input_order (const uint32_t *numbers, size_t count,
                              size_t came);

/* The same for the arcs of a graph that is not scrambled, in their place.
   PF_ENOMEM: nothing has been done. */
pf_status pf_arc_order_keep (pf_graph *graph);

/* Where the arcs of each end begin, one place late, from how many each has one
   place later: filling the index moves each beginning to its end, which is
   where the next one begins. */
void pf_arc_sum_places (uint32_t *first, size_t places);

#endif
