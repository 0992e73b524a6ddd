/*
** squares.h - exact sums of squares of integers in 192 bits, for standard
** deviations that do not depend on the order of additions or merges. Used by
** duration_sums.h and accumulator.h.
*/

#ifndef squares_h
#define squares_h

#include "model/base/wide.h"

/* 192 bits, the lowest limb first. Initialise with zeros. */
typedef struct pf_squares {
  uint64_t limbs[3];
} pf_squares;

/* A product of two 64-bit words. */
typedef struct pf_product {
  uint64_t low, high;
} pf_product;

static inline pf_product pf_multiply (uint64_t a, uint64_t b) {
#ifdef __SIZEOF_INT128__
  __extension__ typedef unsigned __int128 wide;
  const wide product = (wide)a * b;
  return (pf_product){(uint64_t)product, (uint64_t)(product >> 64)};
#else
  const uint64_t a0 = (uint32_t)a, a1 = a >> 32, b0 = (uint32_t)b, b1 = b >> 32;
  const uint64_t middle = a1 * b0 + (a0 * b0 >> 32);
  const uint64_t other = a0 * b1 + (uint32_t)middle;
  return (pf_product){a * b, a1 * b1 + (middle >> 32) + (other >> 32)};
#endif
}

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
  const pf_product square = pf_multiply(value, value);
  pf_squares_sum(sum, square.low, square.high, 0);
}

/* Add another sum. */
static inline void pf_squares_merge (pf_squares *sum, const pf_squares *more) {
  pf_squares_sum(sum, more->limbs[0], more->limbs[1], more->limbs[2]);
}

/* The standard deviation (of the population) of `count` >= 1 values with these
   sums. */
double pf_stddev (const pf_squares *squares, pf_wide sum, uint64_t count);

#endif
