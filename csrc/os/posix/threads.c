/*
** threads.c - clocks, threads and processors.
*/

#define _GNU_SOURCE /* sched_getaffinity */

#include "os/os.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#define SECOND 1000000000

/* The name of the processor's counter in the kernel's list of clock sources. */
#if defined(__x86_64__)
#define COUNTER "tsc\n"
#elif defined(__aarch64__)
#define COUNTER "arch_sys_counter\n"
#else
#define COUNTER ""
#endif


static int64_t read_clock (clockid_t clock) {
  struct timespec t = {0, 0};
  (void)clock_gettime(clock, &t);
  return (int64_t)t.tv_sec * SECOND + t.tv_nsec;
}


int64_t os_now (os_clock clock) {
  return read_clock(clock == OS_MONOTONIC ? CLOCK_MONOTONIC
                                          : CLOCK_THREAD_CPUTIME_ID);
}


int64_t os_cpu_time_of (pthread_t thread) {
  clockid_t clock;
  return pthread_getcpuclockid(thread, &clock) == 0 ? read_clock(clock) : 0;
}


bool os_has_fine_cpu_time (void) {
  return true;
}


bool os_has_counter (void) {
  static const char path[] =
      "/sys/devices/system/clocksource/clocksource0/current_clocksource";
  char name[32];
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return false;
  const int64_t size = os_read(fd, name, sizeof name, OS_HERE);
  close(fd);
  return size > 0 && (size_t)size == strlen(COUNTER) &&
         memcmp(name, COUNTER, (size_t)size) == 0;
}


void os_sleep (int64_t ns) {
  const struct timespec time = {(time_t)(ns / SECOND), (long)(ns % SECOND)};
  nanosleep(&time, NULL);
}


bool os_date (time_t time, struct tm *date) {
  return gmtime_r(&time, date) != NULL;
}


bool os_thread_start (pthread_t *thread, void *(*run)(void *context),
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


size_t os_processors (void) {
#ifdef CPU_COUNT
  cpu_set_t usable;
  if (sched_getaffinity(0, sizeof usable, &usable) == 0)
    return (size_t)CPU_COUNT(&usable);
#endif
  const long online = sysconf(_SC_NPROCESSORS_ONLN); /* more than 1,024 */
  return online > 0 ? (size_t)online : 1;
}


/* The monotonic clock cannot be set back. */
bool os_condition_open (pthread_cond_t *condition) {
  pthread_condattr_t monotonic;
  if (pthread_condattr_init(&monotonic) != 0)
    return false;
  pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
  const bool done = pthread_cond_init(condition, &monotonic) == 0;
  pthread_condattr_destroy(&monotonic);
  return done;
}


void os_condition_wait (pthread_cond_t *condition, pthread_mutex_t *lock,
                        int64_t ns) {
  const int64_t end = os_now(OS_MONOTONIC) + ns;
  const struct timespec until = {(time_t)(end / SECOND), (long)(end % SECOND)};
  (void)pthread_cond_timedwait(condition, lock, &until);
}
