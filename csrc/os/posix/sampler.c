/*
** sampler.c - a timer that sends SIGPROF to the thread that has opened it.
*/

#define _DEFAULT_SOURCE /* syscall */

#include "os/os.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The member for SIGEV_THREAD_ID: old headers of glibc lack its public name. */
#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

#define LEAST 20000 /* ns of a further wait */

/* A timer of CPU time only ends when the kernel looks, which is every few ms.
   So ticks of CPU time come from a timer of time; while the thread waits, that
   of CPU time takes over, which does not interrupt it. */
struct os_sampler {
  timer_t timer; /* of time */
  timer_t idle;  /* of CPU time, if ticks are of it */
  os_clock clock;
  int64_t due;     /* CPU time of the next tick */
  int64_t checked; /* CPU time when the timer was set */
  int64_t wait;    /* ns for which it was set */
  void (*tick)(void);
  pid_t process;
  struct sigaction before; /* the action of SIGPROF */
};

/* Signal handlers get no context. */
static _Atomic(os_sampler *) current;


static void set_timer (timer_t timer, int64_t ns) {
  const struct itimerspec next = {
      .it_value = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)}};
  timer_settime(timer, 0, &next, NULL);
}


/* Waits for the rest of the CPU time. Returns false if there is none. */
static bool wait_on (os_sampler *s) {
  const int64_t now = os_now(OS_THREAD_CPU), left = s->due - now;
  if (left <= 0)
    return false;
  const bool has_waited = (now - s->checked) * 16 < s->wait;
  s->checked = now;
  s->wait = left < LEAST ? LEAST : left;
  set_timer(has_waited ? s->idle : s->timer, s->wait);
  return true;
}


static void handle (int number) {
  const int errnum = errno;
  os_sampler *const s = atomic_load(&current);
  (void)number;
  if (s != NULL && (s->clock == OS_MONOTONIC || !wait_on(s)))
    s->tick();
  errno = errnum;
}


static bool make_timer (clockid_t clock, timer_t *timer) {
  struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID,
                           .sigev_signo = SIGPROF};
  event.sigev_notify_thread_id = (pid_t)syscall(SYS_gettid);
  return timer_create(clock, &event, timer) == 0;
}


os_sampler *os_sampler_open (os_clock clock, void (*tick)(void)) {
  struct sigaction action = {.sa_handler = handle, .sa_flags = SA_RESTART};
  os_sampler *const s = calloc(1, sizeof *s);
  if (s == NULL)
    return NULL;
  sigemptyset(&action.sa_mask);
  s->clock = clock;
  s->tick = tick;
  s->process = getpid();
  if (sigaction(SIGPROF, &action, &s->before) == 0) {
    if (make_timer(CLOCK_MONOTONIC, &s->timer)) {
      if (clock == OS_MONOTONIC ||
          make_timer(CLOCK_THREAD_CPUTIME_ID, &s->idle)) {
        atomic_store(&current, s);
        return s;
      }
      timer_delete(s->timer);
    }
    sigaction(SIGPROF, &s->before, NULL);
  }
  free(s);
  return NULL;
}


void os_sampler_set (os_sampler *s, int64_t ns) {
  if (s->clock == OS_THREAD_CPU) {
    s->checked = os_now(OS_THREAD_CPU);
    s->due = s->checked + ns;
    s->wait = ns;
  }
  set_timer(s->timer, ns);
}


/* SIGPROF is ignored for a moment, so that a pending signal does not meet the
   default action, which would end the process. */
void os_sampler_close (os_sampler *s) {
  struct sigaction ignore = {.sa_handler = SIG_IGN};
  if (s->process == getpid()) { /* fork copies no timers */
    timer_delete(s->timer);
    if (s->clock == OS_THREAD_CPU)
      timer_delete(s->idle);
  }
  sigaction(SIGPROF, &ignore, NULL);
  sigaction(SIGPROF, &s->before, NULL);
  atomic_store(&current, NULL);
  free(s);
}
