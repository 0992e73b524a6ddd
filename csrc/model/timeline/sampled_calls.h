/*
** sampled_calls.h - calls from stacks that were sampled in time: a frame that
** is in a stack of a lane and in the next one is one call, if all frames around
** it are the same. A stack lasts until the next one of its lane, but not longer
** than stated. So a call that ends and begins again between two samples is one,
** and one that was never sampled is none.
**
** Used by the formats cpuprofile and perfscript. Order of calls: new; step
** until it returns PF_END; close. Samples come by time; one that is earlier
** than the one before it counts from there. Memory grows with lanes and depth.
*/

#ifndef sampled_calls_h
#define sampled_calls_h

#include "model/dictionary/stacks.h"
#include "model/rows/put_values.h"

typedef struct pf_sampled pf_sampled;

/* The columns of a table of such calls. */
#define PF_SAMPLED_LIST(X, T)                                         \
  X(T, time, INT, "time of the first sample that shows it, ns")       \
  X(T, event, NAME, "enter or leave; end: when the last stack ended") \
  X(T, area, AREA, "the function")                                    \
  X(T, lane, NAME, "the thread")
PF_COLUMN_INDEXES(PF_SAMPLED);
extern const pf_field pf_sampled_fields[PF_SAMPLED_COLUMNS];

/* A note for each such table. */
#define PF_SAMPLED_NOTE                                                       \
  "calls are those that samples show: shorter ones are missing, and several " \
  "may be one"

/* NULL when out of memory. The dictionary is borrowed. */
pf_sampled *pf_sampled_new (pf_dictionary *dictionary);
void pf_sampled_close (pf_sampled *sampled); /* or NULL */

/* A sample of a lane, with its stack or PF_NO_STACK, that lasts at most until a
   time. */
typedef struct pf_sample {
  uint32_t lane, stack;
  int64_t time, until;
} pf_sample;

/* Sets *sample to the next one of a reader. PF_MORE; PF_AGAIN: what was read is
   none; PF_END, or a failure. */
typedef pf_status pf_next_sample (pf_reader *reader, pf_sample *sample,
                                  pf_error *error);

/* A step of the reader of such a table: adds a row, or reads a sample. */
pf_status pf_sampled_step (pf_sampled *sampled, pf_reader *reader,
                           pf_next_sample *next, pf_batch *batch,
                           pf_error *error);

#endif
