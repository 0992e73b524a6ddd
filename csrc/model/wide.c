/*
** wide.c - a ratio is divided bit by bit, until one bit more than a double holds
** and the question whether anything is left tell how to round.
*/

#include <math.h>

#include "model/wide.h"

#define QUOTIENT_BITS 55 /* behind the point; a double has 53 in all */

__extension__ typedef unsigned __int128 magnitude;


static magnitude magnitude_of (pf_wide value) {
  return value < 0 ? 0 - (magnitude)value : (magnitude)value;
}


/* The number of bits up to the highest one that is set; `value` is not 0. */
static int bits_of (magnitude value) {
  const uint64_t high = (uint64_t)(value >> 64);
  return high != 0 ? 128 - __builtin_clzll(high)
                   : 64 - __builtin_clzll((uint64_t)value);
}


/* Shift the highest set bit to bit 126. Only 2^127 has one above it, and loses
   nothing. */
static magnitude normalise (magnitude value, int bits) {
  return bits == 128 ? value >> 1 : value << (127 - bits);
}


double pf_ratio_wide (pf_wide dividend, pf_wide divisor) {
  if (dividend == 0)
    return 0;
  const int above = bits_of(magnitude_of(dividend));
  const int below = bits_of(magnitude_of(divisor));
  magnitude rest = normalise(magnitude_of(dividend), above);
  const magnitude unit = normalise(magnitude_of(divisor), below);
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


static bool clamp (pf_wide value, int64_t *clamped) {
  *clamped = value > INT64_MAX   ? INT64_MAX
             : value < INT64_MIN ? INT64_MIN
                                 : (int64_t)value;
  return value == *clamped;
}


/* Halves are rounded away from 0. The divisor is above 0. */
static pf_wide rounded_quotient (pf_wide dividend, pf_wide divisor) {
  const pf_wide quotient = dividend / divisor;
  const magnitude rest = magnitude_of(dividend % divisor);
  const bool is_up = rest >= (magnitude)divisor - rest;
  return quotient + (is_up ? dividend < 0 ? -1 : 1 : 0);
}


pf_factor pf_factor_of (double number) {
  int power;
  const int64_t multiplier = (int64_t)ldexp(frexp(number, &power), 53);
  return (pf_factor){multiplier, 1, power - 53};
}


/* Of what is too large for the exact way. */
static pf_wide scaled_double (pf_wide sum, pf_factor factor) {
  const double number =
      ldexp((double)sum * (double)factor.multiplier / (double)factor.divisor,
            factor.power);
  return (pf_wide)fmax(fmin(number, 0x1p100), -0x1p100);
}


static pf_wide product_of (pf_wide sum, pf_factor factor) {
  pf_wide product;
  if (factor.power > 64 || factor.power < -125 ||
      __builtin_mul_overflow(sum, factor.multiplier, &product) ||
      (factor.power > 0 &&
       __builtin_mul_overflow(product, (pf_wide)1 << factor.power, &product)))
    return scaled_double(sum, factor);
  const int down = factor.power < 0 ? -factor.power : 0;
  return rounded_quotient(product, (pf_wide)factor.divisor << down);
}


bool pf_scaled (pf_wide sum, pf_factor factor, int64_t *scaled) {
  const bool is_zero = sum == 0 || factor.multiplier == 0;
  return clamp(is_zero ? 0 : product_of(sum, factor), scaled);
}
