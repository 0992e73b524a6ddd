/*
** embedded.c - the archive inside the program.
**
** It begins with the number of entries, then has for each, in the order of the
** bytes of the names: offset and size of the name, offset and size of the data,
** all uint32 and little-endian; the offsets count from its beginning. A module
** is called as `require` does, a resource "/" and its path.
*/

#include <lauxlib.h>
#include <stdlib.h>
#include <string.h>

#include "bytes/cursor.h"
#include "os/os.h"
#include "program/program.h"

extern const uint8_t program_archive[], program_archive_end[];

typedef struct entry {
  pf_bytes name, data;
} entry;


static uint32_t count_entries (void) {
  return pf_load32le(program_archive);
}


static entry entry_at (uint32_t number) {
  const uint8_t *const at = program_archive + 4 + 16 * (size_t)number;
  return (entry){{program_archive + pf_load32le(at), pf_load32le(at + 4)},
                 {program_archive + pf_load32le(at + 8), pf_load32le(at + 12)}};
}


/* Returns the first entry whose name is not before `name`. */
static uint32_t lower_bound (pf_bytes name) {
  uint32_t low = 0, high = count_entries();
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    const pf_bytes other = entry_at(middle).name;
    const size_t size = other.size < name.size ? other.size : name.size;
    const int order = memcmp(other.at, name.at, size);
    if (order < 0 || (order == 0 && other.size < name.size))
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}


/* Returns the data of a name; `at` NULL: there is none. */
static pf_bytes find (const char *text, size_t size) {
  const pf_bytes name = {(const uint8_t *)text, size};
  const uint32_t number = lower_bound(name);
  if (number == count_entries())
    return (pf_bytes){NULL, 0};
  const entry found = entry_at(number);
  const bool is_same =
      found.name.size == size && memcmp(found.name.at, text, size) == 0;
  return is_same ? found.data : (pf_bytes){NULL, 0};
}


/* A searcher of `require`. Upvalue 1: whether it only knows profio's own
   modules. */
static int search (lua_State *L) {
  size_t size;
  const char *const name = luaL_checklstring(L, 1, &size);
  const bool is_own = strncmp(name, "profio", 6) == 0;
  const pf_bytes data = is_own || !lua_toboolean(L, lua_upvalueindex(1))
                            ? find(name, size)
                            : (pf_bytes){NULL, 0};
  if (data.at == NULL) {
    lua_pushnil(L);
    return 1;
  }
  const char *const path = luaL_gsub(L, name, ".", "/");
  const char *const place = lua_pushfstring(L, "@[profio]/%s.lua", path);
  if (luaL_loadbufferx(L, (const char *)data.at, data.size, place, NULL) !=
      LUA_OK)
    return lua_error(L);
  lua_pushvalue(L, -2);
  return 2;
}


/* embedded.read(name) */
static int embedded_read (lua_State *L) {
  const char *const name = lua_pushfstring(L, "/%s", luaL_checkstring(L, 1));
  const pf_bytes data = find(name, strlen(name));
  if (data.at == NULL) {
    lua_pushnil(L);
    lua_pushfstring(L, "%s is not in this program", name + 1);
    return 2;
  }
  lua_pushlstring(L, (const char *)data.at, data.size);
  return 1;
}


/* embedded.names(folder) */
static int embedded_names (lua_State *L) {
  size_t size;
  lua_pushfstring(L, "/%s", luaL_checkstring(L, 1));
  const char *const folder = lua_tolstring(L, -1, &size);
  lua_newtable(L);
  const pf_bytes first = {(const uint8_t *)folder, size};
  for (uint32_t i = lower_bound(first), n = 0; i < count_entries(); i++) {
    const pf_bytes name = entry_at(i).name;
    if (name.size < size || memcmp(name.at, folder, size) != 0)
      break;
    if (memchr(name.at + size, '/', name.size - size) == NULL) {
      lua_pushlstring(L, (const char *)name.at + size, name.size - size);
      lua_rawseti(L, -2, ++n);
    }
  }
  return 1;
}


static int open_embedded (lua_State *L) {
  char path[OS_LONGEST_PATH] = "profio";
  char *const program = os_program_path();
  const size_t size = program == NULL ? 0 : strlen(program) + 1;
  if (size > 0 && size <= sizeof path)
    memcpy(path, program, size); /* lua_pushstring may raise */
  free(program);
  lua_newtable(L);
  lua_pushcfunction(L, embedded_read);
  lua_setfield(L, -2, "read");
  lua_pushcfunction(L, embedded_names);
  lua_setfield(L, -2, "names");
  lua_pushstring(L, path);
  lua_setfield(L, -2, "program");
  return 1;
}


/* Inserts a searcher at an index of package.searchers. */
static void add_searcher (lua_State *L, bool is_only_own, lua_Integer index) {
  const int searchers = lua_gettop(L);
  for (lua_Integer i = luaL_len(L, searchers); i >= index; i--) {
    lua_rawgeti(L, searchers, i);
    lua_rawseti(L, searchers, i + 1);
  }
  lua_pushboolean(L, is_only_own);
  lua_pushcclosure(L, search, 1);
  lua_rawseti(L, searchers, index);
}


void program_add_modules (lua_State *L, bool is_for_scripts) {
  luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_PRELOAD_TABLE);
  lua_pushcfunction(L, open_embedded);
  lua_setfield(L, -2, "profio.embedded");
  lua_getglobal(L, "package");
  lua_getfield(L, -1, "searchers");
  add_searcher(L, is_for_scripts, 2);
  if (is_for_scripts)
    add_searcher(L, false, luaL_len(L, -1) + 1);
  lua_pop(L, 3);
}
