/*
** call_sums.c - one pass over the calls for the sums, and one more for each thing
** that not everybody wants.
*/

#include "kernels/calls/call_sums.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/order.h"

#define LINE  64 /* bytes of a cache */
#define AHEAD 12 /* calls for which tallies are fetched */

#define FEW_CALLS 32 /* of a group that has no stage */

#define STAGED_LENGTHS                        \
  (sizeof((pf_duration_buffer *)0)->lengths / \
   sizeof((pf_duration_buffer *)0)->lengths[0])

static const pf_hot_sums nothing = {0,
                                    {{0, INT64_MAX, 0},
                                     {0, INT64_MAX, 0},
                                     {0, INT64_MAX, 0},
                                     {0, INT64_MAX, 0},
                                     {0, INT64_MAX, 0}}};


void pf_call_sums_init (pf_call_sums *t, bool squares, bool quantiles) {
  memset(t, 0, sizeof *t);
  t->has_squares = squares;
  t->has_quantiles = quantiles;
  t->pool.most = PF_EXACT_CALLS; /* so that it does not depend on others */
}


void pf_call_sums_free (pf_call_sums *t) {
  for (size_t i = 0; t->quantiles != NULL && i < t->room * PF_DURATIONS; i++)
    pf_quantile_free(&t->quantiles[i]);
  for (size_t i = 0; t->stages != NULL && i < t->room; i++)
    free(t->stages[i]);
  free(t->stages);
  free(t->staged);
  free(t->memory);
  free(t->rest);
  free(t->squares);
  free(t->quantiles);
  *t = (pf_call_sums){0};
}


/* {====== Growing ====== */

/* Make the array behind `array` hold `room` things, the new ones zeros. */
static bool widen (void **array, size_t old_room, size_t room, size_t size) {
  uint8_t *const grown = realloc(*array, room * size);
  if (grown == NULL)
    return false;
  memset(grown + old_room * size, 0, (room - old_room) * size);
  *array = grown;
  return true;
}


/* The same for the hot part, which begins with a line of the cache. */
static bool widen_hot (pf_call_sums *t, size_t room) {
  uint8_t *const memory = malloc(room * sizeof *t->hot + LINE);
  if (memory == NULL)
    return false;
  pf_hot_sums *const hot =
      (pf_hot_sums *)(void *)(memory + (LINE - (uintptr_t)memory % LINE));
  if (t->room > 0)
    memcpy(hot, t->hot, t->room * sizeof *hot);
  for (size_t i = t->room; i < room; i++)
    hot[i] = nothing;
  free(t->memory);
  t->memory = memory;
  t->hot = hot;
  return true;
}


static bool widen_rest (pf_call_sums *t, size_t room) {
  void *rest = t->rest;
  const bool ok = widen(&rest, t->room, room, sizeof *t->rest);
  t->rest = rest;
  for (size_t i = t->room; ok && i < room; i++)
    for (size_t which = 0; which < PF_DURATIONS; which++)
      t->rest[i].greatest[which] = -1;
  return ok;
}


/* The same for what only some want. */
static bool widen_wanted (pf_call_sums *t, size_t room) {
  void *squares = t->squares, *quantiles = t->quantiles;
  void *stages = t->stages, *staged = t->staged;
  bool ok = true;
  if (t->has_squares)
    ok = widen(&squares, t->room, room, PF_DURATIONS * sizeof *t->squares);
  t->squares = squares;
  if (!t->has_quantiles)
    return ok;
  ok = ok && widen(&staged, t->room, room, sizeof *t->staged);
  t->staged = staged;
  ok = ok && widen(&stages, t->room, room, sizeof *t->stages);
  t->stages = stages;
  ok = ok &&
       widen(&quantiles, t->room, room, PF_DURATIONS * sizeof *t->quantiles);
  t->quantiles = quantiles;
  return ok;
}


pf_status pf_call_sums_reserve (pf_call_sums *t, size_t count) {
  if (count > t->count)
    t->count = count;
  if (count <= t->room)
    return PF_OK;
  size_t room = t->room == 0 ? 64 : t->room;
  while (room < count)
    room *= 2;
  if (!widen_rest(t, room) || !widen_wanted(t, room) || !widen_hot(t, room))
    return PF_ENOMEM;
  t->room = room;
  return PF_OK;
}

/* }====== */


/* {====== Adding ====== */

/* A length may be the least or the greatest, or as great as that was. */
static void stretch (pf_call_sums *t, size_t group, size_t which,
                     int64_t length, int64_t start) {
  pf_cold_sums *const rest = &t->rest[group];
  pf_hot_sums *const hot = &t->hot[group];
  const int64_t greatest = rest->greatest[which];
  if (length < hot->of[which].least)
    hot->of[which].least = length;
  if (which < PF_WORST &&
      (length > greatest ||
       (length == greatest && start < rest->worst_at[which])))
    rest->worst_at[which] = start;
  if (length > greatest)
    rest->greatest[which] = length;
  hot->of[which].reach =
      (uint64_t)rest->greatest[which] - (uint64_t)hot->of[which].least;
}


static inline void add_length (pf_call_sums *t, size_t group, size_t which,
                               int64_t length, int64_t start) {
  const pf_hot_sums *const hot = &t->hot[group];
  pf_duration_sum(t, group, which, (uint64_t)length);
  if (!pf_duration_in_range(hot, which, (uint64_t)length))
    stretch(t, group, which, length, start);
}


static void add_squares (pf_call_sums *t, size_t group,
                         const int64_t *lengths) {
  pf_squares *const squares = &t->squares[group * PF_DURATIONS];
  for (size_t which = 0; which < PF_DURATIONS; which++)
    if (lengths[which] >= 0)
      pf_squares_add(&squares[which], (uint64_t)lengths[which]);
}


/* Put the lengths that are staged of a group into its quantiles. */
static pf_status flush_lengths (pf_call_sums *t, size_t group) {
  const pf_duration_buffer *const stage = t->stages[group];
  pf_quantile *const of = &t->quantiles[group * PF_DURATIONS];
  size_t sketched = 0;
  for (size_t which = 0; which < PF_DURATIONS; which++) {
    for (size_t i = 0; i < t->staged[group].count; i++)
      if (stage->lengths[i][which] >= 0 &&
          pf_quantile_add(&of[which], &t->pool, PF_INT,
                          pf_order_int(stage->lengths[i][which])) != PF_OK)
        return PF_ENOMEM;
    sketched += of[which].sketched;
  }
  t->staged[group] = (pf_buffer_state){0, sketched == PF_DURATIONS};
  return PF_OK;
}


/* The counters of a group will be added to: have them ready. */
static void fetch_counters (const pf_call_sums *t, size_t group) {
  const pf_hot_sums *const hot = &t->hot[group];
  for (size_t which = 0; which < PF_DURATIONS; which++)
    if (t->rest[group].greatest[which] >= 0)
      pf_quantile_prefetch(&t->quantiles[group * PF_DURATIONS + which],
                           pf_quantile_code(hot->of[which].least),
                           pf_quantile_code(t->rest[group].greatest[which]));
}


/* The same for codes. */
static pf_status flush_codes (pf_call_sums *t, size_t group) {
  const pf_duration_buffer *const stage = t->stages[group];
  const size_t count = t->staged[group].count;
  fetch_counters(t, group);
  t->staged[group].count = 0;
  for (size_t which = 0; which < PF_DURATIONS; which++)
    if (pf_quantile_add_codes(&t->quantiles[group * PF_DURATIONS + which],
                              &stage->codes[0][which], 8, count) != PF_OK)
      return PF_ENOMEM;
  return PF_OK;
}


static pf_status flush (pf_call_sums *t, size_t group) {
  return t->staged[group].are_codes ? flush_codes(t, group)
                                    : flush_lengths(t, group);
}


/* Sketches have seen codes only: the tallies know the ends. */
static void bound (pf_call_sums *t, size_t group) {
  pf_quantile *const of = &t->quantiles[group * PF_DURATIONS];
  for (size_t which = 0; which < PF_DURATIONS; which++)
    if (of[which].sketched)
      pf_quantile_set_range(&of[which],
                            pf_order_int(t->hot[group].of[which].least),
                            pf_order_int(t->rest[group].greatest[which]));
}


pf_status pf_call_sums_flush (pf_call_sums *t) {
  for (size_t group = 0; t->has_quantiles && group < t->count; group++) {
    if (t->staged[group].count > 0 && flush(t, group) != PF_OK)
      return PF_ENOMEM;
    bound(t, group);
  }
  return PF_OK;
}


/* Of a group with few calls: each at once. */
static pf_status add_at_once (pf_call_sums *t, size_t group,
                              const int64_t *lengths) {
  pf_quantile *const of = &t->quantiles[group * PF_DURATIONS];
  for (size_t which = 0; which < PF_DURATIONS; which++)
    if (lengths[which] >= 0 &&
        pf_quantile_add(&of[which], &t->pool, PF_INT,
                        pf_order_int(lengths[which])) != PF_OK)
      return PF_ENOMEM;
  return PF_OK;
}


/* Wait until there are many. */
static inline pf_status add_staged (pf_call_sums *t, size_t group,
                                    const int64_t *lengths) {
  pf_buffer_state *const staged = &t->staged[group];
  pf_duration_buffer *const stage = t->stages[group];
  const size_t at = staged->count++;
  if (!staged->are_codes) {
    memcpy(stage->lengths[at], lengths, sizeof stage->lengths[at]);
    return at + 1 == STAGED_LENGTHS ? flush_lengths(t, group) : PF_OK;
  }
  uint16_t *const codes = stage->codes[at];
  codes[PF_NET] = pf_quantile_code(lengths[PF_NET]);
  codes[PF_GROSS] = pf_quantile_code(lengths[PF_GROSS]);
  codes[PF_CALL] = pf_quantile_code(lengths[PF_CALL]);
  codes[PF_PERIOD] = pf_quantile_code(lengths[PF_PERIOD]);
  codes[PF_OUTSIDE] = pf_quantile_code(lengths[PF_OUTSIDE]);
  return at + 1 == PF_BUFFERED_CALLS ? flush_codes(t, group) : PF_OK;
}


/* A stage, once a group has many calls. */
static inline bool has_stage (pf_call_sums *t, size_t group) {
  if (t->stages[group] == NULL && t->hot[group].rows > FEW_CALLS)
    t->stages[group] = malloc(sizeof **t->stages);
  return t->stages[group] != NULL;
}


/* A stage will soon be added to: have its line ready. */
static inline void fetch_stage (const pf_call_sums *t, size_t group) {
  const pf_duration_buffer *const stage = t->stages[group];
  const pf_buffer_state staged = t->staged[group];
  if (stage != NULL)
    __builtin_prefetch(staged.are_codes
                           ? (const void *)stage->codes[staged.count]
                           : (const void *)stage->lengths[staged.count],
                       1);
}


static pf_status add_quantiles (pf_call_sums *t, size_t group,
                                const int64_t *lengths) {
  return has_stage(t, group) ? add_staged(t, group, lengths)
                             : add_at_once(t, group, lengths);
}


static void add_lengths (pf_call_sums *t, size_t group, const pf_call *call) {
  t->hot[group].rows++;
  for (size_t which = 0; which < PF_DURATIONS; which++)
    if (call->lengths[which] >= 0)
      add_length(t, group, which, call->lengths[which], call->start);
    else
      t->rest[group].absent[which]++;
  if (call->count == 0)
    t->rest[group].uncounted++;
}


/* Most calls change sums only. */
static inline pf_status add_call (pf_call_sums *t, size_t group,
                                  const pf_call *call) {
  const int64_t *const of = call->lengths;
  const pf_durations lengths = {(uint64_t)of[PF_NET], (uint64_t)of[PF_GROSS],
                                (uint64_t)of[PF_CALL], (uint64_t)of[PF_PERIOD],
                                (uint64_t)of[PF_OUTSIDE]};
  if (call->count == 0 || !pf_call_sums_try_add(t, group, lengths))
    add_lengths(t, group, call);
  if (t->has_squares)
    add_squares(t, group, call->lengths);
  return t->has_quantiles ? add_quantiles(t, group, call->lengths) : PF_OK;
}


pf_status pf_call_sums_add (pf_call_sums *t, const pf_call *calls, size_t count,
                            const uint32_t *groups) {
  pf_status status = PF_OK;
  for (size_t i = 0; i < count && status == PF_OK; i++) {
    if (i + AHEAD < count) {
      pf_call_sums_prefetch(t, groups[i + AHEAD]);
      if (t->has_quantiles)
        fetch_stage(t, groups[i + AHEAD]);
    }
    status = add_call(t, groups[i], &calls[i]);
  }
  return status;
}

/* }====== */


/* {====== Merging ====== */

pf_status pf_call_sums_supply (pf_call_sums *t, size_t group, size_t which,
                               int64_t length) {
  const size_t at = group * PF_DURATIONS + which;
  if (length < 0)
    return PF_OK;
  add_length(t, group, which, length, INT64_MAX);
  t->rest[group].absent[which]--;
  if (t->has_squares)
    pf_squares_add(&t->squares[at], (uint64_t)length);
  return t->has_quantiles ? pf_quantile_add(&t->quantiles[at], &t->pool, PF_INT,
                                            pf_order_int(length))
                          : PF_OK;
}


void pf_call_sums_clear (pf_call_sums *t, size_t group, size_t which) {
  const size_t at = group * PF_DURATIONS + which;
  t->hot[group].of[which].sum = 0;
  t->hot[group].of[which].least = INT64_MAX;
  t->hot[group].of[which].reach = 0;
  t->rest[group].greatest[which] = -1;
  t->rest[group].absent[which] = t->hot[group].rows;
  t->rest[group].wraps[which] = 0;
  if (t->has_squares)
    t->squares[at] = (pf_squares){{0, 0, 0}};
  if (t->has_quantiles)
    pf_quantile_free(&t->quantiles[at]);
}


static void merge_length (pf_call_sums *t, size_t group,
                          const pf_call_sums *more, size_t from, size_t which) {
  pf_hot_sums *const to = &t->hot[group];
  pf_cold_sums *const rest = &t->rest[group];
  const pf_hot_sums *const other = &more->hot[from];
  const pf_cold_sums *const other_rest = &more->rest[from];
  to->of[which].sum += other->of[which].sum;
  rest->wraps[which] +=
      other_rest->wraps[which] + (to->of[which].sum < other->of[which].sum);
  rest->absent[which] += other_rest->absent[which];
  if (other_rest->greatest[which] < 0)
    return;
  stretch(t, group, which, other->of[which].least, INT64_MAX);
  stretch(t, group, which, other_rest->greatest[which],
          which < PF_WORST ? other_rest->worst_at[which] : 0);
}


pf_status pf_call_sums_merge (pf_call_sums *t, size_t group,
                              const pf_call_sums *more, size_t from) {
  const size_t at = group * PF_DURATIONS, other = from * PF_DURATIONS;
  t->hot[group].rows += more->hot[from].rows;
  t->rest[group].uncounted += more->rest[from].uncounted;
  for (size_t which = 0; which < PF_DURATIONS; which++) {
    merge_length(t, group, more, from, which);
    if (t->has_squares)
      pf_squares_merge(&t->squares[at + which], &more->squares[other + which]);
    if (t->has_quantiles &&
        pf_quantile_merge(&t->quantiles[at + which], &t->pool, PF_INT,
                          &more->quantiles[other + which]) != PF_OK)
      return PF_ENOMEM;
  }
  return PF_OK;
}

/* }====== */
