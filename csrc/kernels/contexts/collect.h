/*
** collect.h - build contexts from the rows of a table with stacks, folded
** stacks or single frames. Used by lua/profile/context_profile.c
** (trace:profile, view:profile), which opens and closes the contexts. The input
** is borrowed during the call.
*/

#ifndef contexts_collect_h
#define contexts_collect_h

#include "model/contexts/contexts.h"

/* A metric: the sum of a column of whole numbers, or the number of rows. The
   rounding errors in its remainder column (pf_remainder_of) are added too,
   except for rows with stacks. The name and the unit are copied. */
typedef struct pf_collected {
  const char *name, *unit; /* of the metric */
  const char *column;      /* NULL: each row counts 1 */
} pf_collected;

/* The columns of a reader; each name may be NULL. `folded` has priority over
   `stack`, and both over the columns of single frames. */
typedef struct pf_collect {
  pf_reader *reader;
  const char *stack;       /* of stacks */
  const char *folded;      /* of names "main;f;g", the outermost frame first */
  const char *function;    /* of names or areas: the innermost frame */
  const char *fallback;    /* names or areas: the frame without function */
  const char *caller;      /* names or areas: the function's caller */
  const char *caller_file; /* names: the file of the caller */
  const char *file;        /* names: the file of the function */
  const char *line;        /* whole numbers: its line */
  const pf_collected *metrics;
  size_t nmetrics;
  const char *usual; /* the metric that is shown first; NULL: not stated */
} pf_collect;

/* The name of a function that a row with columns of functions does not name. */
#define PF_UNNAMED "(unknown function)"

/* Read to the end, and add the weights of the rows to the contexts. A row
   without stack or folded stack is added to the root; one without function to
   that of its fallback, else to PF_UNNAMED.
   PF_EUNSUPPORTED: a column does not exist or has another type. PF_ENOMEM, or
   the reader's error. */
pf_status pf_contexts_collect (pf_contexts *contexts, const pf_collect *from,
                               pf_error *error);

#endif
