/*
** transform_contexts.c - narrow, rename, invert, shorten and prune loop over
** the nodes, parents first, and decide to which new node the weights of a node
** go. Scale and pick copy the nodes.
*/

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/system/parallel.h"
#include "kernels/contexts/transform_contexts.h"
#include "kernels/contexts/views.h"
#include "os/os.h"

#define STEPS_PER_LOOK 65536 /* frames between two looks for Ctrl-C */


/* Copy the metrics of `from`, with weights of 0. False when out of memory. */
static bool copy_metrics (pf_contexts *to, const pf_contexts *from) {
  to->has_overflowed = from->has_overflowed;
  return pf_metrics_add(to, from);
}


/* Copy the metrics. Returns memory for the new node of each node, with that of
   the root set; NULL when out of memory. */
static uint32_t *prepare_nodes (pf_contexts *to, const pf_contexts *from) {
  if (!copy_metrics(to, from))
    return NULL;
  uint32_t *const nodes = malloc(from->count * sizeof *nodes);
  if (nodes != NULL)
    nodes[0] = 0;
  return nodes;
}


/* Add the weights of a node. If its new node is that of its caller (`above`),
   it is merged into that one: all weights but its calls are added there. The
   root has no calls. */
static void add_weights (pf_contexts *to, const pf_contexts *from,
                         uint32_t node, uint32_t new_node, uint32_t above) {
  const size_t calls = new_node == above && node != 0
                           ? pf_metric_named(from, "calls")
                           : PF_NO_METRIC;
  for (size_t m = 0; m < from->nmetrics; m++)
    if (m != calls)
      pf_context_add(to, new_node, m, from->weights[m][node]);
}


/* Add the weights of a node to its new node, nodes[node]. A hidden frame
   without a caller keeps them in a stack of its own. False when out of
   memory. */
static bool narrow_weights (pf_contexts *to, const pf_contexts *from,
                            uint32_t node, const uint32_t *nodes) {
  const uint32_t above = node == 0 ? 0 : nodes[from->parents[node]];
  uint32_t charged = nodes[node];
  if (node != 0 && charged == 0 &&
      pf_context_has_weight(from, node, pf_metric_named(from, "calls")))
    charged = pf_context_of(to, 0, from->frames[node]);
  if (charged == PF_NO_CONTEXT)
    return false;
  add_weights(to, from, node, charged, above);
  return true;
}


pf_status pf_contexts_narrow (pf_contexts *to, const pf_contexts *from,
                              const pf_selection *selection, pf_error *error) {
  uint32_t *const nodes = prepare_nodes(to, from);
  bool *const kept = malloc(from->count * sizeof *kept);
  bool *const copied = calloc(from->count, sizeof *copied);
  bool ok = nodes != NULL && kept != NULL && copied != NULL;
  if (ok) {
    /* has_chosen[node], in the memory of `kept`: any frame of its stack is */
    bool *const has_chosen = kept;
    has_chosen[0] = false;
    for (uint32_t i = 1; i < from->count; i++)
      has_chosen[i] = has_chosen[from->parents[i]] ||
                      pf_is_chosen(selection, from->frames[i]);
    for (uint32_t i = 0; i < from->count; i++)
      kept[i] = pf_keeps_stack(selection, has_chosen[i]);
    /* copied[node]: the stack of the node or of any below it is kept */
    for (uint32_t i = from->count; i-- > 1;) {
      copied[i] |= kept[i];
      copied[from->parents[i]] |= copied[i];
    }
    ok = !kept[0] || narrow_weights(to, from, 0, nodes);
  }
  for (uint32_t i = 1; ok && i < from->count; i++) {
    if (!copied[i])
      continue;
    const uint32_t above = nodes[from->parents[i]];
    nodes[i] = pf_hides(selection, from->frames[i])
                   ? above
                   : pf_context_of(to, above, from->frames[i]);
    ok = nodes[i] != PF_NO_CONTEXT &&
         (!kept[i] || narrow_weights(to, from, i, nodes));
  }
  free(nodes);
  free(kept);
  free(copied);
  return ok ? PF_OK : pf_no_memory(error);
}


pf_status pf_contexts_rename (pf_contexts *to, const pf_contexts *from,
                              const uint32_t *frames, size_t count, bool folds,
                              pf_error *error) {
  uint32_t *const nodes = prepare_nodes(to, from);
  bool ok = nodes != NULL;
  if (ok)
    add_weights(to, from, 0, 0, 0);
  for (uint32_t i = 1; ok && i < from->count; i++) {
    const uint32_t old = from->frames[i];
    const uint32_t frame = old < count ? frames[old] : old;
    const uint32_t above = nodes[from->parents[i]];
    nodes[i] = folds && above != 0 && to->frames[above] == frame
                   ? above
                   : pf_context_of(to, above, frame);
    ok = nodes[i] != PF_NO_CONTEXT;
    if (ok)
      add_weights(to, from, i, nodes[i], above);
  }
  free(nodes);
  return ok ? PF_OK : pf_no_memory(error);
}


pf_status pf_contexts_invert (pf_contexts *to, const pf_contexts *from,
                              uint32_t depth, pf_error *error) {
  bool ok = copy_metrics(to, from);
  uint64_t steps = 0; /* up to the product of nodes and depth */
  if (ok)
    add_weights(to, from, 0, 0, 0);
  for (uint32_t i = 1; ok && i < from->count; i++) {
    if (!pf_context_has_weight(from, i, PF_NO_METRIC))
      continue;
    uint32_t node = 0, left = depth;
    for (uint32_t up = i; ok && up != 0 && left > 0;
         up = from->parents[up], left--) {
      if (++steps % STEPS_PER_LOOK == 0 && os_is_interrupted())
        return pf_interrupted(error);
      node = pf_context_of(to, node, from->frames[up]);
      ok = node != PF_NO_CONTEXT;
    }
    if (ok)
      add_weights(to, from, i, node, PF_NO_CONTEXT);
  }
  return ok ? PF_OK : pf_no_memory(error);
}


/* Copy the nodes that are not folded, of folded[from->count]; the weights of
   the others go to their callers. False when out of memory, also for NULL. */
static bool fold_nodes (pf_contexts *to, const pf_contexts *from,
                        const bool *folded) {
  uint32_t *const nodes = prepare_nodes(to, from);
  bool ok = nodes != NULL && folded != NULL;
  if (ok)
    add_weights(to, from, 0, 0, 0);
  for (uint32_t i = 1; ok && i < from->count; i++) {
    const uint32_t above = nodes[from->parents[i]];
    nodes[i] = folded[i] ? above : pf_context_of(to, above, from->frames[i]);
    ok = nodes[i] != PF_NO_CONTEXT;
    if (ok)
      add_weights(to, from, i, nodes[i], above);
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


/* The stacks at a depth: a stack is a node with a weight. */
typedef struct level {
  uint64_t stacks; /* of exactly this depth */
  uint64_t nodes; /* of this depth that are in a stack: as many stacks have this
                      depth when deeper ones are shortened to it */
} level;


/* Count the stacks by depth in levels[c->count], with memory for a flag for
   each node. Returns their number. */
static uint64_t count_stacks (const pf_contexts *c, const uint32_t *depths,
                              bool *in_stack, level *levels) {
  uint64_t count = 0;
  for (uint32_t i = c->count; i-- > 1;) {
    const bool is_end = pf_context_has_weight(c, i, PF_NO_METRIC);
    in_stack[i] |= is_end;
    in_stack[c->parents[i]] |= in_stack[i];
    levels[depths[i]].stacks += is_end;
    levels[depths[i]].nodes += in_stack[i];
    count += is_end;
  }
  return count;
}


pf_status pf_contexts_depth (const pf_contexts *from, bool inverted,
                             uint64_t max_frames, uint32_t *depth,
                             pf_error *error) {
  uint32_t *const depths = depths_of(from);
  bool *const in_stack = calloc(from->count, sizeof *in_stack);
  level *const levels = calloc(from->count, sizeof *levels);
  const bool ok = depths != NULL && in_stack != NULL && levels != NULL;
  *depth = PF_ANY_DEPTH;
  if (ok) {
    uint64_t deeper = count_stacks(from, depths, in_stack, levels);
    uint64_t frames = 0; /* of the stacks, or of the levels, above depth d */
    for (uint32_t d = 1; d < from->count && deeper > 0; d++) {
      if (frames + (inverted ? deeper : levels[d].nodes * d) > max_frames) {
        *depth = d > 1 ? d - 1 : 1;
        break;
      }
      frames += inverted ? deeper : levels[d].stacks * d;
      deeper -= levels[d].stacks;
    }
  }
  free(depths);
  free(in_stack);
  free(levels);
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


pf_status pf_contexts_scale (pf_contexts *to, const pf_contexts *from,
                             pf_factor factor, pf_error *error) {
  pf_traversal t = {0};
  const bool ok = pf_contexts_copy(to, from) == PF_OK &&
                  pf_traversal_open(&t, from, NULL) == PF_OK;
  /* In the order of the traversal each new weight is the difference of two
     rounded running sums, so the sum of all is the rounded sum. A difference of
     more than 64 bits becomes 0. */
  for (size_t m = 0; ok && m < to->nmetrics; m++) {
    pf_wide sum = 0;
    int64_t done = 0;
    for (uint32_t i = 0; i < to->count; i++) {
      int64_t *const weight = &to->weights[m][t.order[i]], next;
      sum += *weight;
      to->has_overflowed |= !pf_scaled(sum, factor, &next);
      if (__builtin_sub_overflow(next, done, weight)) {
        to->has_overflowed = true;
        *weight = 0;
      }
      done = next;
    }
  }
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
  to->has_overflowed = from->has_overflowed;
  return PF_OK;
}
