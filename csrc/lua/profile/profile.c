/*
** profile.c - profiles that consist of a call graph: built from readers, shown
** by readers.
*/

#include <stdlib.h>
#include <string.h>

#include "kernels/graph/assemble.h"
#include "kernels/graph/transform_graph.h"
#include "kernels/graph/compare.h"
#include "kernels/listing/rank.h"
#include "lua/profile/profile.h"
#include "model/base/memory.h"

/* Opens the reader of a report. */
typedef pf_status make_listing (const pf_listing *listing, pf_reader **reader,
                                pf_error *error);


/* {====== Construction ====== */

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


/* Close only forbids further use: readers may still read the graph, so the
   collector frees it. */
static int profile_close (lua_State *L) {
  l_profile *const p = luaL_checkudata(L, 1, L_PROFILE);
  p->open = false;
  return 0;
}


/* Returns the reader in a field of the table at 1, or NULL; it stays on the
   stack. */
static pf_reader *option_reader (lua_State *L, const char *name) {
  if (lua_getfield(L, 1, name) == LUA_TNIL)
    return NULL;
  return l_reader_check(L, lua_gettop(L))->reader;
}


static bool option_bool (lua_State *L, const char *name) {
  lua_getfield(L, 1, name);
  const bool value = lua_toboolean(L, -1);
  lua_pop(L, 1);
  return value;
}


/* Returns the dictionary of the option, or else of a reader; pushes its
   userdata. */
static pf_dictionary *option_dictionary (lua_State *L) {
  static const char *const readers[] = {"histogram", "arcs", NULL};
  if (lua_getfield(L, 1, "dictionary") != LUA_TNIL)
    return l_dictionary_check(L, lua_gettop(L));
  for (size_t i = 0; readers[i] != NULL; i++)
    if (option_reader(L, readers[i]) != NULL) {
      l_reader_push_dictionary(L, lua_gettop(L));
      return l_dictionary_check(L, lua_gettop(L));
    }
  luaL_error(L, "a profile needs a histogram or arcs");
  return NULL;
}


/* Reads the options at 1 except the dictionary. */
static void read_options (lua_State *L, pf_assembly *assembly) {
  *assembly = (pf_assembly){.compat = option_bool(L, "compat"),
                            .lines = option_bool(L, "lines")};
  assembly->histogram = option_reader(L, "histogram");
  assembly->arcs = option_reader(L, "arcs");
  assembly->sets = option_reader(L, "sets");
  if (lua_getfield(L, 1, "symbols") != LUA_TNIL)
    assembly->symbols = l_symbols_check(L, lua_gettop(L));
  lua_getfield(L, 1, "bias");
  assembly->bias = (uint64_t)luaL_optinteger(L, -1, 0);
}


/* Pushes and returns the label of the first reader; NULL if there is none. */
static const char *label_of (lua_State *L) {
  static const char *const readers[] = {"histogram", "arcs", NULL};
  for (size_t i = 0; readers[i] != NULL; i++)
    if (lua_getfield(L, 1, readers[i]) == LUA_TUSERDATA &&
        lua_getiuservalue(L, -1, 2) == LUA_TSTRING)
      return lua_tostring(L, -1);
  return NULL;
}


static l_profile *new_profile (lua_State *L) {
  l_profile *const p = lua_newuserdatauv(L, sizeof *p, 2);
  memset(p, 0, sizeof *p);
  luaL_setmetatable(L, L_PROFILE);
  return p;
}


/* Allocates the array of demangled names; none is known yet. */
static void open_names (lua_State *L, l_profile *p) {
  const size_t count = p->graph.nfunctions;
  p->shown = pf_array(count, sizeof *p->shown);
  if (p->shown != NULL)
    memset(p->shown, 0xff, count * sizeof *p->shown);
  else
    luaL_error(L, "not enough memory");
}


/*
** core.profile{ histogram=, arcs=, sets=, symbols=, bias=, compat=, lines=,
** demangle=, dictionary= }: a profile, or nil, message, code.
*/
static int core_profile (lua_State *L) {
  pf_assembly assembly;
  pf_error error;
  luaL_checktype(L, 1, LUA_TTABLE);
  lua_settop(L, 1);
  l_profile *const p = new_profile(L);
  pf_dictionary *const dictionary = option_dictionary(L);
  lua_setiuservalue(L, 2, 1);
  read_options(L, &assembly);
  if (assembly.sets != NULL)
    luaL_argcheck(L, assembly.sets->dictionary == dictionary, 1,
                  "the readers have different dictionaries");
  if (pf_assemble(&p->graph, &assembly, dictionary, &error) != PF_OK)
    return l_failure(L, &error, label_of(L));
  p->open = true;
  if (option_bool(L, "demangle"))
    open_names(L, p);
  lua_settop(L, 2);
  return 1;
}

/* }====== */


/* {====== Transformations ====== */

/* Pushes a profile with the dictionary of the one at 1. */
static l_profile *new_like (lua_State *L) {
  l_profile *const p = new_profile(L);
  lua_getiuservalue(L, 1, 1);
  lua_setiuservalue(L, -2, 1);
  return p;
}


/* Returns the table at `arg` as an array with a number for each function
   (default 0), in memory that stays on the stack. Numbers are 0 to `max`. */
static uint32_t *numbers_check (lua_State *L, int arg, const l_profile *p,
                                lua_Integer most) {
  luaL_checktype(L, arg, LUA_TTABLE);
  const size_t count = p->graph.nfunctions;
  uint32_t *const numbers =
      lua_newuserdatauv(L, (count + 1) * sizeof *numbers, 0);
  for (size_t i = 0; i < count; i++) {
    lua_geti(L, arg, (lua_Integer)i);
    const lua_Integer number = lua_tointeger(L, -1);
    luaL_argcheck(L, number >= 0 && number <= most, arg, "number out of range");
    numbers[i] = (uint32_t)number;
    lua_pop(L, 1);
  }
  return numbers;
}


/*
** profile:narrow(marks): a profile of the functions selected by the marks, by
** function number: 1 keep only these and their callees, 2 drop, 4 attribute to
** the callers. Or nil, message, code.
*/
static int profile_narrow (lua_State *L) {
  pf_error error;
  lua_settop(L, 2);
  l_profile *const p = l_profile_check(L, 1);
  luaL_argcheck(L, !p->graph.facts.compat, 1, "not an exact profile");
  const size_t count = p->graph.nfunctions;
  const uint32_t *const numbers = numbers_check(L, 2, p, 7);
  uint8_t *const marks = lua_newuserdatauv(L, count + 1, 0);
  for (size_t i = 0; i < count; i++)
    marks[i] = (uint8_t)numbers[i];
  l_profile *const to = new_like(L);
  pf_graph_open(&to->graph, p->graph.dictionary);
  if (pf_graph_narrow(&to->graph, &p->graph, marks, &error) != PF_OK)
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
** groups[number of a function] is the number of its group, from 1; functions
** that were not used need none.
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
  uint32_t *const names = lua_newuserdatauv(L, (count + 1) * sizeof *names, 0);
  for (size_t i = 0; i < count; i++) {
    pf_bytes bytes;
    lua_geti(L, 3, (lua_Integer)i + 1);
    bytes.at = (const uint8_t *)luaL_checklstring(L, -1, &bytes.size);
    names[i] = pf_intern(p->graph.dictionary, bytes);
    if (names[i] == PF_NO_NAME)
      return luaL_error(L, "not enough memory");
    lua_pop(L, 1);
  }
  l_profile *const to = new_like(L);
  pf_graph_open(&to->graph, p->graph.dictionary);
  if (pf_graph_group(&to->graph, &p->graph, groups, names, count) != PF_OK)
    return luaL_error(L, "not enough memory");
  to->open = true;
  return 1;
}

/* }====== */


/* {====== Reports ====== */

/* Returns the listing of the profile at 1 for the options at `arg`, without a
   flow. */
static pf_listing listing_without_flow (lua_State *L, int arg) {
  const l_profile *const p = l_profile_check(L, 1);
  pf_listing listing = {.shown = p->shown};
  if (lua_istable(L, arg)) {
    lua_getfield(L, arg, "zeros");
    listing.zeros = lua_toboolean(L, -1);
    lua_pop(L, 1);
  }
  return listing;
}


/* Returns the listing for the options at `arg` and pushes its flow. */
static pf_listing listing_of (lua_State *L, int arg) {
  pf_listing listing = listing_without_flow(L, arg);
  listing.flow = l_flow_push(L, 1, arg);
  return listing;
}


/* As listing_of; also sorts the flat profile if the flow is new. */
static pf_listing flat_listing_of (lua_State *L, int arg) {
  pf_listing listing = listing_without_flow(L, arg);
  listing.flow =
      l_flow_push_ordered(L, 1, arg, pf_flow_open_flat, listing.zeros);
  return listing;
}


/* As listing_of; also sorts the call graph and its index, which are usually
   needed together, if the flow is new. */
static pf_listing ranked_listing_of (lua_State *L, int arg) {
  pf_listing listing = listing_without_flow(L, arg);
  pf_flow *const flow =
      l_flow_push_ordered(L, 1, arg, pf_flow_open_graph, listing.zeros);
  if (pf_flow_rank(flow, listing.zeros) != PF_OK)
    luaL_error(L, "not enough memory");
  listing.flow = flow;
  return listing;
}


/* Pushes a reader that pins the profile at 1 and the flow on top. */
static l_reader *new_reader (lua_State *L) {
  const int pins[] = {1, lua_gettop(L)};
  return l_reader_new(L, pins, 2);
}


static int report_by (lua_State *L, make_listing *make,
                      pf_listing (*describe)(lua_State *L, int arg)) {
  pf_error error;
  lua_settop(L, 2);
  const pf_listing listing = describe(L, 2);
  l_reader *const r = new_reader(L);
  if (make(&listing, &r->reader, &error) != PF_OK)
    return l_throw(L, &error, 0);
  return 1;
}


static int report (lua_State *L, make_listing *make) {
  return report_by(L, make, listing_of);
}


static int profile_flat (lua_State *L) {
  return report_by(L, pf_listing_flat, flat_listing_of);
}


static int profile_graph (lua_State *L) {
  return report(L, pf_listing_graph);
}


static int profile_graph_listing (lua_State *L) {
  return report_by(L, pf_listing_text, ranked_listing_of);
}


static int profile_index (lua_State *L) {
  return report_by(L, pf_listing_index, ranked_listing_of);
}


static int profile_lines (lua_State *L) {
  return report(L, pf_listing_lines);
}


static int profile_annotations (lua_State *L) {
  return report(L, pf_listing_annotations);
}


static int profile_functions (lua_State *L) {
  return report(L, pf_listing_functions);
}


/* Returns the number of the function with the name or number at `arg`; of
   several with this name one that was used. nfunctions: no function has the
   name. Raises for a number that is out of range. */
static size_t function_at (lua_State *L, int arg, const l_profile *p) {
  const pf_graph *const graph = &p->graph;
  size_t found = graph->nfunctions;
  if (lua_isinteger(L, arg)) {
    const lua_Integer number = lua_tointeger(L, arg);
    luaL_argcheck(L, number >= 0 && (uint64_t)number < graph->nfunctions, arg,
                  "no function has this number");
    return (size_t)number;
  }
  pf_bytes bytes;
  bytes.at = (const uint8_t *)luaL_checklstring(L, arg, &bytes.size);
  const uint32_t name = pf_find_name(graph->dictionary, bytes);
  for (size_t i = 0; name != PF_NO_NAME && i < graph->nfunctions; i++)
    if ((graph->names[i] == name ||
         (p->shown != NULL && p->shown[i] == name)) &&
        (found == graph->nfunctions ||
         (graph->flags[found] & PF_FUNCTION_USED) == 0))
      found = i;
  return found;
}


static int arcs_of (lua_State *L,
                    pf_status (*make)(const pf_listing *, uint32_t,
                                      pf_reader **, pf_error *)) {
  pf_error error;
  lua_settop(L, 3);
  const l_profile *const p = l_profile_check(L, 1);
  const size_t function = function_at(L, 2, p);
  const pf_listing listing = listing_of(L, 3);
  if (function == p->graph.nfunctions)
    return 0;
  l_reader *const r = new_reader(L);
  if (make(&listing, (uint32_t)function, &r->reader, &error) != PF_OK)
    return l_throw(L, &error, 0);
  return 1;
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


/*
** profile:compare(other, options): a reader of the functions for which gprof's
** results, those of `other`, differ from the exact ones of this profile; both
** are built from the same readers.
*/
static int profile_compare (lua_State *L) {
  pf_error error;
  lua_settop(L, 3);
  const l_profile *const p = l_profile_check(L, 1);
  const l_profile *const other = l_profile_check(L, 2);
  luaL_argcheck(L, !p->graph.facts.compat, 1, "not an exact profile");
  luaL_argcheck(L, other->graph.facts.compat, 2, "not a compat profile");
  luaL_argcheck(L, p->graph.dictionary == other->graph.dictionary, 2,
                "the profiles have different dictionaries");
  pf_listing compat = {.shown = other->shown};
  const pf_listing exact = listing_of(L, 3); /* its flow at 4 */
  lua_pushnil(L);
  compat.flow = l_flow_push(L, 2, 5); /* at 6 */
  const int pins[] = {1, 2, 4, 6};
  l_reader *const r = l_reader_new(L, pins, 4);
  if (pf_compare(&exact, &compat, &r->reader, &error) != PF_OK)
    return l_throw(L, &error, 0);
  return 1;
}


/* profile:facts(options): the numbers shown in headings. */
static int profile_facts (lua_State *L) {
  lua_settop(L, 2);
  l_profile_facts(L, l_flow_push(L, 1, 2));
  return 1;
}


/* core.listing_templates(report, traditional): { kind = template } of report
   "flat", "graph" or "index". */
static int core_listing_templates (lua_State *L) {
  static const char *const reports[] = {"flat", "graph", "index", NULL};
  size_t count;
  const int which = luaL_checkoption(L, 1, NULL, reports);
  const pf_template *const list = pf_listing_templates(
      (pf_listing_report)which, lua_toboolean(L, 2), &count);
  lua_createtable(L, 0, (int)count);
  for (size_t i = 0; i < count; i++) {
    lua_pushstring(L, list[i].text);
    lua_setfield(L, -2, list[i].kind);
  }
  return 1;
}

/* }====== */


void l_open_profile (lua_State *L) {
  static const luaL_Reg methods[] = {{"annotations", profile_annotations},
                                     {"callees", profile_callees},
                                     {"callers", profile_callers},
                                     {"close", profile_close},
                                     {"compare", profile_compare},
                                     {"facts", profile_facts},
                                     {"flat", profile_flat},
                                     {"functions", profile_functions},
                                     {"graph", profile_graph},
                                     {"graph_listing", profile_graph_listing},
                                     {"index", profile_index},
                                     {"lines", profile_lines},
                                     {"narrow", profile_narrow},
                                     {"regroup", profile_regroup},
                                     {NULL, NULL}};
  static const luaL_Reg functions[] = {
      {"listing_templates", core_listing_templates},
      {"profile", core_profile},
      {NULL, NULL}};
  l_open_flow(L);
  l_class(L, L_PROFILE, methods, profile_gc);
  luaL_getmetatable(L, L_PROFILE);
  lua_pushcfunction(L, profile_close);
  lua_setfield(L, -2, "__close");
  lua_pop(L, 1);
  luaL_setfuncs(L, functions, 0);
}
