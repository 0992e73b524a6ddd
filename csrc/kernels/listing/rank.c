/*
** rank.c - the sort orders of the flat profile, the call graph and its index.
*/

#include "kernels/listing/rank.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/listing/ranking.h"
#include "kernels/base/order.h"
#include "model/dictionary/names.h"
#include "model/base/sorts.h"


/* {====== Keys ====== */

static uint64_t by_self (const pf_flow *flow, size_t node) {
  const pf_graph *const graph = flow->graph;
  const bool counts = pf_flow_in_flat(flow, node);
  if (graph->facts.compat)
    return ~pf_order_num(counts ? graph->ticks[node] : 0);
  return ~pf_order_int(counts ? graph->weights[flow->metric][node] : 0);
}


static uint64_t by_total (const pf_flow *flow, size_t node) {
  return ~pf_order_num(pf_flow_shown_self(flow, node) +
                       pf_flow_shown_child(flow, node));
}


static uint64_t by_calls (const pf_flow *flow, size_t node) {
  return node >= flow->graph->nfunctions
             ? 0
             : ~pf_order_int(flow->graph->calls[node]);
}


/* Cycles, then names without an underscore, then those with one. */
static uint64_t by_kind (const pf_flow *flow, size_t node) {
  if (node >= flow->graph->nfunctions)
    return 0;
  const pf_bytes name =
      pf_name(flow->graph->dictionary, flow->graph->names[node]);
  return name.size > 0 && name.at[0] == '_' ? 2 : 1;
}


/* Prefetch the calls of a pair ahead; they are stored by function. */
static void prefetch_calls (const pf_ranking *r, size_t i) {
  const pf_graph *const graph = r->flow->graph;
  if (i + PF_RANK_FETCH_AHEAD >= r->count)
    return;
  const size_t row = r->pairs[i + PF_RANK_FETCH_AHEAD].row;
  __builtin_prefetch(&graph->calls[row < graph->nfunctions ? row : 0]);
}

/* }====== */


/* {====== Nodes ====== */

/* Whether a function has calls, or time in the flat profile. */
static bool is_used (const pf_flow *flow, size_t function) {
  return flow->graph->calls[function] != 0 ||
         (pf_flow_in_flat(flow, function) &&
          pf_flow_weight(flow, function) != 0);
}


/* Sort by keys and names, set *nodes and *count, and close the ranking. Returns
   `status` if that is a failure. */
static pf_status finish_ranking (pf_ranking *r, pf_status status,
                                 const pf_rank_key *keys, uint32_t **nodes,
                                 size_t *count) {
  *nodes = NULL;
  *count = r->count;
  if (status == PF_OK) {
    pf_ranking_by_keys(r, keys);
    pf_ranking_by_names(r);
    status = pf_ranking_nodes(r, nodes);
  }
  pf_ranking_close(r);
  return status;
}


pf_status pf_rank_flat (const pf_flow *flow, bool zeros, uint32_t **functions,
                        size_t *count) {
  static const pf_rank_key keys[] = {
      {by_self, NULL}, {by_calls, prefetch_calls}, {NULL, NULL}};
  const size_t n = flow->graph->nfunctions;
  pf_ranking r;
  const pf_status status = pf_ranking_open(&r, flow, n);
  for (size_t i = 0; status == PF_OK && i < n; i++)
    if ((zeros || is_used(flow, i)) && pf_flow_in_flat(flow, i))
      pf_ranking_add(&r, i);
  return finish_ranking(&r, status, keys, functions, count);
}


pf_status pf_rank_graph (const pf_flow *flow, uint32_t **nodes) {
  static const pf_rank_key keys[] = {{by_total, NULL},
                                     {by_kind, pf_ranking_prefetch_name},
                                     {by_calls, prefetch_calls},
                                     {NULL, NULL}};
  pf_ranking r;
  size_t count;
  const pf_status status = pf_ranking_open(&r, flow, flow->nnodes);
  for (size_t i = 0; status == PF_OK && i < flow->nnodes; i++)
    pf_ranking_add(&r, i);
  return finish_ranking(&r, status, keys, nodes, &count);
}


pf_status pf_rank_index (const pf_flow *flow, bool zeros, uint32_t **functions,
                         size_t *count) {
  static const pf_rank_key none[] = {{NULL, NULL}};
  const size_t n = flow->graph->nfunctions;
  pf_ranking r;
  const pf_status status = pf_ranking_open(&r, flow, n);
  for (size_t i = 0; status == PF_OK && i < n; i++)
    if (zeros || is_used(flow, i))
      pf_ranking_add(&r, i);
  return finish_ranking(&r, status, none, functions, count);
}

/* }====== */


/* {====== A flow with its orders ====== */

pf_status pf_flow_open_flat (pf_flow *flow, pf_graph *graph, size_t metric,
                             const uint8_t *filter, bool zeros) {
  const pf_status status = pf_flow_open(flow, graph, metric, filter);
  flow->zeros = zeros;
  return status == PF_OK ? pf_rank_flat(flow, zeros, &flow->flat, &flow->nflat)
                         : status;
}


pf_status pf_flow_open_graph (pf_flow *flow, pf_graph *graph, size_t metric,
                              const uint8_t *filter, bool zeros) {
  const pf_status status = pf_flow_open(flow, graph, metric, filter);
  flow->zeros = zeros;
  return status == PF_OK ? pf_flow_rank(flow, zeros) : status;
}


pf_status pf_flow_rank (pf_flow *flow, bool zeros) {
  if (flow->entries != NULL)
    return PF_OK;
  free(flow->names); /* of an attempt that ran out of memory */
  flow->names = NULL;
  flow->zeros = flow->flat == NULL ? zeros : flow->zeros;
  pf_status status =
      pf_rank_index(flow, flow->zeros, &flow->names, &flow->nnames);
  if (status == PF_OK)
    status = pf_rank_graph(flow, &flow->entries);
  for (size_t i = 0; flow->entries != NULL && i < flow->nnodes; i++)
    flow->nodes[flow->entries[i]].index = (uint32_t)i + 1;
  return status;
}

/* }====== */


/* {====== Arcs and members ====== */

pf_item pf_arc_item (const pf_flow *flow, uint32_t number) {
  const pf_arc *const arc = &flow->graph->arcs[number];
  pf_item item = {number, PF_ARC_SELF, arc->count, 0, {0, 0}};
  if (arc->caller == arc->callee)
    return item;
  if (pf_flow_is_inner(flow, arc)) {
    item.kind = PF_ARC_INNER;
    return item;
  }
  item.kind = PF_ARC_PLAIN;
  item.share = pf_flow_share(flow, arc);
  item.time = item.share.self + item.share.child;
  return item;
}


pf_item pf_member_item (const pf_flow *flow, uint32_t member) {
  const pf_share share = {pf_flow_shown_self(flow, member),
                          pf_flow_shown_child(flow, member)};
  return (pf_item){
      member, 0,
      pf_add(flow->nodes[member].calls, flow->graph->self_calls[member]),
      share.self + share.child, share};
}


static int compare_items (const void *context, const void *left,
                          const void *right) {
  const pf_item *const a = left, *const b = right;
  (void)context;
  if (a->kind != b->kind)
    return a->kind < b->kind ? -1 : 1;
  if (a->time != b->time)
    return a->time < b->time ? -1 : 1;
  return (a->count > b->count) - (a->count < b->count);
}


static int compare_reversed (const void *context, const void *left,
                             const void *right) {
  return compare_items(context, right, left);
}


void pf_rank_items (pf_item *items, pf_item *spare, size_t count,
                    bool reverse) {
  if (reverse)
    pf_sort(items, spare, count, sizeof *items, compare_reversed, NULL);
  else
    pf_sort(items, spare, count, sizeof *items, compare_items, NULL);
}

/* }====== */
