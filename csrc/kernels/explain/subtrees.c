/*
** subtrees.c - a stack has a higher id than the one around it, so its node
** follows from one that is known.
*/

#include "kernels/explain/subtrees.h"

#include <stdlib.h>

#include "model/base/memory.h"


pf_status pf_subtrees_open (pf_subtrees *t, pf_dictionary *dictionary,
                            uint32_t name) {
  const uint64_t root = UINT64_MAX;
  uint32_t node;
  *t = (pf_subtrees){.dictionary = dictionary, .name = name};
  pf_id_table_init(&t->nodes);
  return pf_id_table_words(&t->nodes, &root, 1, &node);
}


void pf_subtrees_free (pf_subtrees *t) {
  free(t->of_stacks);
  pf_id_table_free(&t->nodes);
}


pf_status pf_subtrees_update (pf_subtrees *t) {
  const size_t count = pf_stacks_count(t->dictionary);
  if (!pf_grow(&t->of_stacks, &t->capacity, count))
    return PF_ENOMEM;
  for (; t->known < count; t->known++) {
    const pf_stack *const stack =
        pf_stack_at(t->dictionary, (uint32_t)t->known);
    uint32_t *const node = &t->of_stacks[t->known];
    const uint32_t around = pf_subtree_of(t, stack->parent);
    const uint64_t word = (uint64_t)around << 32 | stack->frame;
    *node = PF_NO_NODE;
    if (around == PF_NO_NODE) {
      if (pf_area_at(t->dictionary, stack->frame)->name == t->name)
        *node = 0;
    }
    else if (pf_id_table_words(&t->nodes, &word, 1, node) != PF_OK)
      return PF_ENOMEM;
  }
  return PF_OK;
}
