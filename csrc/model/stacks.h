/*
** stacks.h - call stacks as a tree: a stack is its innermost frame and the
** stack of the frames around it. Equal stacks have one number; columns of
** PF_STACK hold it. They live in the dictionary.
*/

#ifndef stacks_h
#define stacks_h

#include "model/areas.h"

#define PF_NO_STACK UINT32_MAX /* no frames at all */

typedef struct pf_stack {
  uint32_t parent; /* the stack without the innermost frame, or PF_NO_STACK */
  uint32_t frame;  /* an area: the innermost frame */
  uint32_t depth;  /* how many frames there are */
  uint32_t child;  /* the first one made of it, or PF_NO_STACK */
} pf_stack;

/* The stack `parent` with one more frame; PF_NO_STACK when out of memory. */
uint32_t pf_stack_push (pf_dictionary *dictionary, uint32_t parent,
                        uint32_t frame);

/* How many there are: numbers are below this. A parent has a lower number
   than its children. */
uint32_t pf_stacks_count (const pf_dictionary *dictionary);

/* The stack of a number; one that was never given has no frames. Valid until
   the next one is pushed. */
const pf_stack *pf_stack_at (const pf_dictionary *dictionary, uint32_t number);

/* Called by pf_dictionary_free. */
struct pf_stacks;
void pf_stacks_free (struct pf_stacks *stacks);

#endif
