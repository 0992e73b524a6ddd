/*
** parallel.h - runs independent computations in POSIX threads. Tasks must not
** call Lua and must not access what another task writes, so results do not
** depend on the number of threads: if no thread can be started, the caller runs
** the task itself.
*/

#ifndef parallel_h
#define parallel_h

#include <pthread.h>

#include "profio.h"

/* Start a thread with all signals blocked but SIGBUS, SIGSEGV, SIGFPE and
   SIGILL, since signal handlers may call Lua. False: it cannot be started. */
bool pf_thread_start (pthread_t *thread, void *(*run)(void *context),
                      void *context);

typedef void pf_task (void *context);

/* Run two tasks and wait for both: `first` in the caller, `second` in a
   thread. */
void pf_run_both (pf_task *first, void *first_context, pf_task *second,
                  void *second_context);

/* Run a task for each of `count` contexts of `size` bytes in an array, and wait
   for all: the first in the caller, the others in threads. */
void pf_run_all (pf_task *task, void *contexts, size_t size, size_t count);

/* A task for the indices [from, to). */
typedef void pf_range_task (void *context, size_t from, size_t to);

/* Run a task for the indices [0, count). If there are `many` or more, the range
   is halved and both halves run at the same time (`from` is 0 in the first
   only). */
void pf_run_halves (pf_range_task *task, void *context, size_t count,
                    size_t many);

/* memset; a long array is set in two threads. For new memory the page faults
   take longer than the writes, and a page fault is served by the thread that
   has it. */
void pf_set_bytes (void *array, int value, size_t bytes);

#endif
