/*
** call_counts.h - numbers of calls that show whether each lane is one thread of
** execution. Several tasks or cores on one lane have calls without an enter or
** a leave, and calls that begin in others that did not make them. The call
** machine counts; csrc/lua/stages/timeline_spans.c gives the numbers to Lua.
*/

#ifndef call_counts_h
#define call_counts_h

#include <stdbool.h>

#include "kernels/calls/call.h"

/* Numbers of calls of functions. */
struct pf_call_counts {
  uint64_t calls;     /* that have ended */
  uint64_t unmatched; /* of these, with PF_CALL_ORPHAN or PF_CALL_UNWOUND */
  uint64_t crossed;   /* of these, unwound, or left inside of another call */
  uint64_t nested;    /* enters inside of another call */
  uint64_t late;    /* of these, later than the event before in the lane, while
                         the other call is suspended: not by a call */
  uint64_t running; /* enters and resumes while another call of the lane runs:
                         no suspend came before */
};

/* Count an enter. `is_nested`: in another call, which `runs` or is suspended;
   `is_later`: than the event before in the lane. */
static inline void pf_count_enter (pf_call_counts *counts, bool is_nested,
                                   bool runs, bool is_later) {
  counts->nested += is_nested;
  counts->late += is_nested && !runs && is_later;
  counts->running += is_nested && runs;
}

static inline void pf_add_call_counts (pf_call_counts *to,
                                       const pf_call_counts *more) {
  to->calls += more->calls;
  to->unmatched += more->unmatched;
  to->crossed += more->crossed;
  to->nested += more->nested;
  to->late += more->late;
  to->running += more->running;
}

#endif
