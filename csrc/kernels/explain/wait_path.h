/*
** wait_path.h - the critical path of the slowest call: which lanes and
** functions it waited for, from its start to its stop. Used by explain.c, whose
** second scan calls before and after for each event, end at the end of the
** call, and free; explained_rows.c reads the steps. The pf_wait_path owns its
** arrays, which pf_path_free frees.
**
** The path is followed backwards from the end of the call. While a function of
** the lane runs, the path stays in the lane. A gap is the time between two
** events of the lane in which no function runs. The path leaves it for another
** lane, and comes back at the begin of the gap. It goes
**
** 1. to the lane of the last event of another lane before the end of the gap on
**    the same core, if that lane was running or its last event is in the gap;
** 2. else, if the lane was suspended, to the lane of the last event of another
**    lane on any core, if this event is in the gap: that event ended the wait;
** 3. else nowhere: the gap is a step without a function.
**
** An event whose core is unknown (core 0) is compared with those of all cores.
*/

#ifndef wait_path_h
#define wait_path_h

#include "kernels/calls/state_machine.h"

/* The events that are kept, at most; 32 bytes each. */
#define PF_MAX_PATH_EVENTS ((size_t)1 << 20)

typedef struct pf_path_event {
  int64_t time;
  uint32_t lane;
  uint32_t area;     /* what runs after it, or PF_NO_AREA */
  bool is_suspended; /* after it: a function is open, but does not run */
  uint32_t prev;     /* index + 1 of the previous event of the lane, or 0 */
  uint32_t waker;    /* index + 1 of the event to which the time before belongs,
                        if the lane did not run in it, or 0 */
} pf_path_event;

/* A step of the path. If nothing is known to run, `area` is PF_NO_AREA and
   `lane` PF_NO_SLOT. */
typedef struct pf_path_step {
  int64_t start, stop;
  uint32_t lane, area;
} pf_path_step;

/* Initialise with zeros, then the call (from <= to, in ns) and is_wanted. */
typedef struct pf_wait_path {
  int64_t from, to;
  bool is_wanted; /* set by explain.c; pf_path_end clears it, unless is_full */
  bool is_full;   /* there were too many events: there are no steps */
  pf_path_event *events;
  size_t nevents, capacity;
  uint32_t *last; /* by lane id: index + 1 of its last event, or 0 */
  size_t nlanes;
  struct pf_path_core {
    uint32_t lane, other; /* + 1, or 0: that of the last event, and that of the
                             last one of another lane */
  } * cores;              /* by number (waits.h); 0: events of all cores */
  size_t ncores;
  pf_path_step *steps; /* when the call has ended: the last one first */
  size_t nsteps, steps_capacity;
} pf_wait_path;

/* Whether an event at `time`, in ns, may be within the call. */
static inline bool pf_path_needs (const pf_wait_path *path, int64_t time) {
  return path->is_wanted && !path->is_full && time >= path->from;
}

/* Call it before the machine processes an event of a lane, and pf_path_after
   then: keeps what the lane does from the start of the call. PF_ENOMEM. */
pf_status pf_path_before (pf_wait_path *path, const pf_machine *machine,
                          uint32_t lane);

/* Call it after the machine has processed the event; `core` is a number of
   waits.h, `time` in ns. PF_ENOMEM. */
pf_status pf_path_after (pf_wait_path *path, const pf_machine *machine,
                         uint32_t lane, uint32_t core, int64_t time);

/* Forget the events so far, because the next ones are not related to them. */
void pf_path_reset (pf_wait_path *path);

/* The call has ended with the last event, which is of its lane: make the steps;
   none if there were too many events. PF_ENOMEM. */
pf_status pf_path_end (pf_wait_path *path);

void pf_path_free (pf_wait_path *path);

#endif
