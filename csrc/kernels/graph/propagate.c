/*
** propagate.c - flags and fractions from callers down to callees, then time
** from callees up to callers, each in one pass over functions and arcs.
*/

#include "kernels/graph/propagate.h"

#include <stdlib.h>
#include <string.h>

#include "model/memory.h"
#include "model/parallel.h"

#define NS_PER_SECOND 1e9
#define FETCH_FROM    8     /* functions ahead */
#define MANY          16384 /* functions that are worth a thread */


/* Whether all of every node may be seen, without asking. gprof's fractions
   are sums that may miss 1 by their last bits, which its digits show. */
static bool is_open (const pf_flow *flow) {
  return flow->filter == NULL && !flow->graph->facts.compat;
}


static bool open_arrays (pf_flow *flow) {
  const size_t n = flow->nnodes + 1;
  const size_t ncycles = flow->cycles.count;
  flow->inner = pf_array_of_zeros(ncycles, sizeof *flow->inner);
  if (ncycles > 0)
    flow->cycle_of = pf_array_of_zeros(n, sizeof *flow->cycle_of);
  if (flow->inner == NULL || (ncycles > 0 && flow->cycle_of == NULL))
    return false;
  if (is_open(flow))
    return true;
  flow->fractions = pf_array_of_zeros(n, sizeof(double));
  flow->shown_child = pf_array_of_zeros(n, sizeof(double));
  flow->printed = pf_array(n, sizeof *flow->printed);
  return flow->fractions != NULL && flow->shown_child != NULL &&
         flow->printed != NULL;
}


/* {====== Nodes ====== */

/* The weights of the metric as numbers that can be parted. */
static void make_functions (pf_flow *flow) {
  const pf_graph *graph = flow->graph;
  flow->total = graph->facts.ticks;
  for (size_t i = 0; i < graph->nfunctions; i++) {
    const double weight = pf_flow_weight(flow, i);
    const bool counts = pf_flow_in_flat(flow, i);
    if (!graph->facts.compat)
      flow->total += weight;
    if (!counts)
      flow->total -= weight;
    flow->nodes[i] =
        (pf_node){counts ? weight : 0, 0, graph->calls[i], 0, graph->names[i]};
  }
}


/* Mark the members of the cycles. */
static void make_cycles (pf_flow *flow) {
  const pf_cycles *cycles = &flow->cycles;
  for (size_t i = 0; i < cycles->count; i++) {
    flow->nodes[flow->graph->nfunctions + i] =
        (pf_node){0, 0, 0, 0, PF_NO_NAME};
    for (uint32_t f = cycles->heads[i]; f != PF_NO_FUNCTION;
         f = cycles->next[f]) {
      flow->cycle_of[f] = (uint32_t)i + 1;
      flow->nodes[f].name = PF_NO_NAME;
    }
  }
}


/* Count the calls of a member of cycle i by others, and its own of others in
   the cycle. */
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


/* A cycle has two functions or more: so many nodes there may be. */
static void open_functions (void *context) {
  pf_flow *const flow = context;
  const size_t n = flow->graph->nfunctions;
  flow->nodes = pf_array(n + n / 2 + 1, sizeof *flow->nodes);
  if (flow->nodes != NULL)
    make_functions(flow);
}


/* The nodes of cycles, behind those of functions. */
static void add_cycles (pf_flow *flow) {
  const pf_cycles *cycles = &flow->cycles;
  make_cycles(flow);
  for (size_t i = 0; i < cycles->count; i++) {
    for (uint32_t f = cycles->heads[i]; f != PF_NO_FUNCTION;
         f = cycles->next[f])
      count_calls(flow, i, f);
    flow->nodes[flow->graph->nfunctions + i].calls -= flow->inner[i];
  }
}

/* }====== */


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
  const double calls = (double)flow->nodes[node].calls;
  for (uint32_t i = graph->parent_first[function];
       i < graph->parent_first[function + 1]; i++) {
    const pf_arc *const arc = &graph->arcs[graph->parents[i]];
    const bool is_outside = arc->caller == PF_NO_FUNCTION;
    if (!is_outside && pf_flow_head(flow, arc->caller) == node)
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


/* What becomes of a function that has inherited. */
static void settle (pf_flow *flow, size_t function) {
  double *const fraction = &flow->fractions[function];
  bool *const printed = &flow->printed[function];
  *printed = is_wanted(flow, function, *printed, PF_GRAPH_IN, PF_GRAPH_OUT);
  if (!is_wanted(flow, function, *fraction != 0, PF_TIME_IN, PF_TIME_OUT))
    *fraction = 0;
  else if (*fraction == 0)
    *fraction = 1;
}


/* gprof gives no entry to a cycle that nobody outside calls; we do. */
static void adopt_cycles (pf_flow *flow) {
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


static void send_down (pf_flow *flow) {
  size_t last = SIZE_MAX;
  for (size_t i = flow->graph->nfunctions; i-- > 0;) {
    const size_t function = flow->cycles.order[i];
    const size_t node = pf_flow_head(flow, function);
    if (node != last)
      inherit(flow, node);
    last = node;
    settle(flow, function);
    flow->total_shown += pf_flow_shown_self(flow, function);
  }
  if (!flow->graph->facts.compat)
    adopt_cycles(flow);
  for (size_t i = 0; i < flow->nnodes; i++)
    if (!flow->printed[i])
      flow->nodes[i].name = PF_NO_NAME;
}

/* }====== */


/* {====== Up: time ====== */

static void add_up_cycles (pf_flow *flow) {
  const pf_cycles *cycles = &flow->cycles;
  const size_t n = flow->graph->nfunctions;
  for (size_t i = 0; i < cycles->count; i++)
    for (uint32_t f = cycles->heads[i]; f != PF_NO_FUNCTION;
         f = cycles->next[f])
      if (pf_flow_fraction(flow, f) != 0)
        flow->nodes[n + i].self += flow->nodes[f].self;
}


/* Add to a node what one of its functions, with a fraction, was handed. */
static void take (pf_flow *flow, size_t node, double sum, double fraction) {
  flow->nodes[node].child += sum;
  if (flow->shown_child != NULL)
    flow->shown_child[node] += fraction * sum;
}


static void gather (pf_flow *flow, size_t caller) {
  const pf_graph *graph = flow->graph;
  const double fraction = pf_flow_fraction(flow, caller);
  const uint32_t end = graph->child_first[caller + 1];
  if (fraction == 0)
    return;
  for (uint32_t i = graph->child_first[caller]; i < end; i++) {
    const pf_share share = pf_flow_whole_share(flow, &graph->arcs[i]);
    const size_t node = pf_flow_head(flow, caller);
    take(flow, caller, share.self + share.child, fraction);
    if (node != caller)
      take(flow, node, share.self + share.child, fraction);
  }
}


/* Time will soon be gathered for functions of the order from i on: have in
   steps ready where their arcs begin, the arcs, and what those lead to. */
static inline void fetch (const pf_flow *flow, size_t i) {
  const pf_graph *const graph = flow->graph;
  const uint32_t *const order = flow->cycles.order + i;
  if (i + 3 * FETCH_FROM >= graph->nfunctions)
    return;
  __builtin_prefetch(&graph->child_first[order[3 * FETCH_FROM]]);
  __builtin_prefetch(&flow->nodes[order[3 * FETCH_FROM]], 1);
  __builtin_prefetch(&graph->arcs[graph->child_first[order[2 * FETCH_FROM]]]);
  const uint32_t arc = graph->child_first[order[FETCH_FROM]];
  if (arc < graph->narcs)
    __builtin_prefetch(&flow->nodes[graph->arcs[arc].callee]);
}


/* See what the calls of a function took, when all it called is known. */
static void weigh_calls (pf_flow *flow, size_t function) {
  const pf_node *const node = &flow->nodes[function];
  if (node->calls == 0)
    return;
  const double each = (node->self + node->child) / (double)node->calls;
  if (each > flow->most_per_call)
    flow->most_per_call = each;
}


static void send_up (pf_flow *flow) {
  add_up_cycles(flow);
  for (size_t i = 0; i < flow->graph->nfunctions; i++) {
    fetch(flow, i);
    gather(flow, flow->cycles.order[i]);
    weigh_calls(flow, flow->cycles.order[i]);
  }
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


/* A search for cycles. */
typedef struct search {
  pf_flow *flow;
  pf_status status;
} search;


static void find_cycles (void *context) {
  search *const s = context;
  s->status = pf_cycles_find(&s->flow->cycles, s->flow->graph);
}


/* Find the cycles and make the nodes of functions, at once where they are
   many: the one waits for memory that is read, the other for new memory. */
static bool begin_nodes (pf_flow *flow) {
  search s = {flow, PF_OK};
  if (flow->graph->nfunctions >= MANY)
    pf_both(find_cycles, &s, open_functions, flow);
  else {
    find_cycles(&s);
    open_functions(flow);
  }
  return s.status == PF_OK && flow->nodes != NULL;
}


pf_status pf_flow_spread (pf_flow *flow) {
  if (!begin_nodes(flow))
    return PF_ENOMEM;
  flow->nnodes = flow->graph->nfunctions + flow->cycles.count;
  if (!open_arrays(flow))
    return PF_ENOMEM;
  add_cycles(flow);
  if (is_open(flow))
    flow->total_shown = flow->total;
  else if (pf_graph_parents(flow->graph) == PF_OK)
    send_down(flow);
  else
    return PF_ENOMEM;
  send_up(flow);
  return PF_OK;
}


pf_status pf_flow_open (pf_flow *flow, pf_graph *graph, size_t metric,
                        const uint8_t *filter) {
  pf_flow_begin(flow, graph, metric, filter);
  return pf_flow_spread(flow);
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
