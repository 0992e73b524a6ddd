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

struct os_sampler {
  timer_t timer;
  pid_t process;
  struct sigaction before; /* the action of SIGPROF */
};

/* Signal handlers get no context. */
static _Atomic(void (*)(void)) on_tick;


static void handle (int number) {
  const int errnum = errno;
  void (*const tick)(void) = atomic_load(&on_tick);
  (void)number;
  if (tick != NULL)
    tick();
  errno = errnum;
}


os_sampler *os_sampler_open (os_clock clock, void (*tick)(void)) {
  struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID,
                           .sigev_signo = SIGPROF};
  struct sigaction action = {.sa_handler = handle, .sa_flags = SA_RESTART};
  os_sampler *const s = calloc(1, sizeof *s);
  if (s == NULL)
    return NULL;
  event.sigev_notify_thread_id = (pid_t)syscall(SYS_gettid);
  sigemptyset(&action.sa_mask);
  s->process = getpid();
  if (sigaction(SIGPROF, &action, &s->before) == 0) {
    if (timer_create(clock == OS_MONOTONIC ? CLOCK_MONOTONIC
                                           : CLOCK_THREAD_CPUTIME_ID,
                     &event, &s->timer) == 0) {
      atomic_store(&on_tick, tick);
      return s;
    }
    sigaction(SIGPROF, &s->before, NULL);
  }
  free(s);
  return NULL;
}


void os_sampler_set (os_sampler *s, int64_t ns) {
  const struct itimerspec next = {
      .it_value = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)}};
  timer_settime(s->timer, 0, &next, NULL);
}


/* SIGPROF is ignored for a moment, so that a pending signal does not meet the
   default action, which would end the process. */
void os_sampler_close (os_sampler *s) {
  struct sigaction ignore = {.sa_handler = SIG_IGN};
  if (s->process == getpid()) /* fork copies no timers */
    timer_delete(s->timer);
  sigaction(SIGPROF, &ignore, NULL);
  sigaction(SIGPROF, &s->before, NULL);
  atomic_store(&on_tick, NULL);
  free(s);
}
