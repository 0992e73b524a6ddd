/*
** clock.c - measures the length of a tick against the system's clock,
** first over half a millisecond, then over ever longer spans. Each reading of
** the system's clock is a new base, so errors do not add up. When two measured
** rates differ, ticks are not used any longer.
**
** The CPU time of a thread stands still while other threads run. That takes
** longer than GAP, so the system is asked after a gap of this length between
** two readings, and every CPU_SPAN; in between, ticks measure the CPU time.
*/

#include "lua/recorder/clock.h"
#include "os/os.h"

#define FIRST_SPAN 500000   /* ns of the first measurement */
#define MAX_SPAN   50000000 /* maximum ns between measurements of the rate */
#define TRIES      3        /* readings of both clocks; the fastest counts */
#define TOLERANCE  256      /* equal rates differ by less than 1/256 */
#define GAP        10000    /* ns in which another thread may have run */
#define CPU_SPAN   1000000  /* ns until the CPU time is read again */

/* Returns the system's clock and the ticks at the same moment: of TRIES
   readings, the one that took least time. */
static int64_t read_both (const l_clock *c, uint64_t *ticks) {
  uint64_t shortest = UINT64_MAX;
  int64_t ns = 0;
  *ticks = 0;
  for (int i = 0; i < TRIES; i++) {
    const uint64_t before = l_ticks();
    const int64_t now = os_now(c->id);
    const uint64_t took = l_ticks() - before;
    if (took < shortest) {
      shortest = took;
      *ticks = before + took / 2;
      ns = now;
    }
  }
  return ns;
}


/* Returns the rate from the base to a later moment; 0: cannot be measured. */
static uint64_t rate_of (const l_clock *c, uint64_t ticks, int64_t ns) {
  const double passed = (double)(ticks - c->ticks);
  const double rate = (double)(ns - c->ns) / passed * 4294967296.0;
  return passed > 0 && rate >= 1 && rate < 1e15 ? (uint64_t)rate : 0;
}


/* Makes a reading of both clocks the base of the ticks for `span` ticks. */
static void set_base (l_clock *c, uint64_t rate, uint64_t span, uint64_t ticks,
                      int64_t ns) {
  c->rate = rate;
  c->span = span;
  c->ticks = c->last_ticks = ticks;
  c->ns = ns;
}


/* Converts ns to ticks. */
static uint64_t ticks_of (const l_clock *c, int64_t ns) {
  return (uint64_t)((double)ns / (double)c->rate * 4294967296.0);
}


void l_clock_open (l_clock *c, os_clock id, bool ticks) {
  *c = (l_clock){.id = id};
  if (!ticks || !os_has_counter())
    return;
  *c = (l_clock){.id = OS_MONOTONIC, .gap = UINT64_MAX};
  c->ns = read_both(c, &c->ticks);
  while (os_now(c->id) - c->ns < FIRST_SPAN)
    ;
  uint64_t then;
  int64_t ns = read_both(c, &then);
  set_base(c, rate_of(c, then, ns), then - c->ticks, then, ns);
  if (c->rate == 0 || id == OS_THREAD_CPU)
    c->id = id;
  if (c->rate == 0 || id != OS_THREAD_CPU)
    return;
  ns = read_both(c, &then); /* the rate is that of the wall clock */
  c->gap = ticks_of(c, GAP);
  set_base(c, c->rate, ticks_of(c, CPU_SPAN), then, ns);
}


int64_t l_clock_read_system (l_clock *c) {
  if (c->rate == 0)
    return os_now(c->id);
  uint64_t ticks;
  const int64_t ns = read_both(c, &ticks);
  if (c->id == OS_THREAD_CPU) {
    set_base(c, c->rate, c->span, ticks, ns);
    return ns;
  }
  const uint64_t rate = rate_of(c, ticks, ns);
  const uint64_t part = c->rate / TOLERANCE;
  const bool is_unstable = rate < c->rate - part || rate > c->rate + part;
  const uint64_t max_span = ticks_of(c, MAX_SPAN);
  const uint64_t span = c->span < max_span / 2 ? c->span * 2 : max_span;
  set_base(c, is_unstable ? 0 : rate, span, ticks, ns);
  return ns;
}
