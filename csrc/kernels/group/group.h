/*
** group.h - the stage that groups rows by keys and computes aggregates. Used by
** csrc/lua/stages/grouping.c. The caller closes the reader, which until then
** borrows the input, the computed keys, the readers of chunks and `strict`.
*/

#ifndef group_h
#define group_h

#include "kernels/group/aggregate.h"
#include "kernels/group/keys.h"

/*
** Open a reader over the groups of `input` (borrowed), in the order of first
** occurrence: the keys, then the aggregates. types[0..nkeys-1] are the types of
** the key columns; `retype` of pf_group_run may change the type of a computed
** key; aggregates[i].to is nkeys + i. Names are copied; the helps of keys are
** those of the input. The first `next` reads the whole input; of a live file
** the rows that it has. Without keys there is one row, even if the input has
** none. PF_ENOMEM.
*/
pf_status pf_group_open (pf_reader *input, const pf_key *keys,
                         const pf_type *types, size_t nkeys,
                         const pf_aggregate *aggregates, size_t naggregates,
                         pf_reader **reader, pf_error *error);

/*
** Read the rows in chunks if this does not change the result: `readers`
** (borrowed) have the rows of the input between them, in its order, may run in
** threads and never return PF_AGAIN. *strict is the flag of their trace: the
** first damage ends the chunks, and the input is read instead. Their rows must
** not cause notes, which would be recorded in any order. PF_OK or PF_ENOMEM.
*/
pf_status pf_group_split (pf_reader *reader, pf_reader *const *readers,
                          size_t count, bool *strict);

/*
** Read the whole input now. `retype` (may be NULL) is called after the last row
** with the index of each key and may change the type and the help of its field.
** PF_OK, a failure of the input, that of a computed key, PF_ENOMEM, or
** PF_ELIMIT (pf_aggregates_finish). A failure is returned again by each call.
*/
pf_status pf_group_run (pf_reader *reader,
                        void (*retype)(void *context, size_t key,
                                       pf_field *field),
                        void *context, pf_error *error);

#endif
