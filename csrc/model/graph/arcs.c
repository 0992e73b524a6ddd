/*
** arcs.c - the arcs of a graph while it is built; then by caller and, on
** demand, by callee, as compressed sparse rows. It also finishes the graph.
**
** Arcs are stored in input order, and sorted by caller in linear time (counting
** sort). Arcs with equal caller and callee are then close to each other; they
** are merged there, and not by a hash table, which would cost a cache miss per
** arc. If there are more than MAX_UNMERGED arcs and more arcs than functions,
** they are merged from time to time while the graph is built, so that memory
** grows with the number of distinct arcs.
*/


#include <stdlib.h>
#include <string.h>

#include "model/base/memory.h"
#include "model/base/switches.h"
#include "model/graph/graph.h"

#define AHEAD          16 /* arcs that are prefetched */
#define FIRST_CAPACITY 256
#define FEW            8 /* arcs of a caller up to which a linear search pays */
#define MAX_UNMERGED   65536 /* arcs before the first merge, in a small graph */

#define NO_ARC UINT32_MAX

/* The arcs of a graph sorted by caller, the newest first, those from outside
   last. Arcs with equal caller and callee are merged into the oldest one. */
typedef struct arc_order {
  pf_arc *arcs;
  size_t count;
  uint32_t *first;   /* by caller: index of its first arc */
  uint32_t *numbers; /* by arc: its number in input order */
} arc_order;

/* The size of an index of first arcs by function. */
static size_t index_size (const pf_graph *graph) {
  return graph->nfunctions + 3;
}

/* The slot of a caller or callee in such an index: the outside is the last
   one. */
static size_t index_slot (const pf_graph *graph, uint32_t end) {
  return end == PF_NO_FUNCTION ? graph->nfunctions : end;
}


/* Turn counts into first positions by a prefix sum. The count of slot s is at s
   + 2, its first position will be at s + 1: filling the index advances it to
   its end, which is the first position of slot s + 1. */
static void sum_counts (uint32_t *first, size_t places) {
  for (size_t i = 2; i < places; i++)
    first[i] += first[i - 1];
}


/* Allocate an order. After a failure it must be closed too. */
static bool open_order (arc_order *order, const pf_graph *graph) {
  const size_t n = graph->narcs;
  *order = (arc_order){.arcs = pf_array(n, sizeof *order->arcs),
                       .numbers = pf_array(n, sizeof(uint32_t))};
  order->first = pf_array(index_size(graph), sizeof(uint32_t));
  return order->arcs != NULL && order->numbers != NULL && order->first != NULL;
}


static void close_order (arc_order *order) {
  free(order->arcs);
  free(order->first);
  free(order->numbers);
  *order = (arc_order){0};
}


/* The merged arcs of one caller: arcs[low..high) so far. */
typedef struct run {
  pf_arc *arcs;
  size_t low, high;
  uint32_t *known; /* by callee: the last arc to it, counted from 1; or NULL */
} run;


/* The arc of the run to a callee, or NO_ARC. */
static uint32_t find_callee (const run *r, uint32_t callee) {
  if (r->known != NULL) {
    const uint32_t at = r->known[callee] - 1;
    return at >= r->low && at < r->high && r->arcs[at].callee == callee
               ? at
               : NO_ARC;
  }
  for (size_t i = r->low; i < r->high; i++)
    if (r->arcs[i].callee == callee)
      return (uint32_t)i;
  return NO_ARC;
}


/* Merge the arcs [start, end) of a caller, from the oldest to the newest. The
   run grows downwards from its end. */
static void add_up_run (const arc_order *order, run *r, size_t start,
                        size_t end, uint32_t caller) {
  for (size_t i = end; i-- > start;) {
    const pf_arc arc = r->arcs[i];
    const uint32_t known = find_callee(r, arc.callee);
    if (known != NO_ARC) {
      r->arcs[known].count = pf_add(r->arcs[known].count, arc.count);
      continue;
    }
    const size_t to = --r->low;
    r->arcs[to] = (pf_arc){caller, arc.callee, arc.count};
    order->numbers[to] = arc.caller;
    if (r->known != NULL)
      r->known[arc.callee] = (uint32_t)to + 1;
  }
}


/* Merge equal arcs, and close the gaps. */
static void add_up (arc_order *order, const pf_graph *graph, uint32_t *known) {
  uint32_t *const first = order->first;
  size_t to = 0;
  for (size_t place = 0; place <= graph->nfunctions; place++) {
    const size_t start = first[place];
    const size_t end =
        place < graph->nfunctions ? first[place + 1] : graph->narcs;
    run r = {order->arcs, end, end, end - start > FEW ? known : NULL};
    first[place] = (uint32_t)to;
    add_up_run(order, &r, start, end,
               place < graph->nfunctions ? (uint32_t)place : PF_NO_FUNCTION);
    for (size_t i = r.low; i < r.high && r.low != to; i++) {
      order->arcs[to + i - r.low] = order->arcs[i];
      order->numbers[to + i - r.low] = order->numbers[i];
    }
    to += r.high - r.low;
  }
  first[graph->nfunctions + 1] = (uint32_t)to;
  order->count = to;
}


/* Sort the arcs into an order. The graph does not change. PF_ENOMEM. */
static pf_status make_order (arc_order *order, const pf_graph *graph) {
  uint32_t *known = NULL;
  /* Sort the arcs by caller. The field `caller`, which the index implies,
     has the number of the arc in input order. */
  uint32_t *const first = order->first;
  memset(first, 0, index_size(graph) * sizeof *first);
  for (size_t i = 0; i < graph->narcs; i++)
    first[index_slot(graph, graph->arcs[i].caller) + 2]++;
  sum_counts(first, index_size(graph));
  for (size_t i = graph->narcs; i-- > 0;) {
    const pf_arc *const arc = &graph->arcs[i];
    const uint32_t to = first[index_slot(graph, arc->caller) + 1]++;
    order->arcs[to] = (pf_arc){(uint32_t)i, arc->callee, arc->count};
  }
  bool has_long_run = false;
  for (size_t i = 0; i <= graph->nfunctions; i++)
    has_long_run |= first[i + 1] - first[i] > FEW;
  if (has_long_run) {
    known = pf_array_of_zeros(graph->nfunctions, sizeof *known);
    if (known == NULL)
      return PF_ENOMEM;
  }
  add_up(order, graph, known);
  free(known);
  return PF_OK;
}


/* Invert the numbers of `count` arcs: the position of each of `ninputs` arcs in
   input order, or NO_ARC if it was merged into an older one. The caller frees
   it; NULL when out of memory. */
static uint32_t *positions_of (const uint32_t *numbers, size_t count,
                               size_t ninputs) {
  uint32_t *const positions = pf_array(ninputs, sizeof *positions);
  if (positions == NULL)
    return NULL;
  memset(positions, 0xff, ninputs * sizeof *positions); /* each NO_ARC */
  for (size_t i = 0; i < count; i++)
    positions[numbers[i]] = (uint32_t)i;
  return positions;
}


/* Merge equal arcs of the graph into the oldest of them, which keeps its place
   in input order. PF_ENOMEM: nothing has changed. */
static pf_status merge_equal (pf_graph *graph) {
  arc_order order;
  uint32_t *positions = NULL;
  pf_status status = open_order(&order, graph) ? PF_OK : PF_ENOMEM;
  if (status == PF_OK)
    status = make_order(&order, graph);
  if (status == PF_OK) {
    positions = positions_of(order.numbers, order.count, graph->narcs);
    status = positions == NULL ? PF_ENOMEM : PF_OK;
  }
  size_t kept = 0;
  for (size_t i = 0; status == PF_OK && i < graph->narcs; i++)
    if (positions[i] != NO_ARC)
      graph->arcs[kept++] = order.arcs[positions[i]];
  if (status == PF_OK)
    graph->narcs = kept;
  free(positions);
  close_order(&order);
  return status;
}


/* Merge arcs or grow the array, which is full. If there are at least a
   sixteenth as many arcs as functions, as many arcs as functions and some more
   are expected, which saves the last steps of growth. PF_ENOMEM. */
static pf_status make_space (pf_graph *graph) {
  const size_t functions = graph->nfunctions, before = graph->arcs_capacity;
  pf_status status = PF_OK;
  if (before >= MAX_UNMERGED && before >= functions)
    status = merge_equal(graph);
  if (status != PF_OK || graph->narcs < before / 2)
    return status;
  const size_t used = graph->narcs;
  const size_t expected =
      used < functions / 16 ? 0 : functions + functions / 16;
  size_t capacity = used == 0 ? FIRST_CAPACITY : used * 2;
  if (capacity < expected)
    capacity = expected;
  pf_arc *const wider =
      capacity >= PF_NO_FUNCTION
          ? NULL
          : pf_array_resize(graph->arcs, capacity, sizeof *wider);
  if (wider == NULL)
    return PF_ENOMEM;
  graph->arcs = wider;
  graph->arcs_capacity = capacity;
  return PF_OK;
}


pf_status pf_graph_arc (pf_graph *graph, uint32_t caller, uint32_t callee,
                        int64_t count) {
  if (graph->narcs == graph->arcs_capacity) {
    const pf_status status = make_space(graph);
    if (status != PF_OK)
      return status;
  }
  graph->arcs[graph->narcs++] = (pf_arc){caller, callee, count};
  return PF_OK;
}


/* Sum the calls of each function, with those by itself apart, and mark callees
   as used. */
static void add_up_calls (pf_graph *graph) {
  int64_t *const calls = graph->calls;
  memset(calls, 0, graph->nfunctions * sizeof *calls);
  for (size_t i = 0; i < graph->narcs; i++) {
    const pf_arc *const arc = &graph->arcs[i];
    if (PF_FAST(MISSES) && i + AHEAD < graph->narcs)
      __builtin_prefetch(&calls[arc[AHEAD].callee], 1);
    int64_t *const sum = arc->caller == arc->callee
                             ? &graph->self_calls[arc->callee]
                             : &calls[arc->callee];
    *sum = pf_add(*sum, arc->count);
    graph->flags[arc->callee] |= PF_FUNCTION_USED;
  }
}


/* Whether a sum of pf_add may have saturated. */
static bool is_limit (int64_t sum) {
  return sum == INT64_MAX || sum == INT64_MIN;
}


/* Sorts the arcs by caller. */
static pf_status sort_arcs (pf_graph *graph) {
  arc_order order;
  pf_status status = PF_ENOMEM;
  if (open_order(&order, graph) &&
      (status = make_order(&order, graph)) == PF_OK) {
    free(graph->arcs);
    graph->input_numbers = order.numbers;
    graph->ninputs = graph->narcs;
    graph->arcs = order.arcs;
    graph->narcs = graph->arcs_capacity = order.count;
    graph->child_first = order.first;
    order = (arc_order){0};
  }
  close_order(&order);
  return status;
}


/* Sets the arcs of each callee in reverse input order: the newest first. */
static pf_status list_parents (pf_graph *graph, uint32_t *parents) {
  uint32_t *const first = graph->parent_first;
  uint32_t *const positions =
      positions_of(graph->input_numbers, graph->narcs, graph->ninputs);
  if (positions == NULL)
    return PF_ENOMEM;
  memset(first, 0, index_size(graph) * sizeof *first);
  for (size_t i = 0; i < graph->narcs; i++)
    first[graph->arcs[i].callee + 2]++;
  sum_counts(first, index_size(graph));
  for (size_t i = graph->ninputs; i-- > 0;) {
    if (PF_FAST(MISSES) && i >= AHEAD && positions[i - AHEAD] != NO_ARC)
      __builtin_prefetch(&graph->arcs[positions[i - AHEAD]]);
    if (positions[i] != NO_ARC)
      parents[first[graph->arcs[positions[i]].callee + 1]++] = positions[i];
  }
  free(positions);
  return PF_OK;
}


pf_status pf_graph_parents (pf_graph *graph) {
  if (graph->parents != NULL)
    return PF_OK;
  free(graph->parent_first); /* of a call that ran out of memory */
  graph->parent_first = pf_array(index_size(graph), sizeof(uint32_t));
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
    graph->has_overflowed |= is_limit(graph->totals[m]);
  }
  for (size_t i = 0; graph->ticks != NULL && i < graph->nfunctions; i++)
    if (graph->ticks[i] != 0)
      graph->flags[i] |= PF_FUNCTION_USED;
  const uint32_t *const first = graph->child_first;
  graph->nused = 0;
  for (size_t i = 0; i < graph->nfunctions; i++) {
    if (first[i] != first[i + 1])
      graph->flags[i] |= PF_FUNCTION_USED;
    graph->has_overflowed |=
        is_limit(graph->calls[i]) || is_limit(graph->self_calls[i]);
    graph->nused += (graph->flags[i] & PF_FUNCTION_USED) != 0;
  }
  pf_id_table_free(&graph->pseudo);
  pf_id_table_init(&graph->pseudo);
  return PF_OK;
}
