/*
** file_writer.c - writers of whole files: an encoder and its output files; and
** their emitters.
**
** Called by lua/profio/internal/writing/writer.lua. The userdata owns the
** encoder, the files and their sinks; it pins the dictionary. It pins and
** uses the parts of traces that are merged; its caller keeps them open.
*/

#include <stdlib.h>

#include "bytes/output.h"
#include "bytes/sink.h"
#include "formats/formats.h"
#include "lua/arguments.h"
#include "lua/callback.h"
#include "lua/trace_part.h"
#include "lua/writer/file_set.h"
#include "lua/writer/written.h"
#include "model/base/memory.h"
#include "model/rows/abilities.h"
#include "model/writer/encoder.h"

#define L_WRITER "profio.writer"

/* User value 1 pins the dictionary, the roles, merged parts and the reader that
   failed; 2 is the label of messages. */
typedef struct l_writer {
  const pf_format *format;
  pf_dictionary *dictionary;
  pf_encoder *encoder; /* owned; NULL when closed */
  l_part **parts;      /* owned; merged parts, used until close */
  size_t nparts, capacity;
  l_file_set files;
  pf_batch row; /* a row of table row_table, for put */
  size_t row_table;
  lua_Integer tried; /* rows written by put */
  pf_error failure;  /* the first PF_EIO: the files are dropped */
} l_writer;


/* An emitter of rows of a table. The columns of its arguments are the first
   `count` ones of `columns`, followed by those that it leaves missing. */
typedef struct row_emitter {
  const pf_table *table;
  size_t number; /* of the table */
  size_t count;
  size_t columns[];
} row_emitter;


static l_writer *writer_check (lua_State *L) {
  l_writer *const w = luaL_checkudata(L, 1, L_WRITER);
  if (w->encoder == NULL)
    luaL_error(L, "writer is closed");
  return w;
}


static const pf_table *tables_of (const l_writer *w, size_t *count) {
  if (w->encoder->tables == NULL) {
    *count = w->format->nwritten;
    return w->format->written;
  }
  *count = w->encoder->ntables;
  return w->encoder->tables;
}


/* Frees everything; unfinished files are dropped. */
static void free_writer (l_writer *w) {
  if (w->encoder != NULL)
    w->encoder->close(w->encoder);
  w->encoder = NULL;
  while (w->nparts > 0)
    l_part_release(w->parts[--w->nparts]);
  free(w->parts);
  w->parts = NULL;
  w->capacity = 0;
  l_file_set_close(&w->files);
  pf_batch_close(&w->row);
}


static int writer_close (lua_State *L) {
  free_writer(luaL_checkudata(L, 1, L_WRITER));
  return 0;
}


/* Adds the files to be removed of a list, or nil. */
static pf_status add_removed (lua_State *L, int arg, l_file_set *files,
                              pf_error *error) {
  const size_t count = lua_istable(L, arg) ? l_length(L, arg) : 0;
  pf_status status = PF_OK;
  for (size_t i = 0; i < count && status == PF_OK; i++) {
    lua_rawgeti(L, arg, (lua_Integer)i + 1);
    status = l_file_set_remove(files, l_path_check(L, -1), error);
    lua_pop(L, 1);
  }
  return status;
}


/*
** core.writer(format, options, dictionary, path, side_files, removed): a writer
** into a file, standard output ("-"), or memory (path nil); or nil, message,
** code. side_files = { { role=, path=, numbered= }, ... } or nil; those without
** a path are kept in memory. `removed`, or nil, lists paths of older files that
** finish removes unless it writes them. Readers given to put_reader must have
** this dictionary.
*/
static int core_writer (lua_State *L) {
  const pf_format *const format = l_written_format(L, 1);
  luaL_checktype(L, 2, LUA_TTABLE);
  const char *path = lua_isnoneornil(L, 4) ? NULL : l_path_check(L, 4);
  lua_settop(L, 6);
  l_writer *const w = l_new(L, L_WRITER, sizeof *w, 2); /* at 7 */
  lua_createtable(L, 1, 0);
  lua_pushvalue(L, 3);
  lua_rawseti(L, -2, 1);
  l_pin(L, 7, 1, 8);
  l_pin(L, 7, 2, 4);
  l_side sides[L_MAX_FILES - 1];
  const size_t nsides = l_sides_at(L, 5, sides, L_MAX_FILES - 1);
  w->format = format;
  w->dictionary = l_dictionary_check(L, 3);
  pf_error error;
  pf_option *options;
  const size_t n = l_options_at(L, 2, &options);
  pf_status status =
      format->encoder(options, n, w->dictionary, &w->encoder, &error);
  if (status == PF_OK)
    status = l_file_set_add(&w->files, path, NULL, &error);
  for (size_t i = 0; i < nsides && status == PF_OK; i++) {
    path = sides[i].path;
    status = l_file_set_add(&w->files, path, &sides[i], &error);
  }
  if (status == PF_OK)
    status = add_removed(L, 6, &w->files, &error);
  if (status != PF_OK) {
    free_writer(w);
    return l_failure(L, &error, path);
  }
  lua_settop(L, 7);
  return 1;
}


/* Returns the table named at 2 and its number. */
static const pf_table *table_check (lua_State *L, const l_writer *w,
                                    size_t *number) {
  size_t count;
  const pf_table *const tables = tables_of(w, &count);
  return l_written_table(L, 2, w->format, tables, count, number);
}


/* Returns nil, message, code. After PF_EIO rows are missing, so finish fails
   too; after other failures, such as a row that the format cannot represent,
   the caller may go on. */
static int fail_with_label (lua_State *L, l_writer *w, const pf_error *error) {
  if (error->status == PF_EIO && w->failure.status == PF_OK)
    w->failure = *error;
  return l_failure_of(L, error, 1);
}


/* Pins the value at `arg` until the writer is collected. */
static void keep (lua_State *L, int arg) {
  arg = lua_absindex(L, arg);
  lua_getiuservalue(L, 1, 1);
  lua_pushvalue(L, arg);
  l_append(L, -2);
  lua_pop(L, 1);
}


/* Sets from[] to the reader's column for each written one, or nfields. */
static void match_columns (const pf_table *table, const pf_reader *reader,
                           size_t *from, bool *wanted) {
  for (size_t i = 0; i < table->nfields; i++) {
    from[i] =
        pf_field_index(reader->fields, reader->nfields, table->fields[i].name);
    if (from[i] < reader->nfields &&
        reader->fields[from[i]].type != table->fields[i].type)
      from[i] = reader->nfields;
    if (from[i] < reader->nfields)
      wanted[from[i]] = true;
  }
}


/* Gives all rows of the reader to the encoder; those of a live file are the
   rows that it has now. */
static pf_status put_all (l_writer *w, size_t number, const pf_table *table,
                          pf_reader *reader, pf_batch *batch,
                          pf_column *columns, const size_t *from,
                          pf_error *error) {
  pf_batch out = {0, table->nfields, columns};
  for (;;) {
    const pf_status status = reader->next(reader, batch, error);
    if (status != PF_MORE)
      return status == PF_END || status == PF_AGAIN ? PF_OK : status;
    for (size_t i = 0; i < table->nfields; i++)
      columns[i] = from[i] < batch->ncolumns
                       ? batch->columns[from[i]]
                       : (pf_column){.type = table->fields[i].type};
    out.rows = batch->rows;
    const pf_status put = w->encoder->put(w->encoder, number, &out,
                                          &w->files.files[0].sink, error);
    if (put != PF_OK)
      return put;
  }
}


/* writer:put_reader(table, reader): writes all rows of a reader, matching
   columns by name; true, or nil, message, code. */
static int writer_put_reader (lua_State *L) {
  l_writer *const w = writer_check(L);
  size_t number = 0;
  const pf_table *const table = table_check(L, w, &number);
  pf_reader *const reader = l_reader_check(L, 3)->reader;
  luaL_argcheck(L, reader->dictionary == w->dictionary, 3,
                "the reader has another dictionary than the writer");
  size_t *const from = l_scratch(L, table->nfields, sizeof *from);
  bool *const wanted = l_scratch(L, reader->nfields, sizeof *wanted);
  match_columns(table, reader, from, wanted);
  pf_error error;
  /* The encoder can read the reader itself if its columns are those of the main
     table in the same order. */
  bool is_whole = w->encoder->take != NULL &&
                  pf_can(reader)->read_stacks != NULL && number == 0;
  for (size_t i = 0; i < table->nfields; i++)
    is_whole = is_whole && from[i] == i;
  if (is_whole) {
    if (w->encoder->take(w->encoder, reader, &error) != PF_OK) {
      keep(L, 3); /* finish reports the failure with the label of its part */
      return fail_with_label(L, w, &error);
    }
    lua_pushboolean(L, 1);
    return 1;
  }
  pf_column *const columns = l_scratch(L, table->nfields, sizeof *columns);
  pf_batch batch;
  if (pf_batch_for(&batch, reader, wanted) != PF_OK)
    l_no_memory(L);
  const pf_status status =
      put_all(w, number, table, reader, &batch, columns, from, &error);
  pf_batch_close(&batch);
  if (status != PF_OK) {
    keep(L, 3);
    return fail_with_label(L, w, &error);
  }
  lua_pushboolean(L, 1);
  return 1;
}


/* writer:put_traces(parts): merges whole traces of the writer's format, which
   must stay open until the end; true, false (the encoder only accepts rows), or
   nil, message, code. */
static int writer_put_traces (lua_State *L) {
  l_writer *const w = writer_check(L);
  luaL_checktype(L, 2, LUA_TTABLE);
  lua_settop(L, 2);
  const size_t count = l_length(L, 2);
  pf_trace **const traces = l_scratch(L, count, sizeof *traces);
  pf_error error;
  bool fits = w->encoder->merge != NULL && count > 0;
  for (size_t i = 0; i < count; i++) {
    lua_rawgeti(L, 2, (lua_Integer)i + 1);
    const pf_trace *const trace = &l_part_check(L, -1)->trace;
    fits = fits && trace->format == w->format &&
           trace->dictionary == w->dictionary;
    lua_pop(L, 1); /* the table keeps it */
  }
  if (fits && !pf_grow(&w->parts, &w->capacity, w->nparts + count))
    l_no_memory(L);
  for (size_t i = 0; fits && i < count; i++) {
    lua_rawgeti(L, 2, (lua_Integer)i + 1);
    keep(L, -1);
    l_part *const part = l_part_use_check(L, -1);
    w->parts[w->nparts++] = part; /* the encoder reads it until `finish` */
    traces[i] = &part->trace;
    lua_pop(L, 1);
  }
  if (fits && w->encoder->merge(w->encoder, traces, count, &error) != PF_OK)
    return fail_with_label(L, w, &error);
  lua_pushboolean(L, fits);
  return 1;
}


/* writer:put(table, record): writes one row; true, or nil, message, code. */
static int writer_put (lua_State *L) {
  l_writer *const w = writer_check(L);
  size_t number = 0;
  const pf_table *const table = table_check(L, w, &number);
  luaL_checktype(L, 3, LUA_TTABLE);
  lua_settop(L, 3);
  l_row_of(L, &w->row, &w->row_table, table, number);
  l_fill_row(L, 3, &w->row, table, w->dictionary);
  pf_error error;
  if (w->encoder->put(w->encoder, number, &w->row, &w->files.files[0].sink,
                      &error) != PF_OK)
    return fail_with_label(L, w, &error);
  w->tried++;
  lua_pushboolean(L, 1);
  return 1;
}


/* Sets the row from the arguments. False with a message on the stack if one has
   another type than its column. The state of a column is set only where that of
   the row before differs, because it costs more than a value. */
static bool set_row (lua_State *L, l_writer *w, const row_emitter *e) {
  const pf_table *const table = e->table;
  l_row_of(L, &w->row, &w->row_table, table, e->number);
  w->row.rows = 1;
  for (size_t i = 0; i < table->nfields; i++) {
    pf_column *const column = &w->row.columns[e->columns[i]];
    if (i >= e->count) {
      if (!pf_is_missing(column, 0))
        pf_set_missing(column, 0);
      continue;
    }
    column->has_missing = false;
    if (l_to_value(L, (int)i + 1, column, 0, w->dictionary))
      continue;
    lua_pushfstring(L, "column '%s' is of type %s, got %s",
                    table->fields[e->columns[i]].name,
                    pf_type_name(column->type), luaL_typename(L, (int)i + 1));
    return false;
  }
  return true;
}


/* emit(value, ...): writes one row; returns nothing, or nil, message, code.
   Upvalues: the writer, the emitter, and a function that raises a message with
   the position of the user's code. */
static int emit (lua_State *L) {
  l_writer *const w = lua_touserdata(L, lua_upvalueindex(1));
  const row_emitter *const e = lua_touserdata(L, lua_upvalueindex(2));
  pf_error error;
  if (w->encoder == NULL) {
    lua_pushliteral(L, "writer is closed");
    return l_callback_raise(L, lua_upvalueindex(3));
  }
  if (!set_row(L, w, e))
    return l_callback_raise(L, lua_upvalueindex(3));
  if (w->encoder->put(w->encoder, e->number, &w->row, &w->files.files[0].sink,
                      &error) == PF_OK) {
    w->tried++;
    return 0;
  }
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_insert(L, 1);
  const int count = fail_with_label(L, w, &error);
  if (error.status != PF_EUNSUPPORTED && error.status != PF_ELIMIT)
    return count;
  lua_pop(L, 1); /* the code */
  return l_callback_raise(L, lua_upvalueindex(3));
}


/* writer:emitter(table, columns, raise): a function that writes one row;
   `raise` is called with the message about a value that cannot be written. */
static int writer_emitter (lua_State *L) {
  const l_writer *const w = writer_check(L);
  size_t number = 0;
  const pf_table *const table = table_check(L, w, &number);
  luaL_checktype(L, 4, LUA_TFUNCTION);
  bool *const is_given = l_scratch(L, table->nfields, sizeof *is_given);
  lua_pushvalue(L, 1);
  row_emitter *const e =
      lua_newuserdatauv(L, sizeof *e + table->nfields * sizeof *e->columns, 0);
  *e = (row_emitter){.table = table, .number = number};
  e->count = l_written_columns(L, 3, table, e->columns);
  for (size_t i = 0; i < e->count; i++)
    is_given[e->columns[i]] = true;
  size_t next = e->count;
  for (size_t i = 0; i < table->nfields; i++)
    if (!is_given[i])
      e->columns[next++] = i;
  lua_pushvalue(L, 4);
  lua_pushcclosure(L, emit, 3);
  return 1;
}


/* writer:facts(): { tried=, written=, lost= } in records, and the number of
   `rounded` values, as for a stream; nothing can be lost. */
static int writer_facts (lua_State *L) {
  const l_writer *const w = writer_check(L);
  lua_createtable(L, 0, 4);
  l_set_int(L, "tried", w->tried);
  l_set_int(L, "written", w->tried);
  l_set_int(L, "lost", 0);
  l_set_int(L, "rounded", (lua_Integer)w->encoder->rounded);
  return 1;
}


/* Writes what remains; the files have no names yet. */
static pf_status finish_all (l_writer *w, pf_error *error) {
  if (w->failure.status != PF_OK) {
    *error = w->failure;
    return error->status;
  }
  pf_status status =
      w->encoder->finish(w->encoder, &w->files.files[0].sink, error);
  for (size_t i = 0; i < w->files.count && status == PF_OK; i++)
    status = pf_sink_flush(&w->files.files[i].sink, error);
  return status;
}


/* writer:finish(): writes what remains, gives the files their names and closes;
   returns the number of bytes of the main file, or for a writer into memory the
   bytes and those of side files by role; or nil, message, code. */
static int writer_finish (lua_State *L) {
  l_writer *const w = writer_check(L);
  const pf_sink *const main = &w->files.files[0].sink;
  const bool in_memory = main->fd < 0;
  const bool has_side_files = in_memory && w->files.count > 1;
  pf_error error;
  if (finish_all(w, &error) != PF_OK) {
    free_writer(w);
    return fail_with_label(L, w, &error);
  }
  if (l_file_set_commit(&w->files, &error) != PF_OK) {
    free_writer(w); /* the message names the file */
    return l_failure(L, &error, NULL);
  }
  if (in_memory)
    l_push_bytes(L, pf_sink_bytes(main));
  else
    lua_pushinteger(L, (lua_Integer)main->written);
  if (has_side_files)
    lua_newtable(L);
  for (size_t i = 1; has_side_files && i < w->files.count; i++) {
    const pf_sink *const side = &w->files.files[i].sink;
    if (side->fd < 0 && side->written > 0)
      l_set_bytes(L, side->role, pf_sink_bytes(side));
  }
  free_writer(w);
  return has_side_files ? 2 : 1;
}


/* writer:tables(): { { name=, fields= }, ... }, the tables that can be
   written. */
static int writer_tables (lua_State *L) {
  size_t count;
  const pf_table *const tables = tables_of(writer_check(L), &count);
  l_push_tables(L, tables, count);
  return 1;
}


void l_open_file_writer (lua_State *L) {
  l_class(L, L_WRITER,
          L_METHODS({"close", writer_close}, {"emitter", writer_emitter},
                    {"facts", writer_facts}, {"finish", writer_finish},
                    {"put", writer_put}, {"put_reader", writer_put_reader},
                    {"put_traces", writer_put_traces},
                    {"tables", writer_tables}),
          writer_close, writer_close);
  L_ADD(L, {"writer", core_writer});
}
