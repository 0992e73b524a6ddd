/*
** scan.h - events through a machine into groups: all of them, or those of a
** part that begins anywhere.
**
** A part does not know which calls are open when it begins. It keeps apart
** what it sees of them: in each lane a piece for each that it leaves, and at
** the bottom of the stack one that it has met and not left. What it cannot
** tell so, it is stuck at; then its events are read again by the pass to which
** all parts before have been added. Either way the result is that of one pass
** over all.
*/

#ifndef scan_h
#define scan_h

#include "kernels/calls/events.h"
#include "kernels/calls/groups.h"

typedef struct pf_scan {
  pf_events events;
  pf_machine machine;
  pf_groups groups;
  bool is_open;
} pf_scan;

typedef struct pf_scan_options {
  pf_call_options calls;
  pf_group_by by;
  bool squares, quantiles;
} pf_scan_options;

/* Begin to read the events of a reader (borrowed). */
pf_status pf_scan_open (pf_scan *pass, pf_reader *reader,
                        const pf_scan_options *options, bool is_part,
                        pf_error *error);
void pf_scan_close (pf_scan *pass);

/* Read on: `rows` rows, which is a multiple of PF_BATCH_ROWS, or to the end.
   PF_MORE when there may be more, PF_END, PF_AGAIN or a failure. A part that
   is stuck reads no further. */
pf_status pf_scan_read (pf_scan *pass, uint64_t rows, pf_error *error);

/* There are no more events. PF_ENOMEM. */
pf_status pf_scan_finish (pf_scan *pass);

/*
** Add a part that has been read and begins where `pass` ends. Its result is
** *fits = false, and nothing has changed, when it must be read again.
** PF_ENOMEM.
*/
pf_status pf_scan_merge (pf_scan *pass, pf_scan *part, bool *fits);

#endif
