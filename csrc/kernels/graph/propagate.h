/*
** propagate.h - inclusive time: what functions spent, handed up to those who
** called them.
**
** The time of a function with all it called goes to each caller in the share
** of its calls that came from there. Functions that are recursive with each
** other are one node to the outside: a cycle. The order of additions is
** gprof's, so its digits come out of its numbers.
*/

#ifndef propagate_h
#define propagate_h

#include "kernels/graph/cycles.h"
#include "model/names.h"

/* What a filter says of a function. */
enum {
  PF_FLAT_IN = 1,   /* only these in the flat profile (if there are any) */
  PF_FLAT_OUT = 2,  /* not in the flat profile: its time does not count */
  PF_GRAPH_IN = 4,  /* only these, and what they call, get entries */
  PF_GRAPH_OUT = 8, /* gets no entry */
  PF_TIME_IN = 16,  /* only these, and what they call, pass time up */
  PF_TIME_OUT = 32  /* passes no time up */
};

/* A function or a cycle: function f is node f, cycle i node nfunctions + i - 1.
   Times are in the metric's own unit, or in samples. */
typedef struct pf_node {
  double self;    /* spent in it */
  double child;   /* ... and in what it called */
  int64_t calls;  /* from outside of it */
  uint32_t index; /* its number in the call graph, from 1; 0: not ranked */
  uint32_t name;  /* of a function that is in no cycle and gets an entry, as
                     the linker has it; PF_NO_NAME of all others */
} pf_node;

typedef struct pf_flow {
  pf_graph *graph; /* borrowed; who needs its arcs by callee has them listed */
  const uint8_t *filter; /* of each function, PF_..._IN and _OUT; or NULL */
  uint8_t filter_all;    /* all bits that occur in it */
  size_t metric;
  double per_second; /* how much of the metric is a second; or 1 */

  pf_cycles cycles;
  uint32_t *cycle_of; /* of each function: the cycle it is in, or 0; NULL: there
                         are none */
  int64_t *inner;     /* calls in cycle i, but of functions by themselves:
                     inner[i - 1] */
  size_t nnodes;
  pf_node *nodes;
  bool *printed;     /* which nodes get an entry in the call graph; NULL: all */
  double *fractions; /* of a node's time that may be seen, 0 to 1; NULL: 1 */
  double *shown_child; /* child * fraction as gprof adds it up; NULL: child */

  double total;         /* of all functions in the flat profile */
  double total_shown;   /* sum of what is shown of the functions' own time */
  double most_per_call; /* of all functions, in a call and what it called */

  /* The orders that were asked for: see rank.h. */
  uint32_t *flat, *entries, *names; /* of the flat profile, the call graph, and
                                       its index; or NULL */
  size_t nflat, nnames;
  bool zeros; /* what the flat profile and the index were told */
} pf_flow;

/* What is handed along an arc: time of the callee, and of what it called. */
typedef struct pf_share {
  double self, child;
} pf_share;


/*
** Compute the flow of a metric (ignored for compat graphs, which have one).
** `filter` (may be NULL) and the graph must stay. PF_ENOMEM; close it also
** after a failure.
*/
pf_status pf_flow_open (pf_flow *flow, pf_graph *graph, size_t metric,
                        const uint8_t *filter);
void pf_flow_close (pf_flow *flow);

/* The same in two steps: what the flow is of, which is enough for
   pf_flow_weight and pf_flow_in_flat, and the rest. */
void pf_flow_begin (pf_flow *flow, pf_graph *graph, size_t metric,
                    const uint8_t *filter);
pf_status pf_flow_propagate (pf_flow *flow);

/* The cycle a function is in, or 0: mostly the node tells. */
static inline uint32_t pf_flow_cycle (const pf_flow *flow, size_t function) {
  return flow->cycle_of == NULL || flow->nodes[function].name != PF_NO_NAME
             ? 0
             : flow->cycle_of[function];
}

/* Whether a node gets an entry in the call graph. */
static inline bool pf_flow_is_printed (const pf_flow *flow, size_t node) {
  return flow->printed == NULL || flow->printed[node];
}

/* The node that stands for a function to the outside: its cycle or itself. */
static inline size_t pf_flow_node (const pf_flow *flow, size_t function) {
  const uint32_t cycle = pf_flow_cycle(flow, function);
  return cycle == 0 ? function : flow->graph->nfunctions + cycle - 1;
}

/* Calls inside of a node. */
static inline int64_t pf_flow_self_calls (const pf_flow *flow, size_t node) {
  const size_t n = flow->graph->nfunctions;
  return node < n ? flow->graph->self_calls[node] : flow->inner[node - n];
}

/* What of the time of a node may be seen. */
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

/* What is handed along an arc, all of it: none inside a cycle. */
static inline pf_share pf_flow_whole_share (const pf_flow *flow,
                                            const pf_arc *arc) {
  const pf_node *const node = &flow->nodes[pf_flow_node(flow, arc->callee)];
  if (arc->count == 0 || node->calls == 0 ||
      pf_flow_fraction(flow, arc->callee) == 0 || pf_flow_is_inner(flow, arc))
    return (pf_share){0, 0};
  const double share = (double)arc->count / (double)node->calls;
  return (pf_share){node->self * share, node->child * share};
}

/* The part of it that may be seen of its caller. */
static inline pf_share pf_flow_share (const pf_flow *flow, const pf_arc *arc) {
  const pf_share whole = pf_flow_whole_share(flow, arc);
  const double fraction =
      arc->caller == PF_NO_FUNCTION ? 1 : pf_flow_fraction(flow, arc->caller);
  if (fraction == 0)
    return (pf_share){0, 0};
  return (pf_share){whole.self * fraction, whole.child * fraction};
}

/* What the metric says of a function. */
static inline double pf_flow_weight (const pf_flow *flow, size_t function) {
  return flow->graph->facts.compat
             ? flow->graph->ticks[function]
             : (double)flow->graph->weights[flow->metric][function];
}

/* Whether a function belongs into the flat profile. */
static inline bool pf_flow_in_flat (const pf_flow *flow, size_t function) {
  if (flow->filter == NULL)
    return true;
  const uint8_t bits = flow->filter[function];
  return (bits & PF_FLAT_IN) != 0 ||
         ((flow->filter_all & PF_FLAT_IN) == 0 && (bits & PF_FLAT_OUT) == 0);
}

#endif
