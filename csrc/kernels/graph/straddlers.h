/*
** straddlers.h - histogram bins over several functions, added up by their range
** before they are shared out: so what each function gets does not depend on how
** the counts were divided into files.
*/

#ifndef straddlers_h
#define straddlers_h

#include "model/graph.h"

typedef struct pf_straddler {
  uint64_t low, high;
  int64_t weights[PF_MAX_METRICS];
} pf_straddler;

/* Begin with zeros. */
typedef struct pf_straddlers {
  pf_straddler *bins;
  size_t count, room;
} pf_straddlers;

/* Add the weights of a bin. PF_ENOMEM. */
pf_status pf_straddlers_add (pf_straddlers *s, uint64_t low, uint64_t high,
                             const int64_t *weights, size_t nmetrics);

/* Sort by range, one for each. */
void pf_straddlers_merge (pf_straddlers *s);

void pf_straddlers_free (pf_straddlers *s);

#endif
