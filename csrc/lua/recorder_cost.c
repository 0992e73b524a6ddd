/*
** recorder_cost.c - what an event costs: small programs run with hooks and
** without, the quickest of some rounds each. The hooks are those of the
** recorder to be, and do all it will, but that its records go into a ring which
** nobody reads.
*/

#include <stdlib.h>
#include <string.h>

#include "lua/recorder.h"

#define ROUNDS     7
#define ITERATIONS 400
#define SLOTS      65536u /* bytes of a ring that nobody reads */

static const char *const programs[2] = {
    "local n = ...\nfor i = 1, n do\nlocal a = i\nlocal b = a\nlocal c = b\n"
    "local d = c\nend\n",
    "local n = ... local function f() end for i = 1, n do f() end"};


/* The quickest of some rounds of the function on top of the thread. */
static int64_t quickest (l_recorder *probe, lua_State *thread) {
  int64_t least = INT64_MAX;
  for (int i = 0; i < ROUNDS; i++) {
    lua_pushvalue(thread, -1);
    lua_pushinteger(thread, ITERATIONS);
    const int64_t before = l_now(probe);
    if (lua_pcall(thread, 1, 0, 0) != LUA_OK)
      lua_pop(thread, 1);
    const int64_t took = l_now(probe) - before;
    least = took < least ? took : least;
  }
  return least;
}


/* What an event of a kind costs; `others` is what those of lines do. */
static void measure (l_recorder *probe, lua_State *thread, int kind) {
  if (luaL_loadbufferx(thread, programs[kind], strlen(programs[kind]), "=?",
                       "t") != LUA_OK) {
    lua_pop(thread, 1);
    return;
  }
  const int64_t plain = quickest(probe, thread);
  memset(probe->seen, 0, sizeof probe->seen);
  lua_sethook(thread, probe->hook, probe->mask, 0);
  int64_t hooked = quickest(probe, thread) - plain;
  lua_sethook(thread, NULL, 0, 0);
  lua_pop(thread, 1);
  if (kind == 1)
    hooked -= (int64_t)(probe->seen[0] / ROUNDS) * probe->costs[0];
  const int64_t count = (int64_t)(probe->seen[kind] / ROUNDS);
  if (count > 0 && hooked > 0)
    probe->costs[kind] = hooked / count;
}


/* A writer that takes everything: its ring always has room, and its slots begin
   again where they end. Behind them there is room for the rest of a record. */
static bool open_nowhere (pf_writer *writer) {
  void *memory;
  const size_t size = PF_RING_PAGE + SLOTS + 8 * (L_SHAPE_MOST + 1);
  if (posix_memalign(&memory, PF_RING_PAGE, size) != 0)
    return false;
  memset(memory, 0, size);
  *writer = (pf_writer){.flush_at = UINT64_MAX};
  writer->ring = (pf_ring){.header = memory,
                           .slots = (uint8_t *)memory + PF_RING_PAGE,
                           .mask = SLOTS - 1,
                           .limit = UINT64_MAX,
                           .fd = -1};
  return true;
}


/* A recorder like the other one, which records into nowhere. */
static bool open_probe (lua_State *L, l_recorder *probe, const l_recorder *r,
                        pf_writer *nowhere, pf_contexts *contexts) {
  *probe = (l_recorder){.mode = r->mode,
                        .clock = r->clock,
                        .depth = r->depth,
                        .by_line = r->by_line,
                        .has_callers = r->has_callers,
                        .is_probe = true,
                        .is_on = true,
                        .most_lanes = r->most_lanes,
                        .name_most = r->name_most,
                        .hook = r->hook,
                        .mask = r->mask,
                        .shape = r->shape};
  memcpy(probe->letters, r->letters, sizeof probe->letters);
  probe->state = lua_topointer(L, LUA_REGISTRYINDEX);
  probe->dictionary = pf_dictionary_new();
  if (probe->dictionary == NULL)
    return false;
  if (r->contexts == NULL) {
    if (!open_nowhere(nowhere))
      return false;
    probe->writer = nowhere;
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


static void close_probe (l_recorder *probe) {
  if (probe->contexts != NULL)
    pf_contexts_close(probe->contexts);
  if (probe->writer != NULL)
    free(probe->writer->ring.header);
  l_functions_free(&probe->functions);
  l_lanes_free(&probe->lanes);
  pf_dictionary_free(probe->dictionary);
}


/* pf_metric_of, l_function_of and others are of the core: nothing here raises
   but for the thread, which comes first. */
void l_measure_costs (lua_State *L, l_recorder *r) {
  lua_State *const thread = lua_newthread(L);
  pf_writer nowhere;
  pf_contexts contexts;
  l_recorder probe;
  lua_sethook(thread, NULL, 0, 0);
  if (open_probe(L, &probe, r, &nowhere, &contexts)) {
    atomic_store(&l_recording, &probe);
    probe.begun = l_now(&probe);
    for (int kind = 0; kind < 2; kind++) {
      measure(&probe, thread, kind);
      probe.costs[kind] = probe.error.status == PF_OK ? probe.costs[kind] : 0;
    }
    atomic_store(&l_recording, NULL);
    memcpy(r->costs, probe.costs, sizeof r->costs);
  }
  close_probe(&probe);
  lua_pop(L, 1);
}
