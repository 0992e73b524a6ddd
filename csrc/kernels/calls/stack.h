/*
** stack.h - the operations on the stack of a lane: the only place that computes
** the durations of a call. Used only by state_machine.c, orphans.c, and scan.c
** and scan_merge.c of kernels/statistics. All memory belongs to the machine.
*/

#ifndef stack_h
#define stack_h

#include "kernels/calls/state_machine.h"
#include "model/base/switches.h"

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


/* The time since the last leave of the area, of which no call is open; before
   the first one, with `edges`, since the file began. */
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


/* Emit the call at next_call, unless options or the range exclude it.
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


/* Set the durations of the call of a frame that ends, at `time`. */
PF_HOT void compute_durations (const pf_machine *m, const pf_frame *f,
                               uint64_t gross, int64_t time, unsigned flags,
                               int64_t *durations) {
  const bool is_inner = m->options.outermost && f->below != 0;
  const bool is_whole = (flags & PF_CALL_PARTIAL) == 0;
  durations[PF_NET] = duration(f->net);
  durations[PF_GROSS] = is_inner ? PF_NO_TIME : duration(gross);
  durations[PF_CALL] =
      is_inner || !is_whole ? PF_NO_TIME : duration(elapsed(f->start, time));
  durations[PF_PERIOD] = f->period;
  durations[PF_OUTSIDE] = f->outside;
}


/* Emit the call of a frame that ends. */
PF_HOT void emit_frame (pf_machine *m, const pf_frame *f, uint32_t caller,
                        uint64_t gross, int64_t time, unsigned flags) {
  pf_call *const call = next_call(m);
  call->start = f->start;
  call->stop = time;
  compute_durations(m, f, gross, time, flags, call->durations);
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


/* Pause a function of a lane, and its line. */
static inline void pause_function (const pf_lane *lane, pf_frame *f,
                                   int64_t time) {
  pause(f, time);
  if (f + 1 < lane->frames + lane->count && f[1].is_line)
    pause(f + 1, time);
}


/* Pause the caller and the function that runs below it, when a call begins. */
static inline void pause_top (pf_lane *lane, int64_t time) {
  pause_function(lane, pf_lane_innermost(lane), time);
  if (lane->resumed != 0)
    pause_function(lane, &lane->frames[lane->resumed], time);
}


/* Take the time that frame 0 has accumulated, and reset it. No frame lies on it
   but, perhaps, a line. */
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


/* Make room for one more frame; at max_depth the topmost call ends.
   PF_ENOMEM. */
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


/* The id of the stack of a call of a function: the stack of the function
   around it with its area on top. PF_NO_STACK when stacks are not wanted, for
   other areas, and when out of memory (m->is_out_of_memory); PF_OUTER_STACK
   outside of the functions with which they begin. */
PF_HOT uint32_t stack_of (pf_machine *m, const pf_frame *around,
                          const pf_slot *slot) {
  uint32_t frame = slot->area;
  uint32_t parent = around->stack;
  if (!m->has_stacks || slot->kind != PF_KIND_FUNCTION)
    return PF_NO_STACK;
  if (m->has_root && parent >= PF_OUTER_STACK) {
    if (!is_root(m, slot))
      return PF_OUTER_STACK;
    parent = PF_NO_STACK;
  }
  pf_area area = PF_AREA_NONE;
  area.name = frame;
  if (!m->lanes.has_areas)
    frame = pf_area_add(m->lanes.dictionary, &area);
  const uint32_t stack =
      frame == PF_NO_AREA ? PF_NO_STACK
                          : pf_stack_push(m->lanes.dictionary, parent, frame);
  m->is_out_of_memory |= stack == PF_NO_STACK;
  return stack;
}


/* The word of an enter of the area of a slot in its lane. */
static inline uint64_t word_of (const pf_slot *slot) {
  return pf_event_word(PF_EVENT_ENTER, slot->lane->number % PF_LANE_IDS,
                       slot->area);
}


/* Fill a frame of a call that runs from now on, in the function `around`.
   `word`: of its enter. `is_plain`: see pf_frame; it is a constant, so that the
   bytes of a plain frame are one store. */
PF_HOT void begin_frame (pf_machine *m, pf_frame *f, const pf_frame *around,
                         uint32_t number, uint64_t word, int64_t time,
                         unsigned flags, bool is_plain) {
  const pf_slot *const slot = &m->lanes.slots[number];
  f->start = f->since = time; /* a literal would be built elsewhere and copied,
                                 which stalls */
  f->net = f->children = 0;
  f->depth = around->depth + 1;
  f->slot = number;
  f->word = word;
  f->stack = stack_of(m, around, slot);
  f->below = slot->top;
  f->losses = m->losses;
  f->detail = 0;
  f->state = PF_FRAME_RUNNING;
  f->flags = is_plain ? 0 : (uint8_t)flags;
  f->is_line = !is_plain && slot->kind != PF_KIND_FUNCTION;
  f->is_counted = true;
  f->is_first = f->is_earlier = false;
  f->is_plain = is_plain;
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
  begin_frame(m, f, pf_lane_innermost(lane), number, word_of(slot), time, flags,
              false);
  f->period = f->outside = PF_NO_TIME;
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

/* orphans.c: a call ends that was entered in an earlier chunk: the topmost
   frame `of`, or one that had no events before this one. When out of memory
   m->is_out_of_memory is set. */
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
  pf_lane *lane;
  pf_frame *top;            /* of the stack */
  uint32_t count, capacity; /* of its frames */
  int64_t last;             /* the latest time of the lane */
  pf_call_counts counts;    /* of the run */
} fast_run;


/* Where calls go that the fast path ends. `add` is a constant in each caller,
   so that it is inlined: it adds a call of a slot, or returns false if it
   cannot. Then, and if it is NULL, the call is emitted. */
typedef struct pf_call_sink {
  bool (*add)(void *context, const pf_slot *slot, const int64_t *durations);
  void *context;
} pf_call_sink;


PF_HOT bool enter_fast (pf_machine *m, fast_run *r, uint64_t word,
                        int64_t time) {
  pf_frame *const top = r->top, *const f = top + 1;
  const uint32_t area = pf_event_area(word);
  const bool is_known =
      area < r->lane->ndirect && pf_event_lane(word) == r->lane->number;
  const uint32_t number = is_known ? r->lane->direct[area] : PF_NO_SLOT;
  if (number == PF_NO_SLOT)
    return false;
  pf_slot *const slot = &m->lanes.slots[number];
  if (r->count >= r->capacity || top->is_line || slot->plain_epoch != m->epoch)
    return false;
  if (r->count == 1)
    link_busy(m, r->lane);
  pf_count_enter(&r->counts, top->slot != PF_NO_SLOT,
                 top->state == PF_FRAME_RUNNING, time > r->last);
  pause(top, time);
  begin_frame(m, f, top, number, word, time, 0, true);
  time_enter(m, f, slot, time);
  slot->top = r->count++;
  r->top = f;
  return true;
}


/* The function on top of the stack is left, and its caller continues. */
PF_HOT bool leave_fast (pf_machine *m, fast_run *r, int64_t time,
                        const pf_call_sink *sink) {
  pf_frame *const f = r->top, *const caller = f - 1;
  if (!f->is_plain || f->losses != m->losses)
    return false;
  const uint64_t gross = end_frame(m, f, time);
  int64_t durations[PF_DURATIONS];
  if (sink->add != NULL)
    compute_durations(m, f, gross, time, 0, durations);
  if (sink->add == NULL ||
      !sink->add(sink->context, &m->lanes.slots[f->slot], durations))
    emit_frame(m, f, pf_frame_area(caller), gross, time, 0);
  add_gross(caller, gross, time);
  r->counts.calls++;
  if (--r->count == 1)
    unlink_busy(m, r->lane);
  r->top = caller;
  return true;
}


/* Process an event without flags. A leave, suspend or resume of the call on top
   is detected by comparing the words of the event and of the call. */
PF_HOT bool process_fast (pf_machine *m, fast_run *r, uint64_t word,
                          int64_t time, const pf_call_sink *sink) {
  const uint64_t change = word ^ r->top->word;
  bool done = true;
  if (time < r->last)
    return false;
  if (change == (PF_EVENT_ENTER ^ PF_EVENT_LEAVE))
    done = leave_fast(m, r, time, sink);
  else if (change == (PF_EVENT_ENTER ^ PF_EVENT_SUSPEND))
    stop_running(r->top, time, PF_FRAME_SUSPENDED);
  else if (change == (PF_EVENT_ENTER ^ PF_EVENT_RESUME))
    start_running(r->top, time);
  else
    done = pf_event_kind_of(word) == PF_EVENT_ENTER &&
           enter_fast(m, r, word, time);
  if (done)
    r->last = time;
  return done;
}


/* state_machine.c: process an event on the general path, after
   pf_machine_reserve. PF_ENOMEM. */
pf_status pf_machine_process_one (pf_machine *m, const pf_event_rows *rows,
                                  size_t row);


/* Whether the fast path applies: no flags, ranges or details. */
static inline bool are_plain (const pf_machine *m, const pf_event_rows *rows) {
  return PF_FAST(EVENTS) && rows->flags == NULL && !m->before_range &&
         !m->options.has_to && m->details == NULL;
}


/* Process events of one lane on the fast path, from row `from` on. Returns the
   first row that is of another lane or needs the general path. */
PF_HOT size_t process_run (pf_machine *m, pf_lane *lane,
                           const pf_event_rows *rows, size_t from, size_t to,
                           const pf_call_sink *sink) {
  const size_t most = (size_t)m->options.max_depth + 1;
  const uint32_t before = lane->count;
  if (lane->resumed != 0)
    return from;
  fast_run r = {.lane = lane,
                .top = &lane->frames[before - 1],
                .count = before,
                .capacity =
                    lane->capacity < most ? lane->capacity : (uint32_t)most,
                .last = lane->last};
  const size_t peak = before + (to - from);
  if (m->chunk.peak < r.capacity && m->chunk.peak < peak)
    m->chunk.peak = peak < r.capacity ? (uint32_t)peak : r.capacity;
  size_t i = from;
  while (i < to && process_fast(m, &r, rows->words[i], rows->times[i], sink))
    i++;
  pf_add_call_counts(&m->counts, &r.counts);
  m->open = m->open - before + r.count;
  lane->count = r.count;
  lane->last = r.last;
  if (m->last < r.last)
    m->last = r.last;
  return i;
}


/* As pf_machine_process, for events with are_plain. Calls go to `sink`. */
PF_HOT pf_status process_plain (pf_machine *m, const pf_event_rows *rows,
                                size_t from, size_t to, pf_call_sink sink) {
  const pf_event_rows r = *rows; /* a copy that no store can change */
  pf_status status = pf_machine_reserve(m, m->open + 2 * (to - from));
  for (size_t i = from; i < to && status == PF_OK;) {
    const uint32_t number = pf_event_lane(r.words[i]);
    pf_lane *const lane = pf_lane_at(&m->lanes, number);
    if (lane != NULL)
      i = process_run(m, lane, &r, i, to, &sink);
    if (i < to && pf_event_lane(r.words[i]) == number)
      status = pf_machine_process_one(m, rows, i++);
  }
  return m->is_out_of_memory ? PF_ENOMEM : status;
}

#endif
