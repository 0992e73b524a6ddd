/*
** credit.h - histogram rows into weights of functions, exactly.
**
** A bin that straddles functions is shared by bytes: everyone gets the whole
** part of their share and the largest gets what remains, so all weights stay
** whole and add up to what was counted. Bytes in no function go to a pseudo
** function: that of a gap between two functions is named by where the gap
** begins, if it has at most PF_MAX_GAP bytes and all functions are known,
** and all others by their own addresses. A bin over more than
** PF_MAX_SHARES functions tells nothing of any of them: it goes whole to a
** pseudo function named by where the bin begins.
*/

#ifndef attribute_h
#define attribute_h

#include "kernels/graph/histograms.h"
#include "kernels/graph/address_index.h"
#include "kernels/graph/shared_bins.h"
#include "model/graph.h"

#define PF_MAX_SHARES 1024
#define PF_MAX_GAP    4096

/* Where weights go: function i of the graph covers range i of the index. */
typedef struct pf_attribution {
  pf_graph *graph;
  const pf_address_index *index;
  const pf_histograms *units; /* sets whose dimensions differ, or NULL */
  size_t unit;                /* the set of the last row: 0 to begin with */
  bool is_partial;   /* not all functions have ranges: gaps are code too */
  size_t last_range; /* the range of the last bin: 0 to begin with */
  /* Called for each bin with a count, in the order of the rows; or NULL. */
  pf_status (*observe)(void *context, uint64_t low, uint64_t high,
                       const int64_t *weights);
  void *context;
  pf_shared_bins shared; /* bins over several functions, until the end */
} pf_attribution;

/* Credit all rows of table `histogram`: low, high, count, and spent when it
   is there; with `units` also set. Call pf_attribution_metrics before the graph has
   functions. */
pf_status pf_attribute_histogram (pf_attribution *attribution,
                                  pf_reader *histogram, pf_error *error);

/* Add the metrics that this table gives: of sets in seconds "samples", and
   "time" when it has a column `spent`; of each other dimension one of its name,
   with the counts; until the end also what rounding left over, where the rates
   of the sets make times that are no whole nanoseconds. Notes in each set which
   metric its counts are. PF_ELIMIT when there are too many dimensions. */
pf_status pf_attribution_metrics (pf_graph *graph, const pf_reader *histogram,
                                  pf_histograms *sets, pf_error *error);

/* Share out the bins over several functions, and round the times. PF_ENOMEM.
   pf_attribute_histogram does it for its own credit. */
pf_status pf_attribution_finish (pf_attribution *attribution);

/* Credit one bin [low, high). PF_ENOMEM. */
pf_status pf_attribute_bin (pf_attribution *attribution, uint64_t low,
                            uint64_t high, const int64_t *weights);

/* The function that an address belongs to: a symbol's, or the pseudo function
   of its gap. PF_NO_FUNCTION when out of memory. */
uint32_t pf_function_at (const pf_attribution *attribution, size_t place,
                         uint64_t address);

/* How much of `weight` goes to `part` of `whole` bytes, rounded down. */
int64_t pf_share (int64_t weight, uint64_t part, uint64_t whole);

#endif
