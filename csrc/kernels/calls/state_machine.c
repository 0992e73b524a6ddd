/*
** state_machine.c - the events enter, leave, suspend, resume and write, the
** range of times, gaps and the ends of files. Most events look only at the top
** of one stack and, through its slot, at the call that they refer to; nothing
** is searched. Gaps and the ends of ranges and files concern all lanes.
*/

#include "kernels/calls/state_machine.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/calls/stack.h"
#include "model/base/memory.h"

void pf_machine_init (pf_machine *m, const pf_call_options *options,
                      pf_dictionary *dictionary, bool has_areas) {
  memset(m, 0, sizeof *m);
  m->options = *options;
  if (m->options.max_depth == 0)
    m->options.max_depth = PF_MAX_DEPTH;
  m->before_range = options->has_from;
  pf_lanes_init(&m->lanes, dictionary, has_areas);
}


void pf_machine_free (pf_machine *m) {
  pf_lanes_free(&m->lanes);
  free(m->chunk.leaves);
  free(m->chunk.firsts);
  free(m->calls);
}


/* A call of a lane has ended: the function that was resumed below suspended
   calls runs again, unless it has ended or the innermost one runs. */
static void run_resumed (pf_lane *lane, int64_t time) {
  if (lane->resumed >= lane->count - 1)
    lane->resumed = 0;
  pf_frame *const f = &lane->frames[lane->resumed];
  if (lane->resumed == 0 || pf_lane_active(lane) != f)
    return;
  run_again(f, time);
  if (f[1].is_line)
    run_again(f + 1, time);
}


void pf_close_top (pf_machine *m, pf_lane *lane, int64_t time, unsigned flags) {
  pf_frame *const f = &lane->frames[lane->count - 1];
  const uint64_t gross = end_frame(m, f, time);
  const bool is_value = m->lanes.slots[f->slot].kind > PF_KIND_LINE;
  if (f->losses != m->losses)
    flags |= PF_CALL_LOST;
  lane->count--;
  m->open--;
  if (f->is_earlier)
    pf_chunk_end(m, lane, f->slot, f, time);
  else
    emit_frame(m, f, pf_frame_area(pf_lane_innermost(lane)), gross, time,
               f->flags | flags);
  if (!f->is_line) {
    m->counts.calls++;
    m->counts.unmatched +=
        ((f->flags | flags) & (PF_CALL_ORPHAN | PF_CALL_UNWOUND)) != 0;
    m->counts.crossed += (flags & PF_CALL_UNWOUND) != 0;
    pf_frame *const top = &lane->frames[lane->count - 1];
    add_gross(top, f->is_earlier ? 0 : gross, time);
    if (top->is_line)
      add_gross(top - 1, f->is_earlier ? 0 : gross, time);
  }
  else if (is_value)
    pf_lane_begin(lane, time, lane->epoch);
  if (lane->resumed != 0)
    run_resumed(lane, time);
  if (lane->count == 1)
    unlink_busy(m, lane);
}


/* In a chunk: whether a call that begins is the first of its slot. */
static bool is_first_of (const pf_machine *m, pf_slot *slot) {
  const bool is_first = m->is_chunk && !slot->is_met;
  slot->is_met = true;
  return is_first;
}


/* `sibling`: the flags for a line or state that this one ends. */
static pf_status enter (pf_machine *m, uint32_t number, int64_t time,
                        unsigned flags, unsigned sibling) {
  pf_slot *const slot = &m->lanes.slots[number];
  pf_lane *const lane = slot->lane;
  if (make_room(m, lane, time) != PF_OK)
    return PF_ENOMEM;
  if (slot->kind == PF_KIND_FUNCTION) {
    const pf_frame *const around = pf_lane_innermost(lane);
    pf_count_enter(&m->counts, around->slot != PF_NO_SLOT,
                   around->state == PF_FRAME_RUNNING, m->is_later);
    pause_top(lane, time);
  }
  else
    end_sibling(m, lane, time, sibling);
  pf_frame *const f = push(m, number, time, flags);
  time_enter(m, f, slot, time);
  if (m->details != NULL) {
    f->detail = pf_details_keep(m->details, m->row);
    m->is_out_of_memory |= f->detail == 0;
  }
  f->is_first = is_first_of(m, slot);
  f->is_plain = slot->kind == PF_KIND_FUNCTION && flags == 0 && !f->is_first &&
                !f[-1].is_line;
  if (slot->kind == PF_KIND_FUNCTION)
    slot->plain_epoch = m->epoch;
  return PF_OK;
}


/* Write a value: a state begins, or a variable gets a call with a duration of
   0. PF_ENOMEM. */
static pf_status write (pf_machine *m, uint32_t number, int64_t time,
                        unsigned flags) {
  pf_slot *const slot = &m->lanes.slots[number];
  if (slot->kind == PF_KIND_STATE)
    return slot->top != 0 ? PF_OK : enter(m, number, time, flags, 0);
  pf_call *const call = next_call(m);
  call->start = call->stop = time;
  call->durations[PF_NET] = call->durations[PF_GROSS] = 0;
  call->durations[PF_CALL] = 0;
  call->durations[PF_PERIOD] = period_of(slot, time);
  call->durations[PF_OUTSIDE] = PF_NO_TIME;
  call->slot = number;
  call->caller = PF_NO_AREA;
  call->depth = 1;
  call->stack = PF_NO_STACK;
  call->detail = 0;
  call->flags = (uint16_t)flags;
  call->count = 1;
  slot->last_enter = time;
  slot->entered = true;
  if (m->is_chunk && slot->kind != PF_KIND_VALUE)
    m->chunk.needs_reread = true;
  emit(m, flags, is_first_of(m, slot));
  return PF_OK;
}


static pf_status leave (pf_machine *m, uint32_t number, int64_t time,
                        unsigned flags) {
  pf_lane *const lane = m->lanes.slots[number].lane;
  const uint32_t frame = m->lanes.slots[number].top;
  if (frame == 0)
    return pf_leave_orphan(m, number, time, flags);
  while (lane->count - 1 > frame)
    pf_close_top(m, lane, time, PF_CALL_UNWOUND);
  pf_close_top(m, lane, time, flags);
  return PF_OK;
}


/* Resume a call. While a call above it runs, it waits for that one, as its
   caller does; else it runs, and a function below it no longer does. A line
   below the innermost function runs only with its function. */
static void resume (pf_machine *m, pf_lane *lane, pf_frame *f, int64_t time) {
  const pf_frame *const function = f->is_line ? f - 1 : f;
  const pf_frame *const active = pf_lane_active(lane);
  const bool is_below = function < pf_lane_innermost(lane);
  const bool waits =
      f->is_line ? is_below && function->state != PF_FRAME_RUNNING
                 : active > function && active->state == PF_FRAME_RUNNING;
  if (waits) {
    m->counts.running += !f->is_line;
    if (f->state == PF_FRAME_SUSPENDED)
      f->state = PF_FRAME_PAUSED;
    return;
  }
  if (lane->resumed != 0 && &lane->frames[lane->resumed] != function)
    pause_function(lane, &lane->frames[lane->resumed], time);
  start_running(f, time);
  lane->resumed = is_below ? (uint32_t)(function - lane->frames) : 0;
}


static void suspend (pf_lane *lane, pf_frame *f, int64_t time) {
  if (lane->resumed != 0 && f == &lane->frames[lane->resumed]) {
    pause_function(lane, f, time);
    lane->resumed = 0;
  }
  stop_running(f, time, PF_FRAME_SUSPENDED);
}


static pf_status suspend_or_resume (pf_machine *m, uint32_t number,
                                    int64_t time, unsigned flags,
                                    bool is_resume) {
  const pf_slot *const slot = &m->lanes.slots[number];
  if (slot->top == 0)
    return pf_push_orphan(m, number, time, flags, is_resume);
  pf_lane *const lane = slot->lane;
  pf_frame *const f = &lane->frames[slot->top];
  if (is_resume)
    resume(m, lane, f, time);
  else
    suspend(lane, f, time);
  f->flags |= (uint8_t)flags;
  f->is_plain &= flags == 0;
  return PF_OK;
}


/* The range of times begins: open calls begin there, with no time spent. */
static void cut_lane (pf_lane *lane, int64_t from) {
  for (uint32_t i = 0; lane != NULL && i < lane->count; i++) {
    pf_frame *const f = &lane->frames[i];
    f->start = f->since = from;
    f->net = f->children = 0;
    f->period = f->outside = PF_NO_TIME;
    f->is_counted = false;
    f->flags |= PF_CALL_CUT;
    f->is_plain = false;
  }
}


/* Advance the last time, and begin or end the range if an event at `time` is
   the first one beyond its begin or end. Returns false after the range. */
static bool advance (pf_machine *m, int64_t time) {
  const pf_lanes *const lanes = &m->lanes;
  if (m->before_range && time >= m->options.from) {
    for (size_t at = 0; at < lanes->nlanes; at++)
      cut_lane(lanes->lanes[at], m->options.from);
    for (size_t at = 0; at < lanes->ngroups; at++)
      cut_lane(lanes->groups[at], m->options.from);
    m->before_range = false;
    if (m->has_begun)
      m->first = m->last = m->options.from;
  }
  if (m->options.has_to && time >= m->options.to) {
    m->after_range = true;
    if (m->options.to > m->last)
      m->last = m->options.to;
  }
  if (m->after_range)
    return false;
  if (!m->has_begun)
    m->first = m->last = time;
  m->has_begun = true;
  if (time > m->last)
    m->last = time;
  return true;
}


bool pf_machine_ends_later (const pf_machine *m) {
  return m->options.has_last && m->has_begun && !m->after_range &&
         m->last < m->options.last;
}


/* End the calls that are open at the end of a file; with `edges` also emit the
   times after the last leaves, for which memory was not reserved. */
static void end_file (pf_machine *m) {
  const pf_lanes *const lanes = &m->lanes;
  const uint32_t tails = m->options.edges ? lanes->nslots : 0;
  m->reserved += tails;
  if (!pf_grow(&m->calls, &m->capacity, m->reserved)) {
    m->is_out_of_memory = true;
    return;
  }
  if (pf_machine_ends_later(m))
    (void)advance(m, m->options.last);
  for (uint32_t i = 0; i < tails; i++)
    lanes->slots[i].was_open = lanes->slots[i].top != 0;
  for (size_t i = 0; i < lanes->nlanes + lanes->ngroups; i++) {
    pf_lane *const lane =
        i < lanes->nlanes ? lanes->lanes[i] : lanes->groups[i - lanes->nlanes];
    while (lane != NULL && lane->count > 1)
      pf_close_top(m, lane, m->last,
                   m->after_range ? PF_CALL_CUT : PF_CALL_OPEN);
  }
  for (uint32_t i = 0; i < tails; i++) {
    const pf_slot *const slot = &lanes->slots[i];
    if (slot->was_open || !slot->left || slot->epoch != m->epoch)
      continue;
    *next_call(m) =
        (pf_call){.start = slot->last_leave,
                  .stop = m->last,
                  .durations = {PF_NO_TIME, PF_NO_TIME, PF_NO_TIME, PF_NO_TIME,
                                duration(elapsed(slot->last_leave, m->last))},
                  .slot = i,
                  .caller = PF_NO_AREA,
                  .stack = PF_NO_STACK,
                  .depth = 1};
    emit(m, 0, false);
  }
}


/* The next event does not continue the previous ones: end all open calls. */
static void end_all (pf_machine *m, unsigned flag) {
  while (m->busy != NULL) {
    pf_lane *const lane = m->busy;
    while (lane->count > 1)
      pf_close_top(m, lane, m->last, flag);
  }
  m->epoch++;
}


/* Another run begins, whose times are not related to those before. */
static void begin_new_run (pf_machine *m, unsigned flag) {
  end_all(m, m->after_range ? PF_CALL_CUT : flag);
  for (size_t i = 0; i < m->lanes.nlanes; i++)
    if (m->lanes.lanes[i] != NULL)
      m->lanes.lanes[i]->last = INT64_MIN;
  for (size_t i = 0; i < m->lanes.ngroups; i++)
    m->lanes.groups[i]->last = INT64_MIN;
  m->has_begun = m->after_range = false;
  m->before_range = m->options.has_from;
}


/* Apply the flags that concern all lanes. Returns the others. */
static unsigned apply_flags (pf_machine *m, unsigned flags, int64_t time) {
  if ((flags & PF_CALL_NEW_FILE) != 0 && (m->has_begun || m->after_range)) {
    end_file(m);
    begin_new_run(m, PF_CALL_OPEN);
    m->file = m->epoch;
  }
  else if ((flags & PF_CALL_GAP) != 0 && m->has_begun) {
    if (time < m->last)
      begin_new_run(m, PF_CALL_GAP);
    else
      end_all(m, m->after_range ? PF_CALL_CUT : PF_CALL_GAP);
  }
  if ((flags & PF_CALL_LOST) != 0)
    m->losses++;
  return flags & ~(unsigned)(PF_CALL_GAP | PF_CALL_LOST | PF_CALL_NEW_FILE);
}


/* Apply the part of an event that concerns all lanes: its flags, the range and
   the last time. Returns false when nothing of it is left; else *flags are the
   others. */
static bool check_event (pf_machine *m, const pf_event_rows *rows, size_t i,
                         unsigned *flags) {
  const bool has_time = pf_event_kind_of(rows->words[i]) != PF_EVENT_NONE;
  const int64_t time = has_time ? rows->times[i] : m->last;
  if (rows->flags != NULL && rows->flags[i] != 0)
    *flags = apply_flags(m, rows->flags[i], time);
  if (!has_time)
    return false;
  return advance(m, time) && pf_event_kind_of(rows->words[i]) != PF_EVENT_OTHER;
}


/* The slot of an area, or PF_NO_SLOT when out of memory. Advances the time of
   its lane to *time, or *time to that of its lane. */
static uint32_t find_slot (pf_machine *m, uint32_t lane, uint32_t area,
                           int64_t *time) {
  uint32_t number;
  if (pf_slot_find(&m->lanes, lane, area, m->first, &number) != PF_OK)
    return PF_NO_SLOT;
  pf_slot *const slot = &m->lanes.slots[number];
  pf_lane *const home = slot->lane;
  if (slot->epoch != m->epoch) { /* a gap came since its last event */
    slot->earlier = pf_slot_last(slot);
    slot->epoch = m->epoch;
    slot->entered = slot->left = false;
  }
  if (home->epoch < m->file && home->number == PF_NO_SLOT) {
    /* Lanes of variables begin with each file, not with their first event. */
    home->last = m->first;
    if (m->epoch == m->file)
      pf_lane_begin(home, m->first, m->epoch);
  }
  if (*time < home->last)
    *time = home->last; /* the time of a lane never goes back */
  m->is_later = *time > home->last;
  home->last = *time;
  if (home->epoch != m->epoch)
    pf_lane_begin(home, *time, m->epoch);
  return number;
}


/* Entering or writing a state also writes its variable. */
static pf_status write_variable (pf_machine *m, const pf_event_rows *rows,
                                 size_t i, int64_t time) {
  const uint32_t variable =
      pf_area_at(m->lanes.dictionary, pf_event_area(rows->words[i]))->parent;
  if (variable == PF_NO_AREA ||
      pf_area_kind_of(m->lanes.dictionary, true, variable) != PF_KIND_VALUE)
    return PF_OK;
  const uint32_t number =
      find_slot(m, pf_event_lane(rows->words[i]), variable, &time);
  return number == PF_NO_SLOT ? PF_ENOMEM : write(m, number, time, 0);
}


pf_status pf_machine_process_one (pf_machine *m, const pf_event_rows *rows,
                                  size_t i) {
  const pf_event_kind kind = pf_event_kind_of(rows->words[i]);
  int64_t time = rows->times[i];
  unsigned flags = 0;
  if (!check_event(m, rows, i, &flags))
    return PF_OK;
  const uint32_t number = find_slot(m, pf_event_lane(rows->words[i]),
                                    pf_event_area(rows->words[i]), &time);
  if (number == PF_NO_SLOT)
    return PF_ENOMEM;
  const pf_area_kind of = (pf_area_kind)m->lanes.slots[number].kind;
  m->row = i;
  if (of >= PF_KIND_STATE && m->is_chunk)
    m->chunk.needs_reread |= of == PF_KIND_STATE || kind != PF_EVENT_WRITE;
  if (kind == PF_EVENT_LEAVE)
    return leave(m, number, time, flags);
  if (kind < PF_EVENT_ENTER)
    return suspend_or_resume(m, number, time, flags, kind == PF_EVENT_RESUME);
  const unsigned sibling = of == PF_KIND_STATE ? 0 : PF_CALL_UNWOUND;
  const pf_status status = kind == PF_EVENT_ENTER
                               ? enter(m, number, time, flags, sibling)
                               : write(m, number, time, flags);
  return of == PF_KIND_STATE && status == PF_OK
             ? write_variable(m, rows, i, time)
             : status;
}


pf_status pf_machine_reserve (pf_machine *m, size_t count) {
  m->ncalls = 0;
  m->reserved = count;
  return pf_grow(&m->calls, &m->capacity, count) ? PF_OK : PF_ENOMEM;
}


pf_status pf_machine_process (pf_machine *m, const pf_event_rows *rows,
                              size_t from, size_t to) {
  if (are_plain(m, rows))
    return process_plain(m, rows, from, to, (pf_call_sink){.add = NULL});
  pf_status status = pf_machine_reserve(m, m->open + 2 * (to - from));
  for (size_t i = from; i < to && status == PF_OK; i++)
    status = pf_machine_process_one(m, rows, i);
  return m->is_out_of_memory ? PF_ENOMEM : status;
}


pf_status pf_machine_finish (pf_machine *m) {
  if (pf_machine_reserve(m, m->open) != PF_OK)
    return PF_ENOMEM;
  end_file(m);
  if (m->options.counts != NULL && !m->options.has_from && !m->options.has_to)
    *m->options.counts = m->counts;
  return m->is_out_of_memory ? PF_ENOMEM : PF_OK;
}
