/*
** transform_contexts.h - compute contexts from other contexts: narrow, rename,
** invert, shorten, scale, pick, prune. Used by context_profile.c and
** export_contexts.c of lua/profile, which open and close all profiles. Arrays
** are borrowed during the call. Functions with `to` fill that empty profile
** (pf_contexts_open) over the same dictionary, and do not change `from`. All
** return PF_OK or PF_ENOMEM; after PF_ENOMEM `to` can only be closed.
**
** A frame that is hidden, merged or folded into its caller adds all its weights
** to the caller except the metric "calls", which is dropped.
*/

#ifndef transform_contexts_h
#define transform_contexts_h

#include "kernels/base/selection.h"
#include "model/base/wide.h"
#include "model/contexts/contexts.h"

/* Narrow by frames, whose numbers are areas. A hidden frame without a visible
   caller keeps its own weight, as a stack of its own; what it called moves
   up. */
pf_status pf_contexts_narrow (pf_contexts *to, const pf_contexts *from,
                              const pf_selection *selection, pf_error *error);

/* Replace frames: frames[area], of `count`, is the new frame (of pf_frame_of),
   for example the file of a function. `folds`: a frame directly below an equal
   one is merged with it. */
pf_status pf_contexts_rename (pf_contexts *to, const pf_contexts *from,
                              const uint32_t *frames, size_t count, bool folds,
                              pf_error *error);

/* Invert the stacks: below the root are the functions with a weight, below each
   of them its callers, in `depth` levels at most. PF_EIO: Ctrl-C was pressed
   (model/system/interrupt.h). */
pf_status pf_contexts_invert (pf_contexts *to, const pf_contexts *from,
                              uint32_t depth, pf_error *error);

/* Fold contexts deeper than `depth` frames into their callers. */
pf_status pf_contexts_shorten (pf_contexts *to, const pf_contexts *from,
                               uint32_t depth, pf_error *error);

#define PF_ANY_DEPTH UINT32_MAX

/*
** Set *depth to the largest depth, at least 1, at which all stacks with a
** weight have at most `max_frames` frames in total, when they are shortened to
** it and written one by one, or `inverted` to that depth, before equal ones are
** merged; to PF_ANY_DEPTH if no limit is needed. For deep stacks the number of
** frames grows with the square of the number of contexts.
*/
pf_status pf_contexts_depth (const pf_contexts *from, bool inverted,
                             uint64_t max_frames, uint32_t *depth,
                             pf_error *error);

/* Multiply by an exact factor. Weights stay whole numbers, and the sum of each
   metric is the rounded product of its sum: remainders go to the next weight.
   If a sum or a weight exceeds 64 bits, has_overflowed is set. */
pf_status pf_contexts_scale (pf_contexts *to, const pf_contexts *from,
                             pf_factor factor, pf_error *error);

/* Copy one metric only, under another name. */
pf_status pf_contexts_pick (pf_contexts *to, const pf_contexts *from,
                            size_t metric, const char *name, pf_error *error);

/* Fold contexts whose total is less than `share` of the whole, by a metric,
   into their callers. Absolute values are compared. */
pf_status pf_contexts_prune (pf_contexts *to, const pf_contexts *from,
                             size_t metric, double share, pf_error *error);

#endif
