/*
** row_scan.h - reads rows of a table into groups, at once or in chunks, each in
** a thread of its own. Used by group.c: fill in keys, aggregates and wanted,
** read until PF_END, close.
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

/* Close the batch: no more rows will be read. */
void pf_group_scan_stop (pf_group_scan *scan);

void pf_group_scan_close (pf_group_scan *scan);

typedef struct pf_group_chunks pf_group_chunks;

/*
** Open chunks with the keys and aggregates of `model`: `readers` (borrowed)
** have the rows of the table between them, in its order, and may run in
** threads. *strict is the flag of their trace. *chunks is NULL if there are
** none, or if they could not be merged with exactly the same result. PF_OK or
** PF_ENOMEM.
*/
pf_status pf_group_chunks_open (pf_reader *const *readers, size_t count,
                                bool *strict, const pf_group_scan *model,
                                pf_group_chunks **chunks);

/*
** Read all rows into `scan`, which has none yet. PF_OK; *done is false if a
** warning or a failure occurred: then nothing has been added, and no warning
** recorded. PF_ENOMEM.
*/
pf_status pf_group_chunks_read (pf_group_chunks *chunks, pf_group_scan *scan,
                                bool *done, pf_error *error);

void pf_group_chunks_close (pf_group_chunks *chunks);

#endif
