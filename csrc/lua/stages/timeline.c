/*
** timeline.c - core.btf, which converts events to rows of the Best Trace
** Format, and core.load, which computes the load of lanes and cores.
*/

#include "kernels/btf/btf.h"
#include "kernels/spans/load.h"
#include "lua/binding.h"


static bool is_set (lua_State *L, const char *key) {
  lua_getfield(L, 2, key);
  const bool set = lua_toboolean(L, -1) != 0;
  lua_pop(L, 1);
  return set;
}


static int64_t integer (lua_State *L, const char *key, int64_t fallback) {
  lua_getfield(L, 2, key);
  const int64_t value = luaL_optinteger(L, -1, fallback);
  lua_pop(L, 1);
  return value;
}


/* Reads the strings of options.interrupts. Pushes the array, which keeps them,
   and the memory of the result; returns their number. */
static size_t push_interrupts (lua_State *L, pf_bytes **texts) {
  if (lua_getfield(L, 2, "interrupts") == LUA_TNIL) {
    lua_pop(L, 1);
    lua_newtable(L);
  }
  luaL_checktype(L, -1, LUA_TTABLE);
  const size_t count = lua_rawlen(L, -1);
  *texts = lua_newuserdatauv(L, (count + 1) * sizeof **texts, 0);
  for (size_t i = 0; i < count; i++) {
    lua_rawgeti(L, -2, (lua_Integer)i + 1);
    luaL_argcheck(L, lua_type(L, -1) == LUA_TSTRING, 2,
                  "interrupts are strings");
    (*texts)[i].at = (const uint8_t *)lua_tolstring(L, -1, &(*texts)[i].size);
    lua_pop(L, 1); /* the array keeps the string */
  }
  return count;
}


/* core.btf(events, options): the rows described in btf.h. Options: base, from,
   close, lines, stimuli, activations, interrupts (an array, which must not be
   changed). */
static int core_btf (lua_State *L) {
  pf_reader *const input = l_reader_check(L, 1)->reader;
  luaL_checktype(L, 2, LUA_TTABLE);
  lua_settop(L, 2);
  pf_btf_options options = {.base = integer(L, "base", 0),
                            .close = is_set(L, "close"),
                            .lines = is_set(L, "lines"),
                            .stimuli = is_set(L, "stimuli"),
                            .activations = is_set(L, "activations")};
  lua_getfield(L, 2, "from");
  options.has_from = !lua_isnil(L, -1);
  options.from = luaL_optinteger(L, -1, 0);
  lua_pop(L, 1);
  pf_bytes *interrupts;
  options.ninterrupts = push_interrupts(L, &interrupts);
  options.interrupts = interrupts;
  const int pins[] = {1, 3, 4};
  l_reader *const r = l_reader_new(L, pins, 3);
  pf_error error;
  if (pf_btf_open(input, &options, &r->reader, &error) != PF_OK)
    return l_throw(L, &error, 1);
  return 1;
}


/* core.load(events, options): the rows described in load.h. Options: from, to,
   width, by_core. */
static int core_load (lua_State *L) {
  pf_reader *const input = l_reader_check(L, 1)->reader;
  luaL_checktype(L, 2, LUA_TTABLE);
  const pf_load_options options = {integer(L, "from", 0), integer(L, "to", 0),
                                   integer(L, "width", 0),
                                   is_set(L, "by_core")};
  luaL_argcheck(L, options.width > 0, 2, "width must be above 0");
  const int pins[] = {1};
  l_reader *const r = l_reader_new(L, pins, 1);
  pf_error error;
  if (pf_load_open(input, &options, &r->reader, &error) != PF_OK)
    return l_throw(L, &error, 1);
  return 1;
}


void l_open_timeline (lua_State *L) {
  static const luaL_Reg functions[] = {
      {"btf", core_btf}, {"load", core_load}, {NULL, NULL}};
  luaL_setfuncs(L, functions, 0);
}
