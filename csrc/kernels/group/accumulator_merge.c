/*
** accumulator_merge.c - merges the accumulators of later rows into those of
** earlier rows.
*/

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


static void merge_counts (uint64_t *counts, const uint64_t *more,
                          const uint32_t *groups, size_t count) {
  for (size_t i = 0; i < count; i++)
    counts[groups[i]] += more[i];
}


/* Add to `wide`, because the sum of two `part` may overflow. */
static pf_status merge_sums (pf_accumulator *m, const pf_accumulator *more,
                             const uint32_t *groups, size_t count) {
  pf_state_sum *const states = m->states;
  const pf_state_sum *const theirs = more->states;
  if (pf_accumulator_widen(m) != PF_OK)
    return PF_ENOMEM;
  for (size_t i = 0; i < count; i++) {
    states[groups[i]].count += theirs[i].count;
    m->wide[groups[i]] += pf_total_sum(more, i);
  }
  return PF_OK;
}


static void merge_squares (pf_state_squares *states,
                           const pf_state_squares *theirs,
                           const uint32_t *groups, size_t count) {
  for (size_t i = 0; i < count; i++) {
    pf_state_squares *const s = &states[groups[i]];
    s->count += theirs[i].count;
    s->sum += theirs[i].sum;
    pf_squares_merge(&s->squares, &theirs[i].squares);
  }
}


/* Whether the value of the later rows replaces ours. */
static bool is_better (const pf_accumulator *m, uint64_t ours,
                       uint64_t theirs) {
  if (m->kind == PF_ACCUMULATE_FIRST || m->kind == PF_ACCUMULATE_LAST)
    return m->kind == PF_ACCUMULATE_LAST;
  const bool is_min = m->kind == PF_ACCUMULATE_MIN;
  if (m->type == PF_NAME)
    return pf_name_compare(m->names, (uint32_t)theirs, (uint32_t)ours) ==
           (is_min ? -1 : 1);
  return is_min ? theirs < ours : theirs > ours;
}


static void merge_values (pf_accumulator *m, const pf_accumulator *more,
                          const uint32_t *groups, size_t count) {
  pf_state_value *const states = m->states;
  const pf_state_value *const theirs = more->states;
  for (size_t i = 0; i < count; i++) {
    pf_state_value *const s = &states[groups[i]];
    if (theirs[i].seen != 0 &&
        (s->seen == 0 || is_better(m, s->word, theirs[i].word)))
      *s = theirs[i];
  }
}


static pf_status merge_sets (pf_accumulator *m, const pf_set *more,
                             const uint32_t *groups) {
  for (uint32_t i = 0; i < more->known.count; i++) {
    const struct pf_member *const member = &more->members[i];
    if (pf_accumulator_add_member(m, member->word, groups[member->group]) !=
        PF_OK)
      return PF_ENOMEM;
  }
  return PF_OK;
}


pf_status pf_accumulator_merge (pf_accumulator *m, const pf_accumulator *more,
                                const uint32_t *groups, size_t count) {
  if (more->capacity < count) /* it has had no rows */
    return PF_OK;
  if (more->absent != NULL) {
    if (pf_accumulator_count_absent(m) != PF_OK)
      return PF_ENOMEM;
    merge_counts(m->absent, more->absent, groups, count);
  }
  switch (m->kind) {
    case PF_ACCUMULATE_COUNT:
      merge_counts(m->states, more->states, groups, count);
      return PF_OK;
    case PF_ACCUMULATE_SUM: return merge_sums(m, more, groups, count);
    case PF_ACCUMULATE_SQUARES:
      merge_squares(m->states, more->states, groups, count);
      return PF_OK;
    case PF_ACCUMULATE_DISTINCT: return merge_sets(m, &more->set, groups);
    default: merge_values(m, more, groups, count);
  }
  return PF_OK;
}
