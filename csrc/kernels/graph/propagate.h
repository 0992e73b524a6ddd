/*
** propagate.h - inclusive time of functions: time is propagated along the arcs
** of a call graph from callees to callers.
**
** The inclusive time of a function is divided among its callers in proportion
** to their calls. Functions that call each other recursively form a cycle,
** which is one node for all other functions. This is the algorithm of gprof
** (Graham, Kessler, McKusick: gprof, a call graph execution profiler, 1982),
** and the order of additions is gprof's, so that all digits are the same.
**
** A flow is the result for one metric of a graph. It is computed by
** pf_flow_open, called by lua/profile/flow.c; lua/profile/profile.c may rank it
** once (rank.h), and the listings (listing.h) only read it. It owns
** its arrays and borrows the graph and the filter. Times are in units of the
** metric, or in samples (compat).
*/

#ifndef propagate_h
#define propagate_h

#include "kernels/graph/cycles.h"
#include "model/dictionary/names.h"

/* Bits of the filter of a function; they correspond to gprof's options. */
enum {
  PF_FLAT_IN = 1,  /* if any has it, only these are in the flat profile */
  PF_FLAT_OUT = 2, /* not in the flat profile, and its time is not counted */
  PF_GRAPH_IN = 4, /* if any has it, only these and their callees get entries */
  PF_GRAPH_OUT = 8, /* gets no entry */
  PF_TIME_IN = 16,  /* if any has it, only these and their callees propagate */
  PF_TIME_OUT = 32  /* does not propagate time */
};

/* A function or a cycle: function f is node f, cycle i node nfunctions + i - 1.
   Times are in the metric's own unit, or in samples. */
typedef struct pf_node {
  double self;    /* time in the node itself */
  double child;   /* time in the functions that it called */
  int64_t calls;  /* from outside the node */
  uint32_t index; /* number in the call graph, from 1; 0: not ranked yet */
  uint32_t name;  /* symbol of a function that is in no cycle and gets an entry;
                     PF_NO_NAME for all others */
} pf_node;

typedef struct pf_flow {
  pf_graph *graph;       /* borrowed; pf_graph_parents is called if needed */
  const uint8_t *filter; /* of each function, PF_..._IN and _OUT; or NULL */
  uint8_t filter_all;    /* all bits that occur in the filter */
  size_t metric;
  double per_second; /* units of the metric in a second; 1 if it is no time */

  pf_cycles cycles;
  int64_t *inner; /* inner[i - 1]: calls inside cycle i, without calls of a
                     function by itself; NULL: there are no cycles */
  size_t nnodes;
  pf_node *nodes;
  bool *printed;     /* which nodes get an entry in the call graph; NULL: all */
  double *fractions; /* of each node's time that is shown, 0 to 1; NULL: 1 */
  double *shown_child; /* child * fraction in gprof's order of additions; NULL:
                          child */

  double total;        /* of all functions in the flat profile */
  double total_shown;  /* sum of the self times of functions that are shown */
  double max_per_call; /* maximum over functions of (self + child) / calls */

  uint32_t *entries; /* all nodes in the order of the call graph, computed by
                        pf_flow_rank of rank.h; or NULL */
} pf_flow;

/* The time that an arc propagates: self time of the callee, and time of the
   functions that the callee called. */
typedef struct pf_share {
  double self, child;
} pf_share;


/*
** Compute the flow of a metric (ignored for compat graphs, which have one).
** `filter` (may be NULL) and the graph are borrowed until pf_flow_close.
** PF_ENOMEM; close it also after a failure.
*/
pf_status pf_flow_open (pf_flow *flow, pf_graph *graph, size_t metric,
                        const uint8_t *filter);
void pf_flow_close (pf_flow *flow);

/* The cycle of a function, or 0. The node is tested first: a function with a
   name there is in no cycle, and callers have the node in the cache. */
static inline uint32_t pf_flow_cycle (const pf_flow *flow, size_t function) {
  return flow->cycles.of == NULL || flow->nodes[function].name != PF_NO_NAME
             ? 0
             : flow->cycles.of[function];
}

/* Whether a node gets an entry in the call graph. */
static inline bool pf_flow_is_printed (const pf_flow *flow, size_t node) {
  return flow->printed == NULL || flow->printed[node];
}

/* The node of a function as seen by functions outside: its cycle, or itself. */
static inline size_t pf_flow_node (const pf_flow *flow, size_t function) {
  const uint32_t cycle = pf_flow_cycle(flow, function);
  return cycle == 0 ? function : flow->graph->nfunctions + cycle - 1;
}

/* Calls inside a node: of a function by itself, or between members of a
   cycle. */
static inline int64_t pf_flow_self_calls (const pf_flow *flow, size_t node) {
  const size_t n = flow->graph->nfunctions;
  return node < n ? flow->graph->self_calls[node] : flow->inner[node - n];
}

/* The fraction of a node's time that is shown, 0 to 1. */
static inline double pf_flow_fraction (const pf_flow *flow, size_t node) {
  return flow->fractions == NULL ? 1 : flow->fractions[node];
}

static inline double pf_flow_shown_self (const pf_flow *flow, size_t node) {
  return flow->nodes[node].self * pf_flow_fraction(flow, node);
}

static inline double pf_flow_shown_child (const pf_flow *flow, size_t node) {
  return flow->shown_child == NULL ? flow->nodes[node].child
                                   : flow->shown_child[node];
}

/* Whether an arc leads from a function to itself or inside its cycle. */
static inline bool pf_flow_is_inner (const pf_flow *flow, const pf_arc *arc) {
  const uint32_t cycle = pf_flow_cycle(flow, arc->callee);
  return arc->caller == arc->callee ||
         (cycle != 0 && arc->caller != PF_NO_FUNCTION &&
          pf_flow_cycle(flow, arc->caller) == cycle);
}

/* The time that an arc propagates, without regard to the fraction of the
   caller. Arcs inside a cycle propagate nothing. */
static inline pf_share pf_flow_whole_share (const pf_flow *flow,
                                            const pf_arc *arc) {
  const pf_node *const node = &flow->nodes[pf_flow_node(flow, arc->callee)];
  if (arc->count == 0 || node->calls == 0 ||
      pf_flow_fraction(flow, arc->callee) == 0 || pf_flow_is_inner(flow, arc))
    return (pf_share){0, 0};
  const double share = (double)arc->count / (double)node->calls;
  return (pf_share){node->self * share, node->child * share};
}

/* The time that an arc propagates, times the fraction of the caller. */
static inline pf_share pf_flow_share (const pf_flow *flow, const pf_arc *arc) {
  const pf_share whole = pf_flow_whole_share(flow, arc);
  const double fraction =
      arc->caller == PF_NO_FUNCTION ? 1 : pf_flow_fraction(flow, arc->caller);
  if (fraction == 0)
    return (pf_share){0, 0};
  return (pf_share){whole.self * fraction, whole.child * fraction};
}

/* The weight of a function in the metric, in samples for compat graphs. */
static inline double pf_flow_weight (const pf_flow *flow, size_t function) {
  return flow->graph->facts.compat
             ? flow->graph->ticks[function]
             : (double)flow->graph->weights[flow->metric][function];
}

/* Whether the filter lets a function into the flat profile. */
static inline bool pf_flow_in_flat (const pf_flow *flow, size_t function) {
  if (flow->filter == NULL)
    return true;
  const uint8_t bits = flow->filter[function];
  return (bits & PF_FLAT_IN) != 0 ||
         ((flow->filter_all & PF_FLAT_IN) == 0 && (bits & PF_FLAT_OUT) == 0);
}

#endif
