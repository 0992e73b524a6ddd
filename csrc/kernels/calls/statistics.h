/*
** statistics.h - what calls come to, by area: the aggregate of the calls of
** calls.h, without a row for each of them.
*/

#ifndef statistics_h
#define statistics_h

#include "kernels/calls/parts.h"

#define PF_MAX_RANKS 16

typedef struct pf_statistics_options {
  pf_call_options calls;
  pf_group_by by; /* PF_BY_LANE: all lanes together first, then each */
  uint32_t ranks[PF_MAX_RANKS]; /* quantiles, in parts of PF_RANK_SCALE */
  const char *rank_names[PF_MAX_RANKS]; /* "p50", ...; copied */
  size_t nranks;
  pf_reader *const *parts; /* more readers of the same events (borrowed) that
                              can seek and run in threads: the events are read
                              in nparts + 1 parts */
  size_t nparts;
  uint64_t rows;  /* how many events there are; looked at if there are parts */
  size_t threads; /* how many run at once, at most */
  pf_watcher watcher; /* of a pass over parts */
} pf_statistics_options;

/*
** A reader over the statistics of `events` (borrowed; its columns: events.h),
** in the order in which areas were met: area, handle, value, context (the
** lane; missing: all), with PF_BY_CALLER caller, count, then net, gross, call,
** period and outside: the sum, and with _min, _max, _mean, _stddev, _p50, ...;
** net_max_at, gross_max_at, call_max_at, period_jitter, and without
** PF_BY_CALLER last_stop. The first `next` reads all events, if there are parts in threads: the result is the same.
** Deviations and quantiles are made when they are wanted.
*/
pf_status pf_statistics_open (pf_reader *events,
                              const pf_statistics_options *options,
                              pf_reader **reader, pf_error *error);

#endif
