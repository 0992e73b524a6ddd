/*
** rank.c - the sort orders of the flat profile, the call graph and its index. A
** ranking sorts by one key after the other; each time only the runs of nodes
** that are still equal. The bytes of names are the last keys, eight at a time.
*/

#include "kernels/listing/rank.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/base/order.h"
#include "model/base/memory.h"
#include "model/dictionary/names.h"
#include "model/base/sorts.h"
#include "model/base/switches.h"

#define FETCH_AHEAD 12 /* pairs ahead */

/* Nodes of a flow that are sorted by several 64-bit keys, then by name. The
   sort is stable: equal nodes stay in the order in which they were added. */
typedef struct ranking {
  const pf_flow *flow;    /* borrowed */
  pf_pair *pairs, *spare; /* a node, and the value of the current key */
  bool *same;             /* node i equals node i - 1 in all keys so far */
  size_t count;
} ranking;

/* A sort key. */
typedef struct rank_key {
  /* Returns the key of a node; smaller keys come first. */
  uint64_t (*word)(const pf_flow *flow, size_t node);
  /* Prefetch what `word` reads for a pair after number i. NULL: it reads
     memory sequentially. */
  void (*prefetch)(const ranking *r, size_t i);
} rank_key;


static pf_status open_ranking (ranking *r, const pf_flow *flow,
                               size_t capacity) {
  *r = (ranking){.flow = flow,
                 .pairs = pf_array(capacity, sizeof *r->pairs),
                 .spare = pf_array(capacity, sizeof *r->spare),
                 .same = pf_array(capacity, sizeof *r->same)};
  return r->pairs != NULL && r->spare != NULL && r->same != NULL ? PF_OK
                                                                 : PF_ENOMEM;
}


static void add_node (ranking *r, size_t node) {
  r->pairs[r->count++] = (pf_pair){0, node};
}


/* Whether node i has an equal neighbour. */
static inline bool is_in_run (const ranking *r, size_t i) {
  return r->same[i] || (i + 1 < r->count && r->same[i + 1]);
}


/* Sort each run by the current key; returns whether any nodes are still
   equal. */
static bool sort_runs (ranking *r) {
  bool any = false;
  for (size_t from = 0, end; from < r->count; from = end) {
    for (end = from + 1; end < r->count && r->same[end];)
      end++;
    pf_sort_pairs(r->pairs + from, r->spare, end - from);
    for (size_t i = from + 1; i < end; i++)
      any |= r->same[i] = r->pairs[i].word == r->pairs[i - 1].word;
  }
  return any;
}


/* Returns 8 bytes of the name of a node. Pieces of a function have its name up
   to the blank: gprof compares only that. */
static uint64_t part_of_name (const pf_flow *flow, size_t node, size_t offset) {
  const pf_graph *graph = flow->graph;
  if (node >= graph->nfunctions)
    return 0;
  const uint32_t id = graph->names[node];
  const uint64_t word = pf_name_word(graph->dictionary, id, offset);
  const pf_bytes name = pf_name(graph->dictionary, id);
  const uint8_t *const blank = graph->facts.by_line && name.size > 0
                                   ? memchr(name.at, ' ', name.size)
                                   : NULL;
  if (blank == NULL)
    return word;
  const size_t size = (size_t)(blank - name.at);
  if (offset >= size)
    return 0;
  return size - offset >= 8 ? word
                            : word & ~(UINT64_MAX >> 8 * (size - offset));
}


/* Prefetch names in steps: the name's id in the graph, its entry in the
   dictionary, its bytes. For cycles, which have no name, any function is
   used. */
static void prefetch_name (const ranking *r, size_t i) {
  const pf_graph *const graph = r->flow->graph;
  const size_t last = graph->nfunctions - 1;
  size_t rows[3];
  if (!PF_FAST(MISSES) || i + 3 * FETCH_AHEAD >= r->count)
    return;
  for (size_t step = 0; step < 3; step++) {
    const size_t row = r->pairs[i + (step + 1) * FETCH_AHEAD].row;
    rows[step] = row < last ? row : last;
  }
  __builtin_prefetch(&graph->names[rows[2]]);
  pf_name_prefetch(graph->dictionary, graph->names[rows[1]]);
  __builtin_prefetch(pf_name(graph->dictionary, graph->names[rows[0]]).at);
}


/* Set the keys to the first 8 bytes of the names, which are read in the order
   of functions, in which names are stored. False: too few nodes for that, or
   out of memory. */
static bool set_prefixes (ranking *r, size_t in_runs) {
  const size_t n = r->flow->graph->nfunctions;
  uint64_t *const prefixes = PF_FAST(MISSES) && in_runs >= n / 2
                                 ? pf_array(n, sizeof *prefixes)
                                 : NULL;
  for (size_t i = 0; prefixes != NULL && i < n; i++)
    prefixes[i] = part_of_name(r->flow, i, 0);
  for (size_t i = 0; prefixes != NULL && i < r->count; i++) {
    const size_t row = r->pairs[i].row;
    if (i + FETCH_AHEAD < r->count && r->pairs[i + FETCH_AHEAD].row < n)
      __builtin_prefetch(&prefixes[r->pairs[i + FETCH_AHEAD].row]);
    if (is_in_run(r, i))
      r->pairs[i].word = row < n ? prefixes[row] : 0;
  }
  const bool done = prefixes != NULL;
  free(prefixes);
  return done;
}


static void sort_by_names (ranking *r) {
  size_t in_runs = 0;
  for (size_t i = 0; i < r->count; i++)
    in_runs += is_in_run(r, i);
  bool any = in_runs > 0;
  for (size_t offset = 0; any; offset += 8) {
    const bool done = offset == 0 && set_prefixes(r, in_runs);
    for (size_t i = 0; !done && i < r->count; i++)
      if (is_in_run(r, i)) {
        prefetch_name(r, i);
        r->pairs[i].word = part_of_name(r->flow, r->pairs[i].row, offset);
      }
    any = false;
    if (!sort_runs(r))
      break;
    /* Nodes whose names have ended stay equal. */
    for (size_t i = 1; i < r->count; i++)
      any |= r->same[i] = r->same[i] && (r->pairs[i].word & 0xff) != 0;
  }
}


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
static void prefetch_calls (const ranking *r, size_t i) {
  const pf_graph *const graph = r->flow->graph;
  if (i + FETCH_AHEAD >= r->count)
    return;
  const size_t row = r->pairs[i + FETCH_AHEAD].row;
  __builtin_prefetch(&graph->calls[row < graph->nfunctions ? row : 0]);
}


/* Whether a function has calls, or time in the flat profile. */
static bool is_used (const pf_flow *flow, size_t function) {
  return flow->graph->calls[function] != 0 ||
         (pf_flow_in_flat(flow, function) &&
          pf_flow_weight(flow, function) != 0);
}


/* Sort by keys and names, set *nodes and *count, and close the ranking. Returns
   `status` if that is a failure. */
static pf_status finish_ranking (ranking *r, pf_status status,
                                 const rank_key *keys, uint32_t **nodes,
                                 size_t *count) {
  *nodes = NULL;
  *count = r->count;
  if (status == PF_OK) {
    memset(r->same, true, r->count);
    r->same[0] = false;
    for (bool any = r->count > 1; any && keys->word != NULL; keys++) {
      for (size_t i = 0; i < r->count; i++) {
        if (PF_FAST(MISSES) && keys->prefetch != NULL)
          keys->prefetch(r, i);
        if (is_in_run(r, i))
          r->pairs[i].word = keys->word(r->flow, r->pairs[i].row);
      }
      any = sort_runs(r);
    }
    sort_by_names(r);
    *nodes = pf_array(r->count, sizeof **nodes);
    status = *nodes == NULL ? PF_ENOMEM : PF_OK;
  }
  for (size_t i = 0; status == PF_OK && i < r->count; i++)
    (*nodes)[i] = (uint32_t)r->pairs[i].row;
  free(r->pairs);
  free(r->spare);
  free(r->same);
  return status;
}


pf_status pf_rank_flat (const pf_flow *flow, bool zeros, uint32_t **functions,
                        size_t *count) {
  static const rank_key keys[] = {
      {by_self, NULL}, {by_calls, prefetch_calls}, {NULL, NULL}};
  const size_t n = flow->graph->nfunctions;
  ranking r;
  const pf_status status = open_ranking(&r, flow, n);
  for (size_t i = 0; status == PF_OK && i < n; i++)
    if ((zeros || is_used(flow, i)) && pf_flow_in_flat(flow, i))
      add_node(&r, i);
  return finish_ranking(&r, status, keys, functions, count);
}


pf_status pf_rank_index (const pf_flow *flow, bool zeros, uint32_t **functions,
                         size_t *count) {
  static const rank_key none[] = {{NULL, NULL}};
  const size_t n = flow->graph->nfunctions;
  ranking r;
  const pf_status status = open_ranking(&r, flow, n);
  for (size_t i = 0; status == PF_OK && i < n; i++)
    if (zeros || is_used(flow, i))
      add_node(&r, i);
  return finish_ranking(&r, status, none, functions, count);
}


pf_status pf_flow_rank (pf_flow *flow) {
  static const rank_key keys[] = {{by_total, NULL},
                                  {by_kind, prefetch_name},
                                  {by_calls, prefetch_calls},
                                  {NULL, NULL}};
  ranking r;
  size_t count;
  if (flow->entries != NULL)
    return PF_OK;
  pf_status status = open_ranking(&r, flow, flow->nnodes);
  for (size_t i = 0; status == PF_OK && i < flow->nnodes; i++)
    add_node(&r, i);
  status = finish_ranking(&r, status, keys, &flow->entries, &count);
  for (size_t i = 0; status == PF_OK && i < count; i++)
    flow->nodes[flow->entries[i]].index = (uint32_t)i + 1;
  return status;
}


pf_status pf_items_open (pf_items *items, const pf_flow *flow) {
  const pf_graph *const graph = flow->graph;
  if (pf_graph_parents(flow->graph) != PF_OK)
    return PF_ENOMEM;
  size_t longest = flow->cycles.count > 0 ? graph->nfunctions : 0;
  for (size_t i = 0; i < graph->nfunctions; i++) {
    const size_t out = graph->child_first[i + 1] - graph->child_first[i];
    const size_t in = graph->parent_first[i + 1] - graph->parent_first[i];
    longest = in + out > longest ? in + out : longest;
  }
  items->list = pf_array(longest, sizeof *items->list);
  items->spare = pf_array(longest, sizeof *items->spare);
  return items->list != NULL && items->spare != NULL ? PF_OK : PF_ENOMEM;
}


void pf_items_close (pf_items *items) {
  free(items->list);
  free(items->spare);
}


static uint64_t address_of (const pf_graph *graph, uint32_t function) {
  return function == PF_NO_FUNCTION ? UINT64_MAX : graph->addresses[function];
}


/* Compare the addresses of items that are equal otherwise. */
static int compare_addresses (const pf_graph *graph, const pf_item *a,
                              const pf_item *b) {
  if (graph->facts.compat || graph->addresses == NULL)
    return 0;
  const uint64_t x = address_of(graph, a->other);
  const uint64_t y = address_of(graph, b->other);
  return (x > y) - (x < y);
}


static int compare_keys (const pf_item *a, const pf_item *b) {
  if (a->kind != b->kind)
    return a->kind < b->kind ? -1 : 1;
  if (a->time != b->time)
    return a->time < b->time ? -1 : 1;
  return (a->count > b->count) - (a->count < b->count);
}


static int compare_items (const void *context, const void *left,
                          const void *right) {
  const int order = compare_keys(left, right);
  return order != 0 ? order : compare_addresses(context, left, right);
}


static int compare_reversed (const void *context, const void *left,
                             const void *right) {
  const int order = compare_keys(right, left);
  return order != 0 ? order : compare_addresses(context, left, right);
}


/* Sort the items from number `from` on, by descending time. */
static void sort_from (pf_items *items, const pf_flow *flow, size_t from) {
  pf_sort(items->list + from, items->spare, items->count - from,
          sizeof *items->list, compare_reversed, flow->graph);
}


/* Append an arc, whose other end is its callee or else its caller. */
static void add_arc (pf_items *items, const pf_flow *flow, uint32_t number,
                     bool to_callee) {
  const pf_arc *const arc = &flow->graph->arcs[number];
  pf_item *const item = &items->list[items->count++];
  *item = (pf_item){.number = number,
                    .other = to_callee ? arc->callee : arc->caller,
                    .kind = PF_ARC_SELF,
                    .count = arc->count};
  if (arc->caller == arc->callee)
    return;
  if (pf_flow_is_inner(flow, arc)) {
    item->kind = PF_ARC_INNER;
    return;
  }
  item->kind = PF_ARC_PLAIN;
  item->share = pf_flow_share(flow, arc);
  item->time = item->share.self + item->share.child;
}


void pf_items_callers (pf_items *items, const pf_flow *flow, size_t function,
                       bool only_outside, bool ascending) {
  const pf_graph *const graph = flow->graph;
  const uint32_t *const first = &graph->parent_first[function];
  const size_t from = items->count;
  for (uint32_t i = first[1]; i-- > first[0];)
    if (!only_outside ||
        graph->arcs[graph->parents[i]].caller == PF_NO_FUNCTION)
      add_arc(items, flow, graph->parents[i], false);
  if (ascending)
    pf_sort(items->list + from, items->spare, items->count - from,
            sizeof *items->list, compare_items, graph);
  else
    sort_from(items, flow, from);
}


void pf_items_callees (pf_items *items, const pf_flow *flow, size_t function) {
  const uint32_t *const first = &flow->graph->child_first[function];
  const size_t from = items->count;
  for (uint32_t i = first[1]; i-- > first[0];)
    add_arc(items, flow, i, true);
  sort_from(items, flow, from);
}


void pf_items_members (pf_items *items, const pf_flow *flow, size_t cycle) {
  const size_t from = items->count;
  for (uint32_t f = flow->cycles.heads[cycle]; f != PF_NO_FUNCTION;
       f = flow->cycles.next[f]) {
    const pf_share share = {pf_flow_shown_self(flow, f),
                            pf_flow_shown_child(flow, f)};
    items->list[items->count++] =
        (pf_item){f,
                  f,
                  0,
                  pf_add(flow->nodes[f].calls, flow->graph->self_calls[f]),
                  share.self + share.child,
                  share};
  }
  sort_from(items, flow, from);
}
