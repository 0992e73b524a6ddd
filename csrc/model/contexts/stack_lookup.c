/*
** stack_lookup.c - the cache of context nodes by stack id.
*/

#include <stdlib.h>

#include "model/base/memory.h"
#include "model/contexts/stack_lookup.h"


/* Adds the node of a stack whose parent has a node; false when out of memory.
   */
static bool make_node (pf_contexts *contexts, pf_stack_nodes *known,
                       uint32_t stack) {
  pf_dictionary *const d = contexts->dictionary;
  const pf_stack *const s = pf_stack_at(d, stack);
  const uint32_t above = s->parent == PF_NO_STACK ? 0 : known->nodes[s->parent];
  const uint32_t frame = pf_frame_of(d, s->frame);
  if (frame == PF_NO_AREA)
    return false;
  known->nodes[stack] = pf_context_of(contexts, above, frame);
  return known->nodes[stack] != PF_NO_CONTEXT;
}


/* Goes up to the nearest stack with a node, and adds nodes from there down,
   without recursion, since stacks may be deep. */
uint32_t pf_node_of_stack (pf_contexts *contexts, pf_stack_nodes *known,
                           uint32_t stack) {
  const pf_dictionary *const d = contexts->dictionary;
  const size_t depth = pf_stack_at(d, stack)->depth;
  if (depth == 0)
    return 0;
  if (stack >= known->count &&
      !pf_grow_filled(&known->nodes, &known->count, pf_stacks_count(d), 0xff))
    return PF_NO_CONTEXT;
  if (known->nodes[stack] != PF_NO_CONTEXT)
    return known->nodes[stack];
  if (!pf_grow(&known->path, &known->path_capacity, depth))
    return PF_NO_CONTEXT;
  size_t n = 0;
  for (uint32_t up = stack;
       up != PF_NO_STACK && known->nodes[up] == PF_NO_CONTEXT;
       up = pf_stack_at(d, up)->parent)
    known->path[n++] = up;
  while (n > 0)
    if (!make_node(contexts, known, known->path[--n]))
      return PF_NO_CONTEXT;
  return known->nodes[stack];
}


void pf_stack_nodes_close (pf_stack_nodes *known) {
  free(known->nodes);
  free(known->path);
  *known = (pf_stack_nodes){.nodes = NULL};
}
