/*
** group_scan.h - rows of a reader into groups: what one pass of group does.
*/

#ifndef group_scan_h
#define group_scan_h

#include <stdatomic.h>

#include "kernels/aggregate.h"
#include "kernels/keys.h"

/* Begin with zeros, keys and aggregates; all of it is owned. */
typedef struct pf_group_scan {
  pf_keys *keys;
  pf_aggregates *aggregates;
  bool *wanted;   /* of the input's columns */
  pf_batch batch; /* of the input, while it is read */
  bool is_open;   /* the batch */
  bool is_apart;  /* rows may be added in a thread apart from the caller's */
  uint32_t groups[PF_BATCH_ROWS];
} pf_group_scan;

/*
** Add the rows of `input`, always the same one. PF_END at its end, PF_AGAIN
** when it stops for now, or a failure. PF_MORE: `stop` (may be NULL) was set
** by somebody else.
*/
pf_status pf_group_scan_read (pf_group_scan *pass, pf_reader *input,
                              const atomic_bool *stop, pf_error *error);

/* Whether rows of these fields may be read apart, and then added: whatever
   the parts, the answers are the same, to the last bit. */
bool pf_group_scan_is_mergeable (const pf_group_scan *pass,
                                 const pf_field *fields);

/* Begin another one with the same keys and aggregates, for an input with
   `nfields` columns. PF_ENOMEM: close it. */
pf_status pf_group_scan_clone (pf_group_scan *pass, const pf_group_scan *model,
                               size_t nfields);

/* Add what was made of the rows that follow. PF_ENOMEM. */
pf_status pf_group_scan_merge (pf_group_scan *pass, const pf_group_scan *more);

/* Nothing more will be read. */
void pf_group_scan_stop (pf_group_scan *pass);

void pf_group_scan_close (pf_group_scan *pass);

#endif
