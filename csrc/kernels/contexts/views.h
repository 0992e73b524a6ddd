/*
** views.h - contexts as rows: functions, arcs between them, the tree, lines.
**
** Values are those of one metric, in its unit. `self` is what was spent right
** there, `total` with everything it called; a function that calls itself again
** counts once in its total. Shares are of the sum of all self, and missing
** when that is 0. `calls` are the weights of the metric "calls", missing
** without it; `count` of lines are those of the metric count_metric.
*/

#ifndef contexts_views_h
#define contexts_views_h

#include "kernels/contexts/traversal.h"

typedef enum pf_context_view {
  PF_VIEW_FLAT, /* function, calls, self, total, self_share, total_share,
                    file, line: the most self first */
  PF_VIEW_GRAPH, /* caller, callee, calls, self, total, caller_file, callee_file: the
                    most total first; caller missing: called by nobody known */
  PF_VIEW_TREE, /* depth (from 1), function, calls, self, total, self_share,
                    total_share, file, line, node, label (the function behind
                    two blanks a frame): depth first, the heaviest callees
                    first */
  PF_VIEW_BOTTOM_UP, /* the same of contexts that have been turned round. There
                    the weights are where a stack began; here they belong to
                    the frames of the first level, and callers have a total of
                    what they caused and no self. Calls are those of the first
                    level too: through these callers */
  PF_VIEW_LINES      /* file, line, count, self, self_share, function: the most
                    self first; frames without a line are left out */
} pf_context_view;

#define PF_ALL_FUNCTIONS UINT32_MAX

/* What a view shows. */
typedef struct pf_context_rows {
  const pf_contexts *contexts; /* borrowed by the reader, must not change */
  pf_context_view view;
  size_t metric;
  size_t total_metric; /* whose own weights are the totals, for profiles that
                          know totals and no stacks; else PF_NO_METRIC */
  size_t count_metric; /* of PF_VIEW_LINES: whose weights are the counts;
                          PF_NO_METRIC: they are missing */
  bool zeros;          /* also rows in which all numbers are 0 */
  /* Of PF_VIEW_GRAPH: only arcs from, or to, functions of this name. */
  uint32_t caller, callee; /* names, or PF_NO_NAME: all */
} pf_context_rows;

/* PF_ENOMEM. The rows are computed here, once. */
pf_status pf_context_rows_open (const pf_context_rows *rows, pf_reader **reader,
                                pf_error *error);

#endif
