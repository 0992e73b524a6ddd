/*
** parallel.h - several pieces of work at once.
*/

#ifndef parallel_h
#define parallel_h

#include <pthread.h>

#include "profio.h"

/*
** Start a thread that leaves all signals but those of its own faults to the
** others: their handlers may be Lua's. False when there is none to be had.
*/
bool pf_thread_start (pthread_t *thread, void *(*run)(void *context),
                      void *context);

/* Work on what the pointer leads to; it must not call Lua. */
typedef void pf_task (void *context);

/*
** Run both and come back when both are done: `second` in a thread of its own,
** or after `first` when there is none to be had. What one of them writes the
** other must not look at, so the results are the same either way.
*/
void pf_run_both (pf_task *first, void *first_context, pf_task *second,
                  void *second_context);

/*
** The same for `count` pieces of work: each context stands `size` bytes behind
** the one before. The first is done here, and so are those for which there is
** no thread to be had.
*/
void pf_run_all (pf_task *task, void *contexts, size_t size, size_t count);

/* Work on what has the numbers [from, to). */
typedef void pf_range_task (void *context, size_t from, size_t to);

/* Work on `count` things: in one part, or, where they are `many` or more, in two
   at once, as pf_run_both does: one from 0 on, and one from a later number on. */
void pf_run_halves (pf_range_task *task, void *context, size_t count,
                    size_t many);

/* memset, of a long array in two threads: memory that is touched for the first
   time is cleared by who touches it, and that takes longer than the rest. */
void pf_set_bytes (void *array, int value, size_t bytes);

#endif
