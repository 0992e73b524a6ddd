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

/* The exact number multiplier * 2^power / divisor. */
typedef struct pf_factor {
  int64_t multiplier, divisor; /* the divisor is 1 or more */
  int power;                   /* 0 where the divisor is not 1 */
} pf_factor;

/* The factor that a finite double is. */
pf_factor pf_factor_of (double number);

/* A sum times a factor, rounded to the nearest whole number, halves away from 0;
   where more than 127 bits would have to be divided, rounded as a double. False
   when 64 bits cannot hold it: `scaled` is the nearest number that they can. */
bool pf_scaled (pf_wide sum, pf_factor factor, int64_t *scaled);

#endif
