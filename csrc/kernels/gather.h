/*
** gather.h - rows of a reader into groups: what one pass of group does.
*/

#ifndef gather_h
#define gather_h

#include <stdatomic.h>

#include "kernels/aggregate.h"
#include "kernels/keys.h"

/* Begin with zeros, keys and aggregates; all of it is owned. */
typedef struct pf_gather {
  pf_keys *keys;
  pf_aggregates *aggregates;
  bool *wanted;   /* of the input's columns */
  pf_batch batch; /* of the input, while it is read */
  bool is_open;   /* the batch */
  uint32_t groups[PF_BATCH_ROWS];
} pf_gather;

/*
** Add the rows of `input`, always the same one. PF_END at its end, PF_AGAIN
** when it stops for now, or a failure. PF_MORE: `stop` (may be NULL) was set
** by somebody else.
*/
pf_status pf_gather_read (pf_gather *gather, pf_reader *input,
                          const atomic_bool *stop, pf_error *error);

/* Whether rows of these fields may be gathered apart, and then added: whatever
   the parts, the answers are the same, to the last bit. */
bool pf_gather_splits (const pf_gather *gather, const pf_field *fields);

/* Begin another one with the same keys and aggregates, for an input with
   `nfields` columns. PF_ENOMEM: close it. */
pf_status pf_gather_like (pf_gather *gather, const pf_gather *model,
                          size_t nfields);

/* Add what was gathered from the rows that follow. PF_ENOMEM. */
pf_status pf_gather_merge (pf_gather *gather, const pf_gather *more);

/* Nothing more will be read. */
void pf_gather_stop (pf_gather *gather);

void pf_gather_close (pf_gather *gather);

#endif
