/*
** transform_graph.h - compute a call graph from another one: keep, drop or hide
** functions, or merge functions into groups. Used by profile:narrow and
** profile:group of lua/profile/profile.c, which owns both graphs. Arrays are
** borrowed during the call. The result is a finished graph like any other.
*/

#ifndef transform_graph_h
#define transform_graph_h

#include "model/graph/graph.h"

/* Marks of a function. */
enum {
  PF_GRAPH_KEEP = 1, /* if any has it, only these and their callees are kept */
  PF_GRAPH_DROP = 2, /* this function and its callees are dropped */
  PF_GRAPH_HIDE = 4  /* its time and its calls are moved to its callers */
};

/*
** Fill the empty graph `to` with what `marks` (one per function) leave of
** `from`. Functions keep their numbers; `from` only gets its arcs by callee.
**
** The time of a function belongs to its callers in proportion to their calls,
** as in propagation: keeping or dropping a caller keeps or drops its share of
** the callee. Members of a cycle are kept together. A hidden function without
** callers stays, since its time cannot be moved. Weights stay whole numbers:
** running sums are rounded, so the sum of each metric is rounded once.
** PF_ENOMEM; PF_ELIMIT when hiding would make too many arcs.
*/
pf_status pf_graph_narrow (pf_graph *to, pf_graph *from, const uint8_t *marks,
                           pf_error *error);

/* Fill the empty graph `to` with `count` groups of functions: function f of
   `from` goes into group groups[f], whose name is names[groups[f]]. Calls
   inside a group become calls of the group by itself. PF_ENOMEM. */
pf_status pf_graph_group (pf_graph *to, const pf_graph *from,
                          const uint32_t *groups, const uint32_t *names,
                          size_t count);

#endif
