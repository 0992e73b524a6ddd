/*
** intervals.h - how busy a track was in a time, and with what. Used by
** overview.c and csrc/lua/stages/lane_overview.c. The owner initialises an
** interval with zeros.
*/

#ifndef intervals_h
#define intervals_h

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct pf_overview_interval {
  int64_t busy, idle; /* ns in which a call was active, or was suspended */
  int64_t top_time;   /* ns of the frame that was active longest; perhaps too
                         high if there were more than 32 frames */
  double low, high;   /* of a variable's values, if it has any */
  uint64_t begun;     /* calls that began in it */
  uint32_t top;       /* that frame, or 0 */
  bool has_values;
} pf_overview_interval;

/* Note a value of a variable in its interval, if it is a number. */
static inline void pf_interval_add_value (pf_overview_interval *i,
                                          double value) {
  if (!isfinite(value))
    return;
  i->low = !i->has_values || value < i->low ? value : i->low;
  i->high = !i->has_values || value > i->high ? value : i->high;
  i->has_values = true;
}


/* Returns the sum of `count` intervals from `at` on. The frame that was active
   longest is the one with most time in one of them. */
static inline pf_overview_interval pf_intervals_merged (
    const pf_overview_interval *at, uint32_t count) {
  pf_overview_interval sum = at[0];
  for (uint32_t n = 1; n < count; n++) {
    const pf_overview_interval *const i = &at[n];
    if (i->has_values) {
      sum.low = !sum.has_values || i->low < sum.low ? i->low : sum.low;
      sum.high = !sum.has_values || i->high > sum.high ? i->high : sum.high;
      sum.has_values = true;
    }
    sum.busy += i->busy;
    sum.idle += i->idle;
    sum.begun += i->begun;
    if (i->top_time > sum.top_time) {
      sum.top_time = i->top_time;
      sum.top = i->top;
    }
  }
  return sum;
}


/* Returns a part in thousandths: 0 only for nothing, and 1000 only for all. */
static inline int64_t pf_thousandths (int64_t part, double whole) {
  const int64_t value = (int64_t)(1000 * (double)part / whole + 0.5);
  return value == 0 && part > 0                  ? 1
         : value == 1000 && (double)part < whole ? 999
                                                 : value;
}

#endif
