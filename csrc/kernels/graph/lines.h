/*
** lines.h - histogram rows into weights of source lines: the same sharing as
** for functions, over the ranges of a line table cut where functions begin
** and end.
*/

#ifndef lines_h
#define lines_h

#include "kernels/graph/credit.h"
#include "model/symbols.h"

/* The credit of lines, beside that of functions. */
typedef struct pf_line_credit {
  const pf_credit *functions; /* borrowed */
  const pf_line_row *table;   /* the line table, borrowed */
  size_t table_rows;
  struct pf_line_range *ranges; /* in one function and one row of the table */
  size_t nranges, ranges_room;
  pf_ranges index; /* over ranges */
  pf_places places;
  pf_graph cells; /* a counter: its function i is range i */
  pf_credit credit;
} pf_line_credit;

/* Cut the ranges. PF_ENOMEM; close it also after a failure. */
pf_status pf_line_credit_open (pf_line_credit *lines,
                               const pf_credit *functions, pf_symbols *symbols,
                               uint64_t bias);

/* For pf_credit.also: `context` is the pf_line_credit. */
pf_status pf_line_credit_bin (void *context, uint64_t low, uint64_t high,
                              const int64_t *weights);

/* Hand the sums to line_rows of the functions' graph. */
pf_status pf_line_credit_finish (pf_line_credit *lines);

void pf_line_credit_close (pf_line_credit *lines);

#endif
