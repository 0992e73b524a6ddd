/*
** hook_cost.c - calibration: the cost of an event outside its hook.
**
** A hook reads the clock when it begins and when it ends, so the time inside it
** is known. The time that the interpreter adds around a hook (it tests for the
** hook at each instruction, saves its state, calls the hook and returns) cannot
** be measured in a program with hooks. So small loops run in a Lua state of
** their own, once without hooks and once with the recorder's hooks, whose
** records go into a ring without a reader, or into contexts of their own. The
** difference, minus the time inside the hooks, is what the interpreter adds to
** an event. All loops run at the start, and then one of them every 0.5 ms of
** recording, since processors change their speed; the median of the last
** results counts.
**
** Used by recorder.c and hooks.c. The calibration owns its Lua state, its
** recorder with dictionary, functions and lanes, and the null writer or the
** contexts; l_calibration_close frees all.
*/

#include <stdlib.h>
#include <string.h>

#include "lua/recorder/recorder.h"
#include "os/os.h"

#define ITERATIONS 64
#define RECENT     7        /* results of which the median is taken */
#define WARM       8        /* rounds of RECENT measurements at the start */
#define AGAIN      500000   /* ns between measurements */
#define SLOTS      4194304u /* bytes of the ring without a reader */
#define NULL_RING  (PF_RING_PAGE + SLOTS + 8 * (L_LAYOUT_MAX + 1)) /* bytes */

/* Loops with events of one kind, in addition to events of their lines. */
static const char *const programs[L_COST_KINDS] = {
    [L_COST_LINE] = "local n = ... local s = 0\nfor i = 1, n do\n"
                    "s = s + i\nend\n",
    [L_COST_LUA] = "local function f() end\nreturn function(n)\n"
                   "for i = 1, n do f() end end",
    [L_COST_C] = "local f = ...\nreturn function(n)\n"
                 "for i = 1, n do f() end end"};

struct l_calibration {
  lua_State *L; /* the loops are at stack index 1 + kind */
  l_recorder probe;
  pf_writer null_writer;
  pf_contexts contexts;
  int64_t recent[L_COST_KINDS][RECENT]; /* results, in 1/1024 ns */
  unsigned next[L_COST_KINDS];
  int kind; /* measured next */
};


/* Opens a writer without a consumer: its ring never becomes full, and writing
   wraps around. The extra words at the end hold the rest of a record that
   begins in the last slot. */
static bool open_null_writer (pf_writer *writer) {
  void *const memory = os_pages_new(NULL_RING, false);
  if (memory == NULL)
    return false;
  *writer = (pf_writer){.flush_at = UINT64_MAX};
  writer->ring = (pf_ring){.header = memory,
                           .slots = (uint8_t *)memory + PF_RING_PAGE,
                           .mask = SLOTS - 1,
                           .limit = UINT64_MAX,
                           .fd = -1};
  return true;
}


/* Opens a recorder with the settings of `r` that records into the null writer,
   or in mode "aggregate" into `contexts`. False: out of memory. */
static bool open_probe (lua_State *L, l_recorder *probe, const l_recorder *r,
                        pf_writer *null_writer, pf_contexts *contexts) {
  *probe = (l_recorder){.mode = r->mode,
                        .clock = r->clock,
                        .depth = r->depth,
                        .by_line = r->by_line,
                        .has_callers = r->has_callers,
                        .is_probe = true,
                        .has_costs = true,
                        .calibrate_at = INT64_MAX,
                        .is_on = true,
                        .max_lanes = r->max_lanes,
                        .max_name = r->max_name,
                        .hook = r->hook,
                        .mask = r->mask,
                        .layout = r->layout};
  pf_id_table_init(&probe->lanes.threads);
  memcpy(probe->event_codes, r->event_codes, sizeof probe->event_codes);
  probe->state = lua_topointer(L, LUA_REGISTRYINDEX);
  probe->dictionary = pf_dictionary_new();
  if (probe->dictionary == NULL)
    return false;
  if (r->contexts == NULL) {
    if (!open_null_writer(null_writer))
      return false;
    probe->writer = null_writer;
    return true;
  }
  if (pf_contexts_open(contexts, probe->dictionary) != PF_OK)
    return false;
  probe->contexts = contexts;
  for (size_t i = 0; i < r->contexts->nmetrics; i++)
    if (pf_metric_of(contexts, r->contexts->metrics[i].name,
                     r->contexts->metrics[i].unit) != i)
      return false;
  return true;
}


static int nothing (lua_State *L) {
  (void)L;
  return 0;
}


/* Runs a loop and returns the ns that it took outside of hooks. */
static int64_t run (l_calibration *c, int kind, bool has_hooks) {
  l_recorder *const probe = &c->probe;
  lua_pushvalue(c->L, 1 + kind);
  lua_pushinteger(c->L, ITERATIONS);
  memset(probe->event_counts, 0, sizeof probe->event_counts);
  memset(probe->hook_time, 0, sizeof probe->hook_time);
  lua_sethook(c->L, has_hooks ? probe->hook : NULL, has_hooks ? probe->mask : 0,
              0);
  const int64_t before = l_now(probe);
  if (lua_pcall(c->L, 1, 0, 0) != LUA_OK)
    lua_settop(c->L, L_COST_KINDS);
  int64_t took = l_now(probe) - before;
  lua_sethook(c->L, NULL, 0, 0);
  for (int i = 0; i < L_COST_KINDS; i++)
    took -= probe->hook_time[i];
  return took;
}


static int compare (const void *a, const void *b) {
  const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}


static void sort_recent (const l_calibration *c, int kind,
                         int64_t sorted[RECENT]) {
  memcpy(sorted, c->recent[kind], RECENT * sizeof *sorted);
  qsort(sorted, RECENT, sizeof *sorted, compare);
}


/* Measures the cost of an event of a kind in 1/1024 ns and updates costs[kind].
   Lines must be measured before the other kinds, whose loops contain lines. */
static void measure (l_calibration *c, int kind, int64_t *costs) {
  (void)run(c, kind, true); /* fills the caches, else only `plain` misses */
  (void)run(c, kind, false);
  const int64_t plain = run(c, kind, false);
  int64_t added = (run(c, kind, true) - plain) * (1 << L_COST_BITS);
  const int64_t count = (int64_t)c->probe.event_counts[kind];
  for (int other = 0; other < L_COST_KINDS; other++)
    if (other != kind)
      added -= (int64_t)c->probe.event_counts[other] * costs[other];
  if (count == 0)
    return;
  c->recent[kind][c->next[kind]++ % RECENT] = added > 0 ? added / count : 0;
  int64_t sorted[RECENT];
  sort_recent(c, kind, sorted);
  costs[kind] = sorted[RECENT / 2];
}


int64_t l_calibration_error (const l_recorder *r) {
  int64_t sum = 0;
  for (int kind = 0; r->calibration != NULL && kind < L_COST_KINDS; kind++) {
    int64_t sorted[RECENT];
    sort_recent(r->calibration, kind, sorted);
    const int64_t range = sorted[RECENT - 2] - sorted[1];
    sum += (int64_t)r->event_counts[kind] * range / 2 >> L_COST_BITS;
  }
  return sum;
}


void l_calibration_update (l_recorder *r) {
  l_calibration *const c = r->calibration;
  atomic_store_explicit(&l_recording, &c->probe, memory_order_relaxed);
  measure(c, c->kind, r->costs);
  atomic_store_explicit(&l_recording, r, memory_order_relaxed);
  c->kind = (c->kind + 1) % L_COST_KINDS;
  r->calibrate_at = l_now(r) + AGAIN;
}


/* Loads the loops. False: out of memory. */
static bool load (lua_State *L) {
  for (int kind = 0; kind < L_COST_KINDS; kind++) {
    const char *const text = programs[kind];
    if (luaL_loadbufferx(L, text, strlen(text), "=?", "t") != LUA_OK)
      return false;
    lua_pushcfunction(L, nothing);
    if (kind == L_COST_LINE)
      lua_pop(L, 1);
    else if (lua_pcall(L, 1, 1, 0) != LUA_OK)
      return false;
  }
  return lua_checkstack(L, LUA_MINSTACK) != 0;
}


void l_calibration_open (l_recorder *r) {
  l_calibration *const c = calloc(1, sizeof *c);
  if (c == NULL)
    return;
  r->calibration = c;
  c->L = luaL_newstate();
  if (c->L == NULL || !load(c->L) ||
      !open_probe(c->L, &c->probe, r, &c->null_writer, &c->contexts)) {
    l_calibration_close(r);
    return;
  }
  lua_gc(c->L, LUA_GCSTOP);
  atomic_store(&l_recording, &c->probe);
  for (int i = 0; i < WARM * RECENT; i++)
    for (int kind = 0; kind < L_COST_KINDS; kind++)
      measure(c, kind, r->costs);
  atomic_store(&l_recording, NULL);
  r->calibrate_at = l_now(r) + AGAIN;
}


void l_calibration_close (l_recorder *r) {
  l_calibration *const c = r->calibration;
  if (c == NULL)
    return;
  if (c->probe.contexts != NULL)
    pf_contexts_close(c->probe.contexts);
  if (c->probe.writer != NULL)
    os_pages_free(c->probe.writer->ring.header, NULL_RING);
  l_functions_free(&c->probe.functions);
  l_lanes_free(&c->probe.lanes);
  pf_dictionary_free(c->probe.dictionary);
  if (c->L != NULL)
    lua_close(c->L);
  free(c);
  r->calibration = NULL;
}
