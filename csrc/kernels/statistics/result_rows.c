/*
** result_rows.c - the columns of statistics: keys, then the same columns for
** each of the five durations; and the groups as rows, in the order of the
** contents of areas and lanes, or in that in which they first occurred.
*/

#include "kernels/statistics/result_rows.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/order.h"
#include "kernels/group/estimates.h"
#include "kernels/statistics/content_order.h"
#include "model/base/sorts.h"
#include "model/rows/put_values.h"

#define NAME_SIZE 40
#define HELP_SIZE 120
#define MOST      (19 + PF_DURATIONS * (5 + PF_MAX_RANKS))

static const char *const length_names[PF_DURATIONS] = {"net", "gross", "call",
                                                       "period", "outside"};

typedef struct column_form {
  pf_statistic what;
  const char *name; /* in numbers[]: what follows the name of the duration */
  pf_type type;
  const char *help;
} column_form;

static const column_form keys[] = {
    {PF_STATISTIC_AREA, "area", PF_AREA, "the area that was called"},
    {PF_STATISTIC_HANDLE, "handle", PF_HANDLE,
     "the vendor's number of the area"},
    {PF_STATISTIC_VALUE, "value", PF_INT,
     "distinguishes areas with the same handle"},
    {PF_STATISTIC_CONTEXT, "context", PF_INT,
     "lane; missing: all lanes together"},
    {PF_STATISTIC_CALLER, "caller", PF_AREA,
     "the function around it; missing at the top"},
    {PF_STATISTIC_COUNT, "count", PF_INT, "enters or writes"},
};

static const column_form numbers[] = {
    {PF_STATISTIC_SUM, "", PF_INT, "sum of %s of all calls, ns"},
    {PF_STATISTIC_MIN, "_min", PF_INT, "minimum %s of a call, ns"},
    {PF_STATISTIC_MAX, "_max", PF_INT, "maximum %s of a call, ns"},
    {PF_STATISTIC_MEAN, "_mean", PF_NUM, "mean %s of a call, ns"},
    {PF_STATISTIC_STDDEV, "_stddev", PF_NUM, "standard deviation of %s, ns"},
};

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))


/* Add a column. Those of a duration have its name before the suffix. */
static void add (pf_statistics_schema *s, pf_statistics_column column,
                 pf_type type, const char *suffix, const char *help, ...) {
  char *const name = s->words + s->count * (NAME_SIZE + HELP_SIZE);
  const bool has_length = column.what >= PF_STATISTIC_SUM;
  snprintf(name, NAME_SIZE, "%s%s",
           has_length ? length_names[column.length] : "", suffix);
  va_list arguments;
  va_start(arguments, help);
  vsnprintf(name + NAME_SIZE, HELP_SIZE, help, arguments);
  va_end(arguments);
  s->fields[s->count] = (pf_field){name, type, name + NAME_SIZE};
  s->columns[s->count++] = column;
}


static void add_keys (pf_statistics_schema *s, bool callers, pf_type area,
                      pf_type lane) {
  for (size_t i = 0; i < COUNT_OF(keys); i++) {
    if (keys[i].what == PF_STATISTIC_CALLER && !callers)
      continue;
    pf_type type = keys[i].type == PF_AREA ? area : keys[i].type;
    if (keys[i].what == PF_STATISTIC_CONTEXT)
      type = lane;
    add(s, (pf_statistics_column){keys[i].what, 0, 0}, type, keys[i].name, "%s",
        keys[i].help);
  }
}


static void add_duration (pf_statistics_schema *s, size_t length,
                          const pf_statistics_options *options) {
  const char *const of = length_names[length];
  for (size_t i = 0; i < COUNT_OF(numbers); i++)
    add(s, (pf_statistics_column){numbers[i].what, length, 0}, numbers[i].type,
        numbers[i].name, numbers[i].help, of);
  for (size_t i = 0; i < options->nranks; i++) {
    char suffix[20];
    snprintf(suffix, sizeof suffix, "_%.16s", options->rank_names[i]);
    add(s, (pf_statistics_column){PF_STATISTIC_RANK, length, i}, PF_INT, suffix,
        "%.16s of %s, ns: exact up to %u calls, else at most 1/256 of it away",
        options->rank_names[i], of, PF_EXACT_CALLS);
  }
}


pf_status pf_statistics_schema_make (pf_statistics_schema *s,
                                     const pf_statistics_options *options,
                                     pf_type area, pf_type lane) {
  s->count = 0;
  s->fields = calloc(MOST, sizeof *s->fields);
  s->columns = calloc(MOST, sizeof *s->columns);
  s->words = malloc(MOST * (NAME_SIZE + HELP_SIZE));
  if (s->fields == NULL || s->columns == NULL || s->words == NULL)
    return PF_ENOMEM; /* pf_statistics_schema_free frees the rest */
  add_keys(s, options->by == PF_BY_CALLER, area, lane);
  for (size_t i = 0; i < PF_DURATIONS; i++)
    add_duration(s, i, options);
  for (size_t i = 0; i < PF_MAX_STARTS; i++)
    add(s, (pf_statistics_column){PF_STATISTIC_MAX_AT, i, 0}, PF_INT, "_max_at",
        "start of the first call with the maximum %s, ns", length_names[i]);
  add(s, (pf_statistics_column){PF_STATISTIC_JITTER, PF_PERIOD, 0}, PF_INT,
      "_jitter", "maximum minus minimum period, ns");
  if (options->by != PF_BY_CALLER)
    add(s, (pf_statistics_column){PF_STATISTIC_LAST_STOP, 0, 0}, PF_INT,
        "last_stop", "time at which the last call ended, ns");
  add(s, (pf_statistics_column){PF_STATISTIC_FILE, 0, 0}, PF_NAME, "file",
      "the file of the area");
  add(s, (pf_statistics_column){PF_STATISTIC_LINE, 0, 0}, PF_INT, "line",
      "the line in this file");
  if (options->nranks > 0)
    add(s, (pf_statistics_column){PF_STATISTIC_ABOUT, 0, 0}, PF_NAME, PF_ABOUT,
        "%s", PF_ABOUT_HELP);
  return PF_OK;
}


void pf_statistics_schema_free (pf_statistics_schema *s) {
  free(s->fields);
  free(s->columns);
  free(s->words);
  *s = (pf_statistics_schema){0};
}


/* A future row: a group with its lane or caller. */
typedef struct entry {
  uint32_t group;
  uint32_t area;
  uint32_t lane;   /* PF_NO_SLOT: all */
  uint32_t caller; /* PF_NO_AREA: none */
} entry;

typedef struct listing {
  const pf_statistics_schema *schema;
  const uint32_t *quantiles; /* ranks */
  pf_scan *scan;
  uint32_t *ranks; /* by area: its rank in the order of first occurrence */
  const pf_content_order *order; /* of the rows, or NULL: that of the ranks and
                                    of the ids of lanes */
  int64_t *stops; /* by rank: when the last call ended, or INT64_MIN */
  size_t nranks;
  entry *entries;
  pf_pair *pairs; /* sort keys of entries, and as much scratch space */
  size_t count;
  pf_estimates about;
} listing;


/* Rank the areas in the order in which their slots were created. */
static pf_status rank_areas (listing *l) {
  const pf_lanes *const lanes = &l->scan->machine.lanes;
  size_t capacity = 0;
  for (uint32_t i = 0; i < lanes->nslots; i++)
    if (lanes->slots[i].area >= capacity)
      capacity = (size_t)lanes->slots[i].area + 1;
  l->ranks = malloc((capacity + 1) * sizeof *l->ranks);
  l->stops = malloc((capacity + 1) * sizeof *l->stops);
  if (l->ranks == NULL || l->stops == NULL)
    return PF_ENOMEM;
  memset(l->ranks, 0xff, (capacity + 1) * sizeof *l->ranks);
  l->nranks = capacity;
  uint32_t next = 0;
  for (uint32_t i = 0; i < lanes->nslots; i++) {
    const pf_slot *const slot = &lanes->slots[i];
    uint32_t *const rank = &l->ranks[slot->area];
    if (*rank == UINT32_MAX) {
      *rank = next++;
      l->stops[*rank] = INT64_MIN;
    }
    if (l->stops[*rank] < pf_slot_last(slot))
      l->stops[*rank] = pf_slot_last(slot);
  }
  return PF_OK;
}


/* The place of an area among all, from 1; 0: none. */
static uint64_t place_of (const listing *l, uint32_t area) {
  if (l->order != NULL)
    return pf_content_order_at(&l->order->areas, area);
  return area < l->nranks ? (uint64_t)l->ranks[area] + 1 : 0;
}


/* The place of a lane among all, from 1; 0: all lanes. */
static uint64_t lane_place_of (const listing *l, uint32_t lane) {
  if (lane == PF_NO_SLOT)
    return 0;
  return l->order != NULL ? pf_content_order_at(&l->order->lanes, lane)
                          : (uint64_t)lane + 1;
}


static void add_entry (listing *l, entry e) {
  const uint64_t area = place_of(l, e.area), caller = place_of(l, e.caller);
  const uint64_t lane = lane_place_of(l, e.lane);
  const bool by_caller = l->scan->groups.by == PF_BY_CALLER;
  l->pairs[l->count] =
      (pf_pair){by_caller ? area << 32 | caller : lane << 32 | area, l->count};
  l->entries[l->count++] = e;
}


/* Add an entry for each group of an area and a lane, if the lane has a value
   (those of variables have none), and merge the groups into those of the areas
   over all lanes. */
static pf_status add_lane_groups (listing *l) {
  pf_groups *const g = &l->scan->groups;
  const pf_events *const events = &l->scan->events;
  uint32_t *const of_area = malloc((l->nranks + 1) * sizeof *of_area);
  if (of_area == NULL)
    return PF_ENOMEM;
  memset(of_area, 0xff, (l->nranks + 1) * sizeof *of_area);
  pf_status status = PF_OK;
  for (uint32_t group = 0; group < g->keys.count && status == PF_OK; group++) {
    const pf_slot *const slot =
        &l->scan->machine.lanes.slots[(uint32_t)g->keys.words[group]];
    const uint32_t lane = slot->lane->number;
    uint32_t *const all = &of_area[l->ranks[slot->area]];
    if (*all == UINT32_MAX) {
      *all = (uint32_t)g->sums.count;
      status = pf_call_sums_reserve(&g->sums, g->sums.count + 1);
      add_entry(l, (entry){*all, slot->area, PF_NO_SLOT, PF_NO_AREA});
    }
    if (lane != PF_NO_SLOT && pf_events_have_lanes(events) &&
        lane != events->lanes.missing)
      add_entry(l, (entry){group, slot->area, lane, PF_NO_AREA});
    if (status == PF_OK)
      status = pf_call_sums_merge(&g->sums, *all, &g->sums, group);
  }
  free(of_area);
  return status;
}


static pf_status add_groups (listing *l) {
  const pf_groups *const g = &l->scan->groups;
  if (g->by == PF_BY_LANE)
    return add_lane_groups(l);
  for (uint32_t group = 0; group < g->keys.count; group++) {
    const uint64_t key = g->keys.words[group];
    const bool by_caller = g->by == PF_BY_CALLER;
    add_entry(l, (entry){group, (uint32_t)(by_caller ? key >> 32 : key),
                         PF_NO_SLOT, by_caller ? (uint32_t)key : PF_NO_AREA});
  }
  return PF_OK;
}


/* Write one statistic of a duration of a group. */
static void put_number (const listing *l, const entry *e,
                        const pf_statistics_column *c, pf_column *to,
                        size_t row) {
  const pf_call_sums *const t = &l->scan->groups.sums;
  const pf_hot_sums *const hot = &t->hot[e->group];
  const pf_cold_sums *const rest = &t->rest[e->group];
  const size_t length = c->length, at = e->group * PF_DURATIONS + length;
  const uint64_t present = hot->rows - rest->missing[length];
  const pf_wide sum =
      (pf_wide)rest->wraps[length] << 64 | (pf_wide)hot->of[length].sum;
  if (c->what == PF_STATISTIC_SUM)
    pf_put_int(to, row, (int64_t)sum, sum == (int64_t)sum);
  else if (present == 0)
    pf_set_missing(to, row);
  else if (c->what == PF_STATISTIC_MIN)
    to->ints[row] = hot->of[length].min;
  else if (c->what == PF_STATISTIC_MAX)
    to->ints[row] = rest->max[length];
  else if (c->what == PF_STATISTIC_MEAN)
    to->nums[row] = pf_ratio(sum, (pf_wide)present);
  else if (c->what == PF_STATISTIC_STDDEV && t->has_squares)
    to->nums[row] = pf_stddev(&t->squares[at], sum, present);
  else if (c->what == PF_STATISTIC_RANK && t->has_quantiles)
    to->ints[row] = pf_unorder_int(
        pf_quantile_at(&t->quantiles[at], PF_INT, l->quantiles[c->rank]));
  else if (c->what == PF_STATISTIC_MAX_AT)
    to->ints[row] = rest->max_at[length];
  else if (c->what == PF_STATISTIC_JITTER)
    to->ints[row] = rest->max[length] - hot->of[length].min;
}


/* Write which quantiles of a group are estimates. */
static pf_status put_about (listing *l, const entry *e, pf_column *to,
                            size_t row) {
  const pf_statistics_schema *const s = l->schema;
  const pf_call_sums *const t = &l->scan->groups.sums;
  for (size_t i = 0; i < s->count && t->has_quantiles; i++) {
    const pf_statistics_column *const c = &s->columns[i];
    const size_t at = e->group * PF_DURATIONS + c->length;
    if (c->what == PF_STATISTIC_RANK && t->quantiles[at].count > 0 &&
        pf_quantile_error(&t->quantiles[at], PF_INT, l->quantiles[c->rank]) >
            0 &&
        !pf_estimates_add(&l->about, s->fields[i].name))
      return PF_ENOMEM;
  }
  return pf_estimates_put(&l->about, l->scan->machine.lanes.dictionary, to,
                          row);
}


static void put_entry (const listing *l, const entry *e, pf_column *to,
                       size_t row) {
  const pf_area none = PF_AREA_NONE;
  const pf_statistics_schema *const s = l->schema;
  const pf_lanes *const lanes = &l->scan->machine.lanes;
  const pf_groups *const g = &l->scan->groups;
  const pf_area *const area =
      lanes->has_areas ? pf_area_at(lanes->dictionary, e->area) : &none;
  /* when the last call of the area, or the area and lane, ended */
  const int64_t stop =
      e->lane == PF_NO_SLOT
          ? l->stops[l->ranks[e->area]]
          : pf_slot_last(&lanes->slots[(uint32_t)g->keys.words[e->group]]);
  for (size_t i = 0; i < s->count; i++, to++)
    switch (s->columns[i].what) {
      case PF_STATISTIC_AREA: pf_put_id(to, row, e->area); break;
      case PF_STATISTIC_CALLER: pf_put_id(to, row, e->caller); break;
      case PF_STATISTIC_CONTEXT:
        pf_events_put_lane(&l->scan->events, e->lane, to, row);
        break;
      case PF_STATISTIC_HANDLE:
        pf_put_int(to, row, (int64_t)area->handle, area->has_handle);
        break;
      case PF_STATISTIC_VALUE:
        pf_put_int(to, row, area->value, area->has_value);
        break;
      case PF_STATISTIC_COUNT:
        to->ints[row] = (int64_t)(g->sums.hot[e->group].rows -
                                  g->sums.rest[e->group].uncounted);
        break;
      case PF_STATISTIC_LAST_STOP:
        pf_put_int(to, row, stop, stop != INT64_MIN);
        break;
      case PF_STATISTIC_FILE: pf_put_id(to, row, area->file); break;
      case PF_STATISTIC_LINE:
        pf_put_int(to, row, area->line, area->line != 0);
        break;
      case PF_STATISTIC_ABOUT: break; /* see put_about */
      default: put_number(l, e, &s->columns[i], to, row);
    }
}


/* Write all entries, in the order of the pairs; `has_about`: the last column is
   `about`. PF_ENOMEM. */
static pf_status put_entries (listing *l, bool has_about, pf_column *columns) {
  pf_status status = PF_OK;
  for (size_t i = 0; i < l->count && status == PF_OK; i++) {
    const entry *const e = &l->entries[l->pairs[i].row];
    put_entry(l, e, columns, i);
    if (has_about)
      status = put_about(l, e, &columns[l->schema->count - 1], i);
  }
  return status;
}


/* Sort the areas and lanes of all slots by their contents. PF_ENOMEM. */
static pf_status sort_contents (listing *l, pf_content_order *order) {
  const pf_lanes *const lanes = &l->scan->machine.lanes;
  if (pf_content_order_open(order, l->scan) != PF_OK)
    return PF_ENOMEM;
  l->order = order;
  for (uint32_t i = 0; i < lanes->nslots; i++) {
    pf_content_order_mark(&order->areas, lanes->slots[i].area);
    pf_content_order_mark(&order->lanes, lanes->slots[i].lane->number);
  }
  return pf_content_order_sort(order);
}


pf_status pf_statistics_fill (const pf_statistics_schema *schema, pf_scan *scan,
                              const pf_statistics_options *options,
                              pf_store *store, pf_error *error) {
  listing l = {.schema = schema, .quantiles = options->ranks, .scan = scan};
  pf_content_order order = {.scan = NULL};
  const size_t most = (size_t)scan->groups.keys.count * 2 + 1;
  l.entries = malloc(most * sizeof *l.entries);
  l.pairs = malloc(2 * most * sizeof *l.pairs);
  pf_status status =
      l.entries == NULL || l.pairs == NULL ? PF_ENOMEM : rank_areas(&l);
  if (status == PF_OK && options->by_content)
    status = sort_contents(&l, &order);
  if (status == PF_OK)
    status = add_groups(&l);
  if (status == PF_OK)
    status = pf_store_reserve(store, l.count);
  if (status == PF_OK)
    pf_sort_pairs(l.pairs, l.pairs + most, l.count);
  for (size_t i = 0; i < store->nfields; i++)
    store->columns[i].has_missing = true; /* the bitmaps are clear */
  if (status == PF_OK)
    status = put_entries(&l, options->nranks > 0, store->columns);
  store->rows = status == PF_OK ? l.count : 0;
  pf_content_order_free(&order);
  free(l.ranks);
  free(l.stops);
  free(l.about.at);
  free(l.entries);
  free(l.pairs);
  return status == PF_OK ? PF_OK : pf_no_memory(error);
}
