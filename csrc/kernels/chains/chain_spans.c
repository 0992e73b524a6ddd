/*
** chain_spans.c - the instances of chains as events that enter and leave them,
** in lanes of their own.
*/

#include <stdio.h>
#include <string.h>

#include "kernels/chains/chains.h"
#include "kernels/base/pull.h"
#include "model/timeline/span_events.h"

enum {
  CHAIN,
  START,
  WAITED,
  STOP,
  LATE,
  WANTED
};

static const pf_want wants[WANTED] = {
    {"chain", PF_NAME, true}, {"start", PF_INT, true}, {"waited", PF_INT, true},
    {"stop", PF_INT, true},   {"late", PF_INT, true},
};

typedef struct spans_reader {
  pf_reader reader;
  pf_pull pull; /* of the instances */
  bool is_open;
  size_t at; /* the next row of its batch */
  pf_order order;
  pf_timed_reader items;
  pf_threads lanes; /* one for each chain */
  pf_span_events spans;
  uint32_t class; /* a name */
} spans_reader;


/* Set *name to the text of a name with words around it. */
static bool joined (pf_dictionary *dictionary, const char *before,
                    uint32_t inner, const char *after, uint32_t *name) {
  char text[600];
  snprintf(text, sizeof text, "%s%.*s%s", before,
           PF_SHOWN(pf_name(dictionary, inner), 500), after);
  *name = pf_intern_text(dictionary, text);
  return *name != PF_NO_NAME;
}


/* Set *lane to that of a chain. */
static bool lane_of (spans_reader *self, uint32_t chain, uint32_t *lane) {
  const pf_thread new = {.pid = PF_NO_NAME,
                         .tid = PF_NO_NAME,
                         .title = PF_NO_NAME,
                         .process = PF_NO_NAME,
                         .name = PF_NO_NAME};
  if (!pf_thread_of(&self->lanes, chain, &new, lane))
    return false;
  uint32_t *const name = &self->lanes.lanes[*lane].name;
  return *name != PF_NO_NAME ||
         joined(self->reader.dictionary, "chain ", chain, "", name);
}


/* Add the item of an instance: its name says whether it is late, or has no
   response. */
static bool add_item (spans_reader *self, size_t row) {
  const pf_column *const *const columns = self->pull.columns;
  const int64_t start = columns[START]->ints[row];
  const uint32_t chain = columns[CHAIN]->ids[row];
  pf_dictionary *const d = self->reader.dictionary;
  const bool has_stop = !pf_is_missing(columns[STOP], row);
  const char *const after = pf_pull_int(columns[LATE], row, 0) == 1 ? " (late)"
                            : has_stop                              ? ""
                                       : " (no response)";
  pf_area area = PF_AREA_NONE;
  area.class = self->class;
  pf_timed item = {.start = start,
                   .end = start + pf_pull_int(columns[WAITED], row, 0),
                   .place = PF_TIMED_SPAN};
  if (!joined(d, "", chain, after, &area.name) ||
      !lane_of(self, chain, &item.lane))
    return false;
  item.area = pf_area_add(d, &area);
  return item.area != PF_NO_AREA && pf_timed_put(&self->items, &item);
}


static pf_status more_items (void *context, pf_timed_reader *items,
                             pf_error *error) {
  spans_reader *const self = context;
  (void)items;
  if (self->at >= self->pull.batch.rows) {
    const pf_status status = pf_pull_next(&self->pull, error);
    self->at = 0;
    if (status != PF_MORE)
      return status;
  }
  return add_item(self, self->at++) ? PF_MORE : pf_no_memory(error);
}


/* Instances that overlap have lanes beside each other, which is no fault. */
static pf_status note (void *context, pf_span_note note, const char *text,
                       uint64_t place, pf_error *error) {
  (void)context;
  (void)note;
  (void)text;
  (void)text;
  (void)place;
  (void)error;
  return PF_OK;
}


static pf_status step (pf_reader *reader, pf_batch *batch, pf_error *error) {
  return pf_span_events_step(&((spans_reader *)(void *)reader)->spans, batch,
                             error);
}


PF_NEXT_BY_STEPS(next, step)


static void close_reader (pf_reader *reader) {
  spans_reader *const self = (spans_reader *)(void *)reader;
  if (self->is_open)
    pf_pull_close(&self->pull);
  pf_timed_close(&self->items);
  pf_order_free(&self->order);
  pf_span_events_close(&self->spans);
  pf_threads_free(&self->lanes);
  free(self);
}


pf_status pf_chain_spans_open (pf_reader *instances, pf_reader **reader,
                               pf_error *error) {
  spans_reader *const self =
      pf_reader_of(sizeof *self, pf_span_fields, PF_SPAN_EVENTS_value,
                   instances->dictionary, next, error);
  if (self == NULL)
    return PF_ENOMEM;
  pf_dictionary *const d = instances->dictionary;
  self->reader.input = instances;
  self->reader.close = close_reader;
  pf_threads_init(&self->lanes);
  self->order = (pf_order){.is_scanned = true, .is_ordered = true};
  self->items = (pf_timed_reader){
      .order = &self->order, .next = more_items, .context = self};
  self->spans = (pf_span_events){.dictionary = d,
                                 .items = &self->items,
                                 .lanes = &self->lanes,
                                 .context = self,
                                 .note = note};
  self->class = pf_intern_text(d, "chain");
  pf_status status = self->class == PF_NO_NAME ? pf_no_memory(error) : PF_OK;
  if (status == PF_OK)
    status = pf_pull_open(&self->pull, instances, wants, WANTED, error);
  self->is_open = status == PF_OK;
  if (status == PF_OK)
    status = pf_span_events_open(&self->spans, error);
  return pf_reader_opened(&self->reader, status, reader);
}
