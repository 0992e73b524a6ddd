/*
** assemble.h - build the call graph of a profile from the tables of a trace:
** symbols become functions, histograms are attributed to them, arcs counted.
** Graphs are computed from others, too: keep, drop or hide functions, or merge
** them into groups. Used by the binding (csrc/lua/profile/profile.c), which
** owns the graph.
*/

#ifndef assemble_h
#define assemble_h

#include "kernels/base/selection.h"
#include "model/graph/graph.h"
#include "model/symbols/symbols.h"

/* The input of a graph. The readers may be those of several concatenated files;
   they are read to their end. Everything is borrowed during the call, and the
   symbols until the graph is closed. */
typedef struct pf_assembly {
  pf_reader *histogram; /* set, low, high, count, spent, bin; or NULL */
  pf_reader *arcs;      /* from, to, count; or NULL */
  pf_reader *sets;      /* set, low, high, bins, rate, ...; or NULL */
  pf_symbols *symbols;  /* NULL: there are only addresses */
  uint64_t bias;        /* run-time address = address of the symbol + bias */
  bool compat;          /* compute as gprof 2.40 does; a histogram needs sets */
  bool lines;           /* attribute to source lines too */
} pf_assembly;

/*
** Build a graph in an uninitialised struct; close it also after a failure. It
** borrows the dictionary until then. With `compat`, PF_EUNSUPPORTED
** with gprof's message where gprof refuses its input. PF_EUNSUPPORTED also when
** the bias moves symbols past the last address, or a reader lacks a column;
** PF_ELIMIT for too many units; PF_ENOMEM; or the error of a reader.
*/
pf_status pf_assemble (pf_graph *graph, const pf_assembly *assembly,
                       pf_dictionary *dictionary, pf_error *error);

/* transform_graph.c: compute a graph from another one, for profile:narrow and
   profile:group. Arrays are borrowed during the call. */

/*
** Fill the empty graph `to` with what a selection leaves of `from`. Functions
** keep their numbers; `from` only gets its arcs by callee.
**
** The time of a function belongs to its callers in proportion to their calls,
** as in propagation: keeping or dropping a caller keeps or drops its share of
** the callee. Members of a cycle are kept together. A hidden function without
** callers stays, since its time cannot be moved. Weights stay whole numbers:
** running sums are rounded, so the sum of each metric is rounded once.
** PF_ENOMEM; PF_ELIMIT when hiding would make too many arcs.
*/
pf_status pf_graph_narrow (pf_graph *to, pf_graph *from,
                           const pf_selection *selection, pf_error *error);

/* Fill the empty graph `to` with `count` groups of functions: function f of
   `from` goes into group groups[f], whose name is names[groups[f]]. Calls
   inside a group become calls of the group by itself. PF_ENOMEM. */
pf_status pf_graph_group (pf_graph *to, const pf_graph *from,
                          const uint32_t *groups, const uint32_t *names,
                          size_t count);

#endif
