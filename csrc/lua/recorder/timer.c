/*
** timer.c - sampling. A timer interrupts the thread that runs Lua (os/os.h) and
** sets a hook on the running coroutine; at the next instruction, call or return
** the hook records the stack and removes itself. Between samples the program
** runs without hooks.
**
** A C function cannot be interrupted this way. Time that passes in it is added
** to `due` and sampled when it returns, with one sample per interval.
**
** Used by recorder.c and coroutines.c. The recorder owns the timer, the saved
** hook, and the scratch memory.
*/

#include "lua/recorder/sampling.h"
#include "os/os.h"

#define SHORTEST 1000 /* ns of a timer */


uint32_t l_sample_area (l_recorder *r, l_function *f, int line) {
  const int shown = r->mode == L_MEMORY && !r->by_line ? f->key.first : line;
  return l_line_area(r, f, shown > 0 ? shown : 0);
}


static size_t read_calls (lua_State *L, l_recorder *r, int level) {
  lua_Debug ar;
  size_t n = 0;
  bool is_c = false;
  for (; n < r->depth; level++) {
    if (!lua_getstack(L, level, &ar))
      return n > 1 && is_c ? n - 1 : n;
    l_function *const f = l_function_of(L, &ar, r);
    if (f == NULL)
      return 0;
    lua_getinfo(L, "l", &ar);
    if (r->nzones > 0)
      n = l_zones_read(r, L, ar.i_ci, f, ar.currentline, n);
    if (f->is_own) {
      n = f->key.c == NULL ? 0 : n; /* callees of recording.lua are its too */
      continue;
    }
    if (n == r->depth)
      return n;
    is_c = f->key.c != NULL;
    r->areas[n++] = l_sample_area(r, f, ar.currentline);
  }
  return n;
}


size_t l_stack_read (lua_State *L, l_recorder *r, int level) {
  const size_t n = read_calls(L, r, level);
  return n > 0 && r->nlabels > 0 ? l_labels_read(r, L, n) : n;
}


/* Records the samples that are due. At a call event nothing has been spent in
   the called function yet. */
static void take_samples (lua_State *L, l_recorder *r, int event) {
  const uint64_t due = atomic_load(&r->due);
  const uint64_t count = due / (uint64_t)r->interval;
  if (count == 0)
    return;
  atomic_fetch_sub(&r->due, count * (uint64_t)r->interval);
  uint32_t stack = PF_NO_STACK;
  for (size_t i = l_stack_read(L, r, event == LUA_HOOKCALL); i > 0; i--) {
    const uint32_t area = r->areas[i - 1];
    stack = area == PF_NO_AREA ? PF_NO_STACK
                               : pf_stack_push(r->dictionary, stack, area);
    if (stack == PF_NO_STACK) {
      l_recorder_fail(r, PF_ENOMEM, "out of memory");
      break;
    }
  }
  l_put_changed(r);
  if (stack == PF_NO_STACK)
    return;
  if (!l_samples_add(&r->samples, stack, count))
    l_recorder_fail(r, PF_ENOMEM, "out of memory");
  if (r->writer != NULL)
    l_put_sample(r, stack, count);
  else
    r->events += count;
}


/* Removes the sampling hook and restores the program's own hook, which gets the
   event if its mask includes it. */
static void disarm (lua_State *L, l_recorder *r, lua_Debug *ar) {
  static const int masks[] = {[LUA_HOOKCALL] = LUA_MASKCALL,
                              [LUA_HOOKRET] = LUA_MASKRET,
                              [LUA_HOOKLINE] = LUA_MASKLINE,
                              [LUA_HOOKCOUNT] = 0,
                              [LUA_HOOKTAILCALL] = LUA_MASKCALL};
  const bool is_there = r != NULL && r->armed_thread == L;
  const lua_Hook other = is_there ? r->saved_hook : NULL;
  if (is_there) {
    r->armed_thread = NULL;
    lua_sethook(L, other, r->saved_mask, r->saved_count);
  }
  else {
    lua_sethook(L, NULL, 0, 0);
    if (r != NULL)
      l_c_threads_ran(r->c_threads, L);
  }
  if (other != NULL && (r->saved_mask & masks[ar->event]) != 0)
    other(L, ar);
}


static bool is_due (const l_recorder *r) {
  return r->mode == L_MEMORY ? l_allocations_wait(r)
                             : atomic_load(&r->due) >= (uint64_t)r->interval;
}


static void sample_hook (lua_State *L, lua_Debug *ar) {
  l_recorder *const r = l_recording_of(L);
  const int event = ar->event;
  if (r != NULL && atomic_load(&r->is_held))
    return; /* the next event of the program takes the sample */
  if (r != NULL && r->is_on && is_due(r)) {
    const int64_t before = l_now(r);
    if (r->mode == L_MEMORY)
      l_allocations_take(L, r, event);
    else
      take_samples(L, r, event);
    r->sampling_time += l_now(r) - before;
    r->event_counts[0]++;
  }
  disarm(L, r, ar);
}


bool l_timer_is_armed (lua_State *thread) {
  return lua_gethook(thread) == sample_hook;
}


/* If the thread still has the hook of the previous sample, it may have ended or
   be waiting: then the main thread runs, or will run soon. */
void l_timer_arm (l_recorder *r) {
  lua_State *thread = atomic_load(&r->thread);
  if (l_timer_is_armed(thread))
    thread = r->main;
  if (!l_timer_is_armed(thread)) {
    r->saved_hook = lua_gethook(thread);
    r->saved_mask = lua_gethookmask(thread);
    r->saved_count = lua_gethookcount(thread);
    r->armed_thread = thread;
    lua_sethook(thread, sample_hook,
                LUA_MASKCALL | LUA_MASKRET | LUA_MASKCOUNT | r->saved_mask, 1);
  }
  l_c_threads_arm(r->c_threads, sample_hook,
                  LUA_MASKCALL | LUA_MASKRET | LUA_MASKCOUNT);
}


/* Removes the sampling hook and restores the program's own one, unless a tick
   has set the hook of another thread meanwhile. */
static void disarm_thread (l_recorder *r, lua_State *thread) {
  const lua_Hook hook = r->saved_hook;
  const int mask = r->saved_mask, count = r->saved_count;
  if (!atomic_compare_exchange_strong(&r->armed_thread, &thread, NULL))
    return;
  if (l_timer_is_armed(thread))
    lua_sethook(thread, hook, mask, count);
}


bool l_timer_disarm (l_recorder *r, lua_State *thread) {
  if (!l_timer_is_armed(thread))
    return false;
  disarm_thread(r, thread);
  return true;
}


void l_timer_follow (lua_State *L, l_recorder *r) {
  atomic_store(&r->thread, L);
  if (r->mode != L_SAMPLED && r->allocations == NULL)
    return;
  lua_State *const armed = atomic_load(&r->armed_thread);
  if (armed != NULL && armed != L && armed != r->main)
    disarm_thread(r, armed); /* the collector may free it */
  if (r->pinned == L || r->main == L)
    return;
  lua_pushthread(L);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &l_recording);
  r->pinned = L;
}


void l_timer_release (lua_State *L, l_recorder *r) {
  if (r->pinned == NULL)
    return;
  lua_pushnil(L);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &l_recording);
  r->pinned = NULL;
}


/* Starts the timer for a tick after `wait` ns. */
static void set_timer (l_recorder *r, int64_t wait) {
  r->set_at = l_now(r);
  r->wait = wait;
  os_sampler_set(r->sampler, wait);
}


/* Returns the time to the next tick: the interval plus or minus a random part
   of it, of up to a sixteenth. */
static int64_t next_wait (l_recorder *r) {
  r->random = r->random * 1664525u + 1013904223u;
  const int64_t part = r->interval / 8 * (int64_t)(r->random >> 16) / 65536;
  return r->interval - r->interval / 16 + part;
}


/* Adds the time since the last tick to `due`. */
static void add_elapsed (l_recorder *r, int64_t now) {
  if (now > r->last_tick && !atomic_load(&r->is_held))
    atomic_fetch_add(&r->due, (uint64_t)(now - r->last_tick));
  r->last_tick = now;
}


void l_timer_hold (l_recorder *r, int64_t now) {
  atomic_store(&r->is_held, true);
  if (r->sampler != NULL && now > r->last_tick)
    atomic_fetch_add(&r->due, (uint64_t)(now - r->last_tick));
}


void l_timer_release_hold (l_recorder *r, int64_t now) {
  r->last_tick = now;
  atomic_store(&r->is_held, false);
}


/* While the thread is interrupted: adds the time since the last tick to `due`,
   sets the hook and starts the timer for the next tick. */
static void tick (void) {
  l_recorder *const r = atomic_load(&l_recording);
  if (r == NULL || !r->is_on)
    return;
  const int64_t now = l_now(r);
  add_elapsed(r, now);
  l_timer_arm(r);
  set_timer(r, next_wait(r));
}


static os_sampler *open_timer (os_clock clock, pf_error *error) {
  os_sampler *const sampler = os_sampler_open(clock, tick);
  if (sampler == NULL)
    (void)pf_fail(error, PF_EIO, PF_NO_OFFSET,
                  "cannot create a timer for samples");
  return sampler;
}


pf_status l_timer_check (pf_error *error) {
  os_sampler *const sampler = open_timer(OS_MONOTONIC, error);
  if (sampler == NULL)
    return error->status;
  os_sampler_close(sampler);
  return PF_OK;
}


pf_status l_timer_start (l_recorder *r, pf_error *error) {
  r->sampler = open_timer(r->clock.id, error);
  if (r->sampler == NULL)
    return error->status;
  r->last_tick = l_now(r);
  set_timer(r, r->wait > 0 ? r->wait : next_wait(r));
  return PF_OK;
}


void l_timer_stop (l_recorder *r) {
  const bool is_running = r->sampler != NULL;
  if (is_running)
    os_sampler_close(r->sampler);
  r->sampler = NULL;
  if (is_running && r->process == os_process_id()) {
    /* after a pause the rest of this interval follows */
    const int64_t now = l_now(r), rest = r->wait - (now - r->set_at);
    add_elapsed(r, now);
    r->wait = rest > SHORTEST ? rest : SHORTEST;
  }
  if (r->armed_thread != NULL)
    disarm_thread(r, r->armed_thread);
}
