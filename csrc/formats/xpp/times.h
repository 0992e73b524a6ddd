/*
** times.h - checks and corrects the times of entries from row to row: wraps
** of the 32-bit clock, new runs in the same file, and threads that go back in
** time. The rules are in times.c. Used by entries_xpp.c for each batch in the
** order of the file, if column time or flags is wanted and the trace has times.
**
** Order of calls: open, update for each batch, close. The caller closes the
** struct also after a failure, which frees its arrays.
*/

#ifndef times_h
#define times_h

#include "formats/xpp/parser/fill_rows.h"
#include "model/base/id_table.h"

typedef struct xpp_times {
  int64_t wrap_offset;      /* ns to add to each time for wraps */
  int64_t last;             /* the last time after correction; INT64_MIN
                               before the first */
  int64_t run_min, run_max; /* times of the current run, ns */
  bool has_run_starts;      /* some bit of run_starts is set */
  uint64_t run_starts[PF_BATCH_ROWS / 64]; /* by row: a new run begins */
  pf_id_table threads;                     /* ids of thread numbers */
  int64_t *last_times;                     /* ns; by id of the thread */
  size_t capacity;                         /* of `last_times` */
  uint32_t last_thread; /* id of the thread of the last row */
} xpp_times;

void xpp_times_open (xpp_times *times);
void xpp_times_close (xpp_times *times);

/* Processes the times (ns) and thread numbers (0: missing) of the current
   batch: adds wrap_offset to the times and marks the rows with which runs begin
   in run_starts. Returns PF_OK, PF_ENOMEM or, in a strict trace, PF_EFORMAT
   at the first time that goes back (wraps and new runs are only notes). */
pf_status xpp_times_update (xpp_times *times, const xpp_rows *rows,
                            const int64_t *threads, pf_column *time,
                            pf_error *error);

#endif
