/*
** lines.h - histogram rows into weights of source lines: the same sharing as
** for functions, over the ranges of a line table cut where functions begin
** and end.
*/

#ifndef line_weights_h
#define line_weights_h

#include "kernels/graph/attribute.h"
#include "model/symbols.h"

/* The credit of lines, beside that of functions. */
typedef struct pf_line_weights {
  const pf_attribution *functions; /* borrowed */
  const pf_line_row *table;        /* the line table, borrowed */
  size_t table_rows;
  struct pf_line_range *ranges; /* in one function and one row of the table */
  size_t nranges, ranges_capacity;
  pf_ranges lookup; /* over ranges */
  pf_address_index index;
  pf_graph cells; /* a counter: its function i is range i */
  pf_attribution attribution;
} pf_line_weights;

/* Cut the ranges. PF_ENOMEM; close it also after a failure. */
pf_status pf_line_weights_open (pf_line_weights *lines,
                                const pf_attribution *functions,
                                pf_symbols *symbols, uint64_t bias);

/* For pf_attribution.also: `context` is the pf_line_weights. */
pf_status pf_line_weights_bin (void *context, uint64_t low, uint64_t high,
                               const int64_t *weights);

/* Hand the sums to line_rows of the functions' graph. */
pf_status pf_line_weights_finish (pf_line_weights *lines);

void pf_line_weights_close (pf_line_weights *lines);

#endif
