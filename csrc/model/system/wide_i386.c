/*
** wide_i386.c - what clang calls for numbers of 128 bits on i386, where no
** library of the compiler has it (gcc 14 brings its own). An argument comes as
** four words on the stack, as the generated calls pass it, and not by its
** address, as clang's functions do.
*/

#include "model/base/wide.h"

#if defined(__i386__) && defined(__clang__)

#include <math.h>

#define WORDS(x) uint32_t x##0, uint32_t x##1, uint32_t x##2, uint32_t x##3
#define NUMBER(x)                                        \
  ((pf_magnitude)x##3 << 96 | (pf_magnitude)x##2 << 64 | \
   (pf_magnitude)x##1 << 32 | x##0)
#define EXACT_BITS 62

pf_magnitude __udivti3(WORDS(a), WORDS(b));
pf_magnitude __umodti3(WORDS(a), WORDS(b));
pf_wide __divti3(WORDS(a), WORDS(b));
pf_wide __modti3(WORDS(a), WORDS(b));
double __floattidf(WORDS(a));
double __floatuntidf(WORDS(a));
pf_wide __fixdfti (double value);
pf_magnitude __fixunsdfti (double value);


static pf_magnitude divide (pf_magnitude a, pf_magnitude b,
                            pf_magnitude *rest) {
  pf_magnitude quotient = 0, left = 0;
  for (int i = 127; i >= 0; i--) {
    left = left << 1 | (a >> i & 1);
    if (left < b)
      continue;
    left -= b;
    quotient |= (pf_magnitude)1 << i;
  }
  *rest = left;
  return quotient;
}


static pf_magnitude size_of (pf_wide value) {
  return value < 0 ? 0 - (pf_magnitude)value : (pf_magnitude)value;
}


pf_magnitude __udivti3 (WORDS(a), WORDS(b)) {
  pf_magnitude rest;
  return divide(NUMBER(a), NUMBER(b), &rest);
}


pf_magnitude __umodti3 (WORDS(a), WORDS(b)) {
  pf_magnitude rest;
  divide(NUMBER(a), NUMBER(b), &rest);
  return rest;
}


pf_wide __divti3 (WORDS(a), WORDS(b)) {
  const pf_wide x = (pf_wide)NUMBER(a), y = (pf_wide)NUMBER(b);
  pf_magnitude rest;
  const pf_magnitude quotient = divide(size_of(x), size_of(y), &rest);
  return (x < 0) != (y < 0) ? (pf_wide)(0 - quotient) : (pf_wide)quotient;
}


pf_wide __modti3 (WORDS(a), WORDS(b)) {
  const pf_wide x = (pf_wide)NUMBER(a), y = (pf_wide)NUMBER(b);
  pf_magnitude rest;
  divide(size_of(x), size_of(y), &rest);
  return x < 0 ? (pf_wide)(0 - rest) : (pf_wide)rest;
}


/* Rounds once: bits that are cut off leave a mark in the lowest one. */
static double to_double (pf_magnitude value) {
  int cut = 0;
  while (value >> cut > ((uint64_t)1 << EXACT_BITS))
    cut++;
  uint64_t top = (uint64_t)(value >> cut);
  if ((value & (((pf_magnitude)1 << cut) - 1)) != 0)
    top |= 1;
  return ldexp((double)top, cut);
}


double __floatuntidf (WORDS(a)) {
  return to_double(NUMBER(a));
}


double __floattidf (WORDS(a)) {
  const pf_wide value = (pf_wide)NUMBER(a);
  const double size = to_double(size_of(value));
  return value < 0 ? -size : size;
}


pf_magnitude __fixunsdfti (double value) {
  int exponent;
  const double fraction = frexp(value, &exponent);
  return exponent <= EXACT_BITS
             ? (pf_magnitude)(uint64_t)value
             : (pf_magnitude)(uint64_t)ldexp(fraction, EXACT_BITS)
                   << (exponent - EXACT_BITS);
}


pf_wide __fixdfti (double value) {
  const pf_magnitude size = __fixunsdfti(fabs(value));
  return value < 0 ? (pf_wide)(0 - size) : (pf_wide)size;
}

#endif
