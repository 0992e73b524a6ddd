/*
** sampler.c - a thread that waits for a tick, suspends the thread that has
** opened the timer, calls the function, and lets that thread go on.
*/

#include "os/windows/wide.h"

#include <string.h>

struct os_sampler {
  HANDLE sampled; /* the thread that is interrupted */
  HANDLE sampling;
  HANDLE timer, stop;
  os_clock clock;
  int64_t due; /* CPU time of the next tick */
  void (*tick)(void);
};

/* The sampler whose tick runs in this thread: clocks are those of the sampled
   thread then. */
static _Thread_local os_sampler *in_tick;


HANDLE wide_sampled_thread (void) {
  return in_tick == NULL ? GetCurrentThread() : in_tick->sampled;
}


static void set_timer (os_sampler *s, int64_t ns) {
  const LARGE_INTEGER after = {.QuadPart = -(ns + 99) / 100};
  SetWaitableTimer(s->timer, &after, 0, NULL, NULL, FALSE);
}


/* Returns the ns up to the tick that are left of CPU time; 0: it is due. */
static int64_t left_of (const os_sampler *s) {
  if (s->clock == OS_MONOTONIC)
    return 0;
  const int64_t left = s->due - wide_cpu_time(s->sampled);
  return left < 0 ? 0 : left;
}


/* The context of the thread is asked for, because only then it has stopped. It
   may hold any lock, such as that of the heap, from which the first use of a
   variable of this thread takes memory. */
static void interrupt (os_sampler *s) {
  CONTEXT context = {.ContextFlags = CONTEXT_CONTROL};
  in_tick = s;
  if (SuspendThread(s->sampled) != (DWORD)-1) {
    (void)GetThreadContext(s->sampled, &context);
    s->tick();
    ResumeThread(s->sampled);
  }
  in_tick = NULL;
}


static DWORD WINAPI run (void *context) {
  os_sampler *const s = context;
  const HANDLE events[] = {s->stop, s->timer};
  while (WaitForMultipleObjects(2, events, FALSE, INFINITE) ==
         WAIT_OBJECT_0 + 1) {
    const int64_t left = left_of(s);
    if (left > 0)
      set_timer(s, left);
    else
      interrupt(s);
  }
  return 0;
}


static void free_all (os_sampler *s) {
  const HANDLE handles[] = {s->sampled, s->sampling, s->timer, s->stop};
  for (int i = 0; i < 4; i++)
    if (handles[i] != NULL)
      CloseHandle(handles[i]);
  free(s);
}


os_sampler *os_sampler_open (os_clock clock, void (*tick)(void)) {
  const HANDLE self = GetCurrentProcess();
  os_sampler *const s = calloc(1, sizeof *s);
  if (s == NULL)
    return NULL;
  s->clock = clock;
  s->tick = tick;
  s->timer = CreateWaitableTimerW(NULL, FALSE, NULL);
  s->stop = CreateEventW(NULL, TRUE, FALSE, NULL);
  if (s->timer != NULL && s->stop != NULL &&
      DuplicateHandle(self, GetCurrentThread(), self, &s->sampled, 0, FALSE,
                      DUPLICATE_SAME_ACCESS))
    s->sampling = CreateThread(NULL, 0, run, s, 0, NULL);
  if (s->sampling != NULL) {
    SetThreadPriority(s->sampling, THREAD_PRIORITY_TIME_CRITICAL);
    return s;
  }
  free_all(s);
  return NULL;
}


void os_sampler_set (os_sampler *s, int64_t ns) {
  if (s->clock == OS_THREAD_CPU)
    s->due = wide_cpu_time(s->sampled) + ns;
  set_timer(s, ns);
}


void os_sampler_close (os_sampler *s) {
  SetEvent(s->stop);
  WaitForSingleObject(s->sampling, INFINITE);
  free_all(s);
}
