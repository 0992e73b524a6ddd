/*
** emitter.c - functions that record one row for the values they are called
** with: emit(time, "i", "main"). This is the fastest way to record: it needs no
** table and few calls of the Lua API. The id of a string is cached by the
** string's address; the emitter keeps the string alive, so that no other string
** can get this address.
**
** Called as a method of a stream (stream.c). The userdata of the emitter pins
** the stream, and borrows its writer and table.
*/

#include <string.h>

#include "lua/arguments.h"
#include "lua/writer/stream.h"
#include "model/writer/ring_encoder.h"

#define CACHE_SLOTS 64 /* hash table of strings, by address */

/* Keeps rare paths out of line. */
#define COLD __attribute__((noinline, cold))

/* A string and its id. */
typedef struct cached {
  const void *at;
  uint32_t number;
} cached;

typedef struct argument {
  pf_type type;
  size_t column; /* of the table */
  size_t word;   /* of the record */
} argument;

/* User value 1 pins the stream, 2 is the table of cached strings. */
typedef struct l_emitter {
  l_stream *stream;
  const pf_table *table;
  size_t number; /* index of the table */
  uint32_t tag;  /* tag of rows with all values */
  bool is_fixed; /* no column of bytes: one word for each value */
  cached strings[CACHE_SLOTS];
  int count;
  argument arguments[]; /* in the order of emit's arguments */
} l_emitter;


static uint32_t id_of (lua_State *L, l_stream *s, pf_type type, pf_bytes text) {
  uint32_t number = pf_intern(s->dictionary, text);
  pf_area area = PF_AREA_NONE;
  pf_error error;
  area.name = number;
  if (type == PF_AREA && number != PF_NO_NAME)
    number = pf_area_add(s->dictionary, &area);
  if (number == UINT32_MAX)
    l_no_memory(L);
  if (pf_writer_journal(s->writer, &error) != PF_OK)
    l_throw(L, &error, 0);
  return number;
}


/* Interns the string at `arg` and caches its id in slot `r`. */
COLD static bool intern_text (lua_State *L, l_emitter *e, int arg, pf_type type,
                              cached *r, uint64_t *word) {
  if (lua_type(L, arg) != LUA_TSTRING)
    return false;
  const void *const at = lua_topointer(L, arg);
  const pf_bytes text = l_text_check(L, arg);
  r->at = NULL;
  lua_getiuservalue(L, lua_upvalueindex(1), 2);
  lua_pushvalue(L, arg);
  lua_rawseti(L, -2, (lua_Integer)(r - e->strings) + 1);
  lua_pop(L, 1);
  *word = id_of(L, e->stream, type, text);
  *r = (cached){at, (uint32_t)*word};
  return true;
}


/* Encodes a boolean or a float. */
COLD static bool put_other (lua_State *L, int arg, pf_type type,
                            uint64_t *word) {
  int is_number = 0;
  if (type == PF_NUM) {
    const lua_Number number = lua_tonumberx(L, arg, &is_number);
    memcpy(word, &number, sizeof *word);
    return is_number != 0;
  }
  *word = lua_toboolean(L, arg) != 0;
  return type == PF_BOOL && lua_isboolean(L, arg);
}


static bool put_text (lua_State *L, l_emitter *e, int arg, pf_type type,
                      uint64_t *word) {
  const void *const at = lua_topointer(L, arg);
  cached *const r =
      &e->strings[((uintptr_t)at >> 4 ^ (uintptr_t)at >> 10 ^ type) %
                  CACHE_SLOTS];
  *word = r->number;
  return (at == r->at && at != NULL) || intern_text(L, e, arg, type, r, word);
}


/* Encodes the value at `arg` as a word. False if it is missing, of another
   type, or a stack that the ring's journal does not contain yet. As elsewhere
   in Lua, a number may be given as a string. */
static inline bool put_value (lua_State *L, l_emitter *e, int arg, pf_type type,
                              uint64_t *word) {
  int is_whole;
  if (type == PF_INT || type == PF_ADDR || type == PF_HANDLE ||
      type == PF_STACK) {
    *word = (uint64_t)lua_tointegerx(L, arg, &is_whole);
    return is_whole && (type != PF_STACK ||
                        *word < e->stream->writer->known[PF_JOURNAL_STACK]);
  }
  if (type == PF_NAME || type == PF_AREA)
    return put_text(L, e, arg, type, word);
  return put_other(L, arg, type, word);
}


/* Converts a string with a number to a number. */
static void read_number (lua_State *L, int arg, pf_type type) {
  if (lua_type(L, arg) != LUA_TSTRING || type == PF_NAME || type == PF_AREA ||
      type == PF_BYTES)
    return;
  if (lua_stringtonumber(L, lua_tostring(L, arg)) != 0)
    lua_replace(L, arg);
}


/* Records a row with any values: missing ones, bytes, and those that raise. */
COLD static int emit_any (lua_State *L, const l_emitter *e) {
  l_stream *const s = e->stream;
  pf_batch *const row = &s->row;
  l_row_of(L, row, &s->row_table, e->table, e->number);
  pf_batch_clear(row);
  for (size_t i = 0; i < row->ncolumns; i++)
    pf_set_missing(&row->columns[i], 0);
  for (int i = 0; i < e->count; i++) {
    pf_column *const column = &row->columns[e->arguments[i].column];
    column->has_missing = false;
    read_number(L, i + 1, column->type);
    if (!l_to_value(L, i + 1, column, 0, s->dictionary))
      return luaL_argerror(
          L, i + 1,
          lua_pushfstring(L, "column '%s' is of type %s, got %s",
                          e->table->fields[e->arguments[i].column].name,
                          pf_type_name(column->type), luaL_typename(L, i + 1)));
  }
  row->rows = 1;
  lua_getiuservalue(L, lua_upvalueindex(1), 1);
  const int count = l_stream_put(L, lua_gettop(L), s, e->number, row);
  return count == 1 && lua_toboolean(L, -1) ? 0 : count;
}


/* The writer failed while this one waited for space, or dropped the row. */
COLD static int no_record (lua_State *L, pf_writer *writer) {
  pf_error error;
  if (pf_writer_failure(writer, &error) != PF_OK) {
    lua_getiuservalue(L, lua_upvalueindex(1), 1);
    return l_failure_of(L, &error, lua_gettop(L));
  }
  lua_pushboolean(L, 0);
  return 1;
}


/* emit(value, ...): returns nothing, which is fastest; false when the row was
   dropped; or nil, message, code. */
static int emit (lua_State *L) {
  l_emitter *const e = lua_touserdata(L, lua_upvalueindex(1));
  pf_writer *const writer = e->stream->writer;
  if (writer == NULL)
    return luaL_error(L, "writer is closed");
  if (pf_writer_failed(writer))
    return no_record(L, writer);
  if (!e->is_fixed)
    return emit_any(L, e);
  uint64_t *const record = pf_writer_begin(writer, (size_t)e->count);
  if (record == NULL)
    return no_record(L, writer);
  for (int i = 0; i < e->count; i++)
    if (!put_value(L, e, i + 1, e->arguments[i].type,
                   &record[e->arguments[i].word]))
      return emit_any(L, e);
  pf_writer_commit(writer, record, (size_t)e->count, e->tag);
  return 0;
}


static void set_arguments (l_emitter *e, const size_t *given) {
  const pf_table *const table = e->table;
  uint32_t columns = 0;
  for (int i = 0; i < e->count; i++) {
    const size_t column = given[i];
    columns |= 1u << column;
    e->arguments[i] = (argument){table->fields[column].type, column, 0};
    e->is_fixed &= table->fields[column].type != PF_BYTES;
  }
  e->tag = pf_tag(e->number, columns);
  for (int i = 0; i < e->count; i++)
    e->arguments[i].word = pf_tag_word(columns, e->arguments[i].column);
}


int l_stream_emitter (lua_State *L) {
  l_stream *const s = l_stream_check(L, 1);
  size_t number = 0, ntables;
  const pf_table *const tables = pf_writer_tables(s->writer, &ntables);
  const pf_table *const table =
      l_written_table(L, 2, s->format, tables, ntables, &number);
  luaL_argcheck(L, pf_ring_encoder_accepts(table), 2,
                "too many columns for a ring");
  size_t *const columns = l_scratch(L, table->nfields, sizeof *columns);
  const size_t count = l_written_columns(L, 3, table, columns);
  l_emitter *const e =
      lua_newuserdatauv(L, sizeof *e + count * sizeof(argument), 2);
  memset(e, 0, sizeof *e);
  e->stream = s;
  e->table = table;
  e->number = number;
  e->count = (int)count;
  e->is_fixed = true;
  l_pin(L, -1, 1, 1);
  lua_createtable(L, CACHE_SLOTS, 0);
  lua_setiuservalue(L, -2, 2);
  set_arguments(e, columns);
  lua_pushcclosure(L, emit, 1);
  return 1;
}
