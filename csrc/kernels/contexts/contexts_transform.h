/*
** change.h - contexts made from contexts: narrowed, renamed, turned round,
** scaled, pruned. Each fills an empty profile (pf_contexts_open) over the same
** dictionary; the one it is made from stays as it is. All answer PF_OK or
** PF_ENOMEM.
*/

#ifndef contexts_transform_h
#define contexts_transform_h

#include "model/wide.h"
#include "model/contexts.h"

#define PF_FRAME_FOCUS  1u /* stacks with such a frame are kept */
#define PF_FRAME_IGNORE 2u /* stacks with such a frame are left out */
#define PF_FRAME_HIDE   4u /* the frame's weight goes to its caller */

/*
** Narrow by frames: marks[area] says what to do with each; areas from `count`
** on have no mark. When no frame has PF_FRAME_FOCUS, all stacks are kept. A
** hidden frame that no frame is left above keeps what it cost itself, as a
** stack of its own; what it called moves up.
*/
pf_status pf_contexts_narrow (pf_contexts *to, const pf_contexts *from,
                              const uint8_t *marks, size_t count,
                              pf_error *error);

/* Put other frames (made by pf_frame_of) in place of those there are: a
   function's file in place of the function, say. frames[area], `count` of
   them. `folds`: a frame directly below an equal one becomes one with it. */
pf_status pf_contexts_rename (pf_contexts *to, const pf_contexts *from,
                              const uint32_t *frames, size_t count, bool folds,
                              pf_error *error);

/* Turn the stacks round: below the root stand the functions that spent
   something, below each those that called it, in `depth` levels at most. */
pf_status pf_contexts_invert (pf_contexts *to, const pf_contexts *from,
                              uint32_t depth, pf_error *error);

/* Fold contexts below `depth` frames into their callers. */
pf_status pf_contexts_shorten (pf_contexts *to, const pf_contexts *from,
                               uint32_t depth, pf_error *error);

#define PF_ANY_DEPTH UINT32_MAX

/*
** Sets `*depth` to the largest one at which all stacks that weigh something
** have at most `most` frames together, when they are written one by one, or, if
** they are `turned` round, as levels of callers; to PF_ANY_DEPTH when all fit.
** Where stacks are deep, both grow with the square of the number of contexts.
*/
pf_status pf_contexts_depth (const pf_contexts *from, bool turned,
                             uint64_t most, uint32_t *depth, pf_error *error);

/* Multiply by a factor, exactly. Weights stay whole, and the sum of each metric
   is the rounded product of its sum: what is rounded off one is added to the
   next. */
pf_status pf_contexts_scale (pf_contexts *to, const pf_contexts *from,
                             pf_factor factor, pf_error *error);

/* Keep one metric, under another name. */
pf_status pf_contexts_pick (pf_contexts *to, const pf_contexts *from,
                            size_t metric, const char *name, pf_error *error);

/* Fold contexts whose total is less than `share` of the whole, by a metric,
   into their callers. */
pf_status pf_contexts_prune (pf_contexts *to, const pf_contexts *from,
                             size_t metric, double share, pf_error *error);

#endif
