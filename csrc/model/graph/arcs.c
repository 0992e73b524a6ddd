/*
** arcs.c - the arcs of a graph while it is built.
**
** They are stored in input order, and sorted by caller in linear time (counting
** sort). Arcs with equal caller and callee are then close to each other; they
** are merged there, and not by a hash table, which would cost a cache miss per
** arc. If there are more arcs than functions, they are merged from time to time
** while the graph is built, so that memory grows with the number of distinct
** arcs.
*/

#include "model/graph/arcs.h"

#include <stdlib.h>
#include <string.h>

#include "model/base/memory.h"

#define FIRST_CAPACITY 256
#define FEW            8 /* arcs of a caller up to which a linear search pays */
#define MAX_UNMERGED   65536 /* arcs before the first merge, in a small graph */


void pf_arc_sum_counts (uint32_t *first, size_t places) {
  for (size_t i = 2; i < places; i++)
    first[i] += first[i - 1];
}


bool pf_arc_order_open (pf_arc_order *order, const pf_graph *graph) {
  const size_t n = graph->narcs;
  *order = (pf_arc_order){.arcs = pf_array(n, sizeof *order->arcs),
                          .numbers = pf_array(n, sizeof(uint32_t))};
  order->first = pf_array(pf_arc_index_size(graph), sizeof(uint32_t));
  return order->arcs != NULL && order->numbers != NULL && order->first != NULL;
}


void pf_arc_order_close (pf_arc_order *order) {
  free(order->arcs);
  free(order->first);
  free(order->numbers);
  *order = (pf_arc_order){0};
}


/* The merged arcs of one caller: arcs[low..high) so far. */
typedef struct run {
  pf_arc *arcs;
  size_t low, high;
  uint32_t *known; /* by callee: the last arc to it, counted from 1; or NULL */
} run;


/* The arc of the run to a callee, or PF_NO_ARC. */
static uint32_t find_callee (const run *r, uint32_t callee) {
  if (r->known != NULL) {
    const uint32_t at = r->known[callee] - 1;
    return at >= r->low && at < r->high && r->arcs[at].callee == callee
               ? at
               : PF_NO_ARC;
  }
  for (size_t i = r->low; i < r->high; i++)
    if (r->arcs[i].callee == callee)
      return (uint32_t)i;
  return PF_NO_ARC;
}


/* Merge the arcs [start, end) of a caller, from the oldest to the newest, into
   the places below `low`. */
static void add_up_run (const pf_arc_order *order, run *r, size_t start,
                        size_t end, uint32_t caller) {
  for (size_t i = end; i-- > start;) {
    const pf_arc arc = r->arcs[i];
    const uint32_t known = find_callee(r, arc.callee);
    if (known != PF_NO_ARC) {
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
static void add_up (pf_arc_order *order, const pf_graph *graph,
                    uint32_t *known) {
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


pf_status pf_arc_order_make (pf_arc_order *order, const pf_graph *graph) {
  uint32_t *known = NULL;
  /* Sort the arcs by caller. The field `caller`, which the index implies,
     has the number of the arc in input order. */
  uint32_t *const first = order->first;
  memset(first, 0, pf_arc_index_size(graph) * sizeof *first);
  for (size_t i = 0; i < graph->narcs; i++)
    first[pf_arc_index_slot(graph, graph->arcs[i].caller) + 2]++;
  pf_arc_sum_counts(first, pf_arc_index_size(graph));
  for (size_t i = graph->narcs; i-- > 0;) {
    const pf_arc *const arc = &graph->arcs[i];
    const uint32_t to = first[pf_arc_index_slot(graph, arc->caller) + 1]++;
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


uint32_t *pf_arc_positions (const uint32_t *numbers, size_t count,
                            size_t ninputs) {
  uint32_t *const positions = pf_array(ninputs, sizeof *positions);
  if (positions == NULL)
    return NULL;
  memset(positions, 0xff, ninputs * sizeof *positions); /* each PF_NO_ARC */
  for (size_t i = 0; i < count; i++)
    positions[numbers[i]] = (uint32_t)i;
  return positions;
}


/* Merge equal arcs into the oldest of them, which keeps its place. */
static pf_status merge_equal (pf_graph *graph) {
  pf_arc_order order;
  uint32_t *positions = NULL;
  pf_status status = pf_arc_order_open(&order, graph) ? PF_OK : PF_ENOMEM;
  if (status == PF_OK)
    status = pf_arc_order_make(&order, graph);
  if (status == PF_OK) {
    positions = pf_arc_positions(order.numbers, order.count, graph->narcs);
    status = positions == NULL ? PF_ENOMEM : PF_OK;
  }
  size_t kept = 0;
  for (size_t i = 0; status == PF_OK && i < graph->narcs; i++)
    if (positions[i] != PF_NO_ARC)
      graph->arcs[kept++] = order.arcs[positions[i]];
  if (status == PF_OK)
    graph->narcs = kept;
  free(positions);
  pf_arc_order_close(&order);
  return status;
}


/* Merge arcs or grow the array, which is full. If many functions have an arc,
   as many arcs as functions and some more are expected, which saves the last
   steps of growth. */
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
