/*
** spans.c - the reader of spans: runs the call machine over each event, then
** adds rows for what has begun and ended.
*/

#include "kernels/spans/spans.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/spans/open_spans.h"

static const pf_field fields[PF_SPAN_FIELDS] = {
    {"kind", PF_INT, "pf_span_kind"},
    {"track", PF_INT, "id of the track"},
    {"time", PF_INT, "time, ns"},
    {"frame", PF_INT, "id of the frame, from 1"},
    {"area", PF_INT, "area of the frame"},
    {"value", PF_INT, "value of the frame"},
    {"net", PF_INT, "time in which the call was active, ns"},
    {"flags", PF_INT, "flags of the call"},
};


/* {====== Events ====== */

/* Whether the current event begins the range while calls are open. */
static bool begins_range (const spans_reader *r) {
  const pf_event_rows *const rows = &r->events.rows;
  const unsigned flags = rows->flags == NULL ? 0 : rows->flags[r->row];
  return r->machine.before_range && rows->kinds[r->row] != PF_EVENT_NONE &&
         (flags & (PF_CALL_GAP | PF_CALL_NEW_FILE)) == 0 &&
         rows->times[r->row] >= r->options.calls.from;
}


static void update_limits (spans_reader *r) {
  const pf_machine *const m = &r->machine;
  if (m->before_range || !m->has_begun)
    return;
  r->first = !r->has_first || m->first < r->first ? m->first : r->first;
  r->last = !r->has_first || m->last > r->last ? m->last : r->last;
  r->machine_last = m->last;
  r->has_first = true;
}


/* A gap has ended all calls; the values of variables end with them. */
static bool check_epoch (spans_reader *r) {
  const bool is_same = r->epoch == r->machine.epoch;
  r->epoch = r->machine.epoch;
  return is_same || pf_spans_end_values(r, r->machine_last);
}


/* Find the slot of the current event; PF_NO_SLOT when it has none. */
static pf_status find_slot (spans_reader *r, uint32_t *slot) {
  pf_machine *const m = &r->machine;
  const pf_event_rows *const rows = &r->events.rows;
  *slot = PF_NO_SLOT;
  if (m->before_range || m->after_range ||
      rows->kinds[r->row] >= PF_EVENT_OTHER)
    return PF_OK;
  return pf_slot_find(&m->lanes, rows->lanes[r->row], rows->areas[r->row],
                      m->first, slot);
}


/* Process the event at r->row. PF_ENOMEM. */
static pf_status process_event (spans_reader *r) {
  pf_machine *const m = &r->machine;
  const pf_event_rows *const rows = &r->events.rows;
  uint32_t slot;
  if ((begins_range(r) && !pf_spans_begin_range(r)) ||
      pf_machine_process(m, rows, r->row, r->row + 1) != PF_OK ||
      find_slot(r, &slot) != PF_OK)
    return PF_ENOMEM;
  if (!check_epoch(r) || !pf_spans_add_calls(r, slot, rows->kinds[r->row]))
    return PF_ENOMEM;
  update_limits(r);
  return slot == PF_NO_SLOT ||
                 pf_spans_update_lane(r, m->lanes.slots[slot].lane)
             ? PF_OK
             : PF_ENOMEM;
}


/* End the open calls and values at the end of the events. */
static pf_status finish (spans_reader *r) {
  r->has_ended = true;
  if (pf_machine_finish(&r->machine) != PF_OK ||
      !pf_spans_add_calls(r, PF_NO_SLOT, PF_EVENT_OTHER))
    return PF_ENOMEM;
  update_limits(r);
  return pf_spans_end_values(r, r->machine.last) ? PF_OK : PF_ENOMEM;
}


/* Read the next batch of events. PF_END at the end. */
static pf_status pull (spans_reader *r, pf_error *error) {
  if (pf_events_are_over(&r->events, &r->machine))
    return PF_END;
  const pf_status status = pf_events_next(&r->events, error);
  r->row = 0;
  if (status != PF_MORE)
    r->events.batch.rows = 0;
  return status;
}


/* Process events until there are rows. PF_MORE, PF_END, PF_AGAIN or a
   failure. */
static pf_status fill_rows (spans_reader *r, pf_error *error) {
  pf_status status = PF_MORE;
  r->nrows = r->returned = 0;
  while (r->nrows < PF_BATCH_ROWS && status == PF_MORE && !r->has_ended) {
    if (r->row == r->events.batch.rows)
      status = pull(r, error);
    if (status == PF_END)
      status = finish(r) == PF_OK ? PF_MORE : PF_ENOMEM;
    while (status == PF_MORE && r->nrows < PF_BATCH_ROWS &&
           r->row < r->events.batch.rows) {
      status = process_event(r) == PF_OK ? PF_MORE : PF_ENOMEM;
      r->row++;
    }
  }
  if (status == PF_ENOMEM)
    return pf_no_memory(error);
  return status == PF_MORE && r->nrows == 0 ? PF_END : status;
}

/* }====== */


/* {====== The reader ====== */

static void write_row (pf_column *c, size_t i, const span_row *row) {
  const int64_t values[PF_SPAN_FIELDS] = {row->kind,  row->track, row->time,
                                          row->frame, row->area,  row->value,
                                          row->net,   row->flags};
  for (size_t f = 0; f < PF_SPAN_FIELDS; f++)
    if (c[f].data != NULL)
      c[f].ints[i] = values[f];
  if (c[PF_SPAN_VALUE].data != NULL && !row->has_value)
    pf_set_missing(&c[PF_SPAN_VALUE], i);
  if (c[PF_SPAN_NET].data != NULL && row->net == PF_NO_TIME)
    pf_set_missing(&c[PF_SPAN_NET], i);
}


static pf_status spans_next (pf_reader *self, pf_batch *batch,
                             pf_error *error) {
  spans_reader *const r = (spans_reader *)(void *)self;
  pf_status status = PF_MORE;
  pf_batch_clear(batch);
  if (r->returned == r->nrows)
    status = fill_rows(r, error);
  if (status < 0)
    return status;
  for (; batch->rows < PF_BATCH_ROWS && r->returned < r->nrows; batch->rows++)
    write_row(batch->columns, batch->rows, &r->rows[r->returned++]);
  return batch->rows > 0 ? PF_MORE : status;
}


static void close_stacks (span_stacks *all) {
  for (size_t i = 0; i < all->count; i++)
    free(all->list[i].slots);
  free(all->list);
}


static void spans_close (pf_reader *self) {
  spans_reader *const r = (spans_reader *)(void *)self;
  close_stacks(&r->lanes);
  close_stacks(&r->groups);
  if (r->has_machine)
    pf_machine_free(&r->machine);
  pf_id_table_free(&r->values);
  pf_id_table_free(&r->frames);
  pf_events_close(&r->events);
  free(r->tracks);
  free(r->rows);
  free(r);
}

/* }====== */


const pf_events *pf_spans_events (const pf_reader *spans) {
  return &((const spans_reader *)(const void *)spans)->events;
}


const pf_span_track *pf_spans_tracks (const pf_reader *spans, uint32_t *count) {
  const spans_reader *const r = (const spans_reader *)(const void *)spans;
  *count = (uint32_t)r->ntracks;
  return r->tracks;
}


void pf_spans_limits (const pf_reader *spans, int64_t *first, int64_t *last) {
  const spans_reader *const r = (const spans_reader *)(const void *)spans;
  *first = r->has_first ? r->first : 0;
  *last = r->has_first ? r->last : 0;
}


pf_status pf_spans_open (pf_reader *events, const pf_spans *options,
                         pf_reader **reader, pf_error *error) {
  spans_reader *const r = calloc(1, sizeof *r);
  if (r == NULL)
    return pf_no_memory(error);
  r->options = *options;
  pf_id_table_init(&r->values);
  pf_id_table_init(&r->frames);
  const pf_status status = pf_events_open(
      &r->events, events, options->variables ? "value" : NULL, false, error);
  if (status != PF_OK) {
    spans_close(&r->reader);
    return status;
  }
  const pf_type area = events->fields[r->events.area].type;
  pf_machine_init(&r->machine, &options->calls, events->dictionary,
                  area == PF_AREA);
  r->has_machine = true;
  r->reader = (pf_reader){.fields = fields,
                          .nfields = PF_SPAN_FIELDS,
                          .dictionary = events->dictionary,
                          .next = spans_next,
                          .close = spans_close};
  *reader = &r->reader;
  return PF_OK;
}
