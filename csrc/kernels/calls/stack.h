/*
** stack.h - the operations on the stack of a lane: the only place that computes
** the durations of a call. Private to state_machine.c, orphans.c and
** kernels/statistics/scan_merge.c. All memory belongs to the machine.
*/

#ifndef stack_h
#define stack_h

#include "kernels/calls/state_machine.h"

/* For functions that run for most events: always inlined. */
#define PF_HOT static inline __attribute__((always_inline))

#define COLD __attribute__((noinline, cold))


static inline uint64_t elapsed (int64_t from, int64_t to) {
  return (uint64_t)to - (uint64_t)from;
}


static inline uint64_t add_clamped (uint64_t a, uint64_t b) {
  return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}


static inline int64_t duration (uint64_t value) {
  return value > INT64_MAX ? PF_NO_TIME : (int64_t)value;
}


/* The time since the last enter of the area. */
PF_HOT int64_t period_of (const pf_slot *slot, int64_t time) {
  return slot->entered ? duration(elapsed(slot->last_enter, time)) : PF_NO_TIME;
}


/* The time since the last leave of the area, of which no call is open. */
PF_HOT int64_t outside_of (const pf_machine *m, const pf_slot *slot,
                           int64_t time) {
  if (slot->left)
    return duration(elapsed(slot->last_leave, time));
  if (!m->options.edges || m->epoch != m->file || m->is_chunk)
    return PF_NO_TIME;
  return time < m->first ? 0 : duration(elapsed(m->first, time));
}


/* The place for the next call. pf_machine_reserve has been called for it. */
static inline pf_call *next_call (pf_machine *m) {
  return &m->calls[m->ncalls];
}


/* orphans.c: in a chunk, keep the call after the last of m->calls, as the first
   of its slot. When out of memory m->is_out_of_memory is set. */
void pf_chunk_keep_first (pf_machine *m);


/* Emit the call written there, unless options or the range exclude it.
   `is_first`: in a chunk, the first of its slot. */
PF_HOT void emit (pf_machine *m, unsigned flags, bool is_first) {
  const bool is_partial = (flags & PF_CALL_PARTIAL) != 0;
  const bool is_kept =
      !m->before_range && !(m->options.whole_only && is_partial);
  if (m->details != NULL && !is_kept)
    pf_details_drop(m->details, next_call(m)->detail);
  if (is_first && is_kept)
    pf_chunk_keep_first(m);
  else
    m->ncalls += is_kept;
}


/* Emit the call of a frame that ends. */
PF_HOT void emit_frame (pf_machine *m, const pf_frame *f, uint32_t caller,
                        uint64_t gross, int64_t time, unsigned flags) {
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
  emit(m, flags, f->is_first);
}


PF_HOT void stop_running (pf_frame *f, int64_t time, pf_frame_state state) {
  if (f->state == PF_FRAME_RUNNING)
    f->net += elapsed(f->since, time);
  f->state = (uint8_t)state;
}


PF_HOT void run_again (pf_frame *f, int64_t time) {
  if (f->state == PF_FRAME_PAUSED) {
    f->state = PF_FRAME_RUNNING;
    f->since = time;
  }
}


PF_HOT void start_running (pf_frame *f, int64_t time) {
  if (f->state != PF_FRAME_RUNNING)
    f->since = time;
  f->state = PF_FRAME_RUNNING;
}


/* A call that the frame makes begins. */
PF_HOT void pause (pf_frame *f, int64_t time) {
  if (f->state == PF_FRAME_RUNNING)
    stop_running(f, time, PF_FRAME_PAUSED);
}


/* A call that the frame made has ended. */
PF_HOT void add_gross (pf_frame *f, uint64_t gross, int64_t time) {
  f->children = add_clamped(f->children, gross);
  run_again(f, time);
}


/* Pause the caller, and its line, when a call begins. */
static inline void pause_top (pf_lane *lane, int64_t time) {
  pf_frame *const top = &lane->frames[lane->count - 1];
  pause(top, time);
  if (top->is_line)
    pause(top - 1, time);
}


/* Take the time that frame 0 has accumulated, and reset it. No frames lie on
   it. */
static inline pf_frame take_base (pf_lane *lane, int64_t time) {
  pf_frame *const base = &lane->frames[0];
  stop_running(base, time, PF_FRAME_PAUSED);
  const pf_frame f = *base;
  base->net = base->children = 0;
  run_again(base, time);
  return f;
}


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


/* End the call of a frame. Returns its gross. */
PF_HOT uint64_t end_frame (pf_machine *m, pf_frame *f, int64_t time) {
  pf_slot *const slot = &m->lanes.slots[f->slot];
  stop_running(f, time, PF_FRAME_SUSPENDED);
  slot->top = f->below;
  slot->last_leave = time;
  slot->left = true;
  return add_clamped(f->net, f->children);
}


/* state_machine.c: end the topmost call of a lane, and emit it. */
void pf_close_top (pf_machine *m, pf_lane *lane, int64_t time, unsigned flags);


/* Make room for one more frame. */
static inline pf_status make_room (pf_machine *m, pf_lane *lane, int64_t time) {
  if (lane->count > m->options.max_depth)
    pf_close_top(m, lane, time, PF_CALL_LOST | PF_CALL_UNWOUND);
  return lane->count < lane->capacity || pf_lane_grow(lane) ? PF_OK : PF_ENOMEM;
}


/* Entering a line or a state ends the previous one. */
static inline void end_sibling (pf_machine *m, pf_lane *lane, int64_t time,
                                unsigned flags) {
  if (lane->frames[lane->count - 1].is_line)
    pf_close_top(m, lane, time, flags);
}


/* Whether stacks begin with a function. */
static inline bool is_root (const pf_machine *m, const pf_slot *slot) {
  return m->root == (m->lanes.has_areas
                         ? pf_area_at(m->lanes.dictionary, slot->area)->name
                         : slot->area);
}


/* The id of the stack of a call of a function: the stack of the function around
   it with its area on top. PF_NO_STACK when stacks are not wanted, and for
   other areas; PF_OUTER_STACK outside of the functions with which they begin. */
PF_HOT uint32_t stack_of (pf_machine *m, const pf_frame *around,
                          const pf_slot *slot) {
  pf_area area = PF_AREA_NONE;
  uint32_t frame = slot->area;
  uint32_t parent = around->stack;
  if (!m->has_stacks || slot->kind != PF_KIND_FUNCTION)
    return PF_NO_STACK;
  if (m->has_root && parent >= PF_OUTER_STACK) {
    if (!is_root(m, slot))
      return PF_OUTER_STACK;
    parent = PF_NO_STACK;
  }
  area.name = frame;
  if (!m->lanes.has_areas)
    frame = pf_area_add(m->lanes.dictionary, &area);
  const uint32_t stack =
      frame == PF_NO_AREA ? PF_NO_STACK
                          : pf_stack_push(m->lanes.dictionary, parent, frame);
  m->is_out_of_memory |= stack == PF_NO_STACK;
  return stack;
}


/* Fill a frame of a call that runs from now on, in the function `around`. */
PF_HOT void begin_frame (pf_machine *m, pf_frame *f, const pf_frame *around,
                         uint32_t number, int64_t time, unsigned flags) {
  const pf_slot *const slot = &m->lanes.slots[number];
  f->start = f->since = time; /* a literal would be built elsewhere and copied,
                                 which stalls */
  f->net = f->children = 0;
  f->period = f->outside = PF_NO_TIME;
  f->depth = around->depth + 1;
  f->slot = number;
  f->stack = stack_of(m, around, slot);
  f->below = slot->top;
  f->losses = m->losses;
  f->detail = 0;
  f->state = PF_FRAME_RUNNING;
  f->flags = (uint8_t)flags;
  f->is_line = slot->kind != PF_KIND_FUNCTION;
  f->is_counted = true;
  f->is_first = f->is_earlier = f->is_plain = false;
}


/* Its enter was recorded: set period and outside. */
PF_HOT void time_enter (const pf_machine *m, pf_frame *f, pf_slot *slot,
                        int64_t time) {
  f->period = period_of(slot, time);
  f->outside = f->below != 0 ? PF_NO_TIME : outside_of(m, slot, time);
  slot->last_enter = time;
  slot->entered = true;
}


/* Push a frame. Memory has been reserved, and the caller is paused. */
static inline pf_frame *push (pf_machine *m, uint32_t number, int64_t time,
                              unsigned flags) {
  pf_slot *const slot = &m->lanes.slots[number];
  pf_lane *const lane = slot->lane;
  pf_frame *const f = &lane->frames[lane->count];
  begin_frame(m, f, pf_lane_innermost(lane), number, time, flags);
  slot->top = lane->count++;
  m->open++;
  if (lane->count == 2)
    link_busy(m, lane);
  if (lane->count > m->chunk.peak)
    m->chunk.peak = lane->count;
  return f;
}


/* orphans.c: a call is left, or suspended or resumed, that has no frame.
   PF_ENOMEM. */
pf_status pf_leave_orphan (pf_machine *m, uint32_t number, int64_t time,
                           unsigned flags);
pf_status pf_push_orphan (pf_machine *m, uint32_t number, int64_t time,
                          unsigned flags, bool is_resume);

/* orphans.c: a call ends that was entered in an earlier chunk: the topmost frame
   `of`, or one that had no events before this one. May move the slots. When out
   of memory m->is_out_of_memory is set. */
void pf_chunk_end (pf_machine *m, pf_lane *lane, uint32_t slot,
                   const pf_frame *of, int64_t time);


/*
** Most events: functions that call each other and return, without flags, ranges
** or details. It has no arithmetic of its own: it looks up a slot and then uses
** the operations above.
**
** A run is a sequence of events of one lane, of which the top of the stack and
** the last time are in registers. The functions below return false, and change
** nothing, when an event needs the general path.
*/

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
