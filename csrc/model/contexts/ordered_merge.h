/*
** ordered_merge.h - adds one profile to another. After a failure the contexts
** have all their weights, and may have new nodes and metrics without weights.
** Used by lua/profile/context_profile.c, kernels/stages/chain.c and
** formats/pprof/encode_pprof.c. The caller owns and closes both profiles.
*/

#ifndef ordered_merge_h
#define ordered_merge_h

#include "model/contexts/contexts.h"

/*
** Add all nodes and weights of `more`, multiplied by `sign` (1 or -1). `more`
** may have another dictionary. Metrics of the same name and unit are merged.
** PF_ENOMEM.
**
** If the nodes of both are in the order of tree_order.h, an ordered merge
** makes the sum in that order, without looking up nodes.
*/
pf_status pf_contexts_merge (pf_contexts *contexts, const pf_contexts *more,
                             int sign, pf_error *error);

/* Add all of `more` and free its arrays early. It can only be closed then. */
pf_status pf_contexts_absorb (pf_contexts *contexts, pf_contexts *more,
                              pf_error *error);

#endif
