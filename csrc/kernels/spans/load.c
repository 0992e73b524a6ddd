/*
** load.c - runs the call machine event by event and checks after each one
** whether the lane is running.
*/

#include "kernels/spans/load.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/calls/events.h"
#include "kernels/base/order.h"
#include "model/base/memory.h"
#include "model/base/wide.h"
#include "model/rows/store.h"
#include "model/rows/table_reader.h"

enum {
  START,
  STOP,
  OWNER,
  BUSY,
  SHARE,
  FIELDS
};

static const pf_field load_fields[FIELDS] = {
    {"start", PF_INT, "begin of the interval, ns"},
    {"stop", PF_INT, "begin of the next interval, ns"},
    {"core", PF_INT, "the lane or core"}, /* or "lane" with its type */
    {"busy", PF_INT, "time in which a call was active, ns"},
    {"load_share", PF_NUM, "busy divided by the length of the interval"},
};

/* A lane or a core. */
typedef struct track {
  bool is_busy;
  int64_t since; /* when it became busy */
  int64_t last;  /* time of its last event */
  uint64_t *intervals;
} track;

typedef struct load_reader {
  pf_reader reader;
  pf_reader *input;
  pf_load_options options;
  uint64_t nintervals;
  pf_events events;
  pf_machine machine;
  pf_id_table cores;
  track *tracks;
  size_t ntracks;
  pf_field fields[FIELDS];
  pf_store store;
  pf_reader *rows; /* the reader of the store; NULL: the events are not read
                      yet */
} load_reader;


/* Add the time from..to to the intervals that it overlaps. */
static void add_busy (const load_reader *l, track *t, int64_t from,
                      int64_t to) {
  const pf_load_options *const o = &l->options;
  if (from < o->from)
    from = o->from;
  if (to > o->to)
    to = o->to;
  if (from >= to)
    return;
  const uint64_t width = (uint64_t)o->width;
  uint64_t at = (uint64_t)from - (uint64_t)o->from;
  uint64_t left = (uint64_t)to - (uint64_t)from;
  while (left > 0) {
    const uint64_t room = width - at % width;
    const uint64_t share = left < room ? left : room;
    t->intervals[at / width] += share;
    at += share;
    left -= share;
  }
}


static void set_busy (const load_reader *l, track *t, int64_t time,
                      bool is_busy) {
  if (time < t->last)
    time = t->last;
  t->last = time;
  if (t->is_busy == is_busy)
    return;
  if (t->is_busy)
    add_busy(l, t, t->since, time);
  t->is_busy = is_busy;
  t->since = time;
}


/* A gap or a new run has ended all calls at `time`, that of the last event
   before it. */
static void end_all (load_reader *l, int64_t time) {
  for (size_t i = 0; i < l->ntracks; i++)
    set_busy(l, &l->tracks[i], time, false);
}


static pf_status process_event (load_reader *l, size_t row) {
  const pf_event_rows *const rows = &l->events.rows;
  const uint64_t word_of_event = rows->words[row];
  const uint32_t epoch = l->machine.epoch;
  const int64_t last = l->machine.last;
  uint32_t number = pf_event_lane(word_of_event);
  if (pf_machine_process(&l->machine, rows, row, row + 1) != PF_OK)
    return PF_ENOMEM;
  if (l->machine.epoch != epoch)
    end_all(l, last);
  if (pf_event_kind_of(word_of_event) >= PF_EVENT_WRITE)
    return PF_OK;
  if (l->options.by_core) {
    const pf_column *const core = &l->events.batch.columns[l->events.extra];
    const bool missing = pf_is_missing(core, row);
    const uint64_t word = missing ? 0 : pf_order_int(core->ints[row]);
    if (pf_id_table_nullable(&l->cores, &word, &missing, 1, &number) != PF_OK)
      return PF_ENOMEM;
  }
  if (!pf_grow_filled(&l->tracks, &l->ntracks, (size_t)number + 1, 0))
    return PF_ENOMEM;
  track *const t = &l->tracks[number];
  if (t->intervals == NULL) {
    t->intervals = calloc((size_t)l->nintervals + 1, sizeof *t->intervals);
    t->last = INT64_MIN;
  }
  if (t->intervals == NULL)
    return PF_ENOMEM;
  /* Whether a call of the lane, or the line on top of its stack, is running. */
  const pf_lane *const lane =
      pf_lane_at(&l->machine.lanes, pf_event_lane(word_of_event));
  const uint32_t depth = lane == NULL ? 0 : lane->count;
  const pf_frame *const top = depth < 2 ? NULL : &lane->frames[depth - 1];
  set_busy(l, t, rows->times[row],
           top != NULL && (top->state == PF_FRAME_RUNNING ||
                           (pf_lane_active(lane)->slot != PF_NO_SLOT &&
                            pf_lane_active(lane)->state == PF_FRAME_RUNNING)));
  return PF_OK;
}


static pf_status put_interval (load_reader *l, uint32_t number,
                               uint64_t interval) {
  const pf_load_options *const o = &l->options;
  const int64_t start =
      (int64_t)((uint64_t)o->from + interval * (uint64_t)o->width);
  const uint64_t left = (uint64_t)o->to - (uint64_t)start;
  const uint64_t length = left < (uint64_t)o->width ? left : (uint64_t)o->width;
  const uint64_t busy = l->tracks[number].intervals[interval];
  size_t row;
  if (pf_store_add(&l->store, &row) != PF_OK)
    return PF_ENOMEM;
  pf_column *const columns = l->store.columns;
  columns[START].ints[row] = start;
  columns[STOP].ints[row] = (int64_t)((uint64_t)start + length);
  columns[BUSY].ints[row] = (int64_t)busy;
  columns[SHARE].nums[row] = pf_ratio((pf_wide)busy, (pf_wide)length);
  columns[OWNER].has_missing = true; /* the bitmap of a store is clear from the
                                        start */
  if (!l->options.by_core)
    pf_events_put_lane(&l->events, number, &columns[OWNER], row);
  else if (number == l->cores.missing)
    pf_store_set_missing(&l->store, OWNER, row);
  else
    columns[OWNER].ints[row] = pf_unorder_int(l->cores.words[number]);
  return PF_OK;
}


static pf_status fill (load_reader *l, pf_error *error) {
  pf_status status;
  while ((status = pf_events_next(&l->events, error)) == PF_MORE)
    for (size_t i = 0; i < l->events.batch.rows; i++)
      if (process_event(l, i) != PF_OK)
        return pf_no_memory(error);
  for (size_t i = 0; i < l->ntracks; i++)
    set_busy(l, &l->tracks[i], l->machine.last, false);
  status = status < 0 ? status : PF_OK;
  for (uint32_t i = 0; i < l->ntracks && status == PF_OK; i++)
    for (uint64_t p = 0; l->tracks[i].intervals != NULL && p < l->nintervals;
         p++)
      if (status == PF_OK && put_interval(l, i, p) != PF_OK)
        status = pf_no_memory(error);
  return status == PF_OK ? pf_store_reader(&l->store, NULL, 0, &l->rows, error)
                         : status;
}


static pf_status load_next (pf_reader *self, pf_batch *batch, pf_error *error) {
  load_reader *const l = (load_reader *)(void *)self;
  pf_batch_clear(batch);
  const pf_status status = l->rows == NULL ? fill(l, error) : PF_OK;
  return status == PF_OK ? l->rows->next(l->rows, batch, error) : status;
}


static void load_close (pf_reader *self) {
  load_reader *const l = (load_reader *)(void *)self;
  if (l->rows != NULL)
    l->rows->close(l->rows);
  pf_store_close(&l->store);
  for (size_t i = 0; i < l->ntracks; i++)
    free(l->tracks[i].intervals);
  free(l->tracks);
  pf_id_table_free(&l->cores);
  pf_machine_free(&l->machine);
  pf_events_close(&l->events);
  free(l);
}


static pf_status open_input (load_reader *l, pf_error *error) {
  static const pf_call_options calls = {0};
  const pf_load_options *const o = &l->options;
  if (o->from < o->to && o->width > 0)
    l->nintervals =
        ((uint64_t)o->to - (uint64_t)o->from - 1) / (uint64_t)o->width + 1;
  if (l->nintervals > PF_MAX_LOAD_INTERVALS)
    return pf_fail(error, PF_ELIMIT, PF_NO_OFFSET,
                   "%llu intervals of time; the maximum is %llu: state a longer"
                   " one, such as 10ms",
                   (unsigned long long)l->nintervals,
                   (unsigned long long)PF_MAX_LOAD_INTERVALS);
  const pf_status status =
      pf_events_open(&l->events, l->input, "core", NULL, false, error);
  if (status != PF_OK)
    return status;
  if (l->options.by_core && l->events.extra == l->input->nfields)
    return pf_refuse(error, "the events have no column of cores");
  pf_machine_init(&l->machine, &calls, l->input->dictionary,
                  l->input->fields[l->events.area].type == PF_AREA);
  memcpy(l->fields, load_fields, sizeof load_fields);
  if (!o->by_core) {
    l->fields[OWNER].name = "lane";
    l->fields[OWNER].type = pf_events_lane_type(&l->events);
  }
  if (pf_store_open(&l->store, l->fields, FIELDS, l->input->dictionary) !=
      PF_OK)
    return pf_no_memory(error);
  return PF_OK;
}


pf_status pf_load_open (pf_reader *events, const pf_load_options *options,
                        pf_reader **reader, pf_error *error) {
  load_reader *const l = pf_reader_of(sizeof *l, NULL, FIELDS,
                                      events->dictionary, load_next, error);
  if (l == NULL)
    return PF_ENOMEM;
  l->reader.fields = l->fields;
  l->reader.close = load_close;
  l->input = events;
  l->options = *options;
  pf_id_table_init(&l->cores);
  return pf_reader_opened(&l->reader, open_input(l, error), reader);
}
