/*
** oom.c - runs chunks while memory runs out: oom SCRIPT.
**
** Two allocators count: that of Lua, and malloc, calloc, realloc and
** posix_memalign of our own objects (linked with --wrap). The script gets a function
**
**   fine, message, requests = oom(n, f)
**
** that calls f while request n and the one after it fail (Lua asks twice: it
** collects in between). `requests` says how many were made, so a script asks
** for n = 0, 1, 2, ... until n passes it. What must hold is watched from
** outside: f either works or raises "not enough memory", the sanitizers find
** nothing, and no memory is lost.
*/

#include <errno.h>
#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

int luaopen_profio_core (lua_State *L);

void *__real_malloc (size_t size);
void *__real_calloc (size_t count, size_t size);
void *__real_realloc (void *block, size_t size);
int __real_posix_memalign (void **block, size_t alignment, size_t size);
void *__wrap_malloc (size_t size);
void *__wrap_calloc (size_t count, size_t size);
void *__wrap_realloc (void *block, size_t size);
int __wrap_posix_memalign (void **block, size_t alignment, size_t size);

static struct {
  bool armed;
  atomic_long request; /* the number of the next one, of any thread */
  long failing;
} meter;


/* Count a request; true when it is one of the two to refuse. */
static bool refused (void) {
  if (!meter.armed) {
    return false;
  }
  const long request = atomic_fetch_add(&meter.request, 1);
  return request == meter.failing || request == meter.failing + 1;
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


/* Blocks that shrink are never refused: that is not running out. */
static void *lua_memory (void *context, void *block, size_t old, size_t size) {
  (void)context;
  if (size == 0) {
    free(block);
    return NULL;
  }
  if ((block == NULL || size > old) && refused()) {
    return NULL;
  }
  return __real_realloc(block, size);
}


static int l_oom (lua_State *L) {
  const lua_Integer failing = luaL_checkinteger(L, 1);
  luaL_checktype(L, 2, LUA_TFUNCTION);
  luaL_checkstack(L, 10, NULL);
  lua_settop(L, 2);
  meter.failing = (long)failing;
  atomic_store(&meter.request, 0);
  meter.armed = true;
  const int status = lua_pcall(L, 0, 0, 0);
  meter.armed = false;
  lua_pushboolean(L, status == LUA_OK);
  if (status == LUA_OK) {
    lua_pushnil(L);
  }
  else {
    luaL_tolstring(L, 2, NULL);
  }
  lua_pushinteger(L, atomic_load(&meter.request));
  return 3;
}


int main (int argc, char **argv) {
  lua_State *L = lua_newstate(lua_memory, NULL);
  if (L == NULL || argc != 2) {
    fprintf(stderr, "oom SCRIPT\n");
    return 2;
  }
  luaL_openlibs(L);
  luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_PRELOAD_TABLE);
  lua_pushcfunction(L, luaopen_profio_core);
  lua_setfield(L, -2, "profio.core");
  lua_register(L, "oom", l_oom);
  int status = luaL_dofile(L, argv[1]);
  if (status != LUA_OK) {
    fprintf(stderr, "oom: %s\n", lua_tostring(L, -1));
  }
  lua_close(L);
  return status == LUA_OK ? 0 : 1;
}
