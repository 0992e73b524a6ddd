/*
** parallel.c - several pieces of work at once, by POSIX threads.
*/

#include "model/parallel.h"

#include <signal.h>
#include <string.h>

#define MOST_THREADS 64                /* beside the caller's */
#define LONG         ((size_t)4 << 20) /* bytes that are worth a thread */

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


void pf_both (pf_task *first, void *first_context, pf_task *second,
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


void pf_all (pf_task *task, void *contexts, size_t size, size_t count) {
  pthread_t threads[MOST_THREADS];
  work works[MOST_THREADS];
  char *const first = contexts;
  size_t started = 0;
  while (started + 1 < count && started < MOST_THREADS) {
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


/* Bytes to be set. */
typedef struct stretch {
  uint8_t *at;
  size_t size;
  int value;
} stretch;


static void set_stretch (void *context) {
  const stretch *const s = context;
  memset(s->at, s->value, s->size);
}


void pf_set_bytes (void *array, int value, size_t bytes) {
  const size_t half = bytes < LONG ? bytes : bytes / 2;
  stretch first = {array, half, value};
  stretch second = {(uint8_t *)array + half, bytes - half, value};
  if (second.size > 0)
    pf_both(set_stretch, &first, set_stretch, &second);
  else
    set_stretch(&first);
}
