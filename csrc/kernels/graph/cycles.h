/*
** cycles.h - who is recursive with whom: the cycles of a call graph, and its
** functions in an order in which callees come before their callers.
*/

#ifndef cycles_h
#define cycles_h

#include "model/graph.h"

/*
** Functions are met depth first in the order of their numbers, callees the
** newest arc first. A cycle's head is its first function met that way; cycles
** are numbered from 1 by their heads' numbers. The members of a cycle are a
** chain from its head, in the order in which the search found out that they
** belong: gprof's order, which decides ties and the last bits of sums.
*/
typedef struct pf_cycles {
  size_t count;
  uint32_t *next;  /* of each function: the next member, PF_NO_FUNCTION */
  uint32_t *order; /* all functions, callees first; members together, by
                      number */
  uint32_t *heads; /* of cycle i: heads[i - 1] */
} pf_cycles;

/* Time and memory are linear in functions and arcs (but members of a cycle are
   sorted), and no call chain is too deep. PF_ENOMEM; close it also after a
   failure. */
pf_status pf_cycles_find (pf_cycles *cycles, const pf_graph *graph);
void pf_cycles_close (pf_cycles *cycles);

#endif
