/*
** stacks.h - call stacks as a tree in the dictionary: a stack is its innermost
** frame and the stack of the frames around it. Equal stacks have one id, which
** columns of PF_STACK have. Ids count from 0; a parent has a lower id than its
** children. Added by formats, kernels/calls, lua/recorder, lua/writer, store
** and model/writer/ring_encoder.c; the dictionary owns them.
*/

#ifndef stacks_h
#define stacks_h

#include "model/dictionary/areas.h"

#define PF_NO_STACK UINT32_MAX /* the stack without frames */

/* The file of outermost frames that are labels, called key=value: set by a
   recorded Lua program, written by formats that have labels. */
#define PF_LABEL_FILE "profio.label"

typedef struct pf_stack {
  uint32_t parent; /* the stack without the innermost frame, or PF_NO_STACK */
  uint32_t frame;  /* an area: the innermost frame */
  uint32_t depth;  /* how many frames there are */
  uint32_t child;  /* the first child that was added, or PF_NO_STACK */
} pf_stack;

/* The id of the stack `parent` (an id, or PF_NO_STACK) with one more frame,
   which is added if it is new; PF_NO_STACK when out of memory. */
uint32_t pf_stack_push (pf_dictionary *dictionary, uint32_t parent,
                        uint32_t frame);

/* The frames and stacks that pf_stack_of was given last: those that the next
   stack begins with need no look-up. Zeroed before; freed by
   pf_stack_path_free. */
typedef struct pf_stack_path {
  struct pf_path_frame *frames; /* the outermost first */
  size_t count, capacity;
} pf_stack_path;

/* Set *stack to the one of these areas, the innermost first; PF_NO_STACK if
   there are none. False when out of memory. */
bool pf_stack_of (pf_dictionary *dictionary, pf_stack_path *path,
                  const uint32_t *areas, size_t depth, uint32_t *stack);
void pf_stack_path_free (pf_stack_path *path);

/* The number of stacks: ids are below this. */
uint32_t pf_stacks_count (const pf_dictionary *dictionary);

/* The stack of an id, valid until the next push; without frames for an id that
   does not exist. */
const pf_stack *pf_stack_at (const pf_dictionary *dictionary, uint32_t number);

/* Called by pf_dictionary_free. */
struct pf_stacks;
void pf_stacks_free (struct pf_stacks *stacks);

#endif
