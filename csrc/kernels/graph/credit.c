/*
** credit.c - histogram rows into weights of functions, exactly.
**
** Most bins lie inside one function, and the next bin in the same: that way
** is short. A straddling bin is cut into pieces, one per function or gap.
*/

#include "kernels/graph/credit.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/relay.h"
#include "model/wide.h"

#define NS_PER_SECOND 1000000000

/* The metrics of a graph while bins are credited. */
enum {
  SAMPLES,
  TIME,
  REST /* of times, what their rounding left over; see model/wide.h */
};

enum {
  LOW,
  HIGH,
  COUNT,
  SPENT,
  LEFT,
  NWANTS
};

static const pf_want wants[NWANTS] = {
    {"low", PF_ADDR, true},    {"high", PF_ADDR, true},
    {"count", PF_INT, true},   {"spent", PF_INT, false},
    {".spent", PF_INT, false},
};

/* Bytes of a bin that belong to one function or gap. */
typedef struct piece {
  uint64_t low, high;
  size_t place; /* the range it is in or follows */
  bool is_gap;
} piece;


/* Whether a sample of some set is no whole number of nanoseconds. */
static bool has_rest (const pf_histograms *sets) {
  for (size_t i = 0; i < sets->count; i++)
    if (sets->sets[i].rate > 0 && NS_PER_SECOND % sets->sets[i].rate != 0)
      return true;
  return false;
}


void pf_credit_metrics (pf_graph *graph, const pf_reader *histogram,
                        const pf_histograms *sets) {
  pf_graph_metric(graph, "samples", "count");
  const size_t field =
      pf_field_index(histogram->fields, histogram->nfields, "spent");
  graph->facts.has_time =
      field < histogram->nfields && histogram->fields[field].type == PF_INT;
  if (graph->facts.has_time)
    pf_graph_metric(graph, "time", "ns");
  if (graph->facts.has_time && has_rest(sets))
    pf_graph_metric(graph, "rest", "");
}


int64_t pf_share (int64_t weight, uint64_t part, uint64_t whole) {
  if (weight < 0)
    return -pf_share(-(weight + 1), part, whole);
  const uint64_t each = (uint64_t)weight / whole;
  const uint64_t rest = (uint64_t)weight % whole;
  if (whole <= UINT32_MAX)
    return (int64_t)(each * part + rest * part / whole);
  return (int64_t)(each * part +
                   (uint64_t)((double)rest * ((double)part / (double)whole)));
}


/* What names an address in no range: the start of a narrow gap between two
   ranges, which is padding or a table of jumps; else the address itself, for
   before the first range, behind the last one and in wide gaps there is code
   that no symbol is known of. `place` is the range before the address. */
static uint64_t gap_name (const pf_credit *credit, size_t place,
                          uint64_t address) {
  const pf_places *const places = credit->places;
  if (credit->is_partial || place == PF_NO_PLACE || place + 1 >= places->count)
    return address;
  const uint64_t start = pf_place_start(places, place);
  const uint64_t end = pf_place_end(places, place);
  const uint64_t gap = end > start ? end : start;
  return pf_place_start(places, place + 1) - gap <= PF_CREDIT_GAP ? gap
                                                                  : address;
}


uint32_t pf_credit_function (const pf_credit *credit, size_t place,
                             uint64_t address) {
  const pf_places *places = credit->places;
  if (place != PF_NO_PLACE && address < pf_place_end(places, place))
    return (uint32_t)place;
  return pf_graph_pseudo(credit->graph, gap_name(credit, place, address));
}


/* The piece of [low, high) that begins at low. */
static piece first_piece (const pf_places *places, size_t place, uint64_t low,
                          uint64_t high) {
  piece cut = {low, high, place, true};
  if (places->count == 0)
    return cut;
  if (place != PF_NO_PLACE && low < pf_place_end(places, place)) {
    cut.is_gap = false;
    if (pf_place_end(places, place) < high)
      cut.high = pf_place_end(places, place);
    return cut;
  }
  const size_t next = place == PF_NO_PLACE ? 0 : place + 1;
  if (next < places->count && pf_place_start(places, next) < high)
    cut.high = pf_place_start(places, next);
  return cut;
}


/* The range in effect where a piece ends. */
static size_t place_behind (const pf_places *places, const piece *cut) {
  const size_t next = cut->place == PF_NO_PLACE ? 0 : cut->place + 1;
  return next < places->count && pf_place_start(places, next) <= cut->high
             ? next
             : cut->place;
}


static void add_weights (pf_graph *graph, size_t function,
                         const int64_t *weights) {
  for (size_t i = 0; i < graph->nmetrics; i++)
    graph->weights[i][function] =
        pf_add(graph->weights[i][function], weights[i]);
}


static pf_status give (pf_credit *credit, const piece *cut,
                       const int64_t *weights) {
  const uint32_t function = pf_credit_function(credit, cut->place, cut->low);
  if (function == PF_NO_FUNCTION)
    return PF_ENOMEM;
  add_weights(credit->graph, function, weights);
  return PF_OK;
}


static bool has_weight (const int64_t *weights, size_t nmetrics) {
  for (size_t i = 0; i < nmetrics; i++)
    if (weights[i] != 0)
      return true;
  return false;
}


/* Share a bin among the functions it covers. */
static pf_status share_out (pf_credit *credit, size_t place, uint64_t low,
                            uint64_t high, const int64_t *weights) {
  const size_t nmetrics = credit->graph->nmetrics;
  int64_t left[PF_MAX_METRICS] = {0}, part[PF_MAX_METRICS] = {0};
  piece cut, largest = {0};
  for (size_t i = 0; i < nmetrics; i++)
    left[i] = weights[i];
  for (uint64_t at = low; at < high; at = cut.high) {
    cut = first_piece(credit->places, place, at, high);
    for (size_t i = 0; i < nmetrics; i++) {
      part[i] = pf_share(weights[i], cut.high - cut.low, high - low);
      left[i] -= part[i];
    }
    if (has_weight(part, nmetrics))
      if (give(credit, &cut, part) != PF_OK)
        return PF_ENOMEM;
    if (cut.high - cut.low > largest.high - largest.low)
      largest = cut;
    place = place_behind(credit->places, &cut);
  }
  return give(credit, &largest, left);
}


/* Whether [low, high) covers so much that sharing it out means nothing. */
static bool is_too_wide (const pf_places *places, size_t place, uint64_t high) {
  const size_t last = pf_places_before(places, high - 1);
  const size_t first = place == PF_NO_PLACE ? 0 : place;
  return last != PF_NO_PLACE && last - first >= PF_CREDIT_WIDEST;
}


/* Give a whole bin to the pseudo function of its first address. */
static pf_status keep_whole (pf_credit *credit, uint64_t low,
                             const int64_t *weights) {
  const uint32_t function = pf_graph_pseudo(credit->graph, low);
  if (function == PF_NO_FUNCTION)
    return PF_ENOMEM;
  add_weights(credit->graph, function, weights);
  return PF_OK;
}


pf_status pf_credit_bin (pf_credit *credit, uint64_t low, uint64_t high,
                         const int64_t *weights) {
  const pf_places *places = credit->places;
  pf_graph *graph = credit->graph;
  graph->facts.samples = pf_add(graph->facts.samples, weights[0]);
  const size_t place = pf_places_near(places, credit->near, low);
  credit->near = place;
  if (place != PF_NO_PLACE && low < high &&
      high <= pf_place_end(places, place)) {
    add_weights(graph, place, weights);
    return PF_OK;
  }
  if (places->count == 0 || high <= low)
    return give(credit, &(piece){low, low, place, true}, weights);
  if (is_too_wide(places, place, high))
    return keep_whole(credit, low, weights);
  return pf_straddlers_add(&credit->straddlers, low, high, weights,
                           graph->nmetrics);
}


/* {====== The end ====== */

/* Make whole nanoseconds of as much of the rest as there are. */
static void settle (int64_t *time, int64_t *rest) {
  const pf_wide whole = pf_ns_of_parts(*rest);
  *time = pf_add(*time, (int64_t)whole);
  *rest = (int64_t)(*rest - whole * PF_REST_UNIT);
}


static pf_status share_straddlers (pf_credit *credit) {
  pf_straddlers *const s = &credit->straddlers;
  const bool with_rest = credit->graph->nmetrics > REST;
  pf_status status = PF_OK;
  pf_straddlers_merge(s);
  for (size_t i = 0; i < s->count && status == PF_OK; i++) {
    pf_straddler *const bin = &s->bins[i];
    if (with_rest)
      settle(&bin->weights[TIME], &bin->weights[REST]);
    status = share_out(credit, pf_places_near(credit->places, 0, bin->low),
                       bin->low, bin->high, bin->weights);
  }
  return status;
}


/* A function by its address. */
typedef struct placed {
  uint64_t address;
  uint32_t function;
} placed;


static int compare_placed (const void *a, const void *b) {
  const placed *const x = a, *const y = b;
  if (x->address != y->address)
    return x->address < y->address ? -1 : 1;
  return (x->function > y->function) - (x->function < y->function);
}


/* Round the times of all functions, and drop the metric with the rests. In the
   order of addresses each time is the difference of two rounded sums, so the
   whole is right to half a nanosecond. */
static pf_status round_times (pf_graph *graph) {
  placed *const order = malloc((graph->nfunctions + 1) * sizeof *order);
  pf_wide sum = 0, done = 0;
  if (order == NULL)
    return PF_ENOMEM;
  for (size_t i = 0; i < graph->nfunctions; i++)
    order[i] = (placed){graph->addresses[i], (uint32_t)i};
  qsort(order, graph->nfunctions, sizeof *order, compare_placed);
  for (size_t i = 0; i < graph->nfunctions; i++) {
    const uint32_t f = order[i].function;
    sum += graph->weights[TIME][f] * PF_REST_UNIT + graph->weights[REST][f];
    const pf_wide time = pf_ns_of_parts(sum) - done;
    graph->weights[TIME][f] = time == (int64_t)time ? (int64_t)time : INT64_MAX;
    done += time;
  }
  free(order);
  graph->nmetrics = REST;
  free(graph->weights[REST]);
  graph->weights[REST] = NULL;
  return PF_OK;
}


pf_status pf_credit_finish (pf_credit *credit) {
  pf_status status = share_straddlers(credit);
  if (status == PF_OK && credit->graph->nmetrics > REST)
    status = round_times(credit->graph);
  pf_straddlers_free(&credit->straddlers);
  return status;
}

/* }====== */


static pf_status credit_batch (void *context, const pf_pull *pull,
                               const uint32_t *notes, pf_error *error) {
  pf_credit *const credit = context;
  (void)notes;
  for (size_t row = 0; row < pull->batch.rows; row++) {
    const int64_t weights[PF_MAX_METRICS] = {
        pf_pull_int(pull->columns[COUNT], row, 0),
        pf_pull_int(pull->columns[SPENT], row, 0),
        pf_pull_int(pull->columns[LEFT], row, 0)};
    if (!has_weight(weights, LEFT - COUNT + 1))
      continue;
    const uint64_t low = pull->columns[LOW]->addrs[row];
    const uint64_t high = pull->columns[HIGH]->addrs[row];
    pf_status status = pf_credit_bin(credit, low, high, weights);
    if (status == PF_OK && credit->also != NULL)
      status = credit->also(credit->context, low, high, weights);
    if (status != PF_OK)
      return pf_fail(error, status, PF_NO_OFFSET, "out of memory");
  }
  return PF_OK;
}


pf_status pf_credit_histogram (pf_credit *credit, pf_reader *histogram,
                               pf_error *error) {
  const pf_relay relay = {.wants = wants,
                          .nwants =
                              credit->graph->nmetrics > REST ? NWANTS : LEFT,
                          .sparse = COUNT,
                          .take = credit_batch,
                          .context = credit};
  pf_status status = pf_relay_read(&relay, histogram, error);
  if (pf_credit_finish(credit) != PF_OK && status == PF_OK)
    status = pf_fail(error, PF_ENOMEM, PF_NO_OFFSET, "out of memory");
  return status;
}
