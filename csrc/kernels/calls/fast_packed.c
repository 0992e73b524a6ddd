/*
** fast_packed.c - packed events straight into the tallies of their groups, by
** fast_path.h; what that leaves goes to the machine, one event at a time.
*/

#include "kernels/calls/fast_packed.h"

#include "kernels/calls/fast_path.h"

#define AHEAD 12 /* events for which slots are fetched */

typedef struct credit {
  pf_machine *machine;
  pf_groups *groups;
  pf_events *events;
  const int64_t *times;
  const uint32_t *words;
  bool has_more; /* than tallies: calls become rows of the machine first; or
                    there are no groups, and they stay that */
} credit;


bool pf_fast_path_applies (const pf_machine *m, const pf_groups *groups) {
  return groups->by != PF_BY_CALLER && !m->has_stacks && !m->is_before &&
         !m->is_behind;
}


bool pf_ends_after_range (const pf_machine *m, const pf_events *events) {
  const pf_packed *const p = &events->packed;
  return m->options.has_to && p->times[p->rows - 1] >= m->options.to;
}


/* {====== One event that is not plain ====== */

/* Count the calls that the machine has made; others of their slots can be
   counted at once then. */
static pf_status count_calls (credit *c) {
  pf_machine *const m = c->machine;
  const pf_status status =
      pf_groups_add(c->groups, &m->lanes, m->calls, m->ncalls);
  if (status != PF_OK)
    return status;
  for (size_t i = 0; i < m->ncalls; i++)
    m->lanes.slots[m->calls[i].slot].group = c->groups->numbers[i];
  m->ncalls = 0;
  return PF_OK;
}


static pf_status take_slow (credit *c, size_t row) {
  c->events->slow++;
  if (c->groups == NULL)
    return pf_events_convert(c->events, row, row + 1) == PF_OK
               ? pf_machine_process_one(c->machine, &c->events->rows, row)
               : PF_ENOMEM;
  pf_status status = count_calls(c);
  if (status == PF_OK)
    status = pf_events_convert(c->events, row, row + 1);
  if (status == PF_OK)
    status = pf_machine_process(c->machine, &c->events->rows, row, row + 1);
  return status == PF_OK ? count_calls(c) : status;
}

/* }====== */


/* {====== Events of one lane ====== */

/* Take plain events of a lane; answers how many. */
static inline __attribute__((always_inline)) size_t take_words (
    pf_machine *m, pf_groups *groups, pf_lane *lane, const uint32_t *words,
    const int64_t *times, size_t count) {
  plain_run r = begin_run(m, lane, words[0] & PF_PACKED_LANES, count);
  const uint32_t *word = words, *const end = words + count;
  if (times[0] < r.last)
    return 0;
  for (; word < end; word++, times++) {
    const uint32_t ahead = pf_packed_area(word[AHEAD]);
    __builtin_prefetch(&m->lanes.slots[slot_met(lane, ahead)], 1);
    if (!take_one(m, &r, *word, *times, groups))
      break;
  }
  end_run(m, &r);
  return (size_t)(word - words);
}


/* Both are kept apart, so that they have all registers for themselves. */
static __attribute__((noinline, nonnull)) size_t credit_words (
    pf_machine *m, pf_groups *groups, pf_lane *lane, const uint32_t *words,
    const int64_t *times, size_t count) {
  return take_words(m, groups, lane, words, times, count);
}


static __attribute__((noinline)) size_t row_words (pf_machine *m, pf_lane *lane,
                                                   const uint32_t *words,
                                                   const int64_t *times,
                                                   size_t count) {
  return take_words(m, NULL, lane, words, times, count);
}


/* Take plain events of a lane from a row on; answers where they end. */
static size_t take_run (const credit *c, pf_lane *lane, size_t from,
                        size_t rows) {
  const uint32_t *const words = c->words + from;
  const int64_t *const times = c->times + from;
  const size_t count = rows - from;
  return from + (c->has_more ? row_words(c->machine, lane, words, times, count)
                             : credit_words(c->machine, c->groups, lane, words,
                                            times, count));
}

/* }====== */


static bool same_lane (const credit *c, size_t row, size_t other) {
  return ((c->words[row] ^ c->words[other]) & PF_PACKED_LANES) == 0;
}


static pf_status take_all (credit *c, size_t first, size_t rows) {
  pf_status status = PF_OK;
  for (size_t i = first; i < rows && status == PF_OK;) {
    const size_t from = i;
    uint32_t number;
    status = pf_events_lane(c->events, from, &number);
    pf_lane *const lane =
        status == PF_OK ? pf_lane_at(&c->machine->lanes, number) : NULL;
    if (lane != NULL)
      i = take_run(c, lane, from, rows);
    if (status == PF_OK && i < rows && (lane == NULL || same_lane(c, from, i)))
      status = take_slow(c, i++);
  }
  return status;
}


pf_status pf_process_packed (pf_machine *m, pf_events *events, size_t from,
                             size_t to) {
  credit c = {.machine = m,
              .events = events,
              .times = events->packed.times,
              .words = events->packed.words,
              .has_more = true};
  pf_status status = pf_machine_reserve(m, m->open + 2 * (to - from));
  if (status == PF_OK)
    status = take_all(&c, from, to);
  return m->is_out_of_memory ? PF_ENOMEM : status;
}


pf_status pf_accumulate_packed (pf_machine *m, pf_groups *groups,
                                pf_events *events) {
  const pf_call_sums *const t = &groups->tallies;
  credit c = {.machine = m,
              .groups = groups,
              .events = events,
              .times = events->packed.times,
              .words = events->packed.words,
              .has_more = t->has_squares || t->has_quantiles};
  pf_status status = pf_machine_reserve(m, events->packed.rows);
  if (status == PF_OK)
    status = take_all(&c, 0, events->packed.rows);
  if (status == PF_OK)
    status = count_calls(&c);
  return status;
}
