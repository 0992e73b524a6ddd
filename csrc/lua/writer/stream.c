/*
** stream.c - writers through a ring; and core.stack, which adds stacks to the
** dictionary of a writer.
**
** The output file has its name from the beginning and grows while the program
** runs; after a failure it stays, with everything written so far. (Writers of
** whole files are in file_writer.c.)
**
** Called by lua/profio/internal/writing/writer.lua. The userdata owns the
** writer and the output files; close or the collector frees them.
*/

#include "lua/arguments.h"
#include "bytes/target.h"
#include "lua/writer/stream.h"
#include "os/os.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define STANDARD_OUTPUT 1


static l_stream *check (lua_State *L, int arg) {
  l_stream *const s = luaL_checkudata(L, arg, L_STREAM);
  if (s->writer == NULL)
    luaL_error(L, "writer is closed");
  return s;
}


l_stream *l_stream_check (lua_State *L, int arg) {
  l_stream *const s = check(L, arg);
  pf_error error;
  if (!pf_writer_is_owner(s->writer)) {
    (void)pf_writer_failure(s->writer, &error);
    luaL_error(L, "%s", error.what);
  }
  return s;
}


/* Closes the files, the checker and its sinks; the writer is closed before. */
static void close_outputs (l_stream *s) {
  for (size_t i = 0; i < s->noutputs; i++)
    l_stream_file_close(&s->outputs[i], i == 0 && s->is_pipe);
  s->noutputs = 0;
  if (s->checker != NULL)
    s->checker->close(s->checker);
  s->checker = NULL;
  if (s->null_sinks[0].buffer != NULL)
    os_close(s->null_sinks[0].fd);
  for (size_t i = 0; i < L_STREAM_OUTPUTS; i++)
    pf_sink_close(&s->null_sinks[i]);
  pf_batch_close(&s->row);
}


/* Writes all remaining records and closes the writer, also after a failure. */
static pf_status close_stream (l_stream *s, pf_error *error) {
  pf_status status = PF_OK;
  pf_writer *const writer = s->writer;
  s->writer = NULL;
  if (writer != NULL)
    status = pf_writer_close(writer, error);
  return status;
}


static int stream_gc (lua_State *L) {
  l_stream *const s = luaL_checkudata(L, 1, L_STREAM);
  pf_error error;
  (void)close_stream(s, &error);
  close_outputs(s);
  return 0;
}


/* stream:finish(): writes all remaining records and closes; returns the number
   of bytes of the main file, or nil, message, code. */
static int stream_finish (lua_State *L) {
  l_stream *const s = check(L, 1);
  pf_error error;
  const pf_status status = close_stream(s, &error);
  const uint64_t written = s->outputs[0].sink.written;
  close_outputs(s);
  if (status != PF_OK)
    return l_failure_of(L, &error, 1);
  lua_pushinteger(L, (lua_Integer)written);
  return 1;
}


/* Adds an output file: a path or standard output ("-"). */
static pf_status add_output (l_stream *s, const char *path, const char *role,
                             pf_error *error) {
  const size_t n = s->noutputs++; /* close_outputs closes it from now on */
  l_stream_file *const output = &s->outputs[n];
  pf_sink *const sink = &output->sink;
  const bool is_pipe = strcmp(path, "-") == 0;
  *output = (l_stream_file){.sink = {.fd = is_pipe ? STANDARD_OUTPUT : -1},
                            .is_in_place = is_pipe,
                            .sync = s->sync};
  const pf_status status =
      is_pipe ? PF_OK : l_stream_file_open(output, path, error);
  if (status != PF_OK)
    return status;
  const pf_status opened = pf_sink_open(sink, sink->fd);
  sink->is_in_place = output->is_in_place;
  sink->role = role;
  if (n == 0)
    s->is_pipe = is_pipe;
  else
    s->outputs[n - 1].sink.side = sink;
  return opened == PF_OK ? PF_OK : pf_no_memory(error);
}


/* Adds the main file and the side files at 5. Their roles are appended to the
   table on top, which keeps them alive. */
static pf_status add_outputs (lua_State *L, l_stream *s, const char *path,
                              pf_error *error) {
  l_side sides[L_STREAM_OUTPUTS - 1];
  const size_t n = l_sides_at(L, 5, sides, L_STREAM_OUTPUTS - 1);
  for (size_t i = 0; i < n; i++)
    luaL_argcheck(L, sides[i].path != NULL, 5, "a side file without a path");
  pf_status status = add_output(s, path, NULL, error);
  for (size_t i = 0; i < n && status == PF_OK; i++) {
    status = add_output(s, sides[i].path, sides[i].role, error);
    if (status == PF_OK && sides[i].is_numbered)
      status = l_stream_file_number(&s->outputs[i + 1], sides[i].path, error);
  }
  return status;
}


/* Opens the encoder that checks rows before they are recorded. */
static pf_status open_checker (l_stream *s, const pf_writer_plan *plan,
                               pf_error *error) {
  const int fd = os_open_null();
  if (fd < 0)
    return pf_fail_by_system(error, "rows cannot be checked", errno);
  for (size_t i = 0; i < s->noutputs; i++) {
    pf_sink *const sink = &s->null_sinks[i];
    if (pf_sink_open(sink, fd) != PF_OK) {
      if (i == 0)
        os_close(fd); /* afterwards the first sink owns it */
      return pf_no_memory(error);
    }
    sink->role = s->outputs[i].sink.role;
    if (i > 0)
      sink[-1].side = sink;
  }
  return s->format->encoder(plan->recovery_options, plan->nrecovery_options,
                            s->dictionary, &s->checker, error);
}


/* Opens the checker and the writer, whose thread waits for records, truncates
   the files and marks the ring as open. Files of a new recording are truncated
   only after the writer was opened: a failure before that leaves them as they
   were. */
static pf_status open_stream (l_stream *s, const pf_writer_plan *plan,
                              pf_error *error) {
  const bool appends = plan->older != NULL;
  pf_status status = open_checker(s, plan, error);
  for (size_t i = 0; appends && i < s->noutputs && status == PF_OK; i++)
    status = l_stream_file_resume(&s->outputs[i],
                                  plan->older->checkpoint.lengths[i], error);
  if (status == PF_OK)
    status = pf_writer_open(&s->writer, plan, error);
  for (size_t i = 0; !appends && i < s->noutputs && status == PF_OK; i++)
    status = l_stream_file_resume(&s->outputs[i], 0, error);
  if (status == PF_OK)
    status = pf_writer_start(s->writer, error);
  return status;
}


/* Returns the plan for the options at 6. Pushes their claim, or nil, which must
   stay on the stack during the call. */
static pf_writer_plan read_plan (lua_State *L, const pf_format *format) {
  static const char *const modes[] = {"block", "drop", "overwrite", NULL};
  int64_t size = 0, flush_every = 0;
  l_option_int(L, 6, "size", &size);
  l_option_int(L, 6, "flush_every", &flush_every);
  lua_getfield(L, 6, "claim");
  return (pf_writer_plan){
      .format = format,
      .claim = luaL_testudata(L, -1, L_CLAIM),
      .ring_size = (uint64_t)size,
      .flush_every = (uint64_t)flush_every,
      .mode = (pf_ring_mode)l_option_word(L, 6, "full", "block", modes),
      .sync = l_option_flag(L, 6, "fsync")};
}


/* Pushes a stream without files for the dictionary at 3, whose messages begin
   with the path at 4, and above it the table that keeps the dictionary and the
   roles alive. */
static l_stream *new_stream (lua_State *L) {
  l_stream *const s = l_new(L, L_STREAM, sizeof *s, 2);
  l_pin(L, -1, 2, 4);
  lua_createtable(L, 2, 0);
  lua_pushvalue(L, 3);
  lua_rawseti(L, -2, 1);
  lua_pushvalue(L, -1);
  lua_setiuservalue(L, -3, 1);
  s->dictionary = l_dictionary_check(L, 3);
  return s;
}


/* Ends the opening of a stream. After a failure new files are removed, and all
   files are closed, so that they are unlocked before the collector comes by. */
static void end_opening (l_stream *s, bool is_open) {
  for (size_t i = 0; i < s->noutputs; i++) {
    char *const created = s->outputs[i].created; /* a new file, or NULL */
    if (!is_open && created != NULL)
      os_remove(created);
    free(created);
    s->outputs[i].created = NULL;
  }
  if (is_open)
    return;
  pf_error unused;
  (void)close_stream(s, &unused);
  close_outputs(s);
}


/*
** core.stream(format, options, dictionary, path, sides, plan): a writer through
** a ring into the file at `path` or standard output ("-"), or nil, message,
** code. plan = { size=, full=, flush_every=, fsync=, claim=, kept=, appends= }.
** claim is a result of core.claim, which the writer takes over; without it the
** ring is a file without a name. kept are the options by which recovery after a
** crash writes the remaining records, into one file. With appends=true the
** recording is appended to that of the killed writer whose ring is claimed.
*/
static int core_stream (lua_State *L) {
  const pf_format *const format = l_written_format(L, 1);
  luaL_checktype(L, 2, LUA_TTABLE);
  const char *const path = luaL_checkstring(L, 4);
  luaL_checktype(L, 6, LUA_TTABLE);
  lua_settop(L, 6);
  const bool appends = l_option_flag(L, 6, "appends");
  pf_writer_plan plan = read_plan(L, format); /* the claim at 7 */
  luaL_argcheck(L, !appends || plan.claim != NULL, 6,
                "appends without a claim");
  lua_getfield(L, 6, "kept");
  luaL_checktype(L, 8, LUA_TTABLE);
  pf_option *options, *kept;
  plan.nrecovery_options = l_options_at(L, 8, &kept); /* at 9 */
  plan.noptions = l_options_at(L, 2, &options);       /* at 10 */
  plan.options = options;
  plan.recovery_options = kept;
  l_stream *const s = new_stream(L); /* at 11, its pins at 12 */
  pf_error error;
  s->format = format;
  s->sync = plan.sync;
  pf_status status = add_outputs(L, s, path, &error);
  plan.dictionary = s->dictionary;
  plan.sink = &s->outputs[0].sink;
  pf_ring_copy older = {.memory = NULL};
  if (status == PF_OK && appends && plan.claim != NULL) {
    status = pf_ring_read(plan.claim->path, NULL, &older, &error);
    plan.older = &older;
  }
  if (status == PF_OK)
    status = open_stream(s, &plan, &error);
  pf_ring_copy_close(&older);
  end_opening(s, status == PF_OK);
  lua_settop(L, 11);
  return status == PF_OK ? 1 : l_failure_of(L, &error, 11);
}


int l_stream_put (lua_State *L, int index, l_stream *s, size_t number,
                  const pf_batch *row) {
  const uint64_t before = s->writer->ring.head;
  pf_error error;
  if (pf_writer_put(s->writer, number, row, 0, &error) != PF_OK)
    return l_failure_of(L, &error, index);
  lua_pushboolean(L, s->writer->ring.head != before);
  return 1;
}


/* stream:put(table, record): records one row after the encoder has checked it;
   true, false when it was dropped, or nil, message, code. */
static int stream_put (lua_State *L) {
  l_stream *const s = l_stream_check(L, 1);
  size_t number = 0;
  size_t count;
  const pf_table *const tables = pf_writer_tables(s->writer, &count);
  const pf_table *const table =
      l_written_table(L, 2, s->format, tables, count, &number);
  if (!pf_ring_encoder_accepts(table))
    luaL_error(L, "table '%s' has more than %d columns: a ring cannot carry it",
               table->name, PF_TAG_COLUMNS);
  luaL_checktype(L, 3, LUA_TTABLE);
  lua_settop(L, 3);
  pf_batch *const row = &s->row;
  l_row_of(L, row, &s->row_table, table, number);
  l_fill_row(L, 3, row, table, s->dictionary);
  pf_error error;
  if (s->checker->put(s->checker, number, row, &s->null_sinks[0], &error) !=
      PF_OK)
    return l_failure_of(L, &error, 1);
  return l_stream_put(L, 1, s, number, row);
}


/* core.stack(dictionary, frames): the id of a stack for frames as trace:stack
   returns them, innermost first; nil without frames. */
static int core_stack (lua_State *L) {
  pf_dictionary *const dictionary = l_dictionary_check(L, 1);
  luaL_checktype(L, 2, LUA_TTABLE);
  lua_settop(L, 2);
  uint32_t stack = PF_NO_STACK;
  for (lua_Integer i = (lua_Integer)l_length(L, 2); i > 0; i--) {
    pf_area frame = PF_AREA_NONE;
    lua_rawgeti(L, 2, i);
    luaL_checktype(L, 3, LUA_TTABLE);
    frame.name = l_option_name(L, 3, "area", dictionary);
    frame.class = l_option_name(L, 3, "class", dictionary);
    frame.file = l_option_name(L, 3, "file", dictionary);
    l_option_int(L, 3, "line", &frame.line);
    frame.has_value = l_option_int(L, 3, "value", &frame.value);
    const uint32_t area = pf_area_add(dictionary, &frame);
    lua_settop(L, 2);
    if (area != PF_NO_AREA)
      stack = pf_stack_push(dictionary, stack, area);
    if (area == PF_NO_AREA || stack == PF_NO_STACK)
      l_no_memory(L);
  }
  if (stack == PF_NO_STACK)
    lua_pushnil(L);
  else
    lua_pushinteger(L, stack);
  return 1;
}


static int answer (lua_State *L, pf_status status, const pf_error *error) {
  if (status != PF_OK)
    return l_failure_of(L, error, 1);
  lua_pushboolean(L, 1);
  return 1;
}


/* stream:flush(): waits until all records are in the file; true, or nil,
   message, code. */
static int stream_flush (lua_State *L) {
  pf_error error;
  return answer(L, pf_writer_flush(l_stream_check(L, 1)->writer, &error),
                &error);
}


/* stream:dump(): as flush, also for a ring in mode "overwrite". */
static int stream_dump (lua_State *L) {
  pf_error error;
  return answer(L, pf_writer_dump(l_stream_check(L, 1)->writer, &error),
                &error);
}


/* stream:facts(): { tried=, written=, lost= } in records, and the number of
   `rounded` values. */
static int stream_facts (lua_State *L) {
  const pf_writer_facts facts =
      pf_writer_facts_of(l_stream_check(L, 1)->writer);
  lua_createtable(L, 0, 4);
  l_set_int(L, "tried", (int64_t)facts.tried);
  l_set_int(L, "written", (int64_t)facts.written);
  l_set_int(L, "lost", (int64_t)facts.lost);
  l_set_int(L, "rounded", (int64_t)facts.rounded);
  return 1;
}


/* stream:tables(): { { name=, fields= }, ... }, the tables that can be
   written. */
static int stream_tables (lua_State *L) {
  size_t count;
  const pf_table *const tables =
      pf_writer_tables(l_stream_check(L, 1)->writer, &count);
  l_push_tables(L, tables, count);
  return 1;
}


void l_open_stream (lua_State *L) {
  l_class(L, L_STREAM,
          L_METHODS({"close", stream_gc}, {"dump", stream_dump},
                    {"emitter", l_stream_emitter}, {"facts", stream_facts},
                    {"finish", stream_finish}, {"flush", stream_flush},
                    {"put", stream_put}, {"tables", stream_tables}),
          stream_gc, stream_gc);
  L_ADD(L, {"stack", core_stack}, {"stream", core_stream});
}
