/*
** profile.c - profiles that consist of a call graph. Called by
** lua/profio/internal/bodies and reports/gprof. The userdata owns the graph and
** the cache of demangled names; the collector frees both, since readers may
** outlive close.
*/

#include <stdlib.h>
#include <string.h>

#include "kernels/graph/assemble.h"
#include "kernels/listing/rank.h"
#include "kernels/listing/row_fill.h"
#include "lua/arguments.h"
#include "lua/profile/profile.h"
#include "model/base/memory.h"


l_profile *l_profile_check (lua_State *L, int arg) {
  l_profile *const p = luaL_checkudata(L, arg, L_PROFILE);
  luaL_argcheck(L, p->open, arg, "profile is closed");
  return p;
}


static int profile_gc (lua_State *L) {
  l_profile *const p = luaL_checkudata(L, 1, L_PROFILE);
  pf_graph_close(&p->graph);
  free(p->shown);
  p->shown = NULL;
  p->open = false;
  return 0;
}


/* Readers may still read the graph after close, so the collector frees it. */
static int profile_close (lua_State *L) {
  l_profile *const p = luaL_checkudata(L, 1, L_PROFILE);
  p->open = false;
  return 0;
}


/* Returns the reader in a field of the table at 1, or NULL; pushes the field.
   */
static pf_reader *option_reader (lua_State *L, const char *name) {
  if (lua_getfield(L, 1, name) == LUA_TNIL)
    return NULL;
  return l_reader_check(L, lua_gettop(L))->reader;
}


/* Pushes a closed profile with the dictionary at `dictionary`. */
static l_profile *new_profile (lua_State *L, int dictionary) {
  l_profile *const p = l_new(L, L_PROFILE, sizeof *p, 3);
  l_pin(L, -1, 1, dictionary);
  return p;
}


/* Allocates the array of demangled names; none is known yet. */
static void open_names (lua_State *L, l_profile *p) {
  const size_t count = p->graph.nfunctions;
  p->shown = pf_array(count, sizeof *p->shown);
  if (p->shown != NULL)
    memset(p->shown, 0xff, count * sizeof *p->shown);
  else
    l_no_memory(L);
}


/*
** core.profile{ histogram=, arcs=, sets=, symbols=, bias=, compat=, lines=,
** demangle=, dictionary= }: a profile from readers of a histogram, of arcs and
** of call sets, which are read at once; or nil, message, code. bias: run-time
** address minus link-time address; compat: compute as gprof does; lines: bins
** of lines, not of functions; demangle: show names as in the source.
*/
static int core_profile (lua_State *L) {
  pf_error error;
  int64_t bias = 0;
  luaL_checktype(L, 1, LUA_TTABLE);
  lua_settop(L, 1);
  l_option_int(L, 1, "bias", &bias);
  pf_assembly assembly = {.compat = l_option_flag(L, 1, "compat"),
                          .lines = l_option_flag(L, 1, "lines"),
                          .bias = (uint64_t)bias};
  assembly.histogram = option_reader(L, "histogram"); /* at 2 */
  assembly.arcs = option_reader(L, "arcs");           /* at 3 */
  assembly.sets = option_reader(L, "sets");           /* at 4 */
  const int first = assembly.histogram != NULL ? 2 : 3;
  if (lua_getfield(L, 1, "dictionary") == LUA_TNIL) {
    if (lua_isnil(L, first))
      return luaL_error(L, "a profile needs a histogram or arcs");
    l_reader_push_dictionary(L, first);
    lua_replace(L, 5);
  }
  pf_dictionary *const dictionary = l_dictionary_check(L, 5);
  luaL_argcheck(
      L, assembly.sets == NULL || assembly.sets->dictionary == dictionary, 1,
      "the readers have different dictionaries");
  if (lua_getfield(L, 1, "symbols") != LUA_TNIL)
    assembly.symbols = l_symbols_check(L, 6);
  l_profile *const p = new_profile(L, 5);
  l_pin(L, -1, 3, 6); /* it looks up lines when they are asked for */
  if (pf_assemble(&p->graph, &assembly, dictionary, &error) != PF_OK)
    return lua_isnil(L, first) ? l_failure(L, &error, NULL)
                               : l_failure_of(L, &error, first);
  p->open = true;
  if (l_option_flag(L, 1, "demangle"))
    open_names(L, p);
  return 1;
}


/* Returns the table at `arg` as an array with a number for each function
   (default 0), in memory that stays on the stack. Numbers are 0 to `most`. */
static uint32_t *numbers_check (lua_State *L, int arg, const l_profile *p,
                                lua_Integer most) {
  luaL_checktype(L, arg, LUA_TTABLE);
  const size_t count = p->graph.nfunctions;
  uint32_t *const numbers = l_scratch(L, count, sizeof *numbers);
  for (size_t i = 0; i < count; i++) {
    lua_geti(L, arg, (lua_Integer)i);
    const lua_Integer number = lua_tointeger(L, -1);
    luaL_argcheck(L, number >= 0 && number <= most, arg, "number out of range");
    numbers[i] = (uint32_t)number;
    lua_pop(L, 1);
  }
  return numbers;
}


pf_selection l_selection_check (lua_State *L, int arg, size_t count) {
  static const char *const names[] = {[PF_FOCUS] = "focus",
                                      [PF_IGNORE] = "ignore",
                                      [PF_HIDE] = "hide",
                                      [PF_HIDE + 1] = NULL};
  const pf_narrowing narrowing =
      (pf_narrowing)luaL_checkoption(L, arg, NULL, names);
  luaL_checktype(L, arg + 1, LUA_TTABLE);
  bool *const chosen = l_scratch(L, count, sizeof *chosen);
  for (lua_pushnil(L); lua_next(L, arg + 1) != 0; lua_pop(L, 1)) {
    const lua_Integer number = luaL_checkinteger(L, -2);
    luaL_argcheck(L, number >= 0 && (size_t)number < count, arg + 1,
                  "no such frame");
    chosen[number] = lua_toboolean(L, -1);
  }
  return (pf_selection){narrowing, chosen, count};
}


/* profile:narrow(narrowing, chosen): a profile without what the selection (see
   l_selection_check) leaves out. Or nil, message, code. */
static int profile_narrow (lua_State *L) {
  pf_error error;
  lua_settop(L, 3);
  l_profile *const p = l_profile_check(L, 1);
  luaL_argcheck(L, !p->graph.facts.compat, 1, "not an exact profile");
  const size_t count = p->graph.nfunctions;
  const pf_selection selection = l_selection_check(L, 2, count);
  lua_getiuservalue(L, 1, 1);
  l_profile *const to = new_profile(L, lua_gettop(L));
  pf_graph_open(&to->graph, p->graph.dictionary);
  if (pf_graph_narrow(&to->graph, &p->graph, &selection, &error) != PF_OK)
    return l_failure(L, &error, NULL);
  to->open = true;
  if (p->shown != NULL) {
    open_names(L, to);
    memcpy(to->shown, p->shown, count * sizeof *to->shown);
  }
  return 1;
}


/*
** profile:regroup(groups, names): a profile with groups as functions:
** groups[number of a function] is the number of its group, from 1, and
** names[number of a group] its name; functions that were not used need no
** group.
*/
static int profile_regroup (lua_State *L) {
  lua_settop(L, 3);
  const l_profile *const p = l_profile_check(L, 1);
  luaL_argcheck(L, !p->graph.facts.compat, 1, "not an exact profile");
  const size_t count = (size_t)luaL_len(L, 3);
  uint32_t *const groups = numbers_check(L, 2, p, (lua_Integer)count);
  for (size_t i = 0; i < p->graph.nfunctions; i++) {
    const bool is_used = (p->graph.flags[i] & PF_FUNCTION_USED) != 0;
    luaL_argcheck(L, groups[i] > 0 || !is_used, 2, "a function has no group");
    groups[i] -= groups[i] > 0;
  }
  uint32_t *const names = l_scratch(L, count, sizeof *names);
  for (size_t i = 0; i < count; i++) {
    lua_geti(L, 3, (lua_Integer)i + 1);
    names[i] = l_name_check(L, -1, p->graph.dictionary);
    lua_pop(L, 1);
  }
  lua_getiuservalue(L, 1, 1);
  l_profile *const to = new_profile(L, lua_gettop(L));
  pf_graph_open(&to->graph, p->graph.dictionary);
  if (pf_graph_group(&to->graph, &p->graph, groups, names, count) != PF_OK)
    l_no_memory(L);
  to->open = true;
  return 1;
}


/* The reports without arguments other than options. */
static const struct {
  const char *name;
  pf_status (*make)(const pf_listing *listing, pf_reader **reader,
                    pf_error *error);
  bool is_ranked; /* needs pf_flow_rank */
} reports[] = {{"annotations", pf_listing_annotations, false},
               {"flat", pf_listing_flat, false},
               {"functions", pf_listing_functions, false},
               {"graph", pf_listing_graph, true},
               {"graph_listing", pf_listing_text, true},
               {"index", pf_listing_index, true},
               {"lines", pf_listing_lines, false}};

#define NREPORTS (sizeof reports / sizeof *reports)


/* Returns the listing of the profile at 1 and pushes its flow. */
static pf_listing listing_of (lua_State *L, int arg, bool is_ranked) {
  const l_profile *const p = l_profile_check(L, 1);
  pf_listing listing = {.shown = p->shown,
                        .zeros = l_option_flag(L, arg, "zeros")};
  pf_flow *const flow = l_flow_push(L, 1, arg);
  if (is_ranked && pf_flow_rank(flow) != PF_OK)
    l_no_memory(L);
  listing.flow = flow;
  return listing;
}


/*
** profile:annotations(options), profile:flat(options),
** profile:functions(options), profile:graph(options),
** profile:graph_listing(options), profile:index(options) and
** profile:lines(options): a reader for the report whose index is upvalue 1.
** Options: those of l_flow_push, and zeros (also functions without samples and
** calls).
*/
static int profile_report (lua_State *L) {
  const size_t which = (size_t)lua_tointeger(L, lua_upvalueindex(1));
  lua_settop(L, 2);
  const pf_listing listing = listing_of(L, 2, reports[which].is_ranked);
  l_reader *const r = l_reader_new(L);
  return l_reader_opened(L,
                         reports[which].make(&listing, &r->reader, &r->error));
}


/* Pushes a buffer with the numbers of the functions with the name or number at
   `arg`, and returns it: those that were used, else the first one. Raises for a
   number that is out of range. */
static const uint32_t *functions_at (lua_State *L, int arg, const l_profile *p,
                                     size_t *count) {
  const pf_graph *const graph = &p->graph;
  uint32_t *const list =
      lua_newuserdatauv(L, (graph->nfunctions + 1) * sizeof *list, 0);
  size_t first = graph->nfunctions, used = 0;
  if (lua_isinteger(L, arg)) {
    const lua_Integer number = lua_tointeger(L, arg);
    luaL_argcheck(L, number >= 0 && (uint64_t)number < graph->nfunctions, arg,
                  "no function has this number");
    *list = (uint32_t)number;
    *count = 1;
    return list;
  }
  l_profile_demangle(L, p);
  const uint32_t name = pf_find_name(graph->dictionary, l_text_check(L, arg));
  for (size_t i = graph->nfunctions; name != PF_NO_NAME && i-- > 0;)
    if (graph->names[i] == name || (p->shown != NULL && p->shown[i] == name)) {
      first = i;
      if ((graph->flags[i] & PF_FUNCTION_USED) != 0)
        list[used++] = (uint32_t)i;
    }
  *count = used > 0 ? used : first < graph->nfunctions;
  if (used == 0)
    *list = (uint32_t)first;
  return list;
}


static int arcs_of (lua_State *L,
                    pf_status (*make)(const pf_listing *, const uint32_t *,
                                      size_t, pf_reader **, pf_error *)) {
  lua_settop(L, 3);
  size_t count;
  const l_profile *const p = l_profile_check(L, 1);
  const pf_listing listing = listing_of(L, 3, false);
  const uint32_t *const functions = functions_at(L, 2, p, &count);
  if (count == 0)
    return 0;
  l_reader *const r = l_reader_new(L);
  return l_reader_opened(
      L, make(&listing, functions, count, &r->reader, &r->error));
}


/* profile:callers(function, options): a reader with the columns of `graph`; nil
   if there is no such function. */
static int profile_callers (lua_State *L) {
  return arcs_of(L, pf_listing_callers);
}


/* profile:callees(function, options): the same for callees. */
static int profile_callees (lua_State *L) {
  return arcs_of(L, pf_listing_callees);
}


/* Sets the weights of a function in the table on top. */
static void set_weights (lua_State *L, const pf_flow *flow, size_t f) {
  const pf_graph *const graph = flow->graph;
  if (graph->facts.compat) {
    l_set_number(L, "ticks", graph->ticks[f]);
    l_set_number(L, "even_ticks", graph->even_ticks[f]);
    l_set_number(L, "right_ticks", graph->right_ticks[f]);
  }
  else {
    l_set_int(L, "samples", graph->weights[0][f]);
    l_set_int(L, "weight", graph->weights[flow->metric][f]);
  }
  l_set_bool(L, "is_in_flat", pf_flow_in_flat(flow, f));
  l_set_bool(L, "is_used", (graph->flags[f] & PF_FUNCTION_USED) != 0);
}


/*
** profile:add_weights(functions): adds to each table of a list, the rows of
** profile:functions { zeros = true }: samples and weight (of the usual metric),
** or gprof's ticks, even_ticks and right_ticks (see pf_graph); is_in_flat,
** is_used, is_called_outside (from outside all functions, else nil).
*/
static int profile_add_weights (lua_State *L) {
  luaL_checktype(L, 2, LUA_TTABLE);
  lua_settop(L, 2);
  lua_pushnil(L); /* no options */
  const pf_flow *const flow = l_flow_push(L, 1, 3);
  const pf_graph *const graph = flow->graph;
  luaL_argcheck(L, l_length(L, 2) == graph->nfunctions, 2,
                "all functions expected");
  for (size_t f = 0; f < graph->nfunctions; f++) {
    lua_rawgeti(L, 2, (lua_Integer)f + 1);
    set_weights(L, flow, f);
    lua_pop(L, 1);
  }
  for (size_t i = graph->child_first[graph->nfunctions]; i < graph->narcs;
       i++) {
    lua_rawgeti(L, 2, (lua_Integer)graph->arcs[i].callee + 1);
    l_set_bool(L, "is_called_outside", true);
    lua_pop(L, 1);
  }
  return 0;
}


/* profile:facts(options): the numbers shown in headings. */
static int profile_facts (lua_State *L) {
  lua_settop(L, 2);
  l_profile_facts(L, l_flow_push(L, 1, 2));
  return 1;
}


void l_open_profile (lua_State *L) {
  l_open_flow(L);
  l_class(L, L_PROFILE,
          L_METHODS({"callees", profile_callees}, {"callers", profile_callers},
                    {"close", profile_close}, {"facts", profile_facts},
                    {"narrow", profile_narrow}, {"regroup", profile_regroup},
                    {"add_weights", profile_add_weights}),
          profile_gc, profile_close);
  luaL_getmetatable(L, L_PROFILE);
  lua_getfield(L, -1, "__index");
  for (size_t i = 0; i < NREPORTS; i++) {
    lua_pushinteger(L, (lua_Integer)i);
    lua_pushcclosure(L, profile_report, 1);
    lua_setfield(L, -2, reports[i].name);
  }
  lua_pop(L, 2);
  L_ADD(L, {"profile", core_profile});
}
