/*
** fuzz_pattern.c - random patterns and texts: a pattern is refused with a
** reason, or is found where string.find of Lua finds it. Faults of a pattern
** that string.find does not reach, and its limits of nested calls, are no
** difference.
*/

#include "fuzz_interpreter.h"
#include "kernels/base/pattern.h"

#define LONGEST     24 /* bytes of a pattern and of a text */
#define REPETITIONS 6  /* more take too long, as they should */


/* Put string.find on the stack. */
static void open_all (lua_State *L) {
  luaL_requiref(L, "string", luaopen_string, 0);
  lua_getfield(L, -1, "find");
  lua_replace(L, 1);
  lua_settop(L, 1);
}


/* Search by string.find; return whether that raised no error. */
static bool find (pf_bytes pattern, pf_bytes text, pf_found *found) {
  lua_State *const L = fuzz_interpreter(open_all);
  lua_pushvalue(L, 1);
  lua_pushlstring(L, (const char *)text.at, text.size);
  lua_pushlstring(L, (const char *)pattern.at, pattern.size);
  const bool is_done = lua_pcall(L, 2, 2, 0) == LUA_OK;
  found->is_found = is_done && lua_isinteger(L, 2);
  found->first = (size_t)lua_tointeger(L, 2) - found->is_found;
  found->last = (size_t)lua_tointeger(L, 3);
  lua_settop(L, 1);
  return is_done;
}


/* The first byte of an input is the length of its pattern, which the text
   follows. */
int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size) {
  if (size == 0)
    return 0;
  const size_t after = size - 1;
  pf_bytes pattern = {data + 1, data[0] % (LONGEST + 1)};
  pattern.size = pattern.size < after ? pattern.size : after;
  const size_t left = after - pattern.size;
  const pf_bytes text = {pattern.at + pattern.size,
                         left < LONGEST ? left : LONGEST};
  size_t repetitions = 0;
  for (size_t i = 0; i < pattern.size; i++)
    repetitions +=
        pattern.at[i] != '\0' && strchr("*+-?", pattern.at[i]) != NULL;
  if (repetitions > REPETITIONS)
    return 0;
  pf_error error = {.status = PF_OK};
  pf_pattern *compiled;
  pf_found expected, found;
  const bool is_known = find(pattern, text, &expected);
  const pf_status status = pf_pattern_open(pattern, &compiled, &error);
  MUST(status == PF_OK || (status == PF_EFORMAT && error.what[0] != '\0'));
  if (status != PF_OK)
    return 0;
  MUST(is_known);
  MUST(pf_pattern_find(compiled, text, &found, &error) == PF_OK);
  MUST(found.is_found == expected.is_found);
  MUST(!found.is_found ||
       (found.first == expected.first && found.last == expected.last));
  pf_pattern_close(compiled);
  return 0;
}
