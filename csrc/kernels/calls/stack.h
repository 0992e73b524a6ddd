/*
** stack.h - the private part of call_machine.c: what happens on a stack. It is here
** so that an event costs no call.
*/

#ifndef stack_h
#define stack_h

#include "kernels/calls/call_machine.h"

/* Of functions that events mostly need: with a body in the loop over them. */
#define PF_HOT static inline __attribute__((always_inline))

/* An event, as the functions below pass it on. */
typedef struct moment {
  pf_lane *lane;
  uint32_t slot;
  int64_t time;
  unsigned flags;
  size_t row; /* of the events */
} moment;


/* {====== Lengths ====== */

static inline uint64_t span (int64_t from, int64_t to) {
  return (uint64_t)to - (uint64_t)from;
}


static inline uint64_t sum (uint64_t a, uint64_t b) {
  return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}


static inline int64_t length (uint64_t value) {
  return value > INT64_MAX ? PF_NO_TIME : (int64_t)value;
}

/* }====== */


/* {====== Calls out ====== */

/* Where the next call is written: there is room, since pf_machine_process and
   _finish have made it. */
static inline pf_call *next_call (pf_machine *m) {
  return &m->calls[m->ncalls];
}


/* Keep it, if it is one of those asked for. */
static inline void emit (pf_machine *m, unsigned flags) {
  const bool is_partial = (flags & PF_CALL_PARTIAL) != 0;
  const bool is_kept = !m->is_before && !(m->options.whole_only && is_partial);
  if (m->details != NULL && !is_kept)
    pf_details_drop(m->details, next_call(m)->detail);
  m->ncalls += is_kept;
}


/* The call of a frame that ends. */
static inline void emit_frame (pf_machine *m, const pf_frame *f,
                               uint32_t caller, uint64_t gross, int64_t time,
                               unsigned flags) {
  const bool is_inner = m->options.outermost && f->below != 0;
  const bool is_whole = (flags & PF_CALL_PARTIAL) == 0;
  pf_call *const call = next_call(m);
  call->start = f->start;
  call->stop = time;
  call->lengths[PF_NET] = length(f->net);
  call->lengths[PF_GROSS] = is_inner ? PF_NO_TIME : length(gross);
  call->lengths[PF_CALL] =
      is_inner || !is_whole ? PF_NO_TIME : length(span(f->start, time));
  call->lengths[PF_PERIOD] = f->period;
  call->lengths[PF_OUTSIDE] = f->outside;
  call->slot = f->slot;
  call->caller = caller;
  call->depth = f->depth;
  call->stack = f->stack;
  call->detail = f->detail;
  call->flags = (uint16_t)flags;
  call->count = f->is_counted;
  if (f->is_first)
    m->lanes.slots[f->slot].is_first_kept = is_whole || !m->options.whole_only;
  emit(m, flags);
}

/* }====== */


/* {====== Running and pausing ====== */

static inline void stop_running (pf_frame *f, int64_t time,
                                 pf_frame_state state) {
  if (f->state == PF_FRAME_RUNNING)
    f->net += span(f->since, time);
  f->state = (uint8_t)state;
}


static inline void run_again (pf_frame *f, int64_t time) {
  if (f->state == PF_FRAME_PAUSED) {
    f->state = PF_FRAME_RUNNING;
    f->since = time;
  }
}


/* The innermost function: the topmost frame, or below its line. */
static inline pf_frame *innermost (const pf_lane *lane) {
  pf_frame *const top = &lane->frames[lane->count - 1];
  return top->is_line ? top - 1 : top;
}


/* A call begins: what makes it does not run while it is open. */
static inline void pause_top (pf_lane *lane, int64_t time) {
  pf_frame *const top = &lane->frames[lane->count - 1];
  if (top->state == PF_FRAME_RUNNING)
    stop_running(top, time, PF_FRAME_PAUSED);
  if (top->is_line && top[-1].state == PF_FRAME_RUNNING)
    stop_running(top - 1, time, PF_FRAME_PAUSED);
}


/* A call has ended: its time counts for the function that made it and for the
   line of it. */
static inline void credit_top (pf_lane *lane, uint64_t gross, int64_t time) {
  pf_frame *const top = &lane->frames[lane->count - 1];
  top->children = sum(top->children, gross);
  run_again(top, time);
  if (!top->is_line)
    return;
  top[-1].children = sum(top[-1].children, gross);
  run_again(top - 1, time);
}

/* }====== */


/* {====== The stack ====== */

static inline void note_busy (pf_machine *m, pf_lane *lane) {
  lane->prev = NULL;
  lane->next = m->busy;
  if (m->busy != NULL)
    m->busy->prev = lane;
  m->busy = lane;
}


static inline void note_idle (pf_machine *m, pf_lane *lane) {
  if (lane->prev != NULL)
    lane->prev->next = lane->next;
  else
    m->busy = lane->next;
  if (lane->next != NULL)
    lane->next->prev = lane->prev;
}


/* Of a part: the call that was entered before it ends; the base has no more of
   it. There is room: `leave` has made it. */
static inline void end_old (pf_lane *lane, const pf_frame *f, uint32_t area,
                            int64_t time) {
  lane->pieces[lane->npieces++] =
      (pf_unmatched_leave){area, lane->before, f->net, f->children, time};
}


/* End the topmost call. */
static inline void close_top (pf_machine *m, pf_lane *lane, int64_t time,
                              unsigned flags) {
  pf_frame *const f = &lane->frames[lane->count - 1];
  pf_slot *const slot = &m->lanes.slots[f->slot];
  stop_running(f, time, PF_FRAME_SUSPENDED);
  if (f->losses != m->losses)
    flags |= PF_CALL_LOST;
  slot->top = f->below;
  slot->last_leave = time;
  slot->left = true;
  lane->count--;
  m->open--;
  const uint64_t gross = sum(f->net, f->children);
  if (f->is_old)
    end_old(lane, f, slot->area, time);
  else
    emit_frame(m, f, pf_frame_area(&m->lanes, innermost(lane)), gross, time,
               f->flags | flags);
  if (!f->is_line)
    credit_top(lane, f->is_old ? 0 : gross, time);
  else if (slot->kind != PF_KIND_LINE)
    pf_lane_begin(lane, time, lane->epoch);
  if (lane->count == 1)
    note_idle(m, lane);
}


/* Make room for one more frame. */
static inline pf_status make_room (pf_machine *m, const moment *at) {
  pf_lane *const lane = at->lane;
  if (lane->count > m->options.max_depth)
    close_top(m, lane, at->time, PF_CALL_LOST | PF_CALL_UNWOUND);
  return lane->count < lane->room || pf_lane_grow(lane) ? PF_OK : PF_ENOMEM;
}


/* The stack of a call of a slot, if that is asked for and it is a function's:
   the stack of the function around it, and its area. */
static inline uint32_t stack_of (pf_machine *m, const pf_frame *around,
                                 const pf_slot *slot) {
  pf_area area = PF_AREA_NONE;
  uint32_t frame = slot->area;
  if (!m->has_stacks || slot->kind != PF_KIND_FUNCTION)
    return PF_NO_STACK;
  area.name = frame;
  if (!m->lanes.has_areas)
    frame = pf_area_add(m->lanes.dictionary, &area);
  const uint32_t stack =
      frame == PF_NO_AREA
          ? PF_NO_STACK
          : pf_stack_push(m->lanes.dictionary, around->stack, frame);
  m->is_out_of_memory |= stack == PF_NO_STACK;
  return stack;
}


/* A frame on top of the stack that runs from now on; there is room, and what
   is below has been paused. */
static inline pf_frame *push (pf_machine *m, const moment *at) {
  pf_lane *const lane = at->lane;
  pf_slot *const slot = &m->lanes.slots[at->slot];
  const uint32_t depth = innermost(lane)->depth + 1;
  pf_frame *const f = &lane->frames[lane->count];
  *f = (pf_frame){.start = at->time,
                  .since = at->time,
                  .period = PF_NO_TIME,
                  .outside = PF_NO_TIME,
                  .slot = at->slot,
                  .below = slot->top,
                  .depth = depth,
                  .index = lane->count,
                  .word = PF_NO_WORD,
                  .losses = m->losses,
                  .stack = stack_of(m, innermost(lane), slot),
                  .is_counted = true,
                  .state = PF_FRAME_RUNNING,
                  .is_line = slot->kind != PF_KIND_FUNCTION,
                  .flags = (uint8_t)at->flags};
  slot->top = lane->count++;
  m->open++;
  if (lane->count == 2)
    note_busy(m, lane);
  if (lane->count > lane->peak)
    lane->peak = lane->count;
  return f;
}

/* }====== */

#endif
