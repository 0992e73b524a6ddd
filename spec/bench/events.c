/*
** events.c - reference for profio on timelines: minimal C loops with the same
** results, on the files that timeline.c writes.
**
**   local events = require "bench.events"
**   file = events.open(path)   a binary timeline of version 1.1, or a text
**   file:each()                a closure: time, type and handle of each record
**   file:totals(data)          count and sum of times, or of data, by handle
**   file:spent()               calls, net and gross time of each handle, with
**                              a stack for each core
**   file:lines()               number of lines, and their bytes
**   events.anonymous()         kilobytes of the process that no file backs
*/

#include <fcntl.h>
#include <lauxlib.h>
#include <lua.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAME   "bench.events"
#define RECORD 24

typedef struct mapped {
  uint8_t *bytes;
  size_t size;
  size_t at; /* of the next record, for `each` */
} mapped;

typedef struct slot {
  int64_t count, sum;
} slot;

int luaopen_bench_events (lua_State *L);


static uint32_t load32 (const uint8_t *at) {
  uint32_t value; /* of a little-endian machine */
  memcpy(&value, at, sizeof value);
  return value;
}


static int64_t load64 (const uint8_t *at) {
  int64_t value;
  memcpy(&value, at, sizeof value);
  return value;
}


static int events_open (lua_State *L) {
  const char *path = luaL_checkstring(L, 1);
  mapped *m = lua_newuserdatauv(L, sizeof *m, 0);
  struct stat status;
  const int file = open(path, O_RDONLY);
  if (file < 0 || fstat(file, &status) != 0) {
    return luaL_error(L, "%s: cannot open", path);
  }
  m->at = 0;
  m->size = (size_t)status.st_size;
  m->bytes = mmap(NULL, m->size, PROT_READ, MAP_PRIVATE, file, 0);
  close(file);
  if (m->bytes == MAP_FAILED) {
    return luaL_error(L, "%s: cannot map", path);
  }
  luaL_setmetatable(L, NAME);
  return 1;
}


static int next_record (lua_State *L) {
  mapped *m = lua_touserdata(L, lua_upvalueindex(1));
  if (m->size - m->at < RECORD) {
    return 0;
  }
  const uint8_t *record = m->bytes + m->at;
  m->at += RECORD;
  lua_pushinteger(L, load64(record + 16));
  lua_pushinteger(L, load32(record + 4) & 15);
  lua_pushinteger(L, load32(record));
  return 3;
}


static int mapped_each (lua_State *L) {
  mapped *m = luaL_checkudata(L, 1, NAME);
  m->at = 0;
  lua_settop(L, 1);
  lua_pushcclosure(L, next_record, 1);
  return 1;
}


/* Returns the number of handles, and the sum of all. */
static int mapped_totals (lua_State *L) {
  const mapped *m = luaL_checkudata(L, 1, NAME);
  const size_t field = lua_toboolean(L, 2) ? 8 : 16;
  slot *slots = calloc((size_t)16 * 4096, sizeof *slots);
  if (slots == NULL) {
    return luaL_error(L, "not enough memory");
  }
  for (size_t at = 0; m->size - at >= RECORD; at += RECORD) {
    const uint32_t handle = load32(m->bytes + at);
    slot *s = &slots[(handle >> 28) << 12 | (handle & 4095)];
    s->count++;
    s->sum += load64(m->bytes + at + field);
  }
  lua_Integer used = 0, sum = 0;
  for (int i = 0; i < 16 * 4096; i++) {
    used += slots[i].count > 0;
    sum += slots[i].sum;
  }
  free(slots);
  lua_pushinteger(L, used);
  lua_pushinteger(L, sum);
  return 2;
}


typedef struct spent {
  int64_t calls, own, whole;
} spent;

typedef struct frame {
  uint32_t handle;
  int64_t begin, callees;
} frame;

#define CORES     2
#define MOST_DEEP 1024


static void end_call (spent *slots, frame *stack, int depth, int64_t time) {
  const int64_t whole = time - stack[depth].begin;
  spent *s = &slots[stack[depth].handle & 4095];
  s->calls++;
  s->whole += whole;
  s->own += whole - stack[depth].callees;
  if (depth > 0) {
    stack[depth - 1].callees += whole;
  }
}


/* Returns the number of calls that have ended, and their net time. */
static int mapped_spent (lua_State *L) {
  const mapped *m = luaL_checkudata(L, 1, NAME);
  static const size_t slots_size = 4096 * sizeof(spent);
  spent *slots = memset(lua_newuserdatauv(L, slots_size, 0), 0, slots_size);
  frame(*stacks)[MOST_DEEP] = lua_newuserdatauv(L, CORES * sizeof *stacks, 0);
  int depths[CORES] = {0};
  for (size_t at = 0; m->size - at >= RECORD; at += RECORD) {
    const uint32_t handle = load32(m->bytes + at);
    const uint32_t flags = load32(m->bytes + at + 4);
    const uint32_t core = flags >> 4 & 1;
    const int64_t time = load64(m->bytes + at + 16);
    if ((flags & 15) == 3) {
      stacks[core][depths[core]++] = (frame){handle, time, 0};
    }
    else if ((flags & 15) == 0 && depths[core] > 0) {
      end_call(slots, stacks[core], --depths[core], time);
    }
  }
  lua_Integer calls = 0, own = 0;
  for (int i = 0; i < 4096; i++) {
    calls += slots[i].calls;
    own += slots[i].own;
  }
  lua_pushinteger(L, calls);
  lua_pushinteger(L, own);
  return 2;
}


static int mapped_lines (lua_State *L) {
  const mapped *m = luaL_checkudata(L, 1, NAME);
  const uint8_t *at = m->bytes, *const end = at + m->size;
  lua_Integer lines = 0, bytes = 0;
  while (at < end) {
    const uint8_t *stop = memchr(at, '\n', (size_t)(end - at));
    stop = stop == NULL ? end : stop;
    lines++;
    bytes += stop - at;
    at = stop + 1;
  }
  lua_pushinteger(L, lines);
  lua_pushinteger(L, bytes);
  return 2;
}


static int mapped_close (lua_State *L) {
  mapped *m = luaL_checkudata(L, 1, NAME);
  munmap(m->bytes, m->size);
  m->bytes = NULL;
  m->size = 0;
  return 0;
}


static int events_anonymous (lua_State *L) {
  char line[256];
  long kilobytes = -1;
  FILE *f = fopen("/proc/self/status", "r");
  while (f != NULL && fgets(line, sizeof line, f) != NULL) {
    if (strncmp(line, "RssAnon:", 8) == 0) {
      kilobytes = strtol(line + 8, NULL, 10);
    }
  }
  if (f != NULL) {
    fclose(f);
  }
  lua_pushinteger(L, kilobytes);
  return 1;
}


__attribute__((visibility("default"))) int luaopen_bench_events (lua_State *L) {
  static const luaL_Reg methods[] = {
      {"each", mapped_each},   {"totals", mapped_totals},
      {"spent", mapped_spent}, {"lines", mapped_lines},
      {"__gc", mapped_close},  {NULL, NULL}};
  static const luaL_Reg functions[] = {
      {"open", events_open}, {"anonymous", events_anonymous}, {NULL, NULL}};
  luaL_newmetatable(L, NAME);
  luaL_setfuncs(L, methods, 0);
  lua_pushvalue(L, -1);
  lua_setfield(L, -2, "__index");
  luaL_newlib(L, functions);
  return 1;
}
