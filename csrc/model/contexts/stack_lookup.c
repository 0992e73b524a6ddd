/*
** stack_lookup.c - the cache of context nodes by stack id.
*/

#include <stdlib.h>

#include "model/base/memory.h"
#include "model/contexts/stack_lookup.h"


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
  while (n > 0) {
    const uint32_t next = known->path[--n];
    const pf_stack *const s = pf_stack_at(d, next);
    const uint32_t above =
        s->parent == PF_NO_STACK ? 0 : known->nodes[s->parent];
    const uint32_t frame = pf_frame_of(contexts->dictionary, s->frame);
    known->nodes[next] = frame == PF_NO_AREA
                             ? PF_NO_CONTEXT
                             : pf_context_of(contexts, above, frame);
    if (known->nodes[next] == PF_NO_CONTEXT)
      return PF_NO_CONTEXT;
  }
  return known->nodes[stack];
}


void pf_stack_nodes_close (pf_stack_nodes *known) {
  free(known->nodes);
  free(known->path);
  *known = (pf_stack_nodes){.nodes = NULL};
}
