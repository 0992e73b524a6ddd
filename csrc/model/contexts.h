/*
** contexts.h - a profile as a tree of calling contexts: each node is a frame
** and the node of its caller, with what was spent right there, in one whole
** number for each metric. Every profile that knows stacks has this body.
**
** Node 0 is the root, which has no frame; a parent has a lower number than its
** children. Frames are areas that say no more than name, file and line, so
** that contexts of different files and formats fall together.
*/

#ifndef contexts_h
#define contexts_h

#include "model/areas.h"
#include "model/intern_table.h"

#define PF_NO_CONTEXT UINT32_MAX
#define PF_NO_METRIC  SIZE_MAX

/* Name and unit of a metric: { "time", "ns" }. The contexts own the texts. */
typedef struct pf_context_metric {
  char *name, *unit;
} pf_context_metric;

typedef struct pf_contexts {
  pf_dictionary *dictionary; /* of the frames; borrowed */
  pf_context_metric *metrics;
  size_t nmetrics, metric_room;
  size_t
      default_metric; /* the metric that the file shows first, or PF_NO_METRIC: the
                   file does not state one */
  uint32_t count, room; /* nodes */
  uint32_t *parents;
  uint32_t *frames;         /* areas */
  int64_t **weights;        /* of the node itself, by metric */
  bool has_overflowed;      /* a sum was cut at the end of int64_t */
  pf_intern_table children; /* of the nodes that are known to it */
} pf_contexts;


/* An empty profile: a root, no metrics. PF_ENOMEM. */
pf_status pf_contexts_open (pf_contexts *contexts, pf_dictionary *dictionary);
void pf_contexts_close (pf_contexts *contexts);

/* The number of the metric of that name and unit, which is added when it is
   new; PF_NO_METRIC when out of memory. */
size_t pf_metric_of (pf_contexts *contexts, const char *name, const char *unit);

/* The number of the metric called `name`, else PF_NO_METRIC. */
size_t pf_metric_named (const pf_contexts *contexts, const char *name);

/* The number of the metric that is shown when none is named: the stated one,
   else "time", else the first; PF_NO_METRIC when there is no metric. */
size_t pf_metric_default (const pf_contexts *contexts);

/* Add the metrics of `from`, without their weights, to contexts that have none,
   and the metric that is shown first. Metric m of `from` becomes metric m.
   False when out of memory. */
bool pf_metrics_copy (pf_contexts *contexts, const pf_contexts *from);

/* Take over the metric that `from` shows first where none is stated so far; its
   metrics are known already. */
void pf_metric_default_from (pf_contexts *contexts, const pf_contexts *from);

/* The area that stands for `area` as a frame: its name, file and line;
   PF_NO_AREA when out of memory. */
uint32_t pf_frame_of (pf_dictionary *dictionary, uint32_t area);

/* The node of a frame (made by pf_frame_of) called from `parent`;
   PF_NO_CONTEXT when out of memory. */
uint32_t pf_context_of (pf_contexts *contexts, uint32_t parent, uint32_t frame);

/* Have room for `count` nodes in all, where there is memory for that: what is
   never used of it takes none. */
void pf_contexts_reserve (pf_contexts *contexts, size_t count);

/* A node for a frame that has not been called from `parent` so far, which whoever
   asks knows; PF_NO_CONTEXT when out of memory. */
uint32_t pf_context_append (pf_contexts *contexts, uint32_t parent,
                            uint32_t frame);

/* The sum of two weights, cut at the ends of int64_t. */
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

/* Set totals[count] to what each node and all below it weigh. */
void pf_contexts_totals (const pf_contexts *contexts, size_t metric,
                         int64_t *totals);

/* Have all of `from`, which is of the same dictionary, in an empty one.
   PF_ENOMEM: then it can only be closed. */
pf_status pf_contexts_copy (pf_contexts *contexts, const pf_contexts *from);

#endif
