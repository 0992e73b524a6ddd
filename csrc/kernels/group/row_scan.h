/*
** row_scan.h - reads rows of a table, or of a chunk of it, into groups. Used
** by group.c and parallel_groups.c: fill in keys, aggregates and wanted, read
** until PF_END, close.
*/

#ifndef row_scan_h
#define row_scan_h

#include <stdatomic.h>

#include "kernels/group/aggregate.h"
#include "kernels/group/keys.h"

/* Initialise with zeros, then keys, aggregates and wanted; the scan owns them
   all. */
typedef struct pf_group_scan {
  pf_keys *keys;
  pf_aggregates *aggregates;
  bool *wanted;       /* by column of the input */
  pf_batch batch;     /* of the input */
  bool is_open;       /* the batch is open */
  bool may_run_apart; /* rows may be added in a thread other than the
                          caller's */
  uint32_t groups[PF_BATCH_ROWS];
} pf_group_scan;

/*
** Add the rows of `input`, the same one in each call. PF_END, PF_AGAIN or a
** failure; PF_MORE when another thread has set `stop` (may be NULL).
*/
pf_status pf_group_scan_read (pf_group_scan *scan, pf_reader *input,
                              const atomic_bool *stop, pf_error *error);

/* Whether chunks of a table with these fields can be merged with exactly the
   same result. */
bool pf_group_scan_is_mergeable (const pf_group_scan *scan,
                                 const pf_field *fields);

/* Initialise a scan with the same keys and aggregates, for an input with
   `nfields` columns. PF_ENOMEM: close it. */
pf_status pf_group_scan_clone (pf_group_scan *scan, const pf_group_scan *model,
                               size_t nfields);

/* Merge the scan of later rows. PF_ENOMEM. */
pf_status pf_group_scan_merge (pf_group_scan *scan, const pf_group_scan *more);

/* Close the batch: no more rows will be read. */
void pf_group_scan_stop (pf_group_scan *scan);

void pf_group_scan_close (pf_group_scan *scan);

#endif
