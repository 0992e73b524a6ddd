/*
** collector_cycles.c - mode "memory": the number of cycles of the collector,
** and the bytes that each has freed. A userdata with a finalizer, which adds
** the next one, is collected once a cycle.
**
** Used by recorder.c. The recorder owns the numbers.
*/

#include <stdlib.h>

#include "lua/arguments.h"
#include "lua/recorder/sampling.h"
#include "model/base/memory.h"

#define CYCLE "profio.cycle"

struct l_cycles {
  int64_t *freed; /* bytes that each has freed */
  size_t count, capacity;
  int64_t freed_before; /* bytes, at the end of the last one */
};


/* Adds the userdata, which states when its recording began. */
static void add_sentinel (lua_State *L, l_recorder *r) {
  const bool was_held = atomic_exchange(&r->is_held, true);
  *(int64_t *)lua_newuserdatauv(L, sizeof r->start, 0) = r->start;
  luaL_setmetatable(L, CYCLE);
  lua_pop(L, 1);
  atomic_store(&r->is_held, was_held);
}


static int on_cycle (lua_State *L) {
  l_recorder *const r = l_recording_of(L);
  const int64_t *const start = luaL_checkudata(L, 1, CYCLE);
  if (r == NULL || r->cycles == NULL || r->start != *start)
    return 0;
  l_cycles *const c = r->cycles;
  const int64_t freed = l_allocations_freed(r);
  if (pf_grow(&c->freed, &c->capacity, c->count + 1))
    c->freed[c->count++] = freed - c->freed_before;
  c->freed_before = freed;
  add_sentinel(L, r);
  return 0;
}


void l_cycles_open (lua_State *L, l_recorder *r) {
  if (luaL_newmetatable(L, CYCLE)) {
    lua_pushcfunction(L, on_cycle);
    lua_setfield(L, -2, "__gc");
  }
  lua_pop(L, 1);
  r->cycles = calloc(1, sizeof *r->cycles);
  if (r->cycles == NULL)
    l_no_memory(L);
  add_sentinel(L, r);
}


void l_cycles_push (lua_State *L, const l_recorder *r) {
  const l_cycles *const c = r->cycles;
  lua_createtable(L, (int)c->count, 0);
  for (size_t i = 0; i < c->count; i++) {
    lua_pushinteger(L, c->freed[i]);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
}


void l_cycles_free (l_recorder *r) {
  if (r->cycles != NULL)
    free(r->cycles->freed);
  free(r->cycles);
  r->cycles = NULL;
}
