/*
** context_profile.c - profiles that consist of calling contexts. Each operation
** returns a new profile and leaves its operands as they are. User value 1 of
** the userdata is the dictionary.
**
** Called by lua/profio/internal/bodies, internal/store and internal/calls. The
** userdata owns the contexts. Only the collector frees them, since readers may
** outlive close.
*/


#include "kernels/contexts/transform_contexts.h"
#include "kernels/contexts/collect.h"
#include "kernels/contexts/views.h"
#include "lua/arguments.h"
#include "lua/profile/context_profile.h"
#include "lua/profile/profile.h"
#include "model/contexts/contexts.h"


pf_contexts *l_contexts_check (lua_State *L, int arg) {
  l_contexts *const c = luaL_checkudata(L, arg, L_CONTEXTS);
  luaL_argcheck(L, c->open, arg, "profile is closed");
  return &c->contexts;
}


static int contexts_gc (lua_State *L) {
  l_contexts *const c = luaL_checkudata(L, 1, L_CONTEXTS);
  pf_contexts_close(&c->contexts);
  c->open = false;
  return 0;
}


/* Readers may still use the contexts, so the collector frees the memory. */
static int contexts_close (lua_State *L) {
  l_contexts *const c = luaL_checkudata(L, 1, L_CONTEXTS);
  c->open = false;
  return 0;
}


pf_contexts *l_contexts_new (lua_State *L, int dictionary_arg) {
  pf_dictionary *const dictionary = l_dictionary_check(L, dictionary_arg);
  dictionary_arg = lua_absindex(L, dictionary_arg);
  l_contexts *const c = l_new(L, L_CONTEXTS, sizeof *c, 1);
  l_pin(L, -1, 1, dictionary_arg);
  if (pf_contexts_open(&c->contexts, dictionary) != PF_OK)
    l_no_memory(L);
  c->open = true;
  return &c->contexts;
}


/* Pushes an empty profile with the dictionary of the one at 1. */
static l_contexts *new_like (lua_State *L) {
  lua_getiuservalue(L, 1, 1);
  l_contexts_new(L, -1);
  return lua_touserdata(L, -1);
}


/* Reads the metrics of the table at 1 into memory that stays on the stack. */
static void read_metrics (lua_State *L, pf_collect *from) {
  lua_getfield(L, 1, "metrics");
  luaL_checktype(L, -1, LUA_TTABLE);
  const size_t n = l_length(L, -1);
  luaL_argcheck(L, n >= 1, 1, "a profile has at least one metric");
  pf_collected *const metrics = l_scratch(L, n, sizeof *metrics);
  lua_insert(L, -2);
  for (size_t i = 0; i < n; i++) {
    lua_rawgeti(L, -1, (lua_Integer)i + 1); /* the table keeps its strings */
    luaL_checktype(L, -1, LUA_TTABLE);
    lua_getfield(L, -1, "name");
    metrics[i].name = l_string_check(L, -1, "name");
    lua_getfield(L, -2, "unit");
    metrics[i].unit = l_string_check(L, -1, "unit");
    metrics[i].column = l_option_text(L, -3, "column", NULL);
    lua_pop(L, 3);
  }
  from->metrics = metrics;
  from->nmetrics = n;
}


/*
** core.contexts{ reader=, stack= | folded= | function=, fallback=, caller=,
** caller_file=, file=, line=, usual= (default metric or nil), metrics= { {
** name=, unit=, column= }, ... } }: a profile from the rows of a reader, or
** nil, message, code. `stack` to `line` are columns.
*/
static int core_contexts (lua_State *L) {
  pf_error error;
  luaL_checktype(L, 1, LUA_TTABLE);
  lua_settop(L, 1);
  lua_getfield(L, 1, "reader");
  pf_collect from = {.reader = l_reader_check(L, 2)->reader};
  l_reader_push_dictionary(L, 2);
  pf_contexts *const result = l_contexts_new(L, 3); /* at 4 */
  from.stack = l_option_text(L, 1, "stack", NULL);
  from.folded = l_option_text(L, 1, "folded", NULL);
  from.function = l_option_text(L, 1, "function", NULL);
  from.fallback = l_option_text(L, 1, "fallback", NULL);
  from.caller = l_option_text(L, 1, "caller", NULL);
  from.caller_file = l_option_text(L, 1, "caller_file", NULL);
  from.file = l_option_text(L, 1, "file", NULL);
  from.line = l_option_text(L, 1, "line", NULL);
  from.usual = l_option_text(L, 1, "usual", NULL);
  read_metrics(L, &from);
  if (pf_contexts_collect(result, &from, &error) != PF_OK)
    return l_failure_of(L, &error, 2);
  lua_settop(L, 4);
  return 1;
}


/* core.empty_contexts(dictionary, metrics, usual): a profile without nodes,
   with the metrics { { name=, unit= }, ... } and a default metric (a name, or
   nil), into which the store adds cells. */
static int core_empty_contexts (lua_State *L) {
  lua_settop(L, 3);
  pf_contexts *const c = l_contexts_new(L, 1); /* at 4 */
  const lua_Integer count = lua_istable(L, 2) ? (lua_Integer)l_length(L, 2) : 0;
  for (lua_Integer i = 1; i <= count; i++) {
    lua_rawgeti(L, 2, i);
    luaL_checktype(L, -1, LUA_TTABLE);
    lua_getfield(L, -1, "name");
    lua_getfield(L, -2, "unit");
    if (pf_metric_of(c, luaL_checkstring(L, -2), luaL_checkstring(L, -1)) ==
        PF_NO_METRIC)
      l_no_memory(L);
    lua_settop(L, 4);
  }
  if (!lua_isnil(L, 3))
    c->default_metric = l_metric_check(L, c, luaL_checkstring(L, 3));
  return 1;
}


size_t l_metric_check (lua_State *L, const pf_contexts *c, const char *name) {
  if (c->nmetrics == 0)
    luaL_error(L, "the profile is empty: it has no metric");
  if (name == NULL)
    return pf_metric_default(c);
  const size_t metric = pf_metric_named(c, name);
  if (metric != PF_NO_METRIC)
    return metric;
  l_push_list(L, &c->metrics[0].name, sizeof *c->metrics, c->nmetrics);
  luaL_error(L, "no metric '%s'; there are: %s", name, lua_tostring(L, -1));
  return 0;
}


/* Reads { metric=, total_metric=, count_metric=, zeros= } at `arg`, or nil. */
static pf_context_rows options_at (lua_State *L, int arg,
                                   pf_context_view view) {
  pf_context_rows rows = {.contexts = l_contexts_check(L, 1),
                          .view = view,
                          .total_metric = PF_NO_METRIC,
                          .count_metric = PF_NO_METRIC,
                          .caller = PF_NO_NAME,
                          .callee = PF_NO_NAME};
  const char *const total = l_option_text(L, arg, "total_metric", NULL);
  const char *const count = l_option_text(L, arg, "count_metric", NULL);
  if (total != NULL)
    rows.total_metric = l_metric_check(L, rows.contexts, total);
  if (count != NULL)
    rows.count_metric = l_metric_check(L, rows.contexts, count);
  rows.zeros = l_option_flag(L, arg, "zeros");
  rows.metric =
      l_metric_check(L, rows.contexts, l_option_text(L, arg, "metric", NULL));
  return rows;
}


static int push_view (lua_State *L, const pf_context_rows *rows) {
  l_reader *const r = l_reader_new(L);
  return l_reader_opened(L, pf_context_rows_open(rows, &r->reader, &r->error));
}


/*
** contexts:flat(options), contexts:graph(options), contexts:tree(options),
** contexts:bottom_up(options), of contexts of contexts:invert, and
** contexts:lines(options), contexts:annotations(options): a reader of the view
** that upvalue 1 names (views.h).
*/
static int contexts_view (lua_State *L) {
  lua_settop(L, 2);
  const pf_context_rows rows =
      options_at(L, 2, (pf_context_view)lua_tointeger(L, lua_upvalueindex(1)));
  return push_view(L, &rows);
}


/* Returns the name id of the function name at 2, or PF_NO_NAME. */
static uint32_t name_at (lua_State *L, const pf_contexts *c) {
  const uint32_t name = pf_find_name(c->dictionary, l_text_check(L, 2));
  for (uint32_t i = 1; name != PF_NO_NAME && i < c->count; i++)
    if (pf_area_name(c->dictionary, c->frames[i]) == name)
      return name;
  return PF_NO_NAME;
}


/* contexts:callers(function, options) and, if upvalue 1 is true,
   contexts:callees(function, options): a reader with the columns of `graph`;
   nil if there is no such function. */
static int contexts_arcs (lua_State *L) {
  lua_settop(L, 3);
  pf_context_rows rows = options_at(L, 3, PF_VIEW_GRAPH);
  const uint32_t name = name_at(L, rows.contexts);
  *(lua_toboolean(L, lua_upvalueindex(1)) ? &rows.caller : &rows.callee) = name;
  return name == PF_NO_NAME ? 0 : push_view(L, &rows);
}


/* contexts:metrics(): { { name=, unit=, total= }, ... }; totals saturate. */
static int contexts_metrics (lua_State *L) {
  const pf_contexts *const c = l_contexts_check(L, 1);
  lua_createtable(L, (int)c->nmetrics, 0);
  for (size_t m = 0; m < c->nmetrics; m++) {
    bool overflow = false;
    int64_t sum = 0;
    for (uint32_t i = 0; i < c->count; i++)
      sum = pf_weight_add(sum, c->weights[m][i], &overflow);
    lua_createtable(L, 0, 3);
    l_set_text(L, "name", c->metrics[m].name);
    l_set_text(L, "unit", c->metrics[m].unit);
    l_set_int(L, "total", sum);
    lua_rawseti(L, -2, (lua_Integer)m + 1);
  }
  return 1;
}


/* contexts:usual(): the name of the default metric, or nil; and whether it was
   stated, by a file or by the caller. */
static int contexts_usual (lua_State *L) {
  const pf_contexts *const c = l_contexts_check(L, 1);
  const size_t usual = pf_metric_default(c);
  if (usual == PF_NO_METRIC)
    lua_pushnil(L);
  else
    lua_pushstring(L, c->metrics[usual].name);
  lua_pushboolean(L, c->default_metric != PF_NO_METRIC);
  return 2;
}


/* contexts:unstacked(metric): the weight of rows without a stack; 0 if there is
   no such metric. */
static int contexts_unstacked (lua_State *L) {
  const pf_contexts *const c = l_contexts_check(L, 1);
  const size_t metric = pf_metric_named(c, luaL_checkstring(L, 2));
  lua_pushinteger(L, metric == PF_NO_METRIC ? 0 : c->weights[metric][0]);
  return 1;
}


/* contexts:count(): the number of contexts without the root, whether a sum is
   limited to the range of 64-bit integers, the sums of all metrics included,
   and whether a weight is. */
static int contexts_count (lua_State *L) {
  const pf_contexts *const c = l_contexts_check(L, 1);
  lua_pushinteger(L, (lua_Integer)c->count - 1);
  lua_pushboolean(L, pf_contexts_overflow(c));
  lua_pushboolean(L, c->has_overflowed);
  return 3;
}


/* contexts:frames(): { { number=, function=, file=, line= }, ... }, each frame
   once, ordered by number. */
static int contexts_frames (lua_State *L) {
  const pf_contexts *const c = l_contexts_check(L, 1);
  const uint32_t nareas = pf_areas_count(c->dictionary);
  lua_settop(L, 1);
  lua_getiuservalue(L, 1, 1);
  l_push_name_cache(L, 2); /* at 3 */
  bool *const used = l_scratch(L, nareas, sizeof *used);
  for (uint32_t i = 1; i < c->count; i++)
    used[c->frames[i]] = true;
  lua_newtable(L);
  for (uint32_t area = 0; area < nareas; area++) {
    const pf_area *const a = pf_area_at(c->dictionary, area);
    if (!used[area])
      continue;
    lua_createtable(L, 0, 4);
    l_set_int(L, "number", area);
    l_push_name(L, c->dictionary, a->name, 3);
    lua_setfield(L, -2, "function");
    if (a->file != PF_NO_NAME) {
      l_push_name(L, c->dictionary, a->file, 3);
      lua_setfield(L, -2, "file");
    }
    if (a->line != 0)
      l_set_int(L, "line", a->line);
    l_append(L, -2);
  }
  return 1;
}


/* Returns the new profile on top of the stack, or nil, message, code. */
static int finish (lua_State *L, pf_status status) {
  const l_contexts *const c = lua_touserdata(L, -1);
  return status == PF_OK ? 1 : l_failure(L, &c->error, NULL);
}


/* contexts:merge(other, sign): this profile plus the other one times 1 or
   -1. */
static int contexts_merge (lua_State *L) {
  const pf_contexts *const a = l_contexts_check(L, 1);
  const pf_contexts *const b = l_contexts_check(L, 2);
  const lua_Integer sign = luaL_optinteger(L, 3, 1);
  luaL_argcheck(L, sign == 1 || sign == -1, 3, "the sign must be 1 or -1");
  l_contexts *const to = new_like(L);
  if (pf_contexts_copy(&to->contexts, a) != PF_OK)
    l_no_memory(L);
  return finish(L, pf_contexts_merge(&to->contexts, b, (int)sign, &to->error));
}


/* contexts:narrow(narrowing, chosen): a profile without what the selection (see
   l_selection_check), by number of a frame, leaves out. */
static int contexts_narrow (lua_State *L) {
  const pf_contexts *const c = l_contexts_check(L, 1);
  lua_settop(L, 3);
  const pf_selection selection =
      l_selection_check(L, 2, pf_areas_count(c->dictionary));
  l_contexts *const to = new_like(L);
  return finish(L,
                pf_contexts_narrow(&to->contexts, c, &selection, &to->error));
}


/* contexts:rename(frames, keeps): replaces the frame of each number by
   frames[number] = { function=, file=, line= }. A frame that becomes equal to
   its caller is merged with it unless `keeps` is true. */
static int contexts_rename (lua_State *L) {
  const pf_contexts *const c = l_contexts_check(L, 1);
  const uint32_t nareas = pf_areas_count(c->dictionary);
  const bool folds = !lua_toboolean(L, 3);
  luaL_checktype(L, 2, LUA_TTABLE);
  lua_settop(L, 2);
  uint32_t *const frames = l_scratch(L, nareas, sizeof *frames);
  for (uint32_t i = 0; i < nareas; i++)
    frames[i] = i;
  for (lua_pushnil(L); lua_next(L, 2) != 0; lua_pop(L, 1)) {
    const lua_Integer number = luaL_checkinteger(L, -2);
    luaL_argcheck(L, number >= 0 && number < nareas, 2, "no such frame");
    luaL_checktype(L, -1, LUA_TTABLE);
    pf_area frame = PF_AREA_NONE;
    frame.name = l_option_name(L, -1, "function", c->dictionary);
    frame.file = l_option_name(L, -1, "file", c->dictionary);
    l_option_int(L, -1, "line", &frame.line);
    frames[number] = pf_area_add(c->dictionary, &frame);
    if (frames[number] == PF_NO_AREA)
      l_no_memory(L);
  }
  l_contexts *const to = new_like(L);
  return finish(L, pf_contexts_rename(&to->contexts, c, frames, nareas, folds,
                                      &to->error));
}


/* Returns the depth at `arg`, at least 1; nil: unlimited. */
static uint32_t depth_check (lua_State *L, int arg) {
  const lua_Integer depth = luaL_optinteger(L, arg, PF_ANY_DEPTH);
  luaL_argcheck(L, depth >= 1, arg, "the depth must be above 0");
  return depth < PF_ANY_DEPTH ? (uint32_t)depth : PF_ANY_DEPTH;
}


/* contexts:invert(depth): the inverted stacks with at most `depth` levels of
   callers (nil: all). */
static int contexts_invert (lua_State *L) {
  const pf_contexts *const c = l_contexts_check(L, 1);
  const uint32_t depth = depth_check(L, 2);
  l_contexts *const to = new_like(L);
  return finish(L, pf_contexts_invert(&to->contexts, c, depth, &to->error));
}


/* contexts:shorten(depth): merges frames deeper than `depth` into their
   callers. */
static int contexts_shorten (lua_State *L) {
  const pf_contexts *const c = l_contexts_check(L, 1);
  const uint32_t depth = depth_check(L, 2);
  l_contexts *const to = new_like(L);
  return finish(L, pf_contexts_shorten(&to->contexts, c, depth, &to->error));
}


/* contexts:scale(factor) or contexts:scale(multiplier, divisor): weights times
   a factor; multiplier and divisor are integers, the divisor above 0. */
static int contexts_scale (lua_State *L) {
  const pf_contexts *const c = l_contexts_check(L, 1);
  const lua_Number number = luaL_checknumber(L, 2);
  luaL_argcheck(L, number - number == 0, 2, "the number must be finite");
  pf_factor factor = pf_factor_of(number);
  if (lua_isinteger(L, 2))
    factor = (pf_factor){lua_tointeger(L, 2), luaL_optinteger(L, 3, 1), 0};
  luaL_argcheck(L, factor.divisor > 0, 3, "the divisor must be above 0");
  l_contexts *const to = new_like(L);
  return finish(L, pf_contexts_scale(&to->contexts, c, factor, &to->error));
}


/* contexts:pick(metric, name): a profile with one metric, renamed. */
static int contexts_pick (lua_State *L) {
  const pf_contexts *const c = l_contexts_check(L, 1);
  const size_t metric = l_metric_check(L, c, luaL_checkstring(L, 2));
  const char *const name = luaL_checkstring(L, 3);
  l_contexts *const to = new_like(L);
  return finish(L,
                pf_contexts_pick(&to->contexts, c, metric, name, &to->error));
}


/* contexts:prune(share, metric): merges contexts below this share of the whole
   into their callers. */
static int contexts_prune (lua_State *L) {
  const pf_contexts *const c = l_contexts_check(L, 1);
  const lua_Number share = luaL_checknumber(L, 2);
  luaL_argcheck(L, share >= 0 && share <= 1, 2,
                "the share must be between 0 and 1");
  const size_t metric = l_metric_check(L, c, luaL_optstring(L, 3, NULL));
  l_contexts *const to = new_like(L);
  return finish(L,
                pf_contexts_prune(&to->contexts, c, metric, share, &to->error));
}


void l_open_profile_contexts (lua_State *L) {
  static const char *const views[] = {
      [PF_VIEW_FLAT] = "flat",   [PF_VIEW_GRAPH] = "graph",
      [PF_VIEW_TREE] = "tree",   [PF_VIEW_BOTTOM_UP] = "bottom_up",
      [PF_VIEW_LINES] = "lines", [PF_VIEW_ANNOTATIONS] = "annotations"};
  l_class(L, L_CONTEXTS,
          L_METHODS({"close", contexts_close}, {"count", contexts_count},
                    {"frames", contexts_frames}, {"invert", contexts_invert},
                    {"merge", contexts_merge}, {"metrics", contexts_metrics},
                    {"narrow", contexts_narrow}, {"pick", contexts_pick},
                    {"prune", contexts_prune}, {"rename", contexts_rename},
                    {"scale", contexts_scale}, {"shorten", contexts_shorten},
                    {"unstacked", contexts_unstacked},
                    {"usual", contexts_usual}),
          contexts_gc, contexts_close);
  luaL_getmetatable(L, L_CONTEXTS);
  lua_getfield(L, -1, "__index");
  for (size_t i = 0; i < sizeof views / sizeof *views; i++) {
    lua_pushinteger(L, (lua_Integer)i);
    lua_pushcclosure(L, contexts_view, 1);
    lua_setfield(L, -2, views[i]);
  }
  for (int i = 0; i < 2; i++) {
    lua_pushboolean(L, i);
    lua_pushcclosure(L, contexts_arcs, 1);
    lua_setfield(L, -2, i == 0 ? "callers" : "callees");
  }
  lua_pop(L, 2);
  L_ADD(L, {"contexts", core_contexts},
        {"empty_contexts", core_empty_contexts});
}
