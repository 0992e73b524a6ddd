/*
** collect.h - contexts from the rows of a table that has stacks, or that says
** where each row was spent.
*/

#ifndef contexts_collect_h
#define contexts_collect_h

#include "model/contexts.h"

/* What is weighed: a column of whole numbers, or each row as 1. */
typedef struct pf_collected {
  const char *name, *unit; /* of the metric */
  const char *column;      /* NULL: each row counts 1 */
} pf_collected;

typedef struct pf_collect {
  pf_reader *reader;
  const char *stack;       /* a column of stacks; NULL: there is none */
  const char *folded;      /* a column of names "main;f;g", the outermost frame
                           first; NULL: there is none */
  const char *function;    /* else single frames: a column of names or areas, */
  const char *caller;      /* with one of its caller's name, or NULL, */
  const char *caller_file; /* and of the caller's file, or NULL, */
  const char *file;        /* with a column of names, or NULL */
  const char *line;        /* and one of whole numbers, or NULL */
  const pf_collected *metrics;
  size_t nmetrics;
  const char *usual; /* the metric that is shown first; NULL: not stated */
} pf_collect;

/* Read to the end and add what the rows weigh to the contexts. A row without
   stack, folded stack or function counts at the root. */
pf_status pf_contexts_collect (pf_contexts *contexts, const pf_collect *from,
                               pf_error *error);

#endif
