/*
** parallel.c - starts POSIX threads and runs tasks in them.
*/

#define _GNU_SOURCE /* sched_getaffinity */

#include "model/system/parallel.h"

#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#define MAX_THREADS 64 /* beside the caller's */
#define POLL_NS     50000000

/* The tasks of a run. Each thread takes the next one until none is left. */
typedef struct queue {
  void (*task)(void *context);
  char *contexts;
  size_t size, count;
  atomic_size_t next;
  pthread_mutex_t lock; /* protects `running` */
  pthread_cond_t ended; /* signalled when a thread ends */
  size_t running;       /* threads other than the caller's */
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


static void run_tasks (queue *q) {
  size_t i;
  while ((i = atomic_fetch_add(&q->next, 1)) < q->count)
    q->task(q->contexts + i * q->size);
}


static void *run_thread (void *context) {
  queue *const q = context;
  run_tasks(q);
  pthread_mutex_lock(&q->lock);
  q->running--;
  pthread_cond_signal(&q->ended);
  pthread_mutex_unlock(&q->lock);
  return NULL;
}


/* Wait at most POLL_NS for the other threads. Returns whether some are
   running. */
static bool wait_for_threads (queue *q) {
  struct timespec until;
  (void)clock_gettime(CLOCK_REALTIME, &until);
  until.tv_nsec += POLL_NS;
  until.tv_sec += until.tv_nsec / 1000000000;
  until.tv_nsec %= 1000000000;
  pthread_mutex_lock(&q->lock);
  if (q->running > 0)
    (void)pthread_cond_timedwait(&q->ended, &q->lock, &until);
  const bool more = q->running > 0;
  pthread_mutex_unlock(&q->lock);
  return more;
}


void pf_run_polled (void (*task)(void *context), void *contexts, size_t size,
                    size_t count, size_t threads, void (*poll)(void *context),
                    void *context) {
  queue q = {.task = task,
             .contexts = contexts,
             .size = size,
             .count = count,
             .next = 1,
             .lock = PTHREAD_MUTEX_INITIALIZER,
             .ended = PTHREAD_COND_INITIALIZER};
  pthread_t started[MAX_THREADS] = {0};
  const size_t wanted = threads < count ? threads : count;
  pthread_mutex_lock(&q.lock);
  while (q.running < MAX_THREADS && q.running + 1 < wanted &&
         pf_thread_start(&started[q.running], run_thread, &q))
    q.running++;
  const size_t nstarted = q.running;
  pthread_mutex_unlock(&q.lock);
  if (count > 0)
    task(contexts);
  run_tasks(&q);
  while (poll != NULL && wait_for_threads(&q))
    poll(context);
  for (size_t i = 0; i < nstarted; i++)
    pthread_join(started[i], NULL);
  pthread_cond_destroy(&q.ended);
  pthread_mutex_destroy(&q.lock);
}


size_t pf_processors (void) {
  cpu_set_t usable;
  if (sched_getaffinity(0, sizeof usable, &usable) == 0)
    return (size_t)CPU_COUNT(&usable);
  const long online = sysconf(_SC_NPROCESSORS_ONLN); /* more than 1,024 */
  return online > 0 ? (size_t)online : 1;
}


void pf_run_all (void (*task)(void *context), void *contexts, size_t size,
                 size_t count) {
  pf_run_polled(task, contexts, size, count, pf_processors(), NULL, NULL);
}
