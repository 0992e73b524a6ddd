/*
** row_store.c - core.row_store: rows that a program writes one by one, checked
** and kept in memory until an encoder in Lua reads them.
**
** Called by lua/profio/internal/writing/script_writer.lua. The userdata owns
** the rows and pins the dictionary, which also keeps the texts of PF_BYTES,
** and the names of table and columns. Readers pin it.
*/

#include "lua/arguments.h"
#include "lua/writer/written.h"
#include "model/rows/store.h"

#define L_ROW_STORE "profio.row_store"

/* User value 1 pins the dictionary and the strings of `table`, 2 the record
   that was set. */
typedef struct l_row_store {
  pf_dictionary *dictionary;
  pf_table table;
  pf_store store;
  pf_batch row; /* one row, for put */
  pf_field fields[];
} l_row_store;


static int row_store_gc (lua_State *L) {
  l_row_store *const s = luaL_checkudata(L, 1, L_ROW_STORE);
  pf_store_close(&s->store);
  pf_batch_close(&s->row);
  return 0;
}


/* core.row_store(name, fields, dictionary): a store for rows of a table with
   these fields { name=, type=, help= }. */
static int core_row_store (lua_State *L) {
  const char *const name = luaL_checkstring(L, 1);
  luaL_checktype(L, 2, LUA_TTABLE);
  pf_dictionary *const dictionary = l_dictionary_check(L, 3);
  const size_t count = l_length(L, 2);
  lua_settop(L, 3);
  lua_newtable(L); /* at 4: pins */
  l_row_store *const s =
      l_new(L, L_ROW_STORE, sizeof *s + count * sizeof(pf_field), 2);
  l_fields_check(L, 2, s->fields, count, 4);
  for (int i = 1; i <= 3; i += 2) {
    lua_pushvalue(L, i);
    l_append(L, 4);
  }
  l_pin(L, 5, 1, 4);
  s->dictionary = dictionary;
  s->table = (pf_table){
      .name = name, .fields = s->fields, .nfields = count, .rows = -1};
  if (pf_store_open(&s->store, s->fields, count, dictionary) != PF_OK ||
      pf_batch_open(&s->row, s->fields, count, NULL) != PF_OK)
    l_no_memory(L);
  return 1;
}


/* row_store:set(record): sets the next row; raises for unknown columns and
   wrong types. */
static int row_store_set (lua_State *L) {
  l_row_store *const s = luaL_checkudata(L, 1, L_ROW_STORE);
  luaL_checktype(L, 2, LUA_TTABLE);
  lua_settop(L, 2);
  l_fill_row(L, 2, &s->row, &s->table, s->dictionary);
  lua_pushvalue(L, 2); /* keeps texts of PF_BYTES until they are copied */
  lua_setiuservalue(L, 1, 2);
  return 0;
}


/* row_store:add(): adds the row that was set. */
static int row_store_add (lua_State *L) {
  l_row_store *const s = luaL_checkudata(L, 1, L_ROW_STORE);
  if (pf_store_append_copies(&s->store, s->dictionary, &s->row) != PF_OK)
    l_no_memory(L);
  return 0;
}


/* row_store:reader(): a reader of the rows; none may be added while it is
   used. */
static int row_store_reader (lua_State *L) {
  const l_row_store *const s = luaL_checkudata(L, 1, L_ROW_STORE);
  lua_settop(L, 1);
  l_reader *const r = l_reader_new(L);
  return l_reader_opened(
      L, pf_store_reader(&s->store, NULL, 0, &r->reader, &r->error));
}


void l_open_row_store (lua_State *L) {
  l_class(L, L_ROW_STORE,
          L_METHODS({"add", row_store_add}, {"set", row_store_set},
                    {"reader", row_store_reader}),
          row_store_gc, NULL);
  L_ADD(L, {"row_store", core_row_store});
}
