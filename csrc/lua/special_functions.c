/*
** special_functions.c - core.beta_i and others: kernels/base/special.h and
** two_means.h. Called by lua/profio/internal/inference.
*/

#include <math.h>

#include "kernels/base/special.h"
#include "kernels/base/two_means.h"
#include "lua/arguments.h"


/* core.log_gamma(x): the logarithm of the gamma function of x > 0. */
static int core_log_gamma (lua_State *L) {
  lua_pushnumber(L, lgamma(luaL_checknumber(L, 1)));
  return 1;
}


/* core.log_beta(a, b): the logarithm of the beta function. */
static int core_log_beta (lua_State *L) {
  lua_pushnumber(L,
                 pf_log_beta(luaL_checknumber(L, 1), luaL_checknumber(L, 2)));
  return 1;
}


/* core.gamma_q(a, x): the upper regularised incomplete gamma function. */
static int core_gamma_q (lua_State *L) {
  lua_pushnumber(L, pf_gamma_q(luaL_checknumber(L, 1), luaL_checknumber(L, 2)));
  return 1;
}


/* core.beta_i(x, a, b, y): the regularised incomplete beta function; y is
   1 - x, by default computed. */
static int core_beta_i (lua_State *L) {
  const lua_Number x = luaL_checknumber(L, 1);
  const lua_Number a = luaL_checknumber(L, 2), b = luaL_checknumber(L, 3);
  lua_pushnumber(L, pf_beta_i(x, luaL_optnumber(L, 4, 1 - x), a, b));
  return 1;
}


/* core.beta_quantile(p, a, b): x from 0 to 1 with beta_i(x, a, b) = p. */
static int core_beta_quantile (lua_State *L) {
  lua_pushnumber(L, pf_beta_quantile(luaL_checknumber(L, 1),
                                     luaL_checknumber(L, 2),
                                     luaL_checknumber(L, 3)));
  return 1;
}


/* Reads constant, linear, square and least from `arg` on. */
static pf_noise check_noise (lua_State *L, int arg) {
  return (pf_noise){luaL_checknumber(L, arg), luaL_checknumber(L, arg + 1),
                    luaL_checknumber(L, arg + 2), luaL_checknumber(L, arg + 3)};
}


/* core.noise_variance(constant, linear, square, least, mean):
   pf_noise_variance of kernels/base/two_means.h. */
static int core_noise_variance (lua_State *L) {
  const pf_noise noise = check_noise(L, 1);
  lua_pushnumber(L, pf_noise_variance(&noise, luaL_checknumber(L, 5)));
  return 1;
}


/* Reads before, after, n1, n2 and the noise from 1 on. */
static pf_two_means check_means (lua_State *L) {
  return (pf_two_means){luaL_checknumber(L, 1), luaL_checknumber(L, 2),
                        luaL_checknumber(L, 3), luaL_checknumber(L, 4),
                        check_noise(L, 5)};
}


/* core.variance_at(before, after, n1, n2, constant, linear, square, least,
   ratio): pf_variance_at of kernels/base/two_means.h. */
static int core_variance_at (lua_State *L) {
  const pf_two_means m = check_means(L);
  lua_pushnumber(L, pf_variance_at(&m, luaL_checknumber(L, 9)));
  return 1;
}


/* core.ratio_bounds(before, after, n1, n2, constant, linear, square, least,
   t): low and high of pf_ratio_bounds of kernels/base/two_means.h. */
static int core_ratio_bounds (lua_State *L) {
  const pf_two_means m = check_means(L);
  double low, high;
  luaL_argcheck(L, m.before > 0, 1, "a mean above 0 expected");
  pf_ratio_bounds(&m, luaL_checknumber(L, 9), &low, &high);
  lua_pushnumber(L, low);
  lua_pushnumber(L, high);
  return 2;
}


/* core.detectable_growth(before, n1, n2, constant, linear, square, least,
   by_chance, real, most) */
static int core_detectable_growth (lua_State *L) {
  const pf_two_means m = {luaL_checknumber(L, 1), 0, luaL_checknumber(L, 2),
                          luaL_checknumber(L, 3), check_noise(L, 4)};
  luaL_argcheck(L, m.before > 0, 1, "a mean above 0 expected");
  lua_pushnumber(L, pf_detectable_growth(&m, luaL_checknumber(L, 8),
                                         luaL_checknumber(L, 9),
                                         luaL_checknumber(L, 10)));
  return 1;
}


void l_open_special_functions (lua_State *L) {
  L_ADD(L, {"log_gamma", core_log_gamma}, {"log_beta", core_log_beta},
        {"gamma_q", core_gamma_q}, {"beta_i", core_beta_i},
        {"beta_quantile", core_beta_quantile},
        {"detectable_growth", core_detectable_growth},
        {"noise_variance", core_noise_variance},
        {"ratio_bounds", core_ratio_bounds}, {"variance_at", core_variance_at});
}
