/*
** parallel.c - starts POSIX threads and runs tasks in them.
*/

#include "model/base/parallel.h"

#include <signal.h>
#include <string.h>

#define MAX_THREADS 64                /* beside the caller's */
#define LONG        ((size_t)4 << 20) /* bytes that are worth a thread */

typedef struct work {
  pf_task *task;
  void *context;
} work;


static void *run (void *context) {
  const work *const w = context;
  w->task(w->context);
  return NULL;
}


bool pf_thread_start (pthread_t *thread, void *(*run_it)(void *context),
                      void *context) {
  static const int faults[] = {SIGBUS, SIGSEGV, SIGFPE, SIGILL};
  sigset_t blocked, before;
  sigfillset(&blocked);
  for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
    sigdelset(&blocked, faults[i]);
  if (pthread_sigmask(SIG_SETMASK, &blocked, &before) != 0)
    return false;
  const bool started = pthread_create(thread, NULL, run_it, context) == 0;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return started;
}


void pf_run_both (pf_task *first, void *first_context, pf_task *second,
                  void *second_context) {
  work w = {second, second_context};
  pthread_t thread;
  const bool started = pf_thread_start(&thread, run, &w);
  first(first_context);
  if (started)
    pthread_join(thread, NULL);
  else
    second(second_context);
}


void pf_run_all (pf_task *task, void *contexts, size_t size, size_t count) {
  pthread_t threads[MAX_THREADS];
  work works[MAX_THREADS];
  char *const first = contexts;
  size_t started = 0;
  while (started + 1 < count && started < MAX_THREADS) {
    works[started] = (work){task, first + (started + 1) * size};
    if (!pf_thread_start(&threads[started], run, &works[started]))
      break;
    started++;
  }
  for (size_t i = 0; i < count; i += i == 0 ? started + 1 : 1)
    task(first + i * size);
  for (size_t i = 0; i < started; i++)
    pthread_join(threads[i], NULL);
}


typedef struct range_call {
  pf_range_task *task;
  void *context;
  size_t from, to;
} range_call;


static void run_range (void *context) {
  const range_call *const s = context;
  s->task(s->context, s->from, s->to);
}


void pf_run_halves (pf_range_task *task, void *context, size_t count,
                    size_t many) {
  const size_t half = count < many ? count : count / 2;
  range_call first = {task, context, 0, half};
  range_call second = {task, context, half, count};
  if (half < count)
    pf_run_both(run_range, &first, run_range, &second);
  else
    run_range(&first);
}


typedef struct filling {
  uint8_t *at;
  int value;
} filling;


static void fill (void *context, size_t from, size_t to) {
  const filling *const f = context;
  memset(f->at + from, f->value, to - from);
}


void pf_set_bytes (void *array, int value, size_t bytes) {
  filling f = {array, value};
  pf_run_halves(fill, &f, bytes, LONG);
}
