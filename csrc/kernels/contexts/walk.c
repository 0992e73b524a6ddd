/*
** walk.c - frames are ranked by their texts, nodes sorted by the rank of their
** frame and then by parent: the children of each node stand together, in
** order. A walk over those lists needs no recursion.
*/

#include <stdlib.h>
#include <string.h>

#include "kernels/contexts/walk.h"
#include "kernels/order.h"


/* {====== Frames ====== */

/* The frames in use, and scratch to rank them. */
typedef struct frames {
  uint32_t nareas;
  uint32_t *ranks;     /* by area: its place among frames */
  uint32_t *functions; /* by area */
  uint32_t *names;     /* by name: its rank */
  pf_pair *pairs, *spare;
  size_t count;
} frames;


static void close_frames (frames *f) {
  free(f->ranks);
  free(f->functions);
  free(f->names);
  free(f->pairs);
}


/* Rank 0 is that of no name. */
static uint64_t name_word (const frames *f, uint32_t name) {
  return name == PF_NO_NAME ? 0 : f->names[name] + 1u;
}


/* Sort the pairs by what the pass looks at: 0 the line, 1 the file, 2 the
   name. */
static void sort_pass (frames *f, const pf_dictionary *dictionary, int pass) {
  for (size_t i = 0; i < f->count; i++) {
    const pf_area *const a = pf_area_at(dictionary, (uint32_t)f->pairs[i].row);
    f->pairs[i].word = pass == 0   ? pf_order_int(a->line)
                       : pass == 1 ? name_word(f, a->file)
                                   : name_word(f, a->name);
  }
  pf_sort_pairs(f->pairs, f->spare, f->count);
}


static pf_status open_frames (frames *f, const pf_contexts *c) {
  const uint32_t nnames = pf_names_count(c->dictionary);
  *f = (frames){.nareas = pf_areas_count(c->dictionary)};
  const size_t room = (size_t)f->nareas + 1;
  f->ranks = malloc(room * sizeof *f->ranks);
  f->functions = malloc(room * sizeof *f->functions);
  f->names = malloc(((size_t)nnames + 1) * sizeof *f->names);
  f->pairs = malloc(2 * room * sizeof *f->pairs);
  if (f->ranks == NULL || f->functions == NULL || f->names == NULL ||
      f->pairs == NULL)
    return PF_ENOMEM;
  f->spare = f->pairs + room;
  memset(f->ranks, 0xff, room * sizeof *f->ranks);
  for (uint32_t i = 1; i < c->count; i++)
    if (f->ranks[c->frames[i]] == UINT32_MAX) {
      f->ranks[c->frames[i]] = 0;
      f->pairs[f->count++].row = c->frames[i];
    }
  return pf_rank_names(c->dictionary, f->names, nnames);
}


/* Number frames and functions by their texts. */
static pf_status rank_frames (frames *f, const pf_dictionary *dictionary,
                              pf_walk *walk) {
  for (int pass = 0; pass < 3; pass++)
    sort_pass(f, dictionary, pass);
  walk->areas = malloc((f->count + 1) * sizeof *walk->areas);
  if (walk->areas == NULL)
    return PF_ENOMEM;
  const pf_area *last = NULL;
  for (size_t i = 0; i < f->count; i++) {
    const uint32_t area = (uint32_t)f->pairs[i].row;
    const pf_area *const a = pf_area_at(dictionary, area);
    if (last == NULL || a->name != last->name || a->file != last->file)
      walk->areas[walk->nfunctions++] = area;
    last = a;
    f->ranks[area] = (uint32_t)i;
    f->functions[area] = walk->nfunctions - 1;
  }
  return PF_OK;
}

/* }====== */


/* {====== Nodes ====== */

/* The heaviest first; `pairs` have as many spare ones behind them and one. */
static void sort_by_total (pf_pair *pairs, size_t count,
                           const int64_t *totals) {
  for (size_t i = 0; i < count; i++)
    pairs[i].word = ~pf_order_int(totals[pairs[i].row]);
  pf_sort_pairs(pairs, pairs + count + 1, count);
}


/* Sort the nodes but the root by parent, within a parent by frame; starts[n]
   is where the children of node n begin, starts[n + 1] where they end. */
static pf_status list_children (const pf_contexts *c, const uint32_t *ranks,
                                const int64_t *totals, uint32_t **children,
                                uint32_t **starts) {
  const size_t count = c->count;
  pf_pair *const pairs = malloc(2 * count * sizeof *pairs);
  *children = malloc(count * sizeof **children);
  *starts = calloc(count + 1, sizeof **starts);
  if (pairs == NULL || *children == NULL || *starts == NULL) {
    free(pairs);
    return PF_ENOMEM;
  }
  for (uint32_t i = 1; i < count; i++)
    pairs[i - 1] = (pf_pair){ranks[c->frames[i]], i};
  pf_sort_pairs(pairs, pairs + count, count - 1);
  if (totals != NULL)
    sort_by_total(pairs, count - 1, totals);
  for (uint32_t i = 1; i < count; i++)
    (*starts)[c->parents[i] + 1]++;
  for (size_t i = 0; i < count; i++)
    (*starts)[i + 1] += (*starts)[i];
  for (size_t i = 0; i + 1 < count; i++) {
    const uint32_t node = (uint32_t)pairs[i].row;
    (*children)[(*starts)[c->parents[node]]++] = node;
  }
  memmove(*starts + 1, *starts, count * sizeof **starts);
  (*starts)[0] = 0;
  free(pairs);
  return PF_OK;
}


/* Depth first from the root: a list of what is still to be visited, the next
   one last. */
static pf_status visit (pf_walk *walk, const uint32_t *children,
                        const uint32_t *starts) {
  const size_t count = walk->contexts->count;
  uint32_t *const left = malloc(2 * count * sizeof *left);
  if (left == NULL)
    return PF_ENOMEM;
  uint32_t *const depths = left + count;
  size_t nleft = 1, n = 0;
  left[0] = depths[0] = 0;
  while (nleft > 0) {
    const uint32_t node = left[--nleft], depth = depths[nleft];
    walk->order[n] = node;
    walk->depths[n++] = depth;
    if (depth > walk->max_depth)
      walk->max_depth = depth;
    for (uint32_t i = starts[node + 1]; i-- > starts[node]; nleft++) {
      left[nleft] = children[i];
      depths[nleft] = depth + 1;
    }
  }
  free(left);
  return PF_OK;
}


static pf_status order_nodes (pf_walk *walk, const frames *f,
                              const int64_t *totals) {
  const pf_contexts *const c = walk->contexts;
  uint32_t *children = NULL, *starts = NULL;
  walk->order = malloc(c->count * sizeof *walk->order);
  walk->depths = malloc(c->count * sizeof *walk->depths);
  walk->functions = malloc(c->count * sizeof *walk->functions);
  if (walk->order == NULL || walk->depths == NULL || walk->functions == NULL)
    return PF_ENOMEM;
  walk->functions[0] = PF_NO_FUNCTION;
  for (uint32_t i = 1; i < c->count; i++)
    walk->functions[i] = f->functions[c->frames[i]];
  pf_status status = list_children(c, f->ranks, totals, &children, &starts);
  if (status == PF_OK)
    status = visit(walk, children, starts);
  free(children);
  free(starts);
  return status;
}


pf_status pf_walk_open (pf_walk *walk, const pf_contexts *contexts,
                        const int64_t *totals) {
  frames f;
  *walk = (pf_walk){.contexts = contexts};
  pf_status status = open_frames(&f, contexts);
  if (status == PF_OK)
    status = rank_frames(&f, contexts->dictionary, walk);
  if (status == PF_OK)
    status = order_nodes(walk, &f, totals);
  close_frames(&f);
  if (status != PF_OK)
    pf_walk_close(walk);
  return status;
}


void pf_walk_close (pf_walk *walk) {
  free(walk->order);
  free(walk->depths);
  free(walk->functions);
  free(walk->areas);
  *walk = (pf_walk){0};
}

/* }====== */


/* {====== Recursion ====== */

pf_status pf_walk_outermost_of (const pf_walk *walk, const uint32_t *classes,
                                size_t nclasses, bool *outermost) {
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


pf_status pf_walk_outermost (const pf_walk *walk, bool *outermost) {
  return pf_walk_outermost_of(walk, walk->functions, walk->nfunctions,
                              outermost);
}

/* }====== */
