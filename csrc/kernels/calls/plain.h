/*
** plain.h - the private part of machine.c for most events: functions that call
** each other and come back, without lines, flags or anything lost. What these
** do is what enter, leave, suspend and resume do, with all that cannot be left
** out; each answers false, and has done nothing, where more must be looked at.
*/

#ifndef plain_h
#define plain_h

#include "kernels/calls/stack.h"

/* A function enters whose slot is known, called by one that is known. */
PF_HOT bool enter_plain (pf_machine *m, pf_lane *lane, uint32_t area,
                         int64_t time) {
  const uint32_t number =
      area < lane->ndirect ? lane->direct[area] : PF_NO_SLOT;
  const uint32_t count = lane->count;
  if (number == PF_NO_SLOT || count > m->options.max_depth ||
      count == lane->room || time < lane->last || count == 1)
    return false;
  pf_slot *const slot = &m->lanes.slots[number];
  pf_frame *const top = &lane->frames[count - 1], *const f = top + 1;
  if (slot->kind != PF_KIND_FUNCTION || slot->epoch != m->epoch ||
      !slot->entered || !slot->left || top->is_line)
    return false; /* in a part they are only set once it has been met */
  if (top->state == PF_FRAME_RUNNING) {
    top->net += span(top->since, time);
    top->state = PF_FRAME_PAUSED;
  }
  const bool is_inner = slot->top != 0;
  f->start = f->since = time;
  f->net = f->children = 0;
  f->period = length(span(slot->last_enter, time));
  f->outside = is_inner ? PF_NO_TIME : length(span(slot->last_leave, time));
  f->slot = number;
  f->area = area;
  f->below = slot->top;
  f->depth = top->depth + 1;
  f->losses = m->losses;
  f->stack = PF_NO_STACK;
  f->state = PF_FRAME_RUNNING;
  f->flags = 0;
  f->is_line = f->is_first = f->is_old = false;
  f->is_counted = true;
  f->is_plain = !(m->options.outermost && is_inner);
  slot->last_enter = lane->last = time;
  slot->top = count;
  lane->count = count + 1;
  if (lane->peak <= count)
    lane->peak = count + 1;
  m->open++;
  return true;
}


/* The function on top of a stack is left, and the one that called it goes
   on. */
PF_HOT bool leave_plain (pf_machine *m, pf_lane *lane, pf_frame *f,
                         int64_t time) {
  pf_frame *const caller = f - 1;
  if (!f->is_plain || f->losses != m->losses)
    return false;
  uint64_t net = f->net;
  if (f->state == PF_FRAME_RUNNING)
    net += span(f->since, time);
  const uint64_t gross = sum(net, f->children);
  pf_slot *const slot = &m->lanes.slots[f->slot];
  pf_call *const call = &m->calls[m->ncalls++];
  call->start = f->start;
  call->stop = time;
  call->lengths[PF_NET] = length(net);
  call->lengths[PF_GROSS] = length(gross);
  call->lengths[PF_CALL] = length(span(f->start, time));
  call->lengths[PF_PERIOD] = f->period;
  call->lengths[PF_OUTSIDE] = f->outside;
  call->slot = f->slot;
  call->caller = caller->area;
  call->depth = f->depth;
  call->stack = PF_NO_STACK;
  call->flags = 0;
  call->count = 1;
  slot->top = f->below;
  slot->last_leave = lane->last = time;
  lane->count--;
  m->open--;
  caller->children = sum(caller->children, gross);
  run_again(caller, time);
  return true;
}


/* An event of the call on top of its stack, whose slot need not be looked
   up. */
PF_HOT bool take_top (pf_machine *m, pf_lane *lane, uint32_t area, int64_t time,
                      uint8_t kind) {
  pf_frame *const f = &lane->frames[lane->count - 1];
  if (f->area != area || time < lane->last)
    return false;
  if (kind == PF_EVENT_LEAVE)
    return leave_plain(m, lane, f, time);
  lane->last = time;
  if (kind == PF_EVENT_SUSPEND) {
    stop_running(f, time, PF_FRAME_SUSPENDED);
    return true;
  }
  f->since = f->state == PF_FRAME_RUNNING ? f->since : time;
  f->state = PF_FRAME_RUNNING;
  return true;
}


/* A variable is written that has been written before. */
PF_HOT bool write_plain (pf_machine *m, const pf_lane *lane, uint32_t area,
                         int64_t time) {
  const uint32_t number =
      area < lane->ndirect ? lane->direct[area] : PF_NO_SLOT;
  if (number == PF_NO_SLOT)
    return false;
  pf_slot *const slot = &m->lanes.slots[number];
  if (slot->kind != PF_KIND_VALUE || slot->epoch != m->epoch ||
      !slot->entered || slot->lane->epoch != m->epoch ||
      time < slot->lane->last)
    return false;
  pf_call *const call = &m->calls[m->ncalls++];
  call->start = call->stop = time;
  call->lengths[PF_NET] = call->lengths[PF_GROSS] = call->lengths[PF_CALL] = 0;
  call->lengths[PF_PERIOD] = length(span(slot->last_enter, time));
  call->lengths[PF_OUTSIDE] = PF_NO_TIME;
  call->slot = number;
  call->caller = PF_NO_AREA;
  call->depth = 1;
  call->stack = PF_NO_STACK;
  call->flags = 0;
  call->count = 1;
  slot->last_enter = slot->lane->last = time;
  return true;
}


/* Any of them. */
PF_HOT bool take_one (pf_machine *m, pf_lane *lane, uint32_t area, int64_t time,
                      uint8_t kind) {
  if (kind == PF_EVENT_ENTER)
    return enter_plain(m, lane, area, time);
  if (kind < PF_EVENT_WRITE)
    return take_top(m, lane, area, time, kind);
  return kind == PF_EVENT_WRITE && write_plain(m, lane, area, time);
}

#endif
