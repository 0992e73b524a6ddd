/*
** wide.h - exact arithmetic: 128-bit sums of integers and their ratios, sums of
** squares and of fractions, times of counts of samples, products with a factor.
** Used by formats, kernels, lua and store. Nothing is allocated.
*/

#ifndef wide_h
#define wide_h

#include "profio.h"

/* A signed 128-bit integer, which can hold a sum of 2^63 values of 64 bits, and
   an unsigned one. Machines of 32 bits have them by C23's name. */
#ifdef __SIZEOF_INT128__
__extension__ typedef __int128 pf_wide;
__extension__ typedef unsigned __int128 pf_magnitude;
#else
__extension__ typedef _BitInt(128) pf_wide;
__extension__ typedef unsigned _BitInt(128) pf_magnitude;
#endif

/* Doubles represent all integers from -PF_EXACT to PF_EXACT exactly. */
#define PF_EXACT ((int64_t)1 << 53)

/* Return dividend / divisor, rounded once to the nearest double (ties to even).
   The divisor must not be 0. */
double pf_ratio_wide (pf_wide dividend, pf_wide divisor);

/* The same, with a single division if both are exact as doubles. */
static inline double pf_ratio (pf_wide dividend, pf_wide divisor) {
  if (dividend >= -PF_EXACT && dividend <= PF_EXACT && divisor >= -PF_EXACT &&
      divisor <= PF_EXACT)
    return (double)(int64_t)dividend / (double)(int64_t)divisor;
  return pf_ratio_wide(dividend, divisor);
}

/* A sum of squares of integers in 192 bits, the lowest limb first, which is
   exact: standard deviations depend on the order of neither additions nor
   merges. Initialise it with zeros. */
typedef struct pf_squares {
  uint64_t limbs[3];
} pf_squares;

static inline void pf_squares_sum (pf_squares *sum, uint64_t low, uint64_t high,
                                   uint64_t top) {
  uint64_t *const s = sum->limbs;
  s[0] += low;
  const uint64_t carry = s[0] < low;
  s[1] += carry;
  const uint64_t second = s[1] < carry;
  s[1] += high;
  s[2] += top + second + (s[1] < high);
}

/* Add the square of a value. */
static inline void pf_squares_add (pf_squares *sum, uint64_t value) {
  const pf_magnitude square = (pf_magnitude)value * value;
  pf_squares_sum(sum, (uint64_t)square, (uint64_t)(square >> 64), 0);
}

/* Add another sum. */
static inline void pf_squares_merge (pf_squares *sum, const pf_squares *more) {
  pf_squares_sum(sum, more->limbs[0], more->limbs[1], more->limbs[2]);
}

/* Return the standard deviation (of the population) of `count` >= 1 values, by
   the sum of their squares and their sum. */
double pf_stddev (const pf_squares *squares, pf_wide sum, uint64_t count);

/* A sum of fractions, exact unless some are in `rest`; initialise it with
   zeros. */
typedef struct pf_fraction {
  pf_wide numerator;
  int64_t denominator; /* 0: nothing was added yet */
  double rest; /* sum of the fractions whose common denominator is too large */
} pf_fraction;

/* Add numerator / denominator; the denominator must be above 0. */
void pf_fraction_add (pf_fraction *sum, pf_wide numerator, int64_t denominator);

/*
** Times that are computed from counts of samples. A row has its time in whole
** ns; a hidden column (pf_remainder_of in model/rows/batch.h) has the rounding
** error in units of 1 / PF_REMAINDER_UNIT ns. Sums of both columns do not
** depend on how the counts were divided into rows and files.
*/
#define PF_REMAINDER_BITS 32
#define PF_REMAINDER_UNIT ((pf_wide)1 << PF_REMAINDER_BITS)

/* Convert nanoseconds (not negative) to units of 1 / PF_REMAINDER_UNIT ns; 0 if
   they are 2^62 ns or more. */
static inline pf_wide pf_parts_of_ns (double ns) {
  return ns < 0x1p62 ? (pf_wide)(ns * (double)PF_REMAINDER_UNIT + 0.5) : 0;
}

/* Convert such units to ns, rounded to nearest, halves up. */
static inline pf_wide pf_ns_of_parts (pf_wide parts) {
  return (parts + PF_REMAINDER_UNIT / 2) >> PF_REMAINDER_BITS;
}

/* Compute the duration of `count` samples of `each` units: whole ns, and the
   rest in units. False if it exceeds 64 bits. */
static inline bool pf_time_of_count (int64_t count, pf_wide each, int64_t *ns,
                                     int64_t *rest) {
  pf_wide parts;
  if (__builtin_mul_overflow(count, each, &parts) ||
      parts > (pf_wide)INT64_MAX << PF_REMAINDER_BITS ||
      parts < (pf_wide)INT64_MIN * PF_REMAINDER_UNIT)
    return false;
  *ns = (int64_t)pf_ns_of_parts(parts);
  *rest = (int64_t)(parts - *ns * PF_REMAINDER_UNIT);
  return true;
}

/* A sum, limited to 64 bits. */
static inline int64_t pf_limited (pf_wide sum) {
  return sum > INT64_MAX   ? INT64_MAX
         : sum < INT64_MIN ? INT64_MIN
                           : (int64_t)sum;
}

/* The exact number multiplier * 2^power / divisor. */
typedef struct pf_factor {
  int64_t multiplier, divisor; /* the divisor is at least 1 */
  int power;                   /* 0 if the divisor is not 1 */
} pf_factor;

/* Return the factor that equals a finite double. */
pf_factor pf_factor_of (double number);

/* Multiply a sum by a factor, rounded to the nearest integer, halves away from
   0. If sum * multiplier * 2^power needs more than 127 bits, or the power is
   above 64 or below -125, the product is computed in doubles and truncated.
   False if it exceeds 64 bits: then `scaled` is the minimum or maximum of
   int64_t. */
bool pf_scaled (pf_wide sum, pf_factor factor, int64_t *scaled);

#endif
