/*
** functions.c - the functions of aggregates: their names, the columns that they
** fit, and the types of their results (aggregate.h).
*/

#include <string.h>

#include "kernels/group/aggregate.h"


bool pf_rank_named (const char *name, uint32_t *rank) {
  const char *text = name + 1;
  uint64_t value = 0, unit = PF_RANK_SCALE / 100;
  size_t digits = 0;
  for (; *text >= '0' && *text <= '9' && digits < 3; text++, digits++)
    value = value * 10 + (uint64_t)(*text - '0');
  if (name[0] != 'p' || digits == 0)
    return false;
  value *= unit;
  if (*text == '.') {
    if (*++text == '\0')
      return false;
    for (; *text >= '0' && *text <= '9' && unit > 1; text++)
      value += (uint64_t)(*text - '0') * (unit /= 10);
  }
  *rank = (uint32_t)value;
  return *text == '\0' && value <= PF_RANK_SCALE;
}


bool pf_aggregate_named (const char *name, pf_aggregate *aggregate) {
  static const char *const names[] = {"count", "sum",  "min",
                                      "max",   "mean", "stddev",
                                      "first", "last", "distinct"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strcmp(name, names[i]) == 0) {
      aggregate->function = (pf_function)i;
      return true;
    }
  aggregate->function = PF_QUANTILE;
  return pf_rank_named(name, &aggregate->rank);
}


static bool takes_numbers (pf_function function) {
  return function == PF_SUM || function == PF_MEAN || function == PF_STDDEV ||
         function == PF_QUANTILE;
}


pf_type pf_aggregate_reads (pf_function function, const pf_field *field) {
  if (field == NULL || (takes_numbers(function) && pf_has_any_type(field)))
    return PF_INT;
  return field->type;
}


bool pf_aggregate_fits (pf_function function, const pf_field *field) {
  const pf_type type = pf_aggregate_reads(function, field);
  if (takes_numbers(function))
    return type == PF_INT || type == PF_NUM;
  switch (function) {
    case PF_MIN:
    case PF_MAX: return type != PF_AREA && type != PF_STACK;
    default: return true;
  }
}


size_t pf_aggregate_rest (const pf_aggregate *aggregate, const pf_field *fields,
                          size_t nfields) {
  const bool is_sum =
      aggregate->function == PF_SUM || aggregate->function == PF_MEAN;
  return is_sum ? pf_remainder_of(fields, nfields, aggregate->column)
                : PF_NO_COLUMN;
}


pf_type pf_aggregate_type (pf_function function, const pf_field *field) {
  switch (function) {
    case PF_COUNT:
    case PF_DISTINCT: return PF_INT;
    case PF_MEAN:
    case PF_STDDEV: return PF_NUM;
    default: return pf_aggregate_reads(function, field);
  }
}
