/*
** hooks.c - the hooks for lines, calls and returns.
**
** When a call returns into the middle of a line, Lua reports no new line. So
** the recorder has a frame for each call: time is charged to the current line
** of the innermost frame, and the line is recorded when the next one begins or
** its function returns. A tail call replaces the frame of its caller.
**
** Lua calls the hooks, which recorder.c, coroutines.c and hook_cost.c set. They
** own nothing: frames and lanes belong to the recorder.
*/

#include "lua/recorder/fast_events.h"

#define MAX_LAG 20000 /* ns that overhead may exceed the clock */

_Atomic(l_recorder *) l_recording;


/* Returns the program time at clock `now`. It never decreases: if more was
   subtracted than has passed, because an event cost less than its calibrated
   cost or the system corrected the CPU time, program time stands still until
   the clock catches up. What a lag exceeds MAX_LAG by is dropped. */
L_HOT int64_t program_time_at (l_recorder *r, int64_t now) {
  const int64_t time = now - r->start - r->overhead;
  if (time >= r->program_time)
    return time;
  if (r->program_time - time > MAX_LAG)
    r->overhead = now - r->start - r->program_time + MAX_LAG;
  return r->program_time;
}


/* Adds the time since the last event to the innermost call of a lane. */
L_HOT void charge (l_recorder *r, const l_lane *lane, int64_t now) {
  const int64_t time = program_time_at(r, now);
  lane->top->spent += time - r->program_time;
  r->program_time = time;
}


void l_charge (l_recorder *r, int64_t now) {
  if (r->running == NULL)
    r->program_time = program_time_at(r, now);
  else
    charge(r, r->running, now);
}


/* Ends an event that began at clock `began`: the time inside the hook and its
   calibrated cost become overhead. */
L_HOT void end_event (l_recorder *r, int64_t began, l_cost kind) {
  r->event_counts[kind]++;
  if (!r->has_costs)
    return;
  if (began >= r->calibrate_at) {
    l_calibration_update(r);
    l_put_check_size(r);
  }
  r->cost_fraction += r->costs[kind];
  const int64_t around = r->cost_fraction >> L_COST_BITS;
  r->cost_fraction -= around << L_COST_BITS;
  const int64_t inside = l_now(r) - began;
  r->hook_time[kind] += inside;
  r->overhead += inside + around;
}


/* Records that a lane was suspended or resumed, if that is a change. */
static void set_suspended (l_recorder *r, l_lane *lane, bool suspended) {
  if (l_lane_count(lane) == 0 || lane->is_suspended == suspended)
    return;
  lane->is_suspended = suspended;
  l_put_suspended(r, lane, suspended);
}


/* If the running lane is empty, the time until `now` is charged to the new
   lane. */
l_lane *l_switch (l_recorder *r, lua_State *thread, int level, int64_t now) {
  const bool is_over = r->running != NULL && l_lane_count(r->running) == 0;
  if (!is_over)
    l_charge(r, now);
  const bool is_same = r->running != NULL && r->running->thread == thread;
  if (is_same && !r->running->is_stale)
    return r->running;
  if (r->running != NULL && !is_same)
    set_suspended(r, r->running, true);
  l_lane *const known = l_lane_find(r, thread);
  l_lane *const lane = known != NULL ? known : l_lane_new(r, thread);
  if (lane == NULL) {
    l_recorder_fail(r, PF_ENOMEM, "out of memory");
    return NULL;
  }
  if (known == NULL || lane->is_stale)
    l_lane_sync(r, lane, level);
  set_suspended(r, lane, false);
  r->running = lane;
  if (is_over)
    l_charge(r, now);
  return lane;
}


/* Returns the active recorder if `hook` belongs to it; otherwise the hook is
   left over from an earlier recorder and is removed. */
static l_recorder *recorder_of (lua_State *L, lua_Hook hook) {
  l_recorder *const r =
      atomic_load_explicit(&l_recording, memory_order_relaxed);
  if (r != NULL && r->hook == hook &&
      r->state == lua_topointer(L, LUA_REGISTRYINDEX))
    return r;
  lua_sethook(L, NULL, 0, 0);
  return NULL;
}


/* Returns the lane of an event after charging the time until `now`. Usually it
   is the lane of the previous event. NULL: out of memory. */
L_HOT l_lane *lane_of (l_recorder *r, lua_State *L, bool is_call, int64_t now) {
  if (r->running == NULL || r->running->thread != L)
    return l_switch(r, L, is_call, now);
  charge(r, r->running, now);
  return r->running;
}


/* Finds the frame of a line or return that is not the innermost one. The frames
   above it were left by an error. */
static l_frame *find_frame (l_recorder *r, l_lane *lane, const void *ci) {
  const size_t at = l_lane_index(lane, ci);
  if (at == SIZE_MAX)
    l_lane_sync(r, lane, 0);
  else
    l_lane_leave(r, lane, at + 1);
  return l_lane_count(lane) == 0 ? NULL : lane->top;
}


L_HOT l_frame *frame_of (l_recorder *r, l_lane *lane, const lua_Debug *ar) {
  if (lane->top->ci == (const void *)ar->i_ci)
    return lane->top;
  return find_frame(r, lane, ar->i_ci);
}


L_HOT void on_line (l_recorder *r, l_lane *lane, const lua_Debug *ar) {
  l_frame *const f = frame_of(r, lane, ar);
  if (f == NULL || f->is_hidden)
    return;
  if (f->has_line) {
    l_put_line(r, lane, f);
    f->spent = 0;
  }
  f->line = ar->currentline > 0 ? ar->currentline : 0;
  f->has_line = true;
  f->path = L_NO_ID;
}


/* Leaves the frames that the new call at `ar` replaces. Usually its caller is
   the innermost frame and there are none; checking that first avoids a search
   whose time grows with the depth. */
static void leave_replaced (l_recorder *r, l_lane *lane, lua_State *L,
                            const lua_Debug *ar) {
  lua_Debug caller;
  if (ar->event != LUA_HOOKTAILCALL && lua_getstack(L, 1, &caller) &&
      lane->top->ci == (const void *)caller.i_ci)
    return;
  size_t at = l_lane_index(lane, ar->i_ci);
  while (at != SIZE_MAX && lane->frames[at].zone != 0)
    at--; /* to the call in which the zone lies */
  if (at != SIZE_MAX)
    l_lane_leave(r, lane, at);
}


static inline l_cost cost_of (const l_function *function) {
  return function->key.c != NULL ? L_COST_C : L_COST_LUA;
}


/* A call usually has the CallInfo of the previous call at this depth. */
L_HOT l_cost on_call (l_recorder *r, l_lane *lane, lua_State *L,
                      lua_Debug *ar) {
  if (ar->event == LUA_HOOKTAILCALL ||
      lane->top[1].ci != (const void *)ar->i_ci)
    leave_replaced(r, lane, L, ar);
  l_function *const function = l_function_of(L, ar, r);
  l_frame *const f = l_lane_push(r, lane, ar->i_ci, function);
  if (f == NULL)
    return L_COST_LUA;
  if (r->mode == L_CALLS)
    l_put_enter(r, lane, f);
  else if (!r->by_line) {
    f->line = function->key.first > 0 ? function->key.first : 0;
    f->has_line = true;
  }
  return cost_of(function);
}


L_HOT l_cost on_return (l_recorder *r, l_lane *lane, const lua_Debug *ar) {
  const l_frame *const f = frame_of(r, lane, ar);
  if (f == NULL)
    return L_COST_LUA;
  while (lane->top->zone != 0)
    l_lane_pop(r, lane);
  const l_cost kind = cost_of(lane->top->function);
  l_lane_pop(r, lane);
  return kind;
}


/* Records an event that began at clock `began`, and returns its kind. */
static __attribute__((noinline)) l_cost record_event (lua_State *L,
                                                      lua_Debug *ar,
                                                      l_recorder *r,
                                                      int64_t began) {
  const bool is_line = ar->event == LUA_HOOKLINE;
  const bool is_return = ar->event == LUA_HOOKRET;
  l_lane *const lane = lane_of(r, L, !is_line && !is_return, began);
  if (lane == NULL)
    return L_COST_LINE;
  if (is_return)
    return on_return(r, lane, ar);
  if (!is_line)
    return on_call(r, lane, L, ar);
  on_line(r, lane, ar);
  return L_COST_LINE;
}


/* Handles an event of `hook`. */
L_HOT void on_event (lua_State *L, lua_Debug *ar, lua_Hook hook) {
  l_recorder *r = atomic_load_explicit(&l_recording, memory_order_relaxed);
  if (r == NULL || r->hook != hook || r->running == NULL ||
      r->running->thread != L)
    r = recorder_of(L, hook);
  if (r == NULL)
    return;
  const int64_t began = r->mode == L_MEMORY ? r->start : l_now(r);
  const l_cost kind = record_event(L, ar, r, began);
  end_event(r, began, kind);
}


/* Lines, calls and returns: mode "timed" and sums by line. */
static void line_hook (lua_State *L, lua_Debug *ar) {
  on_event(L, ar, line_hook);
}


/* Calls and returns only. */
static void call_hook (lua_State *L, lua_Debug *ar) {
  on_event(L, ar, call_hook);
}


/* Fires seldom: while a thread has a hook of instructions, Lua notes the
   current one, and so its line, before each of them. */
static void idle_hook (lua_State *L, lua_Debug *ar) {
  (void)ar;
  (void)recorder_of(L, idle_hook);
}


lua_Hook l_hook_of (const l_recorder *r, int *mask) {
  const bool is_memory = r->mode == L_MEMORY;
  *mask = 0;
  if (r->mode == L_SAMPLED || (is_memory && !r->by_line && !r->is_exact))
    return NULL;
  if (is_memory && r->by_line) {
    *mask = LUA_MASKCOUNT;
    return idle_hook;
  }
  *mask = LUA_MASKCALL | LUA_MASKRET | (r->by_line ? LUA_MASKLINE : 0);
  return r->by_line ? line_hook : call_hook;
}
