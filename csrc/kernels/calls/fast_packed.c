/*
** fast_packed.c - runs the fast path over packed events, lane by lane; an event
** that it declines goes through the general path.
*/

#include "kernels/calls/fast_packed.h"

#include "kernels/calls/fast_path.h"

#define AHEAD 12 /* events of which the slots are prefetched */

typedef struct packed_run {
  pf_machine *machine;
  pf_groups *groups;
  pf_events *events;
  const int64_t *times;
  const uint32_t *words;
  bool emits_rows; /* calls become rows of the machine first: squares or
                      quantiles are wanted, or there are no groups */
} packed_run;


bool pf_fast_path_applies (const pf_machine *m, const pf_groups *groups) {
  return groups->by != PF_BY_CALLER && !m->has_stacks && !m->before_range &&
         !m->after_range;
}


bool pf_ends_after_range (const pf_machine *m, const pf_events *events) {
  const pf_packed *const p = &events->packed;
  return m->options.has_to && p->times[p->rows - 1] >= m->options.to;
}


/* {====== Events on the general path ====== */

/* Accumulate the calls that the machine has emitted, and remember the groups of
   their slots, so that the fast path can accumulate later calls of these. */
static pf_status flush_calls (packed_run *c) {
  pf_machine *const m = c->machine;
  const pf_status status =
      pf_groups_add(c->groups, &m->lanes, m->calls, m->ncalls);
  if (status != PF_OK)
    return status;
  for (size_t i = 0; i < m->ncalls; i++)
    m->lanes.slots[m->calls[i].slot].group = c->groups->ids[i];
  m->ncalls = 0;
  return PF_OK;
}


static pf_status process_general (packed_run *c, size_t row) {
  c->events->general_rows++;
  if (c->groups == NULL)
    return pf_events_convert(c->events, row, row + 1) == PF_OK
               ? pf_machine_process_one(c->machine, &c->events->rows, row)
               : PF_ENOMEM;
  pf_status status = flush_calls(c);
  if (status == PF_OK)
    status = pf_events_convert(c->events, row, row + 1);
  if (status == PF_OK)
    status = pf_machine_process(c->machine, &c->events->rows, row, row + 1);
  return status == PF_OK ? flush_calls(c) : status;
}

/* }====== */


/* {====== Events of one lane ====== */

/* Process events of one lane on the fast path. Returns how many. */
static inline __attribute__((always_inline)) size_t process_words (
    pf_machine *m, pf_groups *groups, pf_lane *lane, const uint32_t *words,
    const int64_t *times, size_t count) {
  fast_run r = begin_run(m, lane, words[0] & PF_PACKED_LANES, count);
  const uint32_t *word = words, *const end = words + count;
  if (times[0] < r.last)
    return 0;
  for (; word < end; word++, times++) {
    const uint32_t ahead = pf_packed_area(word[AHEAD]);
    __builtin_prefetch(&m->lanes.slots[known_slot(lane, ahead)], 1);
    if (!process_fast(m, &r, *word, *times, groups))
      break;
  }
  end_run(m, &r);
  return (size_t)(word - words);
}


/* Two functions instead of one, so that each can use all registers. */
static __attribute__((noinline, nonnull)) size_t accumulate_words (
    pf_machine *m, pf_groups *groups, pf_lane *lane, const uint32_t *words,
    const int64_t *times, size_t count) {
  return process_words(m, groups, lane, words, times, count);
}


static __attribute__((noinline)) size_t emit_words (pf_machine *m,
                                                    pf_lane *lane,
                                                    const uint32_t *words,
                                                    const int64_t *times,
                                                    size_t count) {
  return process_words(m, NULL, lane, words, times, count);
}


/* Process events of one lane on the fast path, from a row on. Returns the first
   row that it declines. */
static size_t process_run (const packed_run *c, pf_lane *lane, size_t from,
                           size_t rows) {
  const uint32_t *const words = c->words + from;
  const int64_t *const times = c->times + from;
  const size_t count = rows - from;
  return from + (c->emits_rows
                     ? emit_words(c->machine, lane, words, times, count)
                     : accumulate_words(c->machine, c->groups, lane, words,
                                        times, count));
}

/* }====== */


static bool same_lane (const packed_run *c, size_t row, size_t other) {
  return ((c->words[row] ^ c->words[other]) & PF_PACKED_LANES) == 0;
}


static pf_status process_all (packed_run *c, size_t first, size_t rows) {
  pf_status status = PF_OK;
  for (size_t i = first; i < rows && status == PF_OK;) {
    const size_t from = i;
    uint32_t number;
    status = pf_events_lane(c->events, from, &number);
    pf_lane *const lane =
        status == PF_OK ? pf_lane_at(&c->machine->lanes, number) : NULL;
    if (lane != NULL)
      i = process_run(c, lane, from, rows);
    if (status == PF_OK && i < rows && (lane == NULL || same_lane(c, from, i)))
      status = process_general(c, i++);
  }
  return status;
}


pf_status pf_process_packed (pf_machine *m, pf_events *events, size_t from,
                             size_t to) {
  packed_run c = {.machine = m,
                  .events = events,
                  .times = events->packed.times,
                  .words = events->packed.words,
                  .emits_rows = true};
  pf_status status = pf_machine_reserve(m, m->open + 2 * (to - from));
  if (status == PF_OK)
    status = process_all(&c, from, to);
  return m->is_out_of_memory ? PF_ENOMEM : status;
}


pf_status pf_accumulate_packed (pf_machine *m, pf_groups *groups,
                                pf_events *events) {
  const pf_call_sums *const t = &groups->sums;
  packed_run c = {.machine = m,
                  .groups = groups,
                  .events = events,
                  .times = events->packed.times,
                  .words = events->packed.words,
                  .emits_rows = t->has_squares || t->has_quantiles};
  pf_status status = pf_machine_reserve(m, events->packed.rows);
  if (status == PF_OK)
    status = process_all(&c, 0, events->packed.rows);
  if (status == PF_OK)
    status = flush_calls(&c);
  return status;
}
