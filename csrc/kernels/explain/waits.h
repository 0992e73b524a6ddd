/*
** waits.h - attributes the time in which functions are suspended to what runs
** on their core meanwhile. Used by explain.c, which owns the pf_waits;
** pf_waits_free frees its arrays.
**
** A function waits on the core of the event after which it was innermost in its
** lane and suspended, until the next event of the lane. Of each core it is
** known what runs: the lane of an event that is running after it, until an
** event after which that lane is not running or is on another core, or another
** lane runs. A runner is such a lane and its outermost function. Each event
** takes constant time, and the time of as many additions as functions wait on
** a core when its runner changes.
*/

#ifndef waits_h
#define waits_h

#include "kernels/explain/open_calls.h"
#include "kernels/explain/subtrees.h"

typedef struct pf_wait_lane {
  uint32_t core;   /* of its last event; 0: unknown */
  uint32_t runner; /* id + 1 of the runner with `area`, or 0 */
  uint32_t area;   /* its outermost function */
  uint32_t node;   /* of the function that waits */
  bool is_waiting;
  int64_t since;       /* until then its wait is attributed */
  uint32_t next, prev; /* lanes that wait on the core, + 1, or 0 */
} pf_wait_lane;

typedef struct pf_wait_core {
  uint32_t lane, runner; /* what runs, + 1, or 0 */
  uint32_t first;        /* the first lane that waits, + 1, or 0 */
} pf_wait_core;

/* The results are additions to `open` at nodes of `trees`, both borrowed.
   Initialise with zeros, then the tables with pf_id_table_init. */
typedef struct pf_waits {
  pf_open_calls *open;
  pf_subtrees *trees;
  pf_id_table core_ids; /* words of cores */
  pf_id_table runners;  /* words: lane and area */
  pf_wait_core *cores;  /* by id + 1; 0: unknown */
  size_t ncores;
  pf_wait_lane *lanes; /* by lane id */
  size_t nlanes;
} pf_waits;

/* Set *core to the number of a core, or to 0 if the column has no value of 0 or
   more in the row. PF_ENOMEM. */
pf_status pf_waits_core (pf_waits *waits, const pf_column *column, size_t row,
                         uint32_t *core);

/* Call it before the machine processes an event of a lane: what has waited
   there until `time`, in ns, waits no longer. PF_ENOMEM. */
pf_status pf_waits_before (pf_waits *waits, uint32_t lane, int64_t time);

/* Call it after the machine has processed the event. PF_ENOMEM. */
pf_status pf_waits_after (pf_waits *waits, const pf_machine *machine,
                          uint32_t lane, uint32_t core, int64_t time);

/* Nothing waits or runs any more: what follows is not related to the events so
   far. */
void pf_waits_reset (pf_waits *waits);

void pf_waits_free (pf_waits *waits);

#endif
