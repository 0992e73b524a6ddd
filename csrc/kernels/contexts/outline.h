/*
** outline.h - the functions of a profile in the order of their weight, and its
** contexts in the order of their share, so that an output of limited size takes
** the first ones. Used by csrc/lua/profile/export_outline.c: open, read the
** members, close, which frees all arrays.
*/

#ifndef contexts_outline_h
#define contexts_outline_h

#include "kernels/contexts/views.h"

/* A metric, and the metric that has its totals (see pf_context_rows), or
   PF_NO_METRIC. */
typedef struct pf_outline_metric {
  size_t self, total;
} pf_outline_metric;

typedef struct pf_outline {
  pf_traversal traversal;           /* callees by name, file and line */
  const pf_outline_metric *metrics; /* borrowed */
  size_t nmetrics;
  int64_t *totals; /* of node n in metric m: totals[m * contexts->count + n] */
  int64_t *self;   /* of function f in metric m: self[m * nfunctions + f] */
  int64_t *total;  /* the same; recursive calls count once */
  int64_t *calls;  /* by function; 0 if `calls` is PF_NO_METRIC */
  uint32_t *functions; /* those with a number that is not 0, by descending size
                          of self, then of total, in the usual metric */
  uint32_t nfunctions; /* of them */
  uint32_t *nodes;     /* those with a share above 0, by descending share; a
                          caller stands before its callees */
  uint32_t nnodes;     /* of them */
} pf_outline;

/*
** Opens the outline of contexts (borrowed until pf_outline_close). `usual` is
** an index of `metrics`, `calls` a metric of the contexts or PF_NO_METRIC.
**
** The share of a context is that of its total in the whole, the largest of all
** metrics, and at least that of its callees, whose weights may be negative.
** PF_ENOMEM: then it need not be closed.
*/
pf_status pf_outline_open (pf_outline *outline, const pf_contexts *contexts,
                           const pf_outline_metric *metrics, size_t nmetrics,
                           size_t usual, size_t calls);
void pf_outline_close (pf_outline *outline);

#endif
