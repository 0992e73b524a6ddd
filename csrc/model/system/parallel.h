/*
** parallel.h - threads. They are used in two ways: a pipeline
** (kernels/base/pipeline.h, and gzip.h for bytes) reads in one thread and
** computes in another; pf_run_all and pf_run_polled run independent tasks at
** once, such as chunks whose results are merged afterwards. The ring consumer
** of a writer is a thread of its own, since it outlives the calls of the
** producer.
**
** Tasks must not call Lua and must not access what another task writes, so
** results do not depend on the number of threads. If no thread can be started,
** pf_run_all and pf_run_polled run all tasks in the caller.
**
** Used by model, kernels, formats/pprof, store and lua. Contexts are borrowed
** until their tasks have ended.
*/

#ifndef parallel_h
#define parallel_h

#include "os/os.h"
#include "profio.h"

/* Run a task for each of `count` contexts of `size` bytes in an array, and wait
   for all. The caller runs the first task and takes part in the others; with it
   there are at most as many threads as usable processors, and at most 65. */
void pf_run_all (void (*task)(void *context), void *contexts, size_t size,
                 size_t count);

/* The same in at most `threads` threads, the caller's included. While the
   caller waits for others, it calls `poll` (NULL: nothing) with `context` about
   20 times a second. */
void pf_run_polled (void (*task)(void *context), void *contexts, size_t size,
                    size_t count, size_t threads, void (*poll)(void *context),
                    void *context);

/* Fill `error` with "interrupted by Ctrl-C"; return PF_EIO. For long loops that
   ask os_is_interrupted. */
pf_status pf_interrupted (pf_error *error);

#endif
