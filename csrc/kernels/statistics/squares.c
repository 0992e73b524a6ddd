/*
** squares.c - the standard deviation as sqrt(count * squares - sum * sum) /
** count. The difference of the two large numbers is exact, in 256 bits, before
** it is rounded.
*/

#include "kernels/statistics/squares.h"

#include <math.h>

typedef struct wide {
  uint64_t limbs[4];
} wide;


/* Add a word to a limb and those above it. */
static void add_at (wide *w, size_t limb, uint64_t word) {
  for (; limb < 4 && word != 0; limb++) {
    w->limbs[limb] += word;
    word = w->limbs[limb] < word;
  }
}


static void add_product (wide *w, size_t limb, uint64_t a, uint64_t b) {
  const pf_product p = pf_multiply(a, b);
  add_at(w, limb, p.low);
  add_at(w, limb + 1, p.high);
}


static wide subtract (const wide *a, const wide *b) {
  wide difference;
  uint64_t borrow = 0;
  for (size_t i = 0; i < 4; i++) {
    const uint64_t part = a->limbs[i] - b->limbs[i];
    difference.limbs[i] = part - borrow;
    borrow = a->limbs[i] < b->limbs[i] || part < borrow;
  }
  return difference;
}


static double number_of (const wide *w) {
  double number = 0;
  for (size_t i = 4; i-- > 0;)
    number = number * 0x1p64 + (double)w->limbs[i];
  return number;
}


double pf_stddev (const pf_squares *squares, pf_wide sum, uint64_t count) {
  const pf_wide size = sum < 0 ? -sum : sum;
  const uint64_t low = (uint64_t)size, high = (uint64_t)(size >> 64);
  wide first = {{0}}, second = {{0}};
  for (size_t i = 0; i < 3; i++)
    add_product(&first, i, squares->limbs[i], count);
  add_product(&second, 0, low, low);
  add_product(&second, 1, low, high);
  add_product(&second, 1, low, high);
  add_product(&second, 2, high, high);
  const wide difference = subtract(&first, &second);
  return sqrt(number_of(&difference)) / (double)count;
}
