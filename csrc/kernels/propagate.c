/*
** propagate.c - flags and fractions from callers down to callees, then time
** from callees up to callers, each in one pass over functions and arcs.
*/

#include "kernels/propagate.h"

#include <stdlib.h>
#include <string.h>

#define NS_PER_SECOND 1e9


static bool open_arrays (pf_flow *flow) {
  const size_t n = flow->nodes + 1, m = flow->graph->narcs + 1;
  flow->self = calloc(n, sizeof(double));
  flow->child = calloc(n, sizeof(double));
  flow->fraction = calloc(n, sizeof(double));
  flow->shown_self = calloc(n, sizeof(double));
  flow->shown_child = calloc(n, sizeof(double));
  flow->printed = calloc(n, sizeof(bool));
  flow->arc_self = calloc(m, sizeof(double));
  flow->arc_child = calloc(m, sizeof(double));
  return flow->self != NULL && flow->child != NULL && flow->fraction != NULL &&
         flow->shown_self != NULL && flow->shown_child != NULL &&
         flow->printed != NULL && flow->arc_self != NULL &&
         flow->arc_child != NULL;
}


/* The weights of the metric as numbers that can be parted. */
static void load_self (pf_flow *flow) {
  const pf_graph *graph = flow->graph;
  flow->total = graph->facts.ticks;
  for (size_t i = 0; i < graph->nfunctions; i++) {
    const double weight = graph->facts.compat
                              ? graph->ticks[i]
                              : (double)graph->weights[flow->metric][i];
    if (!graph->facts.compat)
      flow->total += weight;
    if (pf_flow_in_flat(flow, i))
      flow->self[i] = weight;
    else
      flow->total -= weight;
  }
}


static double per_second (const pf_flow *flow) {
  const pf_graph *graph = flow->graph;
  if (graph->facts.compat)
    return graph->facts.rate;
  return strcmp(graph->metrics[flow->metric].unit, "ns") == 0 ? NS_PER_SECOND
                                                              : 1;
}


/* {====== Down: entries and fractions ====== */

/* Take over the flag and the share of the fraction from the callers of
   `function` that are outside of its node. */
static void inherit_from_callers (pf_flow *flow, size_t function, size_t node) {
  const pf_graph *graph = flow->graph;
  const int64_t calls = pf_flow_calls(flow, node);
  for (uint32_t i = graph->parent_first[function];
       i < graph->parent_first[function + 1]; i++) {
    const uint32_t arc = graph->parents[i], caller = graph->callers[arc];
    const bool is_outside = caller == PF_NO_FUNCTION;
    if (!is_outside && pf_flow_head(flow, caller) == node)
      continue;
    if (!is_outside)
      flow->printed[node] |= flow->printed[caller];
    if (calls != 0)
      flow->fraction[node] += (is_outside ? 1.0 : flow->fraction[caller]) *
                              ((double)graph->counts[arc] / (double)calls);
  }
}


static void inherit (pf_flow *flow, size_t node) {
  const pf_cycles *cycles = &flow->cycles;
  const size_t n = flow->graph->nfunctions;
  flow->printed[node] = false;
  flow->fraction[node] = 0;
  if (node < n) {
    inherit_from_callers(flow, node, node);
    return;
  }
  const uint32_t head = cycles->heads[node - n];
  for (uint32_t f = head; f != PF_NO_FUNCTION; f = cycles->next[f])
    inherit_from_callers(flow, f, node);
  for (uint32_t f = head; f != PF_NO_FUNCTION; f = cycles->next[f]) {
    flow->printed[f] = flow->printed[node];
    flow->fraction[f] = flow->fraction[node];
  }
}


/* What the filter says of a function: `in` and `out` are two of its bits. */
static bool is_wanted (const pf_flow *flow, size_t function, bool inherited,
                       uint8_t in, uint8_t out) {
  const uint8_t bits = flow->filter == NULL ? 0 : flow->filter[function];
  if ((bits & in) != 0)
    return true;
  if ((bits & out) != 0)
    return false;
  return inherited || (flow->filter_all & in) == 0;
}


static void send_down (pf_flow *flow) {
  size_t last = SIZE_MAX;
  for (size_t i = flow->graph->nfunctions; i-- > 0;) {
    const size_t function = flow->cycles.order[i];
    const size_t node = pf_flow_head(flow, function);
    if (node != last)
      inherit(flow, node);
    last = node;
    double *fraction = &flow->fraction[function];
    flow->printed[function] = is_wanted(flow, function, flow->printed[function],
                                        PF_GRAPH_IN, PF_GRAPH_OUT);
    if (!is_wanted(flow, function, *fraction != 0, PF_TIME_IN, PF_TIME_OUT))
      *fraction = 0;
    else if (*fraction == 0)
      *fraction = 1;
    flow->shown_self[function] = flow->self[function] * *fraction;
    flow->total_shown += flow->shown_self[function];
  }
}


/* gprof gives no entry to a cycle that nobody outside calls; we do. */
static void adopt_cycles (pf_flow *flow) {
  const pf_cycles *cycles = &flow->cycles;
  const size_t n = flow->graph->nfunctions;
  for (size_t i = 0; i < cycles->count; i++)
    for (uint32_t f = cycles->heads[i]; f != PF_NO_FUNCTION;
         f = cycles->next[f]) {
      flow->printed[n + i] |= flow->printed[f];
      if (flow->fraction[n + i] == 0)
        flow->fraction[n + i] = flow->fraction[f];
    }
}

/* }====== */


/* {====== Up: time ====== */

static void add_up_cycles (pf_flow *flow) {
  const pf_cycles *cycles = &flow->cycles;
  const size_t n = flow->graph->nfunctions;
  for (size_t i = 0; i < cycles->count; i++) {
    for (uint32_t f = cycles->heads[i]; f != PF_NO_FUNCTION;
         f = cycles->next[f])
      if (flow->fraction[f] != 0)
        flow->self[n + i] += flow->self[f];
    flow->shown_self[n + i] = flow->fraction[n + i] * flow->self[n + i];
  }
}


/* What a callee's node hands along an arc to a caller with a fraction. */
static double hand_along (pf_flow *flow, size_t arc, double fraction) {
  const size_t node = pf_flow_head(flow, flow->graph->callees[arc]);
  const double share =
      (double)flow->graph->counts[arc] / (double)pf_flow_calls(flow, node);
  flow->arc_self[arc] = flow->self[node] * share;
  flow->arc_child[arc] = flow->child[node] * share;
  const double sum = flow->arc_self[arc] + flow->arc_child[arc];
  flow->arc_self[arc] *= fraction;
  flow->arc_child[arc] *= fraction;
  return sum;
}


/* Whether time goes along an arc at all. */
static bool carries_time (const pf_flow *flow, size_t arc) {
  const uint32_t callee = flow->graph->callees[arc];
  return flow->graph->counts[arc] != 0 && !pf_flow_is_inner(flow, arc) &&
         flow->fraction[callee] != 0 &&
         pf_flow_calls(flow, pf_flow_head(flow, callee)) != 0;
}


static void gather (pf_flow *flow, size_t caller) {
  const pf_graph *graph = flow->graph;
  const double fraction = flow->fraction[caller];
  const size_t node = pf_flow_head(flow, caller);
  if (fraction == 0)
    return;
  for (uint32_t i = graph->child_first[caller];
       i < graph->child_first[caller + 1]; i++) {
    const uint32_t arc = graph->children[i];
    if (!carries_time(flow, arc))
      continue;
    const double sum = hand_along(flow, arc, fraction);
    flow->child[caller] += sum;
    flow->shown_child[caller] += fraction * sum;
    if (node != caller) {
      flow->child[node] += sum;
      flow->shown_child[node] += fraction * sum;
    }
  }
}


static void send_up (pf_flow *flow) {
  const pf_graph *graph = flow->graph;
  add_up_cycles(flow);
  for (size_t i = 0; i < graph->nfunctions; i++)
    gather(flow, flow->cycles.order[i]);
  for (size_t arc = 0; arc < graph->narcs; arc++)
    if (graph->callers[arc] == PF_NO_FUNCTION && carries_time(flow, arc))
      hand_along(flow, arc, 1.0);
}

/* }====== */


pf_status pf_flow_open (pf_flow *flow, const pf_graph *graph, size_t metric,
                        const uint8_t *filter) {
  memset(flow, 0, sizeof *flow);
  flow->graph = graph;
  flow->filter = filter;
  flow->metric = metric;
  flow->per_second = per_second(flow);
  for (size_t i = 0; filter != NULL && i < graph->nfunctions; i++)
    flow->filter_all |= filter[i];
  if (pf_cycles_find(&flow->cycles, graph) != PF_OK)
    return PF_ENOMEM;
  flow->nodes = graph->nfunctions + flow->cycles.count;
  if (!open_arrays(flow))
    return PF_ENOMEM;
  load_self(flow);
  send_down(flow);
  if (!graph->facts.compat)
    adopt_cycles(flow);
  send_up(flow);
  return PF_OK;
}


void pf_flow_close (pf_flow *flow) {
  pf_cycles_close(&flow->cycles);
  free(flow->self);
  free(flow->child);
  free(flow->fraction);
  free(flow->shown_self);
  free(flow->shown_child);
  free(flow->printed);
  free(flow->arc_self);
  free(flow->arc_child);
  memset(flow, 0, sizeof *flow);
}
