/*
** selection.h - the rules of profile:focus, ignore and hide. Functions are
** chosen (lua/profio/internal/bodies/picks.lua decides which), and one of the
** three says what becomes of a stack of calls that has a chosen function. The
** narrowing of contexts and of graphs apply this to their shape, and sums are
** built again from what they were built from. Nothing is allocated.
*/

#ifndef selection_h
#define selection_h

#include "profio.h"

typedef enum pf_narrowing {
  PF_FOCUS,  /* stacks with a chosen function are kept, all others dropped */
  PF_IGNORE, /* stacks with a chosen function are dropped */
  PF_HIDE /* chosen functions are removed from all stacks: their weight goes to
                their callers; without one they keep it */
} pf_narrowing;

typedef struct pf_selection {
  pf_narrowing narrowing;
  const bool *chosen; /* borrowed; by number of a frame or function */
  size_t count;       /* numbers from here on are not chosen */
} pf_selection;

static inline bool pf_is_chosen (const pf_selection *selection, size_t number) {
  return number < selection->count && selection->chosen[number];
}

/* Whether a stack is kept that has a chosen function, or has none. */
static inline bool pf_keeps_stack (const pf_selection *selection,
                                   bool has_chosen) {
  return selection->narrowing == PF_HIDE ||
         has_chosen == (selection->narrowing == PF_FOCUS);
}

/* Whether a function is removed from stacks. */
static inline bool pf_hides (const pf_selection *selection, size_t number) {
  return selection->narrowing == PF_HIDE && pf_is_chosen(selection, number);
}

#endif
