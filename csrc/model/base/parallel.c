/*
** parallel.c - starts POSIX threads and runs tasks in them.
*/

#include "model/base/parallel.h"

#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

#define MAX_THREADS 64 /* beside the caller's */

/* The tasks of pf_run_all. Each thread takes the next one until none is left. */
typedef struct queue {
  void (*task)(void *context);
  char *contexts;
  size_t size, count;
  atomic_size_t next;
} queue;


bool pf_thread_start (pthread_t *thread, void *(*run)(void *context),
                      void *context) {
  static const int faults[] = {SIGBUS, SIGSEGV, SIGFPE, SIGILL};
  sigset_t blocked, before;
  sigfillset(&blocked);
  for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
    sigdelset(&blocked, faults[i]);
  if (pthread_sigmask(SIG_SETMASK, &blocked, &before) != 0)
    return false;
  const bool started = pthread_create(thread, NULL, run, context) == 0;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return started;
}


static void *run_tasks (void *context) {
  queue *const q = context;
  size_t i;
  while ((i = atomic_fetch_add(&q->next, 1)) < q->count)
    q->task(q->contexts + i * q->size);
  return NULL;
}


void pf_run_all (void (*task)(void *context), void *contexts, size_t size,
                 size_t count) {
  const long processors = sysconf(_SC_NPROCESSORS_ONLN);
  queue q = {task, contexts, size, count, 1};
  pthread_t threads[MAX_THREADS];
  size_t started = 0;
  while (started < MAX_THREADS && started + 1 < count &&
         (long)started + 1 < processors &&
         pf_thread_start(&threads[started], run_tasks, &q))
    started++;
  if (count > 0)
    task(contexts);
  (void)run_tasks(&q);
  for (size_t i = 0; i < started; i++)
    pthread_join(threads[i], NULL);
}
