/*
** attribute.h - attribute the counts of histogram bins to functions, exactly.
** Used by assemble.c for functions and for source lines.
**
** A bin that covers several functions is divided by bytes: each function gets
** its share rounded down, and the one with most bytes gets the remainder. So
** all weights are whole numbers, and their sum is the sum of the counts. Bytes
** in no function go to a pseudo function. It is named by the start of the gap
** if the gap lies between two functions, has at most PF_MAX_GAP bytes and all
** functions are known; else by the address itself. A bin over more than
** PF_MAX_SHARES functions says nothing about any of them: the whole bin goes to
** a pseudo function named by the start of the bin.
**
** Order of use: pf_attribution_metrics, add the functions to the graph, fill in
** a pf_attribution, then either pf_attribute_histogram, or pf_attribute_bin for
** each bin and pf_attribution_finish. An attribution owns only `shared`, which
** pf_attribution_finish frees, or after a failure pf_shared_bins_free.
*/

#ifndef attribute_h
#define attribute_h

#include "kernels/graph/histograms.h"
#include "kernels/graph/address_index.h"
#include "model/base/intern_table.h"
#include "model/graph/graph.h"

#define PF_MAX_SHARES 1024 /* functions */
#define PF_MAX_GAP    4096 /* bytes */

/* Bins that cover several functions, summed by their address range. */
typedef struct pf_shared_bins {
  struct pf_shared_bin {
    uint64_t low, high;              /* addresses [low, high) */
    int64_t weights[PF_MAX_METRICS]; /* by metric */
  } * bins;
  size_t capacity;
  pf_intern_table known; /* of the bins */
} pf_shared_bins;

void pf_shared_bins_free (pf_shared_bins *bins);

/* The attribution of one table. Function i of the graph covers range i of the
   index. The caller sets the members up to `context`, all others to 0. */
typedef struct pf_attribution {
  pf_graph *graph;               /* borrowed, like the index and the sets */
  const pf_address_index *index; /* ranges of the functions */
  const pf_histograms *units;    /* sets of several dimensions; or NULL */
  bool is_partial; /* some functions have no range: gaps may be code too */
  /* Called for each bin with a count, in the order of the rows; or NULL. */
  pf_status (*observe)(void *context, uint64_t low, uint64_t high,
                       const int64_t *weights);
  void *context;
  size_t unit;           /* the set of the last row */
  size_t last_range;     /* the range of the last bin */
  pf_shared_bins shared; /* bins over several functions, divided at the end */
} pf_attribution;

/*
** Add the metrics of a table `histogram` to a graph without functions:
** "samples" if a set is in seconds, "time" (ns) if the table has a column
** `spent` too, and one metric for each other dimension, named after it. Where a
** sampling rate gives times that are no whole nanoseconds, a last metric keeps
** the remainders until pf_attribution_finish. Each set gets the number of the
** metric of its counts. PF_ELIMIT when there are too many dimensions.
*/
pf_status pf_attribution_metrics (pf_graph *graph, const pf_reader *histogram,
                                  pf_histograms *sets, pf_error *error);

/* Attribute all rows of table `histogram` (columns low, high, count, if present
   spent, and with `units` set) and finish. PF_ENOMEM, or the reader's error. */
pf_status pf_attribute_histogram (pf_attribution *attribution,
                                  pf_reader *histogram, pf_error *error);

/* Attribute one bin [low, high); weights by metric. PF_ENOMEM. */
pf_status pf_attribute_bin (pf_attribution *attribution, uint64_t low,
                            uint64_t high, const int64_t *weights);

/* Divide the bins over several functions, round the times, drop the metric of
   remainders, and free what the attribution owns. PF_ENOMEM. */
pf_status pf_attribution_finish (pf_attribution *attribution);

/* Returns the function of an address: the symbol that contains it, or the
   pseudo function of its gap, which is added if it is new. `range` is the last
   one that starts at or before the address. PF_NO_FUNCTION: out of memory. */
uint32_t pf_function_at (const pf_attribution *attribution, size_t range,
                         uint64_t address);

#endif
