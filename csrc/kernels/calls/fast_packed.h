/*
** fast_packed.h - processes packed events (model/rows/packed.h) on the fast
** path: for statistics most calls are accumulated where they end, without a
** pf_call; for rows of calls they become rows of the machine. Used by scan.c
** and calls.c.
*/

#ifndef fast_packed_h
#define fast_packed_h

#include "kernels/calls/events.h"
#include "kernels/statistics/groups.h"

/* Whether pf_accumulate_packed may be used for batches whose events all lie
   before the end of the range; and whether the packed batch at hand reaches
   beyond it. */
bool pf_fast_path_applies (const pf_machine *machine, const pf_groups *groups);
bool pf_ends_after_range (const pf_machine *machine, const pf_events *events);

/* Process all packed rows and accumulate their calls. The result equals that of
   pf_machine_process and pf_groups_add. PF_OK or PF_ENOMEM. */
pf_status pf_accumulate_packed (pf_machine *machine, pf_groups *groups,
                                pf_events *events);

/* As pf_machine_process for the packed rows from..to-1, all of which lie within
   the range. PF_OK or PF_ENOMEM. */
pf_status pf_process_packed (pf_machine *machine, pf_events *events,
                             size_t from, size_t to);

#endif
