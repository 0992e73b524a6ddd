/*
** recorder.c - the recorder userdata: begin, pause, resume and finish. Called
** by internal/recording.lua, which opens and closes the files. recorder.h says
** what the userdata owns.
*/

#include <stdlib.h>
#include <string.h>

#include "lua/arguments.h"
#include "lua/recorder/sampling.h"
#include "model/writer/ring_consumer.h"
#include "os/os.h"


static l_recorder *check (lua_State *L) {
  return luaL_checkudata(L, 1, L_RECORDER);
}


void l_recorder_fail (l_recorder *r, pf_status status, const char *what) {
  if (r->error.status == PF_OK)
    (void)pf_fail(&r->error, status, PF_NO_OFFSET, "%s", what);
  r->hook = NULL;
  r->fast_writer = NULL;
  r->is_on = false;
}


/* Removes our hook from a thread. On others it removes itself when called. */
static void unhook (lua_State *thread, lua_Hook hook) {
  if (hook != NULL && lua_gethook(thread) == hook)
    lua_sethook(thread, NULL, 0, 0);
}


/* The hook of the running thread is not the recorder's: it was removed, for
   example by Ctrl-C, which the program has caught. The time since the last
   event is part of no record. */
static void lose_hook (l_recorder *r) {
  if (r->taken_time == 0)
    r->taken_at = r->program_time;
  r->taken_time += l_now(r) - r->start - r->overhead - r->program_time;
  r->is_lost = true;
}


/* Stops recording. Open calls are kept for resume; program time stands
   still. */
static void turn_off (lua_State *L, l_recorder *r) {
  const lua_Hook hook = r->hook;
  const bool was_on = r->is_on;
  r->is_on = false;
  l_timer_stop(r);
  l_timer_release(L, r);
  if (!was_on)
    return;
  if (hook != NULL) {
    if (lua_gethook(L) == hook)
      l_charge(r, l_now(r));
    else
      lose_hook(r);
    l_lanes_mark_stale(r);
  }
  else
    r->program_time = l_now(r) - r->start - r->overhead;
  r->hook = NULL;
  unhook(L, hook);
  unhook(r->main, hook);
}


/* Starts recording. Program time continues where it stopped, so a pause is part
   of no call or line. */
static void turn_on (lua_State *L, l_recorder *r) {
  pf_error error;
  r->overhead = l_now(r) - r->start - r->program_time;
  l_timer_follow(L, r);
  r->is_on = true;
  if (r->mode == L_SAMPLED) {
    if (l_timer_start(r, &error) != PF_OK)
      l_recorder_fail(r, error.status, error.what);
    return;
  }
  r->hook = l_hook_of(r, &r->mask);
  if (r->hook == NULL)
    return;
  if ((r->mask & LUA_MASKCALL) != 0)
    l_switch(r, L, 0, l_now(r));
  if (lua_gethook(r->main) == NULL)
    lua_sethook(r->main, r->hook, r->mask, L_IDLE_COUNT);
  lua_sethook(L, r->hook, r->mask, L_IDLE_COUNT);
}


void l_recorder_take (lua_State *L, l_recorder *r, const lua_State *thread) {
  if (r->is_on)
    turn_off(L, r);
  if (r->taken_time == 0)
    r->taken_at = r->program_time;
  r->taker = thread;
  r->taken_since = l_now(r);
}


/* The time that the hook was taken. */
static void end_taking (l_recorder *r) {
  if (r->taker != NULL)
    r->taken_time += l_now(r) - r->taken_since;
  r->taker = NULL;
}


void l_recorder_give_back (lua_State *L, l_recorder *r) {
  end_taking(r);
  if (!r->is_paused && r->error.status == PF_OK)
    turn_on(L, r);
}


static void detach (l_recorder *r) {
  atomic_compare_exchange_strong(&l_recording, &(l_recorder *){r}, NULL);
}


/* In the order of l_mode. */
static const char *const modes[] = {"timed",     "sampled", "calls",
                                    "aggregate", "memory",  NULL};


static void read_settings (lua_State *L, l_recorder *r) {
  static const char *const clocks[] = {"wall", "cpu", NULL};
  r->mode = (l_mode)l_option_word(L, 1, "mode", NULL, modes);
  r->clock.id = l_option_word(L, 1, "clock", NULL, clocks) == 0 ? OS_MONOTONIC
                                                                : OS_THREAD_CPU;
  int64_t depth = 0;
  l_option_int(L, 1, "interval", &r->interval);
  l_option_int(L, 1, "depth", &depth);
  l_option_int(L, 1, "keep", &r->samples.keep);
  l_option_int(L, 1, "warn_at", &r->warn_at);
  r->by_line =
      r->mode == L_TIMED || ((r->mode == L_AGGREGATE || r->mode == L_MEMORY) &&
                             l_option_flag(L, 1, "lines"));
  r->is_exact = l_option_flag(L, 1, "exact");
  r->has_callers = l_option_flag(L, 1, "backtraces");
  luaL_argcheck(L, r->interval > 0 && depth > 0 && depth <= 65536, 1,
                "interval and depth must be above 0");
  r->depth = (uint32_t)depth;
  strncpy(r->own_source, l_option_text(L, 1, "own", ""),
          sizeof r->own_source - 1);
}


/* Adds the metrics of a mode that sums up. */
static void add_metrics (lua_State *L, l_recorder *r) {
  static const char *const times[][2] = {
      {"time", "ns"}, {"calls", "count"}, {"hits", "count"}};
  static const char *const memory[][2] = {{"alloc_space", "bytes"},
                                          {"alloc_objects", "count"},
                                          {"inuse_space", "bytes"},
                                          {"inuse_objects", "count"}};
  const bool is_memory = r->mode == L_MEMORY;
  const size_t count = is_memory ? 4 : r->by_line ? 3 : 2;
  if (is_memory)
    r->contexts->default_metric = 0;
  for (size_t i = 0; i < count; i++) {
    const char *const *const metric = is_memory ? memory[i] : times[i];
    if (pf_metric_of(r->contexts, metric[0], metric[1]) != i)
      l_no_memory(L);
  }
}


/* Connects the recorder at 2 with the stream of the settings, or opens its
   sums. */
static void open_output (lua_State *L, l_recorder *r) {
  lua_getfield(L, 1, "dictionary"); /* at 3 */
  r->dictionary = l_dictionary_check(L, 3);
  lua_getfield(L, 1, "stream"); /* at 4; it pins the dictionary */
  lua_pushvalue(L, lua_isnil(L, 4) ? 3 : 4);
  lua_setiuservalue(L, 2, 1);
  r->kinds[0] = pf_intern_text(r->dictionary, "function");
  r->kinds[1] = pf_intern_text(r->dictionary, "main");
  if (r->kinds[0] == PF_NO_NAME || r->kinds[1] == PF_NO_NAME)
    l_no_memory(L);
  if (r->mode == L_AGGREGATE || r->mode == L_MEMORY) {
    r->contexts = l_contexts_new(L, 3);
    add_metrics(L, r);
  }
  else if (lua_isnil(L, 4))
    lua_pushnil(L); /* samples are counted only */
  else {
    r->writer = l_stream_check(L, 4)->writer;
    l_put_prepare(L, r);
    lua_pushnil(L);
  }
  lua_setiuservalue(L, 2, 2);
  lua_pushvalue(L, 3);
  lua_setiuservalue(L, 2, 3);
}


/*
** core.recorder(settings): a recorder that is not recording yet. settings = {
** mode=, clock=, interval= (ns; memory: bytes), depth=, lines=, exact=,
** backtraces=, dictionary=, stream= (nil: sums, or samples that are counted),
** keep= (ns for which samples are kept; nil: all), warn_at= (bytes of the file
** at which to say so), own= (the source whose functions are not recorded),
** namer= (gives a function its name) }.
*/
static int core_recorder (lua_State *L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  lua_settop(L, 1);
  l_recorder *const r = l_new(L, L_RECORDER, sizeof *r, 3);
  pf_id_table_init(&r->lanes.threads);
  read_settings(L, r);
  r->max_name = 255;
  open_output(L, r);
  lua_settop(L, 2);
  r->areas = malloc(r->depth * sizeof *r->areas);
  if (r->areas == NULL)
    l_no_memory(L);
  lua_getfield(L, 1, "namer");
  l_functions_prepare(L);
  r->hook = l_hook_of(r, &r->mask);
  r->random = (uint32_t)(uintptr_t)r;
  return 1;
}


/* Raises if no recording may begin. */
static void check_begin (lua_State *L, bool needs_hook) {
  if (atomic_load(&l_recording) != NULL)
    luaL_error(L, "another recorder is recording");
  if (needs_hook && lua_gethook(L) != NULL)
    luaL_error(L, "the program has a hook of its own");
}


/* core.check_recording(mode, needs_hook): true if a recording can begin now, or
   nil, message, code; raises if it may not. The caller opens the file
   afterwards, since that empties an older one. */
static int core_check_recording (lua_State *L) {
  const l_mode mode = (l_mode)luaL_checkoption(L, 1, NULL, modes);
  pf_error error;
  check_begin(L, lua_toboolean(L, 2));
  if (mode == L_SAMPLED && l_timer_check(&error) != PF_OK)
    return l_failure(L, &error, NULL);
  lua_pushboolean(L, true);
  return 1;
}


/* recorder:begin(subtract): starts recording the threads of this Lua state.
   With `subtract` the measured cost of hooks is subtracted from all times. A
   recorder begins only once. */
static int recorder_begin (lua_State *L) {
  l_recorder *const r = check(L);
  const bool subtract = lua_toboolean(L, 2);
  l_recorder *expected = NULL;
  luaL_argcheck(L, r->process == 0, 1, "the recorder has begun before");
  check_begin(L, r->mask != 0);
  /* a signal handler reads this clock too: use the system's */
  l_clock_open(&r->clock, r->clock.id, r->mode != L_SAMPLED);
  if (subtract && r->mode != L_SAMPLED && r->mode != L_MEMORY)
    l_calibration_open(r);
  r->has_costs = r->calibration != NULL;
  if (!atomic_compare_exchange_strong(&l_recording, &expected, r))
    return luaL_error(L, "another recorder is recording");
  lua_rawgeti(L, LUA_REGISTRYINDEX, LUA_RIDX_MAINTHREAD);
  r->main = lua_tothread(L, -1);
  r->state = lua_topointer(L, LUA_REGISTRYINDEX);
  r->process = os_process_id();
  r->start = l_now(r);
  if ((r->mask & LUA_MASKCALL) == 0) /* it samples */
    l_c_threads_open(L, r);
  if (r->mode == L_MEMORY) {
    l_allocations_open(L, r);
    l_cycles_open(L, r);
  }
  l_zones_open(L, r);
  turn_on(L, r);
  return 0;
}


/* recorder:pause(): nothing is recorded until recorder:resume; open calls stay
   open. Returns whether it was paused before. */
static int recorder_pause (lua_State *L) {
  l_recorder *const r = check(L);
  lua_pushboolean(L, r->is_paused);
  r->is_paused = true;
  turn_off(L, r);
  return 1;
}


/* recorder:resume(): continues after recorder:pause. */
static int recorder_resume (lua_State *L) {
  l_recorder *const r = check(L);
  r->is_paused = false;
  if (!r->is_on && r->taker == NULL && r->error.status == PF_OK &&
      atomic_load(&l_recording) == r)
    turn_on(L, r);
  return 0;
}


/* Returns the time in ns that was subtracted for the events of the kinds
   `first` to `last`, and sets *mean to the time for one of them. */
static int64_t subtracted (const l_recorder *r, l_cost first, l_cost last,
                           int64_t *mean) {
  int64_t sum = 0, count = 0;
  for (int kind = first; kind <= (int)last; kind++) {
    const int64_t seen = (int64_t)r->event_counts[kind];
    sum += r->hook_time[kind] + (seen * r->costs[kind] >> L_COST_BITS);
    count += seen;
  }
  *mean = count > 0 ? sum / count : 0;
  return sum;
}


/* recorder:facts(): { events=, time=, hook=, wait=, drain=, per_line=,
   per_call=, failure=, taken_at=, taken_time=, is_lost=, uncertain= }; times in
   ns. `drain` is the CPU time of the writer's thread. per_line and per_call are
   absent in mode "sampled", failure (a text) without one; taken_at and
   taken_time unless the hook was taken, `is_lost` not by debug.sethook.
   `uncertain`: by how much the subtracted cost of hooks may be wrong. */
static int recorder_facts (lua_State *L) {
  const l_recorder *const r = check(L);
  int64_t mean, per_line, per_call;
  subtracted(r, L_COST_LINE, L_COST_LINE, &per_line);
  subtracted(r, L_COST_LUA, L_COST_C, &per_call);
  lua_createtable(L, 0, 10);
  l_set_int(L, "events", (int64_t)r->events);
  l_set_int(L, "time", r->program_time);
  l_set_int(L, "hook",
            r->sampling_time + subtracted(r, L_COST_LINE, L_COST_C, &mean) -
                (r->has_costs ? r->waited : 0));
  l_set_int(L, "hooks",
            (int64_t)(r->event_counts[L_COST_LINE] +
                      r->event_counts[L_COST_LUA] + r->event_counts[L_COST_C]));
  l_set_int(L, "wait", r->waited);
  l_set_int(L, "drain", r->consumer_time);
  if (r->mode != L_SAMPLED) {
    l_set_int(L, "per_line", per_line);
    l_set_int(L, "per_call", per_call);
  }
  l_set_int(L, "uncertain", l_calibration_error(r));
  if (r->taken_time > 0) {
    l_set_int(L, "taken_at", r->taken_at);
    l_set_int(L, "taken_time", r->taken_time);
    lua_pushboolean(L, r->is_lost);
    lua_setfield(L, -2, "is_lost");
  }
  if (r->error.status != PF_OK)
    l_set_text(L, "failure", r->error.what);
  return 1;
}


/* Returns the CPU time in ns that the writer's thread has used. */
static int64_t consumer_time_of (const l_recorder *r) {
  return r->writer != NULL && pf_writer_is_owner(r->writer) &&
                 r->writer->consumer->has_thread
             ? os_cpu_time_of(r->writer->consumer->thread)
             : 0;
}


/* recorder:finish(): stops recording and waits until all records are in the
   file. The owner of the stream closes it afterwards. */
static int recorder_finish (lua_State *L) {
  l_recorder *const r = check(L);
  pf_error error;
  turn_off(L, r);
  end_taking(r);
  if (r->error.status == PF_OK)
    l_lanes_leave_all(r);
  detach(r);
  if (r->allocations != NULL)
    l_allocations_settle(r);
  else
    l_c_threads_close(L, r);
  l_functions_release(L);
  if (r->writer != NULL && r->error.status == PF_OK &&
      pf_writer_flush(r->writer, &error) != PF_OK)
    l_recorder_fail(r, error.status, error.what);
  r->consumer_time = consumer_time_of(r);
  r->writer = r->fast_writer = NULL;
  return 0;
}


/* recorder:is_copy(): whether this process is a fork of the recorded one. */
static int recorder_is_copy (lua_State *L) {
  const l_recorder *const r = check(L);
  lua_pushboolean(L, r->process != 0 && r->process != os_process_id());
  return 1;
}


/* recorder:settle(): in a pause, adds to the contexts what open calls and
   allocations have so far. */
static int recorder_settle (lua_State *L) {
  l_recorder *const r = check(L);
  if (r->allocations != NULL)
    l_allocations_settle(r);
  else if (r->contexts != NULL)
    l_lanes_put_open(r);
  return 0;
}


/* recorder:cycles(): an array of the bytes that each cycle of the collector has
   freed, of mode "memory"; else nil. */
static int recorder_cycles (lua_State *L) {
  const l_recorder *const r = check(L);
  if (r->cycles == NULL)
    return 0;
  l_cycles_push(L, r);
  return 1;
}


/* recorder:contexts(): the sums of mode "aggregate" or "memory", or nil. */
static int recorder_contexts (lua_State *L) {
  const l_recorder *const r = check(L);
  if (r->contexts == NULL)
    lua_pushnil(L);
  else
    lua_getiuservalue(L, 1, 2);
  return 1;
}


/* The stream may have been collected before, so nothing is recorded here. */
static int recorder_gc (lua_State *L) {
  l_recorder *const r = check(L);
  detach(r);
  r->is_on = false;
  r->hook = NULL;
  l_timer_stop(r);
  l_allocations_close(L, r);
  l_cycles_free(r);
  l_c_threads_close(L, r);
  l_calibration_close(r);
  l_functions_free(&r->functions);
  l_lanes_free(&r->lanes);
  free(r->areas);
  free(r->zones);
  free(r->labels);
  l_samples_free(&r->samples);
  r->areas = NULL;
  r->zones = NULL;
  r->labels = NULL;
  r->nzones = r->zone_capacity = r->nlabels = r->label_capacity = 0;
  r->writer = r->fast_writer = NULL;
  return 0;
}


/* core.has_fine_cpu_time(): whether samples can be taken by CPU time. */
static int core_has_fine_cpu_time (lua_State *L) {
  lua_pushboolean(L, os_has_fine_cpu_time());
  return 1;
}


void l_open_recorder (lua_State *L) {
  l_class(L, L_RECORDER,
          L_METHODS({"begin", recorder_begin}, {"close", recorder_gc},
                    {"contexts", recorder_contexts},
                    {"cycles", recorder_cycles}, {"facts", recorder_facts},
                    {"finish", recorder_finish}, {"is_copy", recorder_is_copy},
                    {"pause", recorder_pause}, {"resume", recorder_resume},
                    {"samples", l_recorder_samples},
                    {"settle", recorder_settle}),
          recorder_gc, recorder_gc);
  l_open_function_names(L);
  l_open_zones(L);
  l_open_labels(L);
  L_ADD(L, {"check_recording", core_check_recording},
        {"coroutines", l_core_coroutines},
        {"has_fine_cpu_time", core_has_fine_cpu_time},
        {"program_hooks", l_core_program_hooks}, {"recorder", core_recorder});
}
