/*
** rows_callgrind.c - the readers of the tables costs, call_costs and raw: each
** reads all lines and takes those that are its own.
**
** Opened through pf_table.open by lua/checked_reader.c, which calls `close`;
** that frees the reader and its parser. Values of PF_BYTES are borrowed from
** the source.
*/

#include "formats/callgrind/callgrind.h"

typedef struct lines_reader {
  pf_reader reader;
  callgrind_parser parser;
  uint32_t kinds[CALLGRIND_KINDS]; /* names of table raw */
} lines_reader;


/* {====== Functions ====== */

/* The file of a function; the object if the file is not known, so that
   functions without a file are told apart by it. */
static uint32_t file_of (const callgrind_parser *self,
                         const callgrind_function *f) {
  const bool is_known = f->file != PF_NO_NAME && f->file != self->unknown;
  return is_known || f->object == PF_NO_NAME ? f->file : f->object;
}


/* Puts a function into three columns: name, file, object. */
static void put_function (const callgrind_parser *self, pf_column *columns,
                          size_t row, const callgrind_function *f) {
  pf_put_id(&columns[0], row, f->name);
  pf_put_id(&columns[1], row, file_of(self, f));
  pf_put_id(&columns[2], row, f->object);
}


/* Puts the position of a line into two columns: line, instr. */
static void put_position (const callgrind_parser *self, pf_column *columns,
                          size_t row) {
  pf_put_int(&columns[0], row, self->line, self->has_line && self->line > 0);
  pf_put_addr(&columns[1], row, self->instr, self->has_instr);
}


static void put_events (const callgrind_parser *self, pf_column *columns,
                        size_t row) {
  for (size_t i = 0; i < self->file->events.count; i++)
    pf_put_int(&columns[i], row, self->costs[i], true);
}


/* }====== */

/* {====== Rows ====== */

static pf_status step_costs (pf_reader *reader, pf_batch *batch,
                             pf_error *error) {
  callgrind_parser *const parser = &((lines_reader *)(void *)reader)->parser;
  callgrind_line line;
  pf_column *const c = batch->columns;
  const pf_status status = callgrind_next(parser, &line, error);
  if (status != PF_MORE || line.kind != CALLGRIND_COST)
    return status;
  const size_t row = batch->rows++;
  put_function(parser, &c[CALLGRIND_COSTS_function], row, &parser->function);
  put_position(parser, &c[CALLGRIND_COSTS_line], row);
  put_events(parser, &c[CALLGRIND_COSTS_COLUMNS], row);
  return PF_MORE;
}


static pf_status step_calls (pf_reader *reader, pf_batch *batch,
                             pf_error *error) {
  callgrind_parser *const parser = &((lines_reader *)(void *)reader)->parser;
  callgrind_line line;
  pf_column *const c = batch->columns;
  const pf_status status = callgrind_next(parser, &line, error);
  if (status != PF_MORE || line.kind != CALLGRIND_INCLUSIVE)
    return status;
  const size_t row = batch->rows++;
  const callgrind_function *const caller = &parser->function;
  const callgrind_function *const called = &line.called;
  const bool is_recursive = called->name == caller->name &&
                            called->file == caller->file &&
                            called->object == caller->object;
  put_function(parser, &c[CALLGRIND_CALLS_caller], row, caller);
  put_position(parser, &c[CALLGRIND_CALLS_line], row);
  put_function(parser, &c[CALLGRIND_CALLS_callee], row, called);
  pf_put_int(&c[CALLGRIND_CALLS_calls], row, line.calls, true);
  pf_put_bool(&c[CALLGRIND_CALLS_is_recursive], row, is_recursive, true);
  put_events(parser, &c[CALLGRIND_CALLS_COLUMNS], row);
  return PF_MORE;
}


static pf_status step_raw (pf_reader *reader, pf_batch *batch,
                           pf_error *error) {
  lines_reader *const self = (lines_reader *)(void *)reader;
  callgrind_line line;
  const pf_status status = callgrind_next(&self->parser, &line, error);
  return status == PF_MORE ? pf_put_raw(batch, line.at, line.size,
                                        self->kinds[line.kind], line.text)
                           : status;
}


PF_NEXT_BY_STEPS(next_costs, step_costs)
PF_NEXT_BY_STEPS(next_calls, step_calls)
PF_NEXT_BY_STEPS(next_raw, step_raw)


/* }====== */

/* {====== Readers ====== */

static pf_status open_parser (callgrind_parser *self, pf_trace *trace,
                              pf_error *error) {
  const callgrind_file *const file = trace->state;
  *self = (callgrind_parser){.trace = trace,
                             .file = file,
                             .has_line = true,
                             .is_simple = !file->has_units,
                             .is_selected = true};
  self->function = self->called = CALLGRIND_NO_FUNCTION;
  for (size_t i = 0; i < 3; i++)
    pf_id_table_init(&self->of[i].numbers);
  self->unknown = pf_intern_text(trace->dictionary, "???");
  return self->unknown == PF_NO_NAME ? pf_no_memory(error) : PF_OK;
}


static void close_parser (callgrind_parser *self) {
  for (size_t i = 0; i < 3; i++) {
    pf_id_table_free(&self->of[i].numbers);
    free(self->of[i].names);
  }
}


static void close_reader (pf_reader *reader) {
  close_parser(&((lines_reader *)(void *)reader)->parser);
  free(reader);
}


pf_status callgrind_open_table (pf_trace *trace, const pf_table *table,
                                pf_reader **reader, pf_error *error) {
  static pf_next *const nexts[] = {next_costs, next_calls, next_raw};
  static const char *const kinds[] = {"header",    "name", "cost",  "calls",
                                      "inclusive", "jump", "blank", "rest"};
  lines_reader *const self = pf_reader_new(sizeof *self, trace, table,
                                           nexts[table - trace->tables], error);
  if (self == NULL)
    return PF_ENOMEM;
  self->reader.close = close_reader;
  pf_status status = open_parser(&self->parser, trace, error);
  if (status == PF_OK)
    status = pf_intern_texts(trace->dictionary, kinds, CALLGRIND_KINDS,
                             self->kinds, error);
  return pf_reader_opened(&self->reader, status, reader);
}


/* }====== */
