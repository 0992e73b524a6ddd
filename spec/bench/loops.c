/*
** loops.c - reference for profio: minimal C loops with the same results.
**
**   local loops = require "bench.loops"
**   loops.now()            seconds of a clock that only goes forward
**   loops.spent()          processor time of this thread, in seconds
**   file = loops.open(path, symbols)     a trace made by trace.c, mapped
**   file:total()           count and sum by callee: load the fields, add up
**   file:each()            a closure that returns from, to, count for each arc
**   loops.add(path)        maps a profile made by counts.c and adds its counts
**   loops.lines(text)      the number of its line feeds
**   loops.hook("crl")      sets a hook for these events that only reads the
**                          clock; "" removes it
*/

#include <fcntl.h>
#include <lauxlib.h>
#include <lua.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define NAME         "bench.loops"
#define HISTOGRAM_AT 20
#define BINS_AT      61
#define ARC_SIZE     21

typedef struct mapped {
  uint8_t *bytes;
  size_t size;
  size_t at; /* of the next arc, for `each` */
  size_t arcs_at;
  uint64_t low;
  uint64_t distance; /* between two functions */
  uint64_t symbols;
} mapped;

typedef struct slot {
  int64_t count, sum;
} slot;

/* loops.lines(text): the number of its line feeds. */
static int loops_lines (lua_State *L) {
  size_t size;
  const char *at = luaL_checklstring(L, 1, &size), *const end = at + size;
  lua_Integer count = 0;
  for (; (at = memchr(at, '\n', (size_t)(end - at))) != NULL; at++)
    count++;
  lua_pushinteger(L, count);
  return 1;
}


__attribute__((visibility("default"))) int luaopen_bench_loops (lua_State *L);


static uint64_t load (const uint8_t *at, size_t size) {
  uint64_t value = 0; /* of a little-endian machine */
  memcpy(&value, at, size);
  return value;
}


static int loops_now (lua_State *L) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  lua_pushnumber(L, (double)t.tv_sec + (double)t.tv_nsec / 1e9);
  return 1;
}


static int loops_spent (lua_State *L) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  lua_pushnumber(L, (double)t.tv_sec + (double)t.tv_nsec / 1e9);
  return 1;
}


static void read_clock (lua_State *L, lua_Debug *ar) {
  struct timespec t;
  (void)L;
  (void)ar;
  clock_gettime(CLOCK_MONOTONIC, &t);
}


static int loops_hook (lua_State *L) {
  const char *const events = luaL_checkstring(L, 1);
  int mask = 0;
  mask |= strchr(events, 'c') != NULL ? LUA_MASKCALL : 0;
  mask |= strchr(events, 'r') != NULL ? LUA_MASKRET : 0;
  mask |= strchr(events, 'l') != NULL ? LUA_MASKLINE : 0;
  lua_sethook(L, mask == 0 ? NULL : read_clock, mask, 0);
  return 0;
}


static void map (lua_State *L, mapped *m, const char *path) {
  struct stat status;
  const int file = open(path, O_RDONLY);
  if (file < 0 || fstat(file, &status) != 0) {
    luaL_error(L, "%s: cannot open", path);
  }
  m->size = (size_t)status.st_size;
  m->bytes = mmap(NULL, m->size, PROT_READ, MAP_PRIVATE, file, 0);
  close(file);
  if (m->bytes == MAP_FAILED) {
    luaL_error(L, "%s: cannot map", path);
  }
}


static int loops_open (lua_State *L) {
  const char *path = luaL_checkstring(L, 1);
  const lua_Integer symbols = luaL_checkinteger(L, 2);
  mapped *m = lua_newuserdatauv(L, sizeof *m, 0);
  map(L, m, path);
  m->symbols = (uint64_t)symbols;
  m->low = load(m->bytes + HISTOGRAM_AT + 1, 8);
  const uint64_t high = load(m->bytes + HISTOGRAM_AT + 9, 8);
  m->distance = (high - m->low) / m->symbols & ~UINT64_C(1);
  m->arcs_at = BINS_AT + 2 * load(m->bytes + HISTOGRAM_AT + 17, 4);
  m->at = m->arcs_at;
  luaL_setmetatable(L, NAME);
  return 1;
}


/* Returns the number of distinct callees, and of calls. */
static int mapped_total (lua_State *L) {
  const mapped *m = luaL_checkudata(L, 1, NAME);
  const size_t size = m->symbols * sizeof(slot);
  slot *slots = memset(lua_newuserdatauv(L, size, 0), 0, size);
  for (size_t at = m->arcs_at; m->size - at >= ARC_SIZE; at += ARC_SIZE) {
    const uint64_t callee = load(m->bytes + at + 9, 8);
    slot *s = &slots[(callee - m->low) / m->distance];
    s->count++;
    s->sum += (int64_t)load(m->bytes + at + 17, 4);
  }
  int64_t sum = 0, called = 0;
  for (uint64_t i = 0; i < m->symbols; i++) {
    sum += slots[i].sum;
    called += slots[i].count > 0;
  }
  lua_pushinteger(L, called);
  lua_pushinteger(L, sum);
  return 2;
}


static int next_arc (lua_State *L) {
  mapped *m = lua_touserdata(L, lua_upvalueindex(1));
  if (m->size - m->at < ARC_SIZE) {
    return 0;
  }
  const uint8_t *arc = m->bytes + m->at;
  m->at += ARC_SIZE;
  lua_pushinteger(L, (lua_Integer)load(arc + 1, 8));
  lua_pushinteger(L, (lua_Integer)load(arc + 9, 8));
  lua_pushinteger(L, (lua_Integer)load(arc + 17, 4));
  return 3;
}


static int mapped_each (lua_State *L) {
  mapped *m = luaL_checkudata(L, 1, NAME);
  m->at = m->arcs_at;
  lua_settop(L, 1);
  lua_pushcclosure(L, next_arc, 1);
  return 1;
}


/* loops.add(path): the sum of the counts of a DCPI profile, and how many of
   them are not 0. */
static int loops_add (lua_State *L) {
  static const char end_of_header[] = "\nsamples\n";
  mapped m = {NULL};
  uint64_t sum = 0, filled = 0;
  map(L, &m, luaL_checkstring(L, 1));
  const char *const header = strstr((const char *)m.bytes, end_of_header);
  const uint8_t *at = (const uint8_t *)header + sizeof end_of_header - 1;
  while (m.bytes + m.size - at > 8) {
    const uint64_t number = load(at + 4, 4);
    at += 8;
    for (uint64_t i = 0; i < number; i++) {
      const uint64_t count = load(at + 4 * i, 4);
      sum += count;
      filled += count != 0;
    }
    at += 4 * number;
  }
  munmap(m.bytes, m.size);
  lua_pushinteger(L, (lua_Integer)sum);
  lua_pushinteger(L, (lua_Integer)filled);
  return 2;
}


static int mapped_close (lua_State *L) {
  mapped *m = luaL_checkudata(L, 1, NAME);
  munmap(m->bytes, m->size);
  m->bytes = NULL;
  m->size = 0;
  return 0;
}


/* An empty function, to measure the cost of a call. */
static int loops_nothing (lua_State *L) {
  (void)L;
  return 0;
}


__attribute__((visibility("default"))) int luaopen_bench_loops (lua_State *L) {
  static const luaL_Reg methods[] = {{"total", mapped_total},
                                     {"each", mapped_each},
                                     {"__gc", mapped_close},
                                     {NULL, NULL}};
  static const luaL_Reg functions[] = {
      {"add", loops_add},     {"nothing", loops_nothing},
      {"hook", loops_hook},   {"lines", loops_lines},
      {"now", loops_now},     {"open", loops_open},
      {"spent", loops_spent}, {NULL, NULL}};
  luaL_newmetatable(L, NAME);
  luaL_setfuncs(L, methods, 0);
  lua_pushvalue(L, -1);
  lua_setfield(L, -2, "__index");
  luaL_newlib(L, functions);
  return 1;
}
