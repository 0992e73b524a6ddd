/*
** explain.c - two scans of the events with the call machine: the first one
** ranks the calls of the area, the second one sums what happens within those of
** the groups. Calls end after those that they made, so the calls of a lane that
** end before one of the area, and are below it, lie within it. If the first
** scan has found suspended calls, and the events have cores or the slowest call
** was suspended, the second one looks at the lanes before and after each event.
*/

#include "kernels/explain/explain.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/calls/events.h"
#include "kernels/explain/explained_rows.h"
#include "model/base/memory.h"
#include "model/rows/table_reader.h"

#define AT_ONCE 512 /* events, so that their calls stay in the L1 cache */

typedef struct explain_reader {
  pf_reader reader;
  pf_reader *inputs[2]; /* of the two scans */
  pf_explain_options options;
  pf_events events[2];
  pf_machine machine; /* of the scan at hand */
  pf_explained sums;
  uint8_t *selected; /* by lane id: 0: not yet known, 1: no, 2: yes */
  size_t nselected;
  bool is_second;
  bool has_cores; /* the events have a column of cores */
  bool has_waits; /* calls of the area were suspended */
  pf_field fields[PF_EXPLAINED_FIELDS];
  pf_store store;
  pf_reader *rows;  /* the reader of the store; NULL: the events are not read
                       yet */
  pf_error failure; /* the first failure, returned again by every `next` */
} explain_reader;


static bool is_whole (const pf_call *call) {
  return (call->flags & PF_CALL_PARTIAL) == 0 &&
         call->durations[PF_CALL] != PF_NO_TIME;
}


/* Whether the calls of a lane are to be explained. PF_ENOMEM. */
static pf_status find_selected (explain_reader *e, uint32_t lane, bool *is) {
  const pf_explain_options *const o = &e->options;
  const pf_id_table *const ids = &e->events[e->is_second].lanes;
  *is = o->lanes == NULL;
  if (*is)
    return PF_OK;
  if (!pf_grow_filled(&e->selected, &e->nselected, (size_t)lane + 1, 0))
    return PF_ENOMEM;
  for (size_t i = 0; e->selected[lane] == 0 && i < o->nlanes; i++)
    if (lane != ids->missing && ids->words[lane] == o->lanes[i])
      e->selected[lane] = 2;
  if (e->selected[lane] == 0)
    e->selected[lane] = 1;
  *is = e->selected[lane] == 2;
  return PF_OK;
}


/* A call of the area has ended in the first scan. */
static pf_status count_call (explain_reader *e, const pf_call *call,
                             uint32_t lane) {
  const int64_t duration = call->durations[PF_CALL];
  const bool was_suspended = duration > call->durations[PF_GROSS];
  if (pf_call_ranks_count(&e->sums.ranks, lane, duration) != PF_OK)
    return PF_ENOMEM;
  e->has_waits |= was_suspended;
  if (e->sums.ranks.worst + 1 == e->sums.ranks.all) {
    e->sums.path.from = call->start;
    e->sums.path.to = call->stop;
    e->sums.path.is_wanted = was_suspended;
  }
  return PF_OK;
}


/* A call of the area has ended, which is not within another one. */
static pf_status end_call (explain_reader *e, const pf_call *call,
                           uint32_t lane, const pf_open_lane *open) {
  pf_call_rank rank;
  bool is_selected;
  pf_status status = find_selected(e, lane, &is_selected);
  if (status != PF_OK || !is_selected)
    return status;
  if (!is_whole(call)) {
    e->sums.partial += !e->is_second;
    return PF_OK;
  }
  if (!e->is_second)
    return count_call(e, call, lane);
  status =
      pf_call_ranks_next(&e->sums.ranks, lane, call->durations[PF_CALL], &rank);
  if (status == PF_OK && rank.is_worst)
    status = pf_path_end(&e->sums.path);
  return status == PF_OK
             ? pf_open_calls_put(&e->sums.open, open, &rank, call, lane)
             : status;
}


/* A call of the second scan. */
static pf_status add_call (explain_reader *e, const pf_call *call,
                           uint32_t node, uint32_t lane) {
  const pf_node_sum sum = {.count = 1,
                           .net = call->durations[PF_NET],
                           .elapsed = (pf_wide)call->stop - call->start};
  pf_open_lane *const open = pf_open_calls_lane(&e->sums.open, lane);
  if (open == NULL ||
      (node != PF_NO_NODE &&
       pf_open_calls_add(&e->sums.open, open, node, &sum) != PF_OK))
    return PF_ENOMEM;
  if (node != PF_NO_NODE && node != 0)
    return PF_OK;
  const pf_status status = node == 0 ? end_call(e, call, lane, open) : PF_OK;
  open->before = e->machine.lanes.slots[call->slot].area;
  pf_open_calls_end(&e->sums.open, open);
  return status;
}


/* Process the calls that the machine has emitted. Those without a stack are no
   functions. */
static pf_status add_calls (explain_reader *e) {
  const pf_machine *const m = &e->machine;
  pf_status status = pf_subtrees_update(&e->sums.trees);
  for (size_t i = 0; i < m->ncalls && status == PF_OK; i++) {
    const pf_call *const call = &m->calls[i];
    const uint32_t node = pf_subtree_of(&e->sums.trees, call->stack);
    if (call->stack == PF_NO_STACK || (!e->is_second && node != 0))
      continue;
    const uint32_t lane = m->lanes.slots[call->slot].lane->number;
    status = e->is_second ? add_call(e, call, node, lane)
                          : end_call(e, call, lane, NULL);
  }
  return status;
}

/* The time of an event in its lane, in which time never goes back. */
static int64_t time_of (const explain_reader *e, size_t row) {
  const pf_event_rows *const rows = &e->events[1].rows;
  const pf_lane *const lane =
      pf_lane_at(&e->machine.lanes, pf_event_lane(rows->words[row]));
  return lane != NULL && lane->last > rows->times[row] ? lane->last
                                                       : rows->times[row];
}


/* Before the machine processes an event of a lane. */
static pf_status look_before (explain_reader *e, size_t row) {
  const pf_event_rows *const rows = &e->events[1].rows;
  const uint32_t lane = pf_event_lane(rows->words[row]);
  const int64_t time = time_of(e, row);
  const pf_status status = pf_waits_before(&e->sums.waits, lane, time);
  return status == PF_OK && pf_path_needs(&e->sums.path, time)
             ? pf_path_before(&e->sums.path, &e->machine, lane)
             : status;
}


/* After the machine has processed it. */
static pf_status look_after (explain_reader *e, size_t row) {
  const pf_events *const events = &e->events[1];
  const uint32_t lane = pf_event_lane(events->rows.words[row]);
  const int64_t time = time_of(e, row);
  uint32_t core = 0;
  pf_status status = pf_subtrees_update(&e->sums.trees);
  if (status == PF_OK && e->has_cores)
    status = pf_waits_core(&e->sums.waits,
                           &events->batch.columns[events->extra], row, &core);
  if (status == PF_OK && e->has_cores)
    status = pf_waits_after(&e->sums.waits, &e->machine, lane, core, time);
  return status == PF_OK && pf_path_needs(&e->sums.path, time)
             ? pf_path_after(&e->sums.path, &e->machine, lane, core, time)
             : status;
}


/* Process a row of the second scan on its own. */
static pf_status process_row (explain_reader *e, size_t row) {
  const pf_event_rows *const rows = &e->events[1].rows;
  const bool is_call = pf_event_kind_of(rows->words[row]) < PF_EVENT_WRITE;
  pf_status status = is_call ? look_before(e, row) : PF_OK;
  if (status == PF_OK)
    status = pf_machine_process(&e->machine, rows, row, row + 1);
  if (status == PF_OK && is_call)
    status = look_after(e, row);
  return status == PF_OK ? add_calls(e) : status;
}


static bool has_break (const pf_event_rows *rows, size_t row) {
  return rows->flags != NULL &&
         (rows->flags[row] & (PF_CALL_GAP | PF_CALL_NEW_FILE)) != 0;
}


/* In the second scan, before a row with a gap or of another file: end the open
   calls, and forget the events so far. The machine ends nothing again when it
   processes the row itself. */
static pf_status begin_anew (explain_reader *e, size_t row) {
  const pf_event_rows *const rows = &e->events[1].rows;
  const uint64_t none = pf_event_word(PF_EVENT_NONE, 0, 0);
  const uint8_t flags = rows->flags[row] & (PF_CALL_GAP | PF_CALL_NEW_FILE);
  const pf_event_rows ending = {&rows->times[row], &none, &flags};
  pf_waits_reset(&e->sums.waits);
  pf_path_reset(&e->sums.path);
  pf_status status = pf_machine_process(&e->machine, &ending, 0, 1);
  if (status == PF_OK)
    status = add_calls(e);
  pf_open_calls_reset(&e->sums.open);
  return status;
}


/* The end of the rows from `row` on that are processed together. */
static size_t end_of_rows (const explain_reader *e, const pf_events *events,
                           size_t row) {
  const size_t left = events->batch.rows - row;
  const size_t end = row + (left < AT_ONCE ? left : AT_ONCE);
  size_t to = row + 1;
  if (!e->is_second || events->rows.flags == NULL)
    return end;
  while (to < end && !has_break(&events->rows, to))
    to++;
  return to;
}


static pf_status process_batch (explain_reader *e, const pf_events *events) {
  const bool is_each =
      e->is_second && e->has_waits && (e->has_cores || e->sums.path.is_wanted);
  pf_status status = PF_OK;
  size_t to;
  for (size_t from = 0; from < events->batch.rows && status == PF_OK;
       from = to) {
    to = is_each ? from + 1 : end_of_rows(e, events, from);
    if (e->is_second && has_break(&events->rows, from))
      status = begin_anew(e, from);
    if (status == PF_OK && is_each)
      status = process_row(e, from);
    else if (status == PF_OK) {
      status = pf_machine_process(&e->machine, &events->rows, from, to);
      if (status == PF_OK)
        status = add_calls(e);
    }
  }
  return status;
}


/* Run a scan. */
static pf_status scan (explain_reader *e, pf_error *error) {
  pf_events *const events = &e->events[e->is_second];
  pf_reader *const input = e->inputs[e->is_second];
  pf_status status;
  pf_machine_init(&e->machine, &e->options.calls, input->dictionary,
                  e->sums.has_areas);
  e->machine.has_stacks = e->machine.has_root = true;
  e->machine.root = e->sums.trees.name;
  while ((status = pf_events_next(events, error)) == PF_MORE) {
    if (process_batch(e, events) != PF_OK)
      return pf_no_memory(error);
    if (pf_events_are_over(events, &e->machine))
      break;
  }
  if (status < 0)
    return status;
  if (pf_machine_finish(&e->machine) != PF_OK || add_calls(e) != PF_OK)
    return pf_no_memory(error);
  pf_machine_free(&e->machine);
  memset(&e->machine, 0, sizeof e->machine);
  return PF_OK;
}

static pf_status fill (explain_reader *e, pf_error *error) {
  if (e->failure.status != PF_OK) {
    *error = e->failure;
    return e->failure.status;
  }
  pf_status status = scan(e, error);
  if (status == PF_OK) {
    pf_call_ranks_begin(&e->sums.ranks, e->options.rank);
    e->is_second = true;
    status = scan(e, error);
  }
  if (status == PF_OK)
    status = pf_explained_put(&e->sums, &e->events[1], &e->store, error);
  if (status == PF_OK)
    status = pf_store_reader(&e->store, NULL, 0, &e->rows, error);
  if (status != PF_OK)
    e->failure = *error;
  return status;
}


static pf_status explain_next (pf_reader *self, pf_batch *batch,
                               pf_error *error) {
  explain_reader *const e = (explain_reader *)(void *)self;
  pf_batch_clear(batch);
  const pf_status status = e->rows == NULL ? fill(e, error) : PF_OK;
  return status == PF_OK ? e->rows->next(e->rows, batch, error) : status;
}


static void explain_close (pf_reader *self) {
  explain_reader *const e = (explain_reader *)(void *)self;
  if (e->rows != NULL)
    e->rows->close(e->rows);
  pf_store_close(&e->store);
  pf_open_calls_free(&e->sums.open);
  pf_waits_free(&e->sums.waits);
  pf_path_free(&e->sums.path);
  free(e->selected);
  pf_call_ranks_free(&e->sums.ranks);
  pf_subtrees_free(&e->sums.trees);
  pf_machine_free(&e->machine);
  pf_events_close(&e->events[0]);
  pf_events_close(&e->events[1]);
  free(e);
}

static pf_status open_inputs (explain_reader *e, pf_error *error) {
  pf_dictionary *const dictionary = e->inputs[1]->dictionary;
  for (int i = 0; i < 2; i++) {
    const pf_status status =
        pf_events_open(&e->events[i], e->inputs[i], i == 0 ? NULL : "core",
                       NULL, false, error);
    if (status != PF_OK)
      return status;
  }
  e->sums.has_areas = e->inputs[1]->fields[e->events[1].area].type == PF_AREA;
  pf_explained_fields(e->fields, pf_events_lane_type(&e->events[1]));
  e->has_cores = e->events[1].extra < e->inputs[1]->nfields;
  const uint32_t name = pf_intern_text(dictionary, e->options.area);
  if (name == PF_NO_NAME ||
      pf_subtrees_open(&e->sums.trees, dictionary, name) != PF_OK ||
      pf_store_open(&e->store, e->fields, PF_EXPLAINED_FIELDS, dictionary) !=
          PF_OK)
    return pf_no_memory(error);
  return PF_OK;
}


pf_status pf_explain_open (pf_reader *first, pf_reader *second,
                           const pf_explain_options *options,
                           pf_reader **reader, pf_error *error) {
  explain_reader *const e = calloc(1, sizeof *e);
  if (e == NULL)
    return pf_no_memory(error);
  e->inputs[0] = first;
  e->inputs[1] = second;
  e->options = *options;
  e->reader = (pf_reader){.fields = e->fields,
                          .nfields = PF_EXPLAINED_FIELDS,
                          .dictionary = second->dictionary,
                          .next = explain_next,
                          .close = explain_close};
  e->sums.waits = (pf_waits){.open = &e->sums.open, .trees = &e->sums.trees};
  pf_id_table_init(&e->sums.waits.core_ids);
  pf_id_table_init(&e->sums.waits.runners);
  pf_id_table_init(&e->sums.open.before);
  pf_id_table_init(&e->sums.trees.nodes);
  return pf_reader_opened(&e->reader, open_inputs(e, error), reader);
}
