/*
** groups.c - adds the durations of calls to sums, and if they are wanted to
** squares and quantiles; finds the group of a call.
*/

#include "kernels/statistics/groups.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/base/order.h"
#include "model/base/memory.h"
#include "model/base/switches.h"

#define LINE 64 /* bytes of a cache line */

#define AHEAD     12 /* calls of which the accumulators are prefetched */
#define FEW_CALLS 32 /* groups with at most so many calls have no buffer */

#define BUFFERED_DURATIONS                      \
  (sizeof((pf_duration_buffer *)0)->durations / \
   sizeof((pf_duration_buffer *)0)->durations[0])

static const pf_hot_sums nothing = {0,
                                    {{0, INT64_MAX, 0},
                                     {0, INT64_MAX, 0},
                                     {0, INT64_MAX, 0},
                                     {0, INT64_MAX, 0},
                                     {0, INT64_MAX, 0}}};


/* Grow the hot accumulators, which are aligned to cache lines. */
static bool widen_hot (pf_call_sums *t, size_t capacity) {
  uint8_t *const memory = malloc(capacity * sizeof *t->hot + LINE);
  if (memory == NULL)
    return false;
  pf_hot_sums *const hot =
      (pf_hot_sums *)(void *)(memory + (LINE - (uintptr_t)memory % LINE));
  if (t->capacity > 0)
    memcpy(hot, t->hot, t->capacity * sizeof *hot);
  for (size_t i = t->capacity; i < capacity; i++)
    hot[i] = nothing;
  free(t->memory);
  t->memory = memory;
  t->hot = hot;
  return true;
}


pf_status pf_call_sums_reserve (pf_call_sums *t, size_t count) {
  if (count > t->count)
    t->count = count;
  if (count <= t->capacity)
    return PF_OK;
  size_t capacity = t->capacity == 0 ? 64 : t->capacity;
  while (capacity < count)
    capacity *= 2;
  const size_t before = t->capacity * PF_DURATIONS;
  const size_t after = capacity * PF_DURATIONS;
  if (!pf_widen(&t->rest, t->capacity, capacity) ||
      (t->has_squares && !pf_widen(&t->squares, before, after)) ||
      (t->has_quantiles && (!pf_widen(&t->states, t->capacity, capacity) ||
                            !pf_widen(&t->buffers, t->capacity, capacity) ||
                            !pf_widen(&t->quantiles, before, after))) ||
      !widen_hot(t, capacity))
    return PF_ENOMEM;
  for (size_t i = t->capacity; i < capacity; i++)
    for (size_t which = 0; which < PF_DURATIONS; which++)
      t->rest[i].max[which] = -1;
  t->capacity = capacity;
  return PF_OK;
}


/* Update minimum, maximum, range, and the start of the longest call. */
static void update_range (pf_call_sums *t, size_t group, size_t which,
                          int64_t length, int64_t start) {
  pf_cold_sums *const rest = &t->rest[group];
  pf_hot_sums *const hot = &t->hot[group];
  const int64_t max = rest->max[which];
  if (length < hot->of[which].min)
    hot->of[which].min = length;
  if (which < PF_MAX_STARTS &&
      (length > max || (length == max && start < rest->max_at[which])))
    rest->max_at[which] = start;
  if (length > max)
    rest->max[which] = length;
  hot->of[which].range =
      (uint64_t)rest->max[which] - (uint64_t)hot->of[which].min;
}


/* Add the durations of a call to the quantiles. */
static pf_status add_quantiles (pf_call_sums *t, size_t group,
                                const int64_t *durations) {
  pf_quantile *const of = &t->quantiles[group * PF_DURATIONS];
  for (size_t which = 0; which < PF_DURATIONS; which++)
    if (durations[which] >= 0 &&
        pf_quantile_add(&of[which], &t->pool, PF_INT,
                        pf_order_int(durations[which])) != PF_OK)
      return PF_ENOMEM;
  return PF_OK;
}


/* Add the buffered durations or codes of a group to its quantiles. */
static pf_status flush (pf_call_sums *t, size_t group) {
  const pf_duration_buffer *const buffer = t->buffers[group];
  const pf_buffer_state state = t->states[group];
  pf_quantile *const of = &t->quantiles[group * PF_DURATIONS];
  pf_status status = PF_OK;
  for (size_t which = 0; state.are_codes && which < PF_DURATIONS; which++)
    if (t->rest[group].max[which] >= 0)
      pf_quantile_prefetch(&of[which],
                           pf_quantile_code(t->hot[group].of[which].min),
                           pf_quantile_code(t->rest[group].max[which]));
  t->states[group] = (pf_buffer_state){0, true};
  for (size_t i = 0; !state.are_codes && i < state.count && status == PF_OK;
       i++)
    status = add_quantiles(t, group, buffer->durations[i]);
  for (size_t which = 0; which < PF_DURATIONS && status == PF_OK; which++) {
    if (state.are_codes)
      status = pf_quantile_add_codes(&of[which], &buffer->codes[0][which], 8,
                                     state.count);
    t->states[group].are_codes &= of[which].sketched;
  }
  return status;
}


/* Quantiles in buckets have only received codes, so their exact ranges are set
   here. */
pf_status pf_call_sums_flush (pf_call_sums *t) {
  for (size_t group = 0; t->has_quantiles && group < t->count; group++) {
    pf_quantile *const of = &t->quantiles[group * PF_DURATIONS];
    if (t->states[group].count > 0 && flush(t, group) != PF_OK)
      return PF_ENOMEM;
    for (size_t which = 0; which < PF_DURATIONS; which++)
      if (of[which].sketched) {
        of[which].min = pf_order_int(t->hot[group].of[which].min);
        of[which].max = pf_order_int(t->rest[group].max[which]);
      }
  }
  return PF_OK;
}


/* Add the durations of a call to the buffer, and flush it when it is full. */
static inline pf_status add_buffered (pf_call_sums *t, size_t group,
                                      const int64_t *durations) {
  pf_buffer_state *const staged = &t->states[group];
  pf_duration_buffer *const buffer = t->buffers[group];
  const size_t at = staged->count++;
  if (!staged->are_codes) {
    memcpy(buffer->durations[at], durations, sizeof buffer->durations[at]);
    return at + 1 == BUFFERED_DURATIONS ? flush(t, group) : PF_OK;
  }
  uint16_t *const codes = buffer->codes[at];
  codes[PF_NET] = pf_quantile_code(durations[PF_NET]);
  codes[PF_GROSS] = pf_quantile_code(durations[PF_GROSS]);
  codes[PF_CALL] = pf_quantile_code(durations[PF_CALL]);
  codes[PF_PERIOD] = pf_quantile_code(durations[PF_PERIOD]);
  codes[PF_OUTSIDE] = pf_quantile_code(durations[PF_OUTSIDE]);
  return at + 1 == PF_BUFFERED_CALLS ? flush(t, group) : PF_OK;
}


/* Whether a group has a buffer; it gets one when it has many calls. */
static inline bool has_buffer (pf_call_sums *t, size_t group) {
  if (PF_FAST(BUFFERS) && t->buffers[group] == NULL &&
      t->hot[group].rows > FEW_CALLS)
    t->buffers[group] = malloc(sizeof **t->buffers);
  return t->buffers[group] != NULL;
}


static void add_squares (pf_call_sums *t, size_t group,
                         const int64_t *durations) {
  pf_squares *const squares = &t->squares[group * PF_DURATIONS];
  for (size_t which = 0; which < PF_DURATIONS; which++)
    if (durations[which] >= 0)
      pf_squares_add(&squares[which], (uint64_t)durations[which]);
}


/* Add a call that changes more than sums. */
static void add_durations (pf_call_sums *t, size_t group, const pf_call *call) {
  t->hot[group].rows++;
  for (size_t which = 0; which < PF_DURATIONS; which++)
    if (call->durations[which] >= 0) {
      pf_call_sums_add_sum(t, group, which, call->durations[which]);
      if (!pf_is_in_range(&t->hot[group], which, call->durations[which]))
        update_range(t, group, which, call->durations[which], call->start);
    }
    else
      t->rest[group].missing[which]++;
  if (call->count == 0)
    t->rest[group].uncounted++;
}


static inline pf_status add_call (pf_call_sums *t, size_t group,
                                  const pf_call *call) {
  if (call->count == 0 || !pf_call_sums_try_add(t, group, call->durations))
    add_durations(t, group, call);
  if (t->has_squares)
    add_squares(t, group, call->durations);
  if (!t->has_quantiles)
    return PF_OK;
  return has_buffer(t, group) ? add_buffered(t, group, call->durations)
                              : add_quantiles(t, group, call->durations);
}


/* Prefetch the accumulators of a group, and the next line of its buffer. */
static inline void prefetch (const pf_call_sums *t, size_t group) {
  const pf_hot_sums *const hot = &t->hot[group];
  __builtin_prefetch(hot, 1);
  __builtin_prefetch(&hot->of[PF_DURATIONS - 1], 1);
  if (!t->has_quantiles || t->buffers[group] == NULL)
    return;
  const pf_duration_buffer *const buffer = t->buffers[group];
  const pf_buffer_state staged = t->states[group];
  __builtin_prefetch(staged.are_codes
                         ? (const void *)buffer->codes[staged.count]
                         : (const void *)buffer->durations[staged.count],
                     1);
}


/* Add call i to group groups[i]. PF_ENOMEM. */
static pf_status call_sums_add (pf_call_sums *t, const pf_call *calls,
                                size_t count, const uint32_t *groups) {
  pf_status status = PF_OK;
  for (size_t i = 0; i < count && status == PF_OK; i++) {
    if (PF_FAST(BUFFERS) && i + AHEAD < count)
      prefetch(t, groups[i + AHEAD]);
    status = add_call(t, groups[i], &calls[i]);
  }
  return status;
}


void pf_call_sums_clear (pf_call_sums *t, size_t group, size_t which) {
  const size_t at = group * PF_DURATIONS + which;
  t->hot[group].of[which].sum = 0;
  t->hot[group].of[which].min = INT64_MAX;
  t->hot[group].of[which].range = 0;
  t->rest[group].max[which] = -1;
  t->rest[group].missing[which] = t->hot[group].rows;
  t->rest[group].wraps[which] = 0;
  if (t->has_squares)
    t->squares[at] = (pf_squares){{0, 0, 0}};
  if (t->has_quantiles)
    pf_quantile_free(&t->quantiles[at]);
}


pf_duration_sums pf_call_sums_duration (const pf_call_sums *t, size_t group,
                                        size_t which) {
  const pf_cold_sums *const rest = &t->rest[group];
  pf_duration_sums of = {.sum = (pf_wide)rest->wraps[which] << 64 |
                                (pf_wide)t->hot[group].of[which].sum,
                         .min = t->hot[group].of[which].min,
                         .max = rest->max[which],
                         .missing = rest->missing[which],
                         .max_at =
                             which < PF_MAX_STARTS ? rest->max_at[which] : 0};
  if (t->has_squares)
    of.squares = t->squares[group * PF_DURATIONS + which];
  return of;
}


void pf_call_sums_add_duration (pf_call_sums *t, size_t group, size_t which,
                                const pf_duration_sums *more) {
  pf_hot_sums *const to = &t->hot[group];
  pf_cold_sums *const rest = &t->rest[group];
  to->of[which].sum += (uint64_t)more->sum;
  rest->wraps[which] +=
      (uint64_t)(more->sum >> 64) + (to->of[which].sum < (uint64_t)more->sum);
  rest->missing[which] += more->missing;
  if (t->has_squares)
    pf_squares_merge(&t->squares[group * PF_DURATIONS + which], &more->squares);
  if (more->max < 0)
    return;
  update_range(t, group, which, more->min, INT64_MAX);
  update_range(t, group, which, more->max, more->max_at);
}


pf_status pf_call_sums_merge (pf_call_sums *t, size_t group,
                              const pf_call_sums *more, size_t from) {
  const size_t at = group * PF_DURATIONS, other = from * PF_DURATIONS;
  t->hot[group].rows += more->hot[from].rows;
  t->rest[group].uncounted += more->rest[from].uncounted;
  for (size_t which = 0; which < PF_DURATIONS; which++) {
    const pf_duration_sums of = pf_call_sums_duration(more, from, which);
    pf_call_sums_add_duration(t, group, which, &of);
    if (t->has_quantiles &&
        pf_quantile_merge(&t->quantiles[at + which], &t->pool, PF_INT,
                          &more->quantiles[other + which]) != PF_OK)
      return PF_ENOMEM;
  }
  return PF_OK;
}


void pf_groups_init (pf_groups *g, pf_group_by by, bool squares,
                     bool quantiles) {
  memset(g, 0, sizeof *g);
  g->by = by;
  g->sums.has_squares = squares;
  g->sums.has_quantiles = quantiles;
  g->sums.pool.max_exact = PF_EXACT_CALLS; /* whatever the number of groups */
  pf_id_table_init(&g->keys);
}


void pf_groups_free (pf_groups *g) {
  pf_call_sums *const t = &g->sums;
  for (size_t i = 0; t->quantiles != NULL && i < t->capacity * PF_DURATIONS;
       i++)
    pf_quantile_free(&t->quantiles[i]);
  for (size_t i = 0; t->buffers != NULL && i < t->capacity; i++)
    free(t->buffers[i]);
  free(t->buffers);
  free(t->states);
  free(t->memory);
  free(t->rest);
  free(t->squares);
  free(t->quantiles);
  pf_id_table_free(&g->keys);
  free(g->ids);
}


pf_status pf_groups_of_key (pf_groups *g, uint64_t key, uint32_t *group) {
  const pf_status status = pf_id_table_words(&g->keys, &key, 1, group);
  return status == PF_OK ? pf_call_sums_reserve(&g->sums, g->keys.count)
                         : status;
}


pf_status pf_groups_of_slot (pf_groups *g, pf_lanes *lanes, uint32_t slot,
                             uint32_t *group) {
  pf_slot *const of = &lanes->slots[slot];
  const uint64_t key = g->by == PF_BY_LANE ? slot : of->area;
  *group = of->group;
  if (*group == PF_NO_ID && pf_groups_of_key(g, key, group) != PF_OK)
    return PF_ENOMEM;
  of->group = *group;
  return PF_OK;
}


/* Without PF_BY_CALLER the group of a call depends only on its slot. */
static pf_status find_by_slot (pf_groups *g, pf_lanes *lanes,
                               const pf_call *calls, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (pf_groups_of_slot(g, lanes, calls[i].slot, &g->ids[i]) != PF_OK)
      return PF_ENOMEM;
  return PF_OK;
}


static pf_status find_by_caller (pf_groups *g, const pf_lanes *lanes,
                                 const pf_call *calls, size_t count) {
  for (size_t i = 0; i < count; i++) {
    const uint64_t area = lanes->slots[calls[i].slot].area;
    const uint64_t key = area << 32 | calls[i].caller;
    const size_t at = (key ^ key >> 32 ^ key >> 28) & 255;
    if (g->caller_cache[at].group == 0 || g->caller_cache[at].key != key) {
      uint32_t group;
      if (pf_groups_of_key(g, key, &group) != PF_OK)
        return PF_ENOMEM;
      g->caller_cache[at].key = key;
      g->caller_cache[at].group = group + 1;
    }
    g->ids[i] = g->caller_cache[at].group - 1;
  }
  return PF_OK;
}


pf_status pf_groups_add (pf_groups *g, pf_lanes *lanes, const pf_call *calls,
                         size_t count) {
  if (count == 0)
    return PF_OK;
  if (!pf_grow(&g->ids, &g->capacity, count))
    return PF_ENOMEM;
  const pf_status status = g->by == PF_BY_CALLER
                               ? find_by_caller(g, lanes, calls, count)
                               : find_by_slot(g, lanes, calls, count);
  return status == PF_OK ? call_sums_add(&g->sums, calls, count, g->ids)
                         : status;
}
