/*
** gprof.c - attribute histogram counts to functions as gprof 2.40 does.
*/

#include "kernels/graph/gprof.h"

#include <math.h>
#include <stdlib.h>

#include "kernels/base/pipeline.h"
#include "model/base/memory.h"
#include "model/dictionary/names.h"

#define SAME_SCALE 0.000001 /* gprof takes closer scales for equal */

enum {
  SET,
  LOW,
  HIGH,
  COUNT,
  BIN,
  NWANTS
};

static const pf_want wants[NWANTS] = {
    {"set", PF_INT, true},   {"low", PF_ADDR, true}, {"high", PF_ADDR, true},
    {"count", PF_INT, true}, {"bin", PF_INT, true},
};

/* A bin with a count, kept while histograms of the same range are summed. */
typedef struct bin_count {
  size_t set; /* the first of its range */
  uint64_t bin, low, high;
  uint32_t count;
} bin_count;

typedef struct gprof_attribution {
  pf_graph *graph;
  const pf_address_index *index;
  const pf_histograms *sets;
  size_t at;         /* the set of the last row */
  size_t last_range; /* the range of the last bin */
  bin_count *bins;
  size_t nbins, bins_capacity;
} gprof_attribution;


static int compare_ranges (const void *left, const void *right) {
  const pf_histogram *a = *(const pf_histogram *const *)left;
  const pf_histogram *b = *(const pf_histogram *const *)right;
  if (a->low != b->low)
    return a->low < b->low ? -1 : 1;
  if (a->high != b->high)
    return a->high < b->high ? -1 : 1;
  return a->first < b->first ? -1 : a->first > b->first;
}


/* Find equal and overlapping ranges among the sets in order of address. */
static pf_status check_ranges (pf_histograms *sets, pf_histogram **sorted,
                               pf_error *error) {
  uint64_t reached = 0;
  for (size_t i = 0; i < sets->count; i++) {
    pf_histogram *set = sorted[i];
    if (i > 0 && sorted[i - 1]->low == set->low &&
        sorted[i - 1]->high == set->high) {
      set->first = sorted[i - 1]->first;
      sets->is_repeated = true;
      continue;
    }
    if (set->low < set->high && set->low < reached)
      return pf_refuse(error,
                       "gprof refuses this: overlapping histogram records");
    if (set->low < set->high && set->high > reached)
      reached = set->high;
  }
  return PF_OK;
}


static pf_status check_units (const pf_histograms *sets, pf_error *error) {
  const pf_histogram *first = sets->sets;
  const double scale = pf_histogram_scale(first);
  for (size_t i = 1; i < sets->count; i++) {
    const pf_histogram *set = &sets->sets[i];
    const char *what = NULL;
    if (set->dimension != first->dimension)
      what = "dimension unit changed between histogram records";
    else if (set->abbreviation != first->abbreviation)
      what = "dimension abbreviation changed between histogram records";
    else if (fabs(scale - pf_histogram_scale(set)) > SAME_SCALE)
      what = "different scales in histogram records";
    if (what != NULL)
      return pf_refuse(error, "gprof refuses this: %s", what);
  }
  return PF_OK;
}


pf_status pf_gprof_check (pf_histograms *sets, pf_error *error) {
  if (sets->count == 0)
    return PF_OK;
  pf_status status = check_units(sets, error);
  if (status != PF_OK)
    return status;
  pf_histogram **sorted = malloc(sets->count * sizeof(pf_histogram *));
  if (sorted == NULL)
    return pf_no_memory(error);
  for (size_t i = 0; i < sets->count; i++)
    sorted[i] = &sets->sets[i];
  qsort(sorted, sets->count, sizeof(pf_histogram *), compare_ranges);
  status = check_ranges(sets, sorted, error);
  free(sorted);
  return status;
}


/* Convert a double to an address, clamped to 0 and UINT64_MAX. */
static uint64_t to_units (double value) {
  if (!(value > 0))
    return 0;
  return value >= 18446744073709551615.0 ? UINT64_MAX : (uint64_t)value;
}


/* The start of range `at`, in units of 2^shift bytes. */
static uint64_t starts_at (const pf_address_index *index, size_t at,
                           unsigned shift) {
  return pf_index_start(index, at) >> shift;
}


static uint64_t minimum (uint64_t left, uint64_t right) {
  return left < right ? left : right;
}


static uint64_t maximum (uint64_t left, uint64_t right) {
  return left > right ? left : right;
}


/* The first range that can overlap a bin that starts at `low` units. */
static size_t first_range (const gprof_attribution *a, uint64_t low,
                           unsigned shift) {
  const uint64_t last =
      low >= UINT64_MAX >> shift ? UINT64_MAX : ((low + 1) << shift) - 1;
  const size_t at = pf_index_near(a->index, a->last_range, last);
  return at == PF_NO_RANGE ? 0 : at;
}


/* gprof's formula: count * overlap / scale, and nothing for the last symbol. */
static void attribute_as_gprof (gprof_attribution *a, uint64_t low,
                                uint64_t high, double count) {
  const pf_address_index *index = a->index;
  const double scale = a->graph->facts.scale;
  a->last_range = first_range(a, low, 1);
  for (size_t i = a->last_range; i + 1 < index->count; i++) {
    const uint64_t start = starts_at(index, i, 1);
    const uint64_t end = starts_at(index, i + 1, 1);
    if (high < start)
      break;
    const uint64_t from = maximum(low, start), to = minimum(high, end);
    if (low < end && from < to)
      a->graph->ticks[i] += (double)(to - from) * count / scale;
  }
}


/* The same with parts that add up to the count; bounds in units of 2^shift
   bytes. */
static void attribute_evenly (const gprof_attribution *a, uint64_t low,
                              uint64_t high, unsigned shift, double count,
                              double *ticks) {
  const pf_address_index *index = a->index;
  for (size_t i = first_range(a, low, shift);
       i < index->count && starts_at(index, i, shift) < high; i++) {
    const uint64_t end =
        i + 1 < index->count ? starts_at(index, i + 1, shift) : UINT64_MAX;
    const uint64_t from = maximum(low, starts_at(index, i, shift));
    const uint64_t to = minimum(high, end);
    if (from < to)
      ticks[i] += count * (double)(to - from) / (double)(high - low);
  }
}


static void attribute_bin (gprof_attribution *a, const pf_histogram *set,
                           const bin_count *bin) {
  pf_graph *graph = a->graph;
  const double scale = graph->facts.scale, count = bin->count;
  const uint64_t base = set->low / 2;
  const uint64_t low = base + to_units(scale * (double)bin->bin);
  const uint64_t high = base + to_units(scale * (double)(bin->bin + 1));
  graph->facts.ticks += count;
  if (low * 2 != bin->low || high * 2 != bin->high)
    graph->facts.truncated_bins = true;
  attribute_as_gprof(a, low, high, count);
  if (low < high)
    attribute_evenly(a, low, high, 1, count, graph->even_ticks);
  if (bin->low < bin->high)
    attribute_evenly(a, bin->low, bin->high, 0, count, graph->right_ticks);
}


static int compare_bins (const void *left, const void *right) {
  const bin_count *a = left, *b = right;
  if (a->set != b->set)
    return a->set < b->set ? -1 : 1;
  return a->bin < b->bin ? -1 : a->bin > b->bin;
}


static pf_status attribute_bins (void *context, const pf_pull *pull,
                                 const uint32_t *notes, pf_error *error) {
  gprof_attribution *const a = context;
  (void)notes;
  for (size_t row = 0; row < pull->batch.rows; row++) {
    const int64_t count = pf_pull_int(pull->columns[COUNT], row, 0);
    if (count == 0)
      continue;
    const pf_histogram *set = pf_histograms_find(
        a->sets, pf_pull_int(pull->columns[SET], row, 0), &a->at);
    if (set == NULL)
      return pf_refuse(error,
                       "a histogram row names a set that table sets lacks");
    const bin_count bin = {set->first,
                           (uint64_t)pf_pull_int(pull->columns[BIN], row, 0),
                           pull->columns[LOW]->addrs[row],
                           pull->columns[HIGH]->addrs[row], (uint32_t)count};
    a->graph->facts.samples = pf_add(a->graph->facts.samples, count);
    if (!a->sets->is_repeated)
      attribute_bin(a, set, &bin);
    else if (pf_grow(&a->bins, &a->bins_capacity, a->nbins + 1))
      a->bins[a->nbins++] = bin;
    else
      return pf_no_memory(error);
  }
  return PF_OK;
}


pf_status pf_gprof_histogram (pf_graph *graph, const pf_address_index *index,
                              const pf_histograms *sets, pf_reader *histogram,
                              pf_error *error) {
  gprof_attribution a = {.graph = graph, .index = index, .sets = sets};
  const pf_pipeline pipeline = {.wants = wants,
                                .nwants = NWANTS,
                                .weight = "count",
                                .process = attribute_bins,
                                .context = &a};
  const pf_status status = pf_pipeline_run(&pipeline, histogram, error);
  if (status == PF_OK) {
    /* Sum the kept bins of equal ranges, and attribute the sums. */
    if (a.nbins > 0)
      qsort(a.bins, a.nbins, sizeof *a.bins, compare_bins);
    for (size_t i = 0, next; i < a.nbins; i = next) {
      bin_count sum = a.bins[i];
      for (next = i + 1;
           next < a.nbins && compare_bins(&sum, &a.bins[next]) == 0; next++)
        sum.count += a.bins[next].count;
      if (sum.count != 0)
        attribute_bin(&a, &a.sets->sets[sum.set], &sum);
    }
  }
  free(a.bins);
  return status;
}
