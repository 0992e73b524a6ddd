/*
** tree_order.c - sorts nodes by the ranks of their frames and then, with a
** stable sort, by parent, in linear time. The children of each node are then
** consecutive, and a traversal with an explicit stack gives the pre-order.
*/

#include <stdlib.h>
#include <string.h>

#include "model/contexts/tree_order.h"
#include "model/base/memory.h"
#include "model/base/sorts.h"


int pf_frame_compare (const pf_dictionary *dictionary, uint32_t left,
                      uint32_t right) {
  const pf_area *const a = pf_area_at(dictionary, left);
  const pf_area *const b = pf_area_at(dictionary, right);
  int order = pf_name_compare(dictionary, a->name, b->name);
  if (order == 0)
    order = pf_name_compare(dictionary, a->file, b->file);
  return order != 0 ? order : (a->line > b->line) - (a->line < b->line);
}


static int compare_frames (const void *dictionary, const void *left,
                           const void *right) {
  return pf_frame_compare(dictionary, *(const uint32_t *)left,
                          *(const uint32_t *)right);
}


pf_status pf_frames_rank (const pf_dictionary *dictionary,
                          const uint32_t *areas, size_t count,
                          uint32_t *ranks) {
  const size_t nareas = pf_areas_count(dictionary);
  uint32_t *const sorted = malloc((2 * nareas + 1) * sizeof *sorted);
  uint32_t n = 0;
  if (sorted == NULL)
    return PF_ENOMEM;
  memset(ranks, 0xff, nareas * sizeof *ranks);
  for (size_t i = 0; i < count; i++)
    if (areas[i] != PF_NO_AREA && ranks[areas[i]] == UINT32_MAX) {
      ranks[areas[i]] = 0;
      sorted[n++] = areas[i];
    }
  pf_sort(sorted, sorted + n, n, sizeof *sorted, compare_frames, dictionary);
  for (uint32_t i = 0; i < n; i++)
    ranks[sorted[i]] = i;
  free(sorted);
  return PF_OK;
}


pf_status pf_contexts_rank (const pf_contexts *c, uint32_t *ranks,
                            uint32_t *sorted, uint32_t *count) {
  const uint32_t nareas = pf_areas_count(c->dictionary);
  *count = 0;
  if (pf_frames_rank(c->dictionary, c->frames + 1, c->count - 1, ranks) !=
      PF_OK)
    return PF_ENOMEM;
  for (uint32_t area = 0; area < nareas; area++)
    if (ranks[area] != UINT32_MAX) {
      sorted[ranks[area]] = area;
      ++*count;
    }
  return PF_OK;
}


/* All nodes but the root, by parent: the children of node n are at starts[n] to
   starts[n + 1] - 1. */
typedef struct families {
  uint32_t *children, *starts;
} families;


/* Stable counting sort of `count` nodes by keys[node]. `at` has nkeys + 1
   elements. */
static void place (const uint32_t *from, uint32_t *to, size_t count,
                   const uint32_t *keys, uint32_t *at, size_t nkeys) {
  memset(at, 0, (nkeys + 1) * sizeof *at);
  for (size_t i = 0; i < count; i++)
    at[keys[from[i]] + 1]++;
  for (size_t key = 0; key < nkeys; key++)
    at[key + 1] += at[key];
  for (size_t i = 0; i < count; i++)
    to[at[keys[from[i]]]++] = from[i];
}


/* A node with its sort keys. */
typedef struct heavy {
  int64_t total;
  uint32_t at; /* index before the sort */
  uint32_t node;
} heavy;


static int compare_heavy (const void *left, const void *right) {
  const heavy *const a = left, *const b = right;
  if (a->total != b->total)
    return a->total < b->total ? 1 : -1;
  return (a->at > b->at) - (a->at < b->at);
}


/* Sort the nodes into families: siblings by rank, or by descending total and
   then by rank. PF_ENOMEM. */
static pf_status sort_nodes (const pf_contexts *c, const uint32_t *ranks,
                             const int64_t *totals, families *f,
                             uint32_t *scratch, uint32_t *at) {
  const size_t count = c->count - 1;
  uint32_t *const keys = scratch, *const nodes = scratch + c->count;
  for (uint32_t i = 1; i < c->count; i++) {
    f->children[i - 1] = i;
    keys[i] = ranks[c->frames[i]];
  }
  place(f->children, nodes, count, keys, at, pf_areas_count(c->dictionary));
  if (totals != NULL) { /* the heaviest first */
    heavy *const list = malloc((count + 1) * sizeof *list);
    if (list == NULL)
      return PF_ENOMEM;
    for (size_t i = 0; i < count; i++)
      list[i] = (heavy){totals[nodes[i]], (uint32_t)i, nodes[i]};
    qsort(list, count, sizeof *list, compare_heavy);
    for (size_t i = 0; i < count; i++)
      nodes[i] = list[i].node;
    free(list);
  }
  place(nodes, f->children, count, c->parents, f->starts, c->count);
  memmove(f->starts + 1, f->starts, c->count * sizeof *f->starts);
  f->starts[0] = 0;
  return PF_OK;
}


/* Traverse in pre-order with a stack of the nodes that are left. */
static pf_status visit (const families *f, size_t count, uint32_t *order,
                        uint32_t *depths) {
  uint32_t *const left = malloc(2 * count * sizeof *left);
  if (left == NULL)
    return PF_ENOMEM;
  uint32_t *const left_depths = left + count;
  size_t nleft = 1, n = 0;
  left[0] = left_depths[0] = 0;
  while (nleft > 0) {
    const uint32_t node = left[--nleft], depth = left_depths[nleft];
    order[n] = node;
    depths[n++] = depth;
    for (uint32_t i = f->starts[node + 1]; i-- > f->starts[node]; nleft++) {
      left[nleft] = f->children[i];
      left_depths[nleft] = depth + 1;
    }
  }
  free(left);
  return PF_OK;
}


bool pf_preorder_open (pf_preorder *d, const pf_contexts *contexts) {
  *d = (pf_preorder){.parents = contexts->parents};
  d->path = pf_large_array((size_t)contexts->count + 1, sizeof *d->path);
  if (d->path != NULL)
    d->path[0] = 0;
  return d->path != NULL;
}


void pf_preorder_close (pf_preorder *d) {
  free(d->path);
  d->path = NULL;
}


bool pf_contexts_in_order (const pf_contexts *c, const uint32_t *ranks,
                           uint32_t *deepest) {
  pf_preorder d;
  bool ok = pf_preorder_open(&d, c);
  *deepest = 0;
  for (uint32_t i = 1; ok && i < c->count; i++) {
    const uint32_t above = d.depth, *const path = d.path;
    uint32_t depth = above;
    while (depth > 0 && path[depth] != c->parents[i])
      depth--;
    const uint32_t last = depth < above ? path[depth + 1] : 0;
    ok = pf_preorder_next(&d, i) &&
         (last == 0 || ranks[c->frames[last]] < ranks[c->frames[i]]);
    if (d.depth > *deepest)
      *deepest = d.depth;
  }
  pf_preorder_close(&d);
  return ok;
}


/* Set order[] to the nodes in order of their numbers, which is pre-order, and
   depths[]. False when out of memory. */
static bool keep_order (const pf_contexts *c, uint32_t *order,
                        uint32_t *depths) {
  pf_preorder d;
  if (!pf_preorder_open(&d, c))
    return false;
  order[0] = depths[0] = 0;
  for (uint32_t i = 1; i < c->count; i++) {
    (void)pf_preorder_next(&d, i); /* it is in order */
    order[i] = i;
    depths[i] = d.depth;
  }
  pf_preorder_close(&d);
  return true;
}


pf_status pf_contexts_order (const pf_contexts *contexts, const uint32_t *ranks,
                             const int64_t *totals, uint32_t *order,
                             uint32_t *depths) {
  families f = {NULL, NULL};
  uint32_t deepest;
  if (totals == NULL && pf_contexts_in_order(contexts, ranks, &deepest) &&
      keep_order(contexts, order, depths))
    return PF_OK;
  const size_t count = contexts->count,
               nareas = pf_areas_count(contexts->dictionary);
  f.children = malloc(count * sizeof *f.children);
  f.starts = malloc((count + 2) * sizeof *f.starts);
  uint32_t *const scratch = malloc(2 * count * sizeof *scratch);
  uint32_t *const at = malloc((nareas + 2) * sizeof *at);
  pf_status status = PF_ENOMEM;
  if (f.children != NULL && f.starts != NULL && scratch != NULL && at != NULL)
    status = sort_nodes(contexts, ranks, totals, &f, scratch, at);
  free(scratch);
  free(at);
  if (status == PF_OK)
    status = visit(&f, contexts->count, order, depths);
  free(f.children);
  free(f.starts);
  return status;
}
