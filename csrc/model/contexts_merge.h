/*
** contexts_merge.h - adding one profile to another.
*/

#ifndef contexts_merge_h
#define contexts_merge_h

#include "model/contexts.h"

/*
** Add all of `more`, its weights multiplied by `sign` (1 or -1), which may be
** of another dictionary. Metrics of the same name and unit are one. PF_ENOMEM.
**
** Where the nodes of both are in the order of contexts_order.h, those of the
** sum are so too, and no node is looked up.
*/
pf_status pf_contexts_merge (pf_contexts *contexts, const pf_contexts *more,
                             int sign, pf_error *error);

/* Add all of `more`, which can only be closed then: it is freed on the way. */
pf_status pf_contexts_absorb (pf_contexts *contexts, pf_contexts *more,
                              pf_error *error);

/* As pf_contexts_merge, and never by that shorter way. */
pf_status pf_contexts_merge_by_lookup (pf_contexts *contexts,
                                       const pf_contexts *more, int sign,
                                       pf_error *error);

#endif
