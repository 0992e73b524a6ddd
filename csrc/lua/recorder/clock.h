/*
** clock.h - the clock of a recorder, in ns.
**
** Reading the system's clock is half of the cost of an empty hook, and reading
** the CPU time of a thread is a system call. If the system keeps its own time
** by a counter that programs may read and that runs at one rate on all cores
** (TSC on x86-64, CNTVCT on AArch64), the counter is read instead. The system's
** clock is read only now and then, to measure the length of a tick, and for CPU
** time after a gap in which the thread may not have run.
**
** Call l_clock_open first. A clock owns no memory and belongs to one thread.
**
** Used by recorder.c, and through recorder.h by the hooks.
*/

#ifndef lua_recorder_clock_h
#define lua_recorder_clock_h

#include <stdbool.h>
#include <stdint.h>

#include "os/os.h"

typedef struct l_clock {
  os_clock id;         /* clock of the system */
  uint64_t rate;       /* ns of a tick times 2^32; 0: ticks are not used */
  uint64_t gap;        /* ticks between readings that force a system reading */
  uint64_t last_ticks; /* ticks at the last reading */
  uint64_t span;       /* ticks after `ticks` for which `rate` is valid */
  uint64_t ticks;
  int64_t ns; /* time of the system's clock at `ticks` */
} l_clock;

/* Opens the clock `id`. With `ticks` the processor's counter is used where
   possible; measuring its rate then takes half a millisecond. */
void l_clock_open (l_clock *clock, os_clock id, bool ticks);

/* Reads the system's clock and returns it; corrects the rate of the ticks. */
int64_t l_clock_read_system (l_clock *clock);

/* Returns the processor's counter; 0 on other processors. */
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
