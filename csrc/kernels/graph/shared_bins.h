/*
** shared_bins.h - histogram bins that cover several functions.
**
** Used by attribute.c: such bins are summed by their address range, and divided
** among the functions only after all files have been read. So the result does
** not depend on how the counts were spread over files.
**
** Order of use: begin with zeros, add, merge, read `bins`, free.
*/

#ifndef shared_bins_h
#define shared_bins_h

#include "model/graph/graph.h"

typedef struct pf_shared_bin {
  uint64_t low, high;              /* addresses [low, high) */
  int64_t weights[PF_MAX_METRICS]; /* by metric */
} pf_shared_bin;

typedef struct pf_shared_bins {
  pf_shared_bin *bins;
  size_t count, capacity;
} pf_shared_bins;

/* Add a bin; `weights` has `nmetrics` values. PF_ENOMEM. */
pf_status pf_shared_bins_add (pf_shared_bins *s, uint64_t low, uint64_t high,
                              const int64_t *weights, size_t nmetrics);

/* Sort the bins by range, and sum the bins of equal ranges. */
void pf_shared_bins_merge (pf_shared_bins *s);

void pf_shared_bins_free (pf_shared_bins *s);

#endif
