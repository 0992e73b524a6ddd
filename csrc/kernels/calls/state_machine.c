/*
** state_machine.c - the general path: processes one event at a time. Each event
** looks only at the top of one stack and, through its slot, at the call that it
** refers to; nothing is searched.
*/

#include "kernels/calls/state_machine.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/calls/fast_path.h"
#include "model/base/memory.h"

#define MAX_DEPTH 65536

void pf_machine_init (pf_machine *m, const pf_call_options *options,
                      pf_dictionary *dictionary, bool has_areas) {
  memset(m, 0, sizeof *m);
  m->options = *options;
  if (m->options.max_depth == 0)
    m->options.max_depth = MAX_DEPTH;
  m->before_range = options->has_from;
  pf_lanes_init(&m->lanes, dictionary, has_areas);
}


void pf_machine_free (pf_machine *m) {
  pf_lanes_free(&m->lanes);
  free(m->calls);
}


/* {====== Enter and write ====== */

/* The time since the last enter of the area; updates it. */
static int64_t period_of (pf_slot *slot, int64_t time) {
  const int64_t period =
      slot->entered ? duration(elapsed(slot->last_enter, time)) : PF_NO_TIME;
  slot->last_enter = time;
  slot->entered = true;
  return period;
}


/* The time since the last leave of the area. */
static int64_t outside_of (const pf_machine *m, const pf_slot *slot,
                           int64_t time) {
  if (slot->top != 0)
    return PF_NO_TIME;
  if (slot->left)
    return duration(elapsed(slot->last_leave, time));
  if (!m->options.edges || m->epoch != 0 || m->is_chunk)
    return PF_NO_TIME;
  return time < m->first ? 0 : duration(elapsed(m->first, time));
}


/* Entering a line or a state ends the previous one. */
static void end_sibling (pf_machine *m, const call_event *e, unsigned flags) {
  if (e->lane->frames[e->lane->count - 1].is_line)
    close_top(m, e->lane, e->time, flags);
}


/* In a chunk: record the first enter of a slot; scan_merge.c completes its
   period and outside. */
static void record_first (pf_slot *slot, int64_t time) {
  slot->is_met = slot->has_first = true;
  slot->is_outside_open = !slot->left;
  slot->first_enter = time;
}


/* `sibling`: the flags for a line or state that this one ends. */
static pf_status enter (pf_machine *m, const call_event *e, unsigned sibling) {
  pf_slot *const slot = &m->lanes.slots[e->slot];
  if (make_room(m, e) != PF_OK)
    return PF_ENOMEM;
  if (slot->kind == PF_KIND_FUNCTION)
    pause_top(e->lane, e->time);
  else
    end_sibling(m, e, sibling);
  const int64_t period = period_of(slot, e->time);
  const int64_t outside = outside_of(m, slot, e->time);
  pf_frame *const f = push(m, e);
  f->period = period;
  f->outside = outside;
  if (m->details != NULL) {
    f->detail = pf_details_keep(m->details, e->row);
    m->is_out_of_memory |= f->detail == 0;
  }
  if (m->is_chunk && !slot->is_met) {
    f->is_first = true;
    record_first(slot, e->time);
  }
  f->is_fast = slot->kind == PF_KIND_FUNCTION && e->flags == 0 && slot->left &&
               !f->is_first && !f[-1].is_line &&
               !(m->options.outermost && f->below != 0);
  return PF_OK;
}


/* Write a value: a state begins, or a variable gets a call with a duration of
   0. PF_ENOMEM. */
static pf_status write (pf_machine *m, const call_event *e) {
  pf_slot *const slot = &m->lanes.slots[e->slot];
  if (slot->kind == PF_KIND_STATE)
    return slot->top != 0 ? PF_OK : enter(m, e, 0);
  *next_call(m) =
      (pf_call){.start = e->time,
                .stop = e->time,
                .durations = {0, 0, 0, period_of(slot, e->time), PF_NO_TIME},
                .slot = e->slot,
                .caller = PF_NO_AREA,
                .stack = PF_NO_STACK,
                .depth = 1,
                .flags = (uint16_t)e->flags,
                .count = 1};
  emit(m, e->flags);
  if (m->is_chunk && !slot->is_met) {
    record_first(slot, e->time);
    slot->is_first_kept = true;
  }
  return PF_OK;
}

/* }====== */


/* {====== Calls without an enter ====== */

/* Take the time that frame 0 has accumulated, and reset it. No frames lie on
   it. */
static pf_frame take_base (pf_lane *lane, int64_t time) {
  pf_frame *const base = &lane->frames[0];
  stop_running(base, time, PF_FRAME_PAUSED);
  const pf_frame f = *base;
  base->net = base->children = 0;
  run_again(base, time);
  return f;
}


/* In a chunk: a function is left that was entered in an earlier chunk. */
static pf_status leave_earlier (pf_machine *m, const call_event *e) {
  pf_lane *const lane = e->lane;
  pf_slot *const slot = &m->lanes.slots[e->slot];
  if (slot->kind != PF_KIND_FUNCTION || lane->count > 1) {
    m->needs_reread = true;
    return PF_OK;
  }
  if (!pf_grow(&lane->unmatched, &lane->unmatched_capacity,
               lane->nunmatched + 1))
    return PF_ENOMEM;
  const pf_frame before = take_base(lane, e->time);
  lane->unmatched[lane->nunmatched++] =
      (pf_unmatched_leave){slot->area, before.net, 0, before.children, e->time};
  slot->last_leave = e->time;
  slot->left = true;
  return pf_lanes_renew(&m->lanes, e->slot);
}


/* In a chunk: a function is suspended or resumed that was entered in an earlier
   one. */
static pf_status push_earlier (pf_machine *m, const call_event *e,
                               bool is_resume) {
  pf_lane *const lane = e->lane;
  if (m->lanes.slots[e->slot].kind != PF_KIND_FUNCTION || lane->count > 1) {
    m->needs_reread = true;
    return PF_OK;
  }
  if (make_room(m, e) != PF_OK)
    return PF_ENOMEM;
  const pf_frame before = take_base(lane, e->time);
  pause_top(lane, e->time);
  pf_frame *const f = push(m, e);
  lane->before = before.net;
  f->children = before.children;
  f->is_earlier = true;
  f->state = is_resume ? PF_FRAME_RUNNING : PF_FRAME_SUSPENDED;
  return PF_OK;
}


/* A leave without an enter. A function or state on an empty stack gets all the
   time of frame 0. */
static void leave_orphan (pf_machine *m, const call_event *e) {
  pf_lane *const lane = e->lane;
  pf_slot *const slot = &m->lanes.slots[e->slot];
  pf_frame f = {.start = e->time,
                .period = PF_NO_TIME,
                .outside = PF_NO_TIME,
                .slot = e->slot,
                .stack = stack_of(m, innermost(lane), slot),
                .depth = innermost(lane)->depth + 1};
  if (lane->count == 1 && slot->kind != PF_KIND_LINE) {
    const pf_frame before = take_base(lane, e->time);
    f.start = before.start;
    f.net = before.net;
    f.children = before.children;
  }
  const uint64_t gross = add_clamped(f.net, f.children);
  if (lane->count == 1 && slot->kind == PF_KIND_FUNCTION)
    lane->frames[0].children = gross;
  else if (lane->count == 1 && slot->kind != PF_KIND_LINE)
    pf_lane_begin(lane, e->time, lane->epoch);
  slot->last_leave = e->time;
  slot->left = true;
  emit_frame(m, &f, pf_frame_area(&m->lanes, innermost(lane)), gross, e->time,
             PF_CALL_ORPHAN | e->flags);
}


/* A function without an enter appears while only a line is on the stack: move
   it below the line. */
static void swap_with_line (pf_machine *m, pf_lane *lane) {
  pf_frame *const f = lane->frames;
  const pf_frame line = f[1];
  f[1] = f[2];
  f[2] = line;
  f[1].index = 1;
  f[2].index = 2;
  f[2].depth = f[1].depth + 1;
  m->lanes.slots[f[1].slot].top = 1;
  m->lanes.slots[f[2].slot].top = 2;
}


/* A suspend or resume without an enter: push the call, if it can be there. It
   takes the children of frame 0 and, if it is suspended, its net. */
static pf_status push_orphan (pf_machine *m, const call_event *e,
                              bool is_resume) {
  pf_lane *const lane = e->lane;
  const pf_slot *const slot = &m->lanes.slots[e->slot];
  const bool is_line = slot->kind == PF_KIND_LINE;
  const bool is_below = !is_line && lane->count == 2 && lane->frames[1].is_line;
  if (slot->kind > PF_KIND_LINE || (!is_resume && lane->count > 1 && !is_below))
    return PF_OK;
  if (make_room(m, e) != PF_OK)
    return PF_ENOMEM;
  pf_frame before = {.start = e->time};
  if (is_line)
    end_sibling(m, e, PF_CALL_UNWOUND);
  else if (lane->count == 1 || is_below)
    before = take_base(lane, e->time);
  if (lane->count == 1)
    before.start = lane->frames[0].start;
  if (is_below)
    stop_running(&lane->frames[0], e->time, PF_FRAME_PAUSED);
  else if (!is_line)
    pause_top(lane, e->time);
  pf_frame *const f = push(m, e);
  f->start = before.start;
  f->flags |= PF_CALL_ORPHAN;
  f->is_counted = false;
  f->children = before.children;
  f->net = is_resume ? 0 : before.net;
  f->state = is_resume ? PF_FRAME_RUNNING : PF_FRAME_SUSPENDED;
  if (is_below)
    swap_with_line(m, lane);
  return PF_OK;
}

/* }====== */


/* {====== Leave, suspend and resume ====== */

static pf_status leave (pf_machine *m, const call_event *e) {
  pf_lane *const lane = e->lane;
  const uint32_t frame = m->lanes.slots[e->slot].top;
  if (frame == 0 && m->is_chunk)
    return leave_earlier(m, e);
  if (frame == 0) {
    leave_orphan(m, e);
    return PF_OK;
  }
  while (lane->count - 1 > frame)
    close_top(m, lane, e->time, PF_CALL_UNWOUND);
  const bool is_earlier = lane->frames[frame].is_earlier;
  if (is_earlier && !pf_grow(&lane->unmatched, &lane->unmatched_capacity,
                             lane->nunmatched + 1))
    return PF_ENOMEM;
  close_top(m, lane, e->time, e->flags);
  return is_earlier ? pf_lanes_renew(&m->lanes, e->slot) : PF_OK;
}


/* Set flags of a frame; it needs the general path then. */
static void flag_frame (pf_frame *f, unsigned flags) {
  if (flags == 0)
    return;
  f->flags |= (uint8_t)flags;
  f->is_fast = false;
  f->word = PF_NO_WORD;
}


static pf_status suspend (pf_machine *m, const call_event *e) {
  const uint32_t frame = m->lanes.slots[e->slot].top;
  if (frame == 0)
    return m->is_chunk ? push_earlier(m, e, false) : push_orphan(m, e, false);
  stop_running(&e->lane->frames[frame], e->time, PF_FRAME_SUSPENDED);
  flag_frame(&e->lane->frames[frame], e->flags);
  return PF_OK;
}


static pf_status resume (pf_machine *m, const call_event *e) {
  const uint32_t frame = m->lanes.slots[e->slot].top;
  if (frame == 0)
    return m->is_chunk ? push_earlier(m, e, true) : push_orphan(m, e, true);
  pf_frame *const f = &e->lane->frames[frame];
  if (f->state != PF_FRAME_RUNNING)
    f->since = e->time;
  f->state = PF_FRAME_RUNNING;
  flag_frame(f, e->flags);
  return PF_OK;
}

/* }====== */


/* {====== Events ====== */

/* The next event does not continue the previous ones: end all open calls. */
static void end_all (pf_machine *m, unsigned flag) {
  while (m->busy != NULL) {
    pf_lane *const lane = m->busy;
    while (lane->count > 1)
      close_top(m, lane, m->last, flag);
  }
  m->epoch++;
}


static void reset_time (pf_lane *lane) {
  if (lane != NULL)
    lane->last = INT64_MIN;
}


/* Another run begins, whose times are not related to those before. */
static void begin_new_run (pf_machine *m, unsigned flag) {
  end_all(m, m->after_range ? PF_CALL_CUT : flag);
  for (size_t i = 0; i < m->lanes.nlanes; i++)
    reset_time(m->lanes.lanes[i]);
  for (size_t i = 0; i < m->lanes.ngroups; i++)
    reset_time(m->lanes.groups[i]);
  m->has_begun = m->after_range = false;
  m->before_range = m->options.has_from;
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
    f->is_fast = false;
    f->word = PF_NO_WORD;
  }
}


/* Check whether the range begins or ends before an event at `time`. */
static void check_range (pf_machine *m, int64_t time) {
  const pf_lanes *const lanes = &m->lanes;
  if (m->before_range && time >= m->options.from) {
    for (size_t i = 0; i < lanes->nlanes; i++)
      cut_lane(lanes->lanes[i], m->options.from);
    for (size_t i = 0; i < lanes->ngroups; i++)
      cut_lane(lanes->groups[i], m->options.from);
    m->before_range = false;
    if (m->has_begun)
      m->first = m->last = m->options.from;
  }
  if (m->options.has_to && time >= m->options.to) {
    m->after_range = true;
    if (m->options.to > m->last)
      m->last = m->options.to;
  }
}


static void apply_flags (pf_machine *m, call_event *e) {
  if ((e->flags & PF_CALL_NEW_FILE) != 0 && m->has_begun)
    begin_new_run(m, PF_CALL_OPEN);
  else if ((e->flags & PF_CALL_GAP) != 0 && m->has_begun) {
    if (e->time < m->last)
      begin_new_run(m, PF_CALL_GAP);
    else
      end_all(m, PF_CALL_GAP);
  }
  if ((e->flags & PF_CALL_LOST) != 0)
    m->losses++;
  e->flags &= ~(unsigned)(PF_CALL_GAP | PF_CALL_LOST | PF_CALL_NEW_FILE);
}


static pf_status dispatch (pf_machine *m, const call_event *e, uint8_t kind) {
  const uint8_t slot_kind = m->lanes.slots[e->slot].kind;
  if (m->is_chunk && slot_kind >= PF_KIND_STATE &&
      (kind != PF_EVENT_WRITE || slot_kind == PF_KIND_STATE))
    m->needs_reread = true;
  if (kind == PF_EVENT_WRITE)
    return write(m, e);
  switch (kind) {
    case PF_EVENT_ENTER:
      return enter(m, e, slot_kind == PF_KIND_STATE ? 0 : PF_CALL_UNWOUND);
    case PF_EVENT_LEAVE: return leave(m, e);
    case PF_EVENT_SUSPEND: return suspend(m, e);
    default: return resume(m, e);
  }
}


static void record_time (pf_machine *m, int64_t time) {
  if (!m->has_begun)
    m->first = m->last = time;
  m->has_begun = true;
  if (time > m->last)
    m->last = time;
}


/* Allow the fast path for a function that has been entered and left in this
   epoch. */
static void update_fast (pf_machine *m, uint32_t number) {
  pf_slot *const slot = &m->lanes.slots[number];
  if (slot->kind == PF_KIND_FUNCTION && slot->entered && slot->left)
    slot->fast_epoch = m->epoch;
}


/* Find the slot and the lane of an area, and advance the time of the lane to
   that of the event. PF_ENOMEM. */
static pf_status find_slot (pf_machine *m, uint32_t lane, uint32_t area,
                            call_event *e) {
  if (pf_slot_find(&m->lanes, lane, area, m->first, &e->slot) != PF_OK)
    return PF_ENOMEM;
  pf_slot *const slot = &m->lanes.slots[e->slot];
  e->lane = slot->lane;
  if (slot->epoch != m->epoch) {
    slot->earlier = pf_slot_last(slot);
    slot->epoch = m->epoch;
    slot->entered = slot->left = false;
  }
  if (e->time < e->lane->last)
    e->time = e->lane->last; /* the time of a lane never goes back */
  e->lane->last = e->time;
  if (e->lane->epoch != m->epoch)
    pf_lane_begin(e->lane, e->time, m->epoch);
  return PF_OK;
}


/* Entering or writing a state also writes its variable. */
static pf_status write_variable (pf_machine *m, const pf_event_rows *rows,
                                 size_t i, const call_event *of_state) {
  const uint32_t variable =
      pf_area_at(m->lanes.dictionary, rows->areas[i])->parent;
  call_event e = *of_state;
  if ((rows->kinds[i] != PF_EVENT_ENTER && rows->kinds[i] != PF_EVENT_WRITE) ||
      variable == PF_NO_AREA ||
      pf_area_kind_of(m->lanes.dictionary, true, variable) != PF_KIND_VALUE)
    return PF_OK;
  e.flags = 0;
  return find_slot(m, rows->lanes[i], variable, &e) == PF_OK ? write(m, &e)
                                                             : PF_ENOMEM;
}


pf_status pf_machine_process_one (pf_machine *m, const pf_event_rows *rows,
                                  size_t i) {
  call_event e = {NULL, 0, rows->times[i], rows->flags ? rows->flags[i] : 0, i};
  if (e.flags != 0)
    apply_flags(m, &e);
  if (rows->kinds[i] == PF_EVENT_NONE)
    return PF_OK;
  if (m->before_range || m->options.has_to)
    check_range(m, e.time);
  if (m->after_range)
    return PF_OK;
  record_time(m, e.time);
  if (rows->kinds[i] == PF_EVENT_OTHER)
    return PF_OK;
  if (find_slot(m, rows->lanes[i], rows->areas[i], &e) != PF_OK)
    return PF_ENOMEM;
  const bool is_state = m->lanes.slots[e.slot].kind == PF_KIND_STATE;
  const pf_status status = dispatch(m, &e, rows->kinds[i]);
  update_fast(m, e.slot);
  return is_state && status == PF_OK ? write_variable(m, rows, i, &e) : status;
}


pf_status pf_machine_reserve (pf_machine *m, size_t count) {
  m->ncalls = 0;
  return pf_grow(&m->calls, &m->capacity, count) ? PF_OK : PF_ENOMEM;
}


pf_status pf_machine_process (pf_machine *m, const pf_event_rows *rows,
                              size_t from, size_t to) {
  pf_status status = pf_machine_reserve(m, m->open + 2 * (to - from));
  const bool is_fast = rows->flags == NULL && !m->before_range &&
                       !m->options.has_to && m->details == NULL;
  if (status == PF_OK && is_fast)
    status = pf_fast_process(m, rows, from, to);
  for (size_t i = from; !is_fast && i < to && status == PF_OK; i++)
    status = pf_machine_process_one(m, rows, i);
  return m->is_out_of_memory ? PF_ENOMEM : status;
}

/* }====== */


/* {====== The end ====== */

static void finish_lane (pf_machine *m, pf_lane *lane) {
  while (lane != NULL && lane->count > 1)
    close_top(m, lane, m->last, m->after_range ? PF_CALL_CUT : PF_CALL_OPEN);
}


/* Emit a row with the time after the last leave of an area. */
static void emit_outside_tail (pf_machine *m, uint32_t number) {
  const pf_slot *const slot = &m->lanes.slots[number];
  if (!slot->left || slot->epoch != m->epoch)
    return;
  *next_call(m) =
      (pf_call){.start = slot->last_leave,
                .stop = m->last,
                .durations = {PF_NO_TIME, PF_NO_TIME, PF_NO_TIME, PF_NO_TIME,
                              duration(elapsed(slot->last_leave, m->last))},
                .slot = number,
                .caller = PF_NO_AREA,
                .stack = PF_NO_STACK,
                .depth = 1};
  emit(m, 0);
}


pf_status pf_machine_finish (pf_machine *m) {
  const pf_lanes *const lanes = &m->lanes;
  if (m->options.has_last && !m->after_range && m->last < m->options.last)
    m->last = m->options.last;
  if (pf_machine_reserve(m, m->open + lanes->nslots) != PF_OK)
    return PF_ENOMEM;
  const uint32_t tails = m->options.edges ? lanes->nslots : 0;
  uint32_t *const open = tails == 0 ? NULL : calloc(tails, sizeof *open);
  if (tails > 0 && open == NULL)
    return PF_ENOMEM;
  for (uint32_t i = 0; i < tails; i++)
    open[i] = lanes->slots[i].top;
  for (size_t i = 0; i < lanes->nlanes; i++)
    finish_lane(m, lanes->lanes[i]);
  for (size_t i = 0; i < lanes->ngroups; i++)
    finish_lane(m, lanes->groups[i]);
  for (uint32_t i = 0; i < tails; i++)
    if (open[i] == 0)
      emit_outside_tail(m, i);
  free(open);
  return PF_OK;
}

/* }====== */
