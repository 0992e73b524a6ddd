/*
** statistics.h - a reader of the statistics of calls by area: the aggregates of
** the calls of calls.h, computed without a row for each call. Used by
** core.statistics (csrc/lua/stages/event_stages.c). The caller closes the
** reader, which frees all its memory and until then borrows the readers of
** events.
*/

#ifndef statistics_h
#define statistics_h

#include "kernels/statistics/scan.h"

#define PF_MAX_RANKS 16

typedef struct pf_statistics_options {
  pf_call_options calls;
  pf_group_by by; /* PF_BY_LANE: first each area over all lanes, then each area
                     in each lane */
  uint32_t ranks[PF_MAX_RANKS]; /* quantiles, in units of 1/PF_RANK_SCALE */
  const char *rank_names[PF_MAX_RANKS]; /* "p50", ...; copied */
  size_t nranks;
  pf_reader *const *chunks; /* further readers of the same events (borrowed)
                               that can seek and run in threads: the table is
                               read in nchunks + 1 chunks */
  size_t nchunks;
  uint64_t rows;        /* number of events; used only with chunks */
  size_t threads;       /* maximum number of threads; used only with chunks */
  pf_progress progress; /* used only with chunks */
} pf_statistics_options;

/*
** Open a reader over the statistics of `events` (borrowed; its columns:
** events.h), in the order in which areas first occurred. Columns: area, handle,
** value, context (the lane; missing: all lanes), with PF_BY_CALLER caller,
** count; for each of net, gross, call, period and outside (in ns) the sum, and
** with the suffixes _min, _max, _mean, _stddev, _p50, ...; net_max_at,
** gross_max_at, call_max_at, period_jitter, and without PF_BY_CALLER last_stop.
** The first `next` reads all events; chunks do not change the result.
** Deviations and quantiles are computed only if their columns are wanted.
** PF_EUNSUPPORTED when the columns are not those of events; PF_ENOMEM.
*/
pf_status pf_statistics_open (pf_reader *events,
                              const pf_statistics_options *options,
                              pf_reader **reader, pf_error *error);

#endif
