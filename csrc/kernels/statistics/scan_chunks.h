/*
** scan_chunks.h - scans all events of a table in chunks, several of them at the
** same time. Used by statistics.c.
*/

#ifndef scan_chunks_h
#define scan_chunks_h

#include "kernels/statistics/scan.h"

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
** point that the first cancelled chunk had reached. PF_OK or a failure.
*/
pf_status pf_scan_chunks_read (const pf_scan_chunks *chunks,
                               const pf_scan_options *options, pf_scan *scan,
                               pf_error *error);

#endif
