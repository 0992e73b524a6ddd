/*
** jobs.h - the jobs of tasks: from the activation of a task to its termination,
** made of the states that it enters. Response time is the time between; it is
** the sum of the times in which the job is running, ready and waiting. Sources:
** OSEK/VDX 2.2.3, section 4.2 (states of tasks); AUTOSAR "Specification of
** Timing Extensions" (response time).
**
** Used by lua/stages/timing_stages.c. The reader copies nothing: names of
** states and events are borrowed until it is closed.
*/

#ifndef jobs_h
#define jobs_h

#include "kernels/calls/events.h"
#include "model/timeline/tasks.h"

/* The meaning of the name of a state; case does not matter. */
typedef struct pf_state_name {
  const char *text;
  pf_task_state state;
} pf_state_name;

typedef struct pf_jobs_options {
  const pf_state_name *names; /* later ones come first */
  size_t count;
  const char *const *running; /* variables whose state is the task that runs on
                                 a core; one that means terminated is none */
  size_t nrunning;
  int64_t core;     /* of tasks, if the events have none; -1: it is not known */
  bool until_wait;  /* a job also ends when it waits, and the next one begins
                      when that is released: for tasks that never terminate */
  int64_t from, to; /* only those that begin at from <= time < to */
} pf_jobs_options;

/*
** Open a reader over a table of events (kernels/calls/events.h). States are
** writes of areas with a parent; the part of their name after the last "=" or
** ": " is that of the state, what is before it is the task. Columns: task,
** activation, start (first running), stop (termination), response, delay (from
** activation to start), running, ready, waiting (ns), preemptions, period
** (since the activation before), core (of the start), longest_at (activation
** of the longest response of the task so far), flags: orphan (it was activated
** before the trace), unwound (another activation comes before the termination),
** gap (events are missing), open (it has not ended), unknown (it has entered a
** state without a meaning, whose name is in column unknown). Without an
** activation or termination there is no response. Rows come in the order in
** which jobs end, those that are open last. PF_EUNSUPPORTED without the columns
** of events; PF_ENOMEM.
*/
pf_status pf_jobs_open (pf_reader *events, const pf_jobs_options *options,
                        pf_reader **reader, pf_error *error);

/*
** Open a reader over a table of events: the jobs as calls of areas of class
** task, in a lane with the name of the task: enter where a job first runs,
** suspend and resume where it stops to run and runs again, leave where it ends;
** with the columns time, event, area, lane and core, in the order of events. A
** task that a variable in `running` states is entered and left each time that
** it gets a core and loses it; its core is the place of the variable, if the
** events have none. Of the options only these, the core and the names count.
*/
pf_status pf_task_calls_open (pf_reader *events, const pf_jobs_options *options,
                              pf_reader **reader, pf_error *error);

/* {====== state_areas.c ====== */

/* An area as a state of a task, or with PF_NO_TASK of none. Its meaning is
   PF_TASK_ANY if its name has none, but other states of the task have one. */
typedef struct pf_state_area {
  pf_task_state state;
  uint32_t task;     /* dense from 0 */
  uint32_t name;     /* of the task */
  uint32_t variable; /* in `running`, or UINT32_MAX: the state of one task */
  uint32_t unknown;  /* the name of a state without a meaning, or PF_NO_NAME */
} pf_state_area;

typedef struct pf_state_areas {
  const pf_jobs_options *options; /* borrowed */
  pf_dictionary *dictionary;      /* borrowed */
  pf_type type;                   /* of the column of areas */
  pf_id_table tasks;    /* words: names, or variables and a bit above them */
  pf_state_area *areas; /* owned, as below; by id of the area */
  uint32_t *known; /* 1 + the tasks there were when it was looked at, or 0 */
  size_t capacity, known_capacity;
} pf_state_areas;

/* The options and the events, which are open or failed to, are borrowed. */
void pf_state_areas_init (pf_state_areas *areas, const pf_jobs_options *options,
                          const pf_events *events);

/* PF_OK or PF_ENOMEM. */
pf_status pf_state_area_of (pf_state_areas *areas, uint32_t id,
                            pf_state_area *area, pf_error *error);

void pf_state_areas_free (pf_state_areas *areas);

/* }====== */

#endif
