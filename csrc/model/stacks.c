/*
** stacks.c - the stacks of a dictionary.
*/

#include "model/stacks.h"

#include <stdlib.h>

#include "model/interned.h"
#include "model/memory.h"

struct pf_stacks {
  pf_interned interned;
  pf_stack *list;
  size_t room;
};

typedef struct wanted {
  const struct pf_stacks *stacks;
  uint32_t parent, frame;
} wanted;


static bool is_same (const void *context, uint32_t number) {
  const wanted *const w = context;
  const pf_stack *const s = &w->stacks->list[number];
  return s->parent == w->parent && s->frame == w->frame;
}


/* The stacks of a dictionary, made at the first one; NULL: out of memory. */
static struct pf_stacks *stacks_of (pf_dictionary *dictionary) {
  if (dictionary->stacks == NULL) {
    dictionary->stacks = calloc(1, sizeof *dictionary->stacks);
    if (dictionary->stacks != NULL)
      dictionary->stacks->interned.seed = dictionary->seed;
  }
  return dictionary->stacks;
}


static bool reserve (struct pf_stacks *stacks) {
  if (!pf_interned_reserve(&stacks->interned))
    return false;
  if (stacks->interned.count < stacks->room)
    return true;
  const size_t room = stacks->room == 0 ? 64 : pf_more_room(stacks->room);
  pf_stack *const list =
      pf_array_resize(stacks->list, stacks->interned.count, room, sizeof *list);
  if (list == NULL)
    return false;
  stacks->list = list;
  stacks->room = room;
  return true;
}


uint32_t pf_stack_push (pf_dictionary *dictionary, uint32_t parent,
                        uint32_t frame) {
  struct pf_stacks *const stacks = stacks_of(dictionary);
  if (stacks == NULL)
    return PF_NO_STACK;
  const uint64_t hash =
      pf_mix(stacks->interned.seed, parent | (uint64_t)frame << 32);
  const wanted w = {stacks, parent, frame};
  const uint32_t known = pf_interned_find(&stacks->interned, hash, is_same, &w);
  if (known != PF_NOT_INTERNED)
    return known;
  if (!reserve(stacks))
    return PF_NO_STACK;
  const uint32_t depth = pf_stack_at(dictionary, parent)->depth + 1;
  stacks->list[stacks->interned.count] = (pf_stack){parent, frame, depth};
  return pf_interned_add(&stacks->interned, hash);
}


uint32_t pf_stacks_count (const pf_dictionary *dictionary) {
  return dictionary->stacks == NULL ? 0 : dictionary->stacks->interned.count;
}


const pf_stack *pf_stack_at (const pf_dictionary *dictionary, uint32_t number) {
  static const pf_stack none = {PF_NO_STACK, PF_NO_AREA, 0};
  return number < pf_stacks_count(dictionary)
             ? &dictionary->stacks->list[number]
             : &none;
}


void pf_stacks_free (struct pf_stacks *stacks) {
  if (stacks == NULL)
    return;
  pf_interned_free(&stacks->interned);
  free(stacks->list);
  free(stacks);
}
