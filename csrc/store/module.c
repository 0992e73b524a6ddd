/*
** module.c - the module profio.store: opens all files of csrc/store.
**
** Called by require "profio.store", after profio.core, whose classes it uses;
** owns nothing.
*/

#include "lua/arguments.h"
#include "store/connection.h"

/*
** The tables of a store that the code of csrc/store reads and writes, as SQL
** that creates them. The Lua half of the store executes it, and adds tables of
** its own.
**
** All texts come from traces: those that contain NUL or are no valid UTF-8 are
** BLOBs, the others TEXT (pf_bind_text). SQLite keeps a BLOB as it is in a
** column of type TEXT. The tables frames and stacks are the dictionary: a
** frame is a name, a file (NULL: none) and a line (NULL: none); a stack is its
** innermost frame and the stack around it (parent 0: none), which has a lower
** id. `hash` is a content hash of content_hash.h, which is equal in all stores.
** `data` has the layout of cells.h, followed by the checksum of content_hash.h.
*/
#define PF_STORE_SCHEMA                                                    \
  "CREATE TABLE metrics(id INTEGER PRIMARY KEY, name TEXT NOT NULL,"       \
  " unit TEXT NOT NULL, UNIQUE(name, unit));\n"                            \
  "CREATE TABLE frames(id INTEGER PRIMARY KEY, hash BLOB NOT NULL UNIQUE," \
  " name TEXT NOT NULL, file TEXT, line INTEGER);\n"                       \
  "CREATE TABLE stacks(id INTEGER PRIMARY KEY, hash BLOB NOT NULL UNIQUE," \
  " parent INTEGER NOT NULL, frame INTEGER NOT NULL);\n"                   \
  "CREATE TABLE cells(run INTEGER NOT NULL, metric INTEGER NOT NULL,"      \
  " data BLOB NOT NULL, PRIMARY KEY(run, metric));\n"

__attribute__((visibility("default"))) int luaopen_profio_store (lua_State *L);


int luaopen_profio_store (lua_State *L) {
  lua_newtable(L);
  lua_pushliteral(L, PF_STORE_SCHEMA);
  lua_setfield(L, -2, "schema");
  lua_newtable(L);
  l_set_text(L, "sqlite", sqlite3_libversion());
  l_set_text(L, "profio", PF_VERSION);
  lua_setfield(L, -2, "version");
  l_open_connection(L);
  l_open_cell_methods(L);
  l_open_row_methods(L);
  l_open_hasher(L);
  l_open_exchange(L);
  l_open_run_row_methods(L);
  return 1;
}
