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


pf_status xpp_put_text (xpp_writer *self, const pf_batch *batch, size_t row,
                        pf_sink *sink) {
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


void xpp_put_names (const xpp_writer *self, pf_sink *sink) {
  for (size_t i = 0; i < XPP_ROLES; i++) {
    const char *const name = xpp_field_name(self, i);
    if (i > 0)
      (void)pf_sink_fill(sink, self->separator, 1);
    (void)pf_sink_put(sink, name, strlen(name));
  }
  (void)pf_sink_put(sink, "\r\n", 2);
}
