/*
** xpp_times.h - the times of entries from row to row: the clock that starts again,
** and threads that go back in time.
*/

#ifndef xpp_times_h
#define xpp_times_h

#include "formats/xpp/xpp_fast.h"
#include "model/interned.h"

/* The last time of a thread. */
typedef struct xpp_thread_time {
  int64_t thread, time;
} xpp_thread_time;

typedef struct xpp_times {
  int64_t wrap_offset;      /* to the times, in ns: the clock has wrapped */
  int64_t last;             /* time of the file, with that */
  int64_t run_min, run_max; /* least and greatest time of the run */
  bool has_run_starts;      /* runs begin in the rows at hand: */
  uint64_t run_starts[PF_BATCH_ROWS / 64]; /* with these */
  bool has_last;
  xpp_thread_time *threads; /* by their number in `known` */
  size_t capacity;          /* for them */
  pf_interned known;
  uint32_t last_thread; /* the thread of the last row */
} xpp_times;

void xpp_times_open (xpp_times *times, uint64_t seed);
void xpp_times_close (xpp_times *times);

/* Take the times of the rows at hand, in ns, and their threads (0: missing)
   into account: where the clock has wrapped the times are changed, and where
   another run run_starts its row is marked in times->run_starts. PF_OK,
   PF_ENOMEM, or in a strict trace what is odd. */
pf_status xpp_times_update (xpp_times *times, const xpp_rows *rows,
                            const int64_t *threads, pf_column *time,
                            pf_error *error);

/* No run run_starts in the rows at hand. */
void xpp_times_clear (xpp_times *times);

/* The same for plain entries in which all goes on as it was: the look at each
   is spared. False: nothing has been done. */
bool xpp_times_update_fast (xpp_times *times, const xpp_fast_rows *rows);

#endif
