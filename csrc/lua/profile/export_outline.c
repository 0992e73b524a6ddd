/*
** export_outline.c - core.outline: the functions and contexts of a profile as
** arrays of JSON, as many as fit into a number of bytes.
**
** Called by lua/profio/exports/html/profile_data.lua. The contexts are borrowed
** from their userdata during the call. The userdata of the outline, which the
** collector frees, owns the pf_outline and the text; the other arrays are on
** the Lua stack.
*/

#include <stdlib.h>

#include "kernels/contexts/outline.h"
#include "lua/arguments.h"
#include "lua/profile/context_profile.h"
#include "lua/profile/export.h"
#include "text/rows.h"

#define L_OUTLINE "profio.outline"

/* Names with more bytes are shortened by the page, and take at most this many
   bytes and their escapes. */
#define LONGEST_NAME 16384

/* The members of the tree without their numbers, about. */
#define TREE_SIZE 256

/* A function in the lists of the page, beside its name and numbers. */
#define NAME_SIZE 4

typedef struct l_outline {
  pf_outline outline;
  bool is_open; /* the outline */
  row_text text;
  bool failed;       /* out of memory */
  uint32_t *ids;     /* by function: its id in the page + 1, or 0 */
  uint32_t *shown;   /* functions by id */
  uint32_t nshown;   /* of them */
  size_t names_size; /* bytes that their names take */
  bool *has_file;    /* by name: it is a file of a shown function */
  bool *is_kept;     /* by node */
  int64_t *rest;     /* by node */
  bool has_sums;     /* the contexts are sums: 0 calls are unknown calls */
  bool has_calls;
} l_outline;


static int outline_gc (lua_State *L) {
  l_outline *const o = luaL_checkudata(L, 1, L_OUTLINE);
  if (o->is_open)
    pf_outline_close(&o->outline);
  free(o->text.at);
  *o = (l_outline){.is_open = false};
  return 0;
}


static void put_text (l_outline *o, const char *text) {
  if (row_put(&o->text, text, strlen(text)) != PF_OK)
    o->failed = true;
}


static void put_number (l_outline *o, bool is_first, int64_t value) {
  if (row_reserve(&o->text, ROW_NUMBER_SIZE) != PF_OK) {
    o->failed = true;
    return;
  }
  char *p = o->text.at + o->text.used;
  if (!is_first)
    *p++ = ',';
  o->text.used = (size_t)(row_put_int(p, value) - o->text.at);
}


static void put_calls (l_outline *o, bool is_first, int64_t calls) {
  if (o->has_calls && !(o->has_sums && calls == 0))
    put_number(o, is_first, calls);
  else
    put_text(o, is_first ? "null" : ",null");
}


/* The number of bytes of a number and the comma after it. */
static size_t number_size (int64_t value) {
  char number[ROW_NUMBER_SIZE];
  return (size_t)(row_put_int(number, value) - number) + 1;
}


/* The largest number of bytes of a text as a JSON string in a script. */
static size_t string_size (pf_bytes text) {
  size_t size = strlen("\"\",");
  if (text.size > LONGEST_NAME)
    return size + (size_t)6 * LONGEST_NAME;
  for (size_t i = 0; i < text.size; i++) {
    const uint8_t c = text.at[i];
    size += c == '"' || c == '\\'               ? 2
            : c < 0x20 || c == '<' || c == 0x7f ? 6
            : c < 0x80                          ? 1
                                                : 3;
  }
  return size;
}

static const pf_area *area_of (const l_outline *o, uint32_t function) {
  const pf_traversal *const t = &o->outline.traversal;
  return pf_area_at(t->contexts->dictionary, t->areas[function]);
}


/* Returns the bytes that the name of a function takes, unless it is shown, and
   its file, unless a shown function has it. */
static size_t name_size (const l_outline *o, uint32_t function) {
  const pf_dictionary *const d = o->outline.traversal.contexts->dictionary;
  const pf_area *const area = area_of(o, function);
  if (o->ids[function] != 0)
    return 0;
  const bool has_new_file =
      area->file != PF_NO_NAME && !o->has_file[area->file];
  return string_size(pf_name(d, area->name)) + number_size(area->line) +
         NAME_SIZE + (has_new_file ? string_size(pf_name(d, area->file)) : 0);
}


/* Gives a function an id; its name takes `size` bytes. */
static void show_function (l_outline *o, uint32_t function, size_t size) {
  const pf_area *const area = area_of(o, function);
  if (o->ids[function] != 0)
    return;
  if (area->file != PF_NO_NAME)
    o->has_file[area->file] = true;
  o->names_size += size;
  o->shown[o->nshown++] = function;
  o->ids[function] = o->nshown;
}


static size_t row_size (const l_outline *o, uint32_t function) {
  const size_t count = o->outline.traversal.nfunctions;
  size_t size =
      number_size(o->nshown) + number_size(o->outline.calls[function]);
  for (size_t m = 0; m < o->outline.nmetrics; m++)
    size += number_size(o->outline.self[m * count + function]) +
            number_size(o->outline.total[m * count + function]);
  return size;
}


/* Puts a number of each of the first functions. */
static void put_column (l_outline *o, const int64_t *values, uint32_t count) {
  put_text(o, "[");
  for (uint32_t i = 0; i < count; i++)
    put_number(o, i == 0, values[o->outline.functions[i]]);
  put_text(o, "]");
}


/* Puts the sum of self, by metric, of the functions that are left out. */
static void put_left_self (l_outline *o, uint32_t count) {
  const pf_outline *const all = &o->outline;
  bool overflow = false;
  put_text(o, ",\"left_self\":[");
  for (size_t m = 0; m < all->nmetrics; m++) {
    int64_t sum = 0;
    for (uint32_t i = count; i < all->nfunctions; i++)
      sum = pf_weight_add(
          sum, all->self[m * all->traversal.nfunctions + all->functions[i]],
          &overflow);
    put_number(o, m == 0, sum);
  }
  put_text(o, "]");
}


/* Puts the members of the table of functions: the first ones, at most `most`,
   whose rows and names have at most `size` bytes. */
static void put_functions (l_outline *o, uint32_t most, size_t size) {
  const pf_outline *const all = &o->outline;
  uint32_t count = 0;
  for (size_t used = 0; count < all->nfunctions && count < most; count++) {
    const uint32_t f = all->functions[count];
    const size_t name = name_size(o, f);
    used += row_size(o, f) + name;
    if (used > size)
      break;
    show_function(o, f, name);
  }
  put_text(o, "\"left\":");
  put_number(o, true, all->nfunctions - count);
  put_left_self(o, count);
  put_text(o, ",\n\"function\":[");
  for (uint32_t i = 0; i < count; i++)
    put_number(o, i == 0, i);
  put_text(o, "],\n\"calls\":[");
  for (uint32_t i = 0; i < count; i++)
    put_calls(o, i == 0, all->calls[all->functions[i]]);
  const int64_t *const kinds[] = {all->self, all->total};
  for (size_t kind = 0; kind < 2; kind++) {
    put_text(o, kind == 0 ? "],\n\"self\":[" : "],\n\"total\":[");
    for (size_t m = 0; m < all->nmetrics; m++) {
      put_text(o, m == 0 ? "" : ",\n");
      put_column(o, kinds[kind] + m * all->traversal.nfunctions, count);
    }
  }
  put_text(o, "]");
}

/* The number of bytes of a context; that of what is left out below it is not
   known yet, and estimated by its total. */
static size_t node_size (const l_outline *o, uint32_t node) {
  const pf_outline *const all = &o->outline;
  const pf_contexts *const c = all->traversal.contexts;
  size_t size = number_size(o->nshown) + 3 + (o->has_calls ? 0 : 5);
  for (size_t m = 0; m < all->nmetrics; m++)
    size += number_size(c->weights[all->metrics[m].self][node]) +
            number_size(all->totals[m * c->count + node]);
  return size;
}


/* Marks the contexts that are kept, the first ones, at most `most`, that have
   at most `size` bytes with their names. Returns their number. */
static uint32_t keep_nodes (l_outline *o, uint32_t most, size_t size) {
  const pf_outline *const all = &o->outline;
  uint32_t count = 0;
  memset(o->is_kept, 0, all->traversal.contexts->count * sizeof *o->is_kept);
  for (size_t used = 0; count < most; count++) {
    const uint32_t node = all->nodes[count];
    const uint32_t function = all->traversal.functions[node];
    const size_t name = name_size(o, function);
    used += node_size(o, node) + name;
    if (used > size)
      break;
    show_function(o, function, name);
    o->is_kept[node] = true;
  }
  return count;
}


/* Sets the part of the total of each kept context that lies in contexts that
   are left out, and returns that of the root, with its own weight. */
static int64_t set_rest (l_outline *o, size_t m) {
  const pf_contexts *const c = o->outline.traversal.contexts;
  const int64_t *const totals = o->outline.totals + m * c->count;
  const int64_t *const self = c->weights[o->outline.metrics[m].self];
  for (uint32_t i = 0; i < c->count; i++)
    o->rest[i] = (int64_t)((uint64_t)totals[i] - (uint64_t)self[i]);
  for (uint32_t i = 1; i < c->count; i++)
    if (o->is_kept[i])
      o->rest[c->parents[i]] =
          (int64_t)((uint64_t)o->rest[c->parents[i]] - (uint64_t)totals[i]);
  return (int64_t)((uint64_t)o->rest[0] + (uint64_t)self[0]);
}


typedef enum node_member {
  DEPTH,
  FUNCTION,
  CALLS,
  SELF,
  REST
} node_member;


/* Puts a member of the kept contexts in preorder. */
static void put_nodes (l_outline *o, node_member member,
                       const int64_t *values) {
  const pf_traversal *const t = &o->outline.traversal;
  bool is_first = true;
  put_text(o, "[");
  for (uint32_t i = 1; i < t->contexts->count; i++) {
    const uint32_t node = t->order[i];
    if (!o->is_kept[node])
      continue;
    switch (member) {
      case DEPTH: put_number(o, is_first, t->depths[i]); break;
      case FUNCTION:
        put_number(o, is_first, o->ids[t->functions[node]] - 1);
        break;
      case CALLS:
        put_calls(o, is_first, values == NULL ? 0 : values[node]);
        break;
      case SELF:
      case REST: put_number(o, is_first, values[node]); break;
    }
    is_first = false;
  }
  put_text(o, "]");
}


/* Puts self or rest of all metrics. */
static void put_weights (l_outline *o, node_member member, int64_t *outside) {
  const pf_contexts *const c = o->outline.traversal.contexts;
  put_text(o, member == SELF ? ",\n\"self\":[" : ",\n\"rest\":[");
  for (size_t m = 0; m < o->outline.nmetrics; m++) {
    put_text(o, m == 0 ? "" : ",\n");
    if (member == REST)
      outside[m] = set_rest(o, m);
    put_nodes(o, member,
              member == REST ? o->rest
                             : c->weights[o->outline.metrics[m].self]);
  }
  put_text(o, "]");
}


/* Puts the members of the tree of contexts. */
static void put_tree (l_outline *o, uint32_t count, size_t calls,
                      int64_t *outside) {
  const pf_contexts *const c = o->outline.traversal.contexts;
  put_text(o, "\"left\":");
  put_number(o, true, o->outline.nnodes - count);
  put_text(o, ",\n\"depth\":");
  put_nodes(o, DEPTH, NULL);
  put_text(o, ",\n\"function\":");
  put_nodes(o, FUNCTION, NULL);
  put_text(o, ",\n\"calls\":");
  put_nodes(o, CALLS, calls == PF_NO_METRIC ? NULL : c->weights[calls]);
  put_weights(o, SELF, outside);
  put_weights(o, REST, outside);
  put_text(o, ",\n\"outside\":[");
  for (size_t m = 0; m < o->outline.nmetrics; m++)
    put_number(o, m == 0, outside[m]);
  put_text(o, "]");
}


/* Puts the tree; its text and all names have at most `size` bytes. Sizes of
   contexts are estimated, so fewer are tried until the text fits. */
static void put_contexts (l_outline *o, size_t size, size_t calls,
                          int64_t *outside) {
  const size_t used = o->names_size + TREE_SIZE;
  uint32_t count =
      keep_nodes(o, o->outline.nnodes, size > used ? size - used : 0);
  put_tree(o, count, calls, outside);
  while (!o->failed && count > 0 && o->text.used + o->names_size > size) {
    o->text.used = 0;
    count = keep_nodes(o, count - count / 10 - 1, SIZE_MAX);
    put_tree(o, count, calls, outside);
  }
}

/* Moves the text to a field of the table on top. Returns its size. */
static size_t set_text (lua_State *L, l_outline *o, const char *name) {
  const size_t size = o->text.used;
  if (o->failed)
    l_no_memory(L);
  lua_pushlstring(L, o->text.at, size);
  lua_setfield(L, -2, name);
  o->text.used = 0;
  return size;
}


/* Sets the lists of l_set_frames of the shown functions. */
static void set_names (lua_State *L, const l_outline *o) {
  const pf_traversal *const t = &o->outline.traversal;
  uint32_t *const areas = l_scratch(L, (size_t)o->nshown + 1, sizeof *areas);
  for (uint32_t i = 0; i < o->nshown; i++)
    areas[i] = t->areas[o->shown[i]];
  lua_insert(L, -2); /* the scratch memory stays below the table */
  l_set_frames(L, t->contexts->dictionary, areas, o->nshown, "?");
  lua_remove(L, -2);
}


/* Returns the metric that a field of the table on top names; `usual` without
   it. */
static size_t metric_field (lua_State *L, const pf_contexts *c,
                            const char *field, size_t usual) {
  const char *const name = l_option_text(L, lua_gettop(L), field, NULL);
  return name == NULL ? usual : l_metric_check(L, c, name);
}


/* Pushes the metrics of option `metrics`. */
static pf_outline_metric *read_metrics (lua_State *L, const pf_contexts *c,
                                        size_t *count) {
  luaL_checktype(L, 2, LUA_TTABLE);
  lua_getfield(L, 2, "metrics");
  luaL_argcheck(L, lua_istable(L, -1), 2, "metrics is no list");
  *count = l_length(L, -1);
  luaL_argcheck(L, *count > 0 && *count < 1 << 16, 2, "no metrics");
  pf_outline_metric *const metrics = l_scratch(L, *count, sizeof *metrics);
  lua_insert(L, -2);
  for (size_t m = 0; m < *count; m++) {
    lua_rawgeti(L, -1, (lua_Integer)m + 1);
    luaL_argcheck(L, lua_istable(L, -1), 2, "a metric is no table");
    metrics[m].self = metric_field(L, c, "self", pf_metric_default(c));
    metrics[m].total = metric_field(L, c, "total", PF_NO_METRIC);
    luaL_argcheck(L, metrics[m].self != PF_NO_METRIC, 2, "no metrics");
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
  return metrics;
}


/* Returns an option that is a number of bytes or rows. */
static int64_t option_size (lua_State *L, const char *name) {
  int64_t value = 0;
  l_option_int(L, 2, name, &value);
  return value < 0 ? 0 : value;
}


/* Pushes the outline of the contexts at 1 with its memory. */
static l_outline *open_outline (lua_State *L, const pf_contexts *c,
                                size_t calls) {
  size_t nmetrics;
  const pf_outline_metric *const metrics = read_metrics(L, c, &nmetrics);
  const int64_t usual = option_size(L, "usual");
  luaL_argcheck(L, usual >= 1 && (uint64_t)usual <= nmetrics, 2,
                "usual is no metric");
  l_outline *const o = l_new(L, L_OUTLINE, sizeof *o, 0);
  if (pf_outline_open(&o->outline, c, metrics, nmetrics, (size_t)usual - 1,
                      calls) != PF_OK)
    l_no_memory(L);
  o->is_open = true;
  o->has_calls = calls != PF_NO_METRIC;
  o->has_sums = metrics[usual - 1].total != PF_NO_METRIC;
  const size_t nfunctions = (size_t)o->outline.traversal.nfunctions + 1;
  const size_t nnames = (size_t)pf_names_count(c->dictionary) + 1;
  o->ids = l_scratch(L, nfunctions, sizeof *o->ids);
  o->shown = l_scratch(L, nfunctions, sizeof *o->shown);
  o->has_file = l_scratch(L, nnames, sizeof *o->has_file);
  o->is_kept = l_scratch(L, c->count, sizeof *o->is_kept);
  o->rest = l_scratch(L, c->count, sizeof *o->rest);
  return o;
}


/*
** core.outline(contexts, options): the functions and contexts of a profile
** that fit into a number of bytes as JSON, functions by the size of self in
** the usual metric, contexts by their share. Options: metrics ({ self =, total
** = } each: names; total only for sums, whose totals are metrics), usual
** (index of one of them), calls (name of a metric), most (functions), size
** (bytes of functions with their names), contexts_size (bytes of functions and
** contexts with their names; nil: no contexts).
** Returns { functions = members of a JSON object: left, left_self (by metric:
** self of the functions that are left out), and by function calls, self and
** total (by metric); contexts = (or nil) members left, outside (rest of all
** outermost contexts), and by context in preorder depth, function (id), calls,
** self and rest (by metric: the part of its total in contexts that are left
** out); names =, files = (false: none) and lines = (0: none), arrays by id +
** 1, first those of `functions`; names_size = bytes of these three as JSON, at
** most }.
*/
static int core_outline (lua_State *L) {
  lua_settop(L, 2);
  const pf_contexts *const c = l_contexts_check(L, 1);
  luaL_checktype(L, 2, LUA_TTABLE);
  const char *const calls = l_option_text(L, 2, "calls", NULL);
  const size_t calls_metric =
      calls == NULL ? PF_NO_METRIC : l_metric_check(L, c, calls);
  const int64_t most = option_size(L, "most"), size = option_size(L, "size");
  int64_t contexts_size = 0;
  const bool has_contexts = l_option_int(L, 2, "contexts_size", &contexts_size);
  l_outline *const o = open_outline(L, c, calls_metric);
  int64_t *const outside = l_scratch(L, o->outline.nmetrics, sizeof *outside);
  lua_createtable(L, 0, 6);
  put_functions(o, most > UINT32_MAX ? UINT32_MAX : (uint32_t)most,
                (size_t)size);
  const int64_t used = (int64_t)set_text(L, o, "functions");
  if (has_contexts) {
    put_contexts(o, (size_t)(contexts_size > used ? contexts_size - used : 0),
                 calls_metric, outside);
    set_text(L, o, "contexts");
  }
  l_set_int(L, "names_size", (int64_t)o->names_size);
  set_names(L, o);
  return 1;
}


void l_open_export_outline (lua_State *L) {
  l_class(L, L_OUTLINE, NULL, outline_gc, outline_gc);
  L_ADD(L, {"outline", core_outline});
}
