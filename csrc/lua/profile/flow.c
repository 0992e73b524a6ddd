/*
** flow.c - the options of a report: the metric, and the filters of
** functions.
**
** A filter is an array with a byte of bits (PF_FLAT_IN, ...) per function. The
** options are lists of function names or numbers; a name may be mangled or
** demangled.
*/

#include <stdlib.h>
#include <string.h>

#include "kernels/listing/rank.h"
#include "lua/profile/profile.h"
#include "model/symbols/symbols.h"

/* Functions that gprof always excludes. */
static const char *const profiler_names[] = {
    "_gprof_mcount",     "mcount",     "_mcount", "__mcount",
    "__mcount_internal", "__mcleanup", NULL};

/* Options that are lists of functions, and the bits they set. */
static const struct {
  const char *name;
  uint8_t bit;
} lists[] = {
    {"include_flat", PF_FLAT_IN},   {"exclude_flat", PF_FLAT_OUT},
    {"include_graph", PF_GRAPH_IN}, {"exclude_graph", PF_GRAPH_OUT},
    {"include_time", PF_TIME_IN},   {"exclude_time", PF_TIME_OUT},
};

#define NLISTS (sizeof lists / sizeof *lists)


static int flow_gc (lua_State *L) {
  l_flow *const f = luaL_checkudata(L, 1, L_FLOW);
  pf_flow_close(&f->flow);
  free(f->filter);
  f->filter = NULL;
  return 0;
}


/* {====== Filters ====== */

/* Sets a bit for all functions with this name id. */
static void mark_name (const l_profile *p, uint8_t *filter, uint32_t name,
                       uint8_t bit) {
  const pf_graph *const graph = &p->graph;
  for (size_t i = 0; i < graph->nfunctions; i++)
    if (graph->names[i] == name || (p->shown != NULL && p->shown[i] == name))
      filter[i] |= bit;
}


/* Demangles the names of all functions that were used. */
static void show_all (const l_profile *p) {
  const pf_graph *const graph = &p->graph;
  for (size_t i = 0; p->shown != NULL && i < graph->nfunctions; i++)
    if (p->shown[i] == PF_NO_NAME && (graph->flags[i] & PF_FUNCTION_USED) != 0)
      p->shown[i] = pf_demangle(graph->dictionary, graph->names[i]);
}


/* Handles one element of a list, on top of the stack: a name or a number. */
static void mark_value (lua_State *L, const l_profile *p, uint8_t *filter,
                        const char *option, uint8_t bit) {
  if (lua_isinteger(L, -1)) {
    const lua_Integer number = lua_tointeger(L, -1);
    if (number < 0 || (uint64_t)number >= p->graph.nfunctions)
      luaL_error(L, "%s: no function has the number %I", option,
                 (LUAI_UACINT)number);
    filter[number] |= bit;
    return;
  }
  if (lua_type(L, -1) != LUA_TSTRING)
    luaL_error(L, "%s must be a list of names or numbers of functions", option);
  pf_bytes bytes;
  bytes.at = (const uint8_t *)lua_tolstring(L, -1, &bytes.size);
  const uint32_t name = pf_find_name(p->graph.dictionary, bytes);
  if (name != PF_NO_NAME)
    mark_name(p, filter, name, bit);
}


/* Sets a bit for the functions in the list on top of the stack. */
static void mark_list (lua_State *L, const l_profile *p, uint8_t *filter,
                       const char *option, uint8_t bit) {
  if (!lua_istable(L, -1))
    luaL_error(L, "%s must be a list of names or numbers of functions", option);
  const lua_Integer count = luaL_len(L, -1);
  show_all(p);
  if (p->graph.dictionary->lacks_memory)
    luaL_error(L, "not enough memory");
  for (lua_Integer i = 1; i <= count; i++) {
    lua_geti(L, -1, i);
    mark_value(L, p, filter, option, bit);
    lua_pop(L, 1);
  }
}


static void mark_profiler (const l_profile *p, uint8_t *filter) {
  for (const char *const *name = profiler_names; *name != NULL; name++) {
    const uint32_t number = pf_find_name(
        p->graph.dictionary, (pf_bytes){(const uint8_t *)*name, strlen(*name)});
    if (number != PF_NO_NAME)
      mark_name(p, filter, number, PF_FLAT_OUT | PF_GRAPH_OUT | PF_TIME_OUT);
  }
}


/* Whether the options at `arg` contain lists of functions. */
static bool has_lists (lua_State *L, int arg) {
  bool found = false;
  for (size_t i = 0; i < NLISTS && lua_istable(L, arg); i++) {
    found |= lua_getfield(L, arg, lists[i].name) != LUA_TNIL;
    lua_pop(L, 1);
  }
  return found;
}


/* Sets the bits for the kind of profile and for the options at `arg`. */
static void fill_filter (lua_State *L, const l_profile *p, uint8_t *filter,
                         int arg, bool listed) {
  if (p->graph.facts.compat)
    mark_profiler(p, filter);
  for (size_t i = 0; listed && i < NLISTS; i++) {
    if (lua_getfield(L, arg, lists[i].name) != LUA_TNIL)
      mark_list(L, p, filter, lists[i].name, lists[i].bit);
    lua_pop(L, 1);
  }
}


static void make_filter (lua_State *L, const l_profile *p, l_flow *f, int arg) {
  const bool listed = has_lists(L, arg);
  if (!listed && !p->graph.facts.compat)
    return;
  f->filter = calloc(p->graph.nfunctions + 1, 1);
  if (f->filter != NULL)
    fill_filter(L, p, f->filter, arg, listed);
  else
    luaL_error(L, "not enough memory");
}

/* }====== */


/* Returns the metric of the options, or the default one. */
static size_t metric_of (lua_State *L, const pf_graph *graph, int arg) {
  const size_t usual = pf_graph_default_metric(graph);
  if (graph->facts.compat || !lua_istable(L, arg))
    return usual;
  if (lua_getfield(L, arg, "metric") == LUA_TNIL) {
    lua_pop(L, 1);
    return usual;
  }
  const char *const name = luaL_checkstring(L, -1);
  for (size_t i = 0; i < graph->nmetrics; i++)
    if (strcmp(graph->metrics[i].name, name) == 0) {
      lua_pop(L, 1);
      return i;
    }
  luaL_Buffer b;
  luaL_buffinit(L, &b);
  for (size_t i = 0; i < graph->nmetrics; i++) {
    luaL_addstring(&b, i == 0 ? "" : ", ");
    luaL_addstring(&b, graph->metrics[i].name);
  }
  luaL_pushresult(&b);
  luaL_error(L, "no metric '%s'; there are: %s", name, lua_tostring(L, -1));
  return 0;
}


static bool is_plain (lua_State *L, int arg) {
  if (!lua_istable(L, arg))
    return true;
  const bool has_metric = lua_getfield(L, arg, "metric") != LUA_TNIL;
  lua_pop(L, 1);
  return !has_metric && !has_lists(L, arg);
}


/* Pushes an empty flow of the profile at index `profile`. */
static l_flow *new_flow (lua_State *L, int profile) {
  l_flow *const f = lua_newuserdatauv(L, sizeof *f, 1);
  memset(f, 0, sizeof *f);
  luaL_setmetatable(L, L_FLOW);
  lua_pushvalue(L, profile);
  lua_setiuservalue(L, -2, 1);
  return f;
}


pf_flow *l_flow_push_ordered (lua_State *L, int profile, int arg,
                              l_open_ordered *open, bool zeros) {
  l_profile *const p = l_profile_check(L, profile);
  const bool plain = is_plain(L, arg);
  if (plain && lua_getiuservalue(L, profile, 2) == LUA_TUSERDATA)
    return &((l_flow *)lua_touserdata(L, -1))->flow;
  l_flow *const f = new_flow(L, profile);
  make_filter(L, p, f, arg);
  const size_t metric = metric_of(L, &p->graph, arg);
  if (open(&f->flow, &p->graph, metric, f->filter, zeros) != PF_OK)
    luaL_error(L, "not enough memory");
  if (plain) {
    lua_pushvalue(L, -1);
    lua_setiuservalue(L, profile, 2);
  }
  return &f->flow;
}


static pf_status open_flow (pf_flow *flow, pf_graph *graph, size_t metric,
                            const uint8_t *filter, bool zeros) {
  (void)zeros;
  return pf_flow_open(flow, graph, metric, filter);
}


const pf_flow *l_flow_push (lua_State *L, int profile, int arg) {
  return l_flow_push_ordered(L, profile, arg, open_flow, false);
}


/* {====== Facts ====== */

static void set_integer (lua_State *L, const char *name, int64_t value) {
  lua_pushinteger(L, value);
  lua_setfield(L, -2, name);
}


static void set_number (lua_State *L, const char *name, double value) {
  lua_pushnumber(L, value);
  lua_setfield(L, -2, name);
}


static void set_bool (lua_State *L, const char *name, bool value) {
  lua_pushboolean(L, value);
  lua_setfield(L, -2, name);
}


static void set_name (lua_State *L, const char *name,
                      const pf_dictionary *dictionary, uint32_t number) {
  const pf_bytes bytes = pf_name(dictionary, number);
  lua_pushlstring(L, bytes.size == 0 ? "" : (const char *)bytes.at, bytes.size);
  lua_setfield(L, -2, name);
}


/* Sets the field `metrics`. Metrics that are not in seconds have a field
   `dimension`. */
static void set_metrics (lua_State *L, const pf_graph *graph) {
  lua_createtable(L, (int)graph->nmetrics, 0);
  for (size_t i = 0; i < graph->nmetrics; i++) {
    lua_createtable(L, 0, 4);
    if (graph->metrics[i].rate > 0)
      set_name(L, "dimension", graph->dictionary, graph->metrics[i].dimension);
    lua_pushstring(L, graph->metrics[i].name);
    lua_setfield(L, -2, "name");
    lua_pushstring(L, graph->metrics[i].unit);
    lua_setfield(L, -2, "unit");
    set_integer(L, "total", graph->totals[i]);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  lua_setfield(L, -2, "metrics");
}


/* Returns the bytes that a sample covers, as gprof prints it. */
static int64_t granularity (double scale) {
  return scale >= 0 && scale < 4e18 ? (int64_t)scale * 2 : 0;
}


/* Returns the metric of a flow if it is not in seconds, else NULL. */
static const pf_metric *unit_of (const pf_flow *flow) {
  const pf_graph *const graph = flow->graph;
  if (graph->facts.compat || flow->metric >= graph->nmetrics ||
      !(graph->metrics[flow->metric].rate > 0))
    return NULL;
  return &graph->metrics[flow->metric];
}


/* Returns the size of a sample in the unit of the flow. */
static double sample_size (const pf_flow *flow) {
  const pf_graph_facts *const facts = &flow->graph->facts;
  return facts->compat || flow->per_second == 1 || unit_of(flow) != NULL
             ? 1
             : flow->per_second / facts->rate;
}


/* Sets the fields that describe the unit of the flow in the table on top of the
   stack: sample_seconds, dimension, abbreviation, per_unit. */
static void set_dimension (lua_State *L, const pf_flow *flow) {
  const pf_graph *const graph = flow->graph;
  const pf_metric *const unit = unit_of(flow);
  const pf_graph_facts *const facts = &graph->facts;
  set_number(L, "sample_seconds",
             1.0 / (unit != NULL ? unit->rate : facts->rate));
  set_name(L, "dimension", graph->dictionary,
           unit != NULL ? unit->dimension : facts->dimension);
  set_name(L, "abbreviation", graph->dictionary,
           unit != NULL ? unit->abbreviation : facts->abbreviation);
  set_number(L, "per_unit", flow->per_second);
}


void l_profile_facts (lua_State *L, const pf_flow *flow) {
  const pf_graph *const graph = flow->graph;
  const pf_graph_facts *const facts = &graph->facts;
  double unit;
  const char prefix = pf_flat_unit(flow, &unit);
  lua_createtable(L, 0, 24);
  set_metrics(L, graph);
  set_bool(L, "compat", facts->compat);
  set_bool(L, "has_time", facts->compat || facts->has_time);
  set_bool(L, "same_rates", facts->same_rates);
  set_bool(L, "truncated_bins", facts->truncated_bins);
  set_integer(L, "functions", (int64_t)graph->nused);
  set_integer(L, "arcs", (int64_t)graph->narcs);
  set_integer(L, "arc_rows", (int64_t)facts->arc_rows);
  set_integer(L, "cycles", (int64_t)flow->cycles.count);
  set_integer(L, "sets", (int64_t)facts->sets);
  set_integer(L, "samples", facts->samples);
  set_number(L, "rate", facts->rate);
  set_number(L, "scale", facts->scale);
  set_integer(L, "granularity", granularity(facts->scale));
  set_number(L, "sample_percent",
             100.0 * sample_size(flow) / flow->total_shown);
  set_number(L, "total", flow->total);
  set_number(L, "total_seconds", flow->total / flow->per_second);
  set_number(L, "shown_seconds", flow->total_shown / flow->per_second);
  set_dimension(L, flow);
  lua_pushlstring(L, &prefix, 1);
  lua_setfield(L, -2, "prefix");
  set_number(L, "prefix_per_second", unit);
}

/* }====== */


void l_open_flow (lua_State *L) {
  static const luaL_Reg none[] = {{NULL, NULL}};
  l_class(L, L_FLOW, none, flow_gc);
}
