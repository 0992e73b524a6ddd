/*
** recorder_clock.h - the clock of a recorder, in ns. Half of what an empty hook
** costs is reading the system's clock. Where that counts the ticks of a counter
** which a program may read itself, and which goes at one rate on all cores, the
** ticks are read, and the system's clock now and then: it says what a tick is.
*/

#ifndef lua_recorder_clock_h
#define lua_recorder_clock_h

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

typedef struct l_clock {
  clockid_t id;  /* the system's */
  uint64_t rate; /* 2^32 times the ns of a tick; 0: ticks are not used */
  uint64_t span; /* ticks for which the rate is good from here: */
  uint64_t ticks;
  int64_t ns; /* of the system's clock, then */
} l_clock;

/* Begin to use a clock; with `ticks` those are read, where it can be done: then
   this takes half a millisecond. */
void l_clock_open (l_clock *clock, clockid_t id, bool ticks);

/* The clock when its ticks do not say it. */
int64_t l_clock_ask (l_clock *clock);

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
    return l_clock_ask(clock);
  const uint64_t ticks = l_ticks() - clock->ticks;
  if (ticks > clock->span)
    return l_clock_ask(clock);
  return clock->ns + (int64_t)(ticks * clock->rate >> 32);
}

#endif
