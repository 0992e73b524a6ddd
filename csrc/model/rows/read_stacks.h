/*
** read_stacks.h - the destination of the bulk read of stacks
** (pf_reader.read_stacks): a reader adds all its rows of stacks and weights to
** contexts at once, which is faster than to make the rows.
**
** The result equals that of adding the rows. The call adds nothing to the
** dictionary and calls no callback, so that the readers of several files may
** run in threads, each with contexts of its own.
*/

#ifndef read_stacks_h
#define read_stacks_h

#include "model/contexts/contexts.h"

struct pf_stack_target {
  pf_contexts *contexts; /* of the reader's dictionary; only the root node */
  size_t nmetrics;       /* of `columns`; 0: each row names its metric, and new
                             metrics are added to the contexts */
  const size_t *columns; /* columns of the reader that have weights */
  const size_t *metrics; /* their metrics in the contexts */
};

#endif
