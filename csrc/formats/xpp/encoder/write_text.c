/*
** write_text.c - writes entries as rows of text: names in quotes, with
** doubled quotes, line end CR LF. Times are ms, with a fraction if they are not
** whole.
*/

#include <stdio.h>
#include <string.h>

#include "formats/xpp/encoder/write_xpp.h"
#include "model/rows/batch.h"
#include "model/dictionary/names.h"


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


static bool has_value (const pf_column *column, size_t row) {
  return column->data != NULL && !pf_is_missing(column, row);
}


static void put_number (pf_sink *sink, const pf_column *column, size_t row) {
  char text[24];
  if (!has_value(column, row))
    return;
  const int size =
      snprintf(text, sizeof text, "%lld", (long long)column->ints[row]);
  (void)pf_sink_put(sink, text, (size_t)size);
}


static void put_time (pf_sink *sink, const pf_column *column, size_t row) {
  char text[40];
  if (!has_value(column, row))
    return;
  const int64_t time = column->ints[row];
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


static void put_name (const xpp_writer *self, pf_sink *sink,
                      const pf_column *column, size_t row) {
  if (has_value(column, row))
    put_quoted(sink, pf_name(self->dictionary, column->ids[row]));
}


pf_status xpp_put_text (xpp_writer *self, const pf_batch *batch, size_t row,
                        pf_sink *sink) {
  const pf_column *const c = batch->columns;
  put_number(sink, &c[ENTRIES_THREAD], row);
  (void)pf_sink_fill(sink, self->separator, 1);
  put_time(sink, &c[ENTRIES_TIME], row);
  (void)pf_sink_fill(sink, self->separator, 1);
  put_name(self, sink, &c[ENTRIES_OP], row);
  (void)pf_sink_fill(sink, self->separator, 1);
  put_name(self, sink, &c[ENTRIES_CALL], row);
  (void)pf_sink_fill(sink, self->separator, 1);
  put_number(sink, &c[ENTRIES_LINE], row);
  (void)pf_sink_fill(sink, self->separator, 1);
  if (has_value(&c[ENTRIES_PARAMS], row))
    put_quoted(sink, c[ENTRIES_PARAMS].bytes[row]);
  return pf_sink_put(sink, "\r\n", 2);
}


void xpp_put_names (const xpp_writer *self, pf_sink *sink) {
  for (size_t i = 0; i < XPP_ROLES; i++) {
    const char *const name = xpp_field_name(self, i);
    if (i > 0)
      (void)pf_sink_fill(sink, self->separator, 1);
    (void)pf_sink_put(sink, name, strlen(name));
  }
  (void)pf_sink_put(sink, "\r\n", 2);
}
