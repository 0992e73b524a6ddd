/*
** events_chrome.c - the table `events`, made of the items of events by
** model/timeline/span_events.h.
**
** Opened through pf_table.open by lua/checked_reader.c, which calls `close`;
** that frees the reader. Values of PF_BYTES are borrowed from the source.
*/

#include "formats/chrome/chrome.h"

typedef struct events_reader {
  pf_reader reader;
  chrome_items items;
  pf_span_events spans;
} events_reader;


/* The member args of the event at a byte. */
static pf_bytes params (void *context, uint64_t place) {
  const chrome_items *const items = context;
  chrome_parser parser = {
      .bytes = items->parser.bytes, .at = (size_t)place, .is_quiet = true};
  chrome_event event = {.at = 0};
  pf_error error;
  (void)chrome_next(&parser, &event, &error);
  const pf_json *const args = &event.texts[CHROME_ARGS];
  return args->kind == PF_JSON_NONE ? (pf_bytes){NULL, 0} : args->text;
}


static pf_status note (void *context, pf_span_note note, const char *text,
                       uint64_t place, pf_error *error) {
  static const char *const codes[] = {[PF_SPAN_OVERLAP] = "chrome-overlap",
                                      [PF_SPAN_ROUNDED] = "chrome-rounded",
                                      [PF_SPAN_UNMATCHED] = "chrome-unmatched"};
  return chrome_warn(&((const chrome_items *)context)->parser, PF_NOTE,
                     codes[note], (size_t)place, text, error);
}


static pf_status step (pf_reader *reader, pf_batch *batch, pf_error *error) {
  return pf_span_events_step(&((events_reader *)(void *)reader)->spans, batch,
                             error);
}


PF_NEXT_BY_STEPS(next, step)


static void close_reader (pf_reader *reader) {
  events_reader *const self = (events_reader *)(void *)reader;
  pf_timed_close(&self->items.items);
  pf_span_events_close(&self->spans);
  free(self);
}


pf_status chrome_open_events (pf_trace *trace, const pf_table *table,
                              pf_reader **reader, pf_error *error) {
  const chrome_file *const file = trace->state;
  events_reader *const self =
      pf_reader_new(sizeof *self, trace, table, next, error);
  if (self == NULL)
    return PF_ENOMEM;
  self->reader.close = close_reader;
  pf_status status = chrome_items_open(&self->items, trace, error);
  /* Ends are sums of two rounded numbers each. */
  const int64_t rounded = file->step_of_ts > file->step_of_dur
                              ? file->step_of_ts
                              : file->step_of_dur;
  self->spans = (pf_span_events){.dictionary = trace->dictionary,
                                 .items = &self->items.items,
                                 .lanes = &file->lanes,
                                 .inexact = 2 * rounded,
                                 .context = &self->items,
                                 .params = params,
                                 .note = note};
  if (status == PF_OK)
    status = pf_span_events_open(&self->spans, error);
  return pf_reader_opened(&self->reader, status, reader);
}
