/*
** user_decoder.c - core.decoder: a reader whose rows come from a Lua function,
** which runs as a coroutine and fills batches.
**
** Called by lua/profio/reports and internal/writing/script_part.lua. The reader
** userdata owns the reader and pins fields, dictionary and function.
*/

#include "bytes/text.h"
#include "lua/arguments.h"
#include "lua/callback.h"
#include "lua/source.h"
#include "model/rows/put_values.h"
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
** The thread of `callback` runs the user's function. Its arguments are closures
** that write rows into `batch`, and yield when the batch is full.
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


/* Returns the decoder that gave `put` or `put_lines` to its function. */
static lua_decoder *running (lua_State *L) {
  const l_reader *const r = lua_touserdata(L, lua_upvalueindex(1));
  lua_decoder *const d = (lua_decoder *)(void *)r->reader;
  if (d == NULL || d->batch == NULL || d->callback.thread != L)
    luaL_error(L, "put is called outside the decoder it was given to");
  return d;
}


/* put(value, ...): writes one row, a value per column; nil is missing. Strings
   of columns of type bytes are pinned until the next batch. */
static int put (lua_State *L) {
  lua_decoder *const d = running(L);
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


#define MOST_NUMBERS 8

/* A line "main;work 12": a text and numbers after it. */
typedef struct split_line {
  pf_bytes text;
  int64_t numbers[MOST_NUMBERS];
} split_line;


/* Splits a line: `count` whole numbers of up to 18 digits at its end, each with
   a blank or tab in front of it, and a text, which contains a semicolon and
   does not begin with "#". False: it is another line. */
static bool split (pf_bytes line, size_t count, split_line *to) {
  size_t size = line.size;
  while (size > 0 && (line.at[size - 1] == ' ' || line.at[size - 1] == '\t' ||
                      line.at[size - 1] == '\r'))
    size--;
  for (size_t i = count; i-- > 0;) {
    size_t at = size;
    while (at > 0 && (unsigned)(line.at[at - 1] - '0') < 10)
      at--;
    if (at < 2 || at == size || size - at > 18 ||
        (line.at[at - 1] != ' ' && line.at[at - 1] != '\t'))
      return false;
    to->numbers[i] = 0;
    for (size_t digit = at; digit < size; digit++)
      to->numbers[i] = to->numbers[i] * 10 + (line.at[digit] - '0');
    size = at - 1;
  }
  to->text = (pf_bytes){line.at, size};
  return line.at[0] != '#' && memchr(line.at, ';', size) != NULL;
}


/* Puts the text and the numbers, the last one first, into a row. */
static bool put_split (const lua_decoder *d, const split_line *line,
                       size_t count) {
  pf_batch *const batch = d->batch;
  const size_t row = batch->rows;
  if (!pf_put_text(d->reader.dictionary, &batch->columns[0], row, line->text,
                   true))
    return false;
  for (size_t i = 1; i < batch->ncolumns; i++)
    pf_put_int(&batch->columns[i], row,
               i <= count ? line->numbers[count - i] : 0, i <= count);
  batch->rows++;
  return true;
}


/* After a yield in `put_lines`: its results are on the stack. */
static int put_lines_end (lua_State *L, int status, lua_KContext context) {
  (void)L;
  (void)status;
  (void)context;
  return 3;
}


/* put_lines(text, at, count): writes a row for each line of a text from its
   byte `at` (from 1) on: a text with a semicolon into the first column, which
   has names, and the `count` whole numbers after it, the last one first, into
   the next columns, which are integers. Returns the position of the first line
   that is another one, or has no end; how many rows were written; and the sum
   of their last numbers, which may wrap around. */
static int put_lines (lua_State *L) {
  lua_decoder *const d = running(L);
  pf_bytes text;
  text.at = (const uint8_t *)luaL_checklstring(L, 1, &text.size);
  size_t at = (size_t)luaL_checkinteger(L, 2) - 1;
  const size_t count = (size_t)luaL_checkinteger(L, 3);
  const size_t begin = d->batch->rows;
  if (d->is_partial)
    reset_row(d->batch, begin);
  d->is_partial = false;
  uint64_t sum = 0;
  luaL_argcheck(L, at <= text.size, 2, "a position in the text");
  luaL_argcheck(L, count >= 1 && count <= MOST_NUMBERS, 3, "1 to 8 numbers");
  for (size_t i = 0; i < d->reader.nfields; i++)
    luaL_argcheck(L, d->reader.fields[i].type == (i == 0 ? PF_NAME : PF_INT), 1,
                  "the columns are a name and integers");
  while (d->batch->rows < PF_BATCH_ROWS) {
    split_line line;
    const size_t end = pf_line_end(text, at);
    if (end == text.size ||
        !split((pf_bytes){text.at + at, end - at}, count, &line))
      break;
    if (!put_split(d, &line, count))
      l_no_memory(L);
    sum += (uint64_t)line.numbers[count - 1];
    at = end + 1;
  }
  lua_pushinteger(L, (lua_Integer)at + 1);
  lua_pushinteger(L, (lua_Integer)(d->batch->rows - begin));
  lua_pushinteger(L, (lua_Integer)sum);
  return d->batch->rows == PF_BATCH_ROWS ? lua_yieldk(L, 0, 0, put_lines_end)
                                         : 3;
}


static pf_status decoder_next (pf_reader *self, pf_batch *batch,
                               pf_error *error) {
  lua_decoder *const d = (lua_decoder *)(void *)self;
  pf_batch_clear(batch);
  while (!d->ended && batch->rows == 0) {
    pf_batch *const before = d->batch;
    const bool is_started = lua_status(d->callback.thread) == LUA_YIELD;
    const int arguments = is_started ? 0 : 2; /* both are on the thread */
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
** with the fields { name, type }, are written by f(put, put_lines). f starts
** as a coroutine at the first batch; messages call it `label`. `source` may be
** nil; closing it closes the trace of the reader.
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
  lua_pushvalue(L, 9);
  lua_pushcclosure(L, put_lines, 1);
  lua_xmove(L, callback.thread, 3);
  return 1;
}


void l_open_lua_decoder (lua_State *L) {
  L_ADD(L, {"decoder", core_decoder});
}
