/*
** relay.h - a table into a sink, the reading and the computing in two threads.
**
** Batches are pulled in the thread of the caller, since a reader may be a
** decoder or a filter written in Lua, or one that interns names or warns: such
** stages never run in a second thread. What the sink makes of a batch touches
** none of that, so a second thread does it, batch for batch in their order:
** the numbers and their order never depend on timing. A small table is done
** in one thread, and so is every table when there is no second one to have.
*/

#ifndef relay_h
#define relay_h

#include "kernels/pull.h"

#define PF_RELAY_LOADS 16 /* batches under way, at most */

typedef struct pf_relay {
  const pf_want *wants;
  size_t nwants;
  bool *wanted; /* in place of these: the fields, as of pf_pull_fields */
  int sparse;   /* the wanted column whose rows of 0 may be left out; or -1 */
  size_t notes; /* how many notes `prepare` makes of a batch */
  /* Look at a batch in the caller's thread; or NULL. Must not touch what
     `take` changes. */
  void (*prepare)(void *context, const pf_pull *pull, uint32_t *notes);
  /* When many batches wait to be taken, do in the caller's thread what `take`
     would do with this one and needs none before it for; the notes tell `take`
     of it. The batch has place `number` among PF_RELAY_LOADS: no other that is
     under way has it. Must not touch what `take` changes. Or NULL. */
  void (*help)(void *context, const pf_pull *pull, size_t number,
               uint32_t *notes);
  /* Take a batch and its notes, in any one thread: no Lua, no trace, of the
     dictionary only the names and areas of the batch. */
  pf_status (*take)(void *context, const pf_pull *pull, const uint32_t *notes,
                    pf_error *error);
  void *context;
  bool *has_paused; /* set to whether a live file has no more yet; or NULL */
} pf_relay;

/* Read a reader to its end. PF_OK, or the failure of `take`, or that of the
   reader; what came before it has been taken. */
pf_status pf_relay_read (const pf_relay *relay, pf_reader *reader,
                         pf_error *error);

#endif
