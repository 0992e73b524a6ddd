/*
** parallel.c - two pieces of work at once, by POSIX threads.
*/

#include "kernels/parallel.h"

#include <pthread.h>
#include <signal.h>

typedef struct work {
  pf_task *task;
  void *context;
} work;


static void *run (void *context) {
  const work *const w = context;
  w->task(w->context);
  return NULL;
}


/* Start a thread that no signal interrupts: those are for the one that runs
   Lua. Faults are not held back, they belong to who causes them. */
static bool start (pthread_t *thread, work *w) {
  sigset_t all, before;
  sigfillset(&all);
  sigdelset(&all, SIGBUS);
  sigdelset(&all, SIGSEGV);
  sigdelset(&all, SIGFPE);
  sigdelset(&all, SIGILL);
  if (pthread_sigmask(SIG_SETMASK, &all, &before) != 0)
    return false;
  const bool started = pthread_create(thread, NULL, run, w) == 0;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return started;
}


void pf_both (pf_task *first, void *first_context, pf_task *second,
              void *second_context) {
  work w = {second, second_context};
  pthread_t thread;
  const bool started = start(&thread, &w);
  first(first_context);
  if (started)
    pthread_join(thread, NULL);
  else
    second(second_context);
}
