/*
** unfilter_put.c - writes the columns of an output row.
*/

#include <string.h>

#include "kernels/operations/unfilter_put.h"


uint32_t pf_unfilter_flags (const unfilter *self, size_t row) {
  if (self->at.flags >= self->in.ncolumns)
    return self->flag_names[0];
  const pf_column *const flags = &self->in.columns[self->at.flags];
  return pf_is_missing(flags, row) ? self->flag_names[0] : flags->ids[row];
}


static pf_column *wanted (pf_batch *out, size_t column) {
  if (column >= out->ncolumns || out->columns[column].data == NULL)
    return NULL;
  return &out->columns[column];
}


static void put_int (pf_batch *out, size_t column, size_t row, bool known,
                     int64_t value) {
  pf_column *const to = wanted(out, column);
  if (to == NULL)
    return;
  to->ints[row] = known ? value : 0;
  if (!known)
    pf_set_missing(to, row);
}


static void put_name (pf_batch *out, size_t column, size_t row, uint32_t name) {
  pf_column *const to = wanted(out, column);
  if (to == NULL)
    return;
  to->ids[row] = name == PF_NO_NAME ? 0 : name;
  if (name == PF_NO_NAME)
    pf_set_missing(to, row);
}


/* Whether pf_unfilter_put fills this column in rows that are not in the
   input. */
static bool is_filled (const out_columns *to, size_t column) {
  return column == to->thread || column == to->time || column == to->call;
}


/* Copy the columns of the input other than flags from row `from`, or set them
   missing. */
static void copy (const unfilter *self, pf_batch *out, size_t row,
                  size_t from) {
  for (size_t i = 0; i < self->copied; i++) {
    pf_column *const to = wanted(out, i);
    if (to == NULL || i == self->to.flags ||
        (from == NO_ROW && is_filled(&self->to, i)))
      continue;
    const pf_column *const source = &self->in.columns[i];
    const size_t size = pf_type_size(to->type);
    uint8_t *const place = (uint8_t *)to->data + row * size;
    if (from == NO_ROW || pf_is_missing(source, from)) {
      memset(place, 0, size);
      pf_set_missing(to, row);
    }
    else
      memcpy(place, (const uint8_t *)source->data + from * size, size);
  }
}


/* The ns between the codes of each complete pair. False when there is none. */
static bool overhead_of (const pf_open_call *frame, int64_t *overhead) {
  const bool *const seen = frame->seen;
  const int64_t *const time = frame->time;
  uint64_t sum = 0;
  if (seen[PF_CALLING] && seen[PF_ENTERED])
    sum += (uint64_t)time[PF_ENTERED] - (uint64_t)time[PF_CALLING];
  if (seen[PF_RETURNING] && seen[PF_RETURNED])
    sum += (uint64_t)time[PF_RETURNED] - (uint64_t)time[PF_RETURNING];
  *overhead = (int64_t)sum;
  return (seen[PF_CALLING] && seen[PF_ENTERED]) ||
         (seen[PF_RETURNING] && seen[PF_RETURNED]);
}


/* Write overhead and compiled of a leave. */
static void put_call (const unfilter *self, pf_batch *out, size_t row,
                      const out_row *l) {
  int64_t overhead = 0;
  const pf_open_call *const frame = l->frame;
  const bool known = frame != NULL && overhead_of(frame, &overhead);
  const bool spoke =
      frame != NULL && (frame->seen[PF_ENTERED] || frame->seen[PF_RETURNING]);
  pf_column *const compiled = wanted(out, self->to.compiled);
  put_int(out, self->to.overhead, row, known, overhead);
  if (compiled == NULL)
    return;
  compiled->bools[row] = spoke;
  if (frame == NULL)
    pf_set_missing(compiled, row);
}


/* The flags of an event as kernels/calls defines them: `gap` there ends all
   open calls before the event, so only the first event after a gap has it. */
static uint32_t event_flags (unfilter *self, const out_row *l) {
  unsigned flags = l->flags & ~(unsigned)PF_FLAG_GAP;
  if (l->flags == PF_FLAG_GAP)
    flags = PF_FLAG_UNWOUND;
  if (l->event == self->enter && self->frames.slots[l->slot].is_holder)
    flags |= PF_FLAG_LOST;
  if (self->has_gap)
    flags |= PF_FLAG_GAP;
  self->has_gap = false;
  return self->flag_names[flags];
}


/* The flags of an entry: ours merged with those of the row. */
static uint32_t entry_flags (const unfilter *self, const out_row *l) {
  const uint32_t ours = self->flag_names[l->flags];
  const uint32_t none = self->flag_names[0];
  const uint32_t given =
      l->row == NO_ROW ? none : pf_unfilter_flags(self, l->row);
  if (given == none || ours == none)
    return given == none ? ours : given;
  return pf_flags_merge(self->reader.dictionary, given, ours);
}


static bool put_flags (unfilter *self, pf_batch *out, size_t row,
                       const out_row *l) {
  const uint32_t name =
      self->copied == 0 ? event_flags(self, l) : entry_flags(self, l);
  put_name(out, self->to.flags, row,
           name == self->flag_names[0] ? PF_NO_NAME : name);
  return name != PF_NO_NAME;
}


/* The time of the row on the clock of its thread, which stops while the thread
   waits and never goes back. */
static int64_t clock_of (const unfilter *self, const out_row *l) {
  pf_call_stack *const lane = l->lane;
  if (self->frames.nidle == 0)
    return l->time;
  const int64_t time = l->time - lane->idle;
  lane->shown = time > lane->shown ? time : lane->shown;
  return lane->shown;
}


/* Copy line and params from row `from`, or set them missing. */
static void put_details (const unfilter *self, pf_batch *out, size_t row,
                         size_t from) {
  const size_t columns[2][2] = {{self->to.line, self->lines},
                                {self->to.params, self->params}};
  for (size_t i = 0; self->has_details && i < 2; i++) {
    pf_column *const to = wanted(out, columns[i][0]);
    if (to == NULL)
      continue;
    const pf_column *const source = &self->in.columns[columns[i][1]];
    const size_t size = pf_type_size(to->type);
    uint8_t *const place = (uint8_t *)to->data + row * size;
    if (from == NO_ROW || pf_is_missing(source, from)) {
      memset(place, 0, size);
      pf_set_missing(to, row);
    }
    else
      memcpy(place, (const uint8_t *)source->data + from * size, size);
  }
}


pf_status pf_unfilter_put (unfilter *self, pf_batch *out, const out_row *l,
                           pf_error *error) {
  const size_t row = out->rows++;
  const out_columns *const to = &self->to;
  copy(self, out, row, l->row);
  if (l->row == NO_ROW || self->copied == 0) {
    put_int(out, to->thread, row, l->lane->has_thread, l->lane->thread);
    put_int(out, to->time, row, true, clock_of(self, l));
    put_name(out, to->call, row, self->frames.slots[l->slot].name);
  }
  put_name(out, to->event, row, l->event);
  put_call(self, out, row, l);
  put_name(out, to->area, row, l->area);
  put_details(self, out, row, l->row);
  if (put_flags(self, out, row, l))
    return PF_OK;
  return pf_no_memory(error);
}
