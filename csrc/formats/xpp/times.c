/*
** times.c - the rules for times of entries.
**
** The clock counts ms in 32 bits and wraps after 49 days. A time that is
** earlier than the one before by more than half of this range is a wrap, and
** 2^32 ms are added from then on. Any other decrease within a thread begins a
** new run in the same file if it leads into the first half of the time range of
** the current run; else rows or packets are in wrong order: a warning.
*/

#include "formats/xpp/times.h"
#include "model/base/memory.h"

#include <stdlib.h>
#include <string.h>


void xpp_times_open (xpp_times *self) {
  *self = (xpp_times){
      .last = INT64_MIN, .run_min = INT64_MAX, .run_max = INT64_MIN};
  pf_id_table_init(&self->threads);
}


void xpp_times_close (xpp_times *self) {
  pf_id_table_free(&self->threads);
  free(self->last_times);
}


/* Finds the id of the thread of a row. Returns false when out of memory. */
static bool find_thread (xpp_times *self, int64_t thread) {
  const uint32_t known = self->threads.count;
  const uint64_t word = (uint64_t)thread;
  if (self->last_thread < known &&
      self->threads.words[self->last_thread] == word)
    return true;
  if (!pf_grow(&self->last_times, &self->capacity, (size_t)known + 1))
    return false;
  self->last_times[known] = INT64_MIN;
  return pf_id_table_words(&self->threads, &word, 1, &self->last_thread) ==
         PF_OK;
}


/* Adds wrap_offset to the time of a row, and detects a wrap. */
static pf_status unwrap (xpp_times *self, const xpp_rows *rows, pf_column *time,
                         size_t row, pf_error *error) {
  const int64_t range = XPP_CLOCK_RANGE * XPP_NS_PER_MS;
  int64_t now = time->ints[row];
  pf_status status = PF_OK;
  if (__builtin_add_overflow(now, self->wrap_offset, &now))
    now = time->ints[row];
  if (now < self->last &&
      (uint64_t)self->last - (uint64_t)now > (uint64_t)range / 2 &&
      now <= INT64_MAX - range && self->wrap_offset <= INT64_MAX - range) {
    status =
        pf_warn(rows->parser.trace, PF_NOTE, "xpp-clock-wrapped", PF_EFORMAT,
                xpp_row_offset(rows, row), error,
                "the 32-bit clock has wrapped: 2^32 ms are added from here on");
    self->wrap_offset += range;
    now += range;
  }
  time->ints[row] = now;
  self->last = now;
  return status;
}


/* Compares the time of a row with the last one of its thread. In a new run all
   threads start again. */
static pf_status check_time (xpp_times *self, const xpp_rows *rows,
                             int64_t thread, int64_t now, size_t row,
                             pf_error *error) {
  if (!find_thread(self, thread))
    return pf_no_memory(error);
  const int64_t before = self->last_times[self->last_thread];
  const int64_t min = self->run_min, max = self->run_max;
  const bool begins_run =
      now < before && (now <= min || (uint64_t)now - (uint64_t)min <=
                                         ((uint64_t)max - (uint64_t)min) / 2);
  if (begins_run) {
    for (uint32_t i = 0; i < self->threads.count; i++)
      self->last_times[i] = INT64_MIN;
    self->run_min = self->run_max = now;
    self->has_run_starts = true;
    self->run_starts[row >> 6] |= (uint64_t)1 << (row & 63);
  }
  self->last_times[self->last_thread] = now;
  self->run_min = now < self->run_min ? now : self->run_min;
  self->run_max = now > self->run_max ? now : self->run_max;
  if (now >= before)
    return PF_OK;
  if (begins_run)
    return pf_warn(
        rows->parser.trace, PF_NOTE, "xpp-run-begins", PF_EFORMAT,
        xpp_row_offset(rows, row), error,
        "time starts again at %lld ms, after %lld ms: another run begins here",
        (long long)(now / XPP_NS_PER_MS), (long long)(max / XPP_NS_PER_MS));
  return pf_warn(rows->parser.trace, PF_DAMAGE, "xpp-time-back", PF_EFORMAT,
                 xpp_row_offset(rows, row), error,
                 "a time of %lld ms or later expected in thread %lld, found "
                 "%lld ms",
                 (long long)(before / XPP_NS_PER_MS), (long long)thread,
                 (long long)(now / XPP_NS_PER_MS));
}


/* Passes over rows from `row` on that need no correction and change no other
   thread: their thread is that of the row before, and time does not decrease.
   Returns the row after them. */
static size_t pass_usual (xpp_times *self, const int64_t *threads,
                          const pf_column *time, size_t row, size_t count) {
  if (self->threads.count == 0 || self->wrap_offset != 0 || time->has_missing)
    return row;
  int64_t *const before = &self->last_times[self->last_thread];
  const int64_t thread = (int64_t)self->threads.words[self->last_thread];
  const int64_t *const times = time->ints;
  int64_t last = *before;
  if (last < self->last || last < self->run_min)
    return row;
  for (; row < count && threads[row] == thread && times[row] >= last; row++)
    last = times[row];
  *before = self->last = last;
  self->run_max = last > self->run_max ? last : self->run_max;
  return row;
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
    row = pass_usual(self, threads, time, row, count);
    if (row == count || pf_is_missing(time, row))
      continue;
    status = unwrap(self, rows, time, row, error);
    if (status == PF_OK)
      status =
          check_time(self, rows, threads[row], time->ints[row], row, error);
  }
  return status;
}
