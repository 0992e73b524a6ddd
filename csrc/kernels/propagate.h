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

#include "kernels/cycles.h"

/* What a filter says of a function. */
enum {
  PF_FLAT_IN = 1,   /* only these in the flat profile (if there are any) */
  PF_FLAT_OUT = 2,  /* not in the flat profile: its time does not count */
  PF_GRAPH_IN = 4,  /* only these, and what they call, get entries */
  PF_GRAPH_OUT = 8, /* gets no entry */
  PF_TIME_IN = 16,  /* only these, and what they call, pass time up */
  PF_TIME_OUT = 32  /* passes no time up */
};

/* The nodes are the functions, then the cycles: cycle i is node
   nfunctions + i - 1. Times are in the metric's own unit, or in samples. */
typedef struct pf_flow {
  const pf_graph *graph; /* borrowed */
  const uint8_t *filter; /* of each function, PF_..._IN and _OUT; or NULL */
  uint8_t filter_all;    /* all bits that occur in it */
  size_t metric;
  double per_second; /* how much of the metric is a second; or 1 */

  pf_cycles cycles;
  size_t nodes;
  double *self;        /* spent in the node itself */
  double *child;       /* ... and in what it called */
  double *fraction;    /* of it that may be seen, 0 to 1 */
  double *shown_self;  /* self * fraction */
  double *shown_child; /* child * fraction, as gprof adds it up */
  bool *printed;       /* gets an entry in the call graph */
  double *arc_self;    /* of each arc: handed along it from the callee */
  double *arc_child;   /* ... and from what that called */

  double total;       /* of all functions in the flat profile */
  double total_shown; /* sum of shown_self of the functions */
} pf_flow;


/*
** Compute the flow of a metric (ignored for compat graphs, which have one).
** `filter` (may be NULL) and the graph must stay. PF_ENOMEM; close it also
** after a failure.
*/
pf_status pf_flow_open (pf_flow *flow, const pf_graph *graph, size_t metric,
                        const uint8_t *filter);
void pf_flow_close (pf_flow *flow);

/* The node that stands for a function to the outside: its cycle or itself. */
static inline size_t pf_flow_head (const pf_flow *flow, size_t function) {
  const uint32_t cycle = flow->cycles.cycle_of[function];
  return cycle == 0 ? function : flow->graph->nfunctions + cycle - 1;
}

/* Calls of a node from outside of it, and inside of it. */
static inline int64_t pf_flow_calls (const pf_flow *flow, size_t node) {
  const size_t n = flow->graph->nfunctions;
  return node < n ? flow->graph->calls[node] : flow->cycles.calls[node - n];
}

static inline int64_t pf_flow_self_calls (const pf_flow *flow, size_t node) {
  const size_t n = flow->graph->nfunctions;
  return node < n ? flow->graph->self_calls[node]
                  : flow->cycles.inner[node - n];
}

/* Whether an arc leads from a function to itself or inside its cycle. */
static inline bool pf_flow_is_inner (const pf_flow *flow, size_t arc) {
  const uint32_t caller = flow->graph->callers[arc];
  const uint32_t callee = flow->graph->callees[arc];
  return caller == callee ||
         (caller != PF_NO_FUNCTION && flow->cycles.cycle_of[callee] != 0 &&
          flow->cycles.cycle_of[caller] == flow->cycles.cycle_of[callee]);
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
