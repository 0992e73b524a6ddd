/*
** fast_path.h - the fast path for most events: functions that call each other
** and return, without lines, flags or losses. Private to state_machine.c,
** fast_path.c and fast_packed.c.
**
** These functions have the effect of enter, leave, suspend and resume of
** state_machine.c, without the cases that cannot occur here. Each returns false
** and changes nothing when the event needs the general path.
*/

#ifndef fast_path_h
#define fast_path_h

#include "kernels/statistics/groups.h"
#include "kernels/calls/stack.h"

/* A run of consecutive events of one lane: the state that they change, kept in
   registers. */
typedef struct fast_run {
  pf_lane *lane;
  uint32_t bits; /* the lane as in packed words (model/rows/packed.h) */
  pf_frame *top; /* of the stack */
  pf_frame *end; /* the end of the allocated frames */
  int64_t last;  /* the latest time of the lane */
} fast_run;


/* Begin a run of at most `events` events. */
PF_HOT fast_run begin_run (const pf_machine *m, pf_lane *lane, uint32_t bits,
                           size_t events) {
  const size_t most = (size_t)m->options.max_depth + 1;
  const size_t capacity = lane->capacity < most ? lane->capacity : most;
  const size_t peak =
      lane->count + events < capacity ? lane->count + events : capacity;
  if (lane->peak < peak)
    lane->peak = (uint32_t)peak;
  return (fast_run){lane, bits, &lane->frames[lane->count - 1],
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
PF_HOT bool enter_fast (pf_machine *m, fast_run *r, uint32_t word, int64_t time,
                        const pf_groups *groups) {
  pf_frame *const top = r->top, *const f = top + 1;
  const uint32_t number = known_slot(r->lane, pf_packed_area(word));
  if (number == PF_NO_SLOT || f >= r->end || top->is_line)
    return false;
  pf_slot *const slot = &m->lanes.slots[number];
  if (slot->fast_epoch != m->epoch || (slot->top != 0 && m->options.outermost))
    return false;
  if (top->index == 0)
    link_busy(m, r->lane);
  if (groups != NULL)
    pf_call_sums_prefetch(&groups->sums, slot->group);
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
  f->stack = groups != NULL ? PF_NO_STACK : stack_of(m, top, slot);
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


/* Accumulate the call in the group of its slot. False when the group is
   unknown, or more than its sums would change. */
PF_HOT bool accumulate_fast (pf_groups *groups, const pf_slot *slot,
                             const pf_frame *f, uint64_t net, uint64_t gross,
                             int64_t time) {
  if (slot->group == PF_NO_SLOT)
    return false;
  const pf_durations durations = {net, gross, elapsed(f->start, time),
                                  (uint64_t)f->period, (uint64_t)f->outside};
  return pf_call_sums_try_add(&groups->sums, slot->group, durations);
}


/* The function on top of the stack is left, and its caller continues. */
PF_HOT bool leave_fast (pf_machine *m, fast_run *r, int64_t time,
                        pf_groups *groups) {
  pf_frame *const f = r->top, *const caller = f - 1;
  if (f->losses != m->losses)
    return false;
  uint64_t net = f->net;
  if (f->state == PF_FRAME_RUNNING)
    net += elapsed(f->since, time);
  const uint64_t gross = add_clamped(net, f->children);
  pf_slot *const slot = &m->lanes.slots[f->slot];
  if (groups == NULL || !accumulate_fast(groups, slot, f, net, gross, time))
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
                           int64_t time, const pf_groups *groups) {
  const uint32_t kind = pf_packed_kind(word);
  if ((word & PF_PACKED_LANES) != r->bits)
    return false;
  if (kind == PF_EVENT_ENTER)
    return enter_fast(m, r, word, time, groups);
  return kind < PF_EVENT_WRITE && pf_fast_pause(r, word, time);
}


/*
** Process one event, given as a packed word. Its time is not before that of the
** previous event or the last time of the lane. A call that ends is appended to
** the calls of the machine or, with `groups` (a compile-time constant in each
** caller: NULL or not), accumulated there if only sums change.
*/
PF_HOT bool process_fast (pf_machine *m, fast_run *r, uint32_t word,
                          int64_t time, pf_groups *groups) {
  const uint32_t change = word ^ r->top->word;
  bool done;
  if (change == (PF_EVENT_ENTER ^ PF_EVENT_LEAVE))
    done = leave_fast(m, r, time, groups);
  else if (change == (PF_EVENT_ENTER ^ PF_EVENT_SUSPEND))
    done = suspend_fast(r->top, time);
  else if (change == (PF_EVENT_ENTER ^ PF_EVENT_RESUME))
    done = resume_fast(r->top, time);
  else if (pf_packed_kind(word) == PF_EVENT_WRITE)
    return (word & PF_PACKED_LANES) == r->bits &&
           pf_fast_write(m, r->lane, word, time);
  else
    done = process_other(m, r, word, time, groups);
  if (done)
    r->last = time;
  return done;
}

#endif
