/*
** two_means.h - the ratio of the means of two sides of runs whose noise is a
** function of the mean. Called by lua/profio/internal/inference through core,
** once for each function of a program.
*/

#ifndef two_means_h
#define two_means_h

/* The variance of a run with the mean m: constant + linear m + square m^2, and
   at least `least` m. */
typedef struct pf_noise {
  double constant, linear, square, least;
} pf_noise;

typedef struct pf_two_means {
  double before, after; /* the means of the base and of the new runs */
  double n1, n2;        /* the numbers of these runs */
  pf_noise noise;
} pf_two_means;

/* The variance of a run with a mean. */
double pf_noise_variance (const pf_noise *noise, double mean);

/* The variance of after - ratio * before if `ratio` is that of the means. */
double pf_variance_at (const pf_two_means *m, double ratio);

/* Set *low and *high to the bounds of the ratios which a test with the quantile
   t does not reject; `before` is above 0. *high may be HUGE_VAL. */
void pf_ratio_bounds (const pf_two_means *m, double t, double *low,
                      double *high);

/* The smallest growth of `before`, relative to it, that a test finds:
   `by_chance` is the quantile of its level, `real` that of its power (Cohen
   1988, 2.4). HUGE_VAL: more than `most`. */
double pf_detectable_growth (const pf_two_means *m, double by_chance,
                             double real, double most);

#endif
