/*
** stack.h - the operations on the stack of a lane, inlined into the loops over
** events. Private to state_machine.c, fast_path.h and scan_merge.c.
*/

#ifndef stack_h
#define stack_h

#include "kernels/calls/state_machine.h"

/* For functions that run for most events: always inlined. */
#define PF_HOT static inline __attribute__((always_inline))

/* An event with its slot and lane. */
typedef struct call_event {
  pf_lane *lane;
  uint32_t slot;
  int64_t time;
  unsigned flags;
  size_t row; /* row of the events */
} call_event;


/* {====== Lengths ====== */

static inline uint64_t elapsed (int64_t from, int64_t to) {
  return (uint64_t)to - (uint64_t)from;
}


static inline uint64_t add_clamped (uint64_t a, uint64_t b) {
  return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}


static inline int64_t duration (uint64_t value) {
  return value > INT64_MAX ? PF_NO_TIME : (int64_t)value;
}

/* }====== */


/* {====== Calls out ====== */

/* The place for the next call. pf_machine_reserve has been called for it. */
static inline pf_call *next_call (pf_machine *m) {
  return &m->calls[m->ncalls];
}


/* Emit the call written there, unless options or the range exclude it. */
static inline void emit (pf_machine *m, unsigned flags) {
  const bool is_partial = (flags & PF_CALL_PARTIAL) != 0;
  const bool is_kept =
      !m->before_range && !(m->options.whole_only && is_partial);
  if (m->details != NULL && !is_kept)
    pf_details_drop(m->details, next_call(m)->detail);
  m->ncalls += is_kept;
}


/* Emit the call of a frame that ends. */
static inline void emit_frame (pf_machine *m, const pf_frame *f,
                               uint32_t caller, uint64_t gross, int64_t time,
                               unsigned flags) {
  const bool is_inner = m->options.outermost && f->below != 0;
  const bool is_whole = (flags & PF_CALL_PARTIAL) == 0;
  pf_call *const call = next_call(m);
  call->start = f->start;
  call->stop = time;
  call->durations[PF_NET] = duration(f->net);
  call->durations[PF_GROSS] = is_inner ? PF_NO_TIME : duration(gross);
  call->durations[PF_CALL] =
      is_inner || !is_whole ? PF_NO_TIME : duration(elapsed(f->start, time));
  call->durations[PF_PERIOD] = f->period;
  call->durations[PF_OUTSIDE] = f->outside;
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
    f->net += elapsed(f->since, time);
  f->state = (uint8_t)state;
}


static inline void run_again (pf_frame *f, int64_t time) {
  if (f->state == PF_FRAME_PAUSED) {
    f->state = PF_FRAME_RUNNING;
    f->since = time;
  }
}


/* The innermost function: the topmost frame, or the one below it if that is a
   line. */
static inline pf_frame *innermost (const pf_lane *lane) {
  pf_frame *const top = &lane->frames[lane->count - 1];
  return top->is_line ? top - 1 : top;
}


/* Pause the caller, and its line, when a call begins. */
static inline void pause_top (pf_lane *lane, int64_t time) {
  pf_frame *const top = &lane->frames[lane->count - 1];
  if (top->state == PF_FRAME_RUNNING)
    stop_running(top, time, PF_FRAME_PAUSED);
  if (top->is_line && top[-1].state == PF_FRAME_RUNNING)
    stop_running(top - 1, time, PF_FRAME_PAUSED);
}


/* When a call has ended, add its gross to the children of its caller and of the
   caller's line, and let them run again. */
static inline void add_to_caller (pf_lane *lane, uint64_t gross, int64_t time) {
  pf_frame *const top = &lane->frames[lane->count - 1];
  top->children = add_clamped(top->children, gross);
  run_again(top, time);
  if (!top->is_line)
    return;
  top[-1].children = add_clamped(top[-1].children, gross);
  run_again(top - 1, time);
}

/* }====== */


/* {====== The stack ====== */

static inline void link_busy (pf_machine *m, pf_lane *lane) {
  lane->prev = NULL;
  lane->next = m->busy;
  if (m->busy != NULL)
    m->busy->prev = lane;
  m->busy = lane;
}


static inline void unlink_busy (pf_machine *m, pf_lane *lane) {
  if (lane->prev != NULL)
    lane->prev->next = lane->next;
  else
    m->busy = lane->next;
  if (lane->next != NULL)
    lane->next->prev = lane->prev;
}


/* In a chunk: the earlier call ends; record an unmatched leave. `leave` has
   reserved memory for it. */
static inline void add_unmatched (pf_lane *lane, const pf_frame *f,
                                  uint32_t area, int64_t time) {
  lane->unmatched[lane->nunmatched++] =
      (pf_unmatched_leave){area, lane->before, f->net, f->children, time};
}


/* End the topmost call, and emit it. */
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
  const uint64_t gross = add_clamped(f->net, f->children);
  if (f->is_earlier)
    add_unmatched(lane, f, slot->area, time);
  else
    emit_frame(m, f, pf_frame_area(&m->lanes, innermost(lane)), gross, time,
               f->flags | flags);
  if (!f->is_line)
    add_to_caller(lane, f->is_earlier ? 0 : gross, time);
  else if (slot->kind != PF_KIND_LINE)
    pf_lane_begin(lane, time, lane->epoch);
  if (lane->count == 1)
    unlink_busy(m, lane);
}


/* Make room for one more frame. */
static inline pf_status make_room (pf_machine *m, const call_event *e) {
  pf_lane *const lane = e->lane;
  if (lane->count > m->options.max_depth)
    close_top(m, lane, e->time, PF_CALL_LOST | PF_CALL_UNWOUND);
  return lane->count < lane->capacity || pf_lane_grow(lane) ? PF_OK : PF_ENOMEM;
}


/* The id of the stack of a call of a function: the stack of the function around
   it with its area on top. PF_NO_STACK when stacks are not wanted, and for
   other areas. */
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


/* Push a frame that runs from now on. Memory has been reserved, and the caller
   is paused. */
static inline pf_frame *push (pf_machine *m, const call_event *e) {
  pf_lane *const lane = e->lane;
  pf_slot *const slot = &m->lanes.slots[e->slot];
  const uint32_t depth = innermost(lane)->depth + 1;
  pf_frame *const f = &lane->frames[lane->count];
  *f = (pf_frame){.start = e->time,
                  .since = e->time,
                  .period = PF_NO_TIME,
                  .outside = PF_NO_TIME,
                  .slot = e->slot,
                  .below = slot->top,
                  .depth = depth,
                  .index = lane->count,
                  .word = PF_NO_WORD,
                  .losses = m->losses,
                  .stack = stack_of(m, innermost(lane), slot),
                  .is_counted = true,
                  .state = PF_FRAME_RUNNING,
                  .is_line = slot->kind != PF_KIND_FUNCTION,
                  .flags = (uint8_t)e->flags};
  slot->top = lane->count++;
  m->open++;
  if (lane->count == 2)
    link_busy(m, lane);
  if (lane->count > lane->peak)
    lane->peak = lane->count;
  return f;
}

/* }====== */

#endif
