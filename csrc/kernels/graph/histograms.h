/*
** histograms.h - the histograms of a trace, as its table `sets` lists them.
*/

#ifndef histograms_h
#define histograms_h

#include "model/graph.h"

/* One histogram record. */
typedef struct pf_histogram {
  int64_t number; /* as column `set` of the histogram's rows has it */
  uint64_t low, high;
  int64_t bins, rate;
  uint32_t dimension, abbreviation; /* names, or PF_NO_NAME */
  size_t first;  /* the first set with this range: gprof adds them up */
  size_t metric; /* of the graph, that its counts are added to */
} pf_histogram;

typedef struct pf_histograms {
  pf_histogram *sets;
  size_t count, capacity;
  bool is_repeated; /* some range is there twice */
  bool has_units;   /* some dimension is not seconds */
} pf_histograms;


/* Read table `sets`; close it also after a failure. */
pf_status pf_histograms_read (pf_histograms *sets, pf_reader *reader,
                              pf_error *error);
void pf_histograms_close (pf_histograms *sets);

/* Set the facts of the profile that come from the sets: their number, rate,
   dimension, abbreviation, scale, and whether the rates are equal. They are
   those of the first set in seconds, or of the first set if none is in
   seconds. */
void pf_histograms_facts (const pf_histograms *sets,
                          const pf_dictionary *dictionary,
                          pf_graph_facts *facts);

/* Whether a set counts seconds; so do those that state no dimension. */
bool pf_histogram_is_seconds (const pf_histogram *set,
                              const pf_dictionary *dictionary);

/* How many units of 2 bytes a bin has when they divide the range evenly. */
static inline double pf_histogram_scale (const pf_histogram *set) {
  const uint64_t units = (set->high - set->low) / 2;
  return (double)units / (double)set->bins;
}

/* Where the set with a number stands, looked for from *at on, where it also
   is left; NULL: there is none. */
const pf_histogram *pf_histograms_find (const pf_histograms *sets,
                                        int64_t number, size_t *at);

#endif
