/*
** task_calls.c - the jobs of tasks as calls in lanes of tasks.
*/

#include <stdio.h>
#include <stdlib.h>

#include "kernels/tasks/jobs.h"
#include "model/base/memory.h"
#include "model/rows/put_values.h"
#include "model/rows/table_reader.h"

#define TASK_CALL_LIST(X, T)                           \
  X(T, time, INT, "time, ns")                          \
  X(T, event, NAME, "enter, suspend, resume or leave") \
  X(T, area, AREA, "the task")                         \
  X(T, lane, NAME, "the task")                         \
  X(T, core, INT, "the core on which it runs")
PF_COLUMN_INDEXES(TASK_CALL);

static const pf_field fields[] = PF_COLUMN_FIELDS(TASK_CALL);

typedef struct task {
  uint32_t area;
  uint32_t lane; /* 1 + a name, or 0 */
  bool is_known, is_open, is_running;
  int64_t core;
} task;

typedef struct calls_reader {
  pf_reader reader;
  pf_jobs_options options;
  pf_events events;
  pf_state_areas areas;
  task *tasks; /* owned */
  size_t task_capacity;
  uint32_t *runners; /* by variable: 1 + the task that runs, or 0 */
  size_t row;        /* the next event of the batch */
  bool is_over;      /* no events follow */
  uint32_t class;    /* a name */
  uint32_t words[PF_EVENT_OTHER]; /* names of kinds of events */
} calls_reader;


/* The lane of a task, which is not that of another one of this name. False when
   out of memory. */
static bool set_lane (calls_reader *self, task *t) {
  char text[600];
  unsigned order = 1;
  for (const task *other = self->tasks; other < t; other++)
    order += other->lane != 0 && other->area == t->area;
  const pf_bytes name = pf_name(self->reader.dictionary,
                                pf_area_name(self->reader.dictionary, t->area));
  snprintf(text, sizeof text, order > 1 ? "%.*s (%u)" : "%.*s",
           PF_SHOWN(name, 500), order);
  const uint32_t lane = pf_intern_text(self->reader.dictionary, text);
  t->lane = lane + 1;
  return lane != PF_NO_NAME;
}


/* The area and the lane of a task, which is new. False when out of memory. */
static bool add_area (calls_reader *self, task *t, uint32_t name) {
  pf_area area = PF_AREA_NONE;
  area.name = name;
  area.class = self->class;
  t->area = pf_area_add(self->reader.dictionary, &area);
  t->is_known = t->area != PF_NO_AREA;
  return t->is_known && (t->lane != 0 || set_lane(self, t));
}


static void put (const calls_reader *self, pf_batch *batch, int64_t time,
                 const task *t, pf_event_kind kind) {
  const size_t row = batch->rows++;
  pf_column *const c = batch->columns;
  pf_put_int(&c[TASK_CALL_time], row, time, true);
  pf_put_id(&c[TASK_CALL_event], row, self->words[kind]);
  pf_put_id(&c[TASK_CALL_area], row, t->area);
  pf_put_id(&c[TASK_CALL_lane], row, t->lane - 1);
  pf_put_int(&c[TASK_CALL_core], row, t->core, t->core >= 0);
}


/* Put the change of a task that enters a state, if there is one. A call that
   began before the trace is resumed, as it has no enter. */
static void enter (const calls_reader *self, pf_batch *batch, task *t,
                   const pf_state_area *area, bool is_first, int64_t time,
                   int64_t core) {
  const pf_task_state state = area->state;
  const bool runs = pf_task_runs(state);
  const bool ends = state == PF_TASK_TERMINATED || state == PF_TASK_ANY;
  if (runs && core >= 0)
    t->core = core;
  if (ends && t->is_open)
    put(self, batch, time, t, PF_EVENT_LEAVE);
  else if (runs && !t->is_running)
    put(self, batch, time, t,
        t->is_open || is_first ? PF_EVENT_RESUME : PF_EVENT_ENTER);
  else if (!runs && t->is_running)
    put(self, batch, time, t, PF_EVENT_SUSPEND);
  t->is_open = !ends && (t->is_open || runs);
  t->is_running = runs;
}


/* The task that runs on a core changes. */
static void switch_to (const calls_reader *self, pf_batch *batch, task *t,
                       const pf_state_area *area, int64_t time, int64_t core) {
  uint32_t *const runner = &self->runners[area->variable];
  const bool runs = area->state == PF_TASK_RUNNING;
  const task *const before = *runner > 0 ? &self->tasks[*runner - 1] : NULL;
  if (before != NULL && (before != t || !runs)) {
    put(self, batch, time, before, PF_EVENT_LEAVE);
    *runner = 0;
  }
  if (!runs || *runner > 0)
    return;
  t->core = core >= 0 ? core : (int64_t)area->variable;
  put(self, batch, time, t, PF_EVENT_ENTER);
  *runner = area->task + 1;
}


/* Calls end at a gap, as those of other lanes do. */
static void forget (calls_reader *self) {
  for (size_t i = 0; i < self->task_capacity; i++)
    self->tasks[i].is_known = self->tasks[i].is_open =
        self->tasks[i].is_running = false;
  for (size_t i = 0; i < self->options.nrunning; i++)
    self->runners[i] = 0;
}


/* Take an event, which causes at most two rows. */
static pf_status take (calls_reader *self, size_t i, pf_batch *batch,
                       pf_error *error) {
  const pf_event_rows *const rows = &self->events.rows;
  pf_state_area area;
  if (pf_events_begin_anew(&self->events, i))
    forget(self);
  if (pf_event_kind_of(rows->words[i]) != PF_EVENT_WRITE)
    return PF_MORE;
  const pf_status status = pf_state_area_of(
      &self->areas, pf_event_area(rows->words[i]), &area, error);
  if (status != PF_OK)
    return status;
  if (area.task == PF_NO_TASK)
    return PF_MORE;
  if (!pf_grow_filled(&self->tasks, &self->task_capacity, (size_t)area.task + 1,
                      0))
    return pf_no_memory(error);
  task *const t = &self->tasks[area.task];
  const bool is_first = !t->is_known;
  if (is_first) {
    t->core = -1;
    if (!add_area(self, t, area.name))
      return pf_no_memory(error);
  }
  const int64_t known =
      pf_int_at(&self->events.batch, self->events.extra, i, -1);
  const int64_t core = known >= 0 ? known : self->options.core;
  if (area.variable != UINT32_MAX)
    switch_to(self, batch, t, &area, rows->times[i], core);
  else
    enter(self, batch, t, &area, is_first, rows->times[i], core);
  return PF_MORE;
}


static pf_status step (pf_reader *reader, pf_batch *batch, pf_error *error) {
  calls_reader *const self = (calls_reader *)(void *)reader;
  if (self->row < self->events.batch.rows)
    return take(self, self->row++, batch, error);
  if (self->is_over)
    return PF_END;
  const pf_status status = pf_events_next(&self->events, error);
  self->row = 0;
  self->is_over = status == PF_END;
  if (self->is_over)
    self->events.batch.rows = 0;
  return status;
}


/* Leaves room for the two rows of a step. */
static pf_status calls_next (pf_reader *reader, pf_batch *batch,
                             pf_error *error) {
  pf_status status = PF_MORE;
  pf_batch_clear(batch);
  while (status == PF_MORE && batch->rows + 2 <= PF_BATCH_ROWS)
    status = step(reader, batch, error);
  return pf_batch_status(batch, status);
}


static void calls_close (pf_reader *reader) {
  calls_reader *const self = (calls_reader *)(void *)reader;
  pf_state_areas_free(&self->areas);
  pf_events_close(&self->events);
  free(self->tasks);
  free(self->runners);
  free(self);
}


pf_status pf_task_calls_open (pf_reader *events, const pf_jobs_options *options,
                              pf_reader **reader, pf_error *error) {
  static const char *const words[PF_EVENT_OTHER] = {"leave", "suspend",
                                                    "resume", "enter", "write"};
  calls_reader *const self =
      pf_reader_of(sizeof *self, fields, TASK_CALL_COLUMNS, events->dictionary,
                   calls_next, error);
  if (self == NULL)
    return PF_ENOMEM;
  self->reader.close = calls_close;
  self->options = *options;
  pf_status status =
      pf_events_open(&self->events, events, "core", NULL, false, error);
  pf_state_areas_init(&self->areas, &self->options, &self->events);
  if (status == PF_OK)
    status = pf_intern_texts(events->dictionary, words, PF_EVENT_OTHER,
                             self->words, error);
  self->class = pf_intern_text(events->dictionary, "task");
  self->runners = calloc(options->nrunning + 1, sizeof *self->runners);
  if (status == PF_OK && (self->class == PF_NO_NAME || self->runners == NULL))
    status = pf_no_memory(error);
  return pf_reader_opened(&self->reader, status, reader);
}
