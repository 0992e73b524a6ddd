/*
** measure_answer.c - the numbers that a measure has of a group.
*/

#include <math.h>

#include "kernels/measure.h"


uint64_t pf_measure_seen (const pf_measure *m, size_t group) {
  switch (m->kind) {
    case PF_MEASURE_ROWS:
    case PF_MEASURE_DISTINCT: return ((pf_state_count *)m->states)[group];
    case PF_MEASURE_TOTAL: return ((pf_state_total *)m->states)[group].count;
    case PF_MEASURE_SPREAD: return ((pf_state_spread *)m->states)[group].count;
    case PF_MEASURE_SQUARES:
      return ((pf_state_squares *)m->states)[group].count;
    case PF_MEASURE_FRACTION:
      return ((pf_state_fraction *)m->states)[group].count;
    case PF_MEASURE_QUANTILE: return ((pf_quantile *)m->states)[group].count;
    default: return ((pf_state_value *)m->states)[group].seen;
  }
}


static double fraction (const pf_state_fraction *s, bool is_mean) {
  const pf_wide by = is_mean ? (pf_wide)s->count : 1;
  if (s->count == 0)
    return 0;
  return pf_ratio(s->sum.numerator, s->sum.denominator * by) +
         s->sum.rest / (double)by;
}


double pf_measure_number (const pf_measure *m, size_t group, bool is_mean) {
  const pf_state_total *const total = m->states;
  const pf_state_spread *const spread = m->states;
  const pf_state_squares *const squares = m->states;
  switch (m->kind) {
    case PF_MEASURE_FRACTION:
      return fraction(&((const pf_state_fraction *)m->states)[group], is_mean);
    case PF_MEASURE_SPREAD:
      return sqrt(spread[group].squares / (double)spread[group].count);
    case PF_MEASURE_SQUARES:
      return pf_spread(&squares[group].squares, squares[group].sum,
                       squares[group].count);
    default:
      return is_mean ? total[group].number / (double)total[group].count
                     : total[group].number;
  }
}
