/*
** export_pprof.c - core.pprof: export of profiles as pprof files, encoded
** by formats/pprof.
**
** Called by lua/profio/exports/pprof.lua. Userdata own the header and the sink,
** and the result is a Lua string; the contexts are borrowed during the call.
*/

#include "formats/pprof/write_pprof.h"
#include "lua/arguments.h"
#include "lua/profile/context_profile.h"

#define L_SINK   "profio.sink"
#define L_HEADER "profio.header"


/* The collector frees the sink after an error. */
static int sink_gc (lua_State *L) {
  pf_sink_close(luaL_checkudata(L, 1, L_SINK));
  return 0;
}


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


/* Reads the list `comments` of the table at `arg`. */
static void read_comments (lua_State *L, int arg, pprof_header *header,
                           pf_dictionary *d) {
  const int top = lua_gettop(L);
  if (lua_getfield(L, arg, "comments") == LUA_TTABLE)
    for (lua_Integer i = 1; lua_rawgeti(L, -1, i) != LUA_TNIL; i++) {
      if (!pprof_header_comment(header, l_name_check(L, -1, d)))
        l_no_memory(L);
      lua_pop(L, 1);
    }
  lua_settop(L, top);
}


/* Reads the facts of a file, with its comments, from the table at `arg`. */
static void read_facts (lua_State *L, int arg, pprof_header *header,
                        pf_dictionary *d) {
  l_option_int(L, arg, "time_nanos", &header->time_nanos);
  l_option_int(L, arg, "duration_nanos", &header->duration_nanos);
  l_option_int(L, arg, "period", &header->period);
  header->default_type = l_option_name(L, arg, "default_sample_type", d);
  header->doc_url = l_option_name(L, arg, "doc_url", d);
  header->drop_frames = l_option_name(L, arg, "drop_frames", d);
  header->keep_frames = l_option_name(L, arg, "keep_frames", d);
  header->period_type.type = l_option_name(L, arg, "period_type", d);
  header->period_type.unit = l_option_name(L, arg, "period_unit", d);
  read_comments(L, arg, header, d);
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
** core.pprof(contexts, options): the bytes of a pprof file, or nil, message,
** code. Options: packed (default true: gzip), heads (for each input file a
** table of its facts, with a list `comments`), comments, mapping (of the
** executable: start, limit, offset, file, build_id, has_lines).
*/
static int core_pprof (lua_State *L) {
  pf_error error;
  const pf_contexts *const contexts = l_contexts_check(L, 1);
  pf_dictionary *const d = contexts->dictionary;
  luaL_checktype(L, 2, LUA_TTABLE);
  lua_settop(L, 2);
  pprof_mapping mapping = {0};
  pprof_header *const header = push_header(L); /* at 3 */
  if (lua_getfield(L, 2, "heads") == LUA_TTABLE)
    for (lua_Integer i = 1; lua_rawgeti(L, 4, i) == LUA_TTABLE; i++) {
      pprof_header *const more = push_header(L);
      read_facts(L, 5, more, d);
      if (!pprof_header_merge(header, more, i == 1, d))
        l_no_memory(L);
      lua_settop(L, 4);
    }
  lua_settop(L, 3);
  read_comments(L, 2, header, d);
  const bool has_mapping = read_mapping(L, &mapping, d);
  const pprof_attributes facts = {header, has_mapping ? &mapping : NULL};
  lua_getfield(L, 2, "packed");
  const bool is_packed = lua_isnil(L, -1) || lua_toboolean(L, -1);
  pf_sink *const sink = l_new(L, L_SINK, sizeof *sink, 0);
  if (pf_sink_open(sink, -1) != PF_OK)
    l_no_memory(L);
  const pf_status status =
      is_packed ? pf_pprof_write_gzip(contexts, &facts, sink, &error)
                : pf_pprof_write(contexts, &facts, sink, &error);
  if (status != PF_OK)
    return l_failure(L, &error, NULL);
  l_push_bytes(L, pf_sink_bytes(sink));
  pf_sink_close(sink); /* not later: a closing state runs no new finalisers */
  return 1;
}


void l_open_export_pprof (lua_State *L) {
  l_class(L, L_SINK, NULL, sink_gc, sink_gc);
  l_class(L, L_HEADER, NULL, header_gc, header_gc);
  L_ADD(L, {"pprof", core_pprof});
}
