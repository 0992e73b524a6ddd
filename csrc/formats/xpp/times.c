/*
** times.c - the rules for times of entries.
**
** The clock counts ms in 32 bits and wraps after 49 days. A time that is
** earlier than the one before by more than half of this range is a wrap, and
** 2^32 ms are added from then on. Any other decrease within a thread begins a
** new run in the same file if it leads into the first half of the time range of
** the current run; else rows or packets are in the wrong order, which is a
** warning.
*/

#include "formats/xpp/times.h"
#include "model/base/memory.h"

#include <stdlib.h>
#include <string.h>


void xpp_times_open (xpp_times *self, uint64_t seed) {
  *self = (xpp_times){
      .known = {.seed = seed}, .run_min = INT64_MAX, .run_max = INT64_MIN};
}


void xpp_times_close (xpp_times *self) {
  pf_intern_table_free(&self->known);
  free(self->threads);
}


static bool is_thread (const void *context, uint32_t number) {
  const xpp_times *const self = context;
  return self->threads[number].thread ==
         self->threads[self->known.count].thread;
}


/* The index of a thread; PF_NOT_INTERNED when out of memory. The slot after the
   last thread holds the key of the search. */
static uint32_t thread_number (xpp_times *self, int64_t thread) {
  pf_intern_table *const known = &self->known;
  if (self->last_thread < known->count &&
      self->threads[self->last_thread].thread == thread)
    return self->last_thread;
  if (!pf_intern_table_reserve(known) ||
      !pf_grow(&self->threads, &self->capacity, (size_t)known->count + 1))
    return PF_NOT_INTERNED;
  self->threads[known->count] = (xpp_thread_time){thread, INT64_MIN};
  const uint64_t hash = pf_mix(known->seed, (uint64_t)thread);
  uint32_t number = pf_intern_table_find(known, hash, is_thread, self);
  if (number == PF_NOT_INTERNED)
    number = pf_intern_table_add(known, hash);
  return self->last_thread = number;
}


/* Adds wrap_offset to the time of a row, and detects a wrap. */
static pf_status unwrap (xpp_times *self, const xpp_rows *rows, pf_column *time,
                         size_t row, pf_error *error) {
  const int64_t range = XPP_CLOCK_RANGE * XPP_NS_PER_MS;
  int64_t now = time->ints[row];
  pf_status status = PF_OK;
  if (__builtin_add_overflow(now, self->wrap_offset, &now))
    now = time->ints[row];
  if (self->has_last && now < self->last && self->last - now > range / 2 &&
      now <= INT64_MAX - range) {
    status =
        pf_warn(rows->parser.trace, PF_NOTE, "xpp-clock-wrapped", PF_EFORMAT,
                xpp_row_offset(rows, row), error,
                "the 32-bit clock has wrapped: 2^32 ms are added from here on");
    self->wrap_offset += range;
    now += range;
  }
  time->ints[row] = now;
  self->last = now;
  self->has_last = true;
  return status;
}


/* Begins a new run with a row: all threads start again. */
static pf_status begin_run (xpp_times *self, const xpp_rows *rows, int64_t time,
                            size_t row, pf_error *error) {
  const int64_t before = self->run_max;
  for (uint32_t i = 0; i < self->known.count; i++)
    self->threads[i].time = INT64_MIN;
  self->run_min = self->run_max = time;
  self->has_run_starts = true;
  self->run_starts[row >> 6] |= (uint64_t)1 << (row & 63);
  return pf_warn(
      rows->parser.trace, PF_NOTE, "xpp-run-begins", PF_EFORMAT,
      xpp_row_offset(rows, row), error,
      "time starts again at %lld ms, after %lld ms: another run begins here",
      (long long)(time / XPP_NS_PER_MS), (long long)(before / XPP_NS_PER_MS));
}


/* Returns true if a decrease to `time` leads into the first half of the run. */
static bool starts_again (const xpp_times *self, int64_t time) {
  const uint64_t taken = (uint64_t)self->run_max - (uint64_t)self->run_min;
  return time <= self->run_min ||
         (uint64_t)time - (uint64_t)self->run_min <= taken / 2;
}


/* Extends the time range of the run. */
static void extend_run (xpp_times *self, int64_t time) {
  self->run_min = time < self->run_min ? time : self->run_min;
  self->run_max = time > self->run_max ? time : self->run_max;
}


/* Compares the time of a row with the last one of its thread. */
static pf_status check_time (xpp_times *self, const xpp_rows *rows,
                             int64_t thread_numbers, const pf_column *time,
                             size_t row, pf_error *error) {
  const uint32_t number = thread_number(self, thread_numbers);
  if (number == PF_NOT_INTERNED)
    return pf_no_memory(error);
  xpp_thread_time *const thread = &self->threads[number];
  const int64_t before = thread->time, now = time->ints[row];
  if (now < before && starts_again(self, now)) {
    const pf_status status = begin_run(self, rows, now, row, error);
    thread->time = now;
    return status;
  }
  thread->time = now;
  extend_run(self, now);
  if (now >= before)
    return PF_OK;
  return pf_warn(rows->parser.trace, PF_DAMAGE, "xpp-time-back", PF_EFORMAT,
                 xpp_row_offset(rows, row), error,
                 "a time of %lld ms or later expected in thread %lld, found "
                 "%lld ms",
                 (long long)(before / XPP_NS_PER_MS), (long long)thread->thread,
                 (long long)(time->ints[row] / XPP_NS_PER_MS));
}


/* Counts the rows from `row` on that belong to the thread of the last row and
   do not decrease, so that no check is needed. */
static size_t count_in_order (xpp_times *self, const int64_t *threads,
                              const pf_column *time, size_t row, size_t count) {
  if (time->has_missing || self->wrap_offset != 0 || !self->has_last ||
      self->last_thread >= self->known.count)
    return 0;
  xpp_thread_time *const thread = &self->threads[self->last_thread];
  const int64_t *const times = time->ints;
  const size_t first = row;
  int64_t last = self->last > thread->time ? self->last : thread->time;
  for (; row < count && threads[row] == thread->thread && times[row] >= last;
       row++)
    last = times[row];
  if (row > first) {
    self->last = thread->time = last;
    extend_run(self, last);
  }
  return row - first;
}


pf_status xpp_times_update (xpp_times *self, const xpp_rows *rows,
                            const int64_t *threads, pf_column *time,
                            pf_error *error) {
  const size_t count = rows->batch.rows;
  pf_status status = PF_OK;
  if (self->has_run_starts)
    memset(self->run_starts, 0, sizeof self->run_starts);
  self->has_run_starts = false;
  for (size_t row = 0; row < count && status == PF_OK; row++) {
    row += count_in_order(self, threads, time, row, count);
    if (row == count || pf_is_missing(time, row))
      continue;
    status = unwrap(self, rows, time, row, error);
    if (status == PF_OK)
      status = check_time(self, rows, threads[row], time, row, error);
  }
  return status;
}
