/*
** scan.h - runs the events of a table, or of one chunk of it, through the call
** machine into groups. Used by statistics.c: open, read until the end, finish,
** close; pf_scan_chunks_read instead reads chunks at the same time and merges
** them. unpack_sums.c fills a scan without events. A scan owns all its memory
** and borrows the reader until pf_scan_close.
**
** A chunk begins at any row, so the calls that are open there are unknown
** (kernels/calls/state_machine.h). Where what it records of them is not
** sufficient, its events are read again by the scan into which all earlier
** chunks have been merged: so are recursive calls of a function that is open
** where the chunk begins. The result is always that of one scan of the whole
** table.
*/

#ifndef scan_h
#define scan_h

#include "kernels/calls/events.h"
#include "kernels/statistics/call_groups.h"

typedef struct pf_scan {
  pf_events events;
  pf_machine machine;
  pf_call_groups groups;
  bool is_open; /* by pf_scan_open or pf_sums_open: pf_scan_close frees it */
} pf_scan;

typedef struct pf_scan_options {
  pf_call_options calls;
  pf_group_by by;
  pf_call_aggregates aggregates;
} pf_scan_options;

/* Open a scan of the events of a reader (borrowed; its columns: events.h), or
   with is_chunk of a chunk of them. PF_EUNSUPPORTED when the columns are not
   those of events; PF_ENOMEM. */
pf_status pf_scan_open (pf_scan *scan, pf_reader *reader,
                        const pf_scan_options *options, bool is_chunk,
                        pf_error *error);
void pf_scan_close (pf_scan *scan);

/* Read `rows` further rows, a multiple of PF_BATCH_ROWS, or UINT64_MAX: all.
   PF_MORE when there may be more, PF_END, PF_AGAIN or a failure. Stops early
   when a chunk needs_reread. */
pf_status pf_scan_read (pf_scan *scan, uint64_t rows, pf_error *error);

/* Read all further rows; with `threads` of 2 or more in a pipeline, if that can
   be faster. PF_END, PF_AGAIN or a failure. */
pf_status pf_scan_read_all (pf_scan *scan, size_t threads, pf_error *error);

/* End the calls that are still open and complete the groups. PF_ENOMEM. */
pf_status pf_scan_finish (pf_scan *scan);

/*
** scan_merge.c: merge a chunk that begins where `scan` ends. With *fits = false
** no call has been added, and the chunk must be read again by `scan`. The
** caller closes the chunk in both cases. PF_ENOMEM.
*/
pf_status pf_scan_merge (pf_scan *scan, pf_scan *chunk, bool *fits);

/* Progress callback: called regularly in the caller's thread with the number of
   rows that all threads have read; returns true to cancel. NULL: none. */
typedef struct pf_progress {
  bool (*should_cancel)(void *context, uint64_t rows);
  void *context; /* borrowed */
} pf_progress;

typedef struct pf_scan_chunks {
  pf_reader *const *readers; /* one for each chunk, borrowed; if there are
                                several, each can seek */
  size_t count;
  uint64_t rows;  /* in the whole table */
  size_t threads; /* maximum, the caller's included */
  pf_progress progress;
} pf_scan_chunks;

/*
** Read all chunks into `scan`, which is open over the first reader and has read
** nothing, and finish it. After a cancellation it holds the events up to the
** point that the first cancelled chunk had reached, or up to the end of that
** chunk if it had to be read again. PF_OK or a failure.
*/
pf_status pf_scan_chunks_read (const pf_scan_chunks *chunks,
                               const pf_scan_options *options, pf_scan *scan,
                               pf_error *error);

#endif
