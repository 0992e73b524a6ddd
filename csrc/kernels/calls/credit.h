/*
** credit.h - most events of statistics: what they end is counted at once, and
** no row of it is made.
*/

#ifndef credit_h
#define credit_h

#include "kernels/calls/events.h"
#include "kernels/calls/groups.h"

/* Whether that may be done. */
bool pf_can_credit (const pf_machine *machine, const pf_groups *groups);

/* Take the packed rows of the events; the result is that of the machine and
   pf_groups_add. *slow: how many of them needed a closer look. PF_OK or
   PF_ENOMEM. */
pf_status pf_credit (pf_machine *machine, pf_groups *groups, pf_events *events,
                     size_t *slow);

#endif
