/*
** special_functions.c - core.beta_i and others: kernels/base/special.h. Called
** by lua/profio/internal/inference.
*/

#include <math.h>

#include "kernels/base/special.h"
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


void l_open_special_functions (lua_State *L) {
  L_ADD(L, {"log_gamma", core_log_gamma}, {"log_beta", core_log_beta},
        {"gamma_q", core_gamma_q}, {"beta_i", core_beta_i},
        {"beta_quantile", core_beta_quantile});
}
