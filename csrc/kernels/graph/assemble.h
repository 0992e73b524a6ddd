/*
** assemble.h - the graph body of a profile from the tables of a trace.
*/

#ifndef assemble_h
#define assemble_h

#include "model/graph.h"
#include "model/symbols.h"

/* What a graph is made from. The readers may be those of several files in a
   row; they are read to their end and not needed afterwards. */
typedef struct pf_assembly {
  pf_reader *histogram; /* set, low, high, count, spent, bin; or NULL */
  pf_reader *arcs;      /* from, to, count; or NULL */
  pf_reader *sets;      /* low, high, bins, rate, ...; or NULL */
  pf_symbols *symbols;  /* NULL: there are only addresses */
  uint64_t bias;        /* run-time address = the symbol's + bias */
  bool compat;          /* as gprof 2.40 does it; needs `sets` */
  bool lines;           /* credit source lines too */
} pf_assembly;

/*
** Make a graph; close it also after a failure. Compat: PF_EUNSUPPORTED with
** gprof's words where gprof refuses. Without compat it never refuses.
*/
pf_status pf_assemble (pf_graph *graph, const pf_assembly *assembly,
                       pf_dictionary *dictionary, pf_error *error);

#endif
