/*
** export_cpuprofile.c - a profile as .cpuprofile of V8, for VS Code and Chrome
** DevTools: a tree of nodes, one for each calling context by function, with the
** weights of its lines, and samples of nodes with the time between them.
**
** Called by lua/profio/exports/cpuprofile.lua. The userdata of export.h owns
** the text; the contexts are borrowed from their userdata during the call.
*/

#include "lua/arguments.h"
#include "lua/profile/export.h"
#include "model/base/sorts.h"

/* The tree by position in depth-first order, where the root is 0. */
typedef struct tree {
  uint32_t *child, *sibling; /* the first child, the next sibling; 0: none */
} tree;


/* Fills the tree in linear time: from the last node to the first one, each is
   put in front of the children of its parent. */
static tree tree_of (lua_State *L, const l_export *e) {
  const uint32_t count = e->contexts->count;
  tree t = {l_scratch(L, count, sizeof *t.child),
            l_scratch(L, count, sizeof *t.sibling)};
  uint32_t *const position = l_scratch(L, count, sizeof *position);
  for (uint32_t i = 0; i < count; i++)
    position[e->walk.order[i]] = i;
  for (uint32_t i = count; i-- > 1;) {
    const uint32_t parent = position[e->contexts->parents[e->walk.order[i]]];
    t.sibling[i] = t.child[parent];
    t.child[parent] = i;
  }
  return t;
}


/* The lines of the nodes, by node. */
typedef struct ticks {
  const pf_contexts *lines; /* the contexts by line */
  const pf_pair *pairs;  /* word: node and line, in this order; row: the context
                           by line */
  const uint32_t *first; /* by node: its first pair; one more at the end */
} ticks;


/* Finds the lines with a weight of all nodes of the contexts by function, which
   l_push_by_function has made from `lines`. */
static ticks ticks_of (lua_State *L, l_export *e, pf_contexts *functions,
                       const pf_contexts *lines) {
  bool has_lines;
  const uint32_t *const frames = l_function_frames(L, lines, &has_lines);
  uint32_t *const nodes = l_scratch(L, lines->count, sizeof *nodes);
  pf_pair *const pairs = l_scratch(L, lines->count, sizeof *pairs);
  pf_pair *const spare = l_scratch(L, lines->count, sizeof *spare);
  uint32_t *const first =
      l_scratch(L, (size_t)functions->count + 2, sizeof *first);
  uint32_t count = 0;
  for (uint32_t i = 1; i < lines->count; i++) {
    const uint32_t frame = lines->frames[i];
    const int64_t line = pf_area_at(lines->dictionary, frame)->line;
    nodes[i] =
        pf_context_of(functions, nodes[lines->parents[i]], frames[frame]);
    if (nodes[i] == PF_NO_CONTEXT)
      l_no_memory(L);
    if (lines->weights[e->metric][i] > 0 && line > 0 && line <= UINT32_MAX)
      pairs[count++] = (pf_pair){(uint64_t)nodes[i] << 32 | (uint32_t)line, i};
  }
  pf_sort_pairs(pairs, spare, count);
  for (uint32_t i = 0, at = 0; i <= functions->count; i++) {
    first[i] = at;
    while (at < count && pairs[at].word >> 32 == i)
      at++;
  }
  return (ticks){lines, pairs, first};
}


static int64_t weight_at (const l_export *e, uint32_t position) {
  return e->contexts->weights[e->metric][e->walk.order[position]];
}


/* Writes the function of a node. Lines count from 0; -1: unknown. */
static void put_frame (l_export *e, uint32_t position) {
  const pf_dictionary *const d = e->contexts->dictionary;
  const uint32_t frame = e->contexts->frames[e->walk.order[position]];
  const pf_area *const area = pf_area_at(d, frame);
  l_export_text(e, "{\"functionName\":");
  l_export_json(e, pf_text(d, PF_AREA, frame));
  l_export_text(e, ",\"scriptId\":\"0\",\"url\":");
  l_export_json(e, area->file == PF_NO_NAME ? pf_bytes_of("")
                                            : pf_name(d, area->file));
  l_export_put(e, ",\"lineNumber\":%lld,\"columnNumber\":-1}",
               (long long)(area->line > 0 ? area->line - 1 : -1));
}


/* Writes the weight of each line of a node: viewers show the part of a line in
   the hit count. */
static void put_ticks (l_export *e, const ticks *t, uint32_t position) {
  const uint32_t node = e->walk.order[position];
  const uint32_t end = t->first[node + 1];
  bool overflow = false;
  for (uint32_t i = t->first[node], from = i; i < end;) {
    const uint64_t word = t->pairs[i].word;
    int64_t sum = 0;
    for (; i < end && t->pairs[i].word == word; i++)
      sum = pf_weight_add(sum, t->lines->weights[e->metric][t->pairs[i].row],
                          &overflow);
    l_export_put(e, "%s{\"line\":%lld,\"ticks\":%lld}",
                 word == t->pairs[from].word ? ",\"positionTicks\":[" : ",",
                 (long long)(uint32_t)word, (long long)sum);
  }
  l_export_text(e, t->first[node] < end ? "]" : "");
}


static void put_node (l_export *e, const tree *t, const ticks *lines,
                      uint32_t position) {
  l_export_put(e, "%s{\"id\":%lld,\"callFrame\":", position == 0 ? "" : ",\n",
               (long long)position + 1);
  if (position == 0)
    l_export_text(e, "{\"functionName\":\"(root)\",\"scriptId\":\"0\","
                     "\"url\":\"\",\"lineNumber\":-1,\"columnNumber\":-1}");
  else
    put_frame(e, position);
  l_export_put(e, ",\"hitCount\":%lld", (long long)weight_at(e, position));
  put_ticks(e, lines, position);
  for (uint32_t c = t->child[position]; c != 0; c = t->sibling[c])
    l_export_put(e, "%s%lld", c == t->child[position] ? ",\"children\":[" : ",",
                 (long long)c + 1);
  l_export_text(e, t->child[position] == 0 ? "}" : "]}");
}


/* Writes a time in microseconds; other weights count as microseconds. */
static void put_delta (l_export *e, int64_t value, bool is_time) {
  char text[ROW_NUMBER_SIZE];
  const char *const end = is_time ? row_put_decimals(text, (uint64_t)value, 3)
                                  : row_put_int(text, value);
  l_export_bytes(e, text, (size_t)(end - text));
}


/* Writes a sample for each context with a weight, which lasts until the next
   one; the root has the rows without a stack, and the end. Returns the sum of
   the weights. */
static int64_t put_samples (l_export *e, bool is_time) {
  int64_t sum = 0;
  bool overflow = false;
  l_export_text(e, "\n],\n\"samples\":[");
  for (uint32_t i = 0; i < e->contexts->count; i++)
    if (weight_at(e, i) > 0)
      l_export_put(e, "%lld,", (long long)i + 1);
  l_export_text(e, "1],\n\"timeDeltas\":[0");
  for (uint32_t i = 0; i < e->contexts->count; i++)
    if (weight_at(e, i) > 0) {
      sum = pf_weight_add(sum, weight_at(e, i), &overflow);
      l_export_text(e, ",");
      put_delta(e, weight_at(e, i), is_time);
    }
  return sum;
}


/*
** core.write_cpuprofile(contexts, options, file): the contexts by function,
** with their lines and the weights of option metric. Option facts: further
** members of the object, as JSON. Negative weights, of differences, are refused
** with nil, message, code.
*/
static int core_write_cpuprofile (lua_State *L) {
  lua_settop(L, 3);
  const pf_contexts *const by_line = l_contexts_check(L, 1);
  pf_contexts *const functions = l_push_by_function(L, 1); /* at 4 */
  l_export *const e = l_export_new(L, 4, 2, 3);
  const bool is_time = strcmp(e->contexts->metrics[e->metric].unit, "ns") == 0;
  for (uint32_t i = 0; i < e->contexts->count; i++)
    if (weight_at(e, i) < 0)
      return l_refuse(L, "cpuprofile cannot show weights below 0, and this "
                         "difference has some: use svg or pprof");
  const tree t = tree_of(L, e);
  const ticks lines = ticks_of(L, e, functions, by_line);
  l_export_text(e, "{\"nodes\":[\n");
  for (uint32_t i = 0; i < e->contexts->count; i++)
    put_node(e, &t, &lines, i);
  const int64_t sum = put_samples(e, is_time);
  l_export_text(e, "],\n\"startTime\":0,\"endTime\":");
  put_delta(e, sum, is_time);
  l_export_text(e, l_option_text(L, 2, "facts", ""));
  l_export_text(e, "}\n");
  return l_export_finish(L, e);
}


void l_open_export_cpuprofile (lua_State *L) {
  L_ADD(L, {"write_cpuprofile", core_write_cpuprofile});
}
