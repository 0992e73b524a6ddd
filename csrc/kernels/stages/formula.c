/*
** formula.c - runs the steps of a formula, each for all rows of a batch.
** Integers of 64 bits, signed or unsigned, are computed in 128 bits, so that
** one loop serves all types and overflow is one comparison.
*/

#include <math.h>
#include <string.h>

#include "kernels/stages/formula.h"


static bool is_missing (const pf_operand *operand, size_t row) {
  return operand->has_missing &&
         (operand->missing[row >> 6] >> (row & 63) & 1) != 0;
}


static void set_missing (pf_operand *operand, size_t row) {
  if (!operand->has_missing)
    memset(operand->missing, 0, sizeof operand->missing);
  operand->has_missing = true;
  operand->missing[row >> 6] |= (uint64_t)1 << (row & 63);
}


/* Mark as missing in `operand` all rows that are missing in `more`. */
static void join_missing (pf_operand *operand, const pf_operand *more) {
  if (!more->has_missing)
    return;
  for (size_t i = 0; i < PF_BATCH_ROWS / 64; i++)
    operand->missing[i] =
        more->missing[i] | (operand->has_missing ? operand->missing[i] : 0);
  operand->has_missing = true;
}


/* The integer of a row, or the numerator. */
static inline pf_wide whole_at (const pf_operand *operand, size_t row) {
  if (operand->is_wide)
    return operand->wides[row];
  return operand->type == PF_INT ? (pf_wide)operand->ints[row]
                                 : (pf_wide)operand->addrs[row];
}


/* Write an integer of 64 bits. If the type cannot hold it the row is missing,
   and an overflow unless it was missing before. */
static inline void put_whole (pf_operand *operand, pf_type type, size_t row,
                              pf_wide value, pf_row_set *overflows) {
  const bool fits = type == PF_INT ? value == (int64_t)value
                                   : value == (pf_wide)(uint64_t)value;
  operand->addrs[row] = (uint64_t)value;
  if (__builtin_expect(!fits, 0) && !is_missing(operand, row)) {
    set_missing(operand, row);
    overflows->bits[row >> 6] |= (uint64_t)1 << (row & 63);
  }
}


static inline int64_t denominator_at (const pf_operand *operand, size_t row) {
  if (!operand->is_fraction)
    return 1;
  return operand->type == PF_NUM ? operand->denominators[row]
                                 : (int64_t)PF_REMAINDER_UNIT;
}


/* Narrow sums of 128 bits to 64, and convert fractions to numbers. Values move
   to lower addresses, in order. */
static void narrow (pf_operand *operand, size_t rows, pf_row_set *overflows) {
  if (!operand->is_wide)
    return;
  for (size_t i = 0; i < rows; i++)
    if (operand->type == PF_NUM)
      operand->nums[i] =
          is_missing(operand, i)
              ? NAN
              : pf_ratio(operand->wides[i], denominator_at(operand, i));
    else
      put_whole(operand, operand->type, i,
                operand->is_fraction ? pf_ns_of_parts(operand->wides[i])
                                     : operand->wides[i],
                overflows);
  operand->has_missing = operand->has_missing && operand->type != PF_NUM;
  operand->is_wide = operand->is_fraction = false;
}


/* Convert integers of 64 bits to numbers. */
static void to_nums (pf_operand *operand, size_t rows) {
  if (operand->type == PF_NUM)
    return;
  for (size_t i = 0; i < rows; i++)
    if (is_missing(operand, i))
      operand->nums[i] = NAN;
    else
      operand->nums[i] = operand->type == PF_INT ? (double)operand->ints[i]
                                                 : (double)operand->addrs[i];
  operand->type = PF_NUM;
  operand->has_missing = false;
}


/* The ratio of integers or fractions: of two products, rounded once if 128 bits
   can hold them. */
static void divide_exact (pf_operand *a, const pf_operand *b, size_t rows) {
  for (size_t i = 0; i < rows; i++) {
    const pf_wide x = whole_at(a, i), y = whole_at(b, i);
    const bool is_there = y != 0 && !is_missing(a, i) && !is_missing(b, i);
    const int64_t below_x = denominator_at(a, i),
                  below_y = denominator_at(b, i);
    pf_wide above = x, below = y;
    if (!is_there)
      a->nums[i] = NAN;
    else if (below_x != below_y &&
             (__builtin_mul_overflow(x, below_y, &above) ||
              __builtin_mul_overflow(y, below_x, &below)))
      a->nums[i] = pf_ratio(x, below_x) / pf_ratio(y, below_y);
    else
      a->nums[i] = pf_ratio(above, below);
  }
  a->is_wide = a->is_fraction = a->has_missing = false;
}


/* As in Lua: the quotient is rounded down, and the remainder has the sign of
   the divisor. */
static double rest_of (double a, double b) {
  const double rest = fmod(a, b);
  return rest * b < 0 ? rest + b : rest;
}


static double num_of_two (pf_operation operation, double a, double b) {
  switch (operation) {
    case PF_ADD: return a + b;
    case PF_SUBTRACT: return a - b;
    case PF_MULTIPLY: return a * b;
    case PF_DIVIDE: return b == 0 ? NAN : a / b;
    case PF_QUOTIENT: return b == 0 ? NAN : floor(a / b);
    case PF_REMAINDER: return b == 0 ? NAN : rest_of(a, b);
    case PF_LEAST: return isnan(a) || isnan(b) ? NAN : a < b ? a : b;
    default: return isnan(a) || isnan(b) ? NAN : a > b ? a : b;
  }
}


/* The divisor is not 0. A product that exceeds 128 bits becomes a value that no
   type can hold; quotients are rounded down. */
static pf_wide whole_of_two (pf_operation operation, pf_wide a, pf_wide b) {
  pf_wide product;
  switch (operation) {
    case PF_ADD: return a + b;
    case PF_SUBTRACT: return a - b;
    case PF_MULTIPLY:
      return __builtin_mul_overflow(a, b, &product) ? (pf_wide)1 << 100
                                                    : product;
    case PF_QUOTIENT: return a / b - (a % b != 0 && (a < 0) != (b < 0));
    case PF_REMAINDER:
      return a % b + (a % b != 0 && (a < 0) != (b < 0) ? b : 0);
    case PF_LEAST: return a < b ? a : b;
    default: return a > b ? a : b;
  }
}


#define NO_ORDER 2 /* one of the two is missing */

static int order_of_whole (pf_wide a, pf_wide b) {
  return (a > b) - (a < b);
}


/* Compare an integer of 64 bits with a num, without rounding. */
static int order_of_mixed (pf_wide a, double b) {
  if (isnan(b))
    return NO_ORDER;
  if (fabs(b) >= 0x1p65)
    return b > 0 ? -1 : 1;
  const double below = floor(b);
  const int order = order_of_whole(a, (pf_wide)below);
  return order == 0 && b > below ? -1 : order;
}


static int order_at (const pf_operand *a, const pf_operand *b, size_t row) {
  if (is_missing(a, row) || is_missing(b, row))
    return NO_ORDER;
  if (a->type == PF_NUM && b->type == PF_NUM)
    return isnan(a->nums[row]) || isnan(b->nums[row])
               ? NO_ORDER
               : (a->nums[row] > b->nums[row]) - (a->nums[row] < b->nums[row]);
  if (b->type == PF_NUM)
    return order_of_mixed(whole_at(a, row), b->nums[row]);
  if (a->type != PF_NUM)
    return order_of_whole(whole_at(a, row), whole_at(b, row));
  const int order = order_of_mixed(whole_at(b, row), a->nums[row]);
  return order == NO_ORDER ? NO_ORDER : -order;
}


static bool holds (pf_operation operation, int order) {
  switch (operation) {
    case PF_LESS: return order < 0;
    case PF_AT_MOST: return order <= 0;
    case PF_GREATER: return order > 0;
    case PF_AT_LEAST: return order >= 0;
    case PF_EQUAL: return order == 0;
    default: return order != 0;
  }
}


static void compare (pf_operation operation, pf_operand *a, const pf_operand *b,
                     size_t rows) {
  for (size_t i = 0; i < rows; i++) {
    const int order = order_at(a, b, i);
    a->ints[i] = order != NO_ORDER && holds(operation, order);
    if (order == NO_ORDER)
      set_missing(a, i);
  }
}


static void of_two (const pf_step *step, pf_operand *a, pf_operand *b,
                    size_t rows, pf_row_set *overflows) {
  const pf_operation operation = step->operation;
  const pf_type type = pf_step_type(step, NULL, a->type, b->type);
  const bool has_nums = a->type == PF_NUM || b->type == PF_NUM;
  if (operation == PF_DIVIDE && (a->type != PF_NUM || a->is_fraction) &&
      (b->type != PF_NUM || b->is_fraction))
    divide_exact(a, b, rows);
  else {
    narrow(a, rows, overflows);
    narrow(b, rows, overflows);
    if (operation >= PF_LESS)
      compare(operation, a, b, rows);
    else if (has_nums) {
      to_nums(a, rows);
      to_nums(b, rows);
      for (size_t i = 0; i < rows; i++)
        a->nums[i] = num_of_two(operation, a->nums[i], b->nums[i]);
    }
    else {
      const bool divides =
          operation == PF_QUOTIENT || operation == PF_REMAINDER;
      join_missing(a, b);
      for (size_t i = 0; i < rows; i++) {
        const pf_wide x = whole_at(a, i), y = whole_at(b, i);
        const bool has_result = !divides || y != 0;
        if (!has_result)
          set_missing(a, i);
        put_whole(a, type, i, has_result ? whole_of_two(operation, x, y) : 0,
                  overflows);
      }
    }
  }
  a->type = type;
}


static bool have_one_denominator (const pf_fraction *sum,
                                  const pf_operand *operand, size_t rows) {
  int64_t one = sum->denominator;
  for (size_t i = 0; i < rows; i++) {
    if (is_missing(operand, i))
      continue;
    if (one == 0)
      one = operand->denominators[i];
    if (operand->denominators[i] != one)
      return false;
  }
  return sum->rest == 0;
}


/* Running sums stay fractions if all have one denominator; else they become
   nums, each rounded once. */
static void run_fractions (pf_fraction *sum, pf_operand *operand, size_t rows) {
  const bool stay = have_one_denominator(sum, operand, rows);
  for (size_t i = 0; i < rows; i++) {
    const bool is_there = !is_missing(operand, i);
    if (is_there)
      pf_fraction_add(sum, operand->wides[i], operand->denominators[i]);
    if (stay)
      operand->wides[i] = sum->numerator;
    else
      operand->nums[i] =
          is_there ? pf_ratio(sum->numerator, sum->denominator) + sum->rest
                   : NAN;
  }
  if (!stay)
    operand->is_wide = operand->is_fraction = operand->has_missing = false;
}


/* Running sums. A missing value adds nothing and has no sum. */
static void run (pf_formula_sum *sum, pf_operand *operand, size_t rows,
                 pf_row_set *overflows) {
  if (operand->is_fraction && operand->type == PF_NUM) {
    run_fractions(&sum->fraction, operand, rows);
    return;
  }
  if (!operand->is_fraction)
    narrow(operand, rows, overflows);
  if (operand->type == PF_NUM) {
    for (size_t i = 0; i < rows; i++)
      if (!isnan(operand->nums[i]))
        operand->nums[i] = sum->number += operand->nums[i];
    return;
  }
  /* Backwards, because wide values overlap later ones. */
  for (size_t i = rows; !operand->is_wide && i-- > 0;)
    operand->wides[i] = whole_at(operand, i);
  operand->is_wide = true;
  for (size_t i = 0; i < rows; i++)
    if (!is_missing(operand, i))
      operand->wides[i] = sum->whole += operand->wides[i];
}


static void of_one (pf_operation operation, pf_operand *operand, size_t rows,
                    pf_row_set *overflows) {
  narrow(operand, rows, overflows);
  if (operation == PF_ROOT)
    to_nums(operand, rows);
  const pf_type type = operation == PF_NEGATE && operand->type != PF_NUM
                           ? PF_INT
                           : operand->type;
  for (size_t i = 0; i < rows; i++)
    if (operation == PF_ROOT)
      operand->nums[i] = operand->nums[i] < 0 ? NAN : sqrt(operand->nums[i]);
    else if (type == PF_NUM)
      operand->nums[i] =
          operation == PF_SIZE ? fabs(operand->nums[i]) : -operand->nums[i];
    else if (operation == PF_NEGATE || whole_at(operand, i) < 0)
      put_whole(operand, type, i, -whole_at(operand, i), overflows);
  operand->type = type;
}


/* Push a sum over all rows. `is_exact`: the column has a hidden column. */
static void push_sum (const pf_formula_sum *sum, pf_type type, bool is_exact,
                      pf_operand *operand, size_t rows) {
  const bool is_num = type == PF_NUM;
  operand->type = pf_number_type(type);
  operand->is_fraction = is_exact &&
                         (!is_num || sum->fraction.denominator != 0) &&
                         sum->fraction.rest == 0;
  operand->is_wide = !is_num || operand->is_fraction;
  operand->has_missing = false;
  const pf_fraction *const f = &sum->fraction;
  const double number = f->denominator == 0
                            ? sum->number
                            : pf_ratio(f->numerator, f->denominator) + f->rest;
  for (size_t i = 0; i < rows; i++) {
    operand->denominators[i] = f->denominator;
    if (operand->is_wide)
      operand->wides[i] = is_num ? f->numerator : sum->whole;
    else
      operand->nums[i] = number;
  }
}


void pf_step_run (const pf_step *step, pf_formula_sum *sum,
                  const pf_batch *batch, pf_operand *stack, size_t height,
                  pf_row_set *overflows) {
  const size_t rows = batch->rows, operands = pf_operands(step->operation);
  pf_operand *const operand = stack + height - operands;
  switch (step->operation) {
    case PF_PUSH_COLUMN: pf_operand_load(operand, step, batch); break;
    case PF_PUSH_TOTAL:
      push_sum(sum, batch->columns[step->column].type, step->rest != SIZE_MAX,
               operand, rows);
      break;
    case PF_PUSH_NUMBER:
      operand->type = step->type;
      operand->is_wide = operand->is_fraction = operand->has_missing = false;
      for (size_t i = 0; i < rows; i++)
        operand->ints[i] = step->integer; /* or the bits of the num */
      break;
    case PF_RUN: run(sum, operand, rows, overflows); break;
    default:
      if (operands == 2)
        of_two(step, operand, operand + 1, rows, overflows);
      else
        of_one(step->operation, operand, rows, overflows);
  }
}


void pf_operand_load (pf_operand *operand, const pf_step *step,
                      const pf_batch *batch) {
  const pf_column *const column = &batch->columns[step->column];
  const size_t rows = batch->rows;
  const bool is_exact = step->rest != SIZE_MAX;
  operand->type = pf_number_type(column->type);
  operand->is_wide = operand->is_fraction = operand->has_missing = false;
  if (column->type == PF_BOOL)
    for (size_t i = 0; i < rows; i++)
      operand->ints[i] = column->bools[i];
  else if (column->type == PF_NAME) /* all are missing */
    memset(operand->ints, 0, rows * sizeof *operand->ints);
  else
    memcpy(operand->ints, column->data, rows * sizeof *operand->ints);
  if (column->has_missing && operand->type == PF_NUM && !is_exact)
    for (size_t i = 0; i < rows; i++)
      operand->nums[i] = pf_is_missing(column, i) ? NAN : operand->nums[i];
  else if (column->has_missing) {
    memcpy(operand->missing, column->missing, sizeof operand->missing);
    operand->has_missing = true;
  }
  if (is_exact) {
    /* Convert to fractions with the hidden column: for integers it has the
       rounding remainders, for nums the denominators. */
    const pf_column *const rests = &batch->columns[step->rest];
    if (operand->type == PF_NUM)
      memcpy(operand->denominators, rests->ints, rows * sizeof *rests->ints);
    for (size_t i = rows; i-- > 0;) /* backwards, because wide values overlap
                                     later ones */
      if (is_missing(operand, i))
        operand->wides[i] = 0;
      else if (operand->type == PF_NUM)
        operand->wides[i] = llround(operand->nums[i] * (double)rests->ints[i]);
      else
        operand->wides[i] =
            operand->ints[i] * PF_REMAINDER_UNIT + rests->ints[i];
    operand->is_wide = operand->is_fraction = true;
  }
}


void pf_operand_add_to (const pf_operand *operand, size_t rows,
                        pf_formula_sum *sum) {
  for (size_t i = 0; i < rows; i++)
    if (is_missing(operand, i))
      continue;
    else if (operand->type != PF_NUM)
      sum->whole += whole_at(operand, i);
    else if (operand->is_fraction)
      pf_fraction_add(&sum->fraction, operand->wides[i],
                      operand->denominators[i]);
    else
      sum->number += isnan(operand->nums[i]) ? 0 : operand->nums[i];
}


void pf_operand_store (pf_operand *operand, pf_column *column, size_t rows,
                       pf_row_set *overflows) {
  narrow(operand, rows, overflows);
  for (size_t i = 0; i < rows; i++) {
    const bool is_num = operand->type == PF_NUM;
    const bool is_there =
        is_num ? isfinite(operand->nums[i]) : !is_missing(operand, i);
    column->ints[i] = is_there ? operand->ints[i] : 0;
    if (!is_there)
      pf_set_missing(column, i);
    if (is_num && isinf(operand->nums[i]))
      overflows->bits[i >> 6] |= (uint64_t)1 << (i & 63);
  }
}
