/*
** histograms.h - the histograms of a trace, as its table `sets` lists them
** (in gmon.out: one histogram record each). Used by assemble.c, which reads and
** closes them, attribute.c and gprof.c.
*/

#ifndef histograms_h
#define histograms_h

#include "model/graph/graph.h"

/* One histogram record: `bins` counters over the addresses [low, high). */
typedef struct pf_histogram {
  int64_t number; /* value of column `set` in the rows of the histogram */
  uint64_t low, high;
  int64_t bins, rate;               /* rate: samples per second */
  uint32_t dimension, abbreviation; /* names, or PF_NO_NAME */
  size_t first;  /* the first set with this range: gprof adds them up */
  size_t metric; /* the metric of the graph that gets its counts */
} pf_histogram;

typedef struct pf_histograms {
  pf_histogram *sets; /* in the order of the table; owned */
  size_t count, capacity;
  bool is_repeated; /* two sets have the same range */
  bool has_units;   /* some dimension is not seconds */
} pf_histograms;


/* Read table `sets` to its end. Close the result also after a failure:
   PF_ENOMEM, or the reader's error. */
pf_status pf_histograms_read (pf_histograms *sets, pf_reader *reader,
                              pf_error *error);
void pf_histograms_close (pf_histograms *sets);

/* Set the facts of the profile that come from the sets: number of sets, rate,
   dimension, abbreviation, scale, and whether the rates are equal. The values
   are those of the first set in seconds, else of the first set. */
void pf_histograms_facts (const pf_histograms *sets,
                          const pf_dictionary *dictionary,
                          pf_graph_facts *facts);

/* Whether a set counts seconds. A set without a dimension does. */
bool pf_histogram_is_seconds (const pf_histogram *set,
                              const pf_dictionary *dictionary);

/* Returns the size of a bin in units of 2 bytes, as gprof computes it: the
   range divided by the number of bins. */
static inline double pf_histogram_scale (const pf_histogram *set) {
  const uint64_t units = (set->high - set->low) / 2;
  return (double)units / (double)set->bins;
}

/* Returns the set with a number, or NULL. The search begins at sets[*at], and
   *at is set to the position found. */
const pf_histogram *pf_histograms_find (const pf_histograms *sets,
                                        int64_t number, size_t *at);

#endif
