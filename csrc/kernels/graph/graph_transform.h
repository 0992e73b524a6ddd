/*
** change.h - a graph made of another one: only some of its functions, or
** several as one. What is left is a graph like any other, whose inclusive time
** is found by propagation.
*/

#ifndef graph_transform_h
#define graph_transform_h

#include "model/graph.h"

/* What becomes of a function. */
enum {
  PF_GRAPH_KEEP = 1, /* if there are any: only these, and what they called */
  PF_GRAPH_DROP = 2, /* not this one, nor what it called */
  PF_GRAPH_HIDE = 4  /* what it spent and called is its callers' */
};

/*
** Fill `to`, which is empty, with what `marks` (of each function) leave of
** `from`; functions keep their numbers.
**
** What a function spent belongs to its callers in the shares of their calls, as
** it does in propagation: keeping or dropping a caller keeps or drops its share
** of the callee. Functions that are recursive with each other are kept
** together. A hidden function that nobody called stays, for there is nobody to
** charge. Weights stay whole: of each metric the sum is rounded once.
** PF_ENOMEM, PF_ELIMIT: hiding would make too many arcs.
*/
pf_status pf_graph_narrow (pf_graph *to, pf_graph *from, const uint8_t *marks,
                           pf_error *error);

/* Fill `to`, which is empty, with groups of functions: function f of `from`, if
   it was used, goes into groups[f], below `count`, which is called
   names[groups[f]]. Calls inside a group are calls by itself. PF_ENOMEM. */
pf_status pf_graph_group (pf_graph *to, const pf_graph *from,
                          const uint32_t *groups, const uint32_t *names,
                          size_t count);

#endif
