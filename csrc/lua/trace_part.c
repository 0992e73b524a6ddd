/*
** trace_part.c - parts: an opened file with its companion files, decoded by a
** format. A trace of the Lua module consists of one part or several
** concatenated ones, which internal/opening/open.lua opens and joins.
**
** The userdata owns the core's trace. User value 1 is the opening and 3 the
** main source; 4 is nil or an array that pins further sources. User value 2 is
** the label of messages: path and format.
*/

#include <stdlib.h>
#include <string.h>

#include "formats/formats.h"
#include "lua/arguments.h"
#include "lua/callback.h"
#include "lua/source.h"
#include "lua/trace_part.h"
#include "lua/writer/written.h"
#include "model/rows/abilities.h"


l_part *l_part_check (lua_State *L, int arg) {
  l_part *const p = luaL_checkudata(L, arg, L_PART);
  if (!p->open)
    luaL_error(L, "trace is closed");
  return p;
}


static int part_gc (lua_State *L) {
  l_part *const p = luaL_checkudata(L, 1, L_PART);
  pf_trace_close(&p->trace);
  pf_notes_free(p->trace.notes);
  p->trace.notes = NULL;
  free(p->tables);
  p->tables = NULL;
  p->open = false;
  return 0;
}


/* part:close(). If a reader may be waiting for a Lua function, the memory is
   left to the collector. */
static int part_close (lua_State *L) {
  l_part *const p = luaL_checkudata(L, 1, L_PART);
  p->open = false;
  return l_callback_is_running(L) ? 0 : part_gc(L);
}


/* Returns the string on top of the stack; pins and pops it. */
static const char *pinned_text (lua_State *L, int pins) {
  const char *const text = luaL_checkstring(L, -1);
  l_append(L, pins);
  return text;
}


/* Makes the arrays of sources longer by `count`; the old ones stay pinned. */
static void reserve_sources (lua_State *L, l_part *p, size_t count, int pins) {
  const size_t old = p->trace.nsources, all = old + count;
  pf_source *const sources = l_scratch(L, all, sizeof *sources);
  l_append(L, pins);
  l_source **const owners = l_scratch(L, all, sizeof *owners);
  l_append(L, pins);
  for (size_t i = 0; i < old; i++) {
    sources[i] = p->sources[i];
    owners[i] = p->owners[i];
  }
  p->trace.sources = p->sources = sources;
  p->owners = owners;
}


/* Adds a source with the role and the source userdata on top of the stack,
   which are pinned and popped. */
static void add_source (lua_State *L, l_part *p, int pins) {
  const size_t i = p->trace.nsources;
  l_source *const source = l_source_check(L, lua_gettop(L));
  p->owners[i] = source;
  p->sources[i].bytes = source->bytes;
  p->sources[i].path = source->path;
  l_append(L, pins);
  p->sources[i].role = pinned_text(L, pins);
  p->trace.nsources++;
}


/* Adds the sources { { role=, source= }, ... } at `arg`. */
static void add_sources (lua_State *L, int arg, l_part *p, int pins) {
  const size_t n = l_length(L, arg);
  reserve_sources(L, p, n, pins);
  for (size_t i = 0; i < n; i++) {
    lua_rawgeti(L, arg, (lua_Integer)i + 1);
    lua_getfield(L, -1, "role");
    lua_getfield(L, -2, "source");
    add_source(L, p, pins);
    lua_pop(L, 1);
  }
}


/* The options with which files are opened. User value 1 is the dictionary, 2 an
   array that pins the options. */
typedef struct l_opening {
  const pf_format *format;
  const pf_option *options;
  size_t noptions;
  bool strict;
  pf_dictionary *dictionary;
  pf_symbols *symbols; /* or NULL */
  pf_bytes program;
} l_opening;


/*
** core.opening(format, options, strict, dictionary, symbols, program): how
** core.open opens files. strict: the first warning is an error. `symbols` of
** the executable at path `program`, or nil: for formats that name functions
** while they open.
*/
static int core_opening (lua_State *L) {
  const pf_format *const format = pf_format_named(luaL_checkstring(L, 1));
  if (format == NULL)
    return luaL_error(L, "no format '%s'", lua_tostring(L, 1));
  luaL_checktype(L, 2, LUA_TTABLE);
  pf_dictionary *const dictionary = l_dictionary_check(L, 4);
  pf_symbols *const symbols =
      lua_isnoneornil(L, 5) ? NULL : l_symbols_check(L, 5);
  const char *const program = luaL_optstring(L, 6, "");
  lua_settop(L, 6);
  l_opening *const o = l_new(L, L_OPENING, sizeof *o, 4); /* at 7 */
  o->format = format;
  o->strict = lua_toboolean(L, 3) != 0;
  o->dictionary = dictionary;
  o->symbols = symbols;
  o->program = pf_bytes_of(program);
  l_pin(L, 7, 1, 4);
  l_pin(L, 7, 3, 5);
  l_pin(L, 7, 4, 6);
  lua_newtable(L); /* at 8: pins */
  l_pin(L, 7, 2, 8);
  pf_option *options;
  o->noptions = l_options_at(L, 2, &options);
  o->options = options;
  l_append(L, 8);
  for (lua_pushnil(L); lua_next(L, 2) != 0; l_append(L, 8)) {
    lua_pushvalue(L, -2);
    l_append(L, 8);
  }
  lua_settop(L, 7);
  return 1;
}


/* Opens the trace of a part as its format does. */
static pf_status open_trace (l_part *p, const l_opening *how, pf_error *error) {
  pf_trace *const trace = &p->trace;
  trace->options = how->options;
  trace->noptions = how->noptions;
  trace->format = how->format;
  trace->strict = how->strict;
  trace->dictionary = how->dictionary;
  trace->symbols = how->symbols;
  trace->program = how->program;
  const pf_status status = pf_trace_open(trace, error);
  trace->symbols = NULL; /* only the opening pins them */
  trace->program = pf_bytes_of("");
  return status;
}


/* core.open(opening, source, sides): a part, or nil, message, code. `source` is
   the main one; `sides` = { { role=, source= }, ... } or nil. */
static int core_open (lua_State *L) {
  const l_opening *const how = luaL_checkudata(L, 1, L_OPENING);
  l_source *const main = l_source_check(L, 2);
  lua_settop(L, 3);
  l_part *const p = l_new(L, L_PART, sizeof *p, 4); /* at 4 */
  pthread_mutex_init(&p->lock, NULL);
  l_pin(L, 4, 1, 1);
  l_pin(L, 4, 3, 2);
  p->main = (pf_source){"main", main->path, main->bytes};
  p->main_owner = main;
  p->trace.sources = p->sources = &p->main;
  p->owners = &p->main_owner;
  p->trace.nsources = 1;
  if (!lua_isnoneornil(L, 3)) {
    luaL_checktype(L, 3, LUA_TTABLE);
    lua_newtable(L); /* at 5: pins */
    l_pin(L, 4, 4, 5);
    add_sources(L, 3, p, 5);
    lua_settop(L, 4);
  }
  p->trace.notes = pf_notes_new();
  if (p->trace.notes == NULL)
    l_no_memory(L);
  p->label = lua_pushfstring(L, "%s: %s", main->path, how->format->name);
  lua_setiuservalue(L, 4, 2);
  p->open = true;
  pf_error error;
  if (open_trace(p, how, &error) != PF_OK)
    return l_failure(L, &error, p->label);
  if (pf_info_failed(p->trace.notes))
    l_no_memory(L);
  return 1;
}


/* core.detect(source): { { name, score }, ... } of the formats of the core
   with a score above 0, the most certain first. */
static int core_detect (lua_State *L) {
  const pf_bytes bytes = l_source_check(L, 1)->bytes;
  const pf_bytes head = {bytes.at, bytes.size < 65536 ? bytes.size : 65536};
  size_t count;
  const pf_format *const *const formats = pf_formats(&count);
  lua_newtable(L);
  for (size_t i = 0; i < count; i++) {
    const int score = formats[i]->score(head, bytes.size);
    if (score <= 0)
      continue;
    lua_createtable(L, 2, 0);
    lua_pushstring(L, formats[i]->name);
    lua_rawseti(L, -2, 1);
    lua_pushinteger(L, score);
    lua_rawseti(L, -2, 2);
    l_append(L, -2);
  }
  return 1;
}


/* core.formats(): the names of the core's formats, in order. */
static int core_formats (lua_State *L) {
  size_t count;
  const pf_format *const *const formats = pf_formats(&count);
  lua_createtable(L, (int)count, 0);
  for (size_t i = 0; i < count; i++) {
    lua_pushstring(L, formats[i]->name);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  return 1;
}

/* part:tables(): { { name=, rows= (nil: unknown), fields= }, ... } */
static int part_tables (lua_State *L) {
  l_part *const p = l_part_use_check(L, 1);
  lua_createtable(L, (int)p->trace.ntables, 0);
  for (size_t i = 0; i < p->trace.ntables; i++) {
    const pf_table *const table = &p->trace.tables[i];
    lua_createtable(L, 0, 3);
    l_set_text(L, "name", table->name);
    if (table->rows >= 0) {
      l_set_int(L, "rows", table->rows);
    }
    l_push_fields(L, table->fields, table->nfields);
    lua_setfield(L, -2, "fields");
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  l_part_release(p);
  return 1;
}


static void push_value (lua_State *L, const l_part *p, const pf_info *info) {
  switch (info->type) {
    case PF_NAME:
      l_push_bytes(L, pf_name(p->trace.dictionary, info->text));
      break;
    case PF_BOOL: lua_pushboolean(L, info->integer != 0); break;
    default: lua_pushinteger(L, info->integer);
  }
}


/* part:info(): { { name=, type=, value= }, ... } in the file's order. */
static int part_info (lua_State *L) {
  const l_part *const p = l_part_check(L, 1);
  const size_t count = pf_info_count(p->trace.notes);
  lua_createtable(L, (int)count, 0);
  for (size_t i = 0; i < count; i++) {
    const pf_info *const info = pf_info_at(p->trace.notes, i);
    lua_createtable(L, 0, 3);
    l_set_text(L, "name", info->name);
    l_set_text(L, "type", pf_type_name(info->type));
    push_value(L, p, info);
    lua_setfield(L, -2, "value");
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  return 1;
}


/* part:fact(name): the values of the header fields of a name, in order. */
static int part_fact (lua_State *L) {
  const l_part *const p = l_part_check(L, 1);
  const char *const name = luaL_checkstring(L, 2);
  const size_t count = pf_info_count(p->trace.notes);
  lua_settop(L, 2);
  for (size_t i = 0; i < count; i++) {
    const pf_info *const info = pf_info_at(p->trace.notes, i);
    if (strcmp(info->name, name) == 0) {
      luaL_checkstack(L, 1, "too many header fields");
      push_value(L, p, info);
    }
  }
  return lua_gettop(L) - 2;
}


/* part:add_info(into, counted): sets the header fields that table `into` lacks,
   and adds those whose names are keys of `counted`. */
static int part_add_info (lua_State *L) {
  const l_part *const p = l_part_check(L, 1);
  const size_t count = pf_info_count(p->trace.notes);
  for (size_t i = 0; i < count; i++) {
    const pf_info *const info = pf_info_at(p->trace.notes, i);
    lua_settop(L, 3);
    const bool is_new = lua_getfield(L, 2, info->name) == LUA_TNIL;
    if (!is_new && lua_getfield(L, 3, info->name) == LUA_TNIL)
      continue;
    lua_settop(L, 4); /* the value so far */
    push_value(L, p, info);
    if (!is_new)
      lua_arith(L, LUA_OPADD);
    lua_setfield(L, 2, info->name);
  }
  return 0;
}


/* part:rows(table): the number of rows; nil if only reading would tell, or if
   there is no such table. */
static int part_rows (lua_State *L) {
  const pf_trace *const trace = &l_part_check(L, 1)->trace;
  const char *const name = luaL_checkstring(L, 2);
  for (size_t i = 0; i < trace->ntables; i++)
    if (strcmp(trace->tables[i].name, name) == 0 &&
        trace->tables[i].rows >= 0) {
      lua_pushinteger(L, trace->tables[i].rows);
      return 1;
    }
  return 0;
}


static bool is_like (const pf_table *a, const pf_table *b, bool compares_help) {
  bool is_equal = strcmp(a->name, b->name) == 0 && a->nfields == b->nfields;
  for (size_t i = 0; is_equal && i < a->nfields; i++) {
    const pf_field *const f = &a->fields[i], *const g = &b->fields[i];
    is_equal = f->type == g->type && strcmp(f->name, g->name) == 0;
    if (is_equal && compares_help && f->help != g->help)
      is_equal =
          f->help != NULL && g->help != NULL && strcmp(f->help, g->help) == 0;
  }
  return is_equal;
}


/* part:is_like(other, except, compares_help): whether both have the same
   tables, with columns of equal names and types, and equal help if wanted.
   Tables whose names are keys of `except` are not compared. Neither part may be
   asleep. */
static int part_is_like (lua_State *L) {
  const pf_trace *const a = &l_part_check(L, 1)->trace;
  const pf_trace *const b = &l_part_check(L, 2)->trace;
  const bool compares_help = lua_toboolean(L, 4);
  bool is_equal = a->ntables == b->ntables;
  for (size_t i = 0; is_equal && i < a->ntables; i++) {
    lua_settop(L, 3);
    is_equal = lua_getfield(L, 3, a->tables[i].name) != LUA_TNIL ||
               is_like(&a->tables[i], &b->tables[i], compares_help);
  }
  lua_pushboolean(L, is_equal);
  return 1;
}


/* part:warnings(from): the stored warnings (pf_warn) from number `from`
   (default 1) on, each with the `count` of warnings that it stands for; without
   `count` if the option all_warnings is set. nil: there are none. */
static int part_warnings (lua_State *L) {
  const l_part *const p = l_part_check(L, 1);
  const lua_Integer from = luaL_optinteger(L, 2, 1);
  luaL_argcheck(L, from >= 1, 2, "starts at 1");
  const size_t count = pf_warning_count(p->trace.notes);
  const bool all = pf_option_int(&p->trace, "all_warnings", 0) != 0;
  if ((size_t)from > count)
    return 0;
  lua_newtable(L);
  for (size_t i = (size_t)from - 1; i < count; i++) {
    const pf_warning *const w = pf_warning_at(p->trace.notes, i);
    lua_createtable(L, 0, 5);
    l_set_text(L, "code", w->code);
    l_set_text(L, "kind", w->kind == PF_NOTE ? "note" : "damage");
    l_set_text(L, "message", w->message);
    if (w->offset != PF_NO_OFFSET)
      l_set_int(L, "offset", (lua_Integer)w->offset);
    if (!all)
      l_set_int(L, "count", (lua_Integer)pf_warning_times(p->trace.notes, i));
    l_append(L, -2);
  }
  return 1;
}


/* part:parallel(table_name): whether several readers of the table may read
   parts of it in different threads. */
static int part_parallel (lua_State *L) {
  l_part *const p = l_part_check(L, 1);
  const char *const name = luaL_checkstring(L, 2);
  pf_reader *reader = NULL;
  pf_error error;
  bool can_seek = false;
  if (p->trace.format->parallel &&
      l_part_open_table(p, name, &reader, &error) == PF_OK) {
    can_seek = pf_can(reader)->seek != NULL;
    reader->close(reader);
  }
  lua_pushboolean(L, can_seek);
  return 1;
}

/* part:grow(): reads what was written to the sources since; returns whether
   there is anything new. */
static int part_grow (lua_State *L) {
  const l_part *const p = l_part_check(L, 1);
  bool any = false;
  for (size_t i = 0; i < p->trace.nsources; i++)
    if (l_source_grow(p->owners[i])) {
      p->sources[i].bytes = p->owners[i]->bytes;
      any = true;
    }
  lua_pushboolean(L, any);
  return 1;
}


/* part:add(role, source): adds a source, which readers see at their next
   batch. */
static int part_add (lua_State *L) {
  l_part *const p = l_part_check(L, 1);
  luaL_checkstring(L, 2);
  l_source_check(L, 3);
  lua_settop(L, 3);
  if (lua_getiuservalue(L, 1, 4) != LUA_TTABLE) { /* at 4: the pins */
    lua_newtable(L);
    lua_replace(L, 4);
    l_pin(L, 1, 4, 4);
  }
  reserve_sources(L, p, 1, 4);
  lua_pushvalue(L, 2);
  lua_pushvalue(L, 3);
  add_source(L, p, 4);
  return 0;
}


void l_open_trace_part (lua_State *L) {
  l_class(L, L_OPENING, NULL, NULL, NULL);
  l_class(L, L_PART,
          L_METHODS({"add", part_add}, {"add_info", part_add_info},
                    {"fact", part_fact}, {"grow", part_grow},
                    {"is_like", part_is_like}, {"close", part_close},
                    {"info", part_info}, {"reader", l_part_reader},
                    {"rows", part_rows}, {"sleep", l_part_sleep},
                    {"tables", part_tables}, {"warnings", part_warnings},
                    {"parallel", part_parallel}),
          part_gc, part_gc);
  L_ADD(L, {"detect", core_detect}, {"formats", core_formats},
        {"open", core_open}, {"opening", core_opening});
}
