/*
** threads.c - clocks, threads and processors.
*/

#include "os/windows/wide.h"

#include <string.h>

#define SECOND 1000000000


int64_t os_now (os_clock clock) {
  if (clock == OS_THREAD_CPU)
    return wide_cpu_time(wide_sampled_thread());
  LARGE_INTEGER now, rate;
  QueryPerformanceCounter(&now);
  QueryPerformanceFrequency(&rate);
  return now.QuadPart / rate.QuadPart * SECOND +
         now.QuadPart % rate.QuadPart * SECOND / rate.QuadPart;
}


int64_t wide_cpu_time (HANDLE thread) {
  FILETIME begin, end, kernel, user;
  if (!GetThreadTimes(thread, &begin, &end, &kernel, &user))
    return 0;
  const uint64_t spent =
      ((uint64_t)kernel.dwHighDateTime << 32 | kernel.dwLowDateTime) +
      ((uint64_t)user.dwHighDateTime << 32 | user.dwLowDateTime);
  return (int64_t)(spent * 100);
}


int64_t os_cpu_time_of (pthread_t thread) {
  return wide_cpu_time((HANDLE)pthread_gethandle(thread));
}


bool os_has_fine_cpu_time (void) {
  return false;
}


bool os_has_counter (void) {
  return false;
}


void os_sleep (int64_t ns) {
  Sleep((DWORD)((ns + 999999) / 1000000));
}


bool os_date (time_t time, struct tm *date) {
  const struct tm *const found = gmtime(&time); /* of this thread */
  if (found != NULL)
    *date = *found;
  return found != NULL;
}


bool os_thread_start (pthread_t *thread, void *(*run)(void *context),
                      void *context) {
  return pthread_create(thread, NULL, run, context) == 0;
}


size_t os_processors (void) {
  SYSTEM_INFO system;
  GetSystemInfo(&system);
  return system.dwNumberOfProcessors > 0 ? system.dwNumberOfProcessors : 1;
}


bool os_condition_open (pthread_cond_t *condition) {
  return pthread_cond_init(condition, NULL) == 0;
}


void os_condition_wait (pthread_cond_t *condition, pthread_mutex_t *lock,
                        int64_t ns) {
  struct timespec until;
  (void)clock_gettime(CLOCK_REALTIME, &until);
  const int64_t end = until.tv_nsec + ns;
  until.tv_sec += (time_t)(end / SECOND);
  until.tv_nsec = (long)(end % SECOND);
  (void)pthread_cond_timedwait(condition, lock, &until);
}
