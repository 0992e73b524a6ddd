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
  uint32_t *next;  /* of a member: the next one, or PF_NO_FUNCTION */
  uint32_t *order; /* all functions, callees first; members together, by
                      number; NULL: a visitor has seen them */
  uint32_t *heads; /* of cycle i: heads[i - 1] */
} pf_cycles;

/* Who wants to look at functions when all that they call is known. */
typedef struct pf_visitor {
  /* A function, or all members of a cycle by number, are left; all that they
     call has been before. */
  void (*leave)(void *context, const uint32_t *functions, size_t count);
  void *context;
} pf_visitor;

/*
** Time and memory are linear in functions and arcs (but members of a cycle are
** sorted), and no call chain is too deep. A visitor (else NULL) sees functions
** in another order, which is found faster, and cycles are numbered as they are
** left, until pf_cycles_number. PF_ENOMEM; close it also after a failure.
*/
pf_status pf_cycles_find (pf_cycles *cycles, const pf_graph *graph,
                          const pf_visitor *visitor);

/* Number the cycles by their heads. */
void pf_cycles_number (pf_cycles *cycles);

void pf_cycles_close (pf_cycles *cycles);

#endif
