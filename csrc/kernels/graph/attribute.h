/*
** attribute.h - attributes the counts of histogram bins to functions, exactly.
** Also the index of functions by address, and the table `sets` (histograms.c);
** gprof.c uses both. Used by assemble.c for functions and for source lines;
** assemble.c owns the structs.
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

#include "model/base/intern_table.h"
#include "model/base/ranges.h"
#include "model/graph/graph.h"

/*
** The range (symbol, line) that holds a run-time address: the range index of
** model/base/ranges.h, shifted by the load bias. It borrows the ranges, which
** must outlive it, and allocates nothing. A range is known by its number in the
** range index.
*/

#define PF_NO_RANGE      SIZE_MAX
#define PF_INDEX_STEPS   8 /* ranges that pf_index_near tries in sequence */
#define PF_INDEX_AT_ONCE 64

typedef struct pf_address_index {
  const pf_ranges *ranges; /* borrowed */
  size_t count;            /* ranges */
  uint64_t bias;           /* run-time address = address in `ranges` + bias */
} pf_address_index;


/* Set up an index over `ranges`, shifted by `bias`. Returns false when the bias
   moves some of the ranges, but not all, past the last address. */
bool pf_index_open (pf_address_index *index, const pf_ranges *ranges,
                    uint64_t bias);

/* Range number `at` is [start, end); it is empty when end <= start. */
static inline uint64_t pf_index_start (const pf_address_index *index,
                                       size_t at) {
  return pf_range_start(index->ranges, at) + index->bias;
}

static inline uint64_t pf_index_end (const pf_address_index *index, size_t at) {
  return pf_range_end(index->ranges, at) + index->bias;
}

/* Returns the last range that starts at or before `address`; the range may end
   before the address. PF_NO_RANGE when all ranges start after it. */
size_t pf_index_before (const pf_address_index *index, uint64_t address);

/* Set found[i] to the range that contains addresses[i], or to UINT32_MAX when
   none does. `count` is at most PF_INDEX_AT_ONCE. */
void pf_index_find_all (const pf_address_index *index,
                        const uint64_t *addresses, size_t count,
                        uint32_t *found);

/* Returns what pf_index_before returns; faster when that is range `near` or one
   of the PF_INDEX_STEPS - 1 ranges after it. */
static inline size_t pf_index_near (const pf_address_index *index, size_t near,
                                    uint64_t address) {
  if (near >= index->count || pf_index_start(index, near) > address)
    return pf_index_before(index, address);
  for (size_t i = near; i < near + PF_INDEX_STEPS; i++)
    if (i + 1 == index->count || address < pf_index_start(index, i + 1))
      return i;
  return pf_index_before(index, address);
}

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
   PF_EUNSUPPORTED without its columns, PF_ENOMEM, or the reader's error. */
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
  /* Called for each bin with a weight, in the order of the rows; or NULL. */
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
   spent and its remainders, and with `units` set) and finish. PF_EUNSUPPORTED
   without low, high or count, PF_ENOMEM, or the reader's error. */
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
