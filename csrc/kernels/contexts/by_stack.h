/*
** by_stack.h - contexts from rows with stacks: weights are summed by stack id
** in a second thread, and become contexts at the end. Used by collect.c, which
** passes the caller's contexts. All memory of the sums is freed on return.
*/

#ifndef contexts_by_stack_h
#define contexts_by_stack_h

#include "model/contexts/contexts.h"

/* The reader and its columns, by number. All members are borrowed during the
   call. */
typedef struct pf_stack_rows {
  pf_reader *reader;
  size_t stack; /* the column of stacks */
  size_t nmetrics;
  const size_t *columns; /* of weights; SIZE_MAX: each row counts 1 */
  const size_t *metrics; /* of the contexts, for these columns */
} pf_stack_rows;

/* Read to the end, and add the weights of the rows to the contexts. wanted[i]
   tells whether field i of the reader is needed. Rows without a stack count for
   the root. PF_ENOMEM, or the reader's error. */
pf_status pf_contexts_by_stack (pf_contexts *contexts,
                                const pf_stack_rows *rows, bool *wanted,
                                pf_error *error);

#endif
