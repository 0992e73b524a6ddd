/*
** attribute.c - attribute the counts of histogram bins to functions.
**
** Most bins lie inside one function, often that of the bin before: this is the
** fast path. Other bins are cut into segments, one per function or gap.
*/

#include "kernels/graph/attribute.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/pipeline.h"
#include "model/base/memory.h"
#include "model/base/sorts.h"
#include "model/dictionary/names.h"
#include "model/base/wide.h"

#define NS_PER_SECOND 1000000000

/* The metrics of a graph with histograms in seconds. */
enum {
  SAMPLES,
  TIME
};

enum {
  LOW,
  HIGH,
  COUNT,
  SPENT,
  LEFT, /* only where times have remainders */
  SET,  /* only where dimensions differ */
  NWANTS
};

static const pf_want wants[NWANTS] = {
    {"low", PF_ADDR, true},    {"high", PF_ADDR, true},
    {"count", PF_INT, true},   {"spent", PF_INT, false},
    {".spent", PF_INT, false}, {"set", PF_INT, false},
};

/* Bytes of a bin that belong to one function or gap. */
typedef struct segment {
  uint64_t low, high;
  size_t range; /* the last one that starts at or before `low` */
} segment;


/* Returns the metric of the remainders that rounding of times left over (see
   model/base/wide.h): it is the last one, and has neither a unit nor, as those
   of other sets, a rate. 0: there is none. */
static size_t rest_of (const pf_graph *graph) {
  const size_t last = graph->nmetrics == 0 ? 0 : graph->nmetrics - 1;
  const pf_metric *const metric = &graph->metrics[last];
  return last > TIME && metric->unit[0] == '\0' && metric->rate == 0 ? last : 0;
}


/* Find or add the metric of a set that does not count seconds. */
static pf_status find_unit_metric (pf_graph *graph, pf_histogram *set,
                                   pf_error *error) {
  const double rate = set->rate == 0 ? 1 : (double)set->rate;
  bool is_taken = false;
  const pf_bytes text = pf_name(graph->dictionary, set->dimension);
  const int size = text.size < 20 ? (int)text.size : 20;
  char name[48], unit[48];
  snprintf(name, sizeof name, "%.*s", size, (const char *)text.at);
  for (set->metric = 0; set->metric < graph->nmetrics; set->metric++) {
    const pf_metric *const known = &graph->metrics[set->metric];
    if (known->rate == rate && known->dimension == set->dimension)
      return PF_OK;
    is_taken |= strcmp(known->name, name) == 0;
  }
  if (graph->nmetrics == PF_MAX_METRICS - 1) /* the last is for remainders */
    return pf_fail(error, PF_ELIMIT, PF_NO_OFFSET,
                   "the histograms are in more than %d units",
                   PF_MAX_METRICS - 3);
  /* The metric has the name of the dimension, with the rate appended if that
     name is in use. */
  snprintf(unit, sizeof unit, rate == 1 ? "%.*s" : "%.*s / %.0f", size,
           (const char *)text.at, rate);
  if (is_taken || strcmp(name, "samples") == 0 || strcmp(name, "time") == 0 ||
      strcmp(name, "calls") == 0)
    snprintf(name, sizeof name, "%.*s / %.0f", size, (const char *)text.at,
             rate);
  pf_metric *const metric = &graph->metrics[pf_graph_metric(graph, name, unit)];
  metric->rate = rate;
  metric->dimension = set->dimension;
  metric->abbreviation = set->abbreviation;
  return PF_OK;
}


pf_status pf_attribution_metrics (pf_graph *graph, const pf_reader *histogram,
                                  pf_histograms *sets, pf_error *error) {
  /* Some times have a rest: that of a sample is not a whole number of ns. */
  bool has_seconds = sets->count == 0, has_rest = false;
  for (size_t i = 0; i < sets->count; i++)
    if (pf_histogram_is_seconds(&sets->sets[i], graph->dictionary)) {
      const int64_t rate = sets->sets[i].rate;
      has_seconds = true;
      has_rest |= rate > 0 && NS_PER_SECOND % rate != 0;
    }
  if (has_seconds) {
    pf_graph_metric(graph, "samples", "count");
    const size_t field =
        pf_field_index(histogram->fields, histogram->nfields, "spent");
    graph->facts.has_time =
        field < histogram->nfields && histogram->fields[field].type == PF_INT;
    if (graph->facts.has_time)
      pf_graph_metric(graph, "time", "ns");
  }
  for (size_t i = 0; i < sets->count; i++) {
    if (pf_histogram_is_seconds(&sets->sets[i], graph->dictionary))
      continue;
    const pf_status status = find_unit_metric(graph, &sets->sets[i], error);
    if (status != PF_OK)
      return status;
    sets->has_units = true;
  }
  if (graph->facts.has_time && has_rest)
    pf_graph_metric(graph, "rest", "");
  return PF_OK;
}


/* Returns weight * part / whole, rounded towards 0; for a negative weight it
   may be 1 nearer to 0. */
static int64_t share (int64_t weight, uint64_t part, uint64_t whole) {
  if (weight < 0) /* + 1: the negative of INT64_MIN does not fit */
    return -share(-(weight + 1), part, whole);
  const uint64_t each = (uint64_t)weight / whole;
  const uint64_t rest = (uint64_t)weight % whole;
  if (whole <= UINT32_MAX)
    return (int64_t)(each * part + rest * part / whole);
  return (int64_t)(each * part +
                   (uint64_t)((double)rest * ((double)part / (double)whole)));
}


uint32_t pf_function_at (const pf_attribution *a, size_t range,
                         uint64_t address) {
  const pf_address_index *const index = a->index;
  if (range != PF_NO_RANGE && address < pf_index_end(index, range))
    return (uint32_t)range;
  if (!a->is_partial && range != PF_NO_RANGE && range + 1 < index->count) {
    /* A narrow gap between two ranges, which is padding or a jump table, has
       the name of its start. */
    const uint64_t start = pf_index_start(index, range);
    const uint64_t end = pf_index_end(index, range);
    const uint64_t gap = end > start ? end : start;
    if (pf_index_start(index, range + 1) - gap <= PF_MAX_GAP)
      address = gap;
  }
  return pf_graph_pseudo(a->graph, address);
}


/* The segment of [low, high) that begins at `low`; `range` is the last one that
   starts at or before it. */
static segment first_segment (const pf_address_index *index, size_t range,
                              uint64_t low, uint64_t high) {
  segment s = {low, high, range};
  if (index->count == 0)
    return s;
  if (range != PF_NO_RANGE && low < pf_index_end(index, range)) {
    if (pf_index_end(index, range) < high)
      s.high = pf_index_end(index, range);
    return s;
  }
  const size_t next = range == PF_NO_RANGE ? 0 : range + 1;
  if (next < index->count && pf_index_start(index, next) < high)
    s.high = pf_index_start(index, next);
  return s;
}


static void add_weights (pf_graph *graph, size_t function,
                         const int64_t *weights) {
  for (size_t i = 0; i < graph->nmetrics; i++)
    graph->weights[i][function] =
        pf_add(graph->weights[i][function], weights[i]);
}


static pf_status add_segment (pf_attribution *a, const segment *s,
                              const int64_t *weights) {
  const uint32_t function = pf_function_at(a, s->range, s->low);
  if (function == PF_NO_FUNCTION)
    return PF_ENOMEM;
  add_weights(a->graph, function, weights);
  return PF_OK;
}


/* Divide a bin among the functions and gaps that it covers. */
static pf_status share_bin (pf_attribution *a, size_t range, uint64_t low,
                            uint64_t high, const int64_t *weights) {
  const size_t nmetrics = a->graph->nmetrics;
  int64_t left[PF_MAX_METRICS] = {0}, part[PF_MAX_METRICS] = {0};
  segment s, largest = {0};
  for (size_t i = 0; i < nmetrics; i++)
    left[i] = weights[i];
  for (uint64_t at = low; at < high; at = s.high) {
    s = first_segment(a->index, range, at, high);
    bool has_weight = false;
    for (size_t i = 0; i < nmetrics; i++) {
      part[i] = share(weights[i], s.high - s.low, high - low);
      left[i] -= part[i];
      has_weight |= part[i] != 0;
    }
    if (has_weight && add_segment(a, &s, part) != PF_OK)
      return PF_ENOMEM;
    if (s.high - s.low > largest.high - largest.low)
      largest = s;
    const size_t next = s.range == PF_NO_RANGE ? 0 : s.range + 1;
    range = next < a->index->count && pf_index_start(a->index, next) <= s.high
                ? next
                : s.range;
  }
  return add_segment(a, &largest, left);
}


static int compare_bins (const void *a, const void *b) {
  const struct pf_shared_bin *const x = a, *const y = b;
  if (x->low != y->low)
    return x->low < y->low ? -1 : 1;
  return (x->high > y->high) - (x->high < y->high);
}


void pf_shared_bins_free (pf_shared_bins *s) {
  free(s->bins);
  pf_intern_table_free(&s->known);
  memset(s, 0, sizeof *s);
}


pf_status pf_attribute_bin (pf_attribution *a, uint64_t low, uint64_t high,
                            const int64_t *weights) {
  const pf_address_index *index = a->index;
  pf_graph *graph = a->graph;
  graph->facts.samples = pf_add(graph->facts.samples, weights[0]);
  const size_t range = pf_index_near(index, a->last_range, low);
  a->last_range = range;
  if (range != PF_NO_RANGE && low < high &&
      high <= pf_index_end(index, range)) {
    add_weights(graph, range, weights);
    return PF_OK;
  }
  if (index->count == 0 || high <= low)
    return add_segment(a, &(segment){low, low, range}, weights);
  const size_t last = pf_index_before(index, high - 1);
  if (last != PF_NO_RANGE &&
      last - (range == PF_NO_RANGE ? 0 : range) >= PF_MAX_SHARES)
    return add_segment(a, &(segment){low, low, PF_NO_RANGE}, weights);
  /* A bin over several functions is divided only after all files have been
     read, so that the result does not depend on how the counts were spread over
     files; memory grows with the number of distinct ranges. */
  pf_shared_bins *const s = &a->shared;
  const struct pf_shared_bin bin = {.low = low, .high = high};
  s->known.seed = graph->dictionary->seed;
  const uint32_t at =
      pf_intern_element(&s->known, &s->bins, &s->capacity, &bin,
                        offsetof(struct pf_shared_bin, weights));
  if (at == PF_NOT_INTERNED)
    return PF_ENOMEM;
  for (size_t m = 0; m < graph->nmetrics; m++)
    s->bins[at].weights[m] = pf_add(s->bins[at].weights[m], weights[m]);
  return PF_OK;
}


static pf_status share_bins (pf_attribution *a) {
  pf_shared_bins *const s = &a->shared;
  const size_t rest = rest_of(a->graph);
  pf_status status = PF_OK;
  if (s->known.count > 0)
    qsort(s->bins, s->known.count, sizeof *s->bins, compare_bins);
  for (size_t i = 0; i < s->known.count && status == PF_OK; i++) {
    struct pf_shared_bin *const bin = &s->bins[i];
    if (rest != 0) {
      /* Move whole nanoseconds from the remainder to the time. */
      const pf_wide whole = pf_ns_of_parts(bin->weights[rest]);
      bin->weights[TIME] = pf_add(bin->weights[TIME], (int64_t)whole);
      bin->weights[rest] =
          (int64_t)(bin->weights[rest] - whole * PF_REMAINDER_UNIT);
    }
    status = share_bin(a, pf_index_near(a->index, 0, bin->low), bin->low,
                       bin->high, bin->weights);
  }
  return status;
}


/* Round the times of all functions, and drop the metric of remainders. In the
   order of addresses each time becomes the difference of two rounded running
   sums, so the sum of all times is exact to half a nanosecond. */
static pf_status round_times (pf_graph *graph, size_t rest) {
  const size_t count = graph->nfunctions;
  pf_pair *const order = pf_array(2 * count, sizeof *order);
  pf_wide sum = 0, done = 0;
  if (order == NULL)
    return PF_ENOMEM;
  for (size_t i = 0; i < count; i++)
    order[i] = (pf_pair){graph->addresses[i], i};
  pf_sort_pairs(order, order + count, count);
  for (size_t i = 0; i < count; i++) {
    const size_t f = order[i].row;
    sum +=
        graph->weights[TIME][f] * PF_REMAINDER_UNIT + graph->weights[rest][f];
    const pf_wide time = pf_ns_of_parts(sum) - done;
    graph->weights[TIME][f] = time == (int64_t)time ? (int64_t)time : INT64_MAX;
    done += time;
  }
  free(order);
  graph->nmetrics = rest;
  free(graph->weights[rest]);
  graph->weights[rest] = NULL;
  return PF_OK;
}


pf_status pf_attribution_finish (pf_attribution *a) {
  pf_status status = share_bins(a);
  const size_t rest = rest_of(a->graph);
  if (status == PF_OK && rest != 0)
    status = round_times(a->graph, rest);
  pf_shared_bins_free(&a->shared);
  return status;
}


/* Set the weights of a row, by metric. Returns false if all are 0. */
static bool set_weights (pf_attribution *a, const pf_pull *pull, size_t row,
                         size_t rest, int64_t *weights) {
  const int64_t count = pf_pull_int(pull->columns[COUNT], row, 0);
  const int64_t spent = pf_pull_int(pull->columns[SPENT], row, 0);
  const int64_t left = rest == 0 ? 0 : pf_pull_int(pull->columns[LEFT], row, 0);
  const pf_histogram *set = NULL;
  if (count == 0 && spent == 0 && left == 0)
    return false;
  memset(weights, 0, a->graph->nmetrics * sizeof *weights);
  if (a->units != NULL)
    set = pf_histograms_find(a->units, pf_pull_int(pull->columns[SET], row, 0),
                             &a->unit);
  if (set != NULL && set->metric != SAMPLES) {
    weights[set->metric] = count;
    return true;
  }
  weights[SAMPLES] = count;
  if (a->graph->facts.has_time)
    weights[TIME] = spent;
  if (rest != 0)
    weights[rest] = left;
  return true;
}


static pf_status attribute_batch (void *context, const pf_pull *pull,
                                  const uint32_t *notes, pf_error *error) {
  pf_attribution *const a = context;
  const size_t rest = rest_of(a->graph);
  int64_t weights[PF_MAX_METRICS];
  (void)notes;
  for (size_t row = 0; row < pull->batch.rows; row++) {
    if (!set_weights(a, pull, row, rest, weights))
      continue;
    const uint64_t low = pull->columns[LOW]->addrs[row];
    const uint64_t high = pull->columns[HIGH]->addrs[row];
    pf_status status = pf_attribute_bin(a, low, high, weights);
    if (status == PF_OK && a->observe != NULL)
      status = a->observe(a->context, low, high, weights);
    if (status != PF_OK)
      return pf_no_memory(error);
  }
  return PF_OK;
}


pf_status pf_attribute_histogram (pf_attribution *a, pf_reader *histogram,
                                  pf_error *error) {
  const size_t nwants = a->units != NULL         ? NWANTS
                        : rest_of(a->graph) != 0 ? SET
                                                 : LEFT;
  const pf_pipeline pipeline = {.wants = wants,
                                .nwants = nwants,
                                .weight = "count",
                                .process = attribute_batch,
                                .context = a};
  pf_status status = pf_pipeline_run(&pipeline, histogram, error);
  if (pf_attribution_finish(a) != PF_OK && status == PF_OK)
    status = pf_no_memory(error);
  return status;
}


bool pf_index_open (pf_address_index *index, const pf_ranges *ranges,
                    uint64_t bias) {
  *index = (pf_address_index){ranges, ranges->count, bias};
  return ranges->count == 0 ||
         pf_index_start(index, 0) <= pf_index_start(index, ranges->count - 1);
}


/* Returns the address in the range index for a run-time address at or after the
   first range. Where the result overflows, UINT64_MAX is after all ranges
   too. */
static inline uint64_t without_bias (const pf_address_index *index,
                                     uint64_t address) {
  const uint64_t base = index->ranges->base;
  const uint64_t distance = address - (base + index->bias);
  return distance > UINT64_MAX - base ? UINT64_MAX : base + distance;
}


size_t pf_index_before (const pf_address_index *index, uint64_t address) {
  if (index->count == 0 || address < pf_index_start(index, 0))
    return PF_NO_RANGE;
  return pf_ranges_before(index->ranges, without_bias(index, address));
}


void pf_index_find_all (const pf_address_index *index,
                        const uint64_t *addresses, size_t count,
                        uint32_t *found) {
  uint64_t moved[PF_INDEX_AT_ONCE] = {0};
  const uint64_t first = index->count == 0 ? 0 : pf_index_start(index, 0);
  for (size_t i = 0; i < count; i++)
    if (addresses[i] >= first)
      moved[i] = without_bias(index, addresses[i]);
  pf_ranges_find_all(index->ranges, moved, count, found);
  for (size_t i = 0; i < count; i++)
    if (addresses[i] < first)
      found[i] = UINT32_MAX;
}
