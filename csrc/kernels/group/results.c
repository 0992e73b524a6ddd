/*
** results.c - writes the results of aggregates (pf_aggregates_finish).
*/

#include <stdlib.h>

#include "kernels/base/order.h"
#include "kernels/group/estimates.h"
#include "kernels/group/plan.h"


/* Write the sum or mean of integers, including the rounding remainders of their
   hidden column. */
static pf_status put_total (const pf_aggregates *a, size_t number, size_t group,
                            pf_column *column, size_t row, pf_error *error) {
  const pf_aggregate *const aggregate = &a->list[number];
  const pf_accumulator *const m = &a->accumulators[a->accumulator_of[number]];
  const size_t rest = a->rest_of[number];
  pf_wide sum = pf_accumulator_sum(m, group), unit = 1;
  if (rest != PF_NO_COLUMN) {
    unit = PF_REMAINDER_UNIT;
    sum = sum * unit + pf_accumulator_sum(&a->accumulators[rest], group);
  }
  if (aggregate->function == PF_MEAN) {
    column->nums[row] = pf_ratio(sum, pf_accumulator_count(m, group) * unit);
    return PF_OK;
  }
  if (rest != PF_NO_COLUMN)
    sum = pf_ns_of_parts(sum);
  column->ints[row] = (int64_t)sum;
  if (sum != (int64_t)sum && aggregate->may_overflow)
    pf_set_missing(column, row);
  else if (sum != (int64_t)sum)
    return pf_fail(error, PF_ELIMIT, PF_NO_OFFSET,
                   "aggregate %s: a sum exceeds 64 bits; use the mean, or "
                   "group fewer rows",
                   aggregate->name);
  return PF_OK;
}


/* Write one result that is not missing. */
static pf_status put (const pf_aggregates *a, size_t number, size_t group,
                      pf_column *column, size_t row, pf_error *error) {
  const pf_aggregate *const aggregate = &a->list[number];
  pf_accumulator *const m = &a->accumulators[a->accumulator_of[number]];
  if (aggregate->function == PF_COUNT) {
    uint64_t count = pf_accumulator_count(m, group);
    if (aggregate->column == PF_NO_COLUMN && m->absent != NULL)
      count += m->absent[group];
    column->ints[row] = (int64_t)count;
    return PF_OK;
  }
  if (m->kind == PF_ACCUMULATE_SUM && m->type == PF_INT)
    return put_total(a, number, group, column, row, error);
  switch (m->kind) {
    case PF_ACCUMULATE_SUM:
    case PF_ACCUMULATE_FRACTION:
    case PF_ACCUMULATE_VARIANCE:
    case PF_ACCUMULATE_SQUARES:
      column->nums[row] =
          pf_accumulator_number(m, group, aggregate->function == PF_MEAN);
      break;
    case PF_ACCUMULATE_COUNT:
    case PF_ACCUMULATE_DISTINCT:
      column->ints[row] = (int64_t)pf_accumulator_count(m, group);
      break;
    case PF_ACCUMULATE_AT_MAX:
      column->ints[row] = ((pf_state_place *)m->states)[group].at;
      break;
    case PF_ACCUMULATE_QUANTILE:
      pf_unorder(column, row,
                 pf_quantile_at(&((pf_quantile *)m->states)[group], m->type,
                                aggregate->rank));
      break;
    default: {
      const uint64_t word = ((pf_state_value *)m->states)[group].word;
      if (m->type == PF_BYTES)
        column->bytes[row] = pf_name(m->texts, (uint32_t)word);
      else
        pf_unorder(column, row, word);
    }
  }
  return PF_OK;
}


/* Write the hidden column of a sum: its rounding remainder, or the denominators
   of fractions. */
static void put_rest (const pf_aggregates *a, size_t number, size_t group,
                      int64_t *to) {
  const pf_accumulator *const m = &a->accumulators[a->accumulator_of[number]];
  if (m->kind == PF_ACCUMULATE_FRACTION) {
    const pf_fraction *const sum = &((pf_state_fraction *)m->states)[group].sum;
    *to = sum->denominator == 0 ? 1 : sum->denominator;
    return;
  }
  const pf_accumulator *const rest = &a->accumulators[a->rest_of[number]];
  const pf_wide parts = pf_accumulator_sum(m, group) * PF_REMAINDER_UNIT +
                        pf_accumulator_sum(rest, group);
  *to = (int64_t)(parts - pf_ns_of_parts(parts) * PF_REMAINDER_UNIT);
}


static bool has_rest (const pf_aggregates *a, size_t number) {
  const pf_accumulator *const m = &a->accumulators[a->accumulator_of[number]];
  return a->list[number].function == PF_SUM &&
         (a->rest_of[number] != PF_NO_COLUMN ||
          m->kind == PF_ACCUMULATE_FRACTION);
}


/* Write the results of one aggregate. */
static pf_status put_all (const pf_aggregates *a, size_t number,
                          pf_store *store, const uint32_t *row_of,
                          size_t ngroups, pf_error *error) {
  const pf_accumulator *const m = &a->accumulators[a->accumulator_of[number]];
  /* For an empty group count, sum and distinct are 0, so that sums over chunks
     add up; the others are missing. */
  const pf_function function = a->list[number].function;
  const size_t to = a->list[number].to;
  const bool zero =
      function == PF_COUNT || function == PF_SUM || function == PF_DISTINCT;
  pf_status status = PF_OK;
  for (size_t g = 0; g < ngroups && status == PF_OK; g++) {
    const size_t row = row_of == NULL ? g : row_of[g];
    if (row == PF_NO_ROW)
      continue;
    if (!zero && pf_accumulator_count(m, g) == 0)
      pf_store_set_missing(store, to, row);
    else
      status = put(a, number, g, &store->columns[to], row, error);
  }
  return status;
}


/* Write into column `about` of a row which quantiles of a group are
   estimates. */
static pf_status put_about (const pf_aggregates *a, size_t group,
                            pf_estimates *about, pf_dictionary *names,
                            pf_column *column, size_t row) {
  for (size_t i = 0; i < a->count; i++) {
    const pf_accumulator *const m = &a->accumulators[a->accumulator_of[i]];
    if (a->list[i].function == PF_QUANTILE && a->list[i].to != PF_NO_COLUMN &&
        pf_accumulator_count(m, group) > 0 &&
        pf_quantile_error(&((const pf_quantile *)m->states)[group], m->type,
                          a->list[i].rank) > 0 &&
        !pf_estimates_add(about, a->list[i].name))
      return PF_ENOMEM;
  }
  return pf_estimates_put(about, names, column, row);
}


pf_status pf_aggregates_finish (pf_aggregates *a, pf_store *store,
                                size_t hidden, const uint32_t *row_of,
                                size_t ngroups, pf_error *error) {
  if (pf_aggregates_reserve(a, ngroups) != PF_OK ||
      pf_aggregates_settle(a, ngroups) != PF_OK)
    return pf_no_memory(error);
  for (size_t i = 0; i < a->count; i++) {
    if (a->list[i].to == PF_NO_COLUMN)
      continue;
    const pf_status status = put_all(a, i, store, row_of, ngroups, error);
    if (status != PF_OK)
      return status;
    if (!has_rest(a, i))
      continue;
    for (size_t g = 0; g < ngroups; g++)
      if (row_of == NULL || row_of[g] != PF_NO_ROW)
        put_rest(a, i, g,
                 &store->columns[hidden].ints[row_of == NULL ? g : row_of[g]]);
    hidden++;
  }
  pf_estimates about = {.at = NULL};
  pf_status status = PF_OK;
  if (hidden < store->nfields)
    store->columns[hidden].has_missing = true; /* the bitmap is clear */
  for (size_t g = 0; hidden < store->nfields && g < ngroups && status == PF_OK;
       g++)
    if (row_of == NULL || row_of[g] != PF_NO_ROW)
      status =
          put_about(a, g, &about, store->dictionary, &store->columns[hidden],
                    row_of == NULL ? g : row_of[g]);
  free(about.at);
  return status == PF_OK ? PF_OK : pf_no_memory(error);
}
