/*
** contexts.c - the calling context tree. Appended nodes are added to the intern
** table only when a node is looked up by its frame: readers that know which
** nodes are new do not pay for hashing.
*/

#include <stdlib.h>
#include <string.h>

#include "model/contexts/contexts.h"
#include "model/base/memory.h"


pf_status pf_contexts_open (pf_contexts *c, pf_dictionary *dictionary) {
  *c = (pf_contexts){.dictionary = dictionary, .default_metric = PF_NO_METRIC};
  c->children.seed = dictionary->seed;
  return pf_context_append(c, PF_NO_CONTEXT, PF_NO_AREA) == 0 ? PF_OK
                                                              : PF_ENOMEM;
}


void pf_contexts_close (pf_contexts *c) {
  free(c->parents);
  free(c->frames);
  for (size_t m = 0; m < c->nmetrics; m++) {
    free(c->weights[m]);
    free(c->metrics[m].name);
    free(c->metrics[m].unit);
  }
  free(c->weights);
  free(c->metrics);
  pf_intern_table_free(&c->children);
  *c = (pf_contexts){0};
}


size_t pf_metric_named (const pf_contexts *c, const char *name) {
  for (size_t m = 0; m < c->nmetrics; m++)
    if (strcmp(c->metrics[m].name, name) == 0)
      return m;
  return PF_NO_METRIC;
}


size_t pf_metric_default (const pf_contexts *c) {
  if (c->default_metric != PF_NO_METRIC)
    return c->default_metric;
  const size_t time = pf_metric_named(c, "time");
  return time == PF_NO_METRIC && c->nmetrics > 0 ? 0 : time;
}


static size_t find_metric (const pf_contexts *c, const char *name,
                           const char *unit) {
  for (size_t m = 0; m < c->nmetrics; m++)
    if (strcmp(c->metrics[m].name, name) == 0 &&
        strcmp(c->metrics[m].unit, unit) == 0)
      return m;
  return PF_NO_METRIC;
}


/* Add a metric and take over its weights. PF_NO_METRIC when out of memory: the
   weights stay with the caller. */
static size_t add_metric (pf_contexts *c, const char *name, const char *unit,
                          int64_t *weights) {
  pf_context_metric metric = {NULL, NULL};
  size_t capacity = c->metric_capacity;
  if (pf_grow(&c->metrics, &capacity, c->nmetrics + 1) &&
      pf_grow(&c->weights, &c->metric_capacity, c->nmetrics + 1)) {
    metric.name = strdup(name);
    metric.unit = strdup(unit);
  }
  if (metric.name == NULL || metric.unit == NULL) {
    free(metric.name);
    free(metric.unit);
    return PF_NO_METRIC;
  }
  c->weights[c->nmetrics] = weights;
  c->metrics[c->nmetrics] = metric;
  return c->nmetrics++;
}


size_t pf_metric_of (pf_contexts *c, const char *name, const char *unit) {
  const size_t known = find_metric(c, name, unit);
  if (known != PF_NO_METRIC)
    return known;
  int64_t *const weights =
      pf_large_array_of_zeros(c->capacity, sizeof *weights);
  const size_t added =
      weights == NULL ? PF_NO_METRIC : add_metric(c, name, unit, weights);
  if (added == PF_NO_METRIC)
    free(weights);
  return added;
}


bool pf_metrics_copy (pf_contexts *c, const pf_contexts *from) {
  for (size_t m = 0; m < from->nmetrics; m++)
    if (add_metric(c, from->metrics[m].name, from->metrics[m].unit, NULL) != m)
      return false;
  c->default_metric = from->default_metric;
  return true;
}


bool pf_metrics_add (pf_contexts *c, const pf_contexts *from) {
  for (size_t m = 0; m < from->nmetrics; m++)
    if (pf_metric_of(c, from->metrics[m].name, from->metrics[m].unit) ==
        PF_NO_METRIC)
      return false;
  if (c->default_metric == PF_NO_METRIC && from->default_metric != PF_NO_METRIC)
    c->default_metric = find_metric(c, from->metrics[from->default_metric].name,
                                    from->metrics[from->default_metric].unit);
  return true;
}


typedef struct wanted {
  const pf_contexts *contexts;
  uint32_t parent, frame;
} wanted;


static bool is_same (const void *context, uint32_t number) {
  const wanted *const w = context;
  return w->contexts->parents[number] == w->parent &&
         w->contexts->frames[number] == w->frame;
}


static uint64_t hash_of (const pf_contexts *c, uint32_t parent,
                         uint32_t frame) {
  return pf_mix(c->children.seed, parent | (uint64_t)frame << 32);
}


/* Grow all arrays. False when out of memory: some arrays may have grown. */
static bool grow (pf_contexts *c, uint32_t capacity) {
  uint32_t **const ids[] = {&c->parents, &c->frames};
  for (size_t i = 0; i < 2; i++) {
    uint32_t *const grown =
        pf_large_array_resize(*ids[i], c->count, capacity, sizeof *grown);
    if (grown == NULL)
      return false;
    *ids[i] = grown;
  }
  for (size_t m = 0; m < c->nmetrics; m++) {
    int64_t *const weights = pf_large_array_resize(c->weights[m], c->count,
                                                   capacity, sizeof *weights);
    if (weights == NULL)
      return false;
    c->weights[m] = weights;
  }
  c->capacity = capacity;
  return true;
}


void pf_contexts_reserve (pf_contexts *c, size_t count) {
  if (count > c->capacity && count <= UINT32_MAX / 2)
    (void)grow(c, (uint32_t)count);
}


bool pf_contexts_grow (pf_contexts *c) {
  return c->capacity <= UINT32_MAX / 8 &&
         grow(c,
              c->capacity == 0 ? 64 : (uint32_t)pf_next_capacity(c->capacity));
}


bool pf_contexts_extend (pf_contexts *c, size_t count) {
  if (count > UINT32_MAX / 2 - c->count)
    return false;
  const uint32_t total = c->count + (uint32_t)count;
  if (total > c->capacity && !grow(c, total))
    return false;
  c->count = total;
  return true;
}


uint32_t pf_context_of (pf_contexts *c, uint32_t parent, uint32_t frame) {
  const uint64_t hash = hash_of(c, parent, frame);
  const wanted w = {c, parent, frame};
  /* Add the appended nodes to the intern table. */
  while (c->children.count < c->count) {
    const uint32_t node = c->children.count;
    if (!pf_intern_table_reserve(&c->children))
      return PF_NO_CONTEXT;
    pf_intern_table_add(&c->children,
                        hash_of(c, c->parents[node], c->frames[node]));
  }
  const uint32_t known = pf_intern_table_find(&c->children, hash, is_same, &w);
  if (known != PF_NOT_INTERNED)
    return known;
  if (!pf_intern_table_reserve(&c->children))
    return PF_NO_CONTEXT;
  const uint32_t node = pf_context_append(c, parent, frame);
  if (node != PF_NO_CONTEXT)
    pf_intern_table_add(&c->children, hash);
  return node;
}


uint32_t pf_frame_of (pf_dictionary *dictionary, uint32_t area) {
  const pf_area *const known = pf_area_at(dictionary, area);
  pf_area frame = PF_AREA_NONE;
  frame.name = known->name;
  frame.file = known->file;
  frame.line = known->line;
  return pf_area_add(dictionary, &frame);
}


bool pf_contexts_overflow (const pf_contexts *c) {
  bool overflow = c->has_overflowed;
  for (size_t m = 0; m < c->nmetrics; m++) {
    int64_t sum = 0;
    for (uint32_t node = 0; node < c->count; node++)
      sum = pf_weight_add(sum, c->weights[m][node], &overflow);
  }
  return overflow;
}


/* Children have higher numbers: add each total to that of the parent, the last
   node first. */
void pf_contexts_totals (const pf_contexts *c, size_t metric, int64_t *totals) {
  bool overflow = false;
  memcpy(totals, c->weights[metric], c->count * sizeof *totals);
  for (uint32_t node = c->count; node-- > 1;) {
    int64_t *const above = &totals[c->parents[node]];
    *above = pf_weight_add(*above, totals[node], &overflow);
  }
}


bool pf_contexts_copy_nodes (pf_contexts *c, const pf_contexts *from) {
  if (!grow(c, from->count))
    return false;
  pf_intern_table_free(&c->children);
  c->children.seed = from->children.seed;
  if (from->children.count == from->count && /* it has all nodes */
      !pf_intern_table_copy(&c->children, &from->children))
    return false;
  memcpy(c->parents, from->parents, from->count * sizeof *c->parents);
  memcpy(c->frames, from->frames, from->count * sizeof *c->frames);
  c->count = from->count;
  return true;
}


pf_status pf_contexts_copy (pf_contexts *c, const pf_contexts *from) {
  if (!pf_contexts_copy_nodes(c, from) || !pf_metrics_add(c, from))
    return PF_ENOMEM;
  for (size_t m = 0; m < from->nmetrics; m++)
    memcpy(c->weights[m], from->weights[m], from->count * sizeof(int64_t));
  c->has_overflowed = from->has_overflowed;
  return PF_OK;
}


/* Goes up to the nearest stack with a node, and adds nodes from there down,
   without recursion, since stacks may be deep. */
uint32_t pf_node_of_stack (pf_contexts *contexts, pf_stack_nodes *known,
                           uint32_t stack) {
  const pf_dictionary *const d = contexts->dictionary;
  const size_t depth = pf_stack_at(d, stack)->depth;
  if (depth == 0)
    return 0;
  if (stack >= known->count &&
      !pf_grow_filled(&known->nodes, &known->count, pf_stacks_count(d), 0xff))
    return PF_NO_CONTEXT;
  if (known->nodes[stack] != PF_NO_CONTEXT)
    return known->nodes[stack];
  if (!pf_grow(&known->path, &known->path_capacity, depth))
    return PF_NO_CONTEXT;
  size_t n = 0;
  for (uint32_t up = stack;
       up != PF_NO_STACK && known->nodes[up] == PF_NO_CONTEXT;
       up = pf_stack_at(d, up)->parent)
    known->path[n++] = up;
  while (n > 0) {
    const uint32_t next = known->path[--n];
    const pf_stack *const s = pf_stack_at(d, next);
    const uint32_t above =
        s->parent == PF_NO_STACK ? 0 : known->nodes[s->parent];
    const uint32_t frame = pf_frame_of(contexts->dictionary, s->frame);
    known->nodes[next] = frame == PF_NO_AREA
                             ? PF_NO_CONTEXT
                             : pf_context_of(contexts, above, frame);
    if (known->nodes[next] == PF_NO_CONTEXT)
      return PF_NO_CONTEXT;
  }
  return known->nodes[stack];
}


void pf_stack_nodes_close (pf_stack_nodes *known) {
  free(known->nodes);
  free(known->path);
  *known = (pf_stack_nodes){.nodes = NULL};
}
