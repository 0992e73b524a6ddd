/*
** fast_path.h - the fast path of state_machine.c for most events: functions
** that call each other and return, without flags, ranges or details. It has no
** arithmetic of its own: it looks up a slot and then uses the operations of
** stack.h. Without it, statistics take 1.3 times as long.
**
** A run is a sequence of events of one lane, of which the top of the stack and
** the last time are in registers. The functions below return false, and change
** nothing, when an event needs the general path.
*/

#ifndef fast_path_h
#define fast_path_h

#include "kernels/calls/stack.h"

typedef struct fast_run {
  pf_lane *lane; /* NULL: none */
  pf_frame *top; /* of the stack */
  pf_frame *end; /* the end of the allocated frames */
  int64_t last;  /* the latest time of the lane */
} fast_run;


/* Begin a run of at most `events` events in a lane, or NULL. */
PF_HOT fast_run begin_run (pf_machine *m, pf_lane *lane, size_t events) {
  if (lane == NULL)
    return (fast_run){.lane = NULL};
  const size_t most = (size_t)m->options.max_depth + 1;
  const size_t capacity = lane->capacity < most ? lane->capacity : most;
  const size_t peak =
      lane->count + events < capacity ? lane->count + events : capacity;
  if (m->chunk.peak < peak)
    m->chunk.peak = (uint32_t)peak;
  return (fast_run){lane, &lane->frames[lane->count - 1],
                    lane->frames + capacity, lane->last};
}


/* Write the state of a run back. */
PF_HOT void end_run (pf_machine *m, const fast_run *r) {
  pf_lane *const lane = r->lane;
  if (lane == NULL)
    return;
  const uint32_t count = (uint32_t)(r->top - lane->frames) + 1;
  m->open = m->open - lane->count + count;
  lane->count = count;
  lane->last = r->last;
  if (m->last < r->last)
    m->last = r->last;
}


PF_HOT bool enter_fast (pf_machine *m, fast_run *r, uint32_t number,
                        int64_t time) {
  pf_slot *const slot = &m->lanes.slots[number];
  pf_frame *const top = r->top, *const f = top + 1;
  if (f >= r->end || top->is_line || slot->plain_epoch != m->epoch)
    return false;
  if (top == r->lane->frames)
    link_busy(m, r->lane);
  pause(top, time);
  begin_frame(m, f, top, number, time, 0);
  time_enter(m, f, slot, time);
  f->is_plain = true;
  slot->top = (uint32_t)(f - r->lane->frames);
  r->top = f;
  return true;
}


/* The function on top of the stack is left, and its caller continues. */
PF_HOT bool leave_fast (pf_machine *m, fast_run *r, int64_t time) {
  pf_frame *const f = r->top, *const caller = f - 1;
  if (!f->is_plain || f->losses != m->losses)
    return false;
  const uint64_t gross = end_frame(m, f, time);
  emit_frame(m, f, pf_frame_area(&m->lanes, caller), gross, time, 0);
  add_gross(caller, gross, time);
  if (caller == r->lane->frames)
    unlink_busy(m, r->lane);
  r->top = caller;
  return true;
}


/* Process an event of the lane of a run. */
PF_HOT bool process_fast (pf_machine *m, fast_run *r, uint8_t kind,
                          uint32_t area, int64_t time) {
  const pf_lane *const lane = r->lane;
  bool done = time >= r->last && area < lane->ndirect;
  const uint32_t number = done ? lane->direct[area] : PF_NO_SLOT;
  if (number == PF_NO_SLOT)
    return false;
  if (kind == PF_EVENT_ENTER)
    done = enter_fast(m, r, number, time);
  else if (number != r->top->slot || kind > PF_EVENT_RESUME)
    return false;
  else if (kind == PF_EVENT_LEAVE)
    done = leave_fast(m, r, time);
  else if (kind == PF_EVENT_SUSPEND)
    stop_running(r->top, time, PF_FRAME_SUSPENDED);
  else
    start_running(r->top, time);
  if (done)
    r->last = time;
  return done;
}

#endif
