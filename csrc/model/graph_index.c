/*
** graph_index.c - finishing the graph body of a profile: arcs by caller and by
** callee, in the manner of sparse matrices.
**
** The arcs themselves are put in the order of their callers, so that who walks
** over callees reads memory in one direction.
*/

#include <stdlib.h>
#include <string.h>

#include "model/graph.h"
#include "model/memory.h"
#include "model/parallel.h"

#define MANY 16384 /* arcs that are worth a thread */

/* Finishing. */
typedef struct index {
  pf_graph *graph;
  uint32_t *moved; /* of each arc, as they came: where it went */
} index;


/* Part the calls of a function by itself from those by others. */
static void part_self_calls (pf_graph *graph) {
  for (size_t i = 0; i < graph->narcs; i++) {
    const uint32_t caller = graph->callers[i], callee = graph->callees[i];
    graph->flags[callee] |= PF_FUNCTION_USED;
    if (caller == PF_NO_FUNCTION)
      continue;
    graph->flags[caller] |= PF_FUNCTION_USED;
    if (caller == callee) {
      graph->calls[callee] -= graph->counts[i];
      graph->self_calls[callee] = graph->counts[i];
    }
  }
}


static void mark_weights (pf_graph *graph) {
  for (size_t m = 0; m < graph->nmetrics; m++)
    for (size_t i = 0; i < graph->nfunctions; i++)
      if (graph->weights[m][i] != 0)
        graph->flags[i] |= PF_FUNCTION_USED;
  for (size_t i = 0; graph->ticks != NULL && i < graph->nfunctions; i++)
    if (graph->ticks[i] != 0)
      graph->flags[i] |= PF_FUNCTION_USED;
}


/* One end of an arc as a place in an index: the outside comes last. */
static inline size_t place_of (const pf_graph *graph, uint32_t end) {
  return end == PF_NO_FUNCTION ? graph->nfunctions : end;
}


/* Room for where the arcs of each end begin. */
static size_t places (const pf_graph *graph) {
  return graph->nfunctions + 3;
}


/* Where the arcs of each end will begin, one place late: filling the index
   moves each beginning to its end, which is where the next one begins. */
static void count_ends (const pf_graph *graph, const uint32_t *ends,
                        uint32_t *first) {
  const size_t size = places(graph);
  memset(first, 0, size * sizeof *first);
  for (size_t i = 0; i < graph->narcs; i++)
    first[place_of(graph, ends[i]) + 2]++;
  for (size_t i = 2; i < size; i++)
    first[i] += first[i - 1];
}


/* Put the arcs in the order of their callers. */
static void order_arcs (const index *x) {
  pf_graph *const graph = x->graph;
  for (size_t i = graph->narcs; i-- > 0;) {
    const uint32_t caller = graph->callers[i];
    const uint32_t to = graph->child_first[place_of(graph, caller) + 1]++;
    graph->arcs[to] = (pf_arc){caller, graph->callees[i], graph->counts[i]};
    x->moved[i] = to;
  }
}


static void list_children (void *context) {
  const index *const x = context;
  count_ends(x->graph, x->graph->callers, x->graph->child_first);
  order_arcs(x);
}


/* What else does not ask where the arcs go. */
static void count_parents (void *context) {
  pf_graph *const graph = ((const index *)context)->graph;
  count_ends(graph, graph->callees, graph->parent_first);
  part_self_calls(graph);
  mark_weights(graph);
}


static void list_parents (const index *x) {
  const pf_graph *const graph = x->graph;
  for (size_t i = graph->narcs; i-- > 0;)
    graph->parents[graph->parent_first[graph->callees[i] + 1]++] = x->moved[i];
}


static void drop_building (pf_graph *graph) {
  free(graph->callers);
  free(graph->callees);
  free(graph->counts);
  free(graph->arc_slots);
  free(graph->pseudo_slots);
  graph->callers = graph->callees = NULL;
  graph->counts = NULL;
  graph->arc_slots = graph->pseudo_slots = NULL;
  graph->arcs_room = graph->arc_slots_size = graph->pseudo_slots_size = 0;
}


static bool open_index (index *x) {
  pf_graph *const graph = x->graph;
  const size_t room = graph->narcs;
  x->moved = pf_array(room, sizeof *x->moved);
  graph->arcs = pf_array(room, sizeof *graph->arcs);
  graph->parents = pf_array(room, sizeof *graph->parents);
  graph->child_first = pf_array(places(graph), sizeof(uint32_t));
  graph->parent_first = pf_array(places(graph), sizeof(uint32_t));
  return x->moved != NULL && graph->arcs != NULL && graph->parents != NULL &&
         graph->child_first != NULL && graph->parent_first != NULL;
}


pf_status pf_graph_finish (pf_graph *graph) {
  index x = {graph, NULL};
  const bool has_room = open_index(&x);
  if (has_room) {
    if (graph->narcs >= MANY)
      pf_both(list_children, &x, count_parents, &x);
    else {
      list_children(&x);
      count_parents(&x);
    }
    list_parents(&x);
    drop_building(graph);
  }
  free(x.moved);
  return has_room ? PF_OK : PF_ENOMEM;
}
