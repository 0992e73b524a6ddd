/*
** fast_path.h - the private part of call_machine.c and fast_packed.c for most events:
** functions that call each other and come back, without lines, flags or
** anything lost. What these do is what enter, leave, suspend and resume do,
** with all that cannot be left out; each answers false, and has done nothing,
** where more must be looked at.
*/

#ifndef plain_h
#define plain_h

#include "kernels/calls/groups.h"
#include "kernels/calls/stack.h"

/* Events of one lane behind each other: what they change of it, so that it
   stays in registers. */
typedef struct plain_run {
  pf_lane *lane;
  uint32_t bits; /* of the lane in words (model/packed.h) */
  pf_frame *top; /* of its stack */
  pf_frame *end; /* of the frames there is room for */
  int64_t last;  /* the latest time in it */
} plain_run;


/* Begin a run of `events` at most. */
PF_HOT plain_run begin_run (const pf_machine *m, pf_lane *lane, uint32_t bits,
                            size_t events) {
  const size_t most = (size_t)m->options.max_depth + 1;
  const size_t room = lane->room < most ? lane->room : most;
  const size_t peak = lane->count + events < room ? lane->count + events : room;
  if (lane->peak < peak)
    lane->peak = (uint32_t)peak;
  return (plain_run){lane, bits, &lane->frames[lane->count - 1],
                     lane->frames + room, lane->last};
}


/* Write back what the events have changed. */
PF_HOT void end_run (pf_machine *m, const plain_run *r) {
  pf_lane *const lane = r->lane;
  const uint32_t count = r->top->index + 1;
  m->open = m->open - lane->count + count;
  lane->count = count;
  lane->last = r->last;
  if (m->last < r->last)
    m->last = r->last;
}


/* The slot of an area that has been met in a lane, or PF_NO_SLOT. */
PF_HOT uint32_t slot_met (const pf_lane *lane, uint32_t area) {
  return area < lane->ndirect ? lane->direct[area] : PF_NO_SLOT;
}


/* A function enters that has been met. */
PF_HOT bool enter_plain (pf_machine *m, plain_run *r, uint32_t word,
                         int64_t time, const pf_groups *credited) {
  pf_frame *const top = r->top, *const f = top + 1;
  const uint32_t number = slot_met(r->lane, pf_packed_area(word));
  if (number == PF_NO_SLOT || f >= r->end || top->is_line)
    return false;
  pf_slot *const slot = &m->lanes.slots[number];
  if (slot->plain != m->epoch || (slot->top != 0 && m->options.outermost))
    return false;
  if (top->index == 0)
    note_busy(m, r->lane);
  if (credited != NULL)
    pf_call_sums_prefetch(&credited->tallies, slot->group);
  if (top->state == PF_FRAME_RUNNING) {
    top->net += span(top->since, time);
    top->state = PF_FRAME_PAUSED;
  }
  f->start = f->since = time;
  f->net = f->children = 0;
  f->period = length(span(slot->last_enter, time));
  f->outside =
      slot->top != 0 ? PF_NO_TIME : length(span(slot->last_leave, time));
  f->slot = number;
  f->below = slot->top;
  f->depth = top->depth + 1;
  f->index = top->index + 1;
  f->losses = m->losses;
  f->word = word;
  f->stack = credited != NULL ? PF_NO_STACK : stack_of(m, top, slot);
  f->state = PF_FRAME_RUNNING;
  f->flags = 0;
  f->is_line = f->is_first = f->is_old = false;
  f->is_counted = f->is_plain = true;
  slot->last_enter = time;
  slot->top = f->index;
  r->top = f;
  return true;
}


/* The row of a call that ends. */
PF_HOT void row_plain (pf_machine *m, const pf_frame *f, uint64_t net,
                       uint64_t gross, int64_t time) {
  pf_call *const call = &m->calls[m->ncalls++];
  call->start = f->start;
  call->stop = time;
  call->lengths[PF_NET] = length(net);
  call->lengths[PF_GROSS] = length(gross);
  call->lengths[PF_CALL] = length(span(f->start, time));
  call->lengths[PF_PERIOD] = f->period;
  call->lengths[PF_OUTSIDE] = f->outside;
  call->slot = f->slot;
  call->caller = pf_frame_area(&m->lanes, f - 1);
  call->depth = f->depth;
  call->stack = f->stack;
  call->flags = 0;
  call->count = 1;
}


/* The same call counted in its group at once, if it changes nothing there but
   sums. */
PF_HOT bool credit_plain (pf_groups *credited, const pf_slot *slot,
                          const pf_frame *f, uint64_t net, uint64_t gross,
                          int64_t time) {
  if (slot->group == PF_NO_SLOT)
    return false;
  const pf_durations lengths = {net, gross, span(f->start, time),
                                (uint64_t)f->period, (uint64_t)f->outside};
  return pf_call_sums_try_add(&credited->tallies, slot->group, lengths);
}


/* The function on top of a stack is left, and the one that called it goes
   on. */
PF_HOT bool leave_plain (pf_machine *m, plain_run *r, int64_t time,
                         pf_groups *credited) {
  pf_frame *const f = r->top, *const caller = f - 1;
  if (f->losses != m->losses)
    return false;
  uint64_t net = f->net;
  if (f->state == PF_FRAME_RUNNING)
    net += span(f->since, time);
  const uint64_t gross = sum(net, f->children);
  pf_slot *const slot = &m->lanes.slots[f->slot];
  if (credited == NULL || !credit_plain(credited, slot, f, net, gross, time))
    row_plain(m, f, net, gross, time);
  slot->top = f->below;
  slot->last_leave = time;
  r->top = caller;
  if (caller->index == 0)
    note_idle(m, r->lane);
  caller->children = sum(caller->children, gross);
  run_again(caller, time);
  return true;
}


PF_HOT bool suspend_plain (pf_frame *f, int64_t time) {
  stop_running(f, time, PF_FRAME_SUSPENDED);
  return true;
}


PF_HOT bool resume_plain (pf_frame *f, int64_t time) {
  f->since = f->state == PF_FRAME_RUNNING ? f->since : time;
  f->state = PF_FRAME_RUNNING;
  return true;
}


/* A variable is written that has been written before. */
bool pf_fast_write (pf_machine *machine, const pf_lane *lane, uint32_t word,
                    int64_t time);

/* The call on top of its stack, which was entered in another way, is suspended
   or resumed: from now on it is known by its word, if it may. */
bool pf_fast_pause (const plain_run *run, uint32_t word, int64_t time);

/* Take events without flags where there is no range of times to look at, as
   pf_machine_process does. */
pf_status pf_fast_process (pf_machine *machine, const pf_event_rows *rows,
                           size_t from, size_t to);

/* Any event, in the long way (call_machine.c). PF_ENOMEM. */
pf_status pf_machine_process_one (pf_machine *machine,
                                  const pf_event_rows *rows, size_t row);


/* An event that is not of the call on top, as far as its word tells. */
PF_HOT bool take_other (pf_machine *m, plain_run *r, uint32_t word,
                        int64_t time, const pf_groups *credited) {
  const uint32_t kind = pf_packed_kind(word);
  if ((word & PF_PACKED_LANES) != r->bits)
    return false;
  if (kind == PF_EVENT_ENTER)
    return enter_plain(m, r, word, time, credited);
  return kind < PF_EVENT_WRITE && pf_fast_pause(r, word, time);
}


/*
** Any of them, in a word. No time is before the one before it, nor before the
** last of the lane. The call that an event ends becomes a row of the machine
** or, with `credited` (a constant where this is called: NULL or not), is
** counted there where that is done quickly.
*/
PF_HOT bool take_one (pf_machine *m, plain_run *r, uint32_t word, int64_t time,
                      pf_groups *credited) {
  const uint32_t change = word ^ r->top->word;
  bool done;
  if (change == (PF_EVENT_ENTER ^ PF_EVENT_LEAVE))
    done = leave_plain(m, r, time, credited);
  else if (change == (PF_EVENT_ENTER ^ PF_EVENT_SUSPEND))
    done = suspend_plain(r->top, time);
  else if (change == (PF_EVENT_ENTER ^ PF_EVENT_RESUME))
    done = resume_plain(r->top, time);
  else if (pf_packed_kind(word) == PF_EVENT_WRITE)
    return (word & PF_PACKED_LANES) == r->bits &&
           pf_fast_write(m, r->lane, word, time);
  else
    done = take_other(m, r, word, time, credited);
  if (done)
    r->last = time;
  return done;
}

#endif
