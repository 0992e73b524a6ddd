/*
** aggregate.c - assigns accumulators to aggregates, and extracts the present
** values of a batch.
*/

#include <stdlib.h>
#include <string.h>

#include "kernels/group/plan.h"
#include "kernels/base/order.h"
#include "kernels/group/estimates.h"
#include "model/dictionary/names.h"


static pf_accumulator_kind kind_of (pf_function function, pf_type type) {
  switch (function) {
    case PF_COUNT: return PF_ACCUMULATE_COUNT;
    case PF_MIN: return PF_ACCUMULATE_MIN;
    case PF_MAX: return PF_ACCUMULATE_MAX;
    case PF_STDDEV:
      return type == PF_INT ? PF_ACCUMULATE_SQUARES : PF_ACCUMULATE_VARIANCE;
    case PF_FIRST: return PF_ACCUMULATE_FIRST;
    case PF_LAST: return PF_ACCUMULATE_LAST;
    case PF_DISTINCT: return PF_ACCUMULATE_DISTINCT;
    case PF_QUANTILE: return PF_ACCUMULATE_QUANTILE;
    case PF_AT_MAX: return PF_ACCUMULATE_AT_MAX;
    default: return PF_ACCUMULATE_SUM;
  }
}


/* Whether an accumulator also has the results of another kind over a column. A
   sum also counts its values, and with `absent` all rows. */
static bool has_results_of (const pf_accumulator *m, pf_accumulator_kind kind,
                            size_t column) {
  if (kind == PF_ACCUMULATE_SUM && m->kind == PF_ACCUMULATE_FRACTION)
    return m->column == column;
  if (kind == PF_ACCUMULATE_COUNT && m->kind == PF_ACCUMULATE_SUM)
    return m->column == column || column == PF_NO_COLUMN;
  return m->kind == kind && m->column == column;
}


/* The index of an accumulator for an aggregate, an existing one or a new
   one. */
static size_t accumulator_for (pf_aggregates *a, pf_function function,
                               size_t column, const pf_field *fields,
                               const pf_dictionary *names) {
  const pf_type type = pf_aggregate_reads(
      function, column == PF_NO_COLUMN ? NULL : &fields[column]);
  const pf_accumulator_kind kind = kind_of(function, type);
  for (size_t i = 0; i < a->naccumulators; i++)
    if (has_results_of(&a->accumulators[i], kind, column)) {
      a->accumulators[i].counts_absent |= column == PF_NO_COLUMN;
      return i;
    }
  pf_accumulator *const m = &a->accumulators[a->naccumulators];
  m->kind = kind;
  m->column = column;
  m->names = names;
  m->type = type;
  m->pool = &a->pool;
  return a->naccumulators++;
}


/* Counts come last, so that they can use existing sums. */
static void plan_accumulators (pf_aggregates *a, const pf_field *fields,
                               size_t nfields, const pf_dictionary *names) {
  for (int counts = 0; counts <= 1; counts++)
    for (size_t i = 0; i < a->count; i++) {
      const pf_aggregate *const each = &a->list[i];
      if ((each->function == PF_COUNT) != (counts == 1))
        continue;
      const size_t rest = pf_aggregate_rest(each, fields, nfields);
      a->accumulator_of[i] =
          accumulator_for(a, each->function, each->column, fields, names);
      a->rest_of[i] = PF_NO_COLUMN;
      pf_accumulator *const m = &a->accumulators[a->accumulator_of[i]];
      if (rest != PF_NO_COLUMN && m->type == PF_INT)
        a->rest_of[i] = accumulator_for(a, PF_SUM, rest, fields, names);
      else if (rest != PF_NO_COLUMN) {
        m->kind = PF_ACCUMULATE_FRACTION;
        m->by = rest;
      }
      if (m->kind == PF_ACCUMULATE_AT_MAX)
        m->by = each->by;
    }
}


/* NULL when out of memory. */
static pf_aggregates *copy_of (const pf_aggregate *list, size_t count) {
  pf_aggregates *const a = calloc(1, sizeof *a);
  if (a == NULL)
    return NULL;
  a->list = calloc(count + 1, sizeof *a->list);
  a->accumulator_of = calloc(count + 1, sizeof *a->accumulator_of);
  a->rest_of = calloc(count + 1, sizeof *a->rest_of);
  a->accumulators = calloc(2 * count + 1, sizeof *a->accumulators);
  if (a->list == NULL || a->accumulator_of == NULL || a->rest_of == NULL ||
      a->accumulators == NULL) {
    pf_aggregates_close(a);
    return NULL;
  }
  a->count = count;
  memcpy(a->list, list, count * sizeof *list);
  return a;
}


pf_status pf_aggregates_open (const pf_aggregate *list, size_t count,
                              const pf_field *fields, size_t nfields,
                              const pf_dictionary *dictionary,
                              const pf_field *results,
                              pf_aggregates **aggregates) {
  pf_aggregates *const a = copy_of(list, count);
  if (a == NULL)
    return PF_ENOMEM;
  for (size_t i = 0; i < count; i++)
    if (list[i].to != PF_NO_COLUMN)
      a->list[i].name = results[list[i].to].name;
  plan_accumulators(a, fields, nfields, dictionary);
  *aggregates = a;
  return PF_OK;
}


void pf_aggregates_close (pf_aggregates *a) {
  if (a == NULL)
    return;
  for (size_t i = 0; i < a->naccumulators; i++)
    pf_accumulator_close(&a->accumulators[i]);
  free(a->list);
  free(a->accumulator_of);
  free(a->rest_of);
  free(a->accumulators);
  free(a);
}


/* Set a->present to the rows that have a value in the column; with PF_NO_COLUMN
   to all rows. */
static void prepare (pf_aggregates *a, const pf_batch *batch,
                     const uint32_t *groups, size_t column) {
  a->prepared = column;
  a->present = (pf_present){groups, NULL, batch->rows, NULL, NULL};
  if (column == PF_NO_COLUMN)
    return;
  const pf_column *const c = &batch->columns[column];
  a->present.values = c->data;
  if (!c->has_missing)
    return;
  size_t n = 0;
  for (size_t first = 0; first < batch->rows; first += 64) {
    const size_t left = batch->rows - first;
    uint64_t present = ~c->missing[first / 64];
    if (left < 64)
      present &= ((uint64_t)1 << left) - 1;
    for (; present != 0; present &= present - 1)
      a->rows[n++] = (uint16_t)(first + (size_t)__builtin_ctzll(present));
  }
  a->present = (pf_present){a->groups, a->rows, n, a->values, NULL};
  pf_copy_values(c, a->rows, n, a->values);
  for (size_t i = 0; i < n; i++)
    a->groups[i] = groups[a->rows[i]];
}


static bool is_each (const pf_accumulator *m) {
  return m->kind == PF_ACCUMULATE_QUANTILE || m->kind == PF_ACCUMULATE_SQUARES;
}


/* Add the rows of a batch to one accumulator. */
static pf_status add_to (pf_aggregates *a, pf_accumulator *m,
                         const pf_batch *batch, const uint32_t *groups,
                         size_t ngroups) {
  if (pf_accumulator_needs_words(m) && a->present.words == NULL) {
    pf_column present = batch->columns[m->column];
    if (present.has_missing)
      present.data = a->values;
    pf_order_column(&present, a->present.rows, a->words);
    a->present.words = a->words;
  }
  if (pf_accumulator_reserve(m, ngroups) != PF_OK)
    return PF_ENOMEM;
  if (m->kind == PF_ACCUMULATE_FRACTION)
    pf_accumulator_add_fractions(m, batch, groups);
  else if (m->kind == PF_ACCUMULATE_AT_MAX)
    pf_accumulator_add_places(m, &a->present, batch->columns[m->by].ints);
  else if (pf_accumulator_add(m, &a->present) != PF_OK)
    return PF_ENOMEM;
  return m->counts_absent && a->present.rows < batch->rows
             ? pf_accumulator_add_absent(m, &batch->columns[m->column], groups,
                                         batch->rows)
             : PF_OK;
}


pf_status pf_aggregates_add (pf_aggregates *a, bool only_each,
                             const pf_batch *batch, const uint32_t *groups,
                             size_t ngroups) {
  bool is_prepared = false;
  for (size_t i = 0; i < a->naccumulators; i++) {
    pf_accumulator *const m = &a->accumulators[i];
    if (only_each && !is_each(m))
      continue;
    if (!is_prepared || a->prepared != m->column)
      prepare(a, batch, groups, m->column);
    is_prepared = true;
    if (add_to(a, m, batch, groups, ngroups) != PF_OK)
      return PF_ENOMEM;
  }
  return PF_OK;
}


bool pf_aggregates_are_mergeable (const pf_aggregates *a) {
  for (size_t i = 0; i < a->naccumulators; i++)
    if (!pf_accumulator_is_mergeable(&a->accumulators[i]))
      return false;
  return true;
}


pf_status pf_aggregates_clone (const pf_aggregates *a, pf_aggregates **made) {
  pf_aggregates *const like = copy_of(a->list, a->count);
  if (like == NULL)
    return PF_ENOMEM;
  memcpy(like->accumulator_of, a->accumulator_of,
         a->count * sizeof *a->accumulator_of);
  memcpy(like->rest_of, a->rest_of, a->count * sizeof *a->rest_of);
  like->naccumulators = a->naccumulators;
  for (size_t i = 0; i < a->naccumulators; i++)
    pf_accumulator_clone(&like->accumulators[i], &a->accumulators[i],
                         &like->pool);
  *made = like;
  return PF_OK;
}


pf_status pf_aggregates_merge (pf_aggregates *a, const pf_aggregates *more,
                               const uint32_t *groups, size_t count,
                               size_t ngroups) {
  for (size_t i = 0; i < a->naccumulators; i++)
    if (pf_accumulator_reserve(&a->accumulators[i], ngroups) != PF_OK ||
        pf_accumulator_merge(&a->accumulators[i], &more->accumulators[i],
                             groups, count) != PF_OK)
      return PF_ENOMEM;
  return PF_OK;
}


pf_status pf_aggregates_reserve (pf_aggregates *a, size_t ngroups) {
  for (size_t i = 0; i < a->naccumulators; i++)
    if (pf_accumulator_reserve(&a->accumulators[i], ngroups) != PF_OK)
      return PF_ENOMEM;
  return PF_OK;
}


pf_summary pf_aggregates_summary (const pf_aggregates *a, size_t column,
                                  size_t group) {
  pf_summary s = {.min = INT64_MAX, .max = INT64_MIN};
  for (size_t i = 0; i < a->naccumulators; i++)
    if (a->accumulators[i].column == column)
      pf_accumulator_summary(&a->accumulators[i], group, &s);
  return s;
}


void pf_aggregates_add_summary (pf_aggregates *a, size_t column, size_t group,
                                const pf_summary *more, bool each) {
  for (size_t i = 0; i < a->naccumulators; i++)
    if (a->accumulators[i].column == column &&
        (each || !is_each(&a->accumulators[i])))
      pf_accumulator_add_summary(&a->accumulators[i], group, more);
}


pf_quantile *pf_aggregates_quantile (const pf_aggregates *a, size_t column,
                                     size_t group, pf_quantile_pool **pool) {
  size_t i = 0;
  while (a->accumulators[i].kind != PF_ACCUMULATE_QUANTILE ||
         a->accumulators[i].column != column)
    i++;
  *pool = a->accumulators[i].pool;
  return &((pf_quantile *)a->accumulators[i].states)[group];
}


pf_status pf_aggregates_settle (pf_aggregates *a, size_t ngroups) {
  for (size_t i = 0; i < a->naccumulators; i++)
    if (pf_accumulator_settle(&a->accumulators[i], ngroups) != PF_OK)
      return PF_ENOMEM;
  return PF_OK;
}


size_t pf_aggregates_add_about (const pf_aggregate *list, size_t count,
                                pf_field *fields, size_t nfields) {
  bool has_quantile = false;
  for (size_t i = 0; i < count; i++)
    has_quantile |= list[i].function == PF_QUANTILE;
  if (!has_quantile || pf_field_index(fields, nfields, PF_ABOUT) < nfields)
    return nfields;
  fields[nfields] = (pf_field){PF_ABOUT, PF_NAME, PF_ABOUT_HELP};
  return nfields + 1;
}
