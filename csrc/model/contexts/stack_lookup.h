/*
** stack_lookup.h - the context of a call stack of the dictionary, looked up
** once for each stack.
*/

#ifndef stack_lookup_h
#define stack_lookup_h

#include "model/contexts/contexts.h"
#include "model/dictionary/stacks.h"

/* What is known already: { 0 } to begin with. */
typedef struct pf_stack_nodes {
  uint32_t *nodes; /* by stack */
  size_t count;
  uint32_t *path; /* scratch */
} pf_stack_nodes;

/* The node of a stack of the contexts' dictionary; a stack that was never
   given is the root. PF_NO_CONTEXT when out of memory. */
uint32_t pf_node_of_stack (pf_contexts *contexts, pf_stack_nodes *known,
                           uint32_t stack);

void pf_stack_nodes_close (pf_stack_nodes *known);

#endif
