/*
** pipeline.h - reads a table in the caller's thread and processes its batches
** in a worker thread. Used by sinks: graphs, contexts, statistics, groups of
** calls and row output.
**
** Readers always run in the caller's thread, because they may call Lua, intern
** names or add warnings. `process` does none of that and runs in the worker
** thread, one batch after the other in the order of the table, so the result
** does not depend on timing. The thread is started at the first large batch
** after the first four; until then, and if it cannot be started, batches are
** processed in the caller's thread: those of many small files are not worth
** waking one. pf_pipeline_run joins the thread and frees the slots before it
** returns; it borrows all members of the pipeline until then.
*/

#ifndef pipeline_h
#define pipeline_h

#include "kernels/base/pull.h"

#define PF_PIPELINE_SLOTS 16 /* batches that are read but not yet processed */

typedef struct pf_pipeline {
  const pf_want *wants; /* the columns to read */
  size_t nwants;
  bool *wanted;       /* instead of `wants`: the fields, as in pf_pull_fields */
  const char *weight; /* a column: the reader may leave out rows in which it is
                         0; or NULL */
  size_t notes;       /* words that `prepare` may write for each batch */
  /* Optional: inspect a batch in the caller's thread. Must not touch what
     `process` changes. */
  void (*prepare)(void *context, const pf_pull *pull, uint32_t *notes);
  /* Optional, called when half of the slots are queued: do in the caller's
     thread the part of `process` that does not depend on earlier batches, and
     write into `notes` that it is done. `slot` is below PF_PIPELINE_SLOTS and
     differs between all batches that are not yet processed. Must not touch what
     `process` changes. */
  void (*process_in_caller)(void *context, const pf_pull *pull, size_t slot,
                            uint32_t *notes);
  /* Process a batch and its notes, in either thread but never in both at once.
     May not use Lua or the trace, and of the dictionary only the names and
     areas of the batch. */
  pf_status (*process)(void *context, const pf_pull *pull,
                       const uint32_t *notes, pf_error *error);
  bool in_caller;   /* start no thread: `process` also uses the stacks of the
                     dictionary, which move when the reader adds some */
  void *context;    /* passed to the callbacks */
  bool *has_paused; /* if not NULL, set to whether the reader ended with
                       PF_AGAIN, as for a live file */
} pf_pipeline;

/* Read a reader (borrowed) to its end. Returns PF_OK; the failure of `process`;
   that of the reader, after the batches before it have been processed; or those
   of pf_pull_open and pf_pull_fields. */
pf_status pf_pipeline_run (const pf_pipeline *pipeline, pf_reader *reader,
                           pf_error *error);

#endif
