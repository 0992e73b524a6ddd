/*
** special.h - the special functions behind the tails of distributions. Called
** by lua/profio/internal/inference through core; the rest of the statistics is
** Lua, but these are evaluated a hundred times for each function of a program.
** "NR" is Press et al., Numerical Recipes, 3rd edition (2007); "A&S" is
** Abramowitz and Stegun, Handbook of Mathematical Functions (1964).
*/

#ifndef special_h
#define special_h

/* The logarithm of the beta function of a and b, both above 0. */
double pf_log_beta (double a, double b);

/* The upper regularised incomplete gamma function Q(a, x), a above 0 (NR 6.2: a
   series below a + 1, a continued fraction above). 1 for x up to 0. */
double pf_gamma_q (double a, double x);

/* The regularised incomplete beta function I_x(a, b), a and b above 0 (NR 6.4,
   A&S 26.5.8). `y` is 1 - x, which the caller may know more exactly. */
double pf_beta_i (double x, double y, double a, double b);

/* x with I_x(a, b) = p, for p between 0 and 1: the quantile of the beta
   distribution. */
double pf_beta_quantile (double p, double a, double b);

#endif
