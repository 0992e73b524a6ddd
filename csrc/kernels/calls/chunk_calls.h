/*
** chunk_calls.h - what is unknown in a chunk of a trace, because the calls that
** are open when it begins are unknown. Filled by the call machine while it reads
** the chunk; completed when the chunk is merged into the scan of the events
** before it (pf_scan_merge of kernels/statistics/scan.h is in chunk_calls.c).
**
** A function that is left, but was not entered in the chunk, is an unmatched
** leave. A function of which only suspends and resumes have come so far is a
** frame with is_earlier at the bottom of the stack. The first call of each slot
** is kept, because its period and outside depend on earlier events. Where all
** this is not sufficient, needs_reread is set.
*/

#ifndef chunk_calls_h
#define chunk_calls_h

#include "kernels/calls/lanes.h"

struct pf_machine;

/* A call that was entered in an earlier chunk and left in this one. */
typedef struct pf_unmatched_leave {
  uint32_t lane, area;
  int64_t from;           /* time of the first event of the lane, or of the
                             previous unmatched leave in it */
  uint64_t before;        /* net time from there to the first event of the
                             call */
  uint64_t net, children; /* from that event on */
  int64_t time;           /* of its leave */
} pf_unmatched_leave;

typedef struct pf_chunk {
  bool needs_reread;
  uint32_t peak;              /* maximum of pf_lane.count in all lanes */
  pf_unmatched_leave *leaves; /* in order of the events */
  size_t nleaves, leaves_capacity;
  pf_call *firsts; /* first calls of slots that have ended */
  size_t nfirsts, firsts_capacity;
} pf_chunk;

void pf_chunk_free (pf_chunk *chunk);

/* A call that begins is the first of its slot. */
static inline bool pf_chunk_begins (pf_slot *slot) {
  const bool is_first = !slot->is_met;
  slot->is_met = true;
  return is_first;
}

/* Keep the call after the last of machine->calls, as the first of its slot.
   When out of memory machine->is_out_of_memory is set. */
void pf_chunk_keep_first (struct pf_machine *machine);

/* A call ends that was entered in an earlier chunk: the topmost frame `of`, or
   one that had no events before this one. May move the slots. When out of
   memory machine->is_out_of_memory is set. */
void pf_chunk_end (struct pf_machine *machine, pf_lane *lane, uint32_t slot,
                   const pf_frame *of, int64_t time);

#endif
