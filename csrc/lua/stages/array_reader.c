/*
** array_reader.c - core.rows_reader: a reader over a Lua array of rows.
**
** Called by lua/profio/reports, exports, cli and internal. The reader owns a
** copy of the rows; its userdata pins the dictionary, the texts of the fields
** and the strings of PF_BYTES.
*/

#include <stdlib.h>

#include "lua/arguments.h"
#include "model/rows/store.h"
#include "model/rows/table_reader.h"

/* Stack indices of core.rows_reader. */
enum {
  FIELDS = 1,
  ROWS,
  DICTIONARY,
  STRINGS,
  READER,
  ROW
};

/* A stage over the reader of its store, which it owns. */
typedef struct rows_reader {
  pf_reader reader;
  pf_store store;
  pf_batch batch; /* rows not yet in the store */
  pf_field fields[];
} rows_reader;


static pf_status rows_next (pf_reader *self, pf_batch *batch, pf_error *error) {
  return self->input->next(self->input, batch, error);
}


static void rows_close (pf_reader *self) {
  rows_reader *const t = (rows_reader *)(void *)self;
  if (self->input != NULL)
    self->input->close(self->input);
  pf_batch_close(&t->batch);
  pf_store_close(&t->store);
  free(t);
}


static void read_rows (lua_State *L, rows_reader *t) {
  const size_t count = l_length(L, ROWS);
  for (size_t i = 0; i < count; i++) {
    lua_rawgeti(L, ROWS, (lua_Integer)i + 1);
    luaL_checktype(L, ROW, LUA_TTABLE);
    for (size_t k = 0; k < t->reader.nfields; k++) {
      pf_column *const column = &t->batch.columns[k];
      lua_rawgeti(L, ROW, (lua_Integer)k + 1);
      if (!l_to_value(L, ROW + 1, column, t->batch.rows, t->reader.dictionary))
        luaL_error(L, "column '%s' is of type %s, got %s", t->fields[k].name,
                   pf_type_name(column->type),
                   luaL_tolstring(L, ROW + 1, NULL));
      if (column->type == PF_BYTES)
        l_append(L, STRINGS);
      lua_settop(L, ROW);
    }
    lua_settop(L, READER);
    t->batch.rows++;
    if (t->batch.rows < PF_BATCH_ROWS && i + 1 < count)
      continue;
    if (pf_store_append(&t->store, &t->batch) != PF_OK)
      l_no_memory(L);
    pf_batch_clear(&t->batch);
  }
}


/*
** core.rows_reader(fields, rows, dictionary): a reader over an array of arrays
** of values in the order of the fields { name=, type=, help= } or { name, type
** }; nil is missing. Without a dictionary it gets a new one.
*/
static int core_rows_reader (lua_State *L) {
  luaL_checktype(L, FIELDS, LUA_TTABLE);
  luaL_checktype(L, ROWS, LUA_TTABLE);
  lua_settop(L, DICTIONARY);
  if (lua_isnil(L, DICTIONARY)) {
    l_dictionary_new(L);
    lua_replace(L, DICTIONARY);
  }
  pf_dictionary *const dictionary = l_dictionary_check(L, DICTIONARY);
  const size_t nfields = l_length(L, FIELDS);
  luaL_argcheck(L, nfields > 0, FIELDS, "no columns");
  lua_newtable(L);                     /* STRINGS */
  l_reader *const r = l_reader_new(L); /* READER */
  rows_reader *const t =
      pf_reader_of(sizeof *t + nfields * sizeof(pf_field), NULL, nfields,
                   dictionary, rows_next, &r->error);
  if (t == NULL)
    l_no_memory(L);
  t->reader.fields = t->fields;
  t->reader.close = rows_close;
  r->reader = &t->reader;
  l_fields_check(L, FIELDS, t->fields, nfields, STRINGS);
  if (pf_store_open(&t->store, t->fields, nfields, t->reader.dictionary) !=
          PF_OK ||
      pf_batch_open(&t->batch, t->fields, nfields, NULL) != PF_OK)
    l_no_memory(L);
  read_rows(L, t);
  pf_batch_close(&t->batch);
  lua_pushvalue(L, DICTIONARY);
  l_append(L, STRINGS);
  l_pin(L, READER, 1, STRINGS); /* the rows have been copied */
  if (pf_store_reader(&t->store, NULL, 0, &t->reader.input, &r->error) != PF_OK)
    l_no_memory(L);
  pf_stage_pass_seek(&t->reader);
  return 1;
}


void l_open_array_reader (lua_State *L) {
  L_ADD(L, {"rows_reader", core_rows_reader});
}
