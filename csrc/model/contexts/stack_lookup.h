/*
** stack_lookup.h - finds the context node of a call stack of the dictionary,
** with a cache by stack id. Used by the pprof encoder.
** Initialise the cache with { 0 }, look up stacks, close it. The cache owns its
** arrays, and the caller owns the contexts.
*/

#ifndef stack_lookup_h
#define stack_lookup_h

#include "model/contexts/contexts.h"
#include "model/dictionary/stacks.h"

/* The cache; it belongs to one pf_contexts. */
typedef struct pf_stack_nodes {
  uint32_t *nodes; /* node by stack id, or PF_NO_CONTEXT */
  size_t count;
  uint32_t *path; /* scratch */
  size_t path_capacity;
} pf_stack_nodes;

/* Return the node of a stack of the contexts' dictionary; missing nodes are
   added. A stack without frames has the root node. PF_NO_CONTEXT when out of
   memory. */
uint32_t pf_node_of_stack (pf_contexts *contexts, pf_stack_nodes *known,
                           uint32_t stack);

void pf_stack_nodes_close (pf_stack_nodes *known);

#endif
