/*
** compiled_pattern.c - core.pattern: a compiled pattern of Lua
** (kernels/base/pattern.h).
**
** Called by everything in lua/profio that matches what people give: conditions,
** --focus, limits, gates, labels. The userdata owns the pattern.
*/

#include "lua/arguments.h"

#define L_PATTERN "profio.pattern"

typedef struct l_pattern {
  pf_pattern *pattern;
} l_pattern;


static int pattern_gc (lua_State *L) {
  l_pattern *const p = luaL_checkudata(L, 1, L_PATTERN);
  pf_pattern_close(p->pattern);
  p->pattern = NULL;
  return 0;
}


const pf_pattern *l_pattern_check (lua_State *L, int arg) {
  const l_pattern *const p = luaL_checkudata(L, arg, L_PATTERN);
  luaL_argcheck(L, p->pattern != NULL, arg, "the pattern is closed");
  return p->pattern;
}


/* core.pattern(text): a pattern, or nil and what is wrong with the text. */
static int core_pattern (lua_State *L) {
  pf_error error = {.status = PF_OK};
  const pf_bytes text = l_text_check(L, 1);
  l_pattern *const p = l_new(L, L_PATTERN, sizeof *p, 0);
  const pf_status status = pf_pattern_open(text, &p->pattern, &error);
  if (status == PF_ENOMEM)
    l_no_memory(L);
  if (status == PF_OK)
    return 1;
  luaL_pushfail(L);
  lua_pushstring(L, error.what);
  return 2;
}


/* pattern:find(text): the positions of its first and last byte, as those of
   string.find; nil if it is not found. Raises "interrupted by Ctrl-C". */
static int pattern_find (lua_State *L) {
  pf_found found;
  pf_error error;
  const pf_pattern *const pattern = l_pattern_check(L, 1);
  if (pf_pattern_find(pattern, l_text_check(L, 2), &found, &error) != PF_OK)
    return l_throw(L, &error, 0);
  if (!found.is_found)
    return luaL_pushfail(L), 1;
  lua_pushinteger(L, (lua_Integer)found.first + 1);
  lua_pushinteger(L, (lua_Integer)found.last);
  return 2;
}


void l_open_compiled_pattern (lua_State *L) {
  l_class(L, L_PATTERN, L_METHODS({"find", pattern_find}), pattern_gc, NULL);
  L_ADD(L, {"pattern", core_pattern});
}
