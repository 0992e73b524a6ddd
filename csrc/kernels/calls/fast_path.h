/*
** fast_path.h - the fast path for most events: functions that call each other
** and return, without lines, flags or losses. Private to state_machine.c
** and fast_path.c.
**
** These functions have the effect of enter, leave, suspend and resume of
** state_machine.c, without the cases that cannot occur here. Each returns false
** and changes nothing when the event needs the general path.
*/

#ifndef fast_path_h
#define fast_path_h

#include "kernels/calls/stack.h"

/* A frame's word: the area above the kind of its enter. */
#define AREA_BITS 12
#define MAX_AREA  (UINT32_MAX >> AREA_BITS)
#define KIND_MASK 15u

/* A run of consecutive events of one lane: the state that they change, kept in
   registers. */
typedef struct fast_run {
  pf_lane *lane;
  pf_frame *top; /* of the stack */
  pf_frame *end; /* the end of the allocated frames */
  int64_t last;  /* the latest time of the lane */
} fast_run;


/* Begin a run of at most `events` events. */
PF_HOT fast_run begin_run (const pf_machine *m, pf_lane *lane, size_t events) {
  const size_t most = (size_t)m->options.max_depth + 1;
  const size_t capacity = lane->capacity < most ? lane->capacity : most;
  const size_t peak =
      lane->count + events < capacity ? lane->count + events : capacity;
  if (lane->peak < peak)
    lane->peak = (uint32_t)peak;
  return (fast_run){lane, &lane->frames[lane->count - 1],
                    lane->frames + capacity, lane->last};
}


/* Write the state of a run back. */
PF_HOT void end_run (pf_machine *m, const fast_run *r) {
  pf_lane *const lane = r->lane;
  const uint32_t count = r->top->index + 1;
  m->open = m->open - lane->count + count;
  lane->count = count;
  lane->last = r->last;
  if (m->last < r->last)
    m->last = r->last;
}


/* The slot of an area in a lane, or PF_NO_SLOT when it is unknown. */
PF_HOT uint32_t known_slot (const pf_lane *lane, uint32_t area) {
  return area < lane->ndirect ? lane->direct[area] : PF_NO_SLOT;
}


/* A known function is entered. */
PF_HOT bool enter_fast (pf_machine *m, fast_run *r, uint32_t word,
                        int64_t time) {
  pf_frame *const top = r->top, *const f = top + 1;
  const uint32_t number = known_slot(r->lane, word >> AREA_BITS);
  if (number == PF_NO_SLOT || f >= r->end || top->is_line)
    return false;
  pf_slot *const slot = &m->lanes.slots[number];
  if (slot->fast_epoch != m->epoch || (slot->top != 0 && m->options.outermost))
    return false;
  if (top->index == 0)
    link_busy(m, r->lane);
  if (top->state == PF_FRAME_RUNNING) {
    top->net += elapsed(top->since, time);
    top->state = PF_FRAME_PAUSED;
  }
  f->start = f->since = time;
  f->net = f->children = 0;
  f->period = duration(elapsed(slot->last_enter, time));
  f->outside =
      slot->top != 0 ? PF_NO_TIME : duration(elapsed(slot->last_leave, time));
  f->slot = number;
  f->below = slot->top;
  f->depth = top->depth + 1;
  f->index = top->index + 1;
  f->losses = m->losses;
  f->word = word;
  f->stack = stack_of(m, top, slot);
  f->state = PF_FRAME_RUNNING;
  f->flags = 0;
  f->is_line = f->is_first = f->is_earlier = false;
  f->is_counted = f->is_fast = true;
  slot->last_enter = time;
  slot->top = f->index;
  r->top = f;
  return true;
}


/* Append the call of a frame that ends to the calls of the machine. */
PF_HOT void emit_fast (pf_machine *m, const pf_frame *f, uint64_t net,
                       uint64_t gross, int64_t time) {
  pf_call *const call = &m->calls[m->ncalls++];
  call->start = f->start;
  call->stop = time;
  call->durations[PF_NET] = duration(net);
  call->durations[PF_GROSS] = duration(gross);
  call->durations[PF_CALL] = duration(elapsed(f->start, time));
  call->durations[PF_PERIOD] = f->period;
  call->durations[PF_OUTSIDE] = f->outside;
  call->slot = f->slot;
  call->caller = pf_frame_area(&m->lanes, f - 1);
  call->depth = f->depth;
  call->stack = f->stack;
  call->flags = 0;
  call->count = 1;
}


/* The function on top of the stack is left, and its caller continues. */
PF_HOT bool leave_fast (pf_machine *m, fast_run *r, int64_t time) {
  pf_frame *const f = r->top, *const caller = f - 1;
  if (f->losses != m->losses)
    return false;
  uint64_t net = f->net;
  if (f->state == PF_FRAME_RUNNING)
    net += elapsed(f->since, time);
  const uint64_t gross = add_clamped(net, f->children);
  pf_slot *const slot = &m->lanes.slots[f->slot];
  emit_fast(m, f, net, gross, time);
  slot->top = f->below;
  slot->last_leave = time;
  r->top = caller;
  if (caller->index == 0)
    unlink_busy(m, r->lane);
  caller->children = add_clamped(caller->children, gross);
  run_again(caller, time);
  return true;
}


PF_HOT bool suspend_fast (pf_frame *f, int64_t time) {
  stop_running(f, time, PF_FRAME_SUSPENDED);
  return true;
}


PF_HOT bool resume_fast (pf_frame *f, int64_t time) {
  f->since = f->state == PF_FRAME_RUNNING ? f->since : time;
  f->state = PF_FRAME_RUNNING;
  return true;
}


/* Write a variable that has been written before. */
bool pf_fast_write (pf_machine *machine, const pf_lane *lane, uint32_t word,
                    int64_t time);

/* Suspend or resume the call on top of the stack when its word is unknown; sets
   the word for later events. */
bool pf_fast_pause (const fast_run *run, uint32_t word, int64_t time);

/* As pf_machine_process for events without flags, when there is no range of
   times. */
pf_status pf_fast_process (pf_machine *machine, const pf_event_rows *rows,
                           size_t from, size_t to);

/* Process one event on the general path (state_machine.c). PF_ENOMEM. */
pf_status pf_machine_process_one (pf_machine *machine,
                                  const pf_event_rows *rows, size_t row);


/* Process an event whose word does not match the call on top. */
PF_HOT bool process_other (pf_machine *m, fast_run *r, uint32_t word,
                           int64_t time) {
  const uint32_t kind = word & KIND_MASK;
  if (kind == PF_EVENT_ENTER)
    return enter_fast(m, r, word, time);
  return kind < PF_EVENT_WRITE && pf_fast_pause(r, word, time);
}


/*
** Process one event, given as a word. Its time is not before that of the
** previous event or the last time of the lane.
*/
PF_HOT bool process_fast (pf_machine *m, fast_run *r, uint32_t word,
                          int64_t time) {
  const uint32_t change = word ^ r->top->word;
  bool done;
  if (change == (PF_EVENT_ENTER ^ PF_EVENT_LEAVE))
    done = leave_fast(m, r, time);
  else if (change == (PF_EVENT_ENTER ^ PF_EVENT_SUSPEND))
    done = suspend_fast(r->top, time);
  else if (change == (PF_EVENT_ENTER ^ PF_EVENT_RESUME))
    done = resume_fast(r->top, time);
  else if ((word & KIND_MASK) == PF_EVENT_WRITE)
    return pf_fast_write(m, r->lane, word, time);
  else
    done = process_other(m, r, word, time);
  if (done)
    r->last = time;
  return done;
}

#endif
