/*
** views.h - the nodes of a context tree in depth-first order, whatever the
** order in which they were added; and contexts as rows: functions, arcs between
** them, the tree, lines. Used by lua/profile/context_profile.c; a traversal
** also by outline.c, transform_contexts.c and lua/profile/export.c. The caller
** closes the reader, which owns its rows, and the traversal, which owns its
** arrays.
**
** Values are those of one metric, in its unit. `self` is the weight of the
** frame itself, `total` includes everything that it called; recursive calls of
** a function count once in its total. Shares are parts of the sum of all self,
** and missing if that is 0. `calls` are the weights of the metric "calls", and
** missing without it; `count` of lines are the weights of count_metric.
*/

#ifndef contexts_views_h
#define contexts_views_h

#include "model/contexts/contexts.h"

/*
** All nodes in preorder, callees by name, file and line. Frames with the same
** name and file are one function, whatever their lines. The root has no
** function.
*/
typedef struct pf_traversal {
  const pf_contexts *contexts; /* borrowed; must not change */
  uint32_t *order;             /* all nodes, the root first */
  uint32_t *depths;            /* depths[i] of node order[i]; the root has 0 */
  uint32_t max_depth;
  uint32_t *functions; /* of each node; PF_NO_FUNCTION for the root */
  uint32_t nfunctions; /* numbered in the order of name and file */
  uint32_t *areas;     /* of each function: its frame with the lowest line */
} pf_traversal;

#define PF_NO_FUNCTION UINT32_MAX

/* Open a traversal. With `totals` (by node, may be NULL), callees are sorted by
   descending total first, then by name, file and line; they are not kept.
   PF_ENOMEM: then it need not be closed. */
pf_status pf_traversal_open (pf_traversal *traversal,
                             const pf_contexts *contexts,
                             const int64_t *totals);
void pf_traversal_close (pf_traversal *traversal);

/*
** Set outermost[node], which has room for all nodes, for nodes that have no
** ancestor of the same class: classes[node] is below nclasses, or UINT32_MAX
** for nodes in no class. The total of a function, whose class is t->functions,
** is the sum of the totals of these nodes. PF_ENOMEM.
*/
pf_status pf_traversal_outermost (const pf_traversal *t,
                                  const uint32_t *classes, size_t nclasses,
                                  bool *outermost);

/* Returns the word of a node other than the root; UINT64_MAX: it has none. */
typedef uint64_t pf_word_of (const pf_traversal *t, uint32_t node);

/* Number the classes of nodes, which have equal words, in the order of these,
   for pf_traversal_outermost; `classes` has room for all nodes. PF_ENOMEM. */
pf_status pf_traversal_classes (const pf_traversal *t, pf_word_of *word_of,
                                uint32_t *classes, size_t *nclasses);

typedef enum pf_context_view {
  PF_VIEW_FLAT,  /* function, calls, self, total, self_share, total_share,
                    file, line: by descending self */
  PF_VIEW_GRAPH, /* caller, callee, calls, self, total, caller_file,
                    callee_file: by descending total; caller missing: unknown,
                    then calls of 0 are missing too */
  PF_VIEW_TREE,  /* depth (from 1), function, calls, self, total, self_share,
                   total_share, file, line, node, label (the function, indented
                   by two blanks a frame): in preorder, callees by descending
                   total */
  PF_VIEW_BOTTOM_UP, /* the same columns, for contexts that pf_contexts_invert
                   has turned round: the first level are functions, below them
                   stand their callers. Only the first level has self; the
                   total and calls of a caller are those of the first-level
                   function along this path */
  PF_VIEW_LINES,     /* file, line, count, self, total, self_share, function: by
                   descending self; a row for each function without lines */
  PF_VIEW_ANNOTATIONS /* file, line, count, self, total, function: a row for
                   each line of a file, whatever functions it is in, and for
                   each function without lines */
} pf_context_view;

/* The input of a view. */
typedef struct pf_context_rows {
  const pf_contexts *contexts; /* borrowed by the reader, must not change */
  pf_context_view view;
  size_t metric;
  size_t total_metric; /* its weights are the totals, for profiles that have
                          totals but no stacks; else PF_NO_METRIC */
  size_t count_metric; /* for the views of lines: its weights are the counts;
                          PF_NO_METRIC: they are missing */
  bool zeros;          /* include rows in which all numbers are 0 */
  /* For PF_VIEW_GRAPH: only arcs from, or to, functions of this name. */
  uint32_t caller, callee; /* names, or PF_NO_NAME: all */
} pf_context_rows;

/* Compute all rows, and open a reader of them. PF_ENOMEM. */
pf_status pf_context_rows_open (const pf_context_rows *rows, pf_reader **reader,
                                pf_error *error);

#endif
