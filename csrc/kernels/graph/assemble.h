/*
** assemble.h - build the call graph of a profile from the tables of a trace:
** symbols become functions, histograms are attributed to them, arcs counted.
** Used by the binding (csrc/lua/profile/profile.c), which owns the graph.
*/

#ifndef assemble_h
#define assemble_h

#include "model/graph/graph.h"
#include "model/symbols/symbols.h"

/* The input of a graph. The readers may be those of several concatenated files;
   they are read to their end. Everything is borrowed during the call. */
typedef struct pf_assembly {
  pf_reader *histogram; /* set, low, high, count, spent, bin; or NULL */
  pf_reader *arcs;      /* from, to, count; or NULL */
  pf_reader *sets;      /* low, high, bins, rate, ...; or NULL */
  pf_symbols *symbols;  /* NULL: there are only addresses */
  uint64_t bias;        /* run-time address = address of the symbol + bias */
  bool compat;          /* compute as gprof 2.40 does; needs `sets` */
  bool lines;           /* attribute to source lines too */
} pf_assembly;

/*
** Build a graph in an uninitialised struct; close it also after a failure. It
** borrows the dictionary until then. With `compat`, PF_EUNSUPPORTED
** with gprof's message where gprof refuses its input. PF_EUNSUPPORTED also when
** the bias moves symbols past the last address; PF_ELIMIT for too many units;
** PF_ENOMEM; or the error of a reader.
*/
pf_status pf_assemble (pf_graph *graph, const pf_assembly *assembly,
                       pf_dictionary *dictionary, pf_error *error);

#endif
