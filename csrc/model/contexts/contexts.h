/*
** contexts.h - a profile as a calling context tree: a node has a frame, the
** node of its caller and, for each metric, a weight of its own (without
** callees), a whole number. All profiles with stacks are represented so.
**
** Node 0 is the root, which has no frame; a parent has a lower number than its
** children. A frame is an area that has only name, file and line, so that equal
** contexts of different files and formats are merged.
**
** Order of calls: pf_contexts_open; add metrics, nodes and weights in any
** order; read the arrays; pf_contexts_close. Functions fail only when out of
** memory, or for more than about 2^31 nodes, which counts as that.
**
** Used by kernels/contexts, kernels/stages/concat.c, formats/pprof,
** lua/profile, store and the recorder. The contexts own their arrays, which
** move when nodes are added; the caller owns the struct.
*/

#ifndef contexts_h
#define contexts_h

#include "model/dictionary/stacks.h"
#include "model/base/intern_table.h"
#include "model/rows/abilities.h"

#define PF_NO_CONTEXT UINT32_MAX
#define PF_NO_METRIC  SIZE_MAX

/* Name and unit of a metric, as { "time", "ns" }. The contexts own the
   texts. */
typedef struct pf_context_metric {
  char *name, *unit;
} pf_context_metric;

struct pf_contexts {         /* its typedef: model/rows/abilities.h */
  pf_dictionary *dictionary; /* of the frames; borrowed */
  pf_context_metric *metrics;
  size_t nmetrics, metric_capacity;
  size_t default_metric;    /* index that the file states; or PF_NO_METRIC */
  uint32_t count, capacity; /* nodes */
  uint32_t *parents;
  uint32_t *frames;         /* areas */
  int64_t **weights;        /* of the node itself, by metric */
  bool has_overflowed;      /* a sum was saturated */
  pf_intern_table children; /* of the first children.count nodes */
};


/* An empty profile: a root, no metrics. PF_ENOMEM. */
pf_status pf_contexts_open (pf_contexts *contexts, pf_dictionary *dictionary);
void pf_contexts_close (pf_contexts *contexts);

/* The index of the metric of a name and unit, which is added if it is new;
   PF_NO_METRIC when out of memory. */
size_t pf_metric_of (pf_contexts *contexts, const char *name, const char *unit);

/* The index of the first metric called `name`, else PF_NO_METRIC. */
size_t pf_metric_named (const pf_contexts *contexts, const char *name);

/* The index of the default metric: the one that the file states, else "time",
   else the first; PF_NO_METRIC if there is no metric. */
size_t pf_metric_default (const pf_contexts *contexts);

/* Copy the metrics of `from` and its default metric to contexts without
   metrics, with NULL for their arrays of weights, which the caller sets.
   Indices stay the same. False when out of memory. */
bool pf_metrics_copy (pf_contexts *contexts, const pf_contexts *from);

/* Add the metrics of `from` that are new, with weights of 0, and take over its
   default metric if `contexts` state none. False when out of memory. */
bool pf_metrics_add (pf_contexts *contexts, const pf_contexts *from);

/* The frame of an area: an area with its name, file and line only; PF_NO_AREA
   when out of memory. */
uint32_t pf_frame_of (pf_dictionary *dictionary, uint32_t area);

/* The node of a frame (from pf_frame_of) below `parent`, which is added if it
   is new; PF_NO_CONTEXT when out of memory. */
uint32_t pf_context_of (pf_contexts *contexts, uint32_t parent, uint32_t frame);

/* Reserve capacity for `count` nodes in all, as a hint: unused pages take no
   memory, and a failure is ignored. */
void pf_contexts_reserve (pf_contexts *contexts, size_t count);

/* Grow the arrays, which are full. False when out of memory. */
bool pf_contexts_grow (pf_contexts *contexts);

/* Add a node for a frame that `parent` does not have as a child; the caller
   knows this, and nothing is looked up. PF_NO_CONTEXT when out of memory. */
static inline uint32_t pf_context_append (pf_contexts *contexts,
                                          uint32_t parent, uint32_t frame) {
  const uint32_t node = contexts->count;
  if (node == contexts->capacity && !pf_contexts_grow(contexts))
    return PF_NO_CONTEXT;
  contexts->parents[node] = parent;
  contexts->frames[node] = frame;
  for (size_t m = 0; m < contexts->nmetrics; m++)
    contexts->weights[m][node] = 0;
  contexts->count = node + 1;
  return node;
}

/* Add `count` nodes; the caller sets their parents, frames and weights. False
   when out of memory: none was added. */
bool pf_contexts_extend (pf_contexts *contexts, size_t count);

/* The sum of two weights; it saturates at the limits of int64_t. */
static inline int64_t pf_weight_add (int64_t a, int64_t b, bool *overflow) {
  int64_t sum;
  if (!__builtin_add_overflow(a, b, &sum))
    return sum;
  *overflow = true;
  return a < 0 ? INT64_MIN : INT64_MAX;
}

/* Add to the weight of a node. */
static inline void pf_context_add (pf_contexts *contexts, uint32_t node,
                                   size_t metric, int64_t weight) {
  int64_t *const w = &contexts->weights[metric][node];
  *w = pf_weight_add(*w, weight, &contexts->has_overflowed);
}

/* Whether a node has a weight of its own in a metric other than `except`
   (PF_NO_METRIC: in any). */
static inline bool pf_context_has_weight (const pf_contexts *contexts,
                                          uint32_t node, size_t except) {
  for (size_t m = 0; m < contexts->nmetrics; m++)
    if (m != except && contexts->weights[m][node] != 0)
      return true;
  return false;
}

/* Whether a sum has saturated, or the sum of all weights of a metric would. */
bool pf_contexts_overflow (const pf_contexts *contexts);

/* Set totals[count] to the total weight of each node: itself and all below. It
   saturates; see pf_contexts_overflow. */
void pf_contexts_totals (const pf_contexts *contexts, size_t metric,
                         int64_t *totals);

/* Copy the nodes of `from`, with their numbers, into empty contexts without
   metrics. False when out of memory: they can only be closed then. */
bool pf_contexts_copy_nodes (pf_contexts *contexts, const pf_contexts *from);

/* Copy `from`, of the same dictionary, into empty contexts. PF_ENOMEM: they can
   only be closed then. */
pf_status pf_contexts_copy (pf_contexts *contexts, const pf_contexts *from);

/*
** Add all nodes and weights of `more`, multiplied by `sign` (1 or -1). `more`
** may have another dictionary. Metrics of the same name and unit are merged.
** PF_ENOMEM: the weights of the contexts have not changed; they may have new
** nodes and metrics with weights of 0.
**
** ordered_merge.c: if the nodes of both are in the order of tree_order.h, an
** ordered merge makes the sum in that order, without looking up nodes.
*/
pf_status pf_contexts_merge (pf_contexts *contexts, const pf_contexts *more,
                             int sign, pf_error *error);

/* Add all of `more`, as pf_contexts_merge does, and free its arrays early. It
   can only be closed then. */
pf_status pf_contexts_absorb (pf_contexts *contexts, pf_contexts *more,
                              pf_error *error);

/* A cache of nodes by stack id, for one pf_contexts. Initialise it with { 0 },
   and close it. */
typedef struct pf_stack_nodes {
  uint32_t *nodes; /* node by stack id, or PF_NO_CONTEXT */
  size_t count;
  uint32_t *path; /* scratch */
  size_t path_capacity;
} pf_stack_nodes;

/* Return the node of a stack of the contexts' dictionary; missing nodes are
   added. A stack without frames has the root node. PF_NO_CONTEXT when out of
   memory. */
uint32_t pf_node_of_stack (pf_contexts *contexts, pf_stack_nodes *known,
                           uint32_t stack);

void pf_stack_nodes_close (pf_stack_nodes *known);

#endif
