/*
** accumulator.c - the loops over a batch, each for one kind of state and one
** type of values, whose missing values (except of fractions) have been removed
** before; merging the states of later rows; the results of a group.
*/

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/group/accumulator.h"
#include "kernels/base/order.h"
#include "model/base/memory.h"
#include "model/dictionary/names.h"


static void add_ints (pf_accumulator *m, const pf_present *p) {
  pf_state_sum *const states = m->states;
  const int64_t *const values = p->values;
  for (size_t i = 0; i < p->rows; i++) {
    states[p->groups[i]].integer += values[i];
    states[p->groups[i]].count++;
  }
}


static void add_nums (pf_accumulator *m, const pf_present *p) {
  pf_state_sum *const states = m->states;
  const double *const values = p->values;
  for (size_t i = 0; i < p->rows; i++) {
    states[p->groups[i]].number += values[i];
    states[p->groups[i]].count++;
  }
}


/* Welford's algorithm, which avoids differences of large sums. */
static void add_variance (pf_accumulator *m, const pf_present *p) {
  pf_state_variance *const states = m->states;
  const double *const values = p->values;
  for (size_t i = 0; i < p->rows; i++) {
    pf_state_variance *const s = &states[p->groups[i]];
    const double distance = values[i] - s->mean;
    s->count++;
    s->mean += distance / (double)s->count;
    s->squares += distance * (values[i] - s->mean);
  }
}


static void add_squares (pf_accumulator *m, const pf_present *p) {
  pf_state_squares *const states = m->states;
  const int64_t *const values = p->values;
  for (size_t i = 0; i < p->rows; i++) {
    pf_state_squares *const s = &states[p->groups[i]];
    const uint64_t bits = (uint64_t)values[i];
    s->count++;
    s->sum += values[i];
    pf_squares_add(&s->squares, values[i] < 0 ? 0 - bits : bits);
  }
}


void pf_accumulator_add_fractions (pf_accumulator *m, const pf_batch *batch,
                                   const uint32_t *groups) {
  pf_state_fraction *const states = m->states;
  const pf_column *const values = &batch->columns[m->column];
  const int64_t *const by = batch->columns[m->by].ints;
  for (size_t i = 0; i < batch->rows; i++) {
    if (pf_is_missing(values, i))
      continue;
    states[groups[i]].count++;
    pf_fraction_add(&states[groups[i]].sum,
                    llround(values->nums[i] * (double)by[i]), by[i]);
  }
}


static void place (pf_state_place *s, uint64_t count, int64_t max, int64_t at) {
  if (s->count == 0 || max > s->max || (max == s->max && at < s->at))
    *s = (pf_state_place){s->count, max, at};
  s->count += count;
}


void pf_accumulator_add_places (pf_accumulator *m, const pf_present *p,
                                const int64_t *by) {
  pf_state_place *const states = m->states;
  const int64_t *const values = p->values;
  for (size_t i = 0; i < p->rows; i++)
    place(&states[p->groups[i]], 1, values[i],
          by[p->places == NULL ? i : p->places[i]]);
}


/* Store a word if it is better than the stored one. `kind` is that of the
   accumulator, as a constant where that is faster. */
static inline void pick (const pf_accumulator *m, pf_accumulator_kind kind,
                         pf_state_value *s, uint64_t word) {
  bool is_better = kind == PF_ACCUMULATE_LAST || s->seen == 0;
  if (kind != PF_ACCUMULATE_FIRST && word != s->word)
    is_better |=
        (m->type == PF_NAME && !is_better
             ? pf_name_compare(m->names, (uint32_t)word, (uint32_t)s->word) < 0
             : word < s->word) == (kind == PF_ACCUMULATE_MIN);
  if (is_better)
    *s = (pf_state_value){1, word};
}


static void pick_words (pf_accumulator *m, const pf_present *p) {
  pf_state_value *const states = m->states;
  if (m->kind == PF_ACCUMULATE_MIN)
    for (size_t i = 0; i < p->rows; i++)
      pick(m, PF_ACCUMULATE_MIN, &states[p->groups[i]], p->words[i]);
  else if (m->kind == PF_ACCUMULATE_MAX)
    for (size_t i = 0; i < p->rows; i++)
      pick(m, PF_ACCUMULATE_MAX, &states[p->groups[i]], p->words[i]);
  else
    for (size_t i = 0; i < p->rows; i++)
      pick(m, m->kind, &states[p->groups[i]], p->words[i]);
}


/* Whether a text replaces the stored one. */
static bool is_better_text (const pf_accumulator *m, const pf_state_value *s,
                            pf_bytes text) {
  if (m->kind == PF_ACCUMULATE_LAST)
    return s->seen != m->batches;
  if (m->kind == PF_ACCUMULATE_FIRST || s->seen == 0)
    return s->seen == 0;
  const int order = pf_text_compare(text, pf_name(m->texts, (uint32_t)s->word));
  return m->kind == PF_ACCUMULATE_MIN ? order < 0 : order > 0;
}


/* Only texts that are stored are copied. PF_ACCUMULATE_LAST goes backwards, so
   that it stores at most one text per batch and group. */
static pf_status pick_texts (pf_accumulator *m, const pf_present *p) {
  pf_state_value *const states = m->states;
  const pf_bytes *const texts = p->values;
  const bool is_last = m->kind == PF_ACCUMULATE_LAST;
  for (size_t i = 0; i < p->rows; i++) {
    const size_t row = is_last ? p->rows - 1 - i : i;
    pf_state_value *const s = &states[p->groups[row]];
    if (!is_better_text(m, s, texts[row]))
      continue;
    const uint32_t id = pf_intern(m->texts, texts[row]);
    if (id == PF_NO_NAME)
      return PF_ENOMEM;
    *s = (pf_state_value){is_last ? m->batches : 1, id};
  }
  return PF_OK;
}


typedef struct member_key {
  const struct pf_member *members;
  struct pf_member wanted;
} member_key;


static bool is_member (const void *context, uint32_t number) {
  const member_key *const key = context;
  const struct pf_member *const member = &key->members[number];
  return member->word == key->wanted.word && member->group == key->wanted.group;
}


/* Add a value to the set of a group, and count it if it is new. */
static pf_status add_member (pf_accumulator *m, uint64_t word, uint32_t group) {
  pf_set *const set = &m->set;
  const member_key key = {set->members, {word, group}};
  if (set->known.count == 0) /* random: a file cannot provoke collisions */
    set->known.seed = pf_mix(0x9e3779b97f4a7c15u, (uintptr_t)set);
  const uint64_t hash = pf_mix(pf_mix(set->known.seed, word), group);
  if (pf_intern_table_find(&set->known, hash, is_member, &key) !=
      PF_NOT_INTERNED)
    return PF_OK;
  if (!pf_intern_table_reserve(&set->known) ||
      !pf_grow(&set->members, &set->capacity, (size_t)set->known.count + 1))
    return PF_ENOMEM;
  set->members[pf_intern_table_add(&set->known, hash)] = key.wanted;
  ((pf_state_count *)m->states)[group]++;
  return PF_OK;
}


static pf_status add_distinct (pf_accumulator *m, const pf_present *p) {
  const pf_bytes *const texts = p->values;
  for (size_t i = 0; i < p->rows; i++) {
    const uint64_t word =
        p->words != NULL ? p->words[i] : pf_intern(m->texts, texts[i]);
    if ((p->words == NULL && word == PF_NO_NAME) ||
        add_member(m, word, p->groups[i]) != PF_OK)
      return PF_ENOMEM;
  }
  return PF_OK;
}


#define AHEAD 8 /* values of which the quantiles are prefetched */

static pf_status add_quantiles (pf_accumulator *m, const pf_present *p) {
  pf_quantile *const states = m->states;
  pf_status status = PF_OK;
  for (size_t i = 0; i < p->rows && status == PF_OK; i++) {
    pf_quantile *const q = &states[p->groups[i]];
    if (PF_FAST(MISSES) && i + 2 * AHEAD < p->rows)
      pf_quantile_prefetch(&states[p->groups[i + 2 * AHEAD]]);
    if (PF_FAST(MISSES) && i + AHEAD < p->rows)
      pf_quantile_prefetch_value(&states[p->groups[i + AHEAD]], m->type,
                                 p->words[i + AHEAD]);
    if (q->count < q->capacity && !q->sketched)
      pf_quantile_store(q, p->words[i]);
    else
      status = pf_quantile_add(q, m->pool, m->type, p->words[i]);
  }
  return status;
}


bool pf_accumulator_needs_words (const pf_accumulator *m) {
  return m->type != PF_BYTES && m->kind >= PF_ACCUMULATE_MIN;
}


pf_status pf_accumulator_reserve (pf_accumulator *m, size_t groups) {
  static const size_t sizes[] = {
      [PF_ACCUMULATE_COUNT] = sizeof(pf_state_count),
      [PF_ACCUMULATE_SUM] = sizeof(pf_state_sum),
      [PF_ACCUMULATE_VARIANCE] = sizeof(pf_state_variance),
      [PF_ACCUMULATE_SQUARES] = sizeof(pf_state_squares),
      [PF_ACCUMULATE_FRACTION] = sizeof(pf_state_fraction),
      [PF_ACCUMULATE_AT_MAX] = sizeof(pf_state_place),
      [PF_ACCUMULATE_MIN] = sizeof(pf_state_value),
      [PF_ACCUMULATE_MAX] = sizeof(pf_state_value),
      [PF_ACCUMULATE_FIRST] = sizeof(pf_state_value),
      [PF_ACCUMULATE_LAST] = sizeof(pf_state_value),
      [PF_ACCUMULATE_DISTINCT] = sizeof(pf_state_count),
      [PF_ACCUMULATE_QUANTILE] = sizeof(pf_quantile)};
  if (groups <= m->capacity)
    return PF_OK;
  size_t capacity = m->capacity == 0 ? 64 : m->capacity;
  while (capacity < groups)
    capacity *= 2;
  m->size = sizes[m->kind];
  if ((m->absent != NULL && !pf_widen(&m->absent, m->capacity, capacity)) ||
      !pf_widen_array(&m->states, m->capacity, capacity, m->size))
    return PF_ENOMEM;
  m->capacity = capacity;
  if (m->type == PF_BYTES && m->texts == NULL)
    m->texts = pf_dictionary_new();
  return m->type == PF_BYTES && m->texts == NULL ? PF_ENOMEM : PF_OK;
}


pf_status pf_accumulator_add (pf_accumulator *m, const pf_present *p) {
  m->batches++;
  switch (m->kind) {
    case PF_ACCUMULATE_COUNT:
      for (size_t i = 0; i < p->rows; i++)
        ((pf_state_count *)m->states)[p->groups[i]]++;
      break;
    case PF_ACCUMULATE_VARIANCE: add_variance(m, p); break;
    case PF_ACCUMULATE_SQUARES: add_squares(m, p); break;
    case PF_ACCUMULATE_DISTINCT: return add_distinct(m, p);
    case PF_ACCUMULATE_QUANTILE: return add_quantiles(m, p);
    case PF_ACCUMULATE_SUM:
      if (m->type == PF_INT)
        add_ints(m, p);
      else
        add_nums(m, p);
      break;
    default:
      if (m->type == PF_BYTES)
        return pick_texts(m, p);
      pick_words(m, p);
  }
  return PF_OK;
}


static pf_status count_absent (pf_accumulator *m) {
  if (m->absent == NULL)
    m->absent = calloc(m->capacity, sizeof *m->absent);
  return m->absent == NULL ? PF_ENOMEM : PF_OK;
}


pf_status pf_accumulator_add_absent (pf_accumulator *m, const pf_column *column,
                                     const uint32_t *groups, size_t rows) {
  if (count_absent(m) != PF_OK)
    return PF_ENOMEM;
  for (size_t i = 0; i < rows; i++)
    m->absent[groups[i]] += pf_is_missing(column, i);
  return PF_OK;
}


bool pf_accumulator_is_mergeable (const pf_accumulator *m) {
  switch (m->kind) {
    case PF_ACCUMULATE_COUNT:
    case PF_ACCUMULATE_SQUARES:
    case PF_ACCUMULATE_AT_MAX:
    case PF_ACCUMULATE_QUANTILE: return true;
    case PF_ACCUMULATE_SUM: return m->type == PF_INT;
    case PF_ACCUMULATE_MIN:
    case PF_ACCUMULATE_MAX:
    case PF_ACCUMULATE_FIRST:
    case PF_ACCUMULATE_LAST:
    case PF_ACCUMULATE_DISTINCT: return m->type != PF_BYTES;
    default: return false;
  }
}


void pf_accumulator_clone (pf_accumulator *m, const pf_accumulator *model,
                           pf_quantile_pool *pool) {
  *m = (pf_accumulator){.kind = model->kind,
                        .type = model->type,
                        .column = model->column,
                        .by = model->by,
                        .pool = pool,
                        .names = model->names,
                        .counts_absent = model->counts_absent};
}


/* Merge the state of a group of later rows. */
static pf_status merge_state (pf_accumulator *m, uint32_t group,
                              const pf_accumulator *more, size_t from) {
  if (m->kind == PF_ACCUMULATE_QUANTILE)
    return pf_quantile_merge(&((pf_quantile *)m->states)[group], m->pool,
                             m->type, &((pf_quantile *)more->states)[from]);
  if (m->kind >= PF_ACCUMULATE_MIN) {
    const pf_state_value *const theirs =
        &((const pf_state_value *)more->states)[from];
    if (theirs->seen != 0)
      pick(m, m->kind, &((pf_state_value *)m->states)[group], theirs->word);
    return PF_OK;
  }
  if (m->kind == PF_ACCUMULATE_AT_MAX) {
    const pf_state_place *const theirs =
        &((const pf_state_place *)more->states)[from];
    if (theirs->count > 0)
      place(&((pf_state_place *)m->states)[group], theirs->count, theirs->max,
            theirs->at);
    return PF_OK;
  }
  pf_summary summary = {.min = INT64_MAX, .max = INT64_MIN};
  pf_accumulator_summary(more, from, &summary);
  pf_accumulator_add_summary(m, group, &summary);
  return PF_OK;
}


pf_status pf_accumulator_merge (pf_accumulator *m, const pf_accumulator *more,
                                const uint32_t *groups, size_t count) {
  if (more->capacity < count) /* it has had no rows */
    return PF_OK;
  if (more->absent != NULL && count_absent(m) != PF_OK)
    return PF_ENOMEM;
  for (size_t i = 0; more->absent != NULL && i < count; i++)
    m->absent[groups[i]] += more->absent[i];
  if (m->kind != PF_ACCUMULATE_DISTINCT) {
    pf_status status = PF_OK;
    for (size_t i = 0; i < count && status == PF_OK; i++)
      status = merge_state(m, groups[i], more, i);
    return status;
  }
  for (uint32_t i = 0; i < more->set.known.count; i++) {
    const struct pf_member *const member = &more->set.members[i];
    if (add_member(m, member->word, groups[member->group]) != PF_OK)
      return PF_ENOMEM;
  }
  return PF_OK;
}


pf_status pf_accumulator_settle (pf_accumulator *m, size_t groups) {
  pf_quantile *const states = m->states;
  pf_status status = PF_OK;
  for (size_t g = 0; m->kind == PF_ACCUMULATE_QUANTILE && g < groups &&
                     g < m->capacity && status == PF_OK;
       g++)
    status = pf_quantile_settle(&states[g], m->pool, m->type);
  return status;
}


void pf_accumulator_summary (const pf_accumulator *m, size_t group,
                             pf_summary *s) {
  const pf_state_sum *const sum = m->states;
  const pf_state_squares *const squares = m->states;
  const pf_state_place *const places = m->states;
  const pf_state_value *const values = m->states;
  if (m->kind == PF_ACCUMULATE_MIN)
    s->min = pf_unorder_int(values[group].word);
  if (m->kind == PF_ACCUMULATE_MAX)
    s->max = pf_unorder_int(values[group].word);
  if (m->kind >= PF_ACCUMULATE_MIN)
    return;
  s->count = pf_accumulator_count(m, group);
  if (m->kind == PF_ACCUMULATE_SUM)
    s->sum = sum[group].integer;
  if (m->kind == PF_ACCUMULATE_SQUARES) {
    s->sum = squares[group].sum;
    s->squares = squares[group].squares;
  }
  if (m->kind == PF_ACCUMULATE_AT_MAX)
    s->at = places[group].at;
}


void pf_accumulator_add_summary (pf_accumulator *m, size_t group,
                                 const pf_summary *s) {
  pf_state_sum *const sum = m->states;
  pf_state_squares *const squares = m->states;
  pf_state_value *const values = m->states;
  if (m->kind == PF_ACCUMULATE_COUNT)
    ((pf_state_count *)m->states)[group] += s->count;
  if (m->kind == PF_ACCUMULATE_SUM) {
    sum[group].count += s->count;
    sum[group].integer += s->sum;
  }
  if (m->kind == PF_ACCUMULATE_SQUARES) {
    squares[group].count += s->count;
    squares[group].sum += s->sum;
    pf_squares_merge(&squares[group].squares, &s->squares);
  }
  if (m->kind == PF_ACCUMULATE_AT_MAX)
    place(&((pf_state_place *)m->states)[group], s->count, s->max, s->at);
  if (m->kind == PF_ACCUMULATE_MIN)
    pick(m, m->kind, &values[group], pf_order_int(s->min));
  if (m->kind == PF_ACCUMULATE_MAX)
    pick(m, m->kind, &values[group], pf_order_int(s->max));
}


uint64_t pf_accumulator_count (const pf_accumulator *m, size_t group) {
  uint64_t count;
  memcpy(&count, (const uint8_t *)m->states + group * m->size, sizeof count);
  return count;
}


pf_wide pf_accumulator_sum (const pf_accumulator *m, size_t group) {
  return ((const pf_state_sum *)m->states)[group].integer;
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


void pf_accumulator_close (pf_accumulator *m) {
  if (m->kind == PF_ACCUMULATE_QUANTILE)
    for (size_t g = 0; g < m->capacity; g++)
      pf_quantile_free(&((pf_quantile *)m->states)[g]);
  free(m->states);
  free(m->absent);
  free(m->set.members);
  pf_intern_table_free(&m->set.known);
  pf_dictionary_free(m->texts);
}
