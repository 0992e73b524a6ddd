/*
** chains.h - event chains: how long it takes from an event (the stimulus) over
** others to a last one (the response). Source: AUTOSAR, "Specification of
** Timing Extensions", LatencyTimingConstraint.
**
** Reaction: for each stimulus the time until the first response after it. The
** events between are the first of their step after the one before. A stimulus
** that comes while an earlier one has no response overlaps it, and both have
** the same response.
**
** Age: for each response the time since the latest stimulus. The events between
** are the last of their step before the one after. A stimulus is lost if a
** later one takes its place before a response.
**
** Used by lua/stages/timing_stages.c. The reader copies nothing: chains and
** events are borrowed until it is closed.
**
**   chains.c         the reader: instances of chains, and their rows
**   chain_steps.c    which steps an event is
**   chain_spans.c    instances as events
*/

#ifndef chains_h
#define chains_h

#include "kernels/base/pattern.h"
#include "kernels/calls/events.h"

#define PF_CHAIN_STEPS   64    /* the most of a chain */
#define PF_CHAIN_WAITING 65536 /* stimuli of a chain without a response */

/* A condition on the value of a write. */
typedef enum pf_chain_test {
  PF_TEST_NONE,
  PF_TEST_EQUAL,
  PF_TEST_UNEQUAL,
  PF_TEST_BELOW,
  PF_TEST_AT_MOST,
  PF_TEST_ABOVE,
  PF_TEST_AT_LEAST
} pf_chain_test;

typedef struct pf_chain_step {
  const char *area;          /* its name; of a write also the variable's */
  const pf_pattern *pattern; /* instead of a name, or NULL */
  const char *lane;          /* only in this lane, or NULL */
  const char *state;         /* of a write: the name of the state, or NULL */
  bool has_state_value;      /* or the number of the state */
  int64_t state_value;
  pf_event_kind kind;
  pf_chain_test test;
  double operand;
} pf_chain_step;

typedef struct pf_chain {
  const char *name;
  const pf_chain_step *steps;
  size_t nsteps; /* 2 to PF_CHAIN_STEPS */
  bool is_age;
  bool has_bound;
  int64_t bound; /* the longest time that is allowed, ns */
} pf_chain;

typedef struct pf_chain_options {
  const pf_chain *chains;
  size_t count;
  int64_t from, to; /* only those that begin at from <= time < to */
} pf_chain_options;

/*
** Open a reader over a table of events. Columns: chain, start, stop, duration
** (ns; missing: there is no response), waited (the duration, or how long the
** response was awaited), lane (of the stimulus), event_2 ... (the
** times of the events between), bound, late, overlaps (of a reaction: how
** many earlier stimuli had no response), lost (of an age: stimuli lost since
** the response before), longest_at (start of the longest row of the chain so
** far), flags: open (the trace ends before a response), gap
** (events are missing), unfollowed (too many stimuli wait). Rows come by stop,
** those without one last. A row without response is late if the trace is long
** enough to tell. PF_EUNSUPPORTED without the columns of events; PF_ENOMEM.
*/
pf_status pf_chains_open (pf_reader *events, const pf_chain_options *options,
                          pf_reader **reader, pf_error *error);

/*
** Open a reader over the rows of pf_chains_open, sorted by start, and of equal
** ones the longest first: events that enter and leave each instance, with the
** columns time, event, area (of class `chain`; "NAME", "NAME (late)" or "NAME
** (no response)", until the end of its wait) and lane ("chain NAME"; those that
** overlap without lying in each other lie in "chain NAME (2)" and so on). After
** the last one comes the event `end`. PF_EUNSUPPORTED; PF_ENOMEM.
*/
pf_status pf_chain_spans_open (pf_reader *instances, pf_reader **reader,
                               pf_error *error);

/* {====== chain_steps.c ====== */

/* Which steps the events of an area may be. */
typedef struct pf_step_table {
  const pf_chain_options *options; /* borrowed */
  pf_dictionary *dictionary;       /* borrowed */
  struct pf_step_names *names;     /* of all steps; owned */
  struct pf_step_link *links; /* owned, as all below; the first is unused */
  size_t nlinks, capacity;
  uint32_t *first; /* by area: a link + 1; 1: none; 0: not known */
  size_t first_capacity;
} pf_step_table;

/* Open a table, which is zeroed before. PF_ENOMEM; free it then too. */
pf_status pf_step_table_open (pf_step_table *table,
                              const pf_chain_options *options,
                              pf_dictionary *dictionary, pf_error *error);

/* Calls `take` for each step that an event is, those of a chain from the last
   to the first. PF_OK, PF_ENOMEM, or what `take` returns. */
typedef pf_status pf_take_step (void *context, size_t chain, size_t step,
                                int64_t time, uint32_t lane);

pf_status pf_steps_of (pf_step_table *table, const pf_events *events,
                       size_t row, pf_take_step *take, void *context,
                       pf_error *error);

void pf_step_table_free (pf_step_table *table);

/* }====== */

#endif
