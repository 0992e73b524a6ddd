/*
** wide.c - ratios, standard deviations, sums of fractions, and products with a
** factor. The quotient of a ratio is computed to more bits than a double holds;
** its lowest bit is set if there is a remainder (sticky bit). The conversion to
** a double then rounds once, correctly.
*/

#include <math.h>

#include "model/base/wide.h"

#define QUOTIENT_BITS 55 /* after the first; a double has 53 in all */

static pf_magnitude magnitude_of (pf_wide value) {
  return value < 0 ? 0 - (pf_magnitude)value : (pf_magnitude)value;
}


/* Returns the number of bits of `value`, which is not 0. */
static int bits_of (pf_magnitude value) {
  const uint64_t high = (uint64_t)(value >> 64);
  return high != 0 ? 128 - __builtin_clzll(high)
                   : 64 - __builtin_clzll((uint64_t)value);
}


/* Shifts the highest set bit to bit 126. Only 2^127 is shifted right, which
   loses no bit that is set. */
static pf_magnitude normalise (pf_magnitude value, int bits) {
  return bits == 128 ? value >> 1 : value << (127 - bits);
}


double pf_ratio_wide (pf_wide dividend, pf_wide divisor) {
  const pf_magnitude a = magnitude_of(dividend), b = magnitude_of(divisor);
  if (a == 0)
    return 0;
  const int above = bits_of(a), below = bits_of(b);
  pf_magnitude rest = normalise(a, above);
  const pf_magnitude unit = normalise(b, below);
  uint64_t quotient = 0;
  for (int i = 0; i <= QUOTIENT_BITS; i++) {
    quotient <<= 1;
    if (rest >= unit) {
      quotient |= 1;
      rest -= unit;
    }
    rest <<= 1;
  }
  quotient |= rest != 0;
  const double ratio = ldexp((double)quotient, above - below - QUOTIENT_BITS);
  return (dividend < 0) != (divisor < 0) ? -ratio : ratio;
}


/* Adds a * b to a number of 256 bits, from limb number `at` on. */
static void add_product (uint64_t *limbs, size_t at, uint64_t a, uint64_t b) {
  pf_magnitude carry = (pf_magnitude)a * b;
  for (; at < 4; at++) {
    carry += limbs[at];
    limbs[at] = (uint64_t)carry;
    carry >>= 64;
  }
}


/* sqrt(count * squares - sum * sum) / count: the difference of the two large
   numbers is exact before it is rounded. */
double pf_stddev (const pf_squares *squares, pf_wide sum, uint64_t count) {
  const pf_magnitude size = magnitude_of(sum);
  const uint64_t low = (uint64_t)size, high = (uint64_t)(size >> 64);
  uint64_t first[4] = {0}, second[4] = {0}, borrow = 0;
  double difference = 0;
  for (size_t i = 0; i < 3; i++)
    add_product(first, i, squares->limbs[i], count);
  add_product(second, 0, low, low);
  add_product(second, 1, low, high);
  add_product(second, 1, low, high);
  add_product(second, 2, high, high);
  for (size_t i = 0; i < 4; i++) {
    const pf_magnitude part = (pf_magnitude)first[i] - second[i] - borrow;
    first[i] = (uint64_t)part;
    borrow = part >> 64 != 0;
  }
  for (size_t i = 4; i-- > 0;)
    difference = difference * 0x1p64 + (double)first[i];
  return sqrt(difference) / (double)count;
}


static int64_t common_divisor (int64_t a, int64_t b) {
  while (b != 0) {
    const int64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}


void pf_fraction_add (pf_fraction *sum, pf_wide numerator,
                      int64_t denominator) {
  if (sum->denominator == 0)
    sum->denominator = denominator;
  if (sum->denominator != denominator) {
    const int64_t more =
        denominator / common_divisor(denominator, sum->denominator);
    int64_t common;
    pf_wide ours, theirs;
    if (__builtin_mul_overflow(sum->denominator, more, &common) ||
        __builtin_mul_overflow(sum->numerator, more, &ours) ||
        __builtin_mul_overflow(numerator, common / denominator, &theirs) ||
        __builtin_add_overflow(ours, theirs, &ours)) {
      sum->rest += pf_ratio(numerator, denominator);
      return;
    }
    *sum = (pf_fraction){ours, common, sum->rest};
    return;
  }
  sum->numerator += numerator;
}


pf_factor pf_factor_of (double number) {
  int power;
  const int64_t multiplier = (int64_t)ldexp(frexp(number, &power), 53);
  return (pf_factor){multiplier, 1, power - 53};
}


static pf_wide product_of (pf_wide sum, pf_factor factor) {
  pf_wide product;
  if (factor.power > 64 || factor.power < -125 ||
      __builtin_mul_overflow(sum, factor.multiplier, &product) ||
      (factor.power > 0 &&
       __builtin_mul_overflow(product, (pf_wide)1 << factor.power, &product))) {
    /* too large for integers */
    const double number =
        ldexp((double)sum * (double)factor.multiplier / (double)factor.divisor,
              factor.power);
    return (pf_wide)fmax(fmin(number, 0x1p100), -0x1p100);
  }
  /* The quotient, rounded to nearest, halves away from 0. */
  const int down = factor.power < 0 ? -factor.power : 0;
  const pf_wide divisor = (pf_wide)factor.divisor << down;
  const pf_magnitude rest = magnitude_of(product % divisor);
  const bool is_up = rest >= (pf_magnitude)divisor - rest;
  return product / divisor + (is_up ? product < 0 ? -1 : 1 : 0);
}


bool pf_scaled (pf_wide sum, pf_factor factor, int64_t *scaled) {
  const bool is_zero = sum == 0 || factor.multiplier == 0;
  const pf_wide value = is_zero ? 0 : product_of(sum, factor);
  *scaled = value > INT64_MAX   ? INT64_MAX
            : value < INT64_MIN ? INT64_MIN
                                : (int64_t)value;
  return value == *scaled;
}
