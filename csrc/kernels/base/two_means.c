/*
** two_means.c - see two_means.h. Both functions are roots, found by false
** position in the form of Illinois (Dowell and Jarratt 1971), which never
** leaves what contains the root and needs few evaluations.
*/

#include "kernels/base/two_means.h"

#include <math.h>
#include <stdbool.h>

#define MOST_STEPS 200
#define CLOSE      1e-13 /* relative difference that is none */

/* A function whose root is wanted. */
typedef struct wanted {
  double (*f)(const struct wanted *wanted, double x);
  const pf_two_means *means;
  double t, real; /* quantiles */
} wanted;


/* Return where a function is 0, between a and b, at which its signs differ or
   it is 0. */
static double root (const wanted *w, double a, double b) {
  double at_a = w->f(w, a), at_b = w->f(w, b);
  for (int i = 0; i < MOST_STEPS; i++) {
    if (at_a == 0)
      return a;
    if (at_b == 0 || fabs(b - a) <= CLOSE * fabs(b))
      return b;
    const double c = (a * at_b - b * at_a) / (at_b - at_a);
    const double at_c = w->f(w, c);
    if ((at_c < 0) != (at_b < 0)) {
      a = b;
      at_a = at_b;
    }
    else
      at_a /= 2;
    if (fabs(c - b) <= CLOSE * fabs(c))
      return c;
    b = c;
    at_b = at_c;
  }
  return b;
}


double pf_noise_variance (const pf_noise *noise, double mean) {
  return fmax(noise->constant + noise->linear * mean +
                  noise->square * mean * mean,
              noise->least * mean);
}


double pf_variance_at (const pf_two_means *m, double ratio) {
  const double base =
      (m->n1 * m->before + m->n2 * m->after) / (m->n1 + m->n2 * ratio);
  return pf_noise_variance(&m->noise, ratio * base) / m->n2 +
         ratio * ratio * pf_noise_variance(&m->noise, base) / m->n1;
}


/* Above 0: the test rejects the ratio. */
static double rejection (const wanted *w, double ratio) {
  const pf_two_means *const m = w->means;
  return fabs(m->after - ratio * m->before) -
         w->t * sqrt(pf_variance_at(m, ratio));
}


void pf_ratio_bounds (const pf_two_means *m, double t, double *low,
                      double *high) {
  const wanted w = {rejection, m, t, 0};
  const double middle = fmax(m->after / m->before, 1e-9);
  double inside = middle, outside = middle * 2;
  *low = rejection(&w, 0) > 0 ? root(&w, middle, 0) : 0;
  *low = *low < 1e-8 ? 0 : *low;
  while (rejection(&w, outside) <= 0 && outside <= 1e9) {
    inside = outside;
    outside *= 2;
  }
  *high = outside > 1e9 ? HUGE_VAL : root(&w, inside, outside);
}


/* Above 0: the test misses the growth. */
static double missing (const wanted *w, double growth) {
  const pf_two_means *const m = w->means;
  const double before = m->before, after = before * (1 + growth);
  const double pooled = (m->n1 * before + m->n2 * after) / (m->n1 + m->n2);
  const double by_chance =
      pf_noise_variance(&m->noise, pooled) * (1 / m->n1 + 1 / m->n2);
  const double real = pf_noise_variance(&m->noise, before) / m->n1 +
                      pf_noise_variance(&m->noise, after) / m->n2;
  return w->t * sqrt(by_chance) + w->real * sqrt(real) - before * growth;
}


double pf_detectable_growth (const pf_two_means *m, double by_chance,
                             double real, double most) {
  const wanted w = {missing, m, by_chance, real};
  double high = fmax(2 * missing(&w, 0) / m->before, 1e-4);
  while (missing(&w, high) > 0 && high <= most)
    high *= 4;
  return high > most ? HUGE_VAL : root(&w, 0, high);
}
