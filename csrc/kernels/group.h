/*
** group.h - the stage that makes one row of all rows with the same keys.
*/

#ifndef group_h
#define group_h

#include "kernels/aggregate.h"
#include "kernels/keys.h"

/*
** A reader over the groups of `input` (borrowed), in the order of first sight:
** the keys first, then the aggregates. types[0..nkeys-1] are the types of the
** key columns; keys made by a maker may change theirs in the fields until
** pf_group_run answers. Strings are copied. The first `next` reads the whole
** input; of a live file it answers PF_AGAIN and goes on when asked again.
** Without keys there is one row, even of no rows.
*/
pf_status pf_group_open (pf_reader *input, const pf_key *keys,
                         const pf_type *types, size_t nkeys,
                         const pf_aggregate *aggregates, size_t naggregates,
                         pf_reader **reader, pf_error *error);

/*
** Read the rows in parts, where that answers the same: `readers` (borrowed)
** have those of the input between them, in their order, may run in threads,
** and answer no PF_AGAIN. *strict is that of their trace: an oddity ends the
** parts, and the input is read. PF_OK or PF_ENOMEM.
*/
pf_status pf_group_split (pf_reader *reader, pf_reader *const *readers,
                          size_t count, bool *strict);

/*
** Read the whole input now. `retype` (may be NULL) is called once all rows are
** seen, for each key by its number: it may set the type and the help of its field.
*/
pf_status pf_group_run (pf_reader *reader,
                        void (*retype)(void *context, size_t key,
                                       pf_field *field),
                        void *context, pf_error *error);

#endif
