/*
** oom.c - run Lua chunks while allocations or system calls fail: oom SCRIPT
** [NAME]...
**
** Requests for memory are counted in Lua's allocator, and in malloc, calloc,
** realloc, posix_memalign, strdup and strndup of our own objects (linked with
** --wrap). System calls are counted separately (failing_calls.h). The script
** gets three functions:
**
**   fine, message, requests = oom(n, f)
**   fine, message, requests = oom_core(n, f)
**   fine, message, requests = fault(n, f)
**
** The first calls f while request n for memory and the next one fail (Lua asks
** twice and collects garbage in between); the second while request n outside
** Lua's allocator fails; the third while system call n fails with EIO.
** `message` is what f returned or raised. `requests` is the number of requests,
** so a script tries n = 0, 1, 2, ... up to it. f must either work or fail with
** the message of this failure; sanitizers check for errors and leaks.
*/

#include <errno.h>
#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "failing_calls.h"

int luaopen_profio_core (lua_State *L);

/* Absent (NULL) where the headers of the store are. */
int luaopen_profio_store (lua_State *L) __attribute__((weak));

void *__real_malloc (size_t size);
void *__real_calloc (size_t count, size_t size);
void *__real_realloc (void *block, size_t size);
int __real_posix_memalign (void **block, size_t alignment, size_t size);
char *__real_strdup (const char *text);
char *__real_strndup (const char *text, size_t size);
void *__wrap_malloc (size_t size);
void *__wrap_calloc (size_t count, size_t size);
void *__wrap_realloc (void *block, size_t size);
int __wrap_posix_memalign (void **block, size_t alignment, size_t size);
char *__wrap_strdup (const char *text);
char *__wrap_strndup (const char *text, size_t size);

typedef struct {
  bool armed;
  atomic_long request; /* number of the next one, over all threads */
  long failing;        /* number of the first that fails */
  long in_a_row;       /* how many fail */
} meter;

static meter memory = {.in_a_row = 2};
static meter core = {.in_a_row = 1}; /* memory outside Lua's allocator */
static meter calls = {.in_a_row = 1};


/* Count a request; returns true if it must fail. */
static bool counts_to_failure (meter *m) {
  if (!m->armed) {
    return false;
  }
  const long past = atomic_fetch_add(&m->request, 1) - m->failing;
  return past >= 0 && past < m->in_a_row;
}


static bool refused (void) {
  if (!counts_to_failure(&memory) && !counts_to_failure(&core)) {
    return false;
  }
  errno = ENOMEM;
  return true;
}


bool call_fails (void) {
  return counts_to_failure(&calls);
}


void *__wrap_malloc (size_t size) {
  return refused() ? NULL : __real_malloc(size);
}


void *__wrap_calloc (size_t count, size_t size) {
  return refused() ? NULL : __real_calloc(count, size);
}


void *__wrap_realloc (void *block, size_t size) {
  return refused() ? NULL : __real_realloc(block, size);
}


int __wrap_posix_memalign (void **block, size_t alignment, size_t size) {
  return refused() ? ENOMEM : __real_posix_memalign(block, alignment, size);
}


char *__wrap_strdup (const char *text) {
  return refused() ? NULL : __real_strdup(text);
}


char *__wrap_strndup (const char *text, size_t size) {
  return refused() ? NULL : __real_strndup(text, size);
}


/* Requests to shrink a block never fail. */
static void *lua_memory (void *context, void *block, size_t old, size_t size) {
  (void)context;
  if (size == 0) {
    free(block);
    return NULL;
  }
  if ((block == NULL || size > old) && counts_to_failure(&memory)) {
    return NULL;
  }
  return __real_realloc(block, size);
}


/* oom(n, f), fault(n, f): see above. The meter is the upvalue. */
static int l_run (lua_State *L) {
  meter *const m = lua_touserdata(L, lua_upvalueindex(1));
  const lua_Integer failing = luaL_checkinteger(L, 1);
  luaL_checktype(L, 2, LUA_TFUNCTION);
  luaL_checkstack(L, 10, NULL);
  lua_settop(L, 2);
  m->failing = (long)failing;
  atomic_store(&m->request, 0);
  m->armed = true;
  const int status = lua_pcall(L, 0, 1, 0);
  m->armed = false;
  lua_pushboolean(L, status == LUA_OK);
  if (status == LUA_OK) {
    lua_pushvalue(L, 2);
  }
  else {
    luaL_tolstring(L, 2, NULL);
  }
  lua_pushinteger(L, atomic_load(&m->request));
  return 3;
}


static void set_function (lua_State *L, const char *name, meter *m) {
  lua_pushlightuserdata(L, m);
  lua_pushcclosure(L, l_run, 1);
  lua_setglobal(L, name);
}


int main (int argc, char **argv) {
  lua_State *L = lua_newstate(lua_memory, NULL);
  if (L == NULL || argc < 2) {
    fprintf(stderr, "oom SCRIPT [NAME]...\n");
    return 2;
  }
  luaL_openlibs(L);
  lua_newtable(L);
  for (int i = 2; i < argc; i++) {
    lua_pushstring(L, argv[i]);
    lua_rawseti(L, -2, i - 1);
  }
  lua_setglobal(L, "arg");
  luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_PRELOAD_TABLE);
  lua_pushcfunction(L, luaopen_profio_core);
  lua_setfield(L, -2, "profio.core");
  if (luaopen_profio_store != NULL) {
    lua_pushcfunction(L, luaopen_profio_store);
    lua_setfield(L, -2, "profio.store");
  }
  set_function(L, "oom", &memory);
  set_function(L, "oom_core", &core);
  set_function(L, "fault", &calls);
  int status = luaL_dofile(L, argv[1]);
  if (status != LUA_OK) {
    fprintf(stderr, "oom: %s\n", lua_tostring(L, -1));
  }
  lua_close(L);
  return status == LUA_OK ? 0 : 1;
}
