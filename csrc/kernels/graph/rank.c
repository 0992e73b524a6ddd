/*
** rank.c - the orders in which a profile is shown.
**
** Nodes are sorted by words: one key after the other, each time only the runs
** that are still equal. The bytes of names are the last keys, eight at a time.
** The sort is stable, so what is equal throughout stays in order of numbers.
*/

#include "kernels/graph/rank.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/order.h"
#include "model/memory.h"
#include "model/names.h"
#include "model/parallel.h"

#define SHORT_RUN  48    /* sorted by insertion */
#define FEW        16    /* ... of items */
#define FETCH_FROM 12    /* nodes ahead */
#define MANY       16384 /* functions that are worth a thread */

/* What is being sorted. */
typedef struct ranking {
  const pf_flow *flow;
  pf_pair *pairs, *spare; /* a node, and the word of the key in work */
  bool *same;             /* equals the node before in all keys so far */
  size_t count;
} ranking;

/* A key of a node: smaller words come first. */
typedef uint64_t key_of (const pf_flow *flow, size_t node);


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


static uint64_t part_of_name (const pf_flow *flow, size_t node, size_t offset) {
  const pf_graph *graph = flow->graph;
  return node >= graph->nfunctions
             ? 0
             : pf_name_word(graph->dictionary, graph->names[node], offset);
}


/* Whether a node has an equal neighbour. */
static inline bool is_in_run (const ranking *r, size_t i) {
  return r->same[i] || (i + 1 < r->count && r->same[i + 1]);
}


/* The names of nodes from number i on will soon be read: have in steps ready
   where the graph keeps the number of the name, the dictionary its place, and
   the name. Cycles have no names: take that of some function. */
static inline void fetch_name (const ranking *r, size_t i) {
  const pf_graph *const graph = r->flow->graph;
  const size_t last = graph->nfunctions - 1;
  size_t rows[3];
  if (i + 3 * FETCH_FROM >= r->count)
    return;
  for (size_t step = 0; step < 3; step++) {
    const size_t row = r->pairs[i + (step + 1) * FETCH_FROM].row;
    rows[step] = row < last ? row : last;
  }
  __builtin_prefetch(&graph->names[rows[2]]);
  pf_name_soon(graph->dictionary, graph->names[rows[1]]);
  __builtin_prefetch(pf_name(graph->dictionary, graph->names[rows[0]]).at);
}


/* The same for calls. */
static inline void fetch_calls (const ranking *r, size_t i) {
  const pf_graph *const graph = r->flow->graph;
  if (i + FETCH_FROM >= r->count)
    return;
  const size_t row = r->pairs[i + FETCH_FROM].row;
  __builtin_prefetch(&graph->calls[row < graph->nfunctions ? row : 0]);
}


static void set_words (ranking *r, key_of *key) {
  for (size_t i = 0; i < r->count; i++) {
    if (key == by_calls)
      fetch_calls(r, i);
    if (!is_in_run(r, i))
      continue;
    if (key == by_kind)
      fetch_name(r, i);
    r->pairs[i].word = key(r->flow, r->pairs[i].row);
  }
}


static void set_names (ranking *r, size_t offset) {
  for (size_t i = 0; i < r->count; i++) {
    if (!is_in_run(r, i))
      continue;
    fetch_name(r, i);
    r->pairs[i].word = part_of_name(r->flow, r->pairs[i].row, offset);
  }
}


/* How many nodes are in runs. */
static size_t count_in_runs (const ranking *r) {
  size_t count = 0;
  for (size_t i = 0; i < r->count; i++)
    count += is_in_run(r, i);
  return count;
}


/* The same for the beginnings of names, where most nodes are in runs: names
   lie in memory as functions do, so these are read in a row, and the runs look
   into what came out. False: nothing is done. */
static bool set_beginnings (ranking *r) {
  const size_t n = r->flow->graph->nfunctions;
  if (count_in_runs(r) < n / 2)
    return false;
  uint64_t *const words = pf_array(n, sizeof *words);
  if (words == NULL)
    return false;
  for (size_t i = 0; i < n; i++)
    words[i] = part_of_name(r->flow, i, 0);
  for (size_t i = 0; i < r->count; i++) {
    const size_t row = r->pairs[i].row;
    if (i + FETCH_FROM < r->count && r->pairs[i + FETCH_FROM].row < n)
      __builtin_prefetch(&words[r->pairs[i + FETCH_FROM].row]);
    if (is_in_run(r, i))
      r->pairs[i].word = row < n ? words[row] : 0;
  }
  free(words);
  return true;
}

/* }====== */


/* {====== Runs ====== */

static bool is_sorted (const pf_pair *pairs, size_t count) {
  for (size_t i = 1; i < count; i++)
    if (pairs[i - 1].word > pairs[i].word)
      return false;
  return true;
}


static void sort_short (pf_pair *pairs, size_t count) {
  for (size_t i = 1; i < count; i++) {
    const pf_pair moved = pairs[i];
    size_t at = i;
    for (; at > 0 && pairs[at - 1].word > moved.word; at--)
      pairs[at] = pairs[at - 1];
    pairs[at] = moved;
  }
}


/* The end of the run that begins at `from`. */
static size_t end_of_run (const ranking *r, size_t from) {
  size_t end = from + 1;
  while (end < r->count && r->same[end])
    end++;
  return end;
}


/* Sort each run by the words; answers whether any nodes are still equal. */
static bool sort_runs (ranking *r) {
  bool any = false;
  for (size_t from = 0, end; from < r->count; from = end) {
    pf_pair *const pairs = r->pairs + from;
    end = end_of_run(r, from);
    if (!is_sorted(pairs, end - from)) {
      if (end - from <= SHORT_RUN)
        sort_short(pairs, end - from);
      else
        pf_sort_pairs(pairs, r->spare, end - from);
    }
    for (size_t i = from + 1; i < end; i++)
      any |= r->same[i] = r->pairs[i].word == r->pairs[i - 1].word;
  }
  return any;
}


/* Part the runs whose names have ended: they are equal for good. Answers
   whether there are others. */
static bool drop_ended (ranking *r) {
  bool any = false;
  for (size_t i = 1; i < r->count; i++)
    any |= r->same[i] = r->same[i] && (r->pairs[i].word & 0xff) != 0;
  return any;
}


/* Sort by the keys (the last of them NULL), then by name. */
static void sort_all (ranking *r, key_of *const *keys) {
  memset(r->same, true, r->count);
  r->same[0] = false;
  bool any = r->count > 1;
  for (; any && *keys != NULL; keys++) {
    set_words(r, *keys);
    any = sort_runs(r);
  }
  for (size_t offset = 0; any; offset += 8) {
    if (offset > 0 || !set_beginnings(r))
      set_names(r, offset);
    any = sort_runs(r) && drop_ended(r);
  }
}


/* Sort nodes in place. */
static pf_status sort_nodes (const pf_flow *flow, uint32_t *nodes, size_t count,
                             key_of *const *keys) {
  ranking r = {flow, pf_array(count, sizeof(pf_pair)),
               pf_array(count, sizeof(pf_pair)), pf_array(count, sizeof(bool)),
               count};
  const bool has_room = r.pairs != NULL && r.spare != NULL && r.same != NULL;
  for (size_t i = 0; has_room && i < count; i++)
    r.pairs[i] = (pf_pair){0, nodes[i]};
  if (has_room)
    sort_all(&r, keys);
  for (size_t i = 0; has_room && i < count; i++)
    nodes[i] = (uint32_t)r.pairs[i].row;
  free(r.pairs);
  free(r.spare);
  free(r.same);
  return has_room ? PF_OK : PF_ENOMEM;
}

/* }====== */


/* {====== Nodes ====== */

/* Whether a function shows up when zeros are left out. */
static bool is_seen (const pf_flow *flow, size_t function) {
  return flow->graph->calls[function] != 0 ||
         (pf_flow_in_flat(flow, function) &&
          pf_flow_weight(flow, function) != 0);
}


pf_status pf_rank_flat (const pf_flow *flow, bool zeros, uint32_t **functions,
                        size_t *count) {
  static key_of *const keys[] = {by_self, by_calls, NULL};
  const size_t n = flow->graph->nfunctions;
  *count = 0;
  *functions = pf_array(n, sizeof(uint32_t));
  if (*functions == NULL)
    return PF_ENOMEM;
  for (size_t i = 0; i < n; i++)
    if ((zeros || is_seen(flow, i)) && pf_flow_in_flat(flow, i))
      (*functions)[(*count)++] = (uint32_t)i;
  return sort_nodes(flow, *functions, *count, keys);
}


pf_status pf_rank_graph (const pf_flow *flow, uint32_t **nodes) {
  static key_of *const keys[] = {by_total, by_kind, by_calls, NULL};
  *nodes = pf_array(flow->nnodes, sizeof(uint32_t));
  if (*nodes == NULL)
    return PF_ENOMEM;
  for (size_t i = 0; i < flow->nnodes; i++)
    (*nodes)[i] = (uint32_t)i;
  return sort_nodes(flow, *nodes, flow->nnodes, keys);
}


pf_status pf_rank_index (const pf_flow *flow, bool zeros, uint32_t **functions,
                         size_t *count) {
  static key_of *const keys[] = {NULL};
  const size_t n = flow->graph->nfunctions;
  *count = 0;
  *functions = pf_array(n, sizeof(uint32_t));
  if (*functions == NULL)
    return PF_ENOMEM;
  for (size_t i = 0; i < n; i++)
    if (zeros || is_seen(flow, i))
      (*functions)[(*count)++] = (uint32_t)i;
  return sort_nodes(flow, *functions, *count, keys);
}

/* }====== */


/* {====== Flow and orders at once ====== */

typedef struct job {
  pf_flow *flow;
  pf_status first, second; /* what the two tasks came to */
} job;


static void spread (void *context) {
  job *const j = context;
  j->first = pf_flow_spread(j->flow);
}


/* Rank the entries, and number them. */
static void rank_entries (void *context) {
  job *const j = context;
  pf_flow *const flow = j->flow;
  uint32_t *nodes = NULL;
  j->first = pf_rank_graph(flow, &nodes);
  if (j->first != PF_OK || nodes == NULL) {
    free(nodes);
    return;
  }
  for (size_t i = 0; i < flow->nnodes; i++)
    flow->nodes[nodes[i]].index = (uint32_t)i + 1;
  flow->entries = nodes;
}


static void spread_and_rank (void *context) {
  job *const j = context;
  spread(j);
  if (j->first == PF_OK)
    rank_entries(j);
}


static void rank_flat (void *context) {
  job *const j = context;
  pf_flow *const flow = j->flow;
  j->second = pf_rank_flat(flow, flow->zeros, &flow->flat, &flow->nflat);
}


static void rank_index (void *context) {
  job *const j = context;
  pf_flow *const flow = j->flow;
  uint32_t *names = NULL;
  j->second = pf_rank_index(flow, flow->zeros, &names, &flow->nnames);
  if (j->second == PF_OK)
    flow->names = names;
  else
    free(names);
}


/* Both tasks, of a flow that has begun. */
static pf_status do_both (pf_flow *flow, pf_task *first, pf_task *second) {
  job j = {flow, PF_OK, PF_OK};
  if (flow->graph->nfunctions >= MANY)
    pf_both(first, &j, second, &j);
  else {
    first(&j);
    second(&j);
  }
  return j.first != PF_OK ? j.first : j.second;
}


pf_status pf_flow_open_flat (pf_flow *flow, pf_graph *graph, size_t metric,
                             const uint8_t *filter, bool zeros) {
  pf_flow_begin(flow, graph, metric, filter);
  flow->zeros = zeros;
  return do_both(flow, spread, rank_flat);
}


pf_status pf_flow_open_graph (pf_flow *flow, pf_graph *graph, size_t metric,
                              const uint8_t *filter, bool zeros) {
  pf_flow_begin(flow, graph, metric, filter);
  flow->zeros = zeros;
  return do_both(flow, spread_and_rank, rank_index);
}


pf_status pf_flow_rank (pf_flow *flow, bool zeros) {
  if (flow->entries != NULL)
    return PF_OK;
  free(flow->names); /* of an attempt for which memory was short */
  flow->names = NULL;
  flow->zeros = flow->flat == NULL ? zeros : flow->zeros;
  return do_both(flow, rank_entries, rank_index);
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


/* Whether `left` belongs behind `right`. */
static inline bool is_behind (const pf_item *left, const pf_item *right) {
  if (left->kind != right->kind)
    return left->kind > right->kind;
  if (left->time != right->time)
    return left->time > right->time;
  return left->count > right->count;
}


/* Whether two neighbours have to change places. */
static inline bool is_wrong (const pf_item *left, const pf_item *right,
                             bool reverse) {
  return reverse ? is_behind(right, left) : is_behind(left, right);
}


static void sort_few (pf_item *items, size_t count, bool reverse) {
  for (size_t i = 1; i < count; i++) {
    const pf_item moved = items[i];
    size_t at = i;
    for (; at > 0 && is_wrong(&items[at - 1], &moved, reverse); at--)
      items[at] = items[at - 1];
    items[at] = moved;
  }
}


/* Merge two sorted neighbours, `half` long the left one. */
static void merge (pf_item *items, pf_item *spare, size_t half, size_t count,
                   bool reverse) {
  size_t left = 0, right = half, at = 0;
  memcpy(spare, items, half * sizeof *items);
  while (left < half && right < count)
    items[at++] = is_wrong(&spare[left], &items[right], reverse)
                      ? items[right++]
                      : spare[left++];
  memcpy(items + at, spare + left, (half - left) * sizeof *items);
}


void pf_rank_items (pf_item *items, pf_item *spare, size_t count,
                    bool reverse) {
  for (size_t i = 0; i < count; i += FEW)
    sort_few(items + i, count - i < FEW ? count - i : FEW, reverse);
  for (size_t width = FEW; width < count; width *= 2)
    for (size_t i = 0; i + width < count; i += 2 * width)
      merge(items + i, spare, width,
            count - i < 2 * width ? count - i : 2 * width, reverse);
}

/* }====== */
