/*
** source.c - source userdata: the bytes of a mapped file, a spooled pipe or a
** Lua string. The userdata owns the mapping, or pins the string.
**
** Called by lua/profio/internal; core.named_source also by formats, and
** core.named_file by cli.
*/

#include <string.h>

#include "bytes/spool.h"
#include "lua/arguments.h"
#include "lua/callback.h"
#include "lua/source.h"
#include "model/system/parallel.h"
#include "os/os.h"


l_source *l_source_check (lua_State *L, int arg) {
  l_source *const s = luaL_checkudata(L, arg, L_SOURCE);
  if (!s->open)
    luaL_error(L, "source is closed");
  return s;
}


bool l_source_grow (l_source *source) {
  if (source->map == NULL || !pf_map_grow(source->map))
    return false;
  source->bytes = pf_map_bytes(source->map);
  return true;
}


bool l_source_faulted (const l_source *source) {
  return source->map != NULL && pf_map_faulted(source->map);
}


/* `map` may be NULL if opening has failed. */
static void own_map (l_source *s, pf_map *map) {
  if (map == NULL)
    return;
  s->map = map;
  s->bytes = pf_map_bytes(map);
  if (s->seen < s->bytes.size)
    s->bytes.size = (size_t)s->seen;
  s->open = true;
}


void l_source_sleep (l_source *source) {
  if (!l_source_can_sleep(source))
    return;
  source->file = *pf_map_file_state(source->map);
  pf_map_close(source->map);
  source->map = NULL;
  source->bytes = (pf_bytes){NULL, 0};
}


static bool is_same (const pf_file_state *a, const pf_file_state *b) {
  return a->device == b->device && a->inode == b->inode && a->size == b->size &&
         a->seconds == b->seconds && a->nanoseconds == b->nanoseconds;
}


pf_status l_source_wake (l_source *source, pf_error *error) {
  if (source->map != NULL || !source->file.is_plain)
    return PF_OK;
  pf_map *map;
  pf_status status = pf_map_open(source->path, source->max_size, &map, error);
  if (status == PF_OK && !is_same(pf_map_file_state(map), &source->file))
    status = pf_fail(error, PF_EIO, PF_NO_OFFSET,
                     "the file has changed since it was opened");
  if (status != PF_OK) {
    pf_map_close(map);
    return status;
  }
  own_map(source, map);
  return PF_OK;
}


/* Pushes a closed source. User value 1 is the string, 2 the path. */
static l_source *new_source (lua_State *L, int path_arg) {
  l_source *const s = l_new(L, L_SOURCE, sizeof *s, 2);
  l_pin(L, -1, 2, path_arg);
  s->path = lua_tostring(L, path_arg);
  s->seen = UINT64_MAX;
  return s;
}


static uint64_t max_size_check (lua_State *L, int arg) {
  if (lua_isnoneornil(L, arg))
    return PF_DEFAULT_MAX_SIZE;
  const lua_Integer size = luaL_checkinteger(L, arg);
  luaL_argcheck(L, size >= 0, arg, "max_size is negative");
  return (uint64_t)size;
}


/* Ends the opening of a source, which is on top of the stack, by its map (NULL
   after most failures). Returns nil, message, code after a failure, and for
   compressed data a source with the bytes that could be unpacked. */
static int opened (lua_State *L, l_source *s, pf_map *map, pf_status status,
                   const pf_error *error, const char *label) {
  own_map(s, map);
  if (status == PF_OK)
    return 1;
  l_failure(L, error, label);
  if (!s->open)
    return 3;
  lua_pushvalue(L, -4);
  return 4;
}


/*
** core.source(path, max_size, length, is_live): a source with the bytes of a
** file or pipe ("-" is standard input), unpacked if they are gzip data, with
** `length` at most so many; or nil, message, code, partial source with what
** could be unpacked. max_size: most bytes that a pipe or packed file may have.
** A live source is a regular file that is still being written: part:grow makes
** more visible.
*/
static int core_source (lua_State *L) {
  const char *const path = l_path_check(L, 1);
  const uint64_t max_size = max_size_check(L, 2);
  const uint64_t seen = max_size_check(L, 3);
  const bool is_live = lua_toboolean(L, 4);
  l_source *const s = new_source(L, 1);
  s->max_size = max_size;
  s->seen = seen;
  pf_map *map = NULL;
  pf_error error;
  const pf_status status = is_live ? pf_map_live(path, &map, &error)
                                   : pf_map_open(path, max_size, &map, &error);
  return opened(L, s, map, status, &error, path);
}


typedef struct opening {
  l_source *source;
  pf_map *map; /* NULL after a failure */
} opening;


static void open_file (void *context) {
  opening *const o = context;
  pf_error unused;
  if (pf_map_open(o->source->path, o->source->max_size, &o->map, &unused) ==
      PF_OK)
    return;
  pf_map_close(o->map);
  o->map = NULL;
}


/* core.sources(paths, max_size): opens and unpacks files in parallel threads.
   Returns the sources by the indices of their paths, without those of files
   that cannot be opened or unpacked completely: core.source returns their
   errors. */
static int core_sources (lua_State *L) {
  const uint64_t max_size = max_size_check(L, 2);
  luaL_checktype(L, 1, LUA_TTABLE);
  const size_t count = l_length(L, 1);
  lua_settop(L, 2);
  lua_newtable(L); /* at 3 */
  opening *const openings = l_scratch(L, count, sizeof *openings);
  for (size_t i = 0; i < count; i++) {
    lua_rawgeti(L, 1, (lua_Integer)i + 1);
    l_path_check(L, -1);
    openings[i].source = new_source(L, lua_gettop(L));
    openings[i].source->max_size = max_size;
    lua_rawseti(L, 3, (lua_Integer)i + 1);
    lua_pop(L, 1);
  }
  pf_run_all(open_file, openings, sizeof *openings, count);
  for (size_t i = 0; i < count; i++) {
    own_map(openings[i].source, openings[i].map);
    if (openings[i].map != NULL)
      continue;
    lua_pushnil(L);
    lua_rawseti(L, 3, (lua_Integer)i + 1);
  }
  lua_settop(L, 3);
  return 1;
}


/* core.source_data(string, label, max_size): a source with the bytes of a
   string, which messages call `label`, unpacked if they are gzip data; or nil,
   message, code, partial source. */
static int core_source_data (lua_State *L) {
  const pf_bytes bytes = l_text_check(L, 1);
  const char *const label = luaL_checkstring(L, 2);
  const uint64_t max_size = max_size_check(L, 3);
  l_source *const s = new_source(L, 2);
  if (pf_is_gzip(bytes)) {
    pf_map *map;
    pf_error error;
    const pf_status status = pf_map_gzip(bytes, max_size, &map, &error);
    return opened(L, s, map, status, &error, label);
  }
  l_pin(L, -1, 1, 1);
  s->bytes = bytes;
  s->open = true;
  return 1;
}


pf_named_rule l_named_rule (lua_State *L) {
  pf_named_rule rule = {.max_size = max_size_check(L, 3)};
  const pf_bytes *const folders = l_texts_check(L, 2, &rule.nfolders);
  const char **const paths = l_scratch(L, rule.nfolders, sizeof *paths);
  for (size_t i = 0; i < rule.nfolders; i++)
    paths[i] = (const char *)folders[i].at; /* Lua ends strings with zero */
  rule.folders = paths;
  return rule;
}


/*
** core.named_file(path, folders, max_size): the real path of a file named in a
** trace if the rules of bytes/named.h allow reading it: it is a regular file
** of at most max_size bytes below one of the folders (nil or empty: anywhere).
** Or nil, message and code: "io": there is none; "unsupported", "limit": it
** may not be read.
*/
static int core_named_file (lua_State *L) {
  const char *const path = l_path_check(L, 1);
  char real[PF_LONGEST_PATH];
  pf_error error;
  lua_settop(L, 3);
  const pf_named_rule rule = l_named_rule(L);
  if (pf_named_file(path, &rule, real, &error) != PF_OK)
    return l_failure(L, &error, path);
  lua_pushstring(L, real);
  return 1;
}


/*
** core.named_source(path, folders, max_size, max_unpacked, length, is_live): a
** source with the bytes of a file that core.named_file allows, which is
** checked once more after it was opened; max_unpacked, length and is_live as
** those of core.source; or nil, message, code, partial source.
*/
static int core_named_source (lua_State *L) {
  const char *const path = l_path_check(L, 1);
  const uint64_t max_unpacked = max_size_check(L, 4);
  const uint64_t seen = max_size_check(L, 5);
  const bool is_live = lua_toboolean(L, 6) != 0;
  lua_settop(L, 6);
  const pf_named_rule rule = l_named_rule(L);
  l_source *const s = new_source(L, 1);
  s->seen = seen;
  pf_map *map = NULL;
  pf_error error;
  int fd;
  pf_status status = pf_named_open(path, &rule, &fd, &error);
  if (status == PF_OK) {
    status = is_live ? pf_map_live_descriptor(fd, &map, &error)
                     : pf_map_descriptor(fd, max_unpacked, &map, &error);
    if (!is_live || status != PF_OK)
      os_close(fd);
  }
  return opened(L, s, map, status, &error, path);
}


static int source_gc (lua_State *L) {
  l_source *const s = luaL_checkudata(L, 1, L_SOURCE);
  pf_map_close(s->map);
  s->map = NULL;
  s->bytes = (pf_bytes){NULL, 0};
  s->open = false;
  return 0;
}


/* source:close(). If a reader may be waiting for a Lua function, the bytes are
   left to the collector. */
static int source_close (lua_State *L) {
  l_source *const s = luaL_checkudata(L, 1, L_SOURCE);
  s->open = false;
  return l_callback_is_running(L) ? 0 : source_gc(L);
}


/* source:size(): the number of bytes. */
static int source_size (lua_State *L) {
  lua_pushinteger(L, (lua_Integer)l_source_check(L, 1)->bytes.size);
  return 1;
}


/* source:memory(): the bytes of memory that it holds; 0: a mapping, a string,
   or nothing while it sleeps. */
static int source_memory (lua_State *L) {
  const l_source *const s = l_source_check(L, 1);
  lua_pushinteger(L, s->map == NULL ? 0 : (lua_Integer)pf_map_memory(s->map));
  return 1;
}


/* source:read(offset, count): up to `count` bytes from `offset` (from 0) on. */
static int source_read (lua_State *L) {
  const pf_bytes bytes = l_source_check(L, 1)->bytes;
  const lua_Integer offset = luaL_optinteger(L, 2, 0);
  const lua_Integer count = luaL_optinteger(L, 3, LUA_MAXINTEGER);
  luaL_argcheck(L, offset >= 0, 2, "offset is negative");
  luaL_argcheck(L, count >= 0, 3, "count is negative");
  const size_t from =
      (uint64_t)offset < bytes.size ? (size_t)offset : bytes.size;
  const size_t left = bytes.size - from;
  const size_t size = (uint64_t)count < left ? (size_t)count : left;
  lua_pushlstring(L, size == 0 ? "" : (const char *)bytes.at + from, size);
  return 1;
}


/* Returns the next line; the position is in upvalue 2. */
static int next_line (lua_State *L) {
  const pf_bytes bytes = l_source_check(L, lua_upvalueindex(1))->bytes;
  const size_t from = (size_t)lua_tointeger(L, lua_upvalueindex(2));
  if (from >= bytes.size)
    return 0;
  const uint8_t *const line = bytes.at + from;
  const uint8_t *const end = memchr(line, '\n', bytes.size - from);
  size_t size = end == NULL ? bytes.size - from : (size_t)(end - line);
  lua_pushinteger(L, (lua_Integer)(from + size + 1));
  lua_replace(L, lua_upvalueindex(2));
  if (size > 0 && line[size - 1] == '\r')
    size--;
  lua_pushlstring(L, (const char *)line, size);
  return 1;
}


/* source:lines(): an iterator over lines, which end with LF or CR LF. */
static int source_lines (lua_State *L) {
  l_source_check(L, 1);
  lua_pushvalue(L, 1);
  lua_pushinteger(L, 0);
  lua_pushcclosure(L, next_line, 2);
  return 1;
}


/* source:path(): the path, or the label of source_data. */
static int source_path (lua_State *L) {
  luaL_checkudata(L, 1, L_SOURCE);
  lua_getiuservalue(L, 1, 2);
  return 1;
}


void l_open_source (lua_State *L) {
  l_class(L, L_SOURCE,
          L_METHODS({"close", source_close}, {"lines", source_lines},
                    {"path", source_path}, {"read", source_read},
                    {"size", source_size}, {"memory", source_memory}),
          source_gc, source_gc);
  L_ADD(L, {"named_file", core_named_file}, {"named_source", core_named_source},
        {"source", core_source}, {"source_data", core_source_data},
        {"sources", core_sources});
}
