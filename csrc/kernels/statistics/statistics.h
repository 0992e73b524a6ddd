/*
** statistics.h - a reader of the statistics of calls by area: the aggregates of
** the calls of calls.h, computed without a row for each call; and their packed
** sums. Used by csrc/lua/stages/event_stages.c. The caller closes the reader,
** which frees all its memory and until then borrows the readers of events.
*/

#ifndef statistics_h
#define statistics_h

#include "kernels/statistics/packed_sums.h"

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
  size_t threads;       /* maximum number of threads; 0 as 1 */
  pf_progress progress; /* used only with chunks */
  bool by_content;      /* rows in the canonical order (packed_sums.h), not in
                           that of first occurrence */
  bool without_end;     /* the events come without those named `end`; used only
                           with packed sums */
} pf_statistics_options;

/*
** Open a reader over the statistics of `events` (borrowed; its columns:
** events.h), with PF_BY_LANE first those over all lanes. Columns: area, handle,
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

/*
** Append the packed sums of the calls (packed_sums.h), which do not depend on
** the quantiles of the options. Reads all events that a reader has, which
** pf_statistics_open returned and which has returned no rows yet; afterwards
** only close it. PF_ENOMEM and the failures of the events.
*/
pf_status pf_statistics_pack (pf_reader *reader, pf_packed *packed,
                              pf_error *error);

/*
** Open a reader over the statistics in packed sums, in their canonical order.
** It has the columns and values that pf_statistics_open has of the calls that
** were packed; options of chunks are ignored. The bytes are not needed
** afterwards; the dictionary is borrowed. PF_EUNSUPPORTED when the sums were
** computed with other options of calls, or by caller and the others not;
** PF_ETRUNCATED, PF_EFORMAT, PF_ELIMIT, PF_ENOMEM.
*/
pf_status pf_statistics_of_sums (pf_bytes packed, pf_dictionary *dictionary,
                                 const pf_statistics_options *options,
                                 pf_reader **reader, pf_error *error);

#endif
