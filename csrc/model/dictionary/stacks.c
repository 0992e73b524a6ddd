/*
** stacks.c - the stacks of a dictionary. A stack has the id of its first child,
** and only other children are in the intern table: most look-ups then access
** the parent, which is in the cache, and not the table, which mostly is not.
*/

#include "model/dictionary/stacks.h"

#include <assert.h>
#include <stdlib.h>

#include "model/base/intern_table.h"
#include "model/base/memory.h"

struct pf_stacks {
  pf_intern_table others; /* stacks that are not a first child */
  pf_stack *list;
  uint32_t count;
  size_t capacity;
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


/* Add a stack: as the first child of its parent, or to the table. */
static uint32_t add (struct pf_stacks *stacks, uint32_t parent, uint32_t frame,
                     uint64_t hash) {
  if (!pf_intern_table_reserve(&stacks->others) || stacks->count == PF_NO_STACK)
    return PF_NO_STACK;
  if (stacks->count == stacks->capacity) {
    const size_t capacity =
        stacks->capacity == 0 ? 64 : pf_next_capacity(stacks->capacity);
    pf_stack *const more = pf_large_array_resize(stacks->list, stacks->count,
                                                 capacity, sizeof *more);
    if (more == NULL)
      return PF_NO_STACK;
    stacks->list = more;
    stacks->capacity = capacity;
  }
  const uint32_t number = stacks->count++;
  const bool is_inner = parent < number;
  assert(is_inner || parent == PF_NO_STACK);
  pf_stack *const list = stacks->list;
  uint32_t depth = 1;
  if (is_inner) /* gcc 14 loads it on both sides of a ?: */
    depth = list[parent].depth + 1;
  list[number] = (pf_stack){parent, frame, depth, PF_NO_STACK};
  if (is_inner && list[parent].child == PF_NO_STACK)
    list[parent].child = number;
  else
    pf_intern_table_put(&stacks->others, hash, number);
  return number;
}


/* Find or add a stack that is not the first child of its parent. */
static uint32_t push (pf_dictionary *dictionary, uint32_t parent,
                      uint32_t frame) {
  if (dictionary->stacks == NULL) {
    dictionary->stacks = calloc(1, sizeof *dictionary->stacks);
    if (dictionary->stacks != NULL)
      dictionary->stacks->others.seed = dictionary->seed;
  }
  struct pf_stacks *const stacks = dictionary->stacks;
  if (stacks == NULL)
    return PF_NO_STACK;
  const uint64_t hash =
      pf_mix(stacks->others.seed, parent | (uint64_t)frame << 32);
  if (parent < stacks->count && stacks->list[parent].child == PF_NO_STACK)
    return add(stacks, parent, frame, hash);
  const wanted w = {stacks, parent, frame};
  const uint32_t known =
      pf_intern_table_find(&stacks->others, hash, is_same, &w);
  return known != PF_NOT_INTERNED ? known : add(stacks, parent, frame, hash);
}


uint32_t pf_stack_push (pf_dictionary *dictionary, uint32_t parent,
                        uint32_t frame) {
  const struct pf_stacks *const stacks = dictionary->stacks;
  if (stacks != NULL && parent < stacks->count) {
    const uint32_t child = stacks->list[parent].child;
    if (child != PF_NO_STACK && stacks->list[child].frame == frame)
      return child;
  }
  return push(dictionary, parent, frame);
}


struct pf_path_frame {
  uint32_t area, stack;
};


bool pf_stack_of (pf_dictionary *dictionary, pf_stack_path *path,
                  const uint32_t *areas, size_t depth, uint32_t *stack) {
  size_t same = 0;
  if (!pf_grow(&path->frames, &path->capacity, depth))
    return false;
  struct pf_path_frame *const frames = path->frames;
  while (same < depth && same < path->count &&
         frames[same].area == areas[depth - 1 - same])
    same++;
  *stack = same > 0 ? frames[same - 1].stack : PF_NO_STACK;
  if (same < depth)
    path->count = same;
  for (size_t i = same; i < depth; i++) {
    *stack = pf_stack_push(dictionary, *stack, areas[depth - 1 - i]);
    if (*stack == PF_NO_STACK)
      return false;
    frames[i] = (struct pf_path_frame){areas[depth - 1 - i], *stack};
    path->count = i + 1;
  }
  return true;
}


void pf_stack_path_free (pf_stack_path *path) {
  free(path->frames);
}


uint32_t pf_stacks_count (const pf_dictionary *dictionary) {
  return dictionary->stacks == NULL ? 0 : dictionary->stacks->count;
}


const pf_stack *pf_stack_at (const pf_dictionary *dictionary, uint32_t number) {
  static const pf_stack none = {PF_NO_STACK, PF_NO_AREA, 0, PF_NO_STACK};
  return number < pf_stacks_count(dictionary)
             ? &dictionary->stacks->list[number]
             : &none;
}


void pf_stacks_free (struct pf_stacks *stacks) {
  if (stacks == NULL)
    return;
  pf_intern_table_free(&stacks->others);
  free(stacks->list);
  free(stacks);
}
