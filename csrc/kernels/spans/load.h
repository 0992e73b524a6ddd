/*
** load.h - the load of lanes or cores in intervals of time of equal length.
** Used by csrc/lua/stages/event_stages.c. The reader copies the options, owns
** its memory and borrows the events until it is closed.
*/

#ifndef load_h
#define load_h

#include "model/rows/batch.h"

#define PF_MAX_LOAD_INTERVALS ((uint64_t)1 << 20)

typedef struct pf_load_options {
  int64_t from, to; /* ns, from <= time < to */
  int64_t width;    /* of an interval, above 0 ns; the last may be shorter */
  bool by_core;     /* for cores (column `core` of the events) instead of
                       lanes */
} pf_load_options;

/*
** Open a reader over a table of events (borrowed; its columns:
** kernels/calls/events.h). For each lane in the order of first occurrence it
** returns a row for each interval: start, stop, lane (or core), busy (ns in
** which a call was active) and load_share (busy divided by the length of the
** interval). From one event of a core to its next, the core is busy if the lane
** of the event was running right after it. A gap ends this at the last event
** before it. The first `next` reads the events.
** PF_EUNSUPPORTED without the columns of events or cores; PF_ELIMIT for more
** than PF_MAX_LOAD_INTERVALS intervals; PF_ENOMEM.
*/
pf_status pf_load_open (pf_reader *events, const pf_load_options *options,
                        pf_reader **reader, pf_error *error);

#endif
