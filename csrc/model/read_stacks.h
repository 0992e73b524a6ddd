/*
** read_stacks.h - rows of stacks and weights as contexts, all at once: what
** readers do that know a shorter way than rows (pf_reader.read_stacks).
**
** It gives what adding up the rows would give. It adds nothing to the
** dictionary and calls nobody, so that readers of several files of a trace may
** gather in threads, each into contexts of its own.
*/

#ifndef read_stacks_h
#define read_stacks_h

#include "model/contexts.h"

/* Where it goes. The contexts are of the reader's dictionary, and have no nodes
   but the root. */
struct pf_stack_target {
  pf_contexts *contexts;
  size_t nmetrics; /* how many columns weigh; 0: each row names its metric, and
                      metrics that are new are added */
  const size_t *columns;
  const size_t *metrics; /* what they are in the contexts */
};

#endif
