/*
** entries_chrome.c - the tables `entries`, an event as the file has it, and
** `raw`.
**
** Opened through pf_table.open by lua/checked_reader.c, which calls `close`.
** Values of PF_BYTES are borrowed from the source.
*/

#include "formats/chrome/chrome.h"

typedef struct entries_reader {
  pf_reader reader;
  chrome_parser parser;
  size_t done; /* of table raw: bytes that are in rows, */
  size_t held; /* and the end of an event that is not */
  bool is_held;
  uint32_t kinds[3]; /* names: head, event, rest */
} entries_reader;

enum {
  HEAD,
  EVENT,
  REST
};


/* {====== entries ====== */

static pf_status put_name (entries_reader *self, pf_column *column, size_t row,
                           const pf_json *value, pf_error *error) {
  uint32_t name;
  if (column->data == NULL)
    return PF_OK;
  const pf_status status =
      pf_intern_json(self->parser.trace->dictionary, value, &name, error);
  pf_put_id(column, row, name);
  return status;
}


static void put_bytes (pf_column *column, size_t row, const pf_json *value) {
  pf_put_bytes(column, row, value->text, value->kind != PF_JSON_NONE);
}


static pf_status step_entries (pf_reader *reader, pf_batch *batch,
                               pf_error *error) {
  entries_reader *const self = (entries_reader *)(void *)reader;
  const chrome_file *const file = self->parser.trace->state;
  pf_column *const c = batch->columns;
  chrome_event event;
  int64_t start = 0, end = 0;
  pf_status status = chrome_next(&self->parser, &event, error);
  if (status != PF_MORE)
    return status;
  const size_t row = batch->rows++;
  const bool has = chrome_interval(&event, file->origin, &start, &end);
  const pf_bytes phase = {&event.phase, 1};
  pf_put_int(&c[CHROME_ENTRIES_time], row, start, has);
  pf_put_int(&c[CHROME_ENTRIES_duration], row, end - start,
             has && event.has_dur);
  if (!pf_put_text(reader->dictionary, &c[CHROME_ENTRIES_phase], row, phase,
                   true))
    return pf_no_memory(error);
  const struct {
    size_t column;
    const pf_json *value;
  } names[] = {{CHROME_ENTRIES_name, &event.texts[CHROME_NAME]},
               {CHROME_ENTRIES_category, &event.texts[CHROME_CATEGORY]},
               {CHROME_ENTRIES_pid, &event.texts[CHROME_PID]},
               {CHROME_ENTRIES_tid, &event.texts[CHROME_TID]}};
  for (size_t i = 0; i < 4 && status == PF_MORE; i++)
    status = put_name(self, &c[names[i].column], row, names[i].value, error);
  put_bytes(&c[CHROME_ENTRIES_id], row, &event.texts[CHROME_ID]);
  put_bytes(&c[CHROME_ENTRIES_args], row, &event.texts[CHROME_ARGS]);
  return status;
}


/* }====== */

/* {====== raw ====== */

static pf_status put_raw (entries_reader *self, pf_batch *batch, size_t end,
                          unsigned kind) {
  const size_t at = self->done, size = end - at;
  const pf_bytes rest = pf_text_after(self->parser.bytes, at);
  self->done = end;
  return pf_put_raw(batch, at, size, self->kinds[kind],
                    (pf_bytes){rest.at, size});
}


/* Rows: what is in front of the events; each event with what follows it, up to
   the next one; what cannot be read, and what is behind the events. */
static pf_status step_raw (pf_reader *reader, pf_batch *batch,
                           pf_error *error) {
  entries_reader *const self = (entries_reader *)(void *)reader;
  const chrome_file *const file = self->parser.trace->state;
  chrome_event event;
  if (self->done == 0 && file->begin > 0)
    return put_raw(self, batch, file->begin, HEAD);
  if (self->is_held) {
    self->is_held = false;
    return put_raw(self, batch, self->held, EVENT);
  }
  const pf_status status = chrome_next(&self->parser, &event, error);
  if (status == PF_END)
    return self->done == file->bytes.size
               ? PF_END
               : put_raw(self, batch, file->bytes.size, REST);
  if (status != PF_MORE)
    return status;
  self->is_held = true;
  self->held = event.at + event.size;
  return event.at > self->done ? put_raw(self, batch, event.at, REST) : PF_MORE;
}


/* }====== */

PF_NEXT_BY_STEPS(next_entries, step_entries)
PF_NEXT_BY_STEPS(next_raw, step_raw)


static pf_status open_reader (pf_trace *trace, const pf_table *table,
                              pf_next *next, pf_reader **reader,
                              pf_error *error) {
  static const char *const kinds[] = {"head", "event", "rest"};
  const chrome_file *const file = trace->state;
  entries_reader *const self =
      pf_reader_new(sizeof *self, trace, table, next, error);
  if (self == NULL)
    return PF_ENOMEM;
  self->parser =
      (chrome_parser){.trace = trace, .bytes = file->bytes, .at = file->begin};
  return pf_reader_opened(
      &self->reader,
      pf_intern_texts(trace->dictionary, kinds, 3, self->kinds, error), reader);
}


pf_status chrome_open_entries (pf_trace *trace, const pf_table *table,
                               pf_reader **reader, pf_error *error) {
  return open_reader(trace, table, next_entries, reader, error);
}


pf_status chrome_open_raw (pf_trace *trace, const pf_table *table,
                           pf_reader **reader, pf_error *error) {
  return open_reader(trace, table, next_raw, reader, error);
}
