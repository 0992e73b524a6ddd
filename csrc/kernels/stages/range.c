/*
** range.c - finds the first row of a range of times, if the input can seek;
** then filters.
**
** Each step of the search reads a batch: first in steps that double
** (exponential search), because the number of rows is unknown, then by binary
** search between the last row that is too early and the first that is not.
*/

#include "kernels/stages/stages.h"
#include "model/rows/table_reader.h"

typedef struct range_reader {
  pf_reader reader;
  pf_batch probe; /* for the search: only the times */
  size_t time;
  int64_t first, last;
  bool started; /* the first row has been searched */
  bool ordered; /* the input can seek, and all rows so far were sorted */
  bool ended;
  int64_t latest; /* the time of the row before */
} range_reader;

/* State of the search: all rows before `low` are too early, those from `high`
   on are not. */
typedef struct span {
  uint64_t low, high;
  bool found; /* the first row is at most a batch after `low` */
} span;


/* Narrow the search by a batch that is read at `row`. */
static pf_status narrow (range_reader *r, span *s, uint64_t row,
                         pf_error *error) {
  pf_reader *const input = r->reader.input;
  pf_status status = input->can->seek(input, row, error);
  if (status < 0)
    return status;
  status = input->next(input, &r->probe, error);
  if (status < 0)
    return status;
  const int64_t *const times = r->probe.columns[r->time].ints;
  const size_t count = status == PF_MORE ? r->probe.rows : 0;
  r->ordered &= count == 0 || !r->probe.columns[r->time].has_missing;
  for (size_t i = 1; i < count; i++)
    r->ordered &= times[i - 1] <= times[i];
  if (!r->ordered)
    return PF_OK;
  if (count == 0 || times[0] >= r->first)
    s->high = row;
  else if (times[count - 1] < r->first)
    s->low = row + count;
  else {
    s->low = row;
    s->found = true;
  }
  return PF_OK;
}


/* Seek to a row at most one batch before the first one of the range; to row 0
   if rows are not sorted. */
static pf_status search (range_reader *r, pf_error *error) {
  span s = {0, UINT64_MAX, false};
  uint64_t step = 0;
  pf_status status = PF_OK;
  while (status == PF_OK && r->ordered && !s.found && s.high == UINT64_MAX &&
         step < UINT64_MAX / 4) {
    status = narrow(r, &s, s.low + step, error);
    step = step == 0 ? PF_BATCH_ROWS : 2 * step;
  }
  while (status == PF_OK && r->ordered && !s.found &&
         s.high > s.low + PF_BATCH_ROWS)
    status = narrow(r, &s, s.low + (s.high - s.low) / 2, error);
  if (status != PF_OK)
    return status;
  return r->reader.input->can->seek(r->reader.input, r->ordered ? s.low : 0,
                                    error);
}


static pf_status start_reading (range_reader *r, pf_error *error) {
  r->started = true;
  if (pf_can(r->reader.input)->seek == NULL ||
      r->reader.fields[r->time].type != PF_INT)
    return PF_OK;
  r->ordered = true;
  bool *const wanted = calloc(r->reader.input->nfields + 1, sizeof *wanted);
  if (wanted == NULL)
    return pf_no_memory(error);
  wanted[r->time] = true;
  pf_status status = pf_batch_for(&r->probe, r->reader.input, wanted);
  free(wanted);
  if (status != PF_OK)
    return pf_no_memory(error);
  status = search(r, error);
  pf_batch_close(&r->probe);
  return status;
}


/* Keep the rows in the range. Returns whether a row after it was seen. */
static bool keep_rows (range_reader *r, pf_batch *batch) {
  const pf_column *const column = &batch->columns[r->time];
  uint16_t keep[PF_BATCH_ROWS];
  size_t count = 0;
  bool after = false;
  for (size_t i = 0; i < batch->rows; i++) {
    if (pf_is_missing(column, i))
      continue;
    const int64_t time = column->ints[i];
    r->ordered &= time >= r->latest;
    r->latest = time;
    after |= time > r->last;
    keep[count] = (uint16_t)i;
    count += time >= r->first && time <= r->last;
  }
  if (count < batch->rows)
    pf_batch_keep(batch, keep, count);
  return after;
}


static pf_status range_next (pf_reader *self, pf_batch *batch,
                             pf_error *error) {
  range_reader *const r = (range_reader *)(void *)self;
  pf_batch_clear(batch);
  pf_status status = r->started ? PF_OK : start_reading(r, error);
  if (status != PF_OK)
    return status;
  while (!r->ended) {
    status = self->input->next(self->input, batch, error);
    if (status != PF_MORE)
      return status;
    r->ended = keep_rows(r, batch) && r->ordered;
    if (batch->rows > 0)
      return PF_MORE;
  }
  return PF_END;
}


static void range_want (pf_reader *self, bool *wanted) {
  range_reader *const r = (range_reader *)(void *)self;
  wanted[r->time] = true;
  pf_stage_want(self, wanted);
}


static void range_close (pf_reader *self) {
  range_reader *const r = (range_reader *)(void *)self;
  pf_batch_close(&r->probe);
  free(r);
}


pf_status pf_range_open (pf_reader *input, size_t time, int64_t first,
                         int64_t last, pf_reader **reader, pf_error *error) {
  range_reader *const r = pf_stage_new(sizeof *r, input, range_next, error);
  if (r == NULL)
    return PF_ENOMEM;
  r->reader.want = range_want;
  r->reader.close = range_close;
  r->time = time;
  r->first = first;
  r->last = last;
  r->latest = INT64_MIN;
  *reader = &r->reader;
  return PF_OK;
}
