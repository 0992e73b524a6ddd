/*
** by_stack.h - contexts from rows that have stacks: weights are added up by the
** number of the stack, in a second thread, and become contexts at the end.
*/

#ifndef contexts_by_stack_h
#define contexts_by_stack_h

#include "model/contexts.h"

/* Columns by their numbers. */
typedef struct pf_stack_rows {
  pf_reader *reader;
  size_t stack;
  size_t nmetrics;
  const size_t *columns; /* SIZE_MAX: each row counts 1 */
  const size_t *metrics; /* their numbers in the contexts */
} pf_stack_rows;

/* Read to the end and add what the rows weigh; `wanted` are the reader's fields
   that are needed. A row without stack counts at the root. */
pf_status pf_contexts_by_stack (pf_contexts *contexts,
                                const pf_stack_rows *rows, bool *wanted,
                                pf_error *error);

#endif
