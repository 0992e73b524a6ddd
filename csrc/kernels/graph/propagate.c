/*
** propagate.c - propagate flags and fractions from callers to callees, then
** time from callees to callers, each in one scan over functions and arcs. If
** neither flags nor fractions are needed, time is propagated during the search
** for cycles.
*/

#include "kernels/graph/propagate.h"

#include <stdlib.h>
#include <string.h>

#include "model/base/memory.h"

#define NS_PER_SECOND 1e9


/* Whether all fractions are 1. Compat graphs always need them: gprof's
   fractions are sums that may differ from 1 in their last bits, which its
   digits show. */
static bool needs_no_fractions (const pf_flow *flow) {
  return flow->filter == NULL && !flow->graph->facts.compat;
}


/* {====== Nodes ====== */

/* The sum of the weights of all functions in the flat profile. */
static double total_of (const pf_flow *flow) {
  const pf_graph *const graph = flow->graph;
  double total = graph->facts.compat ? graph->facts.ticks
                                     : (double)graph->totals[flow->metric];
  for (size_t i = 0; flow->filter != NULL && i < graph->nfunctions; i++)
    if (!pf_flow_in_flat(flow, i))
      total -= pf_flow_weight(flow, i);
  return total;
}


/* Allocate all nodes, and set those of functions. A cycle has at least two
   functions, so there are at most n / 2 cycles. False when out of memory. */
static bool open_nodes (pf_flow *flow) {
  const size_t n = flow->graph->nfunctions;
  flow->nodes = pf_array(n + n / 2 + 1, sizeof *flow->nodes);
  flow->cycle_of = pf_array_of_zeros(n, sizeof *flow->cycle_of);
  flow->inner = pf_array_of_zeros(n / 2, sizeof *flow->inner);
  if (flow->nodes == NULL || flow->cycle_of == NULL || flow->inner == NULL)
    return false;
  const pf_graph *const graph = flow->graph;
  for (size_t i = 0; i < graph->nfunctions; i++) {
    const double self = pf_flow_in_flat(flow, i) ? pf_flow_weight(flow, i) : 0;
    flow->nodes[i] = (pf_node){self, 0, graph->calls[i], 0, graph->names[i]};
  }
  flow->total = total_of(flow);
  return true;
}


/* Add the calls of a member by other functions to cycle i, and the member's
   calls of other members to the inner calls. */
static void count_calls (pf_flow *flow, size_t i, uint32_t member) {
  const pf_graph *graph = flow->graph;
  pf_node *const node = &flow->nodes[graph->nfunctions + i];
  node->calls = pf_add(node->calls, graph->calls[member]);
  for (uint32_t at = graph->child_first[member];
       at < graph->child_first[member + 1]; at++) {
    const pf_arc *const arc = &graph->arcs[at];
    if (arc->callee != member && pf_flow_is_inner(flow, arc))
      flow->inner[i] = pf_add(flow->inner[i], arc->count);
  }
}


/* Set the node of cycle i. */
static void add_cycle (pf_flow *flow, size_t i) {
  const pf_cycles *const cycles = &flow->cycles;
  const uint32_t head = cycles->heads[i];
  pf_node *const node = &flow->nodes[flow->graph->nfunctions + i];
  *node = (pf_node){0, 0, 0, 0, PF_NO_NAME};
  for (uint32_t f = head; f != PF_NO_FUNCTION; f = cycles->next[f]) {
    flow->cycle_of[f] = (uint32_t)i + 1;
    flow->nodes[f].name = PF_NO_NAME;
  }
  for (uint32_t f = head; f != PF_NO_FUNCTION; f = cycles->next[f])
    count_calls(flow, i, f);
  node->calls -= flow->inner[i];
}

/* }====== */


static double per_second (const pf_flow *flow) {
  const pf_graph *graph = flow->graph;
  if (graph->facts.compat)
    return graph->facts.rate;
  const pf_metric *metric = &graph->metrics[flow->metric];
  if (metric->rate > 0)
    return metric->rate;
  return strcmp(metric->unit, "ns") == 0 ? NS_PER_SECOND : 1;
}


/* {====== Callers to callees: entries and fractions ====== */

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


/* Apply the filter to a function that has inherited from its callers. */
static void apply_filter (pf_flow *flow, size_t function) {
  double *const fraction = &flow->fractions[function];
  bool *const printed = &flow->printed[function];
  *printed = is_wanted(flow, function, *printed, PF_GRAPH_IN, PF_GRAPH_OUT);
  if (!is_wanted(flow, function, *fraction != 0, PF_TIME_IN, PF_TIME_OUT))
    *fraction = 0;
  else if (*fraction == 0)
    *fraction = 1;
}


/* Give cycles the flags of their members. gprof gives no entry to a cycle that
   no function outside calls; exact profiles do. */
static void inherit_from_members (pf_flow *flow) {
  const pf_cycles *cycles = &flow->cycles;
  const size_t n = flow->graph->nfunctions;
  for (size_t i = 0; i < cycles->count; i++)
    for (uint32_t f = cycles->heads[i]; f != PF_NO_FUNCTION;
         f = cycles->next[f]) {
      flow->printed[n + i] |= flow->printed[f];
      if (flow->fractions[n + i] == 0)
        flow->fractions[n + i] = flow->fractions[f];
    }
}


static bool open_fractions (pf_flow *flow) {
  const size_t n = flow->nnodes + 1;
  flow->fractions = pf_array_of_zeros(n, sizeof(double));
  flow->shown_child = pf_array_of_zeros(n, sizeof(double));
  flow->printed = pf_array(n, sizeof *flow->printed);
  return flow->fractions != NULL && flow->shown_child != NULL &&
         flow->printed != NULL;
}


static void propagate_down (pf_flow *flow) {
  size_t last = SIZE_MAX;
  for (size_t i = flow->graph->nfunctions; i-- > 0;) {
    const size_t function = flow->cycles.order[i];
    const size_t node = pf_flow_node(flow, function);
    if (node != last)
      inherit(flow, node);
    last = node;
    apply_filter(flow, function);
    flow->total_shown += pf_flow_shown_self(flow, function);
  }
  if (!flow->graph->facts.compat)
    inherit_from_members(flow);
  for (size_t i = 0; i < flow->nnodes; i++)
    if (!flow->printed[i])
      flow->nodes[i].name = PF_NO_NAME;
}

/* }====== */


/* {====== Callees to callers: time ====== */

static void sum_cycle (pf_flow *flow, size_t i) {
  const pf_cycles *const cycles = &flow->cycles;
  pf_node *const node = &flow->nodes[flow->graph->nfunctions + i];
  for (uint32_t f = cycles->heads[i]; f != PF_NO_FUNCTION; f = cycles->next[f])
    if (pf_flow_fraction(flow, f) != 0)
      node->self += flow->nodes[f].self;
}


/* Add time propagated to a function, whose fraction is given, to a node. */
static void add_child (pf_flow *flow, size_t node, double sum,
                       double fraction) {
  flow->nodes[node].child += sum;
  if (flow->shown_child != NULL)
    flow->shown_child[node] += fraction * sum;
}


/* Add to a function, and to its cycle, the time that its callees propagate. */
static void add_callees (pf_flow *flow, size_t caller) {
  const pf_graph *graph = flow->graph;
  const double fraction = pf_flow_fraction(flow, caller);
  const uint32_t end = graph->child_first[caller + 1];
  if (fraction == 0)
    return;
  for (uint32_t i = graph->child_first[caller]; i < end; i++) {
    const pf_share share = pf_flow_whole_share(flow, &graph->arcs[i]);
    const size_t node = pf_flow_node(flow, caller);
    add_child(flow, caller, share.self + share.child, fraction);
    if (node != caller)
      add_child(flow, node, share.self + share.child, fraction);
  }
}


/* Update the maximum time per call by a function whose child time is known. */
static void update_max_per_call (pf_flow *flow, size_t function) {
  const pf_node *const node = &flow->nodes[function];
  if (node->calls == 0)
    return;
  const double each = (node->self + node->child) / (double)node->calls;
  if (each > flow->max_per_call)
    flow->max_per_call = each;
}


static void propagate_up (pf_flow *flow) {
  for (size_t i = 0; i < flow->cycles.count; i++)
    sum_cycle(flow, i);
  for (size_t i = 0; i < flow->graph->nfunctions; i++) {
    add_callees(flow, flow->cycles.order[i]);
    update_max_per_call(flow, flow->cycles.order[i]);
  }
}

/* }====== */


/* {====== Callees to callers, during the search for cycles ====== */

static void visit (void *context, const uint32_t *functions, size_t count) {
  pf_flow *const flow = context;
  if (count > 1) {
    add_cycle(flow, flow->cycles.count - 1);
    sum_cycle(flow, flow->cycles.count - 1);
  }
  for (size_t i = 0; i < count; i++) {
    add_callees(flow, functions[i]);
    update_max_per_call(flow, functions[i]);
  }
}


/* Renumber the cycles in the order of their heads. */
static bool renumber (pf_flow *flow) {
  pf_cycles *const cycles = &flow->cycles;
  pf_node *const nodes = flow->nodes + flow->graph->nfunctions;
  const size_t count = cycles->count;
  pf_node *const new_nodes = pf_array(count, sizeof *new_nodes);
  int64_t *const new_inner = pf_array(count, sizeof *new_inner);
  const bool has_memory = new_nodes != NULL && new_inner != NULL;
  pf_cycles_number(cycles);
  for (size_t i = 0; has_memory && i < count; i++) {
    const uint32_t old = flow->cycle_of[cycles->heads[i]] - 1;
    new_nodes[i] = nodes[old];
    new_inner[i] = flow->inner[old];
    for (uint32_t f = cycles->heads[i]; f != PF_NO_FUNCTION;
         f = cycles->next[f])
      flow->cycle_of[f] = (uint32_t)i + 1;
  }
  if (has_memory && count > 0) {
    memcpy(nodes, new_nodes, count * sizeof *nodes);
    memcpy(flow->inner, new_inner, count * sizeof *new_inner);
  }
  free(new_nodes);
  free(new_inner);
  return has_memory;
}


/* Find the cycles and propagate time in the same traversal, since the visitor
   gets callees before their callers. */
static pf_status propagate_without_fractions (pf_flow *flow) {
  const pf_visitor visitor = {visit, flow};
  if (pf_cycles_find(&flow->cycles, flow->graph, &visitor) != PF_OK)
    return PF_ENOMEM;
  flow->nnodes = flow->graph->nfunctions + flow->cycles.count;
  flow->total_shown = flow->total;
  return renumber(flow) ? PF_OK : PF_ENOMEM;
}

/* }====== */


void pf_flow_begin (pf_flow *flow, pf_graph *graph, size_t metric,
                    const uint8_t *filter) {
  memset(flow, 0, sizeof *flow);
  flow->graph = graph;
  flow->filter = filter;
  flow->metric = metric;
  flow->per_second = per_second(flow);
  for (size_t i = 0; filter != NULL && i < graph->nfunctions; i++)
    flow->filter_all |= filter[i];
}


/* Find the cycles, then propagate fractions to callees, then time to callers,
   which depends on the fractions. */
static pf_status propagate_with_fractions (pf_flow *flow) {
  if (pf_cycles_find(&flow->cycles, flow->graph, NULL) != PF_OK)
    return PF_ENOMEM;
  flow->nnodes = flow->graph->nfunctions + flow->cycles.count;
  for (size_t i = 0; i < flow->cycles.count; i++)
    add_cycle(flow, i);
  if (!open_fractions(flow) || pf_graph_parents(flow->graph) != PF_OK)
    return PF_ENOMEM;
  propagate_down(flow);
  propagate_up(flow);
  return PF_OK;
}


pf_status pf_flow_propagate (pf_flow *flow) {
  if (!open_nodes(flow))
    return PF_ENOMEM;
  const pf_status status = needs_no_fractions(flow)
                               ? propagate_without_fractions(flow)
                               : propagate_with_fractions(flow);
  if (status != PF_OK)
    return status;
  if (flow->cycles.count == 0) {
    free(flow->cycle_of);
    flow->cycle_of = NULL;
  }
  return PF_OK;
}


pf_status pf_flow_open (pf_flow *flow, pf_graph *graph, size_t metric,
                        const uint8_t *filter) {
  pf_flow_begin(flow, graph, metric, filter);
  return pf_flow_propagate(flow);
}


void pf_flow_close (pf_flow *flow) {
  pf_cycles_close(&flow->cycles);
  free(flow->cycle_of);
  free(flow->inner);
  free(flow->nodes);
  free(flow->printed);
  free(flow->fractions);
  free(flow->shown_child);
  free(flow->flat);
  free(flow->entries);
  free(flow->names);
  memset(flow, 0, sizeof *flow);
}
