/*
** wide.h - sums of whole numbers in 128 bits, and their exact ratios.
*/

#ifndef wide_h
#define wide_h

#include "profio.h"

/* A sum of up to 2^63 values of 64 bits. */
__extension__ typedef __int128 pf_wide;

/* Whole numbers from -PF_EXACT to PF_EXACT are doubles without rounding. */
#define PF_EXACT ((int64_t)1 << 53)

/* The double nearest to dividend / divisor (of two equally near, the even one).
   The divisor is not 0. */
double pf_ratio_wide (pf_wide dividend, pf_wide divisor);

/* The same; one division where both are exact as doubles. */
static inline double pf_ratio (pf_wide dividend, pf_wide divisor) {
  if (dividend >= -PF_EXACT && dividend <= PF_EXACT && divisor >= -PF_EXACT &&
      divisor <= PF_EXACT)
    return (double)(int64_t)dividend / (double)(int64_t)divisor;
  return pf_ratio_wide(dividend, divisor);
}

/* A sum of fractions; begin with zeros. */
typedef struct pf_fraction {
  pf_wide numerator;
  int64_t denominator; /* 0: nothing was added yet */
  double rest;         /* of fractions whose common denominator is too large */
} pf_fraction;

/* Add numerator / denominator, which is above 0. */
void pf_fraction_add (pf_fraction *sum, pf_wide numerator, int64_t denominator);

/*
** Times that are counts of samples. A row states its time in whole ns; a hidden
** column beside it (pf_remainder_of in model/rows/batch.h) has what rounding
** left over, in parts of PF_REMAINDER_UNIT. Sums of both do not depend on how
** counts were divided into rows and files.
*/
#define PF_REMAINDER_BITS 32
#define PF_REMAINDER_UNIT ((pf_wide)1 << PF_REMAINDER_BITS)

/* `ns` nanoseconds, not negative, in parts; 0 when there are too many. */
static inline pf_wide pf_parts_of_ns (double ns) {
  return ns < 0x1p62 ? (pf_wide)(ns * (double)PF_REMAINDER_UNIT + 0.5) : 0;
}

/* Parts rounded to whole ns, halves up. */
static inline pf_wide pf_ns_of_parts (pf_wide parts) {
  return (parts + PF_REMAINDER_UNIT / 2) >> PF_REMAINDER_BITS;
}

/* The time of `count` samples that last `each` parts. False when 64 bits cannot
   hold it. */
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

/* The exact number multiplier * 2^power / divisor. */
typedef struct pf_factor {
  int64_t multiplier, divisor; /* the divisor is 1 or more */
  int power;                   /* 0 where the divisor is not 1 */
} pf_factor;

/* The factor that a finite double is. */
pf_factor pf_factor_of (double number);

/* A sum times a factor, rounded to the nearest whole number, halves away from
   0; where more than 127 bits would have to be divided, rounded as a double.
   False when 64 bits cannot hold it: `scaled` is the nearest number that they
   can. */
bool pf_scaled (pf_wide sum, pf_factor factor, int64_t *scaled);

#endif
