/*
** interning.h - finds out which frames and stacks of profiles are known to a
** store, by their contents, so that a known one costs neither a hash nor a
** query. Used by put_cells.c and put_rows.c. The userdata of a database or the
** pf_run_rows owns a pf_interning, which pf_interning_free frees.
*/

#ifndef interning_h
#define interning_h

#include "model/contexts/contexts.h"
#include "model/dictionary/stacks.h"
#include "store/content_hash.h"

/* The hash of a frame or stack, and the id that the store has given it. */
typedef struct pf_known {
  pf_hash hash;
  uint32_t id; /* 0: not known yet */
} pf_known;

/* Begins as zeros. All arrays are owned. */
typedef struct pf_interning {
  pf_dictionary *dictionary; /* owned; of all that is known; NULL: nothing is */
  pf_known *frames, *stacks; /* by area and stack of the dictionary */
  size_t frame_capacity, stack_capacity;
  const pf_dictionary *source; /* borrowed; of the contexts that came last */
  uint32_t *found;             /* by area of the source: 1 + frame here, or 0 */
  size_t found_capacity;
} pf_interning;

/* The functions that add a frame, or stack, to a store: both set *id, which is
   not 0. They may use all that is known: the hash of the new one, and its
   parent. */
typedef struct pf_intern_target {
  void *context;
  pf_status (*add_frame)(void *context, const pf_interning *interning,
                         uint32_t frame, uint32_t *id, pf_error *error);
  pf_status (*add_stack)(void *context, const pf_interning *interning,
                         uint32_t stack, uint32_t *id, pf_error *error);
} pf_intern_target;

/*
** Set stacks[node] to the stack in the dictionary of the interning, for each
** node that has a weight or is the caller of one; PF_NO_STACK for the root.
** Others are not set. Adds those that are not known to the target. The caller
** keeps the dictionary of the contexts until it passes contexts with another
** one, or frees the interning. PF_ENOMEM, and failures of the target.
*/
pf_status pf_intern_contexts (pf_interning *interning,
                              const pf_contexts *contexts,
                              const pf_intern_target *target, uint32_t *stacks,
                              pf_error *error);

/* Forget all that is known, and free the memory. */
void pf_interning_free (pf_interning *interning);

#endif
