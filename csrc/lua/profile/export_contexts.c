/*
** export_contexts.c - exports of profiles as folded stacks, speedscope JSON and
** callgrind files; and core.stack_depth, which limits their size.
**
** Called by lua/profio/exports; core.stack_depth also by internal/bodies. The
** userdata of export.h owns the text; the contexts are borrowed from their
** userdata during the call.
*/


#include "kernels/contexts/transform_contexts.h"
#include "lua/arguments.h"
#include "lua/profile/export.h"


static int64_t weight (const l_export *e, uint32_t node) {
  return e->contexts->weights[e->metric][node];
}


static pf_bytes frame_name (const l_export *e, uint32_t frame) {
  return pf_text(e->contexts->dictionary, PF_AREA, frame);
}


/* Whether a metric has a negative weight, which most viewers cannot show. */
static bool is_negative (const pf_contexts *c, size_t metric) {
  uint32_t i = 0;
  while (i < c->count && c->weights[metric][i] >= 0)
    i++;
  return i < c->count;
}


/*
** core.write_folded(contexts, options, file): a line "main;parse;read 1000" for
** each context with a weight, except the root. Options: metric; before (metric
** of an older profile: its weight is written in front of the other one);
** increases (of these: only the growth, where positive). Negative weights,
** which readers ignore, are refused with nil, message, code.
*/
static int core_write_folded (lua_State *L) {
  l_export *const e = l_export_new(L, 1, 2, 3);
  const pf_contexts *const c = e->contexts;
  uint32_t *const path = l_scratch(L, e->walk.max_depth, sizeof *path);
  const char *const name = l_option_text(L, 2, "before", NULL);
  const size_t older = name == NULL ? e->metric : l_metric_check(L, c, name);
  const int64_t *const before = name == NULL ? NULL : c->weights[older];
  const bool increases = before != NULL && l_option_flag(L, 2, "increases");
  bool overflow = false;
  if (is_negative(c, e->metric) || is_negative(c, older))
    return l_refuse(L,
                    "folded stacks cannot show weights below 0, and this "
                    "profile has some: export the difference of two profiles "
                    "as it is, or use svg or pprof");
  for (uint32_t i = 1; i < c->count; i++) {
    const uint32_t node = e->walk.order[i], depth = e->walk.depths[i];
    path[depth - 1] = c->frames[node];
    const int64_t now = weight(e, node);
    const int64_t was = before == NULL ? 0 : before[node];
    const int64_t growth = pf_weight_add(now, -was, &overflow);
    if (increases ? growth <= 0 : now == 0 && was == 0)
      continue;
    for (uint32_t d = 0; d < depth; d++) {
      l_export_text(e, d == 0 ? "" : ";");
      l_export_replaced(e, frame_name(e, path[d]), ";:");
    }
    if (before != NULL && !increases)
      l_export_put(e, " %lld", (long long)was);
    l_export_put(e, " %lld\n", (long long)(increases ? growth : now));
  }
  return l_export_finish(L, e);
}


/* core.stack_depth(contexts, most, each, inverted): the largest depth at which
   all stacks together have at most `most` frames, or `each` frames per context
   if that is more; nil if no limit is needed. `inverted`: of the inverted
   stacks. See pf_contexts_depth. */
static int core_stack_depth (lua_State *L) {
  const pf_contexts *const c = l_contexts_check(L, 1);
  const lua_Integer most = luaL_checkinteger(L, 2);
  const lua_Integer all = luaL_checkinteger(L, 3) * (lua_Integer)c->count;
  uint32_t depth;
  pf_error error;
  if (pf_contexts_depth(c, lua_toboolean(L, 4) != 0,
                        (uint64_t)(all > most ? all : most), &depth,
                        &error) != PF_OK)
    return l_failure(L, &error, NULL);
  if (depth == PF_ANY_DEPTH)
    return 0;
  lua_pushinteger(L, depth);
  return 1;
}


static void put_frames (l_export *e) {
  const pf_dictionary *const d = e->contexts->dictionary;
  for (uint32_t i = 0; i < e->nframes; i++) {
    const pf_area *const area = pf_area_at(d, e->sorted[i]);
    l_export_text(e, i == 0 ? "{\"name\":" : ",\n{\"name\":");
    l_export_json(e, frame_name(e, e->sorted[i]));
    if (area->file != PF_NO_NAME) {
      l_export_text(e, ",\"file\":");
      l_export_json(e, pf_name(d, area->file));
    }
    if (area->line != 0)
      l_export_put(e, ",\"line\":%lld", (long long)area->line);
    l_export_text(e, "}");
  }
}


/* Writes the stacks or the weights of samples above 0. The root is an empty
   stack: that of rows without a stack. Returns the sum. */
static int64_t put_samples (l_export *e, uint32_t *path, bool stacks) {
  bool overflow = false;
  const char *comma = "";
  int64_t sum = 0;
  for (uint32_t i = 0; i < e->contexts->count; i++) {
    const uint32_t node = e->walk.order[i], depth = e->walk.depths[i];
    if (depth > 0)
      path[depth - 1] = e->ranks[e->contexts->frames[node]];
    if (weight(e, node) <= 0)
      continue;
    sum = pf_weight_add(sum, weight(e, node), &overflow);
    l_export_text(e, comma);
    comma = ",";
    if (!stacks)
      l_export_int(e, weight(e, node));
    l_export_text(e, stacks ? "[" : "");
    for (uint32_t d = 0; stacks && d < depth; d++) {
      l_export_text(e, d == 0 ? "" : ",");
      l_export_int(e, path[d]);
    }
    l_export_text(e, stacks ? "]" : "");
  }
  return sum;
}


/* Writes the profile of the metric e->metric. */
static void put_profile (l_export *e, uint32_t *path) {
  const pf_context_metric *const metric = &e->contexts->metrics[e->metric];
  l_export_text(e, "{\"type\":\"sampled\",\"name\":");
  l_export_json(e, pf_bytes_of(metric->name));
  l_export_put(e, ",\"unit\":\"%s\",\"startValue\":0,\n\"samples\":[",
               strcmp(metric->unit, "ns") == 0      ? "nanoseconds"
               : strcmp(metric->unit, "bytes") == 0 ? "bytes"
                                                    : "none");
  const int64_t sum = put_samples(e, path, true);
  l_export_text(e, "],\n\"weights\":[");
  put_samples(e, path, false);
  l_export_put(e, "],\n\"endValue\":%lld}", (long long)sum);
}


/*
** core.write_speedscope(contexts, options, file): a sampled profile for each
** metric; the viewer shows the default metric first. Options: metric (only this
** one), name, exporter. Negative weights, of differences, are refused.
*/
static int core_write_speedscope (lua_State *L) {
  l_export *const e = l_export_new(L, 1, 2, 3);
  const bool is_all = l_option_text(L, 2, "metric", NULL) == NULL;
  const size_t from = is_all ? 0 : e->metric;
  const size_t to = is_all ? e->contexts->nmetrics : from + 1;
  for (size_t m = from; m < to; m++)
    if (is_negative(e->contexts, m))
      return l_refuse(L, "speedscope cannot show weights below 0, and this "
                         "difference has some: use svg or pprof");
  uint32_t *const path = l_scratch(L, e->walk.max_depth, sizeof *path);
  l_export_text(e, "{\"$schema\":\"https://www.speedscope.app/"
                   "file-format-schema.json\",\n\"exporter\":");
  l_export_json(e, pf_bytes_of(l_option_text(L, 2, "exporter", "profio")));
  l_export_text(e, ",\"name\":");
  l_export_json(e, pf_bytes_of(l_option_text(L, 2, "name", "profile")));
  l_export_put(e, ",\"activeProfileIndex\":%lld,\n\"shared\":{\"frames\":[\n",
               (long long)(e->metric - from));
  put_frames(e);
  l_export_text(e, "\n]},\n\"profiles\":[");
  for (e->metric = from; e->metric < to; e->metric++) {
    l_export_text(e, e->metric == from ? "" : ",\n");
    put_profile(e, path);
  }
  l_export_text(e, "]}\n");
  return l_export_finish(L, e);
}


/* Name compression of callgrind: the first use writes the name after its
   number, later uses only the number. Numbers increase in the order of the
   file, so that equal profiles give equal bytes. */
typedef struct numbers {
  uint32_t *of;   /* by name id; 0: not written yet */
  uint32_t count; /* names written so far */
} numbers;

/* Files and functions are numbered separately. A name that looks like a number
   is still a name. */
typedef struct shown {
  numbers files, functions;
} shown;


/* Whether a text has only blanks and characters that are written as blanks. */
static bool is_blank (pf_bytes text) {
  size_t i = 0;
  while (i < text.size && (text.at[i] <= ' ' || text.at[i] == 0x7f))
    i++;
  return i == text.size;
}


/* Writes "KEY(number) text", or "KEY(number)" for a name that was written
   before. Readers drop blank names, so those are written as "(blank)". */
static void put_named (l_export *e, const char *key, numbers *known,
                       uint32_t name, pf_bytes text) {
  const bool is_new = known->of[name] == 0;
  if (is_new)
    known->of[name] = ++known->count;
  l_export_put(e, "%s(%lld)", key, (long long)known->of[name]);
  if (is_new) {
    l_export_text(e, is_blank(text) ? " (blank)" : " ");
    if (!is_blank(text))
      l_export_replaced(e, text, "");
  }
  l_export_text(e, "\n");
}


/* Writes the lines of a function: "fl=" and "fn=", or "cfi=" and "cfn=". */
static void put_function (l_export *e, shown *names, uint32_t frame,
                          const char *file, const char *function) {
  const pf_dictionary *const d = e->contexts->dictionary;
  const pf_area *const area = pf_area_at(d, frame);
  if (area->file == PF_NO_NAME)
    l_export_put(e, "%s???\n", file);
  else
    put_named(e, file, &names->files, area->file, pf_name(d, area->file));
  put_named(e, function, &names->functions, area->name, frame_name(e, frame));
}


/* The suffix of inclusive metrics, as in
   lua/profio/internal/bodies/sums_body.lua. */
#define TOTAL "\x1ftotal"

/* The metrics of the file: their indices in the functions and in the arcs. */
typedef struct event_list {
  size_t count;
  size_t *self, *total;
} event_list;


/* Writes a line number and the cost of a node in each metric. */
static void put_line_cost (l_export *e, int64_t line, const pf_contexts *c,
                           const size_t *metrics, size_t count, uint32_t node) {
  l_export_int(e, line < 0 ? 0 : line);
  for (size_t i = 0; i < count; i++)
    l_export_put(e, " %lld", (long long)c->weights[metrics[i]][node]);
  l_export_text(e, "\n");
}


static bool has_cost (const pf_contexts *c, const size_t *metrics, size_t count,
                      uint32_t node) {
  for (size_t i = 0; i < count; i++)
    if (c->weights[metrics[i]][node] != 0)
      return true;
  return false;
}


/* Writes each arc with its number of calls and its inclusive cost. */
static void put_arcs (l_export *e, shown *names, const pf_contexts *arcs,
                      const event_list *events) {
  const size_t calls = pf_metric_named(arcs, "calls");
  for (uint32_t i = 1; i < arcs->count; i++) {
    const uint32_t caller = arcs->parents[i];
    const int64_t count = calls == PF_NO_METRIC ? 0 : arcs->weights[calls][i];
    if (caller == 0 ||
        (count == 0 && !has_cost(arcs, events->total, events->count, i)))
      continue;
    put_function(e, names, arcs->frames[caller], "fl=", "fn=");
    put_function(e, names, arcs->frames[i], "cfi=", "cfn=");
    l_export_put(e, "calls=%lld 0\n", (long long)(count > 0 ? count : 1));
    put_line_cost(e, 0, arcs, events->total, events->count, i);
    l_export_text(e, "\n");
  }
}


static void put_header (l_export *e, const char *key, const char *text,
                        const char *pairs) {
  l_export_text(e, key);
  l_export_replaced(e, pf_bytes_of(text), pairs);
  l_export_text(e, "\n");
}


/* Writes the sum of each metric: "summary: 12 7". */
static void put_sums (l_export *e, const char *key, const event_list *events) {
  l_export_text(e, key);
  for (size_t m = 0; m < events->count; m++) {
    const int64_t *const weights = e->contexts->weights[events->self[m]];
    bool overflow = false;
    int64_t sum = 0;
    for (uint32_t i = 0; i < e->contexts->count; i++)
      sum = pf_weight_add(sum, weights[i], &overflow);
    l_export_put(e, " %lld", (long long)sum);
  }
  l_export_text(e, "\n");
}


/* Reads the list `metrics` of the options at 2. */
static event_list events_at (lua_State *L, const l_export *e,
                             const pf_contexts *arcs) {
  lua_getfield(L, 2, "metrics");
  luaL_checktype(L, -1, LUA_TTABLE);
  const size_t n = lua_rawlen(L, -1);
  event_list events = {n, l_scratch(L, n, sizeof(size_t)), NULL};
  events.total = l_scratch(L, n, sizeof(size_t));
  for (size_t i = 0; i < n; i++) {
    lua_rawgeti(L, -3, (lua_Integer)i + 1);
    const char *const name = luaL_checkstring(L, -1);
    events.self[i] = l_metric_check(L, e->contexts, name);
    events.total[i] =
        l_metric_check(L, arcs, lua_pushfstring(L, "%s" TOTAL, name));
    lua_pop(L, 2);
  }
  return events;
}


/* Writes names and units as they are shown, "event: time : time, ns", then
   "events: time samples", where blanks in names are replaced. */
static void put_events (l_export *e, const event_list *events) {
  const pf_context_metric *const metrics = e->contexts->metrics;
  for (size_t i = 0; i < events->count; i++) {
    const pf_context_metric *const metric = &metrics[events->self[i]];
    l_export_text(e, "event: ");
    l_export_replaced(e, pf_bytes_of(metric->name), " _");
    l_export_text(e, " : ");
    l_export_replaced(e, pf_bytes_of(metric->name), "");
    if (metric->unit[0] != '\0' && strcmp(metric->unit, "count") != 0) {
      l_export_text(e, ", ");
      l_export_replaced(e, pf_bytes_of(metric->unit), "");
    }
    l_export_text(e, "\n");
  }
  l_export_text(e, "events:");
  for (size_t i = 0; i < events->count; i++) {
    l_export_text(e, " ");
    l_export_replaced(e, pf_bytes_of(metrics[events->self[i]].name), " _");
  }
  l_export_text(e, "\n");
}


/*
** core.write_callgrind(functions, options, file, arcs): `functions` is a
** profile of single frames, `arcs` one of pairs of frames, with the same
** dictionary. For each metric M there is the inclusive metric M TOTAL.
** Options: metrics (a list of names, the first one is shown first), creator,
** command, notes (a list of messages about lost data), remark.
*/
static int core_write_callgrind (lua_State *L) {
  lua_settop(L, 4);
  l_export *const e = l_export_new(L, 1, 2, 3);
  const pf_contexts *const arcs = l_contexts_check(L, 4);
  luaL_argcheck(L, arcs->dictionary == e->contexts->dictionary, 4,
                "functions and arcs must have one dictionary");
  put_header(e, "# callgrind format\nversion: 1\ncreator: ",
             l_option_text(L, 2, "creator", "profio"), "");
  put_header(e, "cmd: ", l_option_text(L, 2, "command", "?"), "");
  if (lua_getfield(L, 2, "notes") == LUA_TTABLE)
    for (lua_Integer i = 1; lua_rawgeti(L, -1, i) == LUA_TSTRING; i++) {
      put_header(e, "desc: Damaged: ", lua_tostring(L, -1), "");
      lua_pop(L, 1);
    }
  lua_settop(L, 5);
  const char *const remark = l_option_text(L, 2, "remark", NULL);
  if (remark != NULL)
    put_header(e, "desc: Note: ", remark, "");
  const event_list events = events_at(L, e, arcs);
  const size_t nnames = pf_names_count(e->contexts->dictionary);
  shown names = {{l_scratch(L, nnames, sizeof(uint32_t)), 0},
                 {l_scratch(L, nnames, sizeof(uint32_t)), 0}};
  put_events(e, &events);
  put_sums(e, "summary:", &events);
  l_export_text(e, "\n");
  const pf_contexts *const c = e->contexts;
  for (uint32_t i = 1; i < c->count; i++) {
    const uint32_t node = e->walk.order[i];
    const uint32_t frame = c->frames[node];
    if (!has_cost(c, events.self, events.count, node))
      continue;
    put_function(e, &names, frame, "fl=", "fn=");
    put_line_cost(e, pf_area_at(c->dictionary, frame)->line, c, events.self,
                  events.count, node);
    l_export_text(e, "\n");
  }
  put_arcs(e, &names, arcs, &events);
  put_sums(e, "totals:", &events);
  return l_export_finish(L, e);
}


void l_open_export_contexts (lua_State *L) {
  L_ADD(L, {"stack_depth", core_stack_depth},
        {"write_callgrind", core_write_callgrind},
        {"write_folded", core_write_folded},
        {"write_speedscope", core_write_speedscope});
}
