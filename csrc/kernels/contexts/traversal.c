/*
** traversal.c - the order of model/contexts/tree_order.h, the functions and
** classes of nodes, and which nodes are outermost.
*/

#include <stdlib.h>

#include "kernels/contexts/views.h"
#include "model/base/sorts.h"
#include "model/contexts/tree_order.h"


static pf_status fill (pf_traversal *t, const int64_t *totals,
                       uint32_t *scratch, size_t nareas) {
  const pf_contexts *const c = t->contexts;
  uint32_t *const ranks = scratch, *const sorted = scratch + nareas;
  uint32_t *const of_area = sorted + nareas, count;
  if (pf_contexts_rank(c, ranks, sorted, &count) != PF_OK)
    return PF_ENOMEM;
  const pf_area *last = NULL;
  for (uint32_t i = 0; i < count; i++) {
    const pf_area *const a = pf_area_at(t->contexts->dictionary, sorted[i]);
    if (last == NULL || a->name != last->name || a->file != last->file)
      t->areas[t->nfunctions++] = sorted[i];
    else if (last->line == 0)
      t->areas[t->nfunctions - 1] = sorted[i];
    last = a;
    of_area[sorted[i]] = t->nfunctions - 1;
  }
  t->functions[0] = PF_NO_FUNCTION;
  for (uint32_t i = 1; i < c->count; i++)
    t->functions[i] = of_area[c->frames[i]];
  const pf_status status =
      pf_contexts_order(c, ranks, totals, t->order, t->depths);
  for (uint32_t i = 0; status == PF_OK && i < c->count; i++)
    if (t->depths[i] > t->max_depth)
      t->max_depth = t->depths[i];
  return status;
}


pf_status pf_traversal_open (pf_traversal *t, const pf_contexts *contexts,
                             const int64_t *totals) {
  const size_t count = contexts->count;
  const size_t nareas = (size_t)pf_areas_count(contexts->dictionary) + 1;
  *t = (pf_traversal){.contexts = contexts};
  t->order = malloc(count * sizeof *t->order);
  t->depths = malloc(count * sizeof *t->depths);
  t->functions = malloc(count * sizeof *t->functions);
  t->areas = malloc(nareas * sizeof *t->areas);
  uint32_t *const scratch = malloc(3 * nareas * sizeof *scratch);
  pf_status status = PF_ENOMEM;
  if (t->order != NULL && t->depths != NULL && t->functions != NULL &&
      t->areas != NULL && scratch != NULL)
    status = fill(t, totals, scratch, nareas);
  free(scratch);
  if (status != PF_OK)
    pf_traversal_close(t);
  return status;
}


void pf_traversal_close (pf_traversal *t) {
  free(t->order);
  free(t->depths);
  free(t->functions);
  free(t->areas);
  *t = (pf_traversal){0};
}


pf_status pf_traversal_outermost (const pf_traversal *t,
                                  const uint32_t *classes, size_t nclasses,
                                  bool *outermost) {
  uint32_t *const on_path = calloc(nclasses + 1, sizeof *on_path);
  uint32_t *const path = malloc(((size_t)t->max_depth + 1) * sizeof *path);
  if (on_path == NULL || path == NULL) {
    free(on_path);
    free(path);
    return PF_ENOMEM;
  }
  size_t depth = 0; /* length of the path to the previous node */
  for (uint32_t i = 0; i < t->contexts->count; i++) {
    const uint32_t node = t->order[i], class = classes[node];
    for (; depth > t->depths[i]; depth--)
      if (path[depth - 1] != UINT32_MAX)
        on_path[path[depth - 1]]--;
    path[depth++] = class;
    outermost[node] = class != UINT32_MAX && on_path[class]++ == 0;
  }
  free(on_path);
  free(path);
  return PF_OK;
}


pf_status pf_traversal_classes (const pf_traversal *t, pf_word_of *word_of,
                                uint32_t *classes, size_t *nclasses) {
  const size_t count = t->contexts->count;
  pf_pair *const pairs = malloc(2 * count * sizeof *pairs);
  if (pairs == NULL)
    return PF_ENOMEM;
  for (uint32_t i = 1; i < count; i++)
    pairs[i - 1] = (pf_pair){word_of(t, i), i};
  pf_sort_pairs(pairs, pairs + count, count - 1);
  *nclasses = 0;
  classes[0] = UINT32_MAX;
  for (size_t i = 0; i + 1 < count; i++) {
    const bool has_class = pairs[i].word != UINT64_MAX;
    *nclasses += has_class && (i == 0 || pairs[i].word != pairs[i - 1].word);
    classes[pairs[i].row] = has_class ? (uint32_t)*nclasses - 1 : UINT32_MAX;
  }
  free(pairs);
  return PF_OK;
}
