/*
** straddlers.h - histogram bins over several functions, added up by their range
** before they are shared out: so what each function gets does not depend on how
** the counts were divided into files.
*/

#ifndef shared_bins_h
#define shared_bins_h

#include "model/graph.h"

typedef struct pf_shared_bin {
  uint64_t low, high;
  int64_t weights[PF_MAX_METRICS];
} pf_shared_bin;

/* Begin with zeros. */
typedef struct pf_shared_bins {
  pf_shared_bin *bins;
  size_t count, capacity;
} pf_shared_bins;

/* Add the weights of a bin. PF_ENOMEM. */
pf_status pf_shared_bins_add (pf_shared_bins *s, uint64_t low, uint64_t high,
                              const int64_t *weights, size_t nmetrics);

/* Sort by range, one for each. */
void pf_shared_bins_merge (pf_shared_bins *s);

void pf_shared_bins_free (pf_shared_bins *s);

#endif
