/*
** call_machine.c - the stacks of the lanes. Each event looks at the top of one
** stack and, through its slot, at the call it means: none is searched for.
*/

#include "kernels/calls/call_machine.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/calls/fast_path.h"

#define MAX_DEPTH 65536

void pf_machine_init (pf_machine *m, const pf_call_options *options,
                      pf_dictionary *dictionary, bool has_areas) {
  memset(m, 0, sizeof *m);
  m->options = *options;
  if (m->options.max_depth == 0)
    m->options.max_depth = MAX_DEPTH;
  m->is_before = options->has_from;
  pf_lanes_init(&m->lanes, dictionary, has_areas);
}


void pf_machine_free (pf_machine *m) {
  pf_lanes_free(&m->lanes);
  free(m->calls);
}


/* {====== Enter and write ====== */

/* The time since the last enter of the area. */
static int64_t period_of (pf_slot *slot, int64_t time) {
  const int64_t period =
      slot->entered ? length(span(slot->last_enter, time)) : PF_NO_TIME;
  slot->last_enter = time;
  slot->entered = true;
  return period;
}


/* The time since its last leave. */
static int64_t outside_of (const pf_machine *m, const pf_slot *slot,
                           int64_t time) {
  if (slot->top != 0)
    return PF_NO_TIME;
  if (slot->left)
    return length(span(slot->last_leave, time));
  if (!m->options.edges || m->epoch != 0 || m->is_part)
    return PF_NO_TIME;
  return time < m->first ? 0 : length(span(m->first, time));
}


/* Entering a line or a state ends the one before. */
static void end_sibling (pf_machine *m, const moment *at, unsigned flags) {
  if (at->lane->frames[at->lane->count - 1].is_line)
    close_top(m, at->lane, at->time, flags);
}


/* Of a part: what came before the first enter of a slot is found when it is
   merged. */
static void note_first (pf_slot *slot, int64_t time) {
  slot->is_met = slot->has_first = true;
  slot->is_outside_open = !slot->left;
  slot->first_enter = time;
}


/* `sibling`: the flags of a line or state that this one ends. */
static pf_status enter (pf_machine *m, const moment *at, unsigned sibling) {
  pf_slot *const slot = &m->lanes.slots[at->slot];
  if (make_room(m, at) != PF_OK)
    return PF_ENOMEM;
  if (slot->kind == PF_KIND_FUNCTION)
    pause_top(at->lane, at->time);
  else
    end_sibling(m, at, sibling);
  const int64_t period = period_of(slot, at->time);
  const int64_t outside = outside_of(m, slot, at->time);
  pf_frame *const f = push(m, at);
  f->period = period;
  f->outside = outside;
  if (m->details != NULL) {
    f->detail = pf_details_keep(m->details, at->row);
    m->is_out_of_memory |= f->detail == 0;
  }
  if (m->is_part && !slot->is_met) {
    f->is_first = true;
    note_first(slot, at->time);
  }
  f->is_plain = slot->kind == PF_KIND_FUNCTION && at->flags == 0 &&
                slot->left && !f->is_first && !f[-1].is_line &&
                !(m->options.outermost && f->below != 0);
  return PF_OK;
}


/* A value is written: a state begins, or a variable has a call without
   length. PF_ENOMEM. */
static pf_status write (pf_machine *m, const moment *at) {
  pf_slot *const slot = &m->lanes.slots[at->slot];
  if (slot->kind == PF_KIND_STATE)
    return slot->top != 0 ? PF_OK : enter(m, at, 0);
  *next_call(m) =
      (pf_call){.start = at->time,
                .stop = at->time,
                .lengths = {0, 0, 0, period_of(slot, at->time), PF_NO_TIME},
                .slot = at->slot,
                .caller = PF_NO_AREA,
                .stack = PF_NO_STACK,
                .depth = 1,
                .flags = (uint16_t)at->flags,
                .count = 1};
  emit(m, at->flags);
  if (m->is_part && !slot->is_met) {
    note_first(slot, at->time);
    slot->is_first_kept = true;
  }
  return PF_OK;
}

/* }====== */


/* {====== What was entered before the trace began ====== */

/* Take the time so far of what was there before from the base of a lane, on
   which nothing lies. */
static pf_frame take_base (pf_lane *lane, int64_t time) {
  pf_frame *const base = &lane->frames[0];
  stop_running(base, time, PF_FRAME_PAUSED);
  const pf_frame f = *base;
  base->net = base->children = 0;
  run_again(base, time);
  return f;
}


/* Of a part: make room for one more piece. */
static bool reserve_piece (pf_lane *lane) {
  if (lane->npieces < lane->pieces_room)
    return true;
  const size_t room = lane->pieces_room == 0 ? 16 : lane->pieces_room * 2;
  pf_unmatched_leave *const pieces =
      realloc(lane->pieces, room * sizeof *pieces);
  if (pieces == NULL)
    return false;
  lane->pieces = pieces;
  lane->pieces_room = room;
  return true;
}


/* Of a part: a function is left that was entered before it. */
static pf_status leave_old (pf_machine *m, const moment *at) {
  pf_lane *const lane = at->lane;
  pf_slot *const slot = &m->lanes.slots[at->slot];
  if (slot->kind != PF_KIND_FUNCTION || lane->count > 1) {
    m->needs_reread = true;
    return PF_OK;
  }
  if (!reserve_piece(lane))
    return PF_ENOMEM;
  const pf_frame before = take_base(lane, at->time);
  lane->pieces[lane->npieces++] = (pf_unmatched_leave){
      slot->area, before.net, 0, before.children, at->time};
  slot->last_leave = at->time;
  slot->left = true;
  return pf_lanes_renew(&m->lanes, at->slot);
}


/* Of a part: a function is suspended or resumed that was entered before it. */
static pf_status appear_old (pf_machine *m, const moment *at, bool is_resume) {
  pf_lane *const lane = at->lane;
  if (m->lanes.slots[at->slot].kind != PF_KIND_FUNCTION || lane->count > 1) {
    m->needs_reread = true;
    return PF_OK;
  }
  if (make_room(m, at) != PF_OK)
    return PF_ENOMEM;
  const pf_frame before = take_base(lane, at->time);
  pause_top(lane, at->time);
  pf_frame *const f = push(m, at);
  lane->before = before.net;
  f->children = before.children;
  f->is_old = true;
  f->state = is_resume ? PF_FRAME_RUNNING : PF_FRAME_SUSPENDED;
  return PF_OK;
}


/* A leave without enter. A function with nothing above it had all the time so
   far, and so had a state. */
static void leave_orphan (pf_machine *m, const moment *at) {
  pf_lane *const lane = at->lane;
  pf_slot *const slot = &m->lanes.slots[at->slot];
  pf_frame f = {.start = at->time,
                .period = PF_NO_TIME,
                .outside = PF_NO_TIME,
                .slot = at->slot,
                .stack = stack_of(m, innermost(lane), slot),
                .depth = innermost(lane)->depth + 1};
  if (lane->count == 1 && slot->kind != PF_KIND_LINE) {
    const pf_frame before = take_base(lane, at->time);
    f.start = before.start;
    f.net = before.net;
    f.children = before.children;
  }
  const uint64_t gross = sum(f.net, f.children);
  if (lane->count == 1 && slot->kind == PF_KIND_FUNCTION)
    lane->frames[0].children = gross;
  else if (lane->count == 1 && slot->kind != PF_KIND_LINE)
    pf_lane_begin(lane, at->time, lane->epoch);
  slot->last_leave = at->time;
  slot->left = true;
  emit_frame(m, &f, pf_frame_area(&m->lanes, innermost(lane)), gross, at->time,
             PF_CALL_ORPHAN | at->flags);
}


/* A function is met whose enter is not in the trace, with only a line on the
   stack: it lies below it. */
static void slide_below (pf_machine *m, pf_lane *lane) {
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


/* A suspend or resume without enter: the call is put on the stack, if that is
   where it must be. A function takes what its calls have spent, and when it is
   suspended, what it spent itself. */
static pf_status appear (pf_machine *m, const moment *at, bool is_resume) {
  pf_lane *const lane = at->lane;
  const pf_slot *const slot = &m->lanes.slots[at->slot];
  const bool is_line = slot->kind == PF_KIND_LINE;
  const bool is_below = !is_line && lane->count == 2 && lane->frames[1].is_line;
  if (slot->kind > PF_KIND_LINE || (!is_resume && lane->count > 1 && !is_below))
    return PF_OK;
  if (make_room(m, at) != PF_OK)
    return PF_ENOMEM;
  pf_frame before = {.start = at->time};
  if (is_line)
    end_sibling(m, at, PF_CALL_UNWOUND);
  else if (lane->count == 1 || is_below)
    before = take_base(lane, at->time);
  if (lane->count == 1)
    before.start = lane->frames[0].start;
  if (is_below)
    stop_running(&lane->frames[0], at->time, PF_FRAME_PAUSED);
  else if (!is_line)
    pause_top(lane, at->time);
  pf_frame *const f = push(m, at);
  f->start = before.start;
  f->flags |= PF_CALL_ORPHAN;
  f->is_counted = false;
  f->children = before.children;
  f->net = is_resume ? 0 : before.net;
  f->state = is_resume ? PF_FRAME_RUNNING : PF_FRAME_SUSPENDED;
  if (is_below)
    slide_below(m, lane);
  return PF_OK;
}

/* }====== */


/* {====== Leave, suspend and resume ====== */

static pf_status leave (pf_machine *m, const moment *at) {
  pf_lane *const lane = at->lane;
  const uint32_t frame = m->lanes.slots[at->slot].top;
  if (frame == 0 && m->is_part)
    return leave_old(m, at);
  if (frame == 0) {
    leave_orphan(m, at);
    return PF_OK;
  }
  while (lane->count - 1 > frame)
    close_top(m, lane, at->time, PF_CALL_UNWOUND);
  const bool is_old = lane->frames[frame].is_old;
  if (is_old && !reserve_piece(lane))
    return PF_ENOMEM;
  close_top(m, lane, at->time, at->flags);
  return is_old ? pf_lanes_renew(&m->lanes, at->slot) : PF_OK;
}


/* A frame with flags is left in the long way. */
static void mark_frame (pf_frame *f, unsigned flags) {
  if (flags == 0)
    return;
  f->flags |= (uint8_t)flags;
  f->is_plain = false;
  f->word = PF_NO_WORD;
}


static pf_status suspend (pf_machine *m, const moment *at) {
  const uint32_t frame = m->lanes.slots[at->slot].top;
  if (frame == 0)
    return m->is_part ? appear_old(m, at, false) : appear(m, at, false);
  stop_running(&at->lane->frames[frame], at->time, PF_FRAME_SUSPENDED);
  mark_frame(&at->lane->frames[frame], at->flags);
  return PF_OK;
}


static pf_status resume (pf_machine *m, const moment *at) {
  const uint32_t frame = m->lanes.slots[at->slot].top;
  if (frame == 0)
    return m->is_part ? appear_old(m, at, true) : appear(m, at, true);
  pf_frame *const f = &at->lane->frames[frame];
  if (f->state != PF_FRAME_RUNNING)
    f->since = at->time;
  f->state = PF_FRAME_RUNNING;
  mark_frame(f, at->flags);
  return PF_OK;
}

/* }====== */


/* {====== Events ====== */

/* What follows does not continue what came before: all open calls end. */
static void end_all (pf_machine *m, unsigned flag) {
  while (m->busy != NULL) {
    pf_lane *const lane = m->busy;
    while (lane->count > 1)
      close_top(m, lane, m->last, flag);
  }
  m->epoch++;
}


static void forget_time (pf_lane *lane) {
  if (lane != NULL)
    lane->last = INT64_MIN;
}


/* Another run begins, whose times do not follow those before. */
static void begin_anew (pf_machine *m, unsigned flag) {
  end_all(m, m->is_behind ? PF_CALL_CUT : flag);
  for (size_t i = 0; i < m->lanes.nlanes; i++)
    forget_time(m->lanes.lanes[i]);
  for (size_t i = 0; i < m->lanes.ngroups; i++)
    forget_time(m->lanes.groups[i]);
  m->has_begun = m->is_behind = false;
  m->is_before = m->options.has_from;
}


/* The range begins: what is open has spent nothing in it so far. */
static void cut_lane (pf_lane *lane, int64_t from) {
  for (uint32_t i = 0; lane != NULL && i < lane->count; i++) {
    pf_frame *const f = &lane->frames[i];
    f->start = f->since = from;
    f->net = f->children = 0;
    f->period = f->outside = PF_NO_TIME;
    f->is_counted = false;
    f->flags |= PF_CALL_CUT;
    f->is_plain = false;
    f->word = PF_NO_WORD;
  }
}


/* Look whether the range begins or ends before an event at `time`. */
static void check_range (pf_machine *m, int64_t time) {
  const pf_lanes *const lanes = &m->lanes;
  if (m->is_before && time >= m->options.from) {
    for (size_t i = 0; i < lanes->nlanes; i++)
      cut_lane(lanes->lanes[i], m->options.from);
    for (size_t i = 0; i < lanes->ngroups; i++)
      cut_lane(lanes->groups[i], m->options.from);
    m->is_before = false;
    if (m->has_begun)
      m->first = m->last = m->options.from;
  }
  if (m->options.has_to && time >= m->options.to) {
    m->is_behind = true;
    if (m->options.to > m->last)
      m->last = m->options.to;
  }
}


static void mark (pf_machine *m, moment *at) {
  if ((at->flags & PF_CALL_NEW_FILE) != 0 && m->has_begun)
    begin_anew(m, PF_CALL_OPEN);
  else if ((at->flags & PF_CALL_GAP) != 0 && m->has_begun) {
    if (at->time < m->last)
      begin_anew(m, PF_CALL_GAP);
    else
      end_all(m, PF_CALL_GAP);
  }
  if ((at->flags & PF_CALL_LOST) != 0)
    m->losses++;
  at->flags &= ~(unsigned)(PF_CALL_GAP | PF_CALL_LOST | PF_CALL_NEW_FILE);
}


static pf_status act (pf_machine *m, const moment *at, uint8_t kind) {
  const uint8_t slot_kind = m->lanes.slots[at->slot].kind;
  if (m->is_part && slot_kind >= PF_KIND_STATE &&
      (kind != PF_EVENT_WRITE || slot_kind == PF_KIND_STATE))
    m->needs_reread = true;
  if (kind == PF_EVENT_WRITE)
    return write(m, at);
  switch (kind) {
    case PF_EVENT_ENTER:
      return enter(m, at, slot_kind == PF_KIND_STATE ? 0 : PF_CALL_UNWOUND);
    case PF_EVENT_LEAVE: return leave(m, at);
    case PF_EVENT_SUSPEND: return suspend(m, at);
    default: return resume(m, at);
  }
}


static void note_time (pf_machine *m, int64_t time) {
  if (!m->has_begun)
    m->first = m->last = time;
  m->has_begun = true;
  if (time > m->last)
    m->last = time;
}


/* A function that has been entered and left in this epoch can be entered in the
   short way: fast_path.h. */
static void note_plain (pf_machine *m, uint32_t number) {
  pf_slot *const slot = &m->lanes.slots[number];
  if (slot->kind == PF_KIND_FUNCTION && slot->entered && slot->left)
    slot->plain = m->epoch;
}


/* Find the slot and the lane of an area, and take its lane to the time of the
   event. PF_ENOMEM. */
static pf_status find_moment (pf_machine *m, uint32_t lane, uint32_t area,
                              moment *at) {
  if (pf_slot_find(&m->lanes, lane, area, m->first, &at->slot) != PF_OK)
    return PF_ENOMEM;
  pf_slot *const slot = &m->lanes.slots[at->slot];
  at->lane = slot->lane;
  if (slot->epoch != m->epoch) {
    slot->earlier = pf_slot_last(slot);
    slot->epoch = m->epoch;
    slot->entered = slot->left = false;
  }
  if (at->time < at->lane->last)
    at->time = at->lane->last; /* in a lane time does not go back */
  at->lane->last = at->time;
  if (at->lane->epoch != m->epoch)
    pf_lane_begin(at->lane, at->time, m->epoch);
  return PF_OK;
}


/* A state that begins, or is written again, is a write to its variable. */
static pf_status write_variable (pf_machine *m, const pf_event_rows *rows,
                                 size_t i, const moment *of_state) {
  const uint32_t variable =
      pf_area_at(m->lanes.dictionary, rows->areas[i])->parent;
  moment at = *of_state;
  if ((rows->kinds[i] != PF_EVENT_ENTER && rows->kinds[i] != PF_EVENT_WRITE) ||
      variable == PF_NO_AREA ||
      pf_area_kind_of(m->lanes.dictionary, true, variable) != PF_KIND_VALUE)
    return PF_OK;
  at.flags = 0;
  return find_moment(m, rows->lanes[i], variable, &at) == PF_OK ? write(m, &at)
                                                                : PF_ENOMEM;
}


pf_status pf_machine_process_one (pf_machine *m, const pf_event_rows *rows,
                                  size_t i) {
  moment at = {NULL, 0, rows->times[i], rows->flags ? rows->flags[i] : 0, i};
  if (at.flags != 0)
    mark(m, &at);
  if (rows->kinds[i] == PF_EVENT_NONE)
    return PF_OK;
  if (m->is_before || m->options.has_to)
    check_range(m, at.time);
  if (m->is_behind)
    return PF_OK;
  note_time(m, at.time);
  if (rows->kinds[i] == PF_EVENT_OTHER)
    return PF_OK;
  if (find_moment(m, rows->lanes[i], rows->areas[i], &at) != PF_OK)
    return PF_ENOMEM;
  const bool is_state = m->lanes.slots[at.slot].kind == PF_KIND_STATE;
  const pf_status status = act(m, &at, rows->kinds[i]);
  note_plain(m, at.slot);
  return is_state && status == PF_OK ? write_variable(m, rows, i, &at) : status;
}


pf_status pf_machine_reserve (pf_machine *m, size_t count) {
  m->ncalls = 0;
  if (count <= m->room)
    return PF_OK;
  pf_call *const calls = realloc(m->calls, count * 2 * sizeof *calls);
  if (calls == NULL)
    return PF_ENOMEM;
  m->calls = calls;
  m->room = count * 2;
  return PF_OK;
}


pf_status pf_machine_process (pf_machine *m, const pf_event_rows *rows,
                              size_t from, size_t to) {
  pf_status status = pf_machine_reserve(m, m->open + 2 * (to - from));
  const bool is_plain = rows->flags == NULL && !m->is_before &&
                        !m->options.has_to && m->details == NULL;
  if (status == PF_OK && is_plain)
    status = pf_fast_process(m, rows, from, to);
  for (size_t i = from; !is_plain && i < to && status == PF_OK; i++)
    status = pf_machine_process_one(m, rows, i);
  return m->is_out_of_memory ? PF_ENOMEM : status;
}

/* }====== */


/* {====== The end ====== */

static void finish_lane (pf_machine *m, pf_lane *lane) {
  while (lane != NULL && lane->count > 1)
    close_top(m, lane, m->last, m->is_behind ? PF_CALL_CUT : PF_CALL_OPEN);
}


/* What remains of the time outside an area after its last leave. */
static void emit_tail (pf_machine *m, uint32_t number) {
  const pf_slot *const slot = &m->lanes.slots[number];
  if (!slot->left || slot->epoch != m->epoch)
    return;
  *next_call(m) =
      (pf_call){.start = slot->last_leave,
                .stop = m->last,
                .lengths = {PF_NO_TIME, PF_NO_TIME, PF_NO_TIME, PF_NO_TIME,
                            length(span(slot->last_leave, m->last))},
                .slot = number,
                .caller = PF_NO_AREA,
                .stack = PF_NO_STACK,
                .depth = 1};
  emit(m, 0);
}


pf_status pf_machine_finish (pf_machine *m) {
  const pf_lanes *const lanes = &m->lanes;
  if (m->options.has_last && !m->is_behind && m->last < m->options.last)
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
      emit_tail(m, i);
  free(open);
  return PF_OK;
}

/* }====== */
