/*
** accumulator.c - the loops over a batch, each for one kind of state and one
** type of values. Missing values have been removed before.
*/

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/group/accumulator.h"
#include "kernels/base/order.h"
#include "model/base/memory.h"
#include "model/dictionary/names.h"

/* The limit for values added to `part`: a batch of them cannot overflow. */
#define MAX_PART_VALUE ((uint64_t)1 << 48)


/* {====== Counts and sums ====== */

/* Count rows by their groups. */
static void count_rows (uint64_t *counts, const uint32_t *groups, size_t rows) {
  size_t i = 0;
  for (; rows - i >= 4; i += 4) {
    counts[groups[i]]++;
    counts[groups[i + 1]]++;
    counts[groups[i + 2]]++;
    counts[groups[i + 3]]++;
  }
  for (; i < rows; i++)
    counts[groups[i]]++;
}


pf_status pf_accumulator_widen (pf_accumulator *m) {
  if (m->wide == NULL)
    m->wide = calloc(m->capacity, sizeof *m->wide);
  return m->wide == NULL ? PF_ENOMEM : PF_OK;
}


/* Add every `part` to `wide`. */
static pf_status flush_parts (pf_accumulator *m) {
  pf_state_sum *const states = m->states;
  if (pf_accumulator_widen(m) != PF_OK)
    return PF_ENOMEM;
  for (size_t g = 0; g < m->capacity; g++) {
    m->wide[g] += (int64_t)states[g].part;
    states[g].part = 0;
  }
  m->part_bound = 0;
  return PF_OK;
}


/* The bitwise or of the values, with negative ones inverted. */
static uint64_t bits_of (const int64_t *values, size_t rows) {
  uint64_t bits = 0;
  for (size_t i = 0; i < rows; i++)
    bits |= (uint64_t)(values[i] < 0 ? ~values[i] : values[i]);
  return bits;
}


/* Add the values to `part`. Returns the bits of bits_of. */
static uint64_t add_parts (pf_accumulator *m, const pf_present *p) {
  pf_state_sum *const states = m->states;
  const int64_t *const values = p->values;
  const uint32_t *const groups = p->groups;
  const size_t rows = p->rows;
  uint64_t bits = 0;
  for (size_t i = 0; i < rows; i++) {
    const uint64_t value = (uint64_t)values[i];
    pf_state_sum *const s = &states[groups[i]];
    s->count++;
    s->part += value;
    bits |= value;
  }
  return bits <= INT64_MAX ? bits : bits_of(values, rows);
}


/* Undo add_parts, and add to `wide`. */
static pf_status move_to_wide (pf_accumulator *m, const pf_present *p) {
  pf_state_sum *const states = m->states;
  const int64_t *const values = p->values;
  if (pf_accumulator_widen(m) != PF_OK)
    return PF_ENOMEM;
  for (size_t i = 0; i < p->rows; i++) {
    states[p->groups[i]].part -= (uint64_t)values[i];
    m->wide[p->groups[i]] += values[i];
  }
  return PF_OK;
}


/* `part` wraps around, so a batch with too large values can be subtracted again
   and is added to `wide`. */
static pf_status sum_ints (pf_accumulator *m, const pf_present *p) {
  if (m->part_bound > INT64_MAX - MAX_PART_VALUE * PF_BATCH_ROWS &&
      flush_parts(m) != PF_OK)
    return PF_ENOMEM;
  const uint64_t most = add_parts(m, p);
  if (most >= MAX_PART_VALUE)
    return move_to_wide(m, p);
  m->part_bound += (most + 1) * p->rows;
  return PF_OK;
}


pf_wide pf_total_sum (const pf_accumulator *m, size_t group) {
  const pf_wide sum = m->wide == NULL ? 0 : m->wide[group];
  return sum + (int64_t)((const pf_state_sum *)m->states)[group].part;
}


static void sum_nums (pf_accumulator *m, const pf_present *p) {
  pf_state_sum *const states = m->states;
  const double *const values = p->values;
  for (size_t i = 0; i < p->rows; i++) {
    states[p->groups[i]].number += values[i];
    states[p->groups[i]].count++;
  }
}


/* One step of Welford's algorithm, which avoids differences of large sums. */
static void update_variance (pf_state_variance *s, double value) {
  const double distance = value - s->mean;
  s->count++;
  s->mean += distance / (double)s->count;
  s->squares += distance * (value - s->mean);
}


static void add_variance (pf_accumulator *m, const pf_present *p) {
  pf_state_variance *const states = m->states;
  const double *const values = p->values;
  for (size_t i = 0; i < p->rows; i++)
    update_variance(&states[p->groups[i]], values[i]);
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

/* }====== */


/* {====== One value of a group: minimum, maximum, first, last ====== */

static void min_words (pf_accumulator *m, const pf_present *p) {
  pf_state_value *const states = m->states;
  for (size_t i = 0; i < p->rows; i++) {
    pf_state_value *const s = &states[p->groups[i]];
    s->word = p->words[i] < s->word || s->seen == 0 ? p->words[i] : s->word;
    s->seen = 1;
  }
}


static void max_words (pf_accumulator *m, const pf_present *p) {
  pf_state_value *const states = m->states;
  for (size_t i = 0; i < p->rows; i++) {
    pf_state_value *const s = &states[p->groups[i]];
    s->word =
        p->words[i] > s->word ? p->words[i] : s->word; /* 0 is the minimum */
    s->seen = 1;
  }
}


static void first_words (pf_accumulator *m, const pf_present *p) {
  pf_state_value *const states = m->states;
  for (size_t i = 0; i < p->rows; i++) {
    pf_state_value *const s = &states[p->groups[i]];
    if (s->seen == 0)
      *s = (pf_state_value){p->words[i], 1};
  }
}


static void last_words (pf_accumulator *m, const pf_present *p) {
  pf_state_value *const states = m->states;
  for (size_t i = 0; i < p->rows; i++)
    states[p->groups[i]] = (pf_state_value){p->words[i], 1};
}


/* The minimum or maximum name, by its bytes. */
static void extreme_names (pf_accumulator *m, const pf_present *p) {
  pf_state_value *const states = m->states;
  const int better = m->kind == PF_ACCUMULATE_MIN ? -1 : 1;
  for (size_t i = 0; i < p->rows; i++) {
    pf_state_value *const s = &states[p->groups[i]];
    if (s->seen != 0 && s->word == p->words[i])
      continue;
    if (s->seen == 0 || pf_name_compare(m->names, (uint32_t)p->words[i],
                                        (uint32_t)s->word) == better)
      *s = (pf_state_value){p->words[i], 1};
  }
}

/* }====== */


/* {====== Values of bytes: only stored ones are copied ====== */

static pf_status keep_text (pf_accumulator *m, pf_state_value *s, pf_bytes text,
                            uint64_t seen) {
  const uint32_t number = pf_intern(m->texts, text);
  *s = (pf_state_value){number, seen};
  return number == PF_NO_NAME ? PF_ENOMEM : PF_OK;
}


/* Whether `text` replaces the stored minimum or maximum. */
static bool is_better (const pf_accumulator *m, const pf_state_value *s,
                       pf_bytes text) {
  const pf_bytes kept = pf_name(m->texts, (uint32_t)s->word);
  const size_t common = text.size < kept.size ? text.size : kept.size;
  int order = common == 0 ? 0 : memcmp(text.at, kept.at, common);
  if (order == 0)
    order = (text.size > kept.size) - (text.size < kept.size);
  return m->kind == PF_ACCUMULATE_MIN ? order < 0 : order > 0;
}


static pf_status pick_texts (pf_accumulator *m, const pf_present *p) {
  pf_state_value *const states = m->states;
  const pf_bytes *const texts = p->values;
  for (size_t i = 0; i < p->rows; i++) {
    pf_state_value *const s = &states[p->groups[i]];
    if (s->seen == 0 ||
        (m->kind != PF_ACCUMULATE_FIRST && is_better(m, s, texts[i])))
      if (keep_text(m, s, texts[i], 1) != PF_OK)
        return PF_ENOMEM;
  }
  return PF_OK;
}


/* Backwards, so that only one text per batch and group is copied. */
static pf_status last_texts (pf_accumulator *m, const pf_present *p) {
  pf_state_value *const states = m->states;
  const pf_bytes *const texts = p->values;
  for (size_t i = p->rows; i-- > 0;) {
    pf_state_value *const s = &states[p->groups[i]];
    if (s->seen != m->batches && keep_text(m, s, texts[i], m->batches) != PF_OK)
      return PF_ENOMEM;
  }
  return PF_OK;
}

/* }====== */


/* {====== Distinct values ====== */

typedef struct member_key {
  const struct pf_member *members;
  struct pf_member wanted;
} member_key;


static bool is_member (const void *context, uint32_t number) {
  const member_key *const key = context;
  const struct pf_member *const member = &key->members[number];
  return member->word == key->wanted.word && member->group == key->wanted.group;
}


pf_status pf_accumulator_add_member (pf_accumulator *m, uint64_t word,
                                     uint32_t group) {
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
    uint64_t word = 0;
    if (p->words != NULL)
      word = p->words[i];
    else if ((word = pf_intern(m->texts, texts[i])) == PF_NO_NAME)
      return PF_ENOMEM;
    if (pf_accumulator_add_member(m, word, p->groups[i]) != PF_OK)
      return PF_ENOMEM;
  }
  return PF_OK;
}

/* }====== */


static pf_status add_quantile (pf_accumulator *m, const pf_present *p) {
  pf_quantile *const states = m->states;
  for (size_t i = 0; i < p->rows; i++)
    if (pf_quantile_add(&states[p->groups[i]], &m->pool, m->type,
                        p->words[i]) != PF_OK)
      return PF_ENOMEM;
  return PF_OK;
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


static size_t state_size (pf_accumulator_kind kind) {
  switch (kind) {
    case PF_ACCUMULATE_COUNT:
    case PF_ACCUMULATE_DISTINCT: return sizeof(pf_state_count);
    case PF_ACCUMULATE_SUM: return sizeof(pf_state_sum);
    case PF_ACCUMULATE_VARIANCE: return sizeof(pf_state_variance);
    case PF_ACCUMULATE_SQUARES: return sizeof(pf_state_squares);
    case PF_ACCUMULATE_FRACTION: return sizeof(pf_state_fraction);
    case PF_ACCUMULATE_QUANTILE: return sizeof(pf_quantile);
    default: return sizeof(pf_state_value);
  }
}


bool pf_accumulator_needs_words (const pf_accumulator *m) {
  return m->type != PF_BYTES && m->kind >= PF_ACCUMULATE_MIN;
}


pf_status pf_accumulator_reserve (pf_accumulator *m, size_t groups) {
  if (groups <= m->capacity)
    return PF_OK;
  size_t capacity = m->capacity == 0 ? 64 : m->capacity;
  while (capacity < groups)
    capacity *= 2;
  if ((m->wide != NULL && !pf_widen(&m->wide, m->capacity, capacity)) ||
      (m->absent != NULL && !pf_widen(&m->absent, m->capacity, capacity)) ||
      !pf_widen_array(&m->states, m->capacity, capacity, state_size(m->kind)))
    return PF_ENOMEM;
  m->capacity = capacity;
  if (m->type == PF_BYTES && m->texts == NULL)
    m->texts = pf_dictionary_new();
  return m->type == PF_BYTES && m->texts == NULL ? PF_ENOMEM : PF_OK;
}


/* Add to accumulators that store one order word per group. */
static void pick_words (pf_accumulator *m, const pf_present *p) {
  const bool is_best =
      m->kind == PF_ACCUMULATE_MIN || m->kind == PF_ACCUMULATE_MAX;
  if (is_best && m->type == PF_NAME)
    extreme_names(m, p);
  else if (m->kind == PF_ACCUMULATE_MIN)
    min_words(m, p);
  else if (m->kind == PF_ACCUMULATE_MAX)
    max_words(m, p);
  else if (m->kind == PF_ACCUMULATE_FIRST)
    first_words(m, p);
  else
    last_words(m, p);
}


pf_status pf_accumulator_add (pf_accumulator *m, const pf_present *p) {
  m->batches++;
  switch (m->kind) {
    case PF_ACCUMULATE_COUNT: count_rows(m->states, p->groups, p->rows); break;
    case PF_ACCUMULATE_VARIANCE: add_variance(m, p); break;
    case PF_ACCUMULATE_SQUARES: add_squares(m, p); break;
    case PF_ACCUMULATE_DISTINCT: return add_distinct(m, p);
    case PF_ACCUMULATE_QUANTILE: return add_quantile(m, p);
    case PF_ACCUMULATE_SUM:
      if (m->type == PF_INT)
        return sum_ints(m, p);
      sum_nums(m, p);
      break;
    default:
      if (m->type != PF_BYTES)
        pick_words(m, p);
      else if (m->kind == PF_ACCUMULATE_LAST)
        return last_texts(m, p);
      else
        return pick_texts(m, p);
  }
  return PF_OK;
}


pf_status pf_accumulator_count_absent (pf_accumulator *m) {
  if (m->absent == NULL)
    m->absent = calloc(m->capacity, sizeof *m->absent);
  return m->absent == NULL ? PF_ENOMEM : PF_OK;
}


/* Count the missing rows of one word of the bitmap. */
static void count_absent (uint64_t *absent, uint64_t missing,
                          const uint32_t *groups) {
  for (; missing != 0; missing &= missing - 1)
    absent[groups[__builtin_ctzll(missing)]]++;
}


/* If most rows have no value, it is faster to count all rows and subtract the
   present ones. */
pf_status pf_accumulator_add_absent (pf_accumulator *m, const pf_column *column,
                                     const uint32_t *groups, size_t rows,
                                     const pf_present *present) {
  if (pf_accumulator_count_absent(m) != PF_OK)
    return PF_ENOMEM;
  uint64_t *const absent = m->absent;
  if (present->rows < rows / 2) {
    count_rows(absent, groups, rows);
    for (size_t i = 0; i < present->rows; i++)
      absent[present->groups[i]]--;
    return PF_OK;
  }
  for (size_t first = 0; first < rows; first += 64) {
    const size_t left = rows - first;
    const uint64_t there = left < 64 ? ((uint64_t)1 << left) - 1 : UINT64_MAX;
    count_absent(absent, column->missing[first / 64] & there, groups + first);
  }
  return PF_OK;
}


void pf_accumulator_close (pf_accumulator *m) {
  if (m->kind == PF_ACCUMULATE_QUANTILE)
    for (size_t g = 0; g < m->capacity; g++)
      pf_quantile_free(&((pf_quantile *)m->states)[g]);
  free(m->states);
  free(m->wide);
  free(m->absent);
  free(m->set.members);
  pf_intern_table_free(&m->set.known);
  pf_dictionary_free(m->texts);
}
