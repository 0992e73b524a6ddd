/*
** open_spans.c - keeps copies of the stacks of the call machine; the
** differences after an event become rows.
*/

#include "kernels/spans/open_spans.h"

#include <stdlib.h>
#include <string.h>

#include "model/base/memory.h"

#define NO_TRACK UINT32_MAX
#define NO_VALUE UINT32_MAX


/* {====== Rows ====== */

static bool add_row (spans_reader *r, const span_row *row) {
  if (!r->has_first || row->time < r->first)
    r->first = row->time;
  if (!r->has_first || row->time > r->last)
    r->last = row->time;
  r->has_first = true;
  const bool grown = pf_grow(&r->rows, &r->rows_capacity, r->nrows + 1);
  if (grown)
    r->rows[r->nrows++] = *row;
  return grown;
}


/* Create a track for the stack of a slot. */
static bool add_track (spans_reader *r, span_stack *s, const pf_slot *slot) {
  if (!pf_grow(&r->tracks, &r->tracks_capacity, r->ntracks + 1))
    return false;
  const bool is_lane = slot->kind <= PF_KIND_LINE;
  r->tracks[r->ntracks] =
      (pf_span_track){is_lane ? PF_KIND_FUNCTION : (pf_area_kind)slot->kind,
                      slot->lane->number, slot->area, s->run};
  s->track = (uint32_t)r->ntracks++;
  return true;
}


/* Add a row to the track of a stack, after the base if that is due. */
static bool put_on_track (spans_reader *r, span_stack *s, span_row row) {
  const span_row base = {
      .kind = PF_SPAN_BASE, .track = s->track, .time = s->base};
  if (s->is_base_due && !add_row(r, &base))
    return false;
  s->is_base_due = false;
  row.track = s->track;
  s->last = row.time;
  return add_row(r, &row);
}


/* As put_on_track; creates the track if necessary. */
static bool put (spans_reader *r, span_stack *s, const pf_slot *slot,
                 span_row row) {
  return (s->track != NO_TRACK || add_track(r, s, slot)) &&
         put_on_track(r, s, row);
}


static bool set_frame (spans_reader *r, span_row *row) {
  const uint64_t value = (uint64_t)row->value;
  uint32_t number = NO_VALUE;
  if (row->has_value &&
      pf_id_table_words(&r->values, &value, 1, &number) != PF_OK)
    return false;
  const uint64_t word = (uint64_t)row->area << 32 | number;
  if (pf_id_table_words(&r->frames, &word, 1, &row->frame) != PF_OK)
    return false;
  row->frame++;
  return true;
}


static bool is_shown (const spans_reader *r, const pf_slot *slot) {
  switch (slot->kind) {
    case PF_KIND_FUNCTION: return true;
    case PF_KIND_LINE: return r->options.lines;
    default: return r->options.variables;
  }
}


/* End the current value of a variable, if there is one. */
static bool end_value (spans_reader *r, span_stack *s, int64_t time) {
  span_row row = s->value;
  if (!s->has_value)
    return true;
  s->has_value = false;
  row.net = time > row.time ? time - row.time : 0;
  row.time = time > row.time ? time : row.time;
  row.kind = PF_SPAN_CLOSE;
  return put_on_track(r, s, row);
}


/* Add a row for a call that begins or ends, if its kind is shown. */
static bool put_call (spans_reader *r, span_stack *s, uint32_t number,
                      span_row row) {
  const pf_slot *const slot = &r->machine.lanes.slots[number];
  row.area = slot->area;
  return !is_shown(r, slot) || (end_value(r, s, row.time) &&
                                set_frame(r, &row) && put(r, s, slot, row));
}

/* }====== */


/* {====== Stacks ====== */

/* The stack of a lane of the machine; NULL when out of memory. */
static span_stack *stack_of (spans_reader *r, const pf_lane *lane) {
  const bool is_group = lane->number == PF_NO_SLOT;
  const uint32_t number = is_group ? ~(lane->key + 1) : lane->number;
  span_stacks *const all = is_group ? &r->groups : &r->lanes;
  if (!pf_grow(&all->list, &all->capacity, (size_t)number + 1))
    return NULL;
  for (; all->count <= number; all->count++)
    all->list[all->count] = (span_stack){.track = NO_TRACK};
  return &all->list[number];
}


static bool insert (span_stack *s, uint32_t place, uint32_t slot) {
  if (!pf_grow(&s->slots, &s->capacity, (size_t)s->depth + 1))
    return false;
  memmove(s->slots + place + 1, s->slots + place,
          (s->depth - place) * sizeof *s->slots);
  s->slots[place] = slot;
  s->depth++;
  return true;
}


/* Set the time (ns) at which the trace begins in a lane, or continues after a
   gap; calls that were entered earlier start there. If `time` is before the
   last row of the track, the lane continues on a new track. */
static void set_base (span_stack *s, uint32_t epoch, int64_t time) {
  if (s->track != NO_TRACK && time < s->last) {
    s->track = NO_TRACK;
    s->run++;
  }
  s->base = time;
  s->epoch = epoch;
  s->has_base = s->is_base_due = true;
  s->idle = false;
}


/* Add a row if a lane has started or stopped running. */
static bool update_running (spans_reader *r, span_stack *s, const pf_lane *lane,
                            int64_t time) {
  const bool idle = pf_lane_innermost(lane)->state != PF_FRAME_RUNNING;
  if (!r->options.idle || s->track == NO_TRACK || idle == s->idle)
    return true;
  s->idle = idle;
  return put_on_track(
      r, s,
      (span_row){.kind = idle ? PF_SPAN_IDLE : PF_SPAN_RUN, .time = time});
}


/* An event opens at most one call, on top of the others or, if its enter was
   not recorded, perhaps below the open line. */
bool pf_spans_update_lane (spans_reader *r, const pf_lane *lane) {
  span_stack *const s = stack_of(r, lane);
  if (s == NULL)
    return false;
  if (!s->has_base || s->epoch != lane->epoch ||
      s->base != lane->frames[0].start)
    set_base(s, lane->epoch, lane->frames[0].start);
  if (lane->count - 1 > s->depth) {
    const bool is_below = s->depth > 0 && lane->frames[1].slot != s->slots[0];
    const uint32_t place = is_below ? 0 : s->depth;
    const pf_frame *const f = &lane->frames[place + 1];
    const bool is_late = is_below || f->start < lane->last;
    if (!insert(s, place, f->slot) ||
        !put_call(r, s, f->slot,
                  (span_row){.kind = is_late ? PF_SPAN_LATE : PF_SPAN_OPEN,
                             .time = lane->last}))
      return false;
  }
  return lane->number == PF_NO_SLOT || update_running(r, s, lane, lane->last);
}

/* }====== */


/* {====== Values of variables ====== */

bool pf_spans_end_values (spans_reader *r, int64_t time) {
  for (size_t i = 0; i < r->groups.count; i++)
    if (!end_value(r, &r->groups.list[i], time))
      return false;
  return true;
}


/* The row of a value that the current event writes. */
static span_row value_row (const spans_reader *r, const pf_call *call) {
  const bool has_column = r->events.extra < r->events.reader->nfields;
  span_row row = {.kind = PF_SPAN_OPEN,
                  .area = r->machine.lanes.slots[call->slot].area,
                  .time = call->start};
  if (has_column) {
    const pf_column *const values = &r->events.batch.columns[r->events.extra];
    row.has_value = !pf_is_missing(values, r->row);
    row.value = row.has_value ? values->ints[r->row] : 0;
  }
  return row;
}


/* Write a value, which lasts until the next one; it ends at once while the
   variable has an open call. */
static bool add_value (spans_reader *r, span_stack *s, const pf_call *call) {
  const pf_slot *const slot = &r->machine.lanes.slots[call->slot];
  if (!r->options.variables)
    return true;
  span_row row = value_row(r, call);
  if (!end_value(r, s, call->start) || !set_frame(r, &row))
    return false;
  if (!s->has_base || s->epoch != slot->lane->epoch)
    set_base(s, slot->lane->epoch, slot->lane->frames[0].start);
  if (!put(r, s, slot, row))
    return false;
  s->has_value = true;
  s->value = row;
  return s->depth == 0 || end_value(r, s, call->start);
}

/* }====== */


/* {====== Calls ====== */

/* A call ends that was not open: its enter is unknown and nothing was open
   around it, or its duration is 0. */
static bool add_orphan (spans_reader *r, span_stack *s, const pf_call *call) {
  const pf_lane *const lane = r->machine.lanes.slots[call->slot].lane;
  if (!s->has_base || s->epoch != lane->epoch)
    set_base(s, lane->epoch, call->start);
  const bool is_late = call->start < call->stop;
  return put_call(r, s, call->slot,
                  (span_row){.kind = is_late ? PF_SPAN_LATE : PF_SPAN_OPEN,
                             .time = call->stop});
}


/* `is_write`: a write emitted the call. */
static bool add_call (spans_reader *r, const pf_call *call, bool is_write) {
  const pf_slot *const slot = &r->machine.lanes.slots[call->slot];
  span_stack *const s = stack_of(r, slot->lane);
  if (s == NULL)
    return false;
  if (slot->kind == PF_KIND_VALUE && is_write)
    return add_value(r, s, call);
  if (!is_write && s->depth > 0 && s->slots[s->depth - 1] == call->slot)
    s->depth--;
  else if (!add_orphan(r, s, call))
    return false;
  return put_call(r, s, call->slot,
                  (span_row){.kind = PF_SPAN_CLOSE,
                             .time = call->stop,
                             .net = call->durations[PF_NET],
                             .flags = call->flags});
}


bool pf_spans_add_calls (spans_reader *r, uint32_t slot, uint8_t event) {
  const pf_machine *const m = &r->machine;
  const pf_slot *const slots = m->lanes.slots;
  const bool is_state = slot != PF_NO_SLOT && slots[slot].kind == PF_KIND_STATE;
  for (size_t i = 0; i < m->ncalls; i++) {
    const pf_call *const call = &m->calls[i];
    const bool is_last = i + 1 == m->ncalls;
    if (is_last && is_state && slots[call->slot].kind == PF_KIND_VALUE)
      continue;
    const bool is_write =
        is_last && !is_state && call->slot == slot && event == PF_EVENT_WRITE;
    if (!add_call(r, call, is_write))
      return false;
  }
  return true;
}


/* The range begins with what is open on a lane. */
static bool begin_lane (spans_reader *r, const pf_lane *lane) {
  const int64_t from = r->options.calls.from;
  if (lane == NULL || lane->epoch == PF_NO_EPOCH)
    return true;
  span_stack *const s = stack_of(r, lane);
  if (s == NULL)
    return false;
  set_base(s, lane->epoch, from);
  for (uint32_t i = 1; i < lane->count; i++)
    if (!insert(s, s->depth, lane->frames[i].slot) ||
        !put_call(r, s, lane->frames[i].slot,
                  (span_row){.kind = PF_SPAN_OPEN, .time = from}))
      return false;
  return lane->number == PF_NO_SLOT || update_running(r, s, lane, from);
}


bool pf_spans_begin_range (spans_reader *r) {
  const pf_lanes *const lanes = &r->machine.lanes;
  for (size_t i = 0; i < lanes->nlanes; i++)
    if (!begin_lane(r, lanes->lanes[i]))
      return false;
  for (size_t i = 0; i < lanes->ngroups; i++)
    if (!begin_lane(r, lanes->groups[i]))
      return false;
  return true;
}

/* }====== */
