/*
** parallel.c - runs tasks in threads.
*/

#include "model/system/parallel.h"
#include "os/os.h"

#include <stdatomic.h>

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
  pthread_mutex_lock(&q->lock);
  if (q->running > 0)
    os_condition_wait(&q->ended, &q->lock, POLL_NS);
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
             .lock = PTHREAD_MUTEX_INITIALIZER};
  pthread_t started[MAX_THREADS] = {0};
  const size_t wanted = threads < count ? threads : count;
  const bool can_wait = os_condition_open(&q.ended);
  pthread_mutex_lock(&q.lock);
  while (can_wait && q.running < MAX_THREADS && q.running + 1 < wanted &&
         os_thread_start(&started[q.running], run_thread, &q))
    q.running++;
  const size_t nstarted = q.running;
  pthread_mutex_unlock(&q.lock);
  if (count > 0)
    task(contexts);
  run_tasks(&q);
  while (poll != NULL && can_wait && wait_for_threads(&q))
    poll(context);
  for (size_t i = 0; i < nstarted; i++)
    pthread_join(started[i], NULL);
  if (can_wait)
    pthread_cond_destroy(&q.ended);
  pthread_mutex_destroy(&q.lock);
}


void pf_run_all (void (*task)(void *context), void *contexts, size_t size,
                 size_t count) {
  pf_run_polled(task, contexts, size, count, os_processors(), NULL, NULL);
}


pf_status pf_interrupted (pf_error *error) {
  return pf_fail(error, PF_EIO, PF_NO_OFFSET, "interrupted by Ctrl-C");
}
