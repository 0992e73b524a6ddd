/*
** flow.c - the options of a report, which are a metric and filters of
** functions; and the numbers in the headings of reports (l_profile_facts).
**
** A filter is an array with a byte of bits (PF_FLAT_IN, ...) per function. The
** options are lists of function names or numbers; names may be mangled.
**
** Used by profile.c. The userdata owns the flow and the filter, and pins the
** profile, whose graph they borrow.
*/

#include <stdlib.h>
#include <string.h>

#include "lua/arguments.h"
#include "lua/profile/profile.h"
#include "model/symbols/symbols.h"

/* Functions that gprof always excludes. */
static const char *const profiler_names[] = {"_gprof_mcount",     "mcount",
                                             "_mcount",           "__mcount",
                                             "__mcount_internal", "__mcleanup"};

#define NPROFILERS (sizeof profiler_names / sizeof *profiler_names)

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


void l_profile_demangle (lua_State *L, const l_profile *p) {
  const pf_graph *const graph = &p->graph;
  for (size_t i = 0; p->shown != NULL && i < graph->nfunctions; i++)
    if (p->shown[i] == PF_NO_NAME && (graph->flags[i] & PF_FUNCTION_USED) != 0)
      p->shown[i] = pf_demangle(graph->dictionary, graph->names[i]);
  if (graph->dictionary->lacks_memory)
    l_no_memory(L);
}


/* Sets a bit for all functions with this name id, if it is not PF_NO_NAME. */
static void mark_name (const l_profile *p, uint8_t *filter, uint32_t name,
                       uint8_t bit) {
  const pf_graph *const graph = &p->graph;
  for (size_t i = 0; name != PF_NO_NAME && i < graph->nfunctions; i++)
    if (graph->names[i] == name || (p->shown != NULL && p->shown[i] == name))
      filter[i] |= bit;
}


/* Sets a bit for the functions in the list on top of the stack. */
static void mark_list (lua_State *L, const l_profile *p, uint8_t *filter,
                       const char *option, uint8_t bit) {
  if (!lua_istable(L, -1))
    luaL_error(L, "%s must be a list of names or numbers of functions", option);
  const lua_Integer count = luaL_len(L, -1);
  l_profile_demangle(L, p);
  for (lua_Integer i = 1; i <= count; i++) {
    const int type = lua_geti(L, -1, i);
    const lua_Integer number = lua_tointeger(L, -1);
    if (type == LUA_TSTRING)
      mark_name(p, filter,
                pf_find_name(p->graph.dictionary, l_text_check(L, -1)), bit);
    else if (!lua_isinteger(L, -1))
      luaL_error(L, "%s must be a list of names or numbers of functions",
                 option);
    else if (number < 0 || (uint64_t)number >= p->graph.nfunctions)
      luaL_error(L, "%s: no function has the number %I", option,
                 (LUAI_UACINT)number);
    else
      filter[number] |= bit;
    lua_pop(L, 1);
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


/* Sets the filter for the kind of profile and for the options at `arg`. */
static void make_filter (lua_State *L, const l_profile *p, l_flow *f, int arg) {
  const pf_dictionary *const d = p->graph.dictionary;
  const bool listed = has_lists(L, arg);
  if (!listed && !p->graph.facts.compat)
    return;
  f->filter = calloc(p->graph.nfunctions + 1, 1);
  if (f->filter == NULL)
    l_no_memory(L);
  for (size_t i = 0; p->graph.facts.compat && i < NPROFILERS; i++)
    mark_name(p, f->filter, pf_find_name(d, pf_bytes_of(profiler_names[i])),
              PF_FLAT_OUT | PF_GRAPH_OUT | PF_TIME_OUT);
  for (size_t i = 0; listed && i < NLISTS; i++) {
    if (lua_getfield(L, arg, lists[i].name) != LUA_TNIL)
      mark_list(L, p, f->filter, lists[i].name, lists[i].bit);
    lua_pop(L, 1);
  }
}


/* Returns the metric of the options, or the default one. */
static size_t metric_of (lua_State *L, const pf_graph *graph, int arg) {
  const size_t usual = pf_graph_default_metric(graph);
  const char *const name = l_option_text(L, arg, "metric", NULL);
  if (graph->facts.compat || name == NULL)
    return usual;
  for (size_t i = 0; i < graph->nmetrics; i++)
    if (strcmp(graph->metrics[i].name, name) == 0)
      return i;
  const char **const names = l_scratch(L, graph->nmetrics, sizeof *names);
  for (size_t i = 0; i < graph->nmetrics; i++)
    names[i] = graph->metrics[i].name;
  l_push_list(L, names, sizeof *names, graph->nmetrics);
  luaL_error(L, "no metric '%s'; there are: %s", name, lua_tostring(L, -1));
  return 0;
}


pf_flow *l_flow_push (lua_State *L, int profile, int arg) {
  l_profile *const p = l_profile_check(L, profile);
  const bool plain =
      l_option_text(L, arg, "metric", NULL) == NULL && !has_lists(L, arg);
  if (plain && lua_getiuservalue(L, profile, 2) == LUA_TUSERDATA)
    return &((l_flow *)lua_touserdata(L, -1))->flow;
  l_flow *const f = l_new(L, L_FLOW, sizeof *f, 1);
  l_pin(L, -1, 1, profile);
  make_filter(L, p, f, arg);
  const size_t metric = metric_of(L, &p->graph, arg);
  if (pf_flow_open(&f->flow, &p->graph, metric, f->filter) != PF_OK)
    l_no_memory(L);
  if (plain) {
    lua_pushvalue(L, -1);
    lua_setiuservalue(L, profile, 2);
  }
  return &f->flow;
}


/* Returns the metric of a flow if it is not in seconds, else NULL. */
static const pf_metric *unit_of (const pf_flow *flow) {
  const pf_graph *const graph = flow->graph;
  if (graph->facts.compat || flow->metric >= graph->nmetrics ||
      !(graph->metrics[flow->metric].rate > 0))
    return NULL;
  return &graph->metrics[flow->metric];
}


/* Sets the field `metrics`: { { name=, unit=, total=, dimension= (if not in
   seconds) }, ... }. */
static void set_metrics (lua_State *L, const pf_graph *graph) {
  lua_createtable(L, (int)graph->nmetrics, 0);
  for (size_t i = 0; i < graph->nmetrics; i++) {
    const pf_metric *const metric = &graph->metrics[i];
    lua_createtable(L, 0, 4);
    if (metric->rate > 0)
      l_set_bytes(L, "dimension",
                  pf_name(graph->dictionary, metric->dimension));
    l_set_text(L, "name", metric->name);
    l_set_text(L, "unit", metric->unit);
    l_set_int(L, "total", graph->totals[i]);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  lua_setfield(L, -2, "metrics");
}


/* Sets the totals of the table on top of the stack. */
static void set_totals (lua_State *L, const pf_flow *flow) {
  double unit;
  const char prefix = pf_flat_unit(flow, &unit);
  l_set_number(L, "per_unit", flow->per_second);
  l_set_number(L, "total", flow->total);
  l_set_number(L, "total_seconds", flow->total / flow->per_second);
  l_set_number(L, "shown_seconds", flow->total_shown / flow->per_second);
  l_set_bytes(L, "prefix", (pf_bytes){(const uint8_t *)&prefix, 1});
  l_set_number(L, "prefix_per_second", unit);
}


/* Returns the part of the first total that lies at addresses which no symbol
   covers. The pseudo functions are the last ones. */
static int64_t unnamed_weight (const pf_graph *graph) {
  int64_t sum = 0;
  if (graph->nmetrics == 0 || graph->facts.compat)
    return 0;
  for (size_t i = graph->nfunctions;
       i-- > 0 && (graph->flags[i] & PF_FUNCTION_PSEUDO) != 0;)
    sum = pf_add(sum, graph->weights[0][i]);
  return sum;
}


void l_profile_facts (lua_State *L, const pf_flow *flow) {
  const pf_graph *const graph = flow->graph;
  const pf_graph_facts *const facts = &graph->facts;
  const pf_metric *const metric = unit_of(flow);
  const double sample = facts->compat || flow->per_second == 1 || metric != NULL
                            ? 1
                            : flow->per_second / facts->rate;
  lua_createtable(L, 0, 26);
  set_metrics(L, graph);
  l_set_bool(L, "compat", facts->compat);
  l_set_bool(L, "has_time", facts->compat || facts->has_time);
  l_set_bool(L, "same_rates", facts->same_rates);
  l_set_bool(L, "truncated_bins", facts->truncated_bins);
  l_set_bool(L, "overflowed", graph->has_overflowed);
  l_set_int(L, "functions", (int64_t)graph->nused);
  l_set_int(L, "arcs", (int64_t)graph->narcs);
  l_set_int(L, "arc_rows", (int64_t)facts->arc_rows);
  l_set_int(L, "cycles", (int64_t)flow->cycles.count);
  l_set_int(L, "sets", (int64_t)facts->sets);
  l_set_int(L, "samples", facts->samples);
  l_set_int(L, "unnamed", unnamed_weight(graph));
  l_set_number(L, "rate", facts->rate);
  l_set_number(L, "scale", facts->scale);
  l_set_int(L, "granularity", /* bytes that a sample covers, as in gprof */
            facts->scale >= 0 && facts->scale < 4e18 ? (int64_t)facts->scale * 2
                                                     : 0);
  l_set_number(L, "sample_percent", 100.0 * sample / flow->total_shown);
  l_set_number(L, "sample_seconds",
               1.0 / (metric != NULL ? metric->rate : facts->rate));
  l_set_bytes(L, "dimension",
              pf_name(graph->dictionary,
                      metric != NULL ? metric->dimension : facts->dimension));
  l_set_bytes(L, "abbreviation",
              pf_name(graph->dictionary, metric != NULL ? metric->abbreviation
                                                        : facts->abbreviation));
  set_totals(L, flow);
}


void l_open_flow (lua_State *L) {
  l_class(L, L_FLOW, NULL, flow_gc, flow_gc);
}
