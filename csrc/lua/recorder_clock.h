/*
** recorder_clock.h - the clock of a recorder, in ns. Reading the system's clock is
** half of the cost of an empty hook, and reading the processor time of a thread
** is a system call. Where the system counts the ticks of a counter which a program
** may read itself, and which goes at one rate on all cores, the ticks are read
** instead, and the system's clock now and then: it tells how long a tick is, and
** after a gap between two readings how much of it the thread was running.
*/

#ifndef lua_recorder_clock_h
#define lua_recorder_clock_h

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

typedef struct l_clock {
  clockid_t id;  /* the system's */
  uint64_t rate; /* 2^32 times the ns of a tick; 0: ticks are not used */
  uint64_t gap; /* ticks between two readings after which the system is asked */
  uint64_t last_ticks; /* ticks at the last reading */
  uint64_t span;       /* ticks for which the rate is good from here: */
  uint64_t ticks;
  int64_t ns; /* of the system's clock, then */
} l_clock;

/* Begin to use a clock; with `ticks` those are read, where it can be done: then
   this takes half a millisecond. */
void l_clock_open (l_clock *clock, clockid_t id, bool ticks);

/* The clock when its ticks do not say it. */
int64_t l_clock_read_system (l_clock *clock);

/* Ticks of the processor's counter. */
static inline uint64_t l_ticks (void) {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
  uint64_t ticks;
  __asm__ __volatile__("mrs %0, cntvct_el0" : "=r"(ticks));
  return ticks;
#else
  return 0;
#endif
}

static inline int64_t l_clock_now (l_clock *clock) {
  if (clock->rate == 0)
    return l_clock_read_system(clock);
  const uint64_t ticks = l_ticks(), passed = ticks - clock->ticks;
  if (passed > clock->span || ticks - clock->last_ticks > clock->gap)
    return l_clock_read_system(clock);
  clock->last_ticks = ticks;
  return clock->ns + (int64_t)(passed * clock->rate >> 32);
}

#endif
