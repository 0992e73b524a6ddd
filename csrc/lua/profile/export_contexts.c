/*
** export_contexts.c - contexts as arrays of Lua, for exports and the
** difference of profiles; and core.stack_depth, which limits their size.
**
** Called by lua/profio/exports and internal/bodies. The contexts are borrowed
** from their userdata during the call; memory is on the Lua stack.
*/

#include "kernels/contexts/transform_contexts.h"
#include "lua/arguments.h"
#include "lua/profile/context_profile.h"
#include "lua/profile/export.h"
#include "model/contexts/tree_order.h"


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


/* Sets a list of the table on top with a number of each node in preorder but
   the root: values[at[node]] + 1, or values[node] without `at`. */
static void set_nodes (lua_State *L, const char *name, const uint32_t *order,
                       uint32_t count, const uint32_t *values,
                       const uint32_t *at) {
  lua_createtable(L, (int)count, 0);
  for (uint32_t i = 1; i < count; i++) {
    const uint32_t node = order == NULL ? i : order[i];
    lua_pushinteger(L, at == NULL ? values[node]
                                  : (lua_Integer)values[at[node]] + 1);
    lua_rawseti(L, -2, i);
  }
  lua_setfield(L, -2, name);
}


/* Sets the list weights of the table on top: for each metric of the list at 2
   the weights of the nodes; that of the root has index 0. */
static void set_weights (lua_State *L, const pf_contexts *c,
                         const uint32_t *order) {
  const lua_Integer count = (lua_Integer)l_length(L, 2);
  lua_newtable(L);
  for (lua_Integer m = 1; m <= count; m++) {
    lua_rawgeti(L, 2, m);
    const size_t metric = l_metric_check(L, c, luaL_checkstring(L, -1));
    lua_pop(L, 1);
    lua_createtable(L, (int)c->count, 1);
    for (uint32_t i = 0; i < c->count; i++) {
      lua_pushinteger(L, c->weights[metric][order[i]]);
      lua_rawseti(L, -2, i);
    }
    lua_rawseti(L, -2, m);
  }
  lua_setfield(L, -2, "weights");
}


/*
** core.context_tree(contexts, metrics): { names=, files=, lines=, frames=,
** depths=, nodes=, weights= }: the frames in the order of name, file and line;
** of each context but the root, in preorder, the number of its frame, its depth
** from 1 and its own number; and for each of the metrics (names) a list of
** weights, with that of the root at 0.
*/
static int core_context_tree (lua_State *L) {
  const pf_contexts *const c = l_contexts_check(L, 1);
  luaL_checktype(L, 2, LUA_TTABLE);
  lua_settop(L, 2);
  if (l_length(L, 2) == 0)
    (void)l_metric_check(L, c, NULL); /* raises for an empty profile */
  const size_t nareas = (size_t)pf_areas_count(c->dictionary) + 1;
  uint32_t *const ranks = l_scratch(L, nareas, sizeof *ranks);
  uint32_t *const frames = l_scratch(L, nareas, sizeof *frames);
  uint32_t *const order = l_scratch(L, c->count, sizeof *order);
  uint32_t *const depths = l_scratch(L, c->count, sizeof *depths);
  uint32_t count;
  if (pf_contexts_rank(c, ranks, frames, &count) != PF_OK ||
      pf_contexts_order(c, ranks, NULL, order, depths) != PF_OK)
    l_no_memory(L);
  lua_createtable(L, 0, 7);
  l_set_frames(L, c->dictionary, frames, count, "");
  set_nodes(L, "frames", order, c->count, ranks, c->frames);
  set_nodes(L, "depths", NULL, c->count, depths, NULL);
  set_nodes(L, "nodes", NULL, c->count, order, NULL);
  set_weights(L, c, order);
  return 1;
}


void l_open_export_contexts (lua_State *L) {
  L_ADD(L, {"context_tree", core_context_tree},
        {"stack_depth", core_stack_depth});
}
