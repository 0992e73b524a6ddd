/*
** graph_index.c - finishing the graph body of a profile: arcs by caller and by
** callee, in the manner of sparse matrices.
**
** The arcs themselves are put in the order of their callers, so that who walks
** over callees reads memory in one direction.
*/

#include <stdlib.h>
#include <string.h>

#include "model/graph_arcs.h"
#include "model/memory.h"
#include "model/parallel.h"

#define MANY 16384 /* arcs that are worth a thread */

/* Finishing. */
typedef struct index {
  pf_graph *graph;
  pf_arc_order order;
  pf_status ordered;
} index;


/* {====== Of each function ====== */

/* Where the arcs of each callee will begin. */
static void count_parents (pf_graph *graph, const pf_arc *arcs, size_t count) {
  uint32_t *const first = graph->parent_first;
  memset(first, 0, pf_arc_places(graph) * sizeof *first);
  for (size_t i = 0; i < count; i++)
    first[arcs[i].callee + 2]++;
  pf_arc_sum_places(first, pf_arc_places(graph));
}


/* Add up the calls of each function, those by itself apart. */
static void add_up_calls (pf_graph *graph) {
  int64_t *const calls = graph->calls;
  bool is_recursive = false;
  memset(calls, 0, graph->nfunctions * sizeof *calls);
  for (size_t i = 0; i < graph->narcs; i++) {
    const pf_arc *const arc = &graph->arcs[i];
    calls[arc->callee] = pf_add(calls[arc->callee], arc->count);
    if (arc->caller == arc->callee) {
      int64_t *const sum = &graph->self_calls[arc->callee];
      *sum = pf_add(*sum, arc->count);
      is_recursive = true;
    }
  }
  for (size_t i = 0; is_recursive && i < graph->nfunctions; i++)
    calls[i] -= graph->self_calls[i];
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


/* Mark the functions at which arcs of an index begin or end. */
static void mark_ends (pf_graph *graph, const uint32_t *first) {
  for (size_t i = 0; i < graph->nfunctions; i++)
    if (first[i] != first[i + 1])
      graph->flags[i] |= PF_FUNCTION_USED;
}

/* }====== */


static void list_children (void *context) {
  index *const x = context;
  x->ordered = pf_arc_order_make(&x->order, x->graph);
}


/* What does not ask where the arcs go, and memory for list_parents. */
static void look_at_callees (void *context) {
  pf_graph *const graph = ((const index *)context)->graph;
  count_parents(graph, graph->arcs, graph->narcs);
  add_up_calls(graph);
  mark_weights(graph);
  pf_array_touch(graph->parents, graph->narcs * sizeof *graph->parents);
}


static void touch_first (void *context) {
  const pf_arc_order *const order = &((const index *)context)->order;
  const size_t half = ((const index *)context)->graph->narcs / 2;
  pf_array_touch(order->arcs, half * sizeof *order->arcs);
}


static void touch_second (void *context) {
  const pf_arc_order *const order = &((const index *)context)->order;
  const size_t narcs = ((const index *)context)->graph->narcs;
  pf_array_touch(order->arcs + narcs / 2,
                 (narcs - narcs / 2) * sizeof *order->arcs);
}


static void list_parents (const index *x) {
  pf_graph *const graph = x->graph;
  const pf_arc_order *const order = &x->order;
  if (order->count < graph->narcs)
    count_parents(graph, order->arcs, order->count);
  for (size_t i = graph->narcs; i-- > 0;)
    if (order->moved[i] != PF_NO_ARC)
      graph->parents[graph->parent_first[graph->arcs[i].callee + 1]++] =
          order->moved[i] - order->shift;
}


/* The graph keeps the arcs in their order. */
static void keep_order (index *x) {
  pf_graph *const graph = x->graph;
  free(graph->arcs);
  free(graph->pseudo_slots);
  graph->pseudo_slots = NULL;
  graph->pseudo_slots_size = 0;
  graph->arcs = x->order.arcs;
  graph->narcs = graph->arcs_room = x->order.count;
  graph->child_first = x->order.first;
  x->order.arcs = NULL;
  x->order.first = NULL;
  mark_ends(graph, graph->child_first);
  mark_ends(graph, graph->parent_first);
}


static bool open_index (index *x) {
  pf_graph *const graph = x->graph;
  const size_t n = graph->nfunctions;
  graph->parents = pf_array(graph->narcs, sizeof *graph->parents);
  graph->parent_first = pf_array(pf_arc_places(graph), sizeof(uint32_t));
  graph->calls = pf_array(n, sizeof *graph->calls);
  graph->self_calls = pf_array_of_zeros(n, sizeof *graph->self_calls);
  return pf_arc_order_open(&x->order, graph) && graph->parents != NULL &&
         graph->parent_first != NULL && graph->calls != NULL &&
         graph->self_calls != NULL;
}


pf_status pf_graph_finish (pf_graph *graph) {
  index x = {.graph = graph, .ordered = PF_ENOMEM};
  if (open_index(&x)) {
    if (graph->narcs >= MANY) {
      pf_both(touch_first, &x, touch_second, &x);
      pf_both(list_children, &x, look_at_callees, &x);
    }
    else {
      list_children(&x);
      look_at_callees(&x);
    }
  }
  if (x.ordered == PF_OK) {
    list_parents(&x);
    keep_order(&x);
  }
  pf_arc_order_close(&x.order);
  return x.ordered;
}
