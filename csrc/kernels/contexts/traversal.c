/*
** walk.c - the order of model/contexts_order.h, and functions in it.
*/

#include <stdlib.h>

#include "kernels/contexts/traversal.h"
#include "model/contexts_order.h"


/* Number the functions: frames of one name and file stand together. */
static void number_functions (pf_traversal *walk, const uint32_t *sorted,
                              uint32_t count, uint32_t *of_area) {
  const pf_area *last = NULL;
  for (uint32_t i = 0; i < count; i++) {
    const pf_area *const a = pf_area_at(walk->contexts->dictionary, sorted[i]);
    if (last == NULL || a->name != last->name || a->file != last->file)
      walk->areas[walk->nfunctions++] = sorted[i];
    last = a;
    of_area[sorted[i]] = walk->nfunctions - 1;
  }
}


static pf_status fill (pf_traversal *walk, const int64_t *totals,
                       uint32_t *scratch, size_t nareas) {
  const pf_contexts *const c = walk->contexts;
  uint32_t *const ranks = scratch, *const sorted = scratch + nareas;
  uint32_t *const of_area = sorted + nareas, count;
  if (pf_contexts_rank(c, ranks, sorted, &count) != PF_OK)
    return PF_ENOMEM;
  number_functions(walk, sorted, count, of_area);
  walk->functions[0] = PF_NO_FUNCTION;
  for (uint32_t i = 1; i < c->count; i++)
    walk->functions[i] = of_area[c->frames[i]];
  const pf_status status =
      pf_contexts_order(c, ranks, totals, walk->order, walk->depths);
  for (uint32_t i = 0; status == PF_OK && i < c->count; i++)
    if (walk->depths[i] > walk->max_depth)
      walk->max_depth = walk->depths[i];
  return status;
}


pf_status pf_traversal_open (pf_traversal *walk, const pf_contexts *contexts,
                             const int64_t *totals) {
  const size_t count = contexts->count;
  const size_t nareas = (size_t)pf_areas_count(contexts->dictionary) + 1;
  *walk = (pf_traversal){.contexts = contexts};
  walk->order = malloc(count * sizeof *walk->order);
  walk->depths = malloc(count * sizeof *walk->depths);
  walk->functions = malloc(count * sizeof *walk->functions);
  walk->areas = malloc(nareas * sizeof *walk->areas);
  uint32_t *const scratch = malloc(3 * nareas * sizeof *scratch);
  pf_status status = PF_ENOMEM;
  if (walk->order != NULL && walk->depths != NULL && walk->functions != NULL &&
      walk->areas != NULL && scratch != NULL)
    status = fill(walk, totals, scratch, nareas);
  free(scratch);
  if (status != PF_OK)
    pf_traversal_close(walk);
  return status;
}


void pf_traversal_close (pf_traversal *walk) {
  free(walk->order);
  free(walk->depths);
  free(walk->functions);
  free(walk->areas);
  *walk = (pf_traversal){0};
}


/* {====== Recursion ====== */

pf_status pf_traversal_outermost_of (const pf_traversal *walk,
                                     const uint32_t *classes, size_t nclasses,
                                     bool *outermost) {
  uint32_t *const above = calloc(nclasses + 1, sizeof *above);
  uint32_t *const path = malloc(((size_t)walk->max_depth + 1) * sizeof *path);
  if (above == NULL || path == NULL) {
    free(above);
    free(path);
    return PF_ENOMEM;
  }
  size_t depth = 0; /* of the path to the node before */
  for (uint32_t i = 0; i < walk->contexts->count; i++) {
    const uint32_t node = walk->order[i], class = classes[node];
    for (; depth > walk->depths[i]; depth--)
      if (path[depth - 1] != UINT32_MAX)
        above[path[depth - 1]]--;
    path[depth++] = class;
    outermost[node] = class != UINT32_MAX && above[class]++ == 0;
  }
  free(above);
  free(path);
  return PF_OK;
}


pf_status pf_traversal_outermost (const pf_traversal *walk, bool *outermost) {
  return pf_traversal_outermost_of(walk, walk->functions, walk->nfunctions,
                                   outermost);
}

/* }====== */
