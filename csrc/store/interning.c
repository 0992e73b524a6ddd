/*
** interning.c - the frames and stacks that are known to a store (see
** interning.h).
*/

#include <stdlib.h>
#include <string.h>

#include "model/base/memory.h"
#include "store/interning.h"

#define MOST_STACKS ((uint32_t)1 << 22) /* known; about 60 bytes each */


void pf_interning_free (pf_interning *i) {
  if (i->dictionary != NULL)
    pf_dictionary_free(i->dictionary);
  free(i->frames);
  free(i->stacks);
  free(i->found);
  memset(i, 0, sizeof *i);
}


/* Prepare for contexts. False when out of memory. */
static bool begin (pf_interning *i, const pf_dictionary *source) {
  if (i->source != source) {
    free(i->found);
    i->found = NULL;
    i->found_capacity = 0;
  }
  if (i->dictionary != NULL && pf_stacks_count(i->dictionary) >= MOST_STACKS)
    pf_interning_free(i);
  if (i->dictionary == NULL)
    i->dictionary = pf_dictionary_new();
  i->source = source;
  return i->dictionary != NULL &&
         pf_grow_filled(&i->found, &i->found_capacity,
                        (size_t)pf_areas_count(source) + 1, 0);
}


/* Set *name to the id of a name of the source in the own dictionary. */
static bool copy_name (pf_interning *i, uint32_t number, uint32_t *name) {
  *name = PF_NO_NAME;
  if (number != PF_NO_NAME)
    *name = pf_intern(i->dictionary, pf_name(i->source, number));
  return *name != PF_NO_NAME || number == PF_NO_NAME;
}


/* Find the frame of an area of the source; false when out of memory. */
static bool find_frame (pf_interning *i, uint32_t area) {
  const pf_area *const given = pf_area_at(i->source, area);
  pf_area own = PF_AREA_NONE;
  own.line = given->line;
  if (!copy_name(i, given->name, &own.name) ||
      !copy_name(i, given->file, &own.file))
    return false;
  const uint32_t frame = pf_area_add(i->dictionary, &own);
  if (frame == PF_NO_AREA ||
      !pf_grow_filled(&i->frames, &i->frame_capacity, (size_t)frame + 1, 0))
    return false;
  i->found[area] = frame + 1;
  return true;
}


/* Set *frame to that of an area of the source. The target has it then. */
static pf_status intern_frame (pf_interning *i, uint32_t area,
                               const pf_intern_target *to, uint32_t *frame,
                               pf_error *error) {
  if (i->found[area] == 0 && !find_frame(i, area))
    return pf_no_memory(error);
  *frame = i->found[area] - 1;
  pf_known *const known = &i->frames[*frame];
  if (known->id != 0)
    return PF_OK;
  known->hash = pf_hash_frame(i->dictionary, pf_area_at(i->dictionary, *frame));
  return to->add_frame(to->context, i, *frame, &known->id, error);
}


/* Set *stack to the stack `parent` with one more frame. The target has it
   then. */
static pf_status intern_stack (pf_interning *i, uint32_t parent, uint32_t frame,
                               const pf_intern_target *to, uint32_t *stack,
                               pf_error *error) {
  static const pf_hash none = {{0}};
  *stack = pf_stack_push(i->dictionary, parent, frame);
  if (*stack == PF_NO_STACK ||
      !pf_grow_filled(&i->stacks, &i->stack_capacity, (size_t)*stack + 1, 0))
    return pf_no_memory(error);
  pf_known *const known = &i->stacks[*stack];
  if (known->id != 0)
    return PF_OK;
  known->hash =
      pf_hash_stack(parent == PF_NO_STACK ? &none : &i->stacks[parent].hash,
                    &i->frames[frame].hash);
  return to->add_stack(to->context, i, *stack, &known->id, error);
}


/* Mark the nodes with weights, and all their callers. There are no branches,
   because whether a node has a weight cannot be predicted. */
static void mark_needed (const pf_contexts *c, bool *needed) {
  for (size_t m = 0; m < c->nmetrics; m++)
    for (uint32_t node = 1; node < c->count; node++)
      needed[node] |= c->weights[m][node] != 0;
  for (uint32_t node = c->count; node-- > 1;)
    needed[c->parents[node]] |= needed[node];
}


pf_status pf_intern_contexts (pf_interning *i, const pf_contexts *c,
                              const pf_intern_target *to, uint32_t *stacks,
                              pf_error *error) {
  bool *const needed = pf_array_of_zeros(c->count, sizeof *needed);
  pf_status status = PF_OK;
  if (needed == NULL || !begin(i, c->dictionary)) {
    free(needed);
    return pf_no_memory(error);
  }
  mark_needed(c, needed);
  stacks[0] = PF_NO_STACK;
  for (uint32_t node = 1; node < c->count && status == PF_OK; node++) {
    uint32_t frame = 0;
    if (!needed[node])
      continue;
    status = intern_frame(i, c->frames[node], to, &frame, error);
    if (status == PF_OK)
      status = intern_stack(i, stacks[c->parents[node]], frame, to,
                            &stacks[node], error);
  }
  free(needed);
  return status;
}
