/*
** call_ranks.h - ranks of calls by duration in bounded memory: the first scan
** counts the calls of each rounded duration, the second one gets the rank of
** each call from these counts. Used by explain.c, which owns the pf_call_ranks;
** pf_call_ranks_free frees its arrays.
*/

#ifndef call_ranks_h
#define call_ranks_h

#include "profio.h"

/* The calls of a lane in the first scan. */
typedef struct pf_ranked_lane {
  uint64_t calls;
  int64_t first, longest; /* durations: of the first call, of all others */
} pf_ranked_lane;

/* Initialise with zeros. */
typedef struct pf_call_ranks {
  uint64_t *counts;        /* by rounded duration; later the next ranks */
  uint64_t all, slow;      /* numbers of calls */
  uint64_t worst;          /* index of the longest call, in order of stop */
  int64_t longest;         /* its duration */
  uint64_t read;           /* calls of the second scan so far */
  pf_ranked_lane *lanes;   /* by lane id */
  uint64_t *read_in_lanes; /* calls of the second scan so far, by lane id */
  size_t nlanes, nread_lanes;
} pf_call_ranks;

/* A call in the second scan; it may be in several groups. */
typedef struct pf_call_rank {
  bool is_typical, is_slow, is_median, is_worst;
  bool is_first; /* slow, because it is the first of its lane */
} pf_call_rank;

/* Count a call of the first scan. PF_ENOMEM. */
pf_status pf_call_ranks_count (pf_call_ranks *ranks, uint32_t lane,
                               int64_t duration);

/* End the first scan; `quantile` is the rank of one
   (kernels/group/quantile.h). */
void pf_call_ranks_begin (pf_call_ranks *ranks, uint32_t quantile);

/* Rank the next call of the second scan, which is in the order of the first
   one. A call that the first scan has not seen is in no group. PF_ENOMEM. */
pf_status pf_call_ranks_next (pf_call_ranks *ranks, uint32_t lane,
                              int64_t duration, pf_call_rank *rank);

void pf_call_ranks_free (pf_call_ranks *ranks);

#endif
