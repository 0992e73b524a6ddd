/*
** recorder_hooks.c - what happens at each line, call and return.
**
** Behind a call that returns in the middle of a line no new line begins, so
** there is a frame for each call: what passes is charged to the line of the
** frame on top, and the line is recorded when the next one begins or the
** function is left. Tail calls take the place of their caller.
*/

#include "lua/recorder.h"

#define DEBT 500 /* ns that events may seem to have taken less than they cost */

_Atomic(l_recorder *) l_recording;


/* {====== Time ====== */

/* The program's time at a reading of the clock. It never goes back: when an
   event cost less than it does mostly, the difference is made up soon, or
   forgotten. */
static int64_t program_time (l_recorder *r, int64_t now) {
  const int64_t time = now - r->begun - r->stolen;
  if (time >= r->last)
    return time;
  if (r->last - time > DEBT)
    r->stolen = now - r->begun - r->last + DEBT;
  return r->last;
}


void l_charge (l_recorder *r, int64_t now) {
  const int64_t time = program_time(r, now);
  l_frame *const top = r->running == NULL ? NULL : l_lane_top(r->running);
  if (top != NULL)
    top->spent += time - r->last;
  r->last = time;
}


/* What the event has cost is not the program's. */
static void pay (l_recorder *r, int kind) {
  r->seen[kind]++;
  r->stolen += r->costs[kind];
}

/* }====== */


/* {====== Threads ====== */

/* The function of a lane on top waits, or goes on. */
static void put_wait (l_recorder *r, l_lane *lane, bool waits) {
  l_frame *const top = l_lane_top(lane);
  if (top == NULL || lane->is_suspended == waits)
    return;
  lane->is_suspended = waits;
  l_put_event(r, lane, waits ? L_SUSPEND : L_RESUME, top);
}


/* The lane of a thread, which is made when there is none; NULL when out of
   memory. */
static l_lane *make_lane (l_recorder *r, lua_State *thread, int level) {
  l_lane *lane = l_lane_find(r, thread);
  if (lane != NULL)
    return lane;
  lane = l_lane_new(r, thread);
  if (lane == NULL)
    l_recorder_fail(r, PF_ENOMEM, "out of memory");
  else
    l_lane_adopt(r, lane, level);
  return lane;
}


/* What passes after the last function of a lane has ended is of who goes on. */
l_lane *l_switch (l_recorder *r, lua_State *thread, int level, int64_t now) {
  const bool is_over = r->running != NULL && r->running->count == 0;
  if (!is_over)
    l_charge(r, now);
  if (r->running != NULL && r->running->thread == thread)
    return r->running;
  if (r->running != NULL)
    put_wait(r, r->running, true);
  l_lane *const lane = make_lane(r, thread, level);
  if (lane == NULL)
    return NULL;
  put_wait(r, lane, false);
  r->running = lane;
  if (is_over)
    l_charge(r, now);
  return lane;
}


/* The recorder when the hook is its own: one that was set by a recorder that
   is done takes itself off. */
static l_recorder *recorder_of (lua_State *L, lua_Hook hook) {
  l_recorder *const r =
      atomic_load_explicit(&l_recording, memory_order_relaxed);
  if (r != NULL && r->hook == hook &&
      ((r->running != NULL && r->running->thread == L) ||
       r->state == lua_topointer(L, LUA_REGISTRYINDEX)))
    return r;
  lua_sethook(L, NULL, 0, 0);
  return NULL;
}


/* The lane of an event, after what passed has been charged. */
static l_lane *lane_of (l_recorder *r, lua_State *L, int level) {
  const int64_t now = l_now(r);
  if (r->running == NULL || r->running->thread != L)
    return l_switch(r, L, level, now);
  l_charge(r, now);
  return r->running;
}

/* }====== */


/* {====== Events ====== */

/* The frame of an event that is no call: mostly the one on top. Above it are
   those that an error has left. */
static l_frame *frame_of (l_recorder *r, l_lane *lane, const lua_Debug *ar) {
  l_frame *const top = l_lane_top(lane);
  if (top != NULL && top->ci == (const void *)ar->i_ci)
    return top;
  const size_t at = l_lane_index(lane, ar->i_ci);
  if (at == SIZE_MAX)
    l_lane_adopt(r, lane, 0);
  else
    l_lane_leave(r, lane, at + 1);
  return l_lane_top(lane);
}


static void on_line (l_recorder *r, l_lane *lane, const lua_Debug *ar) {
  l_frame *const f = frame_of(r, lane, ar);
  if (f == NULL || f->is_hidden)
    return;
  if (f->has_line) {
    l_put_line(r, lane, f);
    f->spent = 0;
  }
  f->line = ar->currentline > 0 ? ar->currentline : 0;
  f->has_line = true;
  f->place = L_NO_PLACE;
}


/* Whether the frame on top made the call at hand. Mostly it stands where the
   last one from there did; else Lua is asked, for a search would take as long as
   the stack is deep. */
static bool is_from_top (const l_lane *lane, lua_State *L,
                         const lua_Debug *ar) {
  lua_Debug caller;
  if (lane->count < lane->room &&
      lane->frames[lane->count].ci == (const void *)ar->i_ci)
    return true;
  return lane->count > 0 && lua_getstack(L, 1, &caller) &&
         l_lane_top(lane)->ci == (const void *)caller.i_ci;
}


/* Leave the frames that are there no more: the new call stands where one of them
   was, or in its place. */
static void make_way (l_recorder *r, l_lane *lane, lua_State *L,
                      const lua_Debug *ar) {
  if (ar->event != LUA_HOOKTAILCALL && is_from_top(lane, L, ar))
    return;
  const size_t at = l_lane_index(lane, ar->i_ci);
  if (at != SIZE_MAX)
    l_lane_leave(r, lane, at);
}


static void on_call (l_recorder *r, l_lane *lane, lua_State *L, lua_Debug *ar) {
  make_way(r, lane, L, ar);
  /* What was called here the last time is mostly called again. */
  l_function *const function = l_function_of(
      L, ar, r,
      lane->count < lane->room ? lane->frames[lane->count].function : NULL);
  l_frame *const f = l_lane_push(r, lane, ar->i_ci, function);
  if (f == NULL)
    return;
  if (r->mode == L_CALLS)
    l_put_event(r, lane, L_ENTER, f);
  else if (!r->by_line) {
    f->line = function->first > 0 ? function->first : 0;
    f->has_line = true;
  }
}


static void on_return (l_recorder *r, l_lane *lane, const lua_Debug *ar) {
  if (frame_of(r, lane, ar) != NULL)
    l_lane_leave(r, lane, lane->count - 1);
}


/* Lines, calls and returns: of timed, and of sums by line. */
static void line_hook (lua_State *L, lua_Debug *ar) {
  l_recorder *const r = recorder_of(L, line_hook);
  if (r == NULL)
    return;
  const bool is_line = ar->event == LUA_HOOKLINE;
  const bool is_call =
      ar->event == LUA_HOOKCALL || ar->event == LUA_HOOKTAILCALL;
  l_lane *const lane = lane_of(r, L, is_call);
  if (lane == NULL)
    return;
  if (is_line)
    on_line(r, lane, ar);
  else if (is_call)
    on_call(r, lane, L, ar);
  else
    on_return(r, lane, ar);
  pay(r, !is_line);
}


/* Calls and returns. */
static void call_hook (lua_State *L, lua_Debug *ar) {
  l_recorder *const r = recorder_of(L, call_hook);
  if (r == NULL)
    return;
  const bool is_call = ar->event != LUA_HOOKRET;
  l_lane *const lane = lane_of(r, L, is_call);
  if (lane == NULL)
    return;
  if (is_call)
    on_call(r, lane, L, ar);
  else
    on_return(r, lane, ar);
  pay(r, 1);
}


lua_Hook l_hook_of (l_mode mode, bool by_line, int *mask) {
  *mask = LUA_MASKCALL | LUA_MASKRET;
  if (mode == L_SAMPLED)
    return NULL;
  if (mode == L_CALLS || !by_line)
    return call_hook;
  *mask |= LUA_MASKLINE;
  return line_hook;
}

/* }====== */
