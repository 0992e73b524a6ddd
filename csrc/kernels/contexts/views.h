/*
** views.h - contexts as rows: functions, arcs between them, the tree, lines;
** and the comparison of two profiles. Used by lua/profile/context_profile.c.
** The caller closes the reader, which owns its rows.
**
** Values are those of one metric, in its unit. `self` is the weight of the
** frame itself, `total` includes everything that it called; recursive calls of
** a function count once in its total. Shares are parts of the sum of all self,
** and missing if that is 0. `calls` are the weights of the metric "calls", and
** missing without it; `count` of lines are the weights of count_metric.
*/

#ifndef contexts_views_h
#define contexts_views_h

#include "kernels/contexts/traversal.h"

typedef enum pf_context_view {
  PF_VIEW_FLAT,  /* function, calls, self, total, self_share, total_share,
                    file, line: by descending self */
  PF_VIEW_GRAPH, /* caller, callee, calls, self, total, caller_file,
                    callee_file: by descending total; caller missing: unknown */
  PF_VIEW_TREE,  /* depth (from 1), function, calls, self, total, self_share,
                   total_share, file, line, node, label (the function, indented
                   by two blanks a frame): in preorder, callees by descending
                   total */
  PF_VIEW_BOTTOM_UP, /* the same columns, for contexts that pf_contexts_invert
                   has turned round: the first level are functions, below them
                   stand their callers. Only the first level has self; the
                   total and calls of a caller are those of the first-level
                   function along this path */
  PF_VIEW_LINES /* file, line, count, self, self_share, function: by descending
                   self; frames without a line are left out */
} pf_context_view;

/* The input of a view. */
typedef struct pf_context_rows {
  const pf_contexts *contexts; /* borrowed by the reader, must not change */
  pf_context_view view;
  size_t metric;
  size_t total_metric; /* its weights are the totals, for profiles that have
                          totals but no stacks; else PF_NO_METRIC */
  size_t count_metric; /* for PF_VIEW_LINES: its weights are the counts;
                          PF_NO_METRIC: they are missing */
  bool zeros;          /* include rows in which all numbers are 0 */
  /* For PF_VIEW_GRAPH: only arcs from, or to, functions of this name. */
  uint32_t caller, callee; /* names, or PF_NO_NAME: all */
} pf_context_rows;

/* Compute all rows, and open a reader of them. PF_ENOMEM. */
pf_status pf_context_rows_open (const pf_context_rows *rows, pf_reader **reader,
                                pf_error *error);

/*
** The metrics that are compared, of a profile of single frames into which both
** profiles were put: values of the new and the old one (..._before).
** PF_NO_METRIC: unknown.
*/
typedef struct pf_diff {
  const pf_contexts *contexts; /* borrowed by the reader, must not change */
  size_t self, self_before, total, total_before;
  size_t count, count_before; /* number of samples, for significance */
} pf_diff;

/*
** Open a reader with rows function, self, self_before, change, relative, total,
** total_before, total_change, significance, file, line; the largest change
** first. `relative` is change / self_before, missing if self_before is 0.
** `significance` is the change of the count in standard errors, if counts have
** a Poisson distribution: below 2 it may be chance. It is missing if one
** profile has no counts, or both counts are 0. PF_ENOMEM.
*/
pf_status pf_diff_open (const pf_diff *diff, pf_reader **reader,
                        pf_error *error);

#endif
