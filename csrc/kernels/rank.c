/*
** rank.c - the orders in which a profile is shown.
**
** Long lists are sorted by words: one key after the other, each time only
** the runs that are still equal. Short runs, and names that begin alike, are
** merged by comparing.
*/

#include "kernels/rank.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/order.h"
#include "model/names.h"

#define SHORT_RUN 48 /* sorted by comparing at once */
#define MAX_KEYS  4

/* A key of a node: smaller words come first. */
typedef uint64_t key_of (const pf_flow *flow, size_t node);

/* What is being sorted. */
typedef struct ranking {
  const pf_flow *flow;
  key_of *keys[MAX_KEYS];
  size_t nkeys;
  pf_pair *pairs, *spare;
} ranking;


/* {====== Keys ====== */

static const char *name_of (const pf_flow *flow, size_t node) {
  const pf_graph *graph = flow->graph;
  if (node >= graph->nfunctions)
    return "";
  return (const char *)pf_name(graph->dictionary, graph->names[node]).at;
}


static uint64_t by_self (const pf_flow *flow, size_t node) {
  return ~pf_order_num(flow->self[node]);
}


static uint64_t by_total (const pf_flow *flow, size_t node) {
  return ~pf_order_num(flow->shown_self[node] + flow->shown_child[node]);
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
  return name_of(flow, node)[0] == '_' ? 2 : 1;
}


/* The first eight bytes of the name. */
static uint64_t by_name (const pf_flow *flow, size_t node) {
  const char *name = name_of(flow, node);
  uint64_t word = 0;
  for (unsigned i = 0; i < 8; i++) {
    word = word << 8 | (uint8_t)*name;
    name += *name != '\0';
  }
  return word;
}

/* }====== */


/* {====== Nodes ====== */

/* Compare by the keys from `level` on, then by name. */
static int compare (const ranking *r, size_t level, size_t left, size_t right) {
  for (; level < r->nkeys; level++) {
    const uint64_t a = r->keys[level](r->flow, left);
    const uint64_t b = r->keys[level](r->flow, right);
    if (a != b)
      return a < b ? -1 : 1;
  }
  return strcmp(name_of(r->flow, left), name_of(r->flow, right));
}


static void sort_short (const ranking *r, size_t level, pf_pair *pairs,
                        size_t count) {
  for (size_t i = 1; i < count; i++) {
    const pf_pair moved = pairs[i];
    size_t at = i;
    for (; at > 0 && compare(r, level, pairs[at - 1].row, moved.row) > 0; at--)
      pairs[at] = pairs[at - 1];
    pairs[at] = moved;
  }
}


/* Merge two sorted neighbours, `half` long the left one, by name. */
static void merge (const ranking *r, pf_pair *pairs, size_t half,
                   size_t count) {
  size_t left = 0, right = half, at = 0;
  memcpy(r->spare, pairs, half * sizeof *pairs);
  while (left < half && right < count)
    if (compare(r, r->nkeys, r->spare[left].row, pairs[right].row) <= 0)
      pairs[at++] = r->spare[left++];
    else
      pairs[at++] = pairs[right++];
  memcpy(pairs + at, r->spare + left, (half - left) * sizeof *pairs);
}


static void sort_by_names (const ranking *r, pf_pair *pairs, size_t count) {
  for (size_t i = 0; i < count; i += SHORT_RUN)
    sort_short(r, r->nkeys, pairs + i,
               count - i < SHORT_RUN ? count - i : SHORT_RUN);
  for (size_t width = SHORT_RUN; width < count; width *= 2)
    for (size_t i = 0; i + width < count; i += 2 * width)
      merge(r, pairs + i, width, count - i < 2 * width ? count - i : 2 * width);
}


/* Sort by the keys from `level` on; it calls itself once per key at most. */
static void sort_level (const ranking *r, size_t level, pf_pair *pairs,
                        size_t count) {
  if (count <= SHORT_RUN) {
    sort_short(r, level, pairs, count);
    return;
  }
  if (level == r->nkeys) {
    sort_by_names(r, pairs, count);
    return;
  }
  for (size_t i = 0; i < count; i++)
    pairs[i].word = r->keys[level](r->flow, pairs[i].row);
  pf_sort_pairs(pairs, r->spare, count);
  for (size_t i = 0, next; i < count; i = next) {
    for (next = i + 1; next < count && pairs[next].word == pairs[i].word;)
      next++;
    if (next - i > 1)
      sort_level(r, level + 1, pairs + i, next - i);
  }
}


/* Sort nodes in place. */
static pf_status sort_nodes (ranking *r, uint32_t *nodes, size_t count) {
  r->pairs = malloc((count + 1) * sizeof *r->pairs);
  r->spare = malloc((count + 1) * sizeof *r->spare);
  const bool has_room = r->pairs != NULL && r->spare != NULL;
  for (size_t i = 0; has_room && i < count; i++)
    r->pairs[i] = (pf_pair){0, nodes[i]};
  if (has_room)
    sort_level(r, 0, r->pairs, count);
  for (size_t i = 0; has_room && i < count; i++)
    nodes[i] = (uint32_t)r->pairs[i].row;
  free(r->pairs);
  free(r->spare);
  return has_room ? PF_OK : PF_ENOMEM;
}


/* Whether a function shows up when zeros are left out. */
static bool is_seen (const pf_flow *flow, size_t function) {
  return flow->graph->calls[function] != 0 || flow->self[function] != 0;
}


pf_status pf_rank_flat (const pf_flow *flow, bool zeros, uint32_t **functions,
                        size_t *count) {
  const size_t n = flow->graph->nfunctions;
  ranking r = {flow, {by_self, by_calls, by_name}, 3, NULL, NULL};
  *count = 0;
  *functions = malloc((n + 1) * sizeof(uint32_t));
  if (*functions == NULL)
    return PF_ENOMEM;
  for (size_t i = 0; i < n; i++)
    if ((zeros || is_seen(flow, i)) && pf_flow_in_flat(flow, i))
      (*functions)[(*count)++] = (uint32_t)i;
  return sort_nodes(&r, *functions, *count);
}


pf_status pf_rank_graph (const pf_flow *flow, uint32_t **nodes) {
  ranking r = {flow, {by_total, by_kind, by_calls, by_name}, 4, NULL, NULL};
  *nodes = malloc((flow->nodes + 1) * sizeof(uint32_t));
  if (*nodes == NULL)
    return PF_ENOMEM;
  for (size_t i = 0; i < flow->nodes; i++)
    (*nodes)[i] = (uint32_t)i;
  return sort_nodes(&r, *nodes, flow->nodes);
}


pf_status pf_rank_index (const pf_flow *flow, bool zeros, uint32_t **nodes,
                         size_t *count) {
  const size_t n = flow->graph->nfunctions;
  ranking r = {flow, {by_name}, 1, NULL, NULL};
  *count = 0;
  *nodes = malloc((flow->nodes + 1) * sizeof(uint32_t));
  if (*nodes == NULL)
    return PF_ENOMEM;
  for (size_t i = 0; i < n; i++)
    if (zeros || is_seen(flow, i))
      (*nodes)[(*count)++] = (uint32_t)i;
  const pf_status status = sort_nodes(&r, *nodes, *count);
  for (size_t i = n; i < flow->nodes; i++)
    (*nodes)[(*count)++] = (uint32_t)i;
  return status;
}

/* }====== */


/* {====== Arcs and members ====== */

/* What two of them compare as: below 0, the left comes first. */
typedef int compare_two (const pf_flow *flow, uint32_t left, uint32_t right);


/* Sort a list by merging, stably. */
static void sort_list (const pf_flow *flow, uint32_t *list, uint32_t *spare,
                       size_t count, compare_two *before) {
  for (size_t width = 1; width < count; width *= 2) {
    for (size_t i = 0; i < count; i += 2 * width) {
      const size_t half = i + width < count ? i + width : count;
      const size_t end = half + width < count ? half + width : count;
      size_t left = i, right = half;
      for (size_t at = i; at < end; at++)
        spare[at] = left < half && (right == end ||
                                    before(flow, list[left], list[right]) <= 0)
                        ? list[left++]
                        : list[right++];
    }
    memcpy(list, spare, count * sizeof *list);
  }
}


/* 0: a function with itself, 1: inside a cycle, 2: any other. */
static int kind_of_arc (const pf_flow *flow, uint32_t arc) {
  if (flow->graph->callers[arc] == flow->graph->callees[arc])
    return 0;
  return pf_flow_is_inner(flow, arc) ? 1 : 2;
}


static int compare_arcs (const pf_flow *flow, uint32_t left, uint32_t right) {
  const int kind = kind_of_arc(flow, left);
  const int other = kind_of_arc(flow, right);
  if (kind != other)
    return kind - other;
  if (kind == 2) {
    const double a = flow->arc_self[left] + flow->arc_child[left];
    const double b = flow->arc_self[right] + flow->arc_child[right];
    if (a != b)
      return a < b ? -1 : 1;
  }
  const int64_t a = flow->graph->counts[left];
  const int64_t b = flow->graph->counts[right];
  return a < b ? -1 : a > b;
}


static int arcs_rising (const pf_flow *flow, uint32_t left, uint32_t right) {
  const int order = compare_arcs(flow, left, right);
  return order != 0 ? order : left < right ? -1 : 1;
}


static int arcs_falling (const pf_flow *flow, uint32_t left, uint32_t right) {
  const int order = compare_arcs(flow, right, left);
  return order != 0 ? order : left < right ? -1 : 1;
}


void pf_rank_arcs (const pf_flow *flow, uint32_t *arcs, uint32_t *spare,
                   size_t count, bool reverse) {
  sort_list(flow, arcs, spare, count, reverse ? arcs_falling : arcs_rising);
}


static int compare_members (const pf_flow *flow, uint32_t left,
                            uint32_t right) {
  const double a = flow->shown_self[left] + flow->shown_child[left];
  const double b = flow->shown_self[right] + flow->shown_child[right];
  if (a != b)
    return a > b ? -1 : 1;
  const pf_graph *graph = flow->graph;
  const int64_t x = pf_add(graph->calls[left], graph->self_calls[left]);
  const int64_t y = pf_add(graph->calls[right], graph->self_calls[right]);
  return x > y ? -1 : x < y;
}


void pf_rank_members (const pf_flow *flow, uint32_t *members, uint32_t *spare,
                      size_t count) {
  sort_list(flow, members, spare, count, compare_members);
}

/* }====== */
