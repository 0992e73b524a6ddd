/*
** line_weights.h - attribute histogram counts to source lines. Used by
** assemble.c beside the attribution to functions.
**
** The line table is cut where functions begin and end, and bins are divided
** among the resulting ranges by the rules of attribute.h.
**
** Order of use: open, pf_line_weights_bin for each bin, finish, close. `close`
** frees the ranges, the look-up and the cells.
*/

#ifndef line_weights_h
#define line_weights_h

#include "kernels/graph/attribute.h"
#include "model/symbols/symbols.h"

typedef struct pf_line_weights {
  const pf_attribution *functions; /* borrowed */
  const pf_line_row *table;        /* the line table, borrowed */
  size_t table_rows;
  struct pf_line_range *ranges; /* each in at most one function and one row */
  size_t nranges, ranges_capacity;
  pf_ranges lookup;           /* finds the range of an address */
  pf_address_index index;     /* the same without a bias */
  pf_graph cells;             /* its "function" i is range i */
  pf_attribution attribution; /* to the cells */
} pf_line_weights;

/* Compute the ranges of `functions` and the line table of `symbols`, which are
   borrowed; `bias` is added to addresses of the table. PF_ENOMEM; close it also
   after a failure. */
pf_status pf_line_weights_open (pf_line_weights *lines,
                                const pf_attribution *functions,
                                pf_symbols *symbols, uint64_t bias);

/* Attribute a bin [low, high). It can be `observe` of a pf_attribution, with
   the pf_line_weights as context. PF_ENOMEM. */
pf_status pf_line_weights_bin (void *context, uint64_t low, uint64_t high,
                               const int64_t *weights);

/* Set line_rows of the graph of the functions. PF_ENOMEM. */
pf_status pf_line_weights_finish (pf_line_weights *lines);

void pf_line_weights_close (pf_line_weights *lines);

#endif
