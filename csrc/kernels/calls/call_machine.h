/*
** call_machine.h - events in, calls out. It knows stacks and no columns; what is
** done with the calls is its user's business.
*/

#ifndef call_machine_h
#define call_machine_h

#include "kernels/calls/details.h"
#include "kernels/calls/lanes.h"
#include "model/packed.h"

/* Events in the order of the file. Lanes are numbers from 0. */
typedef struct pf_event_rows {
  const int64_t *times;
  const uint8_t *kinds;
  const uint32_t *areas;
  const uint32_t *lanes;
  const uint8_t *flags; /* of pf_call_flag, or NULL */
} pf_event_rows;

typedef struct pf_machine {
  pf_call_options options;
  pf_lanes lanes;
  int64_t first, last; /* of all times */
  bool has_begun;
  bool is_before;    /* the range asked for has not begun */
  bool is_behind;    /* it has ended */
  bool is_part;      /* what was entered before is not known: scan.h */
  bool needs_reread; /* a part that cannot be told without it */
  bool has_stacks; /* calls have their stacks: set it before the first event */
  pf_details *details; /* calls have these: set it before the first event;
                          borrowed; NULL: they have none */
  bool is_out_of_memory;
  uint32_t epoch;  /* how many gaps there were */
  uint32_t losses; /* how often events were lost */
  size_t open;     /* calls on all stacks */
  pf_lane *busy;   /* lanes with open calls, the latest first */
  pf_call *calls;  /* made by the last pf_machine_process or _finish */
  size_t ncalls, room;
} pf_machine;

void pf_machine_init (pf_machine *machine, const pf_call_options *options,
                      pf_dictionary *dictionary, bool has_areas);
void pf_machine_free (pf_machine *machine);

/* Take events from..to-1; their calls are in machine->calls then, in order of
   stop. PF_OK or PF_ENOMEM. */
pf_status pf_machine_process (pf_machine *machine, const pf_event_rows *rows,
                              size_t from, size_t to);

/* There are no more events: the calls that are still open. */
pf_status pf_machine_finish (pf_machine *machine);

/* Forget the calls made, and make room for `count` more. PF_ENOMEM. */
pf_status pf_machine_reserve (pf_machine *machine, size_t count);

#endif
