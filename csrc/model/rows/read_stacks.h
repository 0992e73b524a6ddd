/*
** read_stacks.h - the destination of the bulk read of stacks
** (pf_abilities.read_stacks): a reader adds the stacks and weights of all its rows
** to contexts at once, which is faster than building the rows.
**
** The result is the same as that of adding the rows one by one. The call adds
** nothing to the dictionary and calls no callback, so that the readers of
** several files may run in parallel threads, each with its own contexts. The
** caller owns the contexts and arrays.
**
** Filled by kernels/contexts/collect.c, kernels/stages/chain.c and by
** formats/pprof/encode_pprof.c; read by formats/pprof/stacks_pprof.c.
*/

#ifndef read_stacks_h
#define read_stacks_h

#include "model/contexts/contexts.h"
#include "model/rows/abilities.h"

struct pf_stack_target {
  pf_contexts *contexts; /* use the reader's dictionary; only the root node */
  size_t nmetrics; /* length of the arrays; 0: each row names its metric, and
                      new metrics are added to the contexts */
  const size_t *columns; /* borrowed: columns of the reader with weights */
  const size_t *metrics; /* borrowed: metric of each column in the contexts */
};

#endif
