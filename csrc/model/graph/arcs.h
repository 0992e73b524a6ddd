/*
** arcs.h - sorting and merging of arcs, for arcs.c and caller_index.c
** only.
**
** The caller owns an order and closes it; caller_index.c moves the arrays of
** one into the graph.
*/

#ifndef arcs_h
#define arcs_h

#include "model/graph/graph.h"

#define PF_NO_ARC UINT32_MAX

/* The arcs of a graph sorted by caller, the newest first, those from outside
   last. Arcs with equal caller and callee are merged into the oldest one. */
typedef struct pf_arc_order {
  pf_arc *arcs;
  size_t count;
  uint32_t *first;   /* by caller: index of its first arc */
  uint32_t *numbers; /* by arc: its number in input order */
} pf_arc_order;

/* The size of an index of first arcs by function. */
static inline size_t pf_arc_index_size (const pf_graph *graph) {
  return graph->nfunctions + 3;
}

/* The slot of a caller or callee in such an index: the outside is the last
   one. */
static inline size_t pf_arc_index_slot (const pf_graph *graph, uint32_t end) {
  return end == PF_NO_FUNCTION ? graph->nfunctions : end;
}

/* Allocate an order, and sort the arcs into it. The graph does not change.
   After a failure the order must be closed too. */
bool pf_arc_order_open (pf_arc_order *order, const pf_graph *graph);
pf_status pf_arc_order_make (pf_arc_order *order, const pf_graph *graph);
void pf_arc_order_close (pf_arc_order *order);

/* Invert the numbers of `count` arcs: the position of each of `ninputs` arcs in
   input order, or PF_NO_ARC if it was merged into an older one. The caller
   frees it; NULL when out of memory. */
uint32_t *pf_arc_positions (const uint32_t *numbers, size_t count,
                            size_t ninputs);

/* Turn counts into first positions by a prefix sum. The count of slot s is at s
   + 2, its first position will be at s + 1: filling the index advances it to
   its end, which is the first position of slot s + 1. */
void pf_arc_sum_counts (uint32_t *first, size_t places);

#endif
