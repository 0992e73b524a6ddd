/*
** tally.h - rows of a table `arcs` into arcs between functions.
*/

#ifndef count_arcs_h
#define count_arcs_h

#include "kernels/graph/attribute.h"

/*
** Count all arcs of a reader with the columns from, to, count.
**
** Exactly: an address in no symbol becomes the pseudo function of its gap; a
** caller that is 0, or lies before or behind all symbols, is outside of the
** program. As gprof (the graph's facts.compat): an arc whose caller or callee
** is in no symbol is dropped, and a callee that is not marked as a function
** becomes the nearest one before it that is.
*/
pf_status pf_count_arcs (const pf_attribution *attribution, pf_reader *arcs,
                         pf_error *error);

#endif
