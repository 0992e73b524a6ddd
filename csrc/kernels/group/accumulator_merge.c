/*
** accumulator_merge.c - merges the accumulators of later rows into those of
** earlier rows, and reads the results of a group.
*/

#include <math.h>
#include <string.h>

#include "kernels/group/accumulator.h"
#include "model/dictionary/names.h"


bool pf_accumulator_is_mergeable (const pf_accumulator *m) {
  switch (m->kind) {
    case PF_ACCUMULATE_COUNT:
    case PF_ACCUMULATE_SQUARES: return true;
    case PF_ACCUMULATE_SUM: return m->type == PF_INT;
    case PF_ACCUMULATE_MIN:
    case PF_ACCUMULATE_MAX:
    case PF_ACCUMULATE_FIRST:
    case PF_ACCUMULATE_LAST:
    case PF_ACCUMULATE_DISTINCT: return m->type != PF_BYTES;
    default: return false;
  }
}


void pf_accumulator_clone (pf_accumulator *m, const pf_accumulator *model) {
  *m = (pf_accumulator){.kind = model->kind,
                        .type = model->type,
                        .column = model->column,
                        .names = model->names,
                        .counts_absent = model->counts_absent};
}


/* Merge the state of a group of later rows. */
static void merge_state (pf_accumulator *m, uint32_t group,
                         const pf_accumulator *more, size_t from) {
  if (m->kind == PF_ACCUMULATE_COUNT)
    ((pf_state_count *)m->states)[group] +=
        ((const pf_state_count *)more->states)[from];
  else if (m->kind == PF_ACCUMULATE_SUM) {
    pf_state_sum *const s = &((pf_state_sum *)m->states)[group];
    const pf_state_sum *const theirs =
        &((const pf_state_sum *)more->states)[from];
    s->count += theirs->count;
    s->low += theirs->low;
    s->high += theirs->high + (s->low < theirs->low);
  }
  else if (m->kind == PF_ACCUMULATE_SQUARES) {
    pf_state_squares *const s = &((pf_state_squares *)m->states)[group];
    const pf_state_squares *const theirs =
        &((const pf_state_squares *)more->states)[from];
    s->count += theirs->count;
    s->sum += theirs->sum;
    pf_squares_merge(&s->squares, &theirs->squares);
  }
  else {
    const pf_state_value *const theirs =
        &((const pf_state_value *)more->states)[from];
    if (theirs->seen != 0)
      pf_accumulator_pick(m, &((pf_state_value *)m->states)[group],
                          theirs->word);
  }
}


pf_status pf_accumulator_merge (pf_accumulator *m, const pf_accumulator *more,
                                const uint32_t *groups, size_t count) {
  if (more->capacity < count) /* it has had no rows */
    return PF_OK;
  if (more->absent != NULL && pf_accumulator_count_absent(m) != PF_OK)
    return PF_ENOMEM;
  for (size_t i = 0; more->absent != NULL && i < count; i++)
    m->absent[groups[i]] += more->absent[i];
  if (m->kind != PF_ACCUMULATE_DISTINCT) {
    for (size_t i = 0; i < count; i++)
      merge_state(m, groups[i], more, i);
    return PF_OK;
  }
  for (uint32_t i = 0; i < more->set.known.count; i++) {
    const struct pf_member *const member = &more->set.members[i];
    if (pf_accumulator_add_member(m, member->word, groups[member->group]) !=
        PF_OK)
      return PF_ENOMEM;
  }
  return PF_OK;
}


uint64_t pf_accumulator_count (const pf_accumulator *m, size_t group) {
  uint64_t count;
  memcpy(&count, (const uint8_t *)m->states + group * m->size, sizeof count);
  return count;
}


pf_wide pf_total_sum (const pf_accumulator *m, size_t group) {
  const pf_state_sum *const s = &((const pf_state_sum *)m->states)[group];
  return (pf_wide)(int64_t)s->high * ((pf_wide)1 << 64) + s->low;
}


double pf_accumulator_number (const pf_accumulator *m, size_t group,
                              bool is_mean) {
  const pf_state_sum *const total = m->states;
  const pf_state_variance *const spread = m->states;
  const pf_state_squares *const squares = m->states;
  const pf_state_fraction *const fraction = m->states;
  const double by = is_mean ? (double)pf_accumulator_count(m, group) : 1;
  switch (m->kind) {
    case PF_ACCUMULATE_FRACTION:
      if (fraction[group].count == 0)
        return 0;
      return pf_ratio(fraction[group].sum.numerator,
                      fraction[group].sum.denominator * (pf_wide)by) +
             fraction[group].sum.rest / by;
    case PF_ACCUMULATE_VARIANCE:
      return sqrt(spread[group].squares / (double)spread[group].count);
    case PF_ACCUMULATE_SQUARES:
      return pf_stddev(&squares[group].squares, squares[group].sum,
                       squares[group].count);
    default: return total[group].number / by;
  }
}
