/*
** durations.c - counts the calls of frames by their durations.
*/

#include "kernels/spans/durations.h"

#include <stdlib.h>

#include "kernels/base/order.h"
#include "kernels/spans/spans.h"
#include "kernels/calls/call.h"
#include "model/base/memory.h"
#include "model/base/sorts.h"

/* Calls that are counted together. */
#define PENDING (1u << 16)

enum {
  NET,
  GROSS,
  PERIOD
};


static uint64_t heat_key (uint32_t frame, uint32_t column, uint32_t bucket) {
  return (uint64_t)frame << 32 | (uint64_t)column << 16 | bucket;
}


void pf_durations_init (pf_durations *d, int64_t first, int64_t length) {
  *d = (pf_durations){
      .first = first, .length = length, .width = length / PF_HEAT_COLUMNS + 1};
  pf_id_table_init(&d->keys);
}


void pf_durations_close (pf_durations *d) {
  for (size_t i = 0; i < d->count; i++) {
    for (size_t kind = 0; kind < PF_DURATION_KINDS; kind++) {
      free(d->frames[i].histograms[kind].cells);
      pf_quantile_free(&d->frames[i].quantiles[kind]);
    }
    free(d->frames[i].cells);
  }
  free(d->frames);
  free(d->cells);
  free(d->pending);
  free(d->sorted);
  pf_id_table_free(&d->keys);
}


/* Count calls in the cells of their keys; all arrays have `count` elements. */
static bool add_to_cells (pf_durations *d, const uint64_t *keys,
                          const pf_heat_cell *calls, size_t count) {
  uint32_t *const ids = pf_array(count + 1, sizeof *ids);
  uint32_t known = d->keys.count;
  const bool ok =
      ids != NULL && pf_id_table_words(&d->keys, keys, count, ids) == PF_OK &&
      pf_grow(&d->cells, &d->cells_capacity, (size_t)d->keys.count + 1);
  for (size_t i = 0; ok && i < count; i++)
    if (ids[i] == known)
      d->cells[known++] = calls[i];
    else
      d->cells[ids[i]].count += calls[i].count;
  free(ids);
  return ok;
}


/* Make all columns twice as wide. */
static bool widen (pf_durations *d) {
  pf_durations wide = {
      .first = d->first,
      .width = (d->width <= INT64_MAX / 2 ? d->width * 2 : INT64_MAX)};
  const uint32_t count = d->keys.count;
  uint64_t *const keys = pf_array(count + 1, sizeof *keys);
  pf_id_table_init(&wide.keys);
  for (uint32_t i = 0; keys != NULL && i < count; i++) {
    const uint64_t key = d->keys.words[i];
    keys[i] = heat_key((uint32_t)(key >> 32), pf_heat_column(key) / 2,
                       pf_heat_bucket(key));
  }
  const bool ok = keys != NULL && add_to_cells(&wide, keys, d->cells, count);
  free(keys);
  free(d->cells);
  pf_id_table_free(&d->keys);
  d->keys = wide.keys;
  d->cells = wide.cells;
  d->cells_capacity = wide.cells_capacity;
  d->width = wide.width;
  return ok;
}


/* Count calls in the heat maps. */
static bool add_heat (pf_durations *d, const pf_pending_call *calls,
                      uint32_t count) {
  uint64_t *const keys = pf_array(count + 1, sizeof *keys);
  pf_heat_cell *const cells = pf_array(count + 1, sizeof *cells);
  bool ok = keys != NULL && cells != NULL;
  while (ok && d->keys.count >= PF_HEAT_CELLS && d->width <= d->length)
    ok = widen(d);
  uint32_t used = 0;
  for (uint32_t i = 0; ok && i < count; i++) {
    const pf_pending_call *const c = &calls[i];
    const int64_t since = pf_time_between(d->first, c->start);
    const int64_t column = since / d->width, last = PF_HEAT_COLUMNS - 1;
    if (c->times[GROSS] < 0)
      continue;
    keys[used] = heat_key(c->frame, (uint32_t)(column < last ? column : last),
                          pf_duration_bucket(c->times[GROSS]));
    cells[used++] = (pf_heat_cell){1, c->start, c->track};
  }
  ok = ok && add_to_cells(d, keys, cells, used);
  free(keys);
  free(cells);
  return ok;
}

/* Count a call of a frame. */
static bool count_call (pf_durations *d, pf_frame_durations *f,
                        const pf_pending_call *call) {
  for (size_t kind = 0; kind < PF_DURATION_KINDS; kind++) {
    const int64_t time = call->times[kind];
    if (time < 0)
      continue;
    f->max[kind] = time > f->max[kind] ? time : f->max[kind];
    if (!pf_duration_add(&f->histograms[kind], time, call->start,
                         call->track) ||
        pf_quantile_add(&f->quantiles[kind], &d->pool, PF_INT,
                        pf_order_int(time)) != PF_OK)
      return false;
  }
  const int64_t net = call->times[NET];
  if (net > 0)
    f->net = f->net > INT64_MAX - net ? INT64_MAX : f->net + net;
  return true;
}


/* Count the pending calls, one frame after the other: each has many arrays,
   which would not stay in the cache otherwise. */
static bool flush (pf_durations *d) {
  uint32_t *const ends = pf_array_of_zeros(d->count + 1, sizeof *ends);
  if (ends == NULL)
    return false;
  for (uint32_t i = 0; i < d->npending; i++)
    ends[d->pending[i].frame + 1]++;
  for (size_t frame = 0; frame < d->count; frame++)
    ends[frame + 1] += ends[frame];
  for (uint32_t i = 0; i < d->npending; i++)
    d->sorted[ends[d->pending[i].frame]++] = d->pending[i];
  free(ends);
  bool ok = true;
  for (uint32_t i = 0; ok && i < d->npending; i++)
    ok = count_call(d, &d->frames[d->sorted[i].frame], &d->sorted[i]);
  ok = ok && add_heat(d, d->sorted, d->npending);
  d->npending = 0;
  return ok;
}


bool pf_durations_add (pf_durations *d, uint32_t frame, const int64_t *times,
                       int64_t start, uint32_t track) {
  if (!pf_grow_filled(&d->frames, &d->capacity, (size_t)frame + 1, 0))
    return false;
  if (d->pending == NULL)
    d->pending = pf_array(PENDING, sizeof *d->pending);
  if (d->sorted == NULL)
    d->sorted = pf_array(PENDING, sizeof *d->sorted);
  if (d->pending == NULL || d->sorted == NULL)
    return false;
  d->count = frame >= d->count ? (size_t)frame + 1 : d->count;
  d->pending[d->npending++] = (pf_pending_call){
      {times[PF_NET], times[PF_GROSS], times[PF_PERIOD]}, start, frame, track};
  return d->npending < PENDING || flush(d);
}


/* Decide which quantiles are exact. */
static bool settle (pf_durations *d) {
  bool ok = true;
  for (size_t frame = 0; ok && frame < d->count; frame++)
    for (size_t kind = 0; ok && kind < PF_DURATION_KINDS; kind++)
      ok = pf_quantile_settle(&d->frames[frame].quantiles[kind], &d->pool,
                              PF_INT) == PF_OK;
  return ok;
}


bool pf_durations_finish (pf_durations *d) {
  if (!flush(d) || !settle(d))
    return false;
  const uint32_t count = d->keys.count;
  pf_pair *const pairs = pf_array(2 * (size_t)count + 1, sizeof *pairs);
  if (pairs == NULL)
    return false;
  for (uint32_t i = 0; i < count; i++)
    pairs[i] = (pf_pair){d->keys.words[i], i};
  pf_sort_pairs(pairs, pairs + count, count);
  bool ok = true;
  for (uint32_t i = 0; ok && i < count;) {
    const uint32_t frame = (uint32_t)(pairs[i].word >> 32);
    pf_frame_durations *const f = &d->frames[frame];
    uint32_t end = i;
    while (end < count && pairs[end].word >> 32 == frame)
      end++;
    f->cells = pf_array(end - i, sizeof *f->cells);
    ok = f->cells != NULL;
    for (; ok && i < end; i++)
      f->cells[f->ncells++] = (uint32_t)pairs[i].row;
  }
  free(pairs);
  return ok;
}
