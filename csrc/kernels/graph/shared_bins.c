/*
** shared_bins.c - an array that is sorted and merged when it is full, and
** doubled if merging does not free half of it. So memory grows with the number
** of distinct ranges, not with the number of files.
*/

#include "kernels/graph/shared_bins.h"

#include <stdlib.h>
#include <string.h>

#include "model/base/memory.h"


static int compare (const void *a, const void *b) {
  const pf_shared_bin *const x = a, *const y = b;
  if (x->low != y->low)
    return x->low < y->low ? -1 : 1;
  return (x->high > y->high) - (x->high < y->high);
}


void pf_shared_bins_merge (pf_shared_bins *s) {
  size_t kept = 0, sorted = 1;
  if (s->count == 0)
    return;
  while (sorted < s->count &&
         compare(&s->bins[sorted - 1], &s->bins[sorted]) <= 0)
    sorted++;
  if (sorted < s->count) /* the bins of one file are in order already */
    qsort(s->bins, s->count, sizeof *s->bins, compare);
  for (size_t i = 1; i < s->count; i++) {
    if (compare(&s->bins[kept], &s->bins[i]) != 0)
      s->bins[++kept] = s->bins[i];
    else
      for (size_t m = 0; m < PF_MAX_METRICS; m++)
        s->bins[kept].weights[m] =
            pf_add(s->bins[kept].weights[m], s->bins[i].weights[m]);
  }
  s->count = kept + 1;
}


pf_status pf_shared_bins_add (pf_shared_bins *s, uint64_t low, uint64_t high,
                              const int64_t *weights, size_t nmetrics) {
  if (s->count == s->capacity) {
    pf_shared_bins_merge(s);
    if ((s->capacity == 0 || s->count > s->capacity / 2) &&
        !pf_grow(&s->bins, &s->capacity, s->capacity + 64))
      return PF_ENOMEM;
  }
  pf_shared_bin *const bin = &s->bins[s->count++];
  memset(bin, 0, sizeof *bin);
  bin->low = low;
  bin->high = high;
  memcpy(bin->weights, weights, nmetrics * sizeof *weights);
  return PF_OK;
}


void pf_shared_bins_free (pf_shared_bins *s) {
  free(s->bins);
  memset(s, 0, sizeof *s);
}
