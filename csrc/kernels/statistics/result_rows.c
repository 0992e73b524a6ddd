/*
** result_rows.c - the columns of statistics: keys, then the same aggregates for
** each of the five durations; and the groups as rows, in the order of the
** contents of areas and lanes, or in that in which they first occurred.
*/

#include "kernels/statistics/result_rows.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/group/estimates.h"
#include "kernels/statistics/content_order.h"
#include "model/base/sorts.h"

#define NAME_SIZE 40
#define HELP_SIZE 120

static const char *const length_names[PF_DURATIONS] = {"net", "gross", "call",
                                                       "period", "outside"};

static const struct {
  pf_function function;
  const char *suffix;
  const char *help;
} numbers[] = {
    {PF_SUM, "", "sum of %s of all calls, ns"},
    {PF_MIN, "_min", "minimum %s of a call, ns"},
    {PF_MAX, "_max", "maximum %s of a call, ns"},
    {PF_MEAN, "_mean", "mean %s of a call, ns"},
    {PF_STDDEV, "_stddev", "standard deviation of %s, ns"},
};


/* Add a column, and return its index. */
static size_t add (pf_statistics_schema *s, pf_type type, const char *name,
                   const char *suffix, const char *help, ...) {
  char *const word = s->words + s->count * (NAME_SIZE + HELP_SIZE);
  snprintf(word, NAME_SIZE, "%s%s", name, suffix);
  va_list arguments;
  va_start(arguments, help);
  vsnprintf(word + NAME_SIZE, HELP_SIZE, help, arguments);
  va_end(arguments);
  s->fields[s->count] = (pf_field){word, type, word + NAME_SIZE};
  return s->count++;
}


static void aggregate (pf_statistics_schema *s, pf_function function,
                       size_t column, uint32_t rank, size_t to) {
  s->aggregates[s->naggregates++] = (pf_aggregate){.function = function,
                                                   .rank = rank,
                                                   .column = column,
                                                   .by = PF_CALL_START,
                                                   .to = to,
                                                   .may_overflow = true};
}


static void add_duration (pf_statistics_schema *s, size_t length,
                          const pf_statistics_options *options) {
  const char *const of = length_names[length];
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
    const pf_function function = numbers[i].function;
    aggregate(s, function, length, 0,
              add(s, pf_aggregate_type(function, &pf_call_columns[length]), of,
                  numbers[i].suffix, numbers[i].help, of));
  }
  for (size_t i = 0; i < options->nranks; i++) {
    char suffix[20];
    snprintf(suffix, sizeof suffix, "_%.16s", options->rank_names[i]);
    aggregate(s, PF_QUANTILE, length, options->ranks[i],
              add(s, PF_INT, of, suffix,
                  "%.16s of %s, ns: exact up to %u calls (%u in large results),"
                  " else at most 1/256 of it away",
                  options->rank_names[i], of, PF_EXACT_VALUES,
                  PF_EXACT_REDUCED));
  }
}


static void add_keys (pf_statistics_schema *s, bool callers, pf_type area,
                      pf_type lane) {
  s->at[PF_STATISTIC_AREA] =
      add(s, area, "area", "", "the area that was called");
  s->at[PF_STATISTIC_HANDLE] =
      add(s, PF_HANDLE, "handle", "", "the vendor's number of the area");
  s->at[PF_STATISTIC_VALUE] =
      add(s, PF_INT, "value", "", "distinguishes areas with the same handle");
  s->at[PF_STATISTIC_CONTEXT] =
      add(s, lane, "context", "", "lane; missing: all lanes together");
  if (callers)
    s->at[PF_STATISTIC_CALLER] = add(
        s, area, "caller", "", "the function around it; missing at the top");
}


pf_status pf_statistics_schema_make (pf_statistics_schema *s,
                                     const pf_statistics_options *options,
                                     pf_type area, pf_type lane) {
  const bool callers = options->by == PF_BY_CALLER;
  *s = (pf_statistics_schema){
      .fields = calloc(PF_STATISTICS_COLUMNS, sizeof *s->fields),
      .aggregates = calloc(PF_MOST_AGGREGATES, sizeof *s->aggregates),
      .words = malloc(PF_STATISTICS_COLUMNS * (NAME_SIZE + HELP_SIZE))};
  if (s->fields == NULL || s->aggregates == NULL || s->words == NULL)
    return PF_ENOMEM; /* pf_statistics_schema_free frees the rest */
  memset(s->at, 0xff, sizeof s->at);
  add_keys(s, callers, area, lane);
  aggregate(s, PF_SUM, PF_CALL_COUNT, 0,
            add(s, PF_INT, "count", "", "enters or writes"));
  for (size_t i = 0; i < PF_DURATIONS; i++)
    add_duration(s, i, options);
  for (size_t i = 0; i < PF_MAX_STARTS; i++)
    aggregate(s, PF_AT_MAX, i, 0,
              add(s, PF_INT, length_names[i], "_max_at",
                  "start of the first call with the maximum %s, ns",
                  length_names[i]));
  s->at[PF_STATISTIC_JITTER] =
      add(s, PF_INT, "period", "_jitter", "maximum minus minimum period, ns");
  if (!callers)
    s->at[PF_STATISTIC_LAST_STOP] = add(
        s, PF_INT, "last_stop", "", "time at which the last call ended, ns");
  s->at[PF_STATISTIC_FILE] =
      add(s, PF_NAME, "file", "", "the file of the area");
  s->at[PF_STATISTIC_LINE] =
      add(s, PF_INT, "line", "", "the line in this file");
  if (options->nranks > 0)
    s->at[PF_STATISTIC_ABOUT] =
        add(s, PF_NAME, PF_ABOUT, "", "%s", PF_ABOUT_HELP);
  return PF_OK;
}


void pf_statistics_schema_free (pf_statistics_schema *s) {
  free(s->fields);
  free(s->aggregates);
  free(s->words);
  *s = (pf_statistics_schema){0};
}


static bool is_wanted (const pf_batch *batch, size_t column) {
  return column < batch->ncolumns && batch->columns[column].data != NULL;
}


pf_call_aggregates pf_statistics_wanted (pf_statistics_schema *s,
                                         const pf_batch *batch) {
  size_t kept = 0;
  bool each = batch == NULL;
  for (size_t i = 0; batch != NULL && i < s->naggregates; i++) {
    const pf_aggregate *const a = &s->aggregates[i];
    const bool is_quantile = a->function == PF_QUANTILE;
    const bool is_each = is_quantile || a->function == PF_STDDEV;
    if (is_each && !is_wanted(batch, a->to) &&
        !(is_quantile && is_wanted(batch, s->at[PF_STATISTIC_ABOUT])))
      continue;
    each |= is_each;
    s->aggregates[kept++] = *a;
  }
  if (batch == NULL) {
    kept = s->naggregates + PF_SUMS_AGGREGATES;
    memcpy(s->aggregates + s->naggregates, pf_sums_aggregates.list,
           PF_SUMS_AGGREGATES * sizeof *s->aggregates);
  }
  s->naggregates = kept;
  return (pf_call_aggregates){s->aggregates, kept, s->fields, each};
}


/* A future row: a group with its lane or caller. */
typedef struct entry {
  uint32_t group;
  uint32_t area;
  uint32_t lane;   /* PF_NO_SLOT: all */
  uint32_t caller; /* PF_NO_AREA: none */
  int64_t stop;    /* when the last call ended, or INT64_MIN */
} entry;

typedef struct listing {
  const pf_statistics_schema *schema;
  pf_scan *scan;
  const pf_content_order *order; /* of the rows, or NULL: that in which areas
                                    and lanes first occurred */
  uint32_t *ranks; /* by area: its rank in the order of first occurrence */
  int64_t *stops;  /* by area: when the last call ended, or INT64_MIN */
  size_t nareas;
  uint32_t *groups; /* by group: the group of its area over all lanes */
  entry *entries;   /* first those over all lanes, then the others */
  pf_pair *pairs;   /* sort keys of entries, and as much scratch space */
  size_t count, nall;
} listing;


/* Rank the areas in the order in which their slots were created. */
static pf_status rank_areas (listing *l) {
  const pf_lanes *const lanes = &l->scan->machine.lanes;
  for (uint32_t i = 0; i < lanes->nslots; i++)
    if (lanes->slots[i].area >= l->nareas)
      l->nareas = (size_t)lanes->slots[i].area + 1;
  l->ranks = malloc((l->nareas + 1) * sizeof *l->ranks);
  l->stops = malloc((l->nareas + 1) * sizeof *l->stops);
  if (l->ranks == NULL || l->stops == NULL)
    return PF_ENOMEM;
  memset(l->ranks, 0xff, (l->nareas + 1) * sizeof *l->ranks);
  uint32_t next = 0;
  for (uint32_t i = 0; i < lanes->nslots; i++) {
    const pf_slot *const slot = &lanes->slots[i];
    if (l->ranks[slot->area] == UINT32_MAX) {
      l->ranks[slot->area] = next++;
      l->stops[slot->area] = INT64_MIN;
    }
    if (l->stops[slot->area] < pf_slot_last(slot))
      l->stops[slot->area] = pf_slot_last(slot);
  }
  return PF_OK;
}


/* The place of an area among all, from 1; 0: none. */
static uint64_t place_of (const listing *l, uint32_t area) {
  if (l->order != NULL)
    return pf_content_order_at(&l->order->areas, area);
  return area < l->nareas ? (uint64_t)l->ranks[area] + 1 : 0;
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
  const bool by_caller = l->scan->groups.by == PF_BY_CALLER;
  l->pairs[l->count] = (pf_pair){
      by_caller ? area << 32 | caller : lane_place_of(l, e.lane) << 32 | area,
      l->count};
  l->entries[l->count++] = e;
}


/* Add an entry for each area over all lanes, and number these. */
static pf_status add_areas (listing *l) {
  const pf_call_groups *const g = &l->scan->groups;
  uint32_t *const of_area = malloc((l->nareas + 1) * sizeof *of_area);
  l->groups = malloc(((size_t)g->keys.count + 1) * sizeof *l->groups);
  if (of_area == NULL || l->groups == NULL) {
    free(of_area);
    return PF_ENOMEM;
  }
  memset(of_area, 0xff, (l->nareas + 1) * sizeof *of_area);
  for (uint32_t group = 0; group < g->keys.count; group++) {
    const uint32_t area =
        l->scan->machine.lanes.slots[(uint32_t)g->keys.words[group]].area;
    if (of_area[area] == UINT32_MAX) {
      of_area[area] = (uint32_t)l->count;
      add_entry(l, (entry){(uint32_t)l->count, area, PF_NO_SLOT, PF_NO_AREA,
                           l->stops[area]});
    }
    l->groups[group] = of_area[area];
  }
  l->nall = l->count;
  free(of_area);
  return PF_OK;
}


/* Add an entry for each group; not for lanes without a value, such as those of
   variables. */
static void add_groups (listing *l) {
  const pf_call_groups *const g = &l->scan->groups;
  const pf_events *const events = &l->scan->events;
  for (uint32_t group = 0; group < g->keys.count; group++) {
    const uint64_t key = g->keys.words[group];
    if (g->by == PF_BY_AREA)
      add_entry(l, (entry){group, (uint32_t)key, PF_NO_SLOT, PF_NO_AREA,
                           l->stops[key]});
    else if (g->by == PF_BY_CALLER)
      add_entry(l, (entry){group, (uint32_t)(key >> 32), PF_NO_SLOT,
                           (uint32_t)key, INT64_MIN});
    else {
      const pf_slot *const slot = &l->scan->machine.lanes.slots[(uint32_t)key];
      const uint32_t lane = slot->lane->number;
      if (lane != PF_NO_SLOT && pf_events_have_lanes(events) &&
          lane != events->lanes.missing)
        add_entry(l, (entry){group, slot->area, lane, PF_NO_AREA,
                             pf_slot_last(slot)});
    }
  }
}


static void put_entry (const listing *l, const entry *e, pf_column *columns,
                       size_t row) {
  const pf_area none = PF_AREA_NONE;
  const size_t *const at = l->schema->at;
  const pf_lanes *const lanes = &l->scan->machine.lanes;
  const pf_area *const area =
      lanes->has_areas ? pf_area_at(lanes->dictionary, e->area) : &none;
  pf_put_id(&columns[at[PF_STATISTIC_AREA]], row, e->area);
  pf_put_int(&columns[at[PF_STATISTIC_HANDLE]], row, (int64_t)area->handle,
             area->has_handle);
  pf_put_int(&columns[at[PF_STATISTIC_VALUE]], row, area->value,
             area->has_value);
  pf_events_put_lane(&l->scan->events, e->lane,
                     &columns[at[PF_STATISTIC_CONTEXT]], row);
  if (at[PF_STATISTIC_CALLER] != SIZE_MAX)
    pf_put_id(&columns[at[PF_STATISTIC_CALLER]], row, e->caller);
  if (at[PF_STATISTIC_LAST_STOP] != SIZE_MAX)
    pf_put_int(&columns[at[PF_STATISTIC_LAST_STOP]], row, e->stop,
               e->stop != INT64_MIN);
  pf_put_id(&columns[at[PF_STATISTIC_FILE]], row, area->file);
  pf_put_int(&columns[at[PF_STATISTIC_LINE]], row, area->line, area->line != 0);
}


/* Write the differences of maximum and minimum, which are in the store. */
static void put_jitter (const pf_statistics_schema *s, pf_store *store) {
  const size_t to = s->at[PF_STATISTIC_JITTER];
  const pf_column *const min =
      &store->columns[pf_field_index(s->fields, s->count, "period_min")];
  const pf_column *const max =
      &store->columns[pf_field_index(s->fields, s->count, "period_max")];
  for (size_t row = 0; row < store->rows; row++)
    if (pf_is_missing(max, row))
      pf_store_set_missing(store, to, row);
    else
      store->columns[to].ints[row] = max->ints[row] - min->ints[row];
}


/* Write the aggregates of all entries: of the groups, and of their sums over
   all lanes. */
static pf_status put_aggregates (const listing *l, pf_store *store,
                                 pf_error *error) {
  pf_call_groups *const g = &l->scan->groups;
  const size_t count = g->keys.count;
  const size_t about = l->schema->at[PF_STATISTIC_ABOUT];
  const size_t hidden = about < store->nfields ? about : store->nfields;
  uint32_t *const rows = malloc((count + l->nall + 1) * sizeof *rows);
  pf_aggregates *all = NULL;
  if (rows == NULL)
    return pf_no_memory(error);
  uint32_t *const all_rows = rows + count;
  memset(rows, 0xff, (count + l->nall) * sizeof *rows);
  for (size_t i = 0; i < l->count; i++) {
    const size_t at = l->pairs[i].row;
    (at < l->nall ? all_rows : rows)[l->entries[at].group] = (uint32_t)i;
  }
  pf_status status =
      pf_aggregates_finish(g->sums, store, hidden, rows, count, error);
  if (status == PF_OK && l->nall > 0) {
    if (pf_aggregates_clone(g->sums, &all) != PF_OK ||
        pf_aggregates_merge(all, g->sums, l->groups, count, l->nall) != PF_OK)
      status = pf_no_memory(error);
    else
      status =
          pf_aggregates_finish(all, store, hidden, all_rows, l->nall, error);
  }
  pf_aggregates_close(all);
  free(rows);
  return status;
}


static pf_status list_entries (listing *l) {
  const size_t most = (size_t)l->scan->groups.keys.count * 2 + 1;
  l->entries = malloc(most * sizeof *l->entries);
  l->pairs = malloc(2 * most * sizeof *l->pairs);
  if (l->entries == NULL || l->pairs == NULL)
    return PF_ENOMEM;
  if (l->scan->groups.by == PF_BY_LANE && add_areas(l) != PF_OK)
    return PF_ENOMEM;
  add_groups(l);
  pf_sort_pairs(l->pairs, l->pairs + most, l->count);
  return PF_OK;
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


static pf_status put_rows (const listing *l, pf_store *store, pf_error *error) {
  for (size_t i = 0; i < store->nfields; i++)
    store->columns[i].has_missing = true; /* the bitmaps are clear */
  const pf_status status = put_aggregates(l, store, error);
  if (status != PF_OK)
    return status;
  store->rows = l->count;
  for (size_t i = 0; i < l->count; i++)
    put_entry(l, &l->entries[l->pairs[i].row], store->columns, i);
  put_jitter(l->schema, store);
  return PF_OK;
}


pf_status pf_statistics_fill (const pf_statistics_schema *schema, pf_scan *scan,
                              bool by_content, pf_store *store,
                              pf_error *error) {
  listing l = {.schema = schema, .scan = scan};
  pf_content_order order = {.scan = NULL};
  pf_status status = rank_areas(&l);
  if (status == PF_OK && by_content)
    status = sort_contents(&l, &order);
  if (status == PF_OK)
    status = list_entries(&l);
  if (status == PF_OK)
    status = pf_store_reserve(store, l.count);
  status = status == PF_OK ? put_rows(&l, store, error) : pf_no_memory(error);
  pf_content_order_free(&order);
  free(l.ranks);
  free(l.stops);
  free(l.groups);
  free(l.entries);
  free(l.pairs);
  return status;
}
