/*
** caller_index.c - finishes a call graph: arcs by caller and by callee, as
** compressed sparse rows.
**
** The arcs are sorted by caller, so that a traversal of callees reads memory in
** order. The index by callee is built on demand.
**
** pf_graph_finish is called by kernels/graph/assemble.c and transform_graph.c,
** pf_graph_parents also by kernels/graph/propagate.c and
** kernels/listing/rank.c. The arrays belong to the graph, and pf_graph_close
** frees them.
*/

#include <stdlib.h>
#include <string.h>

#include "model/graph/arcs.h"
#include "model/base/switches.h"
#include "model/base/memory.h"

#define AHEAD 16 /* arcs that are prefetched */


/* Sum the calls of each function, with those by itself apart, and mark callees
   as used. */
static void add_up_calls (pf_graph *graph) {
  int64_t *const calls = graph->calls;
  bool is_recursive = false;
  memset(calls, 0, graph->nfunctions * sizeof *calls);
  for (size_t i = 0; i < graph->narcs; i++) {
    const pf_arc *const arc = &graph->arcs[i];
    if (PF_FAST(MISSES) && i + AHEAD < graph->narcs)
      __builtin_prefetch(&calls[arc[AHEAD].callee], 1);
    calls[arc->callee] = pf_add(calls[arc->callee], arc->count);
    graph->flags[arc->callee] |= PF_FUNCTION_USED;
    if (arc->caller == arc->callee) {
      int64_t *const sum = &graph->self_calls[arc->callee];
      *sum = pf_add(*sum, arc->count);
      is_recursive = true;
    }
  }
  for (size_t i = 0; is_recursive && i < graph->nfunctions; i++)
    calls[i] -= graph->self_calls[i];
}


/* Sorts the arcs by caller. */
static pf_status sort_arcs (pf_graph *graph) {
  pf_arc_order order;
  pf_status status = PF_ENOMEM;
  if (pf_arc_order_open(&order, graph) &&
      (status = pf_arc_order_make(&order, graph)) == PF_OK) {
    free(graph->arcs);
    graph->input_numbers = order.numbers;
    graph->ninputs = graph->narcs;
    graph->arcs = order.arcs;
    graph->narcs = graph->arcs_capacity = order.count;
    graph->child_first = order.first;
    order = (pf_arc_order){0};
  }
  pf_arc_order_close(&order);
  return status;
}


/* Sets the arcs of each callee in reverse input order: the newest first. */
static pf_status list_parents (pf_graph *graph, uint32_t *parents) {
  uint32_t *const first = graph->parent_first;
  uint32_t *const positions =
      pf_arc_positions(graph->input_numbers, graph->narcs, graph->ninputs);
  if (positions == NULL)
    return PF_ENOMEM;
  memset(first, 0, pf_arc_index_size(graph) * sizeof *first);
  for (size_t i = 0; i < graph->narcs; i++)
    first[graph->arcs[i].callee + 2]++;
  pf_arc_sum_counts(first, pf_arc_index_size(graph));
  for (size_t i = graph->ninputs; i-- > 0;) {
    if (PF_FAST(MISSES) && i >= AHEAD && positions[i - AHEAD] != PF_NO_ARC)
      __builtin_prefetch(&graph->arcs[positions[i - AHEAD]]);
    if (positions[i] != PF_NO_ARC)
      parents[first[graph->arcs[positions[i]].callee + 1]++] = positions[i];
  }
  free(positions);
  return PF_OK;
}


pf_status pf_graph_parents (pf_graph *graph) {
  if (graph->parents != NULL)
    return PF_OK;
  free(graph->parent_first); /* of a call that ran out of memory */
  graph->parent_first = pf_array(pf_arc_index_size(graph), sizeof(uint32_t));
  uint32_t *const parents = pf_array(graph->narcs, sizeof *parents);
  if (graph->parent_first == NULL || parents == NULL ||
      list_parents(graph, parents) != PF_OK) {
    free(parents);
    return PF_ENOMEM;
  }
  graph->parents = parents;
  free(graph->input_numbers);
  graph->input_numbers = NULL;
  graph->ninputs = 0;
  return PF_OK;
}


pf_status pf_graph_finish (pf_graph *graph) {
  graph->calls = pf_array(graph->nfunctions, sizeof *graph->calls);
  graph->self_calls =
      pf_array_of_zeros(graph->nfunctions, sizeof *graph->self_calls);
  if (graph->calls == NULL || graph->self_calls == NULL)
    return PF_ENOMEM;
  const pf_status status = sort_arcs(graph);
  if (status != PF_OK)
    return status;
  add_up_calls(graph);
  for (size_t m = 0; m < graph->nmetrics; m++) {
    const int64_t *const weights = graph->weights[m];
    graph->totals[m] = 0;
    for (size_t i = 0; i < graph->nfunctions; i++) {
      graph->totals[m] = pf_add(graph->totals[m], weights[i]);
      if (weights[i] != 0)
        graph->flags[i] |= PF_FUNCTION_USED;
    }
  }
  for (size_t i = 0; graph->ticks != NULL && i < graph->nfunctions; i++)
    if (graph->ticks[i] != 0)
      graph->flags[i] |= PF_FUNCTION_USED;
  const uint32_t *const first = graph->child_first;
  graph->nused = 0;
  for (size_t i = 0; i < graph->nfunctions; i++) {
    if (first[i] != first[i + 1])
      graph->flags[i] |= PF_FUNCTION_USED;
    graph->nused += (graph->flags[i] & PF_FUNCTION_USED) != 0;
  }
  pf_id_table_free(&graph->pseudo);
  pf_id_table_init(&graph->pseudo);
  return PF_OK;
}
