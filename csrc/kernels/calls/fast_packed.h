/*
** fast_packed.h - packed events: of statistics, where what most of them end is counted
** at once and no row of it is made; and of calls.
*/

#ifndef fast_packed_h
#define fast_packed_h

#include "kernels/calls/events.h"
#include "kernels/calls/groups.h"

/* Whether that may be done, where all events lie before the end of the range
   asked for; and whether the packed rows do not. */
bool pf_fast_path_applies (const pf_machine *machine, const pf_groups *groups);
bool pf_ends_after_range (const pf_machine *machine, const pf_events *events);

/* Take the packed rows of the events; the result is that of the machine and
   pf_groups_add. PF_OK or PF_ENOMEM. */
pf_status pf_accumulate_packed (pf_machine *machine, pf_groups *groups,
                                pf_events *events);

/* Take the packed rows from..to-1 of events of which none lies outside the
   range asked for, as pf_machine_process does. PF_OK or PF_ENOMEM. */
pf_status pf_process_packed (pf_machine *machine, pf_events *events,
                             size_t from, size_t to);

#endif
