/*
** count_arcs.h - count the rows of a table `arcs` as calls between functions.
** Used by assemble.c. The caller owns the graph and the reader; all other
** memory is freed on return.
*/

#ifndef count_arcs_h
#define count_arcs_h

#include "kernels/graph/attribute.h"

/*
** Add all arcs of a reader with the columns from, to (addresses) and count to
** the graph of `attribution`, whose functions and index are used.
**
** Exact profiles: an address in no symbol becomes the pseudo function of its
** gap; a caller that is 0, or lies before or after all symbols, is outside the
** program. Profiles as gprof computes them (facts.compat of the graph): an arc
** with an end in no symbol is dropped, and a callee that is not marked as a
** function becomes the nearest function before it.
**
** PF_ENOMEM, or the reader's error.
*/
pf_status pf_count_arcs (const pf_attribution *attribution, pf_reader *arcs,
                         pf_error *error);

#endif
