/*
** special.c - see special.h. Both fractions are evaluated by the method of
** Lentz (NR 5.2).
*/

#include "kernels/base/special.h"

#include <math.h>
#include <stdbool.h>

#define EPSILON    1e-15
#define TINY       1e-300
#define MOST_TERMS 100000


/* The state of b0 + a1/(b1 + a2/(b2 + ...)). */
typedef struct fraction {
  double f, c, d;
} fraction;


static fraction begin_fraction (double b0) {
  const double f = b0 != 0 ? b0 : TINY;
  return (fraction){f, f, 0};
}


/* Add a level; return whether it changes the value. */
static bool add_level (fraction *x, double a, double b) {
  x->d = b + a * x->d;
  x->d = 1 / (x->d != 0 ? x->d : TINY);
  x->c = b + a / x->c;
  x->c = x->c != 0 ? x->c : TINY;
  const double factor = x->c * x->d;
  x->f *= factor;
  return !(fabs(factor - 1) < EPSILON);
}


double pf_log_beta (double a, double b) {
  return lgamma(a) + lgamma(b) - lgamma(a + b);
}


static double gamma_series (double a, double x) {
  double term = 1 / a, sum = term, n = a;
  do {
    n++;
    term *= x / n;
    sum += term;
  } while (term >= sum * EPSILON);
  return sum;
}


double pf_gamma_q (double a, double x) {
  if (x <= 0)
    return 1;
  const double front = exp(a * log(x) - x - lgamma(a));
  if (x < a + 1)
    return 1 - front * gamma_series(a, x);
  fraction f = begin_fraction(x + 1 - a);
  for (double i = 1;
       i <= MOST_TERMS && add_level(&f, -i * (i - a), x + 1 - a + 2 * i); i++)
    ;
  return front / f.f;
}


double pf_beta_i (double x, double y, double a, double b) {
  if (x <= 0 || y <= 0)
    return x <= 0 ? 0 : 1;
  if (x > (a + 1) / (a + b + 2))
    return 1 - pf_beta_i(y, x, b, a);
  const double front = exp(a * log(x) + b * log(y) - pf_log_beta(a, b)) / a;
  fraction f = begin_fraction(1);
  for (int i = 1; i <= MOST_TERMS; i++) {
    const int half = i / 2;
    const double m = half;
    const double level =
        i % 2 == 0 ? m * (b - m) * x / ((a + i - 1) * (a + i))
                   : -(a + m) * (a + b + m) * x / ((a + i - 1) * (a + i));
    if (!add_level(&f, level, 1))
      break;
  }
  return front / f.f;
}


double pf_beta_quantile (double p, double a, double b) {
  const double front = pf_log_beta(a, b);
  double low = 0, high = 1, x = a / (a + b);
  for (int i = 0; i < 200; i++) {
    const double error = pf_beta_i(x, 1 - x, a, b) - p;
    *(error > 0 ? &high : &low) = x;
    const double density = (a - 1) * log(x) + (b - 1) * log(1 - x) - front;
    double next = x - error / exp(density); /* Newton's method, or bisection */
    if (!(next > low && next < high))
      next = low + (high - low) / 2;
    if (fabs(next - x) <= 1e-14 * x)
      return next;
    x = next;
  }
  return x;
}
