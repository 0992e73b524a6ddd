/*
** call_groups.c - finds the group of a call, and adds the call to the hot sums
** or as a row to the aggregates.
*/

#include "kernels/statistics/call_groups.h"

#include <stdlib.h>
#include <string.h>

#include "model/base/memory.h"
#include "model/base/switches.h"
#include "model/rows/put_values.h"

#define LINE    64  /* bytes of a cache line */
#define AT_ONCE 128 /* calls of which the groups are found together */
#define AHEAD   12  /* calls of which the sums are prefetched */
#define ROWS    ((size_t)PF_BATCH_ROWS / 4) /* added at once: they stay in L2 */

const pf_field pf_call_columns[PF_CALL_COLUMNS] = {
    [PF_NET] = {"net", PF_INT, NULL},
    [PF_GROSS] = {"gross", PF_INT, NULL},
    [PF_CALL] = {"call", PF_INT, NULL},
    [PF_PERIOD] = {"period", PF_INT, NULL},
    [PF_OUTSIDE] = {"outside", PF_INT, NULL},
    [PF_CALL_START] = {"start", PF_INT, NULL},
    [PF_CALL_COUNT] = {"count", PF_INT, NULL}};


pf_status pf_call_groups_open (pf_call_groups *g, pf_group_by by,
                               const pf_call_aggregates *a,
                               pf_dictionary *dictionary) {
  memset(g, 0, sizeof *g);
  g->by = by;
  g->each = a->each;
  pf_id_table_init(&g->keys);
  g->row_groups = pf_array(ROWS, sizeof *g->row_groups);
  return g->row_groups != NULL && pf_batch_open(&g->rows, pf_call_columns,
                                                PF_CALL_COLUMNS, NULL) == PF_OK
             ? pf_aggregates_open(a->list, a->count, pf_call_columns,
                                  PF_CALL_COLUMNS, dictionary, a->results,
                                  &g->sums)
             : PF_ENOMEM;
}


void pf_call_groups_free (pf_call_groups *g) {
  pf_aggregates_close(g->sums);
  pf_batch_close(&g->rows);
  pf_id_table_free(&g->keys);
  free(g->memory);
  free(g->rare);
  free(g->row_groups);
}


static const pf_hot_sums nothing = {0,
                                    {{0, INT64_MAX, 0},
                                     {0, INT64_MAX, 0},
                                     {0, INT64_MAX, 0},
                                     {0, INT64_MAX, 0},
                                     {0, INT64_MAX, 0}}};


/* Create the hot sums of the groups up to count-1, aligned to cache lines. */
static pf_status reserve (pf_call_groups *g, size_t count) {
  if (count <= g->capacity)
    return PF_OK;
  size_t capacity = g->capacity == 0 ? 64 : g->capacity;
  while (capacity < count)
    capacity *= 2;
  uint8_t *const memory = malloc(capacity * sizeof *g->hot + LINE);
  if (memory == NULL || !pf_widen(&g->rare, g->capacity, capacity)) {
    free(memory);
    return PF_ENOMEM;
  }
  pf_hot_sums *const hot =
      (pf_hot_sums *)(void *)(memory + (LINE - (uintptr_t)memory % LINE));
  if (g->capacity > 0)
    memcpy(hot, g->hot, g->capacity * sizeof *hot);
  for (size_t i = g->capacity; i < capacity; i++)
    hot[i] = nothing;
  free(g->memory);
  g->memory = memory;
  g->hot = hot;
  g->capacity = capacity;
  return PF_OK;
}


static pf_status add_rows (pf_call_groups *g) {
  const pf_status status =
      g->rows.rows == 0 ? PF_OK
                        : pf_aggregates_add(g->sums, true, &g->rows,
                                            g->row_groups, g->keys.count);
  pf_batch_clear(&g->rows);
  return status;
}


/* Append a call to the rows, which are added when there are enough. */
static inline pf_status add_row (pf_call_groups *g, uint32_t group,
                                 const pf_call *call) {
  pf_column *const c = g->rows.columns;
  const size_t row = g->rows.rows++;
  g->row_groups[row] = group;
  for (size_t i = 0; i < PF_DURATIONS; i++) {
    c[i].ints[row] = call->durations[i];
    if (call->durations[i] < 0)
      pf_set_missing(&c[i], row);
  }
  return row + 1 < ROWS ? PF_OK : add_rows(g);
}


/* Move the sums of a group to the aggregates. */
static void move_sums (pf_call_groups *g, size_t group) {
  const pf_hot_sums *const hot = &g->hot[group];
  const pf_rare_sums *const rare = &g->rare[group];
  if (hot->calls == 0)
    return;
  const pf_summary counted = {.count = hot->calls,
                              .sum = (pf_wide)(hot->calls - rare->uncounted)};
  pf_aggregates_add_summary(g->sums, PF_CALL_COUNT, group, &counted, false);
  for (size_t i = 0; i < PF_DURATIONS; i++) {
    const pf_summary of = {
        .count = hot->calls - rare->missing[i],
        .sum = (pf_wide)rare->carries[i] << 64 | (pf_wide)hot->of[i].sum,
        .min = hot->of[i].min,
        .max = (int64_t)((uint64_t)hot->of[i].min + hot->of[i].range),
        .at = i < PF_MAX_STARTS ? rare->max_at[i] : 0};
    if (of.count > 0)
      pf_aggregates_add_summary(g->sums, i, group, &of, false);
  }
  g->hot[group] = nothing;
  g->rare[group] = (pf_rare_sums){.uncounted = 0};
}


pf_status pf_call_groups_flush (pf_call_groups *g) {
  if (add_rows(g) != PF_OK ||
      pf_aggregates_reserve(g->sums, g->keys.count) != PF_OK)
    return PF_ENOMEM;
  for (size_t group = 0; group < g->keys.count; group++)
    move_sums(g, group);
  return PF_OK;
}


/* Update minimum, maximum, and the start of the longest call. */
static void extend (pf_call_groups *g, size_t group, size_t which,
                    int64_t length, int64_t start) {
  pf_hot_sums *const hot = &g->hot[group];
  pf_rare_sums *const rare = &g->rare[group];
  const bool is_first = hot->calls - rare->missing[which] == 1;
  const int64_t min = hot->of[which].min;
  const int64_t max =
      is_first ? -1 : (int64_t)((uint64_t)min + hot->of[which].range);
  if (which < PF_MAX_STARTS &&
      (length > max || (length == max && start < rare->max_at[which])))
    rare->max_at[which] = start;
  hot->of[which].min = length < min ? length : min;
  hot->of[which].range =
      (uint64_t)(length > max ? length : max) - (uint64_t)hot->of[which].min;
}


/* Add a call that changes more than sums. */
static void add_sums (pf_call_groups *g, size_t group, const pf_call *call) {
  g->hot[group].calls++;
  for (size_t i = 0; i < PF_DURATIONS; i++) {
    const int64_t length = call->durations[i];
    if (length < 0) {
      g->rare[group].missing[i]++;
      continue;
    }
    pf_add_to_sum(g, group, i, length);
    if (!pf_is_in_range(&g->hot[group], i, length))
      extend(g, group, i, length, call->start);
  }
  g->rare[group].uncounted += call->count == 0;
}


static inline pf_status add_call (pf_call_groups *g, uint32_t group,
                                  const pf_call *call) {
  if (call->count == 0 || !pf_call_groups_try_add(g, group, call->durations))
    add_sums(g, group, call);
  return g->each ? add_row(g, group, call) : PF_OK;
}


pf_status pf_call_groups_of_key (pf_call_groups *g, uint64_t key,
                                 uint32_t *group) {
  const pf_status status = pf_id_table_words(&g->keys, &key, 1, group);
  return status == PF_OK ? reserve(g, g->keys.count) : status;
}


pf_status pf_call_groups_of_slot (pf_call_groups *g, pf_lanes *lanes,
                                  uint32_t slot, uint32_t *group) {
  pf_slot *const of = &lanes->slots[slot];
  const uint64_t key = g->by == PF_BY_LANE ? slot : of->area;
  *group = of->group;
  if (*group == PF_NO_ID && pf_call_groups_of_key(g, key, group) != PF_OK)
    return PF_ENOMEM;
  of->group = *group;
  return PF_OK;
}


static inline pf_status group_by_caller (pf_call_groups *g,
                                         const pf_lanes *lanes,
                                         const pf_call *call, uint32_t *group) {
  const uint64_t area = lanes->slots[call->slot].area;
  const uint64_t key = area << 32 | call->caller;
  const size_t at = (key ^ key >> 32 ^ key >> 28) & 255;
  if (g->caller_cache[at].group == 0 || g->caller_cache[at].key != key) {
    if (pf_call_groups_of_key(g, key, group) != PF_OK)
      return PF_ENOMEM;
    g->caller_cache[at].key = key;
    g->caller_cache[at].group = *group + 1;
  }
  *group = g->caller_cache[at].group - 1;
  return PF_OK;
}


/* Find the groups of calls. */
static pf_status find_groups (pf_call_groups *g, pf_lanes *lanes,
                              const pf_call *calls, size_t count,
                              uint32_t *groups) {
  pf_status status = PF_OK;
  for (size_t i = 0; i < count && status == PF_OK; i++)
    status = g->by == PF_BY_CALLER
                 ? group_by_caller(g, lanes, &calls[i], &groups[i])
                 : pf_call_groups_of_slot(g, lanes, calls[i].slot, &groups[i]);
  return status;
}


pf_status pf_call_groups_add (pf_call_groups *g, pf_lanes *lanes,
                              const pf_call *calls, size_t count) {
  uint32_t groups[AT_ONCE];
  for (size_t from = 0; from < count; from += AT_ONCE) {
    const size_t some = count - from < AT_ONCE ? count - from : AT_ONCE;
    if (find_groups(g, lanes, calls + from, some, groups) != PF_OK)
      return PF_ENOMEM;
    for (size_t i = 0; i < some; i++) {
      if (PF_FAST(MISSES) && i + AHEAD < some) {
        __builtin_prefetch(&g->hot[groups[i + AHEAD]], 1);
        __builtin_prefetch(&g->hot[groups[i + AHEAD]].of[PF_OUTSIDE], 1);
      }
      if (add_call(g, groups[i], &calls[from + i]) != PF_OK)
        return PF_ENOMEM;
    }
  }
  return PF_OK;
}
