/*
** rows_btf.c - the readers of the tables events, entries and raw; each reads
** all lines.
**
** Opened through pf_table.open by lua/checked_reader.c, which calls `close`;
** that frees the reader, its parser and its tasks. Values of PF_BYTES are
** borrowed from the source.
*/

#include "formats/btf/format_btf.h"

/* Events of changes: as pf_event_kind, and the end of the file. */
#define CHANGE_KINDS 6
#define CHANGE_END   5

typedef struct lines_reader {
  pf_reader reader;
  btf_parser parser;
  uint32_t words[CHANGE_KINDS]; /* names: kinds of lines, or of changes */
  btf_tasks tasks;              /* of table events, as all below */
  btf_line line;
  size_t next; /* of the changes */
  bool has_lines, is_over;
} lines_reader;


/* {====== Rows ====== */

static void put_change (const lines_reader *self, pf_column *c, size_t row,
                        const pf_task_change *change) {
  const btf_entity *const core =
      change->core == PF_NO_CORE ? NULL : &self->parser.entities[change->core];
  const bool has_core = core != NULL && core->has_end;
  pf_put_int(&c[BTF_EVENTS_time], row, self->line.time, true);
  pf_put_id(&c[BTF_EVENTS_event], row, self->words[change->kind]);
  pf_put_id(&c[BTF_EVENTS_area], row, change->area);
  pf_put_id(&c[BTF_EVENTS_lane], row, change->lane);
  pf_put_int(&c[BTF_EVENTS_core], row, has_core ? core->end : -1, has_core);
  pf_put_int(&c[BTF_EVENTS_value], row, change->value, change->has_value);
  pf_put_num(&c[BTF_EVENTS_number], row, change->number, change->has_number);
}


/* After the last line: the time at which the recording ends. */
static pf_status put_end (lines_reader *self, pf_batch *batch) {
  const pf_task_change end = {.kind = CHANGE_END,
                              .area = PF_NO_AREA,
                              .lane = self->tasks.tasks.lane,
                              .core = PF_NO_CORE};
  if (self->is_over || !self->has_lines)
    return PF_END;
  self->is_over = true;
  self->line.time = self->parser.last;
  put_change(self, batch->columns, batch->rows++, &end);
  return PF_MORE;
}


static pf_status step_events (pf_reader *reader, pf_batch *batch,
                              pf_error *error) {
  lines_reader *const self = (lines_reader *)(void *)reader;
  if (self->next < self->tasks.tasks.count) {
    const pf_task_change *const change =
        &self->tasks.tasks.changes[self->next++];
    put_change(self, batch->columns, batch->rows++, change);
    return PF_MORE;
  }
  const pf_status status = btf_next_line(&self->parser, &self->line, error);
  if (status != PF_MORE)
    return status == PF_END ? put_end(self, batch) : status;
  self->next = 0;
  self->has_lines |= self->line.kind == BTF_LINE_EVENT;
  return btf_tasks_step(&self->tasks, &self->line, error);
}


static pf_status step_entries (pf_reader *reader, pf_batch *batch,
                               pf_error *error) {
  lines_reader *const self = (lines_reader *)(void *)reader;
  btf_parser *const parser = &self->parser;
  btf_line line;
  pf_column *const c = batch->columns;
  const pf_status status = btf_next_line(parser, &line, error);
  if (status != PF_MORE || line.kind != BTF_LINE_EVENT)
    return status;
  const size_t row = batch->rows++;
  const btf_entity *const of = parser->entities;
  double number = 0;
  const bool has_number = line.has_note && btf_read_num(line.note, &number);
  pf_put_int(&c[BTF_ENTRIES_time], row, line.time, true);
  pf_put_id(&c[BTF_ENTRIES_source], row, of[line.source].unique);
  pf_put_int(&c[BTF_ENTRIES_source_instance], row, line.source_instance,
             line.has_source_instance);
  pf_put_id(&c[BTF_ENTRIES_target], row, of[line.target].unique);
  pf_put_int(&c[BTF_ENTRIES_target_instance], row, line.target_instance,
             line.has_target_instance);
  pf_put_id(&c[BTF_ENTRIES_event], row, of[line.event].unique);
  pf_put_bytes(&c[BTF_ENTRIES_note], row, line.note, line.has_note);
  pf_put_num(&c[BTF_ENTRIES_number], row, number, has_number);
  return pf_put_text(reader->dictionary, &c[BTF_ENTRIES_type], row,
                     line.type_text, line.type_text.size > 0)
             ? PF_MORE
             : pf_no_memory(error);
}


static pf_status step_raw (pf_reader *reader, pf_batch *batch,
                           pf_error *error) {
  lines_reader *const self = (lines_reader *)(void *)reader;
  btf_line line;
  const pf_status status = btf_next_line(&self->parser, &line, error);
  const pf_bytes text = {self->parser.file->bytes.at + line.at, line.size};
  return status == PF_MORE ? pf_put_raw(batch, line.at, line.size,
                                        self->words[line.kind], text)
                           : status;
}


PF_NEXT_BY_STEPS(next_events, step_events)
PF_NEXT_BY_STEPS(next_entries, step_entries)
PF_NEXT_BY_STEPS(next_raw, step_raw)


/* }====== */

static void close_reader (pf_reader *reader) {
  lines_reader *const self = (lines_reader *)(void *)reader;
  btf_tasks_free(&self->tasks);
  btf_parser_free(&self->parser);
  free(self);
}


pf_status btf_open_table (pf_trace *trace, const pf_table *table,
                          pf_reader **reader, pf_error *error) {
  static pf_next *const nexts[] = {next_events, next_entries, next_raw};
  static const char *const kinds[] = {"header", "comment", "event", "blank",
                                      "rest"};
  static const char *const changes[] = {"leave", "suspend", "resume",
                                        "enter", "write",   "end"};
  const size_t index = (size_t)(table - trace->tables);
  lines_reader *const self =
      pf_reader_new(sizeof *self, trace, table, nexts[index], error);
  if (self == NULL)
    return PF_ENOMEM;
  self->reader.close = close_reader;
  self->parser.trace = trace;
  self->parser.file = trace->state;
  pf_status status = btf_tasks_open(&self->tasks, &self->parser, error);
  if (status == PF_OK)
    status = index == 0 ? pf_intern_texts(trace->dictionary, changes,
                                          CHANGE_KINDS, self->words, error)
                        : pf_intern_texts(trace->dictionary, kinds,
                                          BTF_LINE_KINDS, self->words, error);
  return pf_reader_opened(&self->reader, status, reader);
}
