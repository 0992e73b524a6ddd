/*
** user_decoder.c - core.decoder: a reader whose rows come from a Lua function,
** which runs as a coroutine and fills batches.
**
** Called by lua/profio/reports and internal/writing/script_part.lua. The reader
** userdata owns the reader and pins fields, dictionary and function.
*/

#include "lua/arguments.h"
#include "lua/callback.h"
#include "lua/source.h"
#include "model/rows/table_reader.h"

/* The fields of a decoder. The names are pinned in its user value. */
typedef struct l_schema {
  size_t nfields;
  pf_field fields[];
} l_schema;


/* Pushes a schema for the fields { {name, type}, ... } at `arg`. */
static l_schema *new_schema (lua_State *L, int arg) {
  luaL_checktype(L, arg, LUA_TTABLE);
  const size_t n = l_length(L, arg);
  luaL_argcheck(L, n > 0 && n <= 1024, arg, "1 to 1024 columns");
  l_schema *const s = lua_newuserdatauv(L, sizeof *s + n * sizeof(pf_field), 1);
  s->nfields = n;
  lua_createtable(L, (int)n, 0);
  l_fields_check(L, arg, s->fields, n, lua_gettop(L));
  for (size_t i = 0; i < n; i++)
    luaL_argcheck(L, s->fields[i].type != PF_STACK, arg, "a column of stacks");
  lua_setiuservalue(L, -2, 1);
  return s;
}


/*
** The thread of `callback` runs the user's function. Its argument `put` is a
** closure that writes one row into `batch` and yields when the batch is full.
*/
typedef struct lua_decoder {
  pf_reader reader;
  l_callback callback;
  pf_batch *batch; /* of the current call of `next` */
  bool ended;
  bool is_partial; /* `put` failed in the row that the next call writes */
} lua_decoder;


/* Forgets the missing values of a row that `put` began and did not complete. */
static void reset_row (const pf_batch *batch, size_t row) {
  for (size_t i = 0; i < batch->ncolumns; i++)
    if (batch->columns[i].has_missing)
      batch->columns[i].missing[row >> 6] &= ~((uint64_t)1 << (row & 63));
}


/* put(value, ...): writes one row, a value per column; nil is missing. Strings
   of columns of type bytes are pinned until the next batch. */
static int put (lua_State *L) {
  const l_reader *const r = lua_touserdata(L, lua_upvalueindex(1));
  lua_decoder *const d = (lua_decoder *)(void *)r->reader;
  if (d == NULL || d->batch == NULL || d->callback.thread != L)
    return luaL_error(L, "put is called outside the decoder it was given to");
  const size_t row = d->batch->rows;
  if (d->is_partial)
    reset_row(d->batch, row);
  d->is_partial = true;
  for (size_t i = 0; i < d->reader.nfields; i++) {
    pf_column *const column = &d->batch->columns[i];
    const int arg = (int)i + 1;
    if (column->data == NULL)
      continue;
    if (!l_to_value(L, arg, column, row, d->reader.dictionary))
      return luaL_argerror(
          L, arg,
          lua_pushfstring(L, "column '%s' is of type %s, got %s",
                          d->reader.fields[i].name, pf_type_name(column->type),
                          luaL_typename(L, arg)));
    if (column->type == PF_BYTES && lua_type(L, arg) == LUA_TSTRING) {
      lua_pushvalue(L, arg);
      lua_rawseti(L, lua_upvalueindex(2),
                  (lua_Integer)(row * d->reader.nfields + i) + 1);
    }
  }
  d->is_partial = false;
  d->batch->rows++;
  if (d->batch->rows == PF_BATCH_ROWS)
    return lua_yield(L, 0);
  return 0;
}


static pf_status decoder_next (pf_reader *self, pf_batch *batch,
                               pf_error *error) {
  lua_decoder *const d = (lua_decoder *)(void *)self;
  pf_batch_clear(batch);
  while (!d->ended && batch->rows == 0) {
    pf_batch *const before = d->batch;
    const bool is_started = lua_status(d->callback.thread) == LUA_YIELD;
    const int arguments = is_started ? 0 : 1; /* `put` is on the thread */
    d->batch = batch;
    const pf_status status =
        l_callback_resume(&d->callback, arguments, &d->ended, error);
    d->batch = before; /* not NULL if the function reads its own rows */
    if (status != PF_OK)
      return status;
  }
  return pf_batch_status(batch, PF_END);
}


/*
** core.decoder(fields, f, dictionary, label, source): a reader whose rows,
** with the fields { name, type }, are written by f(put). f starts as a
** coroutine at the first batch; messages call it `label`. `source` may be nil;
** closing it closes the trace of the reader.
*/
static int core_decoder (lua_State *L) {
  luaL_checktype(L, 2, LUA_TFUNCTION);
  pf_dictionary *const dictionary = l_dictionary_check(L, 3);
  luaL_checkstring(L, 4);
  lua_settop(L, 5);
  const bool *const open =
      lua_isnil(L, 5) ? &l_always_open : &l_source_check(L, 5)->open;
  const l_schema *const schema = new_schema(L, 1); /* at 6 */
  l_callback callback;
  l_callback_open(L, &callback, 0, open); /* at 7 */
  lua_newtable(L);                        /* at 8: pins bytes */
  l_reader *const r = l_reader_new(L);    /* at 9 */
  r->open = open;
  l_pin(L, 9, 2, 4);
  lua_decoder *const d =
      pf_reader_of(sizeof *d, schema->fields, schema->nfields, dictionary,
                   decoder_next, &r->error);
  if (d == NULL)
    l_no_memory(L);
  r->reader = &d->reader;
  d->callback = callback;
  lua_pushvalue(L, 2);
  lua_pushvalue(L, 9);
  lua_pushvalue(L, 8);
  lua_pushcclosure(L, put, 2);
  lua_xmove(L, callback.thread, 2);
  return 1;
}


void l_open_lua_decoder (lua_State *L) {
  L_ADD(L, {"decoder", core_decoder});
}
