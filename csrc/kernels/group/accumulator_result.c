/*
** accumulator_result.c - reads the results of a group.
*/

#include <math.h>

#include "kernels/group/accumulator.h"


uint64_t pf_accumulator_count (const pf_accumulator *m, size_t group) {
  switch (m->kind) {
    case PF_ACCUMULATE_COUNT:
    case PF_ACCUMULATE_DISTINCT: return ((pf_state_count *)m->states)[group];
    case PF_ACCUMULATE_SUM: return ((pf_state_sum *)m->states)[group].count;
    case PF_ACCUMULATE_VARIANCE:
      return ((pf_state_variance *)m->states)[group].count;
    case PF_ACCUMULATE_SQUARES:
      return ((pf_state_squares *)m->states)[group].count;
    case PF_ACCUMULATE_FRACTION:
      return ((pf_state_fraction *)m->states)[group].count;
    case PF_ACCUMULATE_QUANTILE: return ((pf_quantile *)m->states)[group].count;
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


double pf_accumulator_number (const pf_accumulator *m, size_t group,
                              bool is_mean) {
  const pf_state_sum *const total = m->states;
  const pf_state_variance *const spread = m->states;
  const pf_state_squares *const squares = m->states;
  switch (m->kind) {
    case PF_ACCUMULATE_FRACTION:
      return fraction(&((const pf_state_fraction *)m->states)[group], is_mean);
    case PF_ACCUMULATE_VARIANCE:
      return sqrt(spread[group].squares / (double)spread[group].count);
    case PF_ACCUMULATE_SQUARES:
      return pf_stddev(&squares[group].squares, squares[group].sum,
                       squares[group].count);
    default:
      return is_mean ? total[group].number / (double)total[group].count
                     : total[group].number;
  }
}
