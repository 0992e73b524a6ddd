/*
** fuzz_interpreter.h - the interpreter of Lua of a fuzz target, the same for
** all of its inputs.
*/

#ifndef fuzz_interpreter_h
#define fuzz_interpreter_h

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

#include "fuzz.h"

/* The interpreter; at the first call `open` puts what all inputs need on its
   stack. */
static inline lua_State *fuzz_interpreter (void (*open)(lua_State *L)) {
  static lua_State *L;
  if (L == NULL) {
    L = luaL_newstate();
    MUST(L != NULL);
    open(L);
  }
  return L;
}

#endif
