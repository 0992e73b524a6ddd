/*
** spans.c - runs the call machine over each event, finds which calls have begun
** and ended by comparing its stacks with copies, and passes rows for them on.
*/

#include "kernels/spans/spans.h"

#include <stdlib.h>
#include <string.h>

#include "model/base/memory.h"
#include "model/dictionary/areas.h"

#define NO_TRACK UINT32_MAX
#define NO_VALUE UINT32_MAX

/* The stack of a lane or of a variable after the last event. */
typedef struct span_stack {
  uint32_t *slots; /* of the open calls, outermost first */
  uint32_t depth;
  size_t capacity;
  uint32_t track, run, epoch;
  int64_t base, last; /* begin of calls without an enter; time of the last
                         row */
  bool has_base, is_base_due;
  bool idle;
  bool has_value; /* of a variable: `value` is open */
  pf_span value;
} span_stack;

/* Stacks by lane id. */
typedef struct span_stacks {
  span_stack *list;
  size_t count, capacity;
} span_stacks;

typedef struct span_reader {
  pf_spans options;
  pf_put_span *put;
  void *context;
  pf_status failed; /* of `put` */
  pf_error *error;  /* for `put` */
  pf_span_tracks *tracks;
  pf_machine machine;
  size_t row;                    /* the event of the batch that is processed */
  span_stacks lanes, groups;     /* as in pf_lanes */
  pf_id_table values[2], frames; /* ids of values, those of is_number apart;
                                    ids of (area, value) pairs */
  uint32_t epoch; /* of the machine at the last event, and its last
                                 time then */
  int64_t machine_last;
} span_reader;


/* Extend the range of times. */
static void add_time (pf_span_tracks *t, int64_t time) {
  t->first = !t->has_times || time < t->first ? time : t->first;
  t->last = !t->has_times || time > t->last ? time : t->last;
  t->has_times = true;
}


/* Functions of the type bool return false when out of memory, or when `put` has
   failed. */
static bool add_row (span_reader *r, const pf_span *row) {
  add_time(r->tracks, row->time);
  r->failed = r->put(r->context, row, r->error);
  return r->failed == PF_OK;
}


/* Add a row to the track of a stack, after the base if that is due. */
static bool put_on_track (span_reader *r, span_stack *s, pf_span row) {
  const pf_span base = {
      .kind = PF_SPAN_BASE, .track = s->track, .time = s->base};
  if (s->is_base_due && !add_row(r, &base))
    return false;
  s->is_base_due = false;
  row.track = s->track;
  s->last = row.time;
  return add_row(r, &row);
}


/* As put_on_track; creates the track if necessary. */
static bool put (span_reader *r, span_stack *s, const pf_slot *slot,
                 pf_span row) {
  if (s->track == NO_TRACK) {
    pf_span_tracks *const all = r->tracks;
    if (!pf_grow(&all->list, &all->capacity, (size_t)all->count + 1))
      return false;
    const bool is_lane = slot->kind <= PF_KIND_LINE;
    all->list[all->count] =
        (pf_span_track){is_lane ? PF_KIND_FUNCTION : (pf_area_kind)slot->kind,
                        slot->lane->number, slot->area, s->run};
    s->track = all->count++;
  }
  return put_on_track(r, s, row);
}


static bool set_frame (span_reader *r, pf_span *row) {
  const uint64_t value = (uint64_t)row->value.bits;
  const bool is_number = row->value.is_number;
  uint32_t number = NO_VALUE;
  if (row->value.is_known) {
    if (pf_id_table_words(&r->values[is_number], &value, 1, &number) != PF_OK)
      return false;
    number = 2 * number + is_number;
  }
  const uint64_t word = (uint64_t)row->area << 32 | number;
  if (pf_id_table_words(&r->frames, &word, 1, &row->frame) != PF_OK)
    return false;
  row->frame++;
  return true;
}


/* End the current value of a variable, if there is one. */
static bool end_value (span_reader *r, span_stack *s, int64_t time) {
  pf_span row = s->value;
  if (!s->has_value)
    return true;
  s->has_value = false;
  row.net = pf_time_between(row.time, time);
  row.time = time > row.time ? time : row.time;
  row.kind = PF_SPAN_CLOSE;
  row.is_counted = true;
  return put_on_track(r, s, row);
}


/* Add a row for a call that begins or ends, if its kind is shown. */
static bool put_call (span_reader *r, span_stack *s, uint32_t number,
                      pf_span row) {
  const pf_slot *const slot = &r->machine.lanes.slots[number];
  const bool is_shown =
      slot->kind == PF_KIND_FUNCTION ||
      (slot->kind == PF_KIND_LINE ? r->options.lines : r->options.variables);
  row.area = slot->area;
  return !is_shown || (end_value(r, s, row.time) && set_frame(r, &row) &&
                       put(r, s, slot, row));
}


/* The stack of a lane of the machine; NULL when out of memory. */
static span_stack *stack_of (span_reader *r, const pf_lane *lane) {
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
static bool update_running (span_reader *r, span_stack *s, const pf_lane *lane,
                            int64_t time) {
  const bool idle = pf_lane_active(lane)->state != PF_FRAME_RUNNING;
  if (!r->options.idle || s->track == NO_TRACK || idle == s->idle)
    return true;
  s->idle = idle;
  return put_on_track(
      r, s, (pf_span){.kind = idle ? PF_SPAN_IDLE : PF_SPAN_RUN, .time = time});
}


/* An event opens at most one call, on top of the others or, if its enter was
   not recorded, perhaps below the open line. */
static bool update_lane (span_reader *r, const pf_lane *lane) {
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
                  (pf_span){.kind = is_late ? PF_SPAN_LATE : PF_SPAN_OPEN,
                            .time = lane->last,
                            .net = (int64_t)f->net}))
      return false;
  }
  return lane->number == PF_NO_SLOT || update_running(r, s, lane, lane->last);
}


static bool end_values (span_reader *r, int64_t time) {
  for (size_t i = 0; i < r->groups.count; i++)
    if (!end_value(r, &r->groups.list[i], time))
      return false;
  return true;
}


/* Returns what the event at r->row has written: the column of whole numbers has
   it, or that of numbers. */
static pf_span_value value_of (const span_reader *r) {
  const pf_events *const e = &r->tracks->events;
  const size_t none = e->reader->nfields;
  pf_span_value value = {.bits = 0};
  if (e->extra < none && !pf_is_missing(&e->batch.columns[e->extra], r->row)) {
    value.is_known = true;
    value.bits = e->batch.columns[e->extra].ints[r->row];
  }
  else if (e->number < none &&
           !pf_is_missing(&e->batch.columns[e->number], r->row)) {
    value.is_known = value.is_number = true;
    memcpy(&value.bits, &e->batch.columns[e->number].nums[r->row],
           sizeof value.bits);
  }
  return value;
}


/* Write a value, which lasts until the next one; it ends at once while the
   variable has an open call. */
static bool add_value (span_reader *r, span_stack *s, const pf_call *call) {
  const pf_slot *const slot = &r->machine.lanes.slots[call->slot];
  if (!r->options.variables)
    return true;
  pf_span row = {.kind = PF_SPAN_OPEN,
                 .area = slot->area,
                 .time = call->start,
                 .value = value_of(r)};
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


/* `is_write`: a write emitted the call. */
static bool add_call (span_reader *r, const pf_call *call, bool is_write) {
  const pf_slot *const slot = &r->machine.lanes.slots[call->slot];
  span_stack *const s = stack_of(r, slot->lane);
  if (s == NULL)
    return false;
  if (slot->kind == PF_KIND_VALUE && is_write)
    return add_value(r, s, call);
  for (size_t i = 0; i < PF_CALL_FLAG_NAMES && call->flags != 0; i++)
    r->tracks->flagged[i] +=
        slot->kind == PF_KIND_FUNCTION && (call->flags >> i & 1) != 0;
  if (!is_write && s->depth > 0 && s->slots[s->depth - 1] == call->slot)
    s->depth--;
  else { /* its enter is unknown and nothing was open around it, or its duration
            is 0 */
    const bool is_late = call->start < call->stop;
    if (!s->has_base || s->epoch != slot->lane->epoch)
      set_base(s, slot->lane->epoch, call->start);
    if (!put_call(r, s, call->slot,
                  (pf_span){.kind = is_late ? PF_SPAN_LATE : PF_SPAN_OPEN,
                            .time = call->stop,
                            .net = call->durations[PF_NET]}))
      return false;
  }
  return put_call(r, s, call->slot,
                  (pf_span){.kind = PF_SPAN_CLOSE,
                            .time = call->stop,
                            .net = call->durations[PF_NET],
                            .durations = call->durations,
                            .is_counted = call->count != 0,
                            .flags = call->flags});
}


static bool add_calls (span_reader *r, uint32_t slot, pf_event_kind event) {
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


/* The range begins with the calls that are open. */
static bool begin_range (span_reader *r) {
  const pf_lanes *const lanes = &r->machine.lanes;
  const int64_t from = r->options.calls.from;
  for (size_t n = 0; n < lanes->nlanes + lanes->ngroups; n++) {
    const pf_lane *const lane =
        n < lanes->nlanes ? lanes->lanes[n] : lanes->groups[n - lanes->nlanes];
    if (lane == NULL || lane->epoch == PF_NO_EPOCH)
      continue;
    span_stack *const s = stack_of(r, lane);
    if (s == NULL)
      return false;
    set_base(s, lane->epoch, from);
    for (uint32_t i = 1; i < lane->count; i++)
      if (!insert(s, s->depth, lane->frames[i].slot) ||
          !put_call(r, s, lane->frames[i].slot,
                    (pf_span){.kind = PF_SPAN_OPEN, .time = from}))
        return false;
    if (lane->number != PF_NO_SLOT && !update_running(r, s, lane, from))
      return false;
  }
  return true;
}


static void update_limits (span_reader *r) {
  const pf_machine *const m = &r->machine;
  if (m->before_range || !m->has_begun)
    return;
  add_time(r->tracks, m->first);
  add_time(r->tracks, m->last);
  r->machine_last = m->last;
}


/* Notes that events are lost before the one at r->row. */
static bool add_loss (span_reader *r) {
  pf_span_tracks *const t = r->tracks;
  const pf_event_rows *const rows = &t->events.rows;
  const int64_t to =
      pf_event_kind_of(rows->words[r->row]) == PF_EVENT_NONE /* no time */
          ? r->machine_last
          : rows->times[r->row];
  if (!r->machine.has_begun || r->machine_last > to ||
      t->nlosses == PF_SPAN_MOST_LOSSES)
    return true;
  if (!pf_grow(&t->losses, &t->losses_capacity, t->nlosses + 1))
    return false;
  t->losses[t->nlosses++] = (pf_span_loss){r->machine_last, to};
  return true;
}


/* Begin the range if the end of the file is the first event in it. */
static bool begin_range_at_end (span_reader *r) {
  const pf_machine *const m = &r->machine;
  return !m->before_range || !pf_machine_ends_later(m) ||
         m->options.last < m->options.from || begin_range(r);
}


/* Process the event at r->row. */
static bool process_event (span_reader *r) {
  pf_machine *const m = &r->machine;
  const pf_event_rows *const rows = &r->tracks->events.rows;
  const uint64_t word = rows->words[r->row];
  const pf_event_kind kind = pf_event_kind_of(word);
  const unsigned flags = rows->flags == NULL ? 0 : rows->flags[r->row];
  const bool begins = m->before_range && kind != PF_EVENT_NONE &&
                      (flags & (PF_CALL_GAP | PF_CALL_NEW_FILE)) == 0 &&
                      rows->times[r->row] >= r->options.calls.from;
  uint32_t slot = PF_NO_SLOT;
  if ((flags & (PF_CALL_GAP | PF_CALL_LOST)) != 0 && !m->before_range &&
      !m->after_range && !add_loss(r))
    return false;
  if ((begins && !begin_range(r)) ||
      ((flags & PF_CALL_NEW_FILE) != 0 && !begin_range_at_end(r)) ||
      pf_machine_process(m, rows, r->row, r->row + 1) != PF_OK)
    return false;
  if (!m->before_range && !m->after_range && kind < PF_EVENT_OTHER &&
      pf_slot_find(&m->lanes, pf_event_lane(word), pf_event_area(word),
                   m->first, &slot) != PF_OK)
    return false;
  const bool is_same = r->epoch == m->epoch;
  r->epoch = m->epoch; /* a gap has ended all calls; values end with them */
  if ((!is_same && !end_values(r, r->machine_last)) ||
      !add_calls(r, slot, kind))
    return false;
  update_limits(r);
  return slot == PF_NO_SLOT || update_lane(r, m->lanes.slots[slot].lane);
}


/* Process all events, or those that a live file has. */
static pf_status read_events (span_reader *r) {
  pf_status status = PF_MORE;
  bool ok = true;
  while (ok && status == PF_MORE) {
    status = pf_events_are_over(&r->tracks->events, &r->machine)
                 ? PF_END
                 : pf_events_next(&r->tracks->events, r->error);
    const size_t rows = status == PF_MORE ? r->tracks->events.batch.rows : 0;
    for (r->row = 0; ok && r->row < rows; r->row++)
      ok = process_event(r);
  }
  if (ok && status == PF_END) {
    /* End the open calls and values. */
    ok = begin_range_at_end(r) && pf_machine_finish(&r->machine) == PF_OK &&
         add_calls(r, PF_NO_SLOT, PF_EVENT_OTHER);
    update_limits(r);
    ok = ok && end_values(r, r->machine.last);
  }
  if (!ok)
    return r->failed == PF_OK ? pf_no_memory(r->error) : r->failed;
  return status < 0 ? status : PF_OK;
}


static void close_stacks (span_stacks *all) {
  for (size_t i = 0; i < all->count; i++)
    free(all->list[i].slots);
  free(all->list);
}


void pf_span_tracks_close (pf_span_tracks *tracks) {
  pf_events_close(&tracks->events);
  free(tracks->list);
  free(tracks->losses);
}


uint32_t pf_span_variable (const pf_dictionary *dictionary,
                           const pf_span_track *track) {
  if (track->kind == PF_KIND_FUNCTION)
    return PF_NO_NAME;
  const pf_area *const area = pf_area_at(dictionary, track->area);
  return area->parent == PF_NO_AREA || track->kind == PF_KIND_VALUE
             ? area->name
             : pf_area_name(dictionary, area->parent);
}


pf_status pf_spans_read (pf_reader *events, const pf_spans *options,
                         pf_put_span *put_span, void *context,
                         pf_span_tracks *tracks, pf_error *error) {
  span_reader r = {.options = *options,
                   .put = put_span,
                   .context = context,
                   .error = error,
                   .tracks = tracks};
  *tracks = (pf_span_tracks){.list = NULL};
  const char *const number = pf_field_index(events->fields, events->nfields,
                                            "number") == events->nfields
                                 ? "value"
                                 : "number";
  pf_status status = pf_events_open(
      &tracks->events, events, options->variables ? "value" : NULL,
      options->variables ? number : NULL, false, error);
  if (status != PF_OK)
    return status;
  pf_id_table_init(&r.values[0]);
  pf_id_table_init(&r.values[1]);
  pf_id_table_init(&r.frames);
  pf_machine_init(&r.machine, &options->calls, events->dictionary,
                  events->fields[tracks->events.area].type == PF_AREA);
  status = read_events(&r);
  close_stacks(&r.lanes);
  close_stacks(&r.groups);
  pf_machine_free(&r.machine);
  pf_id_table_free(&r.values[0]);
  pf_id_table_free(&r.values[1]);
  pf_id_table_free(&r.frames);
  return status;
}
