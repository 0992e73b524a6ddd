/*
** export_pprof.c - core.write_pprof: export of profiles as pprof files, encoded
** by formats/pprof.
*/

#include <errno.h>
#include <string.h>

#include "formats/pprof/write_pprof.h"
#include "lua/arguments.h"
#include "lua/profile/context_profile.h"

#define L_SINK   "profio.sink"
#define L_HEADER "profio.header"


/* {====== A sink into memory, freed by the collector ====== */

static int sink_gc (lua_State *L) {
  pf_sink_close(luaL_checkudata(L, 1, L_SINK));
  return 0;
}


/* Writes the bytes of a sink to the Lua file at `arg` and closes the sink.
   Closing now matters when a profile is written while the Lua state closes,
   because the collector then runs no finalisers of new objects. Returns true,
   or nil, message, code and "EPIPE" if a pipe has no reader any more. */
static int put_file (lua_State *L, pf_sink *sink, int arg, FILE *file) {
  const pf_bytes bytes = pf_sink_bytes(sink);
  errno = 0;
  const bool done =
      fwrite(bytes.at, 1, bytes.size, file) == bytes.size && fflush(file) == 0;
  const int errnum = errno;
  pf_sink_close(sink);
  if (done) {
    lua_pushboolean(L, 1);
    return 1;
  }
  return l_write_failure(L, arg, errnum);
}


/* }====== */


/* {====== pprof ====== */

/* The header is owned by its userdata. */
static int header_gc (lua_State *L) {
  pprof_header_close(luaL_checkudata(L, 1, L_HEADER));
  return 0;
}


static pprof_header *push_header (lua_State *L) {
  pprof_header *const header = lua_newuserdatauv(L, sizeof *header, 0);
  pprof_header_open(header);
  luaL_setmetatable(L, L_HEADER);
  return header;
}


static void add_comment (lua_State *L, pprof_header *header, uint32_t comment) {
  if (!pprof_header_comment(header, comment))
    l_no_memory(L);
}


/* Sets the field of the header that the fact `name` states, as in
   trace:facts(); its value is on top of the stack. Other facts are ignored. */
static void read_fact (lua_State *L, const char *name, pprof_header *header,
                       pf_dictionary *d) {
  const struct {
    const char *name;
    int64_t *number;
  } numbers[] = {{"time_nanos", &header->time_nanos},
                 {"duration_nanos", &header->duration_nanos},
                 {"period", &header->period}};
  const struct {
    const char *name;
    uint32_t *text;
  } texts[] = {{"default_sample_type", &header->default_type},
               {"doc_url", &header->doc_url},
               {"drop_frames", &header->drop_frames},
               {"keep_frames", &header->keep_frames}};
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
    if (strcmp(name, numbers[i].name) == 0)
      *numbers[i].number = luaL_checkinteger(L, -1);
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
    if (strcmp(name, texts[i].name) == 0)
      *texts[i].text = l_name_check(L, -1, d);
  if (strcmp(name, "comment") == 0)
    add_comment(L, header, l_name_check(L, -1, d));
  else if (strcmp(name, "period_type") == 0)
    header->period_type.type = l_name_check(L, -1, d);
  else if (strcmp(name, "period_unit") == 0)
    header->period_type.unit = l_name_check(L, -1, d);
}


/* Reads the option `heads`, for each file the list of its facts { name=, value=
   }, and `comments`. */
static void read_headers (lua_State *L, pprof_header *header,
                          pf_dictionary *d) {
  const int top = lua_gettop(L);
  if (lua_getfield(L, 2, "heads") == LUA_TTABLE)
    for (lua_Integer i = 1; lua_rawgeti(L, top + 1, i) == LUA_TTABLE; i++) {
      pprof_header *const more = push_header(L);
      for (lua_Integer k = 1; lua_rawgeti(L, top + 2, k) == LUA_TTABLE; k++) {
        lua_getfield(L, -1, "name");
        lua_getfield(L, -2, "value");
        read_fact(L, luaL_checkstring(L, -2), more, d);
        lua_settop(L, top + 3);
      }
      if (!pprof_header_merge(header, more, i == 1, d))
        l_no_memory(L);
      lua_settop(L, top + 1);
    }
  lua_settop(L, top);
  if (lua_getfield(L, 2, "comments") == LUA_TTABLE)
    for (lua_Integer i = 1; lua_rawgeti(L, top + 1, i) != LUA_TNIL; i++) {
      add_comment(L, header, l_name_check(L, -1, d));
      lua_pop(L, 1);
    }
  lua_settop(L, top);
}


/* Reads the option `mapping`, { start=, limit=, offset=, file=, build_id=,
   has_lines= }; false if there is none. */
static bool read_mapping (lua_State *L, pprof_mapping *mapping,
                          pf_dictionary *d) {
  int64_t start = 0, limit = 0, offset = 0;
  if (lua_getfield(L, 2, "mapping") != LUA_TTABLE)
    return false;
  l_option_int(L, -1, "start", &start);
  l_option_int(L, -1, "limit", &limit);
  l_option_int(L, -1, "offset", &offset);
  const bool has_lines = l_option_flag(L, -1, "has_lines");
  *mapping = (pprof_mapping){.start = (uint64_t)start,
                             .limit = (uint64_t)limit,
                             .offset = (uint64_t)offset,
                             .file = l_option_name(L, -1, "file", d),
                             .build_id = l_option_name(L, -1, "build_id", d),
                             .has = {1, has_lines, has_lines, 0}};
  return true;
}


/*
** core.write_pprof(contexts, options, file): true, or nil, message, code.
** Options: packed (default true: gzip), heads (for each input file the list of
** its facts), comments (a list), mapping (of the executable).
*/
static int core_write_pprof (lua_State *L) {
  pf_error error;
  const pf_contexts *const contexts = l_contexts_check(L, 1);
  luaL_checktype(L, 2, LUA_TTABLE);
  FILE *const file = l_file_check(L, 3);
  lua_settop(L, 3);
  pprof_mapping mapping = {0};
  pprof_header *const header = push_header(L);
  read_headers(L, header, contexts->dictionary);
  const bool has_mapping = read_mapping(L, &mapping, contexts->dictionary);
  const pprof_attributes facts = {header, has_mapping ? &mapping : NULL};
  lua_getfield(L, 2, "packed");
  const bool is_packed = lua_isnil(L, -1) || lua_toboolean(L, -1);
  pf_sink *const sink = l_new(L, L_SINK, sizeof *sink, 0);
  sink->fd = -1;
  if (pf_sink_open(sink, -1) != PF_OK)
    l_no_memory(L);
  const pf_status status =
      is_packed ? pf_pprof_write_gzip(contexts, &facts, sink, &error)
                : pf_pprof_write(contexts, &facts, sink, &error);
  if (status != PF_OK)
    return l_failure(L, &error, NULL);
  return put_file(L, sink, 3, file);
}

/* }====== */


void l_open_export_pprof (lua_State *L) {
  l_class(L, L_SINK, NULL, sink_gc, sink_gc);
  l_class(L, L_HEADER, NULL, header_gc, header_gc);
  lua_pushcfunction(L, core_write_pprof);
  lua_setfield(L, -2, "write_pprof");
}
