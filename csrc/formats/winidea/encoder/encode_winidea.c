/*
** encode_winidea.c - the encoder: binary timelines of both versions, and Text1
** through write_text1.c. Rows are written in the order in which they
** come; only the areas that got a handle here are kept.
*/

#include <stdlib.h>

#include "formats/winidea/encoder/encode_winidea.h"
#include "formats/winidea/text1.h"
#include "model/dictionary/names.h"

#define RECORD 24

const pf_table winidea_written[WINIDEA_WRITTEN] = {
    {"contexts", winidea_contexts_fields, CONTEXTS_COLUMNS, -1, NULL},
    {"areas", winidea_areas_fields, AREAS_COLUMNS, -1, NULL},
    {"statistics", winidea_statistics_fields, STATISTICS_COLUMNS, -1, NULL},
    {"timeline", winidea_timeline_fields, TIMELINE_COLUMNS, -1, NULL}};


/* Reads time, type and core. */
static pf_status read_event (const winidea_writer *self, const pf_batch *batch,
                             size_t row, winidea_event *event) {
  const pf_column *const c = batch->columns;
  if (!pf_has_value(batch, TIMELINE_event, row) ||
      !pf_has_value(batch, TIMELINE_time, row))
    return pf_refuse(self->error, "a row of timeline has no %s",
                     pf_has_value(batch, TIMELINE_time, row) ? "event"
                                                             : "time");
  const uint32_t word = c[TIMELINE_event].ids[row];
  event->time = c[TIMELINE_time].ints[row];
  event->type = 0;
  while (event->type < WINIDEA_EVENTS && self->events[event->type] != word)
    event->type++;
  const pf_bytes text = pf_name(self->dictionary, word);
  if (event->type == WINIDEA_EVENTS)
    return pf_refuse(self->error,
                     "enter, leave, suspend, resume or write expected, found "
                     "%.*s",
                     PF_SHOWN(text, 60));
  const int64_t core = pf_int_at(batch, TIMELINE_core, row, -1);
  if (core < -1 || core >= WINIDEA_NO_CORE)
    return pf_refuse(self->error, "a core of -1 to 254 expected, found %lld",
                     (long long)core);
  event->core = core < 0 ? WINIDEA_NO_CORE : (unsigned)core;
  return PF_OK;
}


/* Reads the value. Functions and lines have none; a binary timeline stores
   0. */
static pf_status read_value (const winidea_writer *self, const pf_batch *batch,
                             size_t row, winidea_event *event) {
  event->has_value = event->is_double = false;
  event->data = 0;
  if (winidea_kind(event->handle) <= WINIDEA_LINE) {
    if (pf_int_at(batch, TIMELINE_value, row, 0) != 0 ||
        (pf_has_value(batch, TIMELINE_number, row) &&
         batch->columns[TIMELINE_number].nums[row] != 0))
      return pf_refuse(self->error,
                       "an event of function or line %08X has no value",
                       (unsigned)event->handle);
  }
  else if (pf_has_value(batch, TIMELINE_value, row)) {
    event->has_value = true;
    event->data = batch->columns[TIMELINE_value].ints[row];
  }
  else if (winidea_is_state(event->handle)) {
    /* a state without a value in its row gets that of its area */
    const uint32_t number = pf_id_at(batch, TIMELINE_area, row);
    if (number != PF_NO_AREA) {
      const pf_area *const area = pf_area_at(self->dictionary, number);
      event->has_value = area->has_value;
      event->data = area->value;
    }
  }
  else if (pf_has_value(batch, TIMELINE_number, row)) {
    event->has_value = event->is_double = true;
    memcpy(&event->data, &batch->columns[TIMELINE_number].nums[row],
           sizeof event->data);
  }
  return PF_OK;
}


static pf_status put_timeline (winidea_writer *self, const pf_batch *batch,
                               size_t row) {
  winidea_event event = {.context = pf_id_at(batch, TIMELINE_context, row)};
  pf_status status = winidea_row_handle(self, batch, TIMELINE_handle,
                                        TIMELINE_area, row, &event.handle);
  if (status == PF_OK)
    status = read_event(self, batch, row, &event);
  if (status == PF_OK)
    status = read_value(self, batch, row, &event);
  if (status < 0)
    return status;
  bool is_written = true;
  if (!self->has_states)
    status = winidea_write_as_variable(self, batch, row, &event, &is_written);
  if (status < 0 || !is_written)
    return status;
  if (self->is_text && !self->is_beside)
    return winidea_write_event(self, &event);
  uint32_t word = event.core << 4 | event.type;
  if (self->version == WINIDEA_1_0)
    word = winidea_has_writes(event.handle) ? 0 : event.type << 24;
  uint8_t *const bytes = pf_sink_reserve(self->records, RECORD);
  if (bytes == NULL) /* the sink has failed; flushing reports it */
    return PF_OK;
  pf_save32le(bytes, event.handle);
  pf_save32le(bytes + 4, word);
  pf_save64le(bytes + 8, (uint64_t)event.data);
  pf_save64le(bytes + 16, (uint64_t)event.time);
  pf_sink_advance(self->records, RECORD);
  return PF_OK;
}


static pf_status begin (winidea_writer *self, pf_sink *sink, pf_error *error) {
  /* without a side sink, records go into the file itself */
  pf_sink *const beside =
      self->is_beside ? pf_sink_side(sink, "timeline") : NULL;
  self->sink = sink;
  self->records = beside == NULL ? sink : beside;
  self->error = error;
  return winidea_write_info(self);
}


static pf_status put (pf_encoder *encoder, size_t table, const pf_batch *batch,
                      pf_sink *sink, pf_error *error) {
  static pf_status (*const put_row[WINIDEA_WRITTEN])(
      winidea_writer *, const pf_batch *,
      size_t) = {[WRITTEN_CONTEXTS] = winidea_write_context,
                 [WRITTEN_AREAS] = winidea_write_area,
                 [WRITTEN_STATISTICS] = winidea_write_statistics,
                 [WRITTEN_TIMELINE] = put_timeline};
  winidea_writer *const self = (winidea_writer *)encoder;
  const size_t number = self->is_text ? table : WRITTEN_TIMELINE;
  pf_status status = begin(self, sink, error);
  for (size_t row = 0; row < batch->rows && status == PF_OK; row++)
    status = put_row[number](self, batch, row);
  return status;
}


/* Areas whose handles were assigned here follow the events. */
static pf_status flush (pf_encoder *encoder, pf_sink *sink, pf_error *error) {
  winidea_writer *const self = (winidea_writer *)encoder;
  const pf_status status = begin(self, sink, error);
  return status < 0 || !self->is_text ? status : winidea_write_assigned(self);
}


static pf_status finish (pf_encoder *encoder, pf_sink *sink, pf_error *error) {
  const pf_status status = flush(encoder, sink, error);
  return status < 0 ? status
                    : winidea_check_states_end((winidea_writer *)encoder);
}


/* Sections may be repeated, and handles follow from the dictionary; only INFO
   must not be written again. */
static void resume (pf_encoder *encoder, const pf_sink *sink, uint64_t count) {
  winidea_writer *const self = (winidea_writer *)encoder;
  (void)count;
  if (sink->written > 0)
    self->total_time = -1;
}


static void close_writer (pf_encoder *encoder) {
  winidea_writer *const self = (winidea_writer *)encoder;
  pf_id_table_free(&self->variables);
  free(self->variable_list);
  for (int i = 0; i < WINIDEA_FORMATS; i++)
    free(self->copies[i]);
  for (int i = 0; i < WINIDEA_KINDS; i++)
    free(self->uses[i]);
  free(self->assigned);
  free(self->is_assigned);
  free(self->handles);
  free(self->row);
  free(self);
}


/* Copies the text of a format and `tail`; `at` is NULL when out of memory. */
static pf_bytes copy_format (winidea_writer *self, unsigned format,
                             pf_bytes text, const char *tail) {
  const size_t more = strlen(tail);
  uint8_t *const copy = malloc(text.size + more);
  self->copies[format] = copy;
  self->texts[format] = (pf_bytes){copy, text.size + more};
  if (copy != NULL) {
    memcpy(copy, text.at, text.size);
    memcpy(copy + text.size, tail, more);
  }
  return self->texts[format];
}


/* Sets a row format from its option, else the vendor's default. */
static pf_status read_format (winidea_writer *self, const pf_trace *opts,
                              winidea_section_kind kind) {
  static const char *const usual[WINIDEA_SECTIONS] = {
      [WINIDEA_INFO] = "%TOTAL_TIME%",
      [WINIDEA_CONTEXTS] = "%NAME%,%HANDLE%",
      [WINIDEA_HANDLE] = "%HANDLE%,%NAME%,%VALUE%",
      [WINIDEA_STATISTICS] = "%HANDLE%,%VALUE%,%COUNT%,%T.NET%",
      [WINIDEA_TIMELINE] = "%HANDLE%,%EVENT%,%VALUE%,%TIME%"};
  const char *const name = winidea_format_names[kind];
  pf_bytes text = pf_bytes_of(usual[kind]), option;
  if (pf_option_text(opts, name, &option) && option.size > 0)
    text = option;
  const pf_bytes copy = copy_format(self, kind, text, "");
  if (copy.at == NULL)
    return pf_no_memory(self->error);
  if (memchr(copy.at, '\n', copy.size) == NULL &&
      memchr(copy.at, '\r', copy.size) == NULL &&
      winidea_compile(&self->formats[kind], copy) &&
      winidea_has_required_macros(&self->formats[kind], kind))
    return PF_OK;
  return pf_refuse(self->error,
                   "%s: one line with HANDLE (of a timeline also EVENT and "
                   "TIME) expected, found %.*s",
                   name, PF_SHOWN(text, 80));
}


static pf_status read_options (winidea_writer *self, const pf_trace *opts) {
  pf_status status = PF_OK;
  self->is_text = !pf_option_is(opts, "dialect", "bin");
  self->is_beside =
      self->is_text && pf_option_int(opts, "timeline_binary", 0) != 0;
  self->has_states = pf_option_int(opts, "timeline_states", 1) != 0;
  self->version =
      pf_option_is(opts, "bin_version", "1.0") ? WINIDEA_1_0 : WINIDEA_1_1;
  self->line_end = pf_option_is(opts, "line_end", "lf") ? "\n" : "\r\n";
  self->total_time = self->end = pf_option_int(opts, "total_time", -1);
  for (int i = 0; i < WINIDEA_SECTIONS && status == PF_OK; i++)
    status = read_format(self, opts, (winidea_section_kind)i);
  if (status < 0)
    return status;
  /* the format for areas whose parents the usual format does not imply */
  const pf_bytes text =
      copy_format(self, WINIDEA_PARENT_FORMAT, self->texts[WINIDEA_HANDLE],
                  ",%HANDLE.PARENT%");
  if (text.at == NULL)
    return pf_no_memory(self->error);
  self->has_parent_format =
      winidea_compile(&self->formats[WINIDEA_PARENT_FORMAT], text);
  for (int i = 0; i < WINIDEA_FORMATS; i++)
    self->needs_check[i] = !winidea_is_separated(&self->formats[i]) ||
                           winidea_has_text(&self->formats[i]);
  return PF_OK;
}


pf_status winidea_encoder (const pf_option *options, size_t noptions,
                           pf_dictionary *dictionary, pf_encoder **encoder,
                           pf_error *error) {
  /* pf_option_* read options from a trace */
  const pf_trace opts = {.options = options, .noptions = noptions};
  winidea_writer *const self = calloc(1, sizeof *self);
  if (self == NULL)
    return pf_no_memory(error);
  self->encoder = (pf_encoder){.put = put,
                               .finish = finish,
                               .close = close_writer,
                               .flush = flush,
                               .resume = resume};
  self->dictionary = dictionary;
  self->error = error;
  self->format = WINIDEA_FORMATS;
  self->function = WINIDEA_NO_HANDLE;
  pf_id_table_init(&self->variables);
  pf_status status = read_options(self, &opts);
  if (status == PF_OK)
    status = pf_intern_texts(dictionary, winidea_event_names, WINIDEA_EVENTS,
                             self->events, error);
  self->encoder.tables = /* a binary timeline alone takes only timeline */
      self->is_text ? winidea_written : &winidea_written[WRITTEN_TIMELINE];
  self->encoder.ntables = self->is_text ? WINIDEA_WRITTEN : 1;
  return pf_encoder_opened(&self->encoder, status, encoder);
}
