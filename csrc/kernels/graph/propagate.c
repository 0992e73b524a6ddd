/*
** propagate.c - propagate flags and fractions from callers to callees, then
** time from callees to callers, each in one scan over functions and arcs.
*/

#include "kernels/graph/propagate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/memory.h"

#define NS_PER_SECOND 1e9


/* Allocate all nodes, and set those of functions. */
static pf_status open_nodes (pf_flow *flow) {
  const pf_graph *const graph = flow->graph;
  const size_t n = graph->nfunctions, ncycles = flow->cycles.count;
  flow->nnodes = n + ncycles;
  flow->nodes = pf_array(flow->nnodes, sizeof *flow->nodes);
  if (ncycles > 0)
    flow->inner = pf_array_of_zeros(ncycles, sizeof *flow->inner);
  if (flow->nodes == NULL || (ncycles > 0 && flow->inner == NULL))
    return PF_ENOMEM;
  flow->total = graph->facts.compat ? graph->facts.ticks
                                    : (double)graph->totals[flow->metric];
  for (size_t i = 0; i < n; i++) {
    const bool counts = pf_flow_in_flat(flow, i);
    const double self = pf_flow_weight(flow, i);
    if (!counts)
      flow->total -= self;
    flow->nodes[i] =
        (pf_node){counts ? self : 0, 0, graph->calls[i], 0, graph->names[i]};
  }
  return PF_OK;
}


static double per_second (const pf_flow *flow) {
  const pf_graph *graph = flow->graph;
  if (graph->facts.compat)
    return graph->facts.rate;
  const pf_metric *metric = &graph->metrics[flow->metric];
  if (metric->rate > 0)
    return metric->rate;
  return strcmp(metric->unit, "ns") == 0 ? NS_PER_SECOND : 1;
}


/* Set the node of cycle i: its calls are those of its members by functions
   outside; the others are inner calls. */
static void add_cycle (pf_flow *flow, size_t i) {
  const pf_cycles *const cycles = &flow->cycles;
  const pf_graph *const graph = flow->graph;
  const uint32_t head = cycles->heads[i];
  pf_node *const node = &flow->nodes[graph->nfunctions + i];
  *node = (pf_node){0, 0, 0, 0, PF_NO_NAME};
  for (uint32_t f = head; f != PF_NO_FUNCTION; f = cycles->next[f])
    flow->nodes[f].name = PF_NO_NAME;
  for (uint32_t f = head; f != PF_NO_FUNCTION; f = cycles->next[f]) {
    node->calls = pf_add(node->calls, graph->calls[f]);
    for (uint32_t at = graph->child_first[f]; at < graph->child_first[f + 1];
         at++) {
      const pf_arc *const arc = &graph->arcs[at];
      if (arc->callee != f && pf_flow_is_inner(flow, arc))
        flow->inner[i] = pf_add(flow->inner[i], arc->count);
    }
  }
  node->calls -= flow->inner[i];
}


/* Add to `node` the flags and fractions of the callers of `function` that are
   outside the node, in proportion to their calls. */
static void inherit_from_callers (pf_flow *flow, size_t function, size_t node) {
  const pf_graph *graph = flow->graph;
  const double calls = (double)flow->nodes[node].calls;
  for (uint32_t i = graph->parent_first[function];
       i < graph->parent_first[function + 1]; i++) {
    const pf_arc *const arc = &graph->arcs[graph->parents[i]];
    const bool is_outside = arc->caller == PF_NO_FUNCTION;
    if (!is_outside && pf_flow_node(flow, arc->caller) == node)
      continue;
    if (!is_outside)
      flow->printed[node] |= flow->printed[arc->caller];
    if (calls != 0)
      flow->fractions[node] +=
          (is_outside ? 1.0 : flow->fractions[arc->caller]) *
          ((double)arc->count / calls);
  }
}


static void inherit (pf_flow *flow, size_t node) {
  const pf_cycles *cycles = &flow->cycles;
  const size_t n = flow->graph->nfunctions;
  flow->printed[node] = false;
  flow->fractions[node] = 0;
  if (node < n) {
    inherit_from_callers(flow, node, node);
    return;
  }
  const uint32_t head = cycles->heads[node - n];
  for (uint32_t f = head; f != PF_NO_FUNCTION; f = cycles->next[f])
    inherit_from_callers(flow, f, node);
  for (uint32_t f = head; f != PF_NO_FUNCTION; f = cycles->next[f]) {
    flow->printed[f] = flow->printed[node];
    flow->fractions[f] = flow->fractions[node];
  }
}


/* Evaluate a pair of filter bits, `in` and `out`, for a function. */
static bool is_wanted (const pf_flow *flow, size_t function, bool inherited,
                       uint8_t in, uint8_t out) {
  const uint8_t bits = flow->filter == NULL ? 0 : flow->filter[function];
  if ((bits & in) != 0)
    return true;
  if ((bits & out) != 0)
    return false;
  return inherited || (flow->filter_all & in) == 0;
}


static void propagate_down (pf_flow *flow) {
  size_t last = SIZE_MAX;
  flow->total_shown = 0;
  for (size_t i = flow->graph->nfunctions; i-- > 0;) {
    const size_t function = flow->cycles.order[i];
    const size_t node = pf_flow_node(flow, function);
    if (node != last)
      inherit(flow, node);
    last = node;
    double *const fraction = &flow->fractions[function];
    bool *const printed = &flow->printed[function];
    *printed = is_wanted(flow, function, *printed, PF_GRAPH_IN, PF_GRAPH_OUT);
    if (!is_wanted(flow, function, *fraction != 0, PF_TIME_IN, PF_TIME_OUT))
      *fraction = 0;
    else if (*fraction == 0)
      *fraction = 1;
    flow->total_shown += pf_flow_shown_self(flow, function);
  }
  /* Give cycles the flags of their members. gprof gives no entry to a cycle
     that no function outside calls; exact profiles do. */
  const pf_cycles *const cycles = &flow->cycles;
  const size_t n = flow->graph->nfunctions;
  for (size_t i = 0; !flow->graph->facts.compat && i < cycles->count; i++)
    for (uint32_t f = cycles->heads[i]; f != PF_NO_FUNCTION;
         f = cycles->next[f]) {
      flow->printed[n + i] |= flow->printed[f];
      if (flow->fractions[n + i] == 0)
        flow->fractions[n + i] = flow->fractions[f];
    }
  for (size_t i = 0; i < flow->nnodes; i++)
    if (!flow->printed[i])
      flow->nodes[i].name = PF_NO_NAME;
}


/* Add time propagated to a function, whose fraction is given, to a node. */
static void add_child (pf_flow *flow, size_t node, double sum,
                       double fraction) {
  flow->nodes[node].child += sum;
  if (flow->shown_child != NULL)
    flow->shown_child[node] += fraction * sum;
}


static void propagate_up (pf_flow *flow) {
  const pf_graph *const graph = flow->graph;
  const pf_cycles *const cycles = &flow->cycles;
  for (size_t i = 0; i < cycles->count; i++)
    for (uint32_t f = cycles->heads[i]; f != PF_NO_FUNCTION;
         f = cycles->next[f])
      if (pf_flow_fraction(flow, f) != 0)
        flow->nodes[flow->graph->nfunctions + i].self += flow->nodes[f].self;
  for (size_t i = 0; i < flow->graph->nfunctions; i++) {
    const uint32_t function = flow->cycles.order[i];
    const pf_node *const node = &flow->nodes[function];
    /* Add to a function, and to its cycle, the time that its callees
       propagate. */
    const double fraction = pf_flow_fraction(flow, function);
    const uint32_t *const first = &graph->child_first[function];
    for (uint32_t at = first[0]; fraction != 0 && at < first[1]; at++) {
      const pf_share share = pf_flow_whole_share(flow, &graph->arcs[at]);
      const size_t outer = pf_flow_node(flow, function);
      add_child(flow, function, share.self + share.child, fraction);
      if (outer != function)
        add_child(flow, outer, share.self + share.child, fraction);
    }
    if (node->calls != 0)
      flow->max_per_call = fmax(flow->max_per_call, (node->self + node->child) /
                                                        (double)node->calls);
  }
}


pf_status pf_flow_open (pf_flow *flow, pf_graph *graph, size_t metric,
                        const uint8_t *filter) {
  *flow = (pf_flow){.graph = graph, .filter = filter, .metric = metric};
  flow->per_second = per_second(flow);
  for (size_t i = 0; filter != NULL && i < graph->nfunctions; i++)
    flow->filter_all |= filter[i];
  /* Without a filter all fractions are 1, except in compat graphs: gprof's
     fractions are sums that may differ from 1 in their last bits, which its
     digits show, as do the bits of sums in the order of the search. */
  const bool has_fractions = filter != NULL || graph->facts.compat;
  if (pf_cycles_find(&flow->cycles, graph, !has_fractions) != PF_OK ||
      open_nodes(flow) != PF_OK)
    return PF_ENOMEM;
  for (size_t i = 0; i < flow->cycles.count; i++)
    add_cycle(flow, i);
  flow->total_shown = flow->total;
  if (has_fractions) {
    const size_t n = flow->nnodes + 1;
    flow->fractions = pf_array_of_zeros(n, sizeof(double));
    flow->shown_child = pf_array_of_zeros(n, sizeof(double));
    flow->printed = pf_array(n, sizeof *flow->printed);
    if (flow->fractions == NULL || flow->shown_child == NULL ||
        flow->printed == NULL || pf_graph_parents(graph) != PF_OK)
      return PF_ENOMEM;
    propagate_down(flow);
  }
  propagate_up(flow);
  free(flow->cycles.order); /* needed no more */
  flow->cycles.order = NULL;
  return PF_OK;
}


void pf_flow_close (pf_flow *flow) {
  pf_cycles_close(&flow->cycles);
  free(flow->inner);
  free(flow->nodes);
  free(flow->printed);
  free(flow->fractions);
  free(flow->shown_child);
  free(flow->entries);
  memset(flow, 0, sizeof *flow);
}
