/*
** write_xpp.c - the encoder: options, rows of text, packets and flushes. The
** PRI file beside the trace has the settings in the keys of the profiler.
*/

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/xpp/xpp.h"
#include "formats/xpp/encoder/write_xpp.h"
#include "formats/xpp/parser/text_rows_xpp.h"
#include "model/dictionary/names.h"
#include "model/rows/batch.h"

static const pf_field written_fields[ENTRIES_COLUMNS] = {
    {"thread", PF_INT, "number of the thread"},
    {"time", PF_INT, "ns since the trace began"},
    {"op", PF_NAME, "i, I, O or o"},
    {"call", PF_NAME, "name of the function"},
    {"line", PF_INT, "line of the source"},
    {"params", PF_BYTES, "parameters with their values"},
    {"flags", PF_NAME, "deleted: the record is marked so"},
};

const pf_table xpp_written[1] = {
    {"entries", written_fields, ENTRIES_COLUMNS, -1, NULL}};


/* The names that the profiler stores, and those of its documents. */
const char *xpp_field_name (const xpp_writer *writer, size_t role) {
  static const char *const names[2][XPP_ROLES] = {
      {"TID", "TIME", "OP", "MSG", "LINE", "PARAMS"},
      {"THREAD_ID", "TIME", "OP", "CALL", "LINE", "PARAMETERS"}};
  return names[writer->has_doc_names][role];
}


/* Writes a text in quotes; quotes in it are doubled. */
static void put_quoted (pf_sink *sink, pf_bytes text) {
  (void)pf_sink_fill(sink, '"', 1);
  while (text.size > 0) {
    const uint8_t *const quote = memchr(text.at, '"', text.size);
    const size_t size =
        quote == NULL ? text.size : (size_t)(quote - text.at) + 1;
    (void)pf_sink_put(sink, text.at, size);
    if (quote != NULL)
      (void)pf_sink_fill(sink, '"', 1);
    text.at += size;
    text.size -= size;
  }
  (void)pf_sink_fill(sink, '"', 1);
}


/* Writes a time in ms, with a fraction if they are not whole. */
static void put_time (pf_sink *sink, int64_t time) {
  char text[40];
  const uint64_t ns = time < 0 ? 0 - (uint64_t)time : (uint64_t)time;
  const uint64_t whole = ns / XPP_NS_PER_MS, rest = ns % XPP_NS_PER_MS;
  int size = snprintf(text, sizeof text, "%s%llu", time < 0 ? "-" : "",
                      (unsigned long long)whole);
  if (rest > 0)
    size += snprintf(text + size, sizeof text - (size_t)size, ".%06llu",
                     (unsigned long long)rest);
  while (rest > 0 && text[size - 1] == '0')
    size--;
  (void)pf_sink_put(sink, text, (size_t)size);
}


static void put_number (pf_sink *sink, int64_t number) {
  char text[24];
  const int size = snprintf(text, sizeof text, "%lld", (long long)number);
  (void)pf_sink_put(sink, text, (size_t)size);
}


static pf_status put_text_row (xpp_writer *self, const pf_batch *batch,
                               size_t row, pf_sink *sink) {
  for (size_t i = 0; i < XPP_ROLES; i++) {
    const pf_column *const column = &batch->columns[i];
    if (i > 0)
      (void)pf_sink_fill(sink, self->separator, 1);
    if (!pf_has_value(batch, i, row))
      continue;
    if (column->type == PF_NAME)
      put_quoted(sink, pf_name(self->dictionary, column->ids[row]));
    else if (column->type == PF_BYTES)
      put_quoted(sink, column->bytes[row]);
    else if (i == ENTRIES_TIME)
      put_time(sink, column->ints[row]);
    else
      put_number(sink, column->ints[row]);
  }
  return pf_sink_put(sink, "\r\n", 2);
}


static void put_names (const xpp_writer *self, pf_sink *sink) {
  for (size_t i = 0; i < XPP_ROLES; i++) {
    const char *const name = xpp_field_name(self, i);
    if (i > 0)
      (void)pf_sink_fill(sink, self->separator, 1);
    (void)pf_sink_put(sink, name, strlen(name));
  }
  (void)pf_sink_put(sink, "\r\n", 2);
}


/* Refuses a decrease of more than half of the clock's range, which the reader
   would take for a wrap, and a missing time if the field of the table cannot be
   empty, because it would be read as 0. (A missing thread or line is written as
   0 there, which no thread and no line has.) */
static pf_status check_times (xpp_writer *self, const pf_batch *batch,
                              size_t from, size_t to, pf_error *error) {
  const uint64_t max = XPP_CLOCK_RANGE / 2 * XPP_NS_PER_MS;
  const bool is_table = self->inner != NULL;
  if (is_table && self->roles.field[XPP_TIME] == XPP_NO_FIELD)
    return PF_OK;
  for (size_t row = from; row < to; row++) {
    const unsigned long long entry = self->encoder.count + (row - from) + 1;
    const bool has_time = pf_has_value(batch, ENTRIES_TIME, row);
    if (!has_time && is_table && !self->can_be_empty[XPP_TIME])
      return pf_refuse(
          error,
          "entry %llu has no time, and the binary field of the time cannot be "
          "empty: layout = text-fields writes fields that can",
          entry);
    if (!has_time)
      continue;
    const int64_t now = batch->columns[ENTRIES_TIME].ints[row];
    if (now < self->time && (uint64_t)self->time - (uint64_t)now > max)
      return pf_refuse(error,
                       "entry %llu: a time of %lld ms after one of %lld ms "
                       "would be read as a wrap of the clock",
                       entry, (long long)(now / XPP_NS_PER_MS),
                       (long long)(self->time / XPP_NS_PER_MS));
    self->time = now;
  }
  return PF_OK;
}


/* Before the first entry, writes the header, or the row of names, or continues
   a file that has them. */
static pf_status begin (xpp_writer *self, pf_sink *sink, pf_error *error) {
  if (self->begun)
    return PF_OK;
  self->begun = true;
  if (self->inner != NULL) {
    const pf_batch nothing = {0, self->out.ncolumns, self->out.columns};
    return self->inner->put(self->inner, 0, &nothing, sink, error);
  }
  if (self->has_names && sink->written == 0)
    put_names(self, sink);
  return PF_OK;
}


static pf_status put_rows (xpp_writer *self, const pf_batch *batch, size_t from,
                           size_t to, pf_sink *sink, pf_error *error) {
  pf_sink *const target =
      self->in_packets ? pf_sink_side(sink, "packet") : sink;
  pf_status status = PF_OK;
  if (target == NULL || (self->in_packets && target->cut == NULL))
    return pf_refuse(error,
                     "packets need an output file: they are created beside it");
  status = check_times(self, batch, from, to, error);
  if (status == PF_OK && self->inner != NULL)
    status = xpp_put_records(self, batch, from, to, target, error);
  for (size_t row = from; self->inner == NULL && row < to && status == PF_OK;
       row++) {
    status = put_text_row(self, batch, row, target);
    self->encoder.count++;
  }
  if (status == PF_OK || target->failed == PF_OK)
    return status;
  return pf_sink_flush(target, error);
}


static pf_status flush (pf_encoder *encoder, pf_sink *sink, pf_error *error) {
  xpp_writer *const self = (xpp_writer *)(void *)encoder;
  pf_status status = begin(self, sink, error);
  if (status == PF_OK && self->inner != NULL)
    status = self->inner->flush(self->inner, sink, error);
  for (pf_sink *s = sink; s != NULL && status == PF_OK; s = s->side)
    status = pf_sink_flush(s, error);
  return status;
}


static pf_status put (pf_encoder *encoder, size_t table, const pf_batch *batch,
                      pf_sink *sink, pf_error *error) {
  xpp_writer *const self = (xpp_writer *)(void *)encoder;
  pf_status status = begin(self, sink, error);
  (void)table; /* there is only one */
  for (size_t from = 0; from < batch->rows && status == PF_OK;) {
    const uint64_t left_to_flush = self->flush_every == 0
                                       ? UINT64_MAX
                                       : self->flush_every - self->since_flush;
    const size_t left = batch->rows - from;
    const size_t count = left < left_to_flush ? left : (size_t)left_to_flush;
    status = put_rows(self, batch, from, from + count, sink, error);
    from += count;
    self->since_flush += count;
    if (status != PF_OK || self->since_flush != self->flush_every)
      continue;
    status = flush(encoder, sink, error);
    self->since_flush = 0;
    pf_sink *const packet =
        self->in_packets ? pf_sink_side(sink, "packet") : NULL;
    if (status == PF_OK && packet != NULL)
      status = packet->cut(packet, error);
  }
  encoder->rounded =
      self->rounded + (self->inner == NULL ? 0 : self->inner->rounded);
  return status;
}


/* An end mark follows the records; with packets nothing follows the header. */
static pf_status finish (pf_encoder *encoder, pf_sink *sink, pf_error *error) {
  xpp_writer *const self = (xpp_writer *)(void *)encoder;
  pf_sink *const settings = pf_sink_side(sink, "pri");
  pf_status status = begin(self, sink, error);
  if (settings != NULL) {
    /* those with which the profiler would have written this trace */
    char text[160];
    const int size =
        snprintf(text, sizeof text,
                 "[TRACE]\r\nOPERATIONMODE=%lld\r\n"
                 "OUTMSGSIZE=%lld\r\nOUTFLUSHEVERY=%llu\r\n",
                 (long long)self->mode, (long long)self->symbol_size,
                 (unsigned long long)self->flush_every);
    (void)pf_sink_put(settings, text, (size_t)size);
  }
  if (status != PF_OK)
    return status;
  if (self->in_packets || self->inner == NULL)
    return flush(encoder, sink, error);
  return self->inner->finish(self->inner, sink, error);
}


/* A resumed writer begins a new packet, because those that exist may have any
   number of entries. */
static void resume (pf_encoder *encoder, const pf_sink *sink, uint64_t count) {
  xpp_writer *const self = (xpp_writer *)(void *)encoder;
  self->begun = sink->written > 0;
  encoder->count = count;
  if (self->inner != NULL)
    self->inner->resume(self->inner, sink, count);
}


static void close_writer (pf_encoder *encoder) {
  xpp_writer *const self = (xpp_writer *)(void *)encoder;
  if (self->inner != NULL)
    self->inner->close(self->inner);
  pf_batch_close(&self->out);
  free(self->schema);
  free(self->extras);
  free(self);
}


static pf_status read_options (xpp_writer *self, const pf_option *options,
                               size_t noptions, pf_error *error) {
  const pf_trace opts = {.options = options, .noptions = noptions};
  const int64_t every = pf_option_int(&opts, "flush_every", 0);
  self->round = pf_option_int(&opts, "round", 0) != 0;
  self->has_names = pf_option_int(&opts, "header_row", 0) != 0;
  self->has_doc_names = pf_option_is(&opts, "names", "doc");
  self->in_packets = pf_option_int(&opts, "packets", 0) != 0;
  self->symbol_size = pf_option_int(&opts, "symbol_size", 20);
  self->separator = ',';
  const pf_status status = xpp_separator_option(&opts, &self->separator, error);
  if (status != PF_OK)
    return status;
  if (every < 0 || (self->in_packets && every == 0))
    return pf_refuse(
        error,
        "flush_every: the number of entries in a packet expected, found %lld",
        (long long)every);
  self->flush_every = (uint64_t)every;
  self->mode = XPP_MODE_TRACE | (every > 0 ? XPP_MODE_FLUSH : 0) |
               (self->in_packets ? XPP_MODE_PACKETS : 0);
  if (pf_option_is(&opts, "form", "deldbe") ||
      pf_option_is(&opts, "form", "text"))
    return PF_OK;
  return xpp_begin_table(self, &opts, error);
}


pf_status xpp_encoder (const pf_option *options, size_t noptions,
                       pf_dictionary *dictionary, pf_encoder **encoder,
                       pf_error *error) {
  xpp_writer *const self = calloc(1, sizeof *self);
  if (self == NULL)
    return pf_no_memory(error);
  self->encoder = (pf_encoder){.put = put,
                               .finish = finish,
                               .close = close_writer,
                               .flush = flush,
                               .resume = resume};
  self->dictionary = dictionary;
  self->table = xpp_written[0];
  self->time = INT64_MIN;
  const pf_status status = read_options(self, options, noptions, error);
  self->encoder.tables = &self->table;
  self->encoder.ntables = 1;
  return pf_encoder_opened(&self->encoder, status, encoder);
}
