/*
** transform_contexts.c - each transformation is a loop over the nodes, parents
** first, that decides to which new node the weight of a node goes.
*/

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/contexts/transform_contexts.h"
#include "kernels/contexts/traversal.h"


/* Copy the metrics of `from`. Returns memory for the new node of each node,
   with that of the root set; NULL when out of memory. */
static uint32_t *begin (pf_contexts *to, const pf_contexts *from) {
  if (!pf_metrics_add(to, from))
    return NULL;
  to->has_overflowed |= from->has_overflowed;
  uint32_t *const nodes = malloc(from->count * sizeof *nodes);
  if (nodes != NULL)
    nodes[0] = 0;
  return nodes;
}


static void carry_weights (pf_contexts *to, const pf_contexts *from,
                           uint32_t node, uint32_t new_node) {
  for (size_t m = 0; m < from->nmetrics; m++)
    pf_context_add(to, new_node, m, from->weights[m][node]);
}


/* The same when the new node may be that of the caller (`above`): then the
   weight of the node is added there, but not its calls. The root has no
   calls. */
static void charge_weights (pf_contexts *to, const pf_contexts *from,
                            uint32_t node, uint32_t new_node, uint32_t above) {
  const size_t calls = new_node == above && node != 0
                           ? pf_metric_named(from, "calls")
                           : PF_NO_METRIC;
  for (size_t m = 0; m < from->nmetrics; m++)
    if (m != calls)
      pf_context_add(to, new_node, m, from->weights[m][node]);
}


/* {====== Narrowing ====== */

static unsigned mark_of (const uint8_t *marks, size_t count, uint32_t area) {
  return area < count ? marks[area] : 0;
}


/* Whether the stacks that end in a node are kept. */
static bool is_kept (uint8_t seen) {
  return (seen & PF_FRAME_FOCUS) != 0 && (seen & PF_FRAME_IGNORE) == 0;
}


/* Whether a node has a weight other than calls. */
static bool has_cost (const pf_contexts *c, uint32_t node) {
  const size_t calls = pf_metric_named(c, "calls");
  for (size_t m = 0; m < c->nmetrics; m++)
    if (m != calls && c->weights[m][node] != 0)
      return true;
  return false;
}


/* Add the weights of a node to its new node, nodes[node]. A hidden frame
   without a caller keeps them in a stack of its own. False when out of
   memory. */
static bool narrow_weights (pf_contexts *to, const pf_contexts *from,
                            uint32_t node, const uint32_t *nodes) {
  const uint32_t above = node == 0 ? 0 : nodes[from->parents[node]];
  uint32_t charged = nodes[node];
  if (node != 0 && charged == 0 && has_cost(from, node))
    charged = pf_context_of(to, 0, from->frames[node]);
  if (charged == PF_NO_CONTEXT)
    return false;
  charge_weights(to, from, node, charged, above);
  return true;
}


pf_status pf_contexts_narrow (pf_contexts *to, const pf_contexts *from,
                              const uint8_t *marks, size_t count,
                              pf_error *error) {
  uint32_t *const nodes = begin(to, from);
  uint8_t *const seen = malloc(from->count);
  bool *const kept = malloc(from->count);
  bool ok = nodes != NULL && seen != NULL && kept != NULL;
  if (ok) {
    /* seen[node]: the marks of all frames of the stack of the node. Without
       a focus all stacks have it. */
    seen[0] = PF_FRAME_FOCUS;
    for (size_t i = 0; i < count; i++)
      if ((marks[i] & PF_FRAME_FOCUS) != 0)
        seen[0] = 0;
    for (uint32_t i = 1; i < from->count; i++)
      seen[i] = (uint8_t)(seen[from->parents[i]] |
                          mark_of(marks, count, from->frames[i]));
    /* kept[node]: the node or any below it is kept; only these are copied.
       */
    memset(kept, 0, from->count);
    for (uint32_t i = from->count; i-- > 1;) {
      kept[i] |= is_kept(seen[i]);
      if (kept[i])
        kept[from->parents[i]] = true;
    }
    ok = !is_kept(seen[0]) || narrow_weights(to, from, 0, nodes);
  }
  for (uint32_t i = 1; ok && i < from->count; i++) {
    if (!kept[i])
      continue;
    const uint32_t above = nodes[from->parents[i]];
    nodes[i] = (mark_of(marks, count, from->frames[i]) & PF_FRAME_HIDE) != 0
                   ? above
                   : pf_context_of(to, above, from->frames[i]);
    ok = nodes[i] != PF_NO_CONTEXT &&
         (!is_kept(seen[i]) || narrow_weights(to, from, i, nodes));
  }
  free(nodes);
  free(seen);
  free(kept);
  return ok ? PF_OK : pf_no_memory(error);
}

/* }====== */


/* {====== Renaming, inverting ====== */

pf_status pf_contexts_rename (pf_contexts *to, const pf_contexts *from,
                              const uint32_t *frames, size_t count, bool folds,
                              pf_error *error) {
  uint32_t *const nodes = begin(to, from);
  bool ok = nodes != NULL;
  if (ok)
    carry_weights(to, from, 0, 0);
  for (uint32_t i = 1; ok && i < from->count; i++) {
    const uint32_t old = from->frames[i];
    const uint32_t frame = old < count ? frames[old] : old;
    const uint32_t above = nodes[from->parents[i]];
    nodes[i] = folds && above != 0 && to->frames[above] == frame
                   ? above
                   : pf_context_of(to, above, frame);
    ok = nodes[i] != PF_NO_CONTEXT;
    if (ok)
      charge_weights(to, from, i, nodes[i], above);
  }
  free(nodes);
  return ok ? PF_OK : pf_no_memory(error);
}


static bool has_weight (const pf_contexts *c, uint32_t node) {
  for (size_t m = 0; m < c->nmetrics; m++)
    if (c->weights[m][node] != 0)
      return true;
  return false;
}


pf_status pf_contexts_invert (pf_contexts *to, const pf_contexts *from,
                              uint32_t depth, pf_error *error) {
  uint32_t *const nodes = begin(to, from);
  bool ok = nodes != NULL;
  if (ok)
    carry_weights(to, from, 0, 0);
  for (uint32_t i = 1; ok && i < from->count; i++) {
    if (!has_weight(from, i))
      continue;
    uint32_t node = 0, left = depth;
    for (uint32_t up = i; ok && up != 0 && left > 0;
         up = from->parents[up], left--) {
      node = pf_context_of(to, node, from->frames[up]);
      ok = node != PF_NO_CONTEXT;
    }
    if (ok)
      carry_weights(to, from, i, node);
  }
  free(nodes);
  return ok ? PF_OK : pf_no_memory(error);
}

/* }====== */


/* {====== Folding ====== */

/* Copy the nodes that are not folded, of folded[from->count]; the weights of the
   others go to their callers. False when out of memory, also for NULL. */
static bool fold_nodes (pf_contexts *to, const pf_contexts *from,
                        const bool *folded) {
  uint32_t *const nodes = begin(to, from);
  bool ok = nodes != NULL && folded != NULL;
  if (ok)
    carry_weights(to, from, 0, 0);
  for (uint32_t i = 1; ok && i < from->count; i++) {
    const uint32_t above = nodes[from->parents[i]];
    nodes[i] = folded[i] ? above : pf_context_of(to, above, from->frames[i]);
    ok = nodes[i] != PF_NO_CONTEXT;
    if (ok)
      charge_weights(to, from, i, nodes[i], above);
  }
  free(nodes);
  return ok;
}


/* Returns the depth of each node in frames; NULL when out of memory. */
static uint32_t *depths_of (const pf_contexts *c) {
  uint32_t *const depths = malloc(c->count * sizeof *depths);
  if (depths == NULL)
    return NULL;
  depths[0] = 0;
  for (uint32_t i = 1; i < c->count; i++)
    depths[i] = depths[c->parents[i]] + 1;
  return depths;
}


pf_status pf_contexts_depth (const pf_contexts *from, bool turned,
                             uint64_t max_frames, uint32_t *depth,
                             pf_error *error) {
  uint32_t *const depths = depths_of(from);
  uint64_t *const counts = calloc(from->count, sizeof *counts);
  *depth = PF_ANY_DEPTH;
  if (depths != NULL && counts != NULL) {
    uint64_t deeper = 0, frames = 0; /* stacks of a depth of d or more */
    for (uint32_t i = 1; i < from->count; i++)
      if (has_weight(from, i)) {
        counts[depths[i]]++;
        deeper++;
      }
    for (uint32_t d = 1; d < from->count && deeper > 0; d++) {
      frames += turned ? deeper : counts[d] * d;
      deeper -= counts[d];
      if (frames > max_frames) {
        *depth = d > 1 ? d - 1 : 1;
        break;
      }
    }
  }
  const bool ok = depths != NULL && counts != NULL;
  free(depths);
  free(counts);
  return ok ? PF_OK : pf_no_memory(error);
}


pf_status pf_contexts_shorten (pf_contexts *to, const pf_contexts *from,
                               uint32_t depth, pf_error *error) {
  uint32_t *const depths = depths_of(from);
  bool *const folded = calloc(from->count, sizeof *folded);
  for (uint32_t i = 1; depths != NULL && folded != NULL && i < from->count; i++)
    folded[i] = depths[i] > depth;
  const bool ok = depths != NULL && fold_nodes(to, from, folded);
  free(depths);
  free(folded);
  return ok ? PF_OK : pf_no_memory(error);
}


pf_status pf_contexts_prune (pf_contexts *to, const pf_contexts *from,
                             size_t metric, double share, pf_error *error) {
  int64_t *const totals = malloc(from->count * sizeof *totals);
  bool *const folded = calloc(from->count, sizeof *folded);
  if (totals != NULL)
    pf_contexts_totals(from, metric, totals);
  for (uint32_t i = 1; totals != NULL && folded != NULL && i < from->count; i++)
    folded[i] = fabs((double)totals[i]) < share * fabs((double)totals[0]);
  const bool ok = totals != NULL && fold_nodes(to, from, folded);
  free(totals);
  free(folded);
  return ok ? PF_OK : pf_no_memory(error);
}

/* }====== */


/* {====== Scaling, one metric ====== */

/* In the order of the traversal each new weight is the difference of two
   rounded running sums, so the sum of all is the rounded sum. */
static void scale_metric (pf_contexts *to, const pf_traversal *t,
                          int64_t *weights, pf_factor factor) {
  pf_wide sum = 0;
  int64_t done = 0;
  for (uint32_t i = 0; i < to->count; i++) {
    int64_t *const weight = &weights[t->order[i]], next;
    sum += *weight;
    to->has_overflowed |= !pf_scaled(sum, factor, &next);
    if (__builtin_sub_overflow(next, done, weight)) {
      to->has_overflowed = true;
      *weight = 0;
    }
    done = next;
  }
}


pf_status pf_contexts_scale (pf_contexts *to, const pf_contexts *from,
                             pf_factor factor, pf_error *error) {
  pf_traversal t = {0};
  const bool ok = pf_contexts_copy(to, from) == PF_OK &&
                  pf_traversal_open(&t, from, NULL) == PF_OK;
  for (size_t m = 0; ok && m < to->nmetrics; m++)
    scale_metric(to, &t, to->weights[m], factor);
  pf_traversal_close(&t);
  return ok ? PF_OK : pf_no_memory(error);
}


pf_status pf_contexts_pick (pf_contexts *to, const pf_contexts *from,
                            size_t metric, const char *name, pf_error *error) {
  if (!pf_contexts_copy_nodes(to, from) ||
      pf_metric_of(to, name, from->metrics[metric].unit) == PF_NO_METRIC)
    return pf_no_memory(error);
  memcpy(to->weights[0], from->weights[metric],
         from->count * sizeof *to->weights[0]);
  return PF_OK;
}

/* }====== */
