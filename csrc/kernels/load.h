/*
** load.h - how busy lanes or cores were, in pieces of time of one length.
*/

#ifndef load_h
#define load_h

#include "model/batch.h"

#define PF_MAX_LOAD_INTERVALS ((uint64_t)1 << 20)

typedef struct pf_load_options {
  int64_t from, to; /* what is told of: from <= time < to */
  int64_t width;    /* of a piece; the last one may be shorter */
  bool by_core;     /* of cores: the column `core` of the events */
} pf_load_options;

/*
** A reader over a table of events (borrowed; kernels/calls/events.h has its
** columns) that yields for each lane in the order of first sight, piece by
** piece: start, stop, lane (or core), busy (ns in which a call was active) and
** load_share (busy as a part of the piece). A core is busy while the lane that
** was last heard of on it is. The events are read at the first batch.
** PF_EUNSUPPORTED: they are no events, or tell no cores; PF_ELIMIT: more than
** PF_MAX_LOAD_INTERVALS pieces.
*/
pf_status pf_load_open (pf_reader *events, const pf_load_options *options,
                        pf_reader **reader, pf_error *error);

#endif
