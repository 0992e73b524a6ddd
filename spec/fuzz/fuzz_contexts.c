/*
** fuzz_contexts.c - random bytes as packed contexts (csrc/lua/profile/
** pack_contexts.c): core.unpack_contexts raises an error with a message, or
** returns contexts that are packed and unpacked again without a change, and of
** which core.outline takes what fits.
*/

#include "fuzz_interpreter.h"

int luaopen_profio_core (lua_State *L);

static const char program[] =
    "local core, bytes = ...\n"
    "local unpack, new = core.unpack_contexts, core.dictionary\n"
    "local done, contexts = pcall(unpack, bytes, new())\n"
    "if not done then\n"
    "   assert(type(contexts) == 'string' and #contexts > 0)\n"
    "   return\n"
    "end\n"
    "local packed = contexts:pack()\n"
    "assert(unpack(packed, new()):pack() == packed)\n"
    "local metric = contexts:metrics()[1]\n"
    "if metric then\n"
    "   local size = #bytes * 7 % 3000\n"
    "   local outline = core.outline(contexts, { usual = 1, most = 1 << 20,\n"
    "      metrics = { { self = metric.name } }, size = size // 2,\n"
    "      contexts_size = size })\n"
    "   assert(#outline.names == #outline.lines)\n"
    "   assert(#outline.contexts + #outline.functions + outline.names_size\n"
    "      <= size + 1000)\n"
    "end\n";


/* Put the program and the core on the stack. */
static void open_all (lua_State *L) {
  luaL_openlibs(L);
  MUST(luaL_loadstring(L, program) == LUA_OK);
  luaL_requiref(L, "profio.core", luaopen_profio_core, 0);
}


int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size) {
  lua_State *const L = fuzz_interpreter(open_all);
  lua_pushvalue(L, 1);
  lua_pushvalue(L, 2);
  lua_pushlstring(L, (const char *)data, size);
  if (lua_pcall(L, 2, 0, 0) != LUA_OK) {
    fprintf(stderr, "%s\n", lua_tostring(L, -1));
    abort();
  }
  MUST(lua_gettop(L) == 2);
  return 0;
}
