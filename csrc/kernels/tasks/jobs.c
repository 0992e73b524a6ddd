/*
** jobs.c - the jobs of tasks, event by event.
*/

#include "kernels/tasks/jobs.h"

#include <stdlib.h>
#include <string.h>

#include "model/base/memory.h"
#include "model/rows/put_values.h"
#include "model/rows/table_reader.h"

#define JOB_LIST(X, T)                                                        \
  X(T, task, NAME, "the task")                                                \
  X(T, activation, INT,                                                       \
    "time of its activation, ns; missing: not in the "                        \
    "trace")                                                                  \
  X(T, start, INT, "time at which it first runs, ns")                         \
  X(T, stop, INT, "time of its termination, ns; missing: not in the trace")   \
  X(T, response, INT, "stop - activation, ns")                                \
  X(T, delay, INT, "start - activation, ns")                                  \
  X(T, running, INT, "time in which it runs, ns")                             \
  X(T, ready, INT, "time in which it could run, and another one does, ns")    \
  X(T, waiting, INT, "time in which it waits for an event or a resource, ns") \
  X(T, preemptions, INT, "how often it stops to run without waiting")         \
  X(T, period, INT, "time since the activation before, ns")                   \
  X(T, core, INT, "core on which it first runs")                              \
  X(T, longest_at, INT,                                                       \
    "activation of the longest response of the task so far, ns")              \
  X(T, unknown, NAME, "the state without a meaning in which it has ended")    \
  X(T, flags, NAME,                                                           \
    "orphan unwound gap open unknown: why there is no response; missing: "    \
    "there is one")
PF_COLUMN_INDEXES(JOB);

static const pf_field fields[] = PF_COLUMN_FIELDS(JOB);

typedef enum job_flag {
  COMPLETE,
  ORPHAN,
  UNWOUND,
  GAP,
  OPEN,
  UNKNOWN,
  NFLAGS
} job_flag;

typedef struct job {
  uint32_t task;    /* a name */
  uint32_t unknown; /* of a state, or PF_NO_NAME */
  bool has_activation, has_start, has_period;
  int64_t activation, start, stop, period, core;
  int64_t running, ready, waiting;
  int64_t preemptions;
  int64_t longest_at;
  bool has_longest;
  job_flag flag;
} job;

typedef struct task {
  pf_task_state state; /* PF_TASK_ANY: not known */
  bool has_job;
  job job;
  int64_t since;    /* it is in its state */
  int64_t previous; /* activation before */
  bool has_previous;
  int64_t longest, longest_at;
  bool has_longest;
} task;

typedef struct jobs_reader {
  pf_reader reader;
  pf_jobs_options options;
  pf_events events;
  pf_state_areas areas;
  task *tasks; /* owned */
  size_t task_capacity;
  size_t row;     /* the next event of the batch */
  size_t ended;   /* the next task whose job is ended */
  bool is_ending; /* jobs of all tasks are ended, with this flag: */
  bool is_over;   /* no events follow */
  bool is_cut;    /* what the next event flags is done */
  job_flag ending;
  int64_t last;           /* time of the last event */
  uint32_t flags[NFLAGS]; /* names */
} jobs_reader;


/* {====== Jobs ====== */

static void begin (task *t, int64_t time, bool is_activated) {
  t->job = (job){.task = t->job.task,
                 .unknown = PF_NO_NAME,
                 .has_activation = is_activated,
                 .activation = time,
                 .core = -1,
                 .flag = is_activated ? COMPLETE : ORPHAN};
  t->has_job = true;
  if (!is_activated)
    return;
  t->job.has_period = t->has_previous && !__builtin_sub_overflow(
                                             time, t->previous, &t->job.period);
  t->has_previous = true;
  t->previous = time;
}


/* Add the time in the state so far to the job. */
static void add_time (task *t, int64_t time) {
  const bool runs = pf_task_runs(t->state);
  const bool waits = t->state == PF_TASK_WAITING || t->state == PF_TASK_PARKING;
  int64_t *const sum = runs    ? &t->job.running
                       : waits ? &t->job.waiting
                               : &t->job.ready;
  int64_t passed;
  if (__builtin_sub_overflow(time, t->since, &passed) ||
      __builtin_add_overflow(*sum, passed, sum))
    *sum = INT64_MAX;
  t->since = time;
}


/* End the job of a task, which becomes a row. */
static void end (task *t, int64_t time, job_flag flag) {
  int64_t response;
  t->has_job = false;
  t->job.stop = time;
  if (flag != COMPLETE)
    t->job.flag = flag;
  if (t->job.flag == COMPLETE &&
      !__builtin_sub_overflow(time, t->job.activation, &response) &&
      (!t->has_longest || response > t->longest)) {
    t->has_longest = true;
    t->longest = response;
    t->longest_at = t->job.activation;
  }
  t->job.has_longest = t->has_longest;
  t->job.longest_at = t->longest_at;
}


/* Let a task enter a state. Returns whether its job, `ended`, has ended. */
static bool enter (const jobs_reader *self, task *t, pf_task_state state,
                   int64_t time, int64_t core, job *ended) {
  const pf_task_state before = t->state;
  const bool is_again =
      state == PF_TASK_ACTIVE && t->has_job && before != PF_TASK_ACTIVE;
  const bool is_unknown = state == PF_TASK_ANY;
  const bool is_wait = self->options.until_wait && state == PF_TASK_WAITING;
  bool has_ended = false;
  if (t->has_job)
    add_time(t, time);
  if (t->has_job &&
      (state == PF_TASK_TERMINATED || is_again || is_wait || is_unknown)) {
    end(t, time, is_unknown ? UNKNOWN : is_again ? UNWOUND : COMPLETE);
    *ended = t->job;
    has_ended = true;
  }
  if (!t->has_job && state != PF_TASK_TERMINATED && !is_wait && !is_unknown)
    begin(t, time, before != PF_TASK_ANY || state <= PF_TASK_READY);
  t->job.preemptions += t->has_job && pf_task_runs(before) &&
                        (state == PF_TASK_READY || state == PF_TASK_ACTIVE);
  if (t->has_job && pf_task_runs(state) && !t->job.has_start &&
      t->job.has_activation) {
    t->job.has_start = true;
    t->job.start = time;
    t->job.core = core;
  }
  t->state = state;
  t->since = time;
  return has_ended;
}


/* }====== */

/* {====== Rows ====== */

static bool is_in_range (const jobs_reader *self, const job *j) {
  return j->has_activation ? j->activation >= self->options.from &&
                                 j->activation < self->options.to
                           : self->options.from == INT64_MIN;
}


static void put (const jobs_reader *self, pf_batch *batch, const job *j) {
  if (!is_in_range(self, j))
    return;
  int64_t response = 0, delay = 0;
  const bool has_response =
      j->flag == COMPLETE &&
      !__builtin_sub_overflow(j->stop, j->activation, &response);
  const bool has_delay =
      j->has_start && !__builtin_sub_overflow(j->start, j->activation, &delay);
  const size_t row = batch->rows++;
  pf_column *const c = batch->columns;
  pf_put_id(&c[JOB_task], row, j->task);
  pf_put_int(&c[JOB_activation], row, j->activation, j->has_activation);
  pf_put_int(&c[JOB_start], row, j->start, j->has_start);
  pf_put_int(&c[JOB_stop], row, j->stop,
             j->flag == COMPLETE || j->flag == ORPHAN);
  pf_put_int(&c[JOB_response], row, response, has_response);
  pf_put_int(&c[JOB_delay], row, delay, has_delay);
  pf_put_int(&c[JOB_running], row, j->running, true);
  pf_put_int(&c[JOB_ready], row, j->ready, true);
  pf_put_int(&c[JOB_waiting], row, j->waiting, true);
  pf_put_int(&c[JOB_preemptions], row, j->preemptions, true);
  pf_put_int(&c[JOB_period], row, j->period, j->has_period);
  pf_put_int(&c[JOB_core], row, j->core, j->core >= 0);
  pf_put_int(&c[JOB_longest_at], row, j->longest_at, j->has_longest);
  pf_put_id(&c[JOB_unknown], row, j->unknown);
  pf_put_id(&c[JOB_flags], row,
            j->flag == COMPLETE ? PF_NO_NAME : self->flags[j->flag]);
}


/* End the job of the next task, if it has one, at the last event. Tasks of
   variables that state which one runs have no jobs, and may be beyond all. */
static pf_status end_next (jobs_reader *self, pf_batch *batch) {
  if (self->ended >= self->task_capacity) {
    self->is_ending = false;
    self->ended = 0;
    return PF_MORE;
  }
  task *const t = &self->tasks[self->ended++];
  if (t->has_job) {
    add_time(t, self->last);
    end(t, self->last, self->ending);
    put(self, batch, &t->job);
  }
  t->state = PF_TASK_ANY;
  t->has_previous = false;
  return PF_MORE;
}


/* Take an event. */
static pf_status take (jobs_reader *self, size_t i, pf_batch *batch,
                       pf_error *error) {
  const pf_event_rows *const rows = &self->events.rows;
  const pf_event_kind kind = pf_event_kind_of(rows->words[i]);
  pf_state_area area;
  job ended;
  if (kind == PF_EVENT_NONE)
    return PF_MORE;
  self->last = rows->times[i];
  if (kind != PF_EVENT_WRITE)
    return PF_MORE;
  const pf_status status = pf_state_area_of(
      &self->areas, pf_event_area(rows->words[i]), &area, error);
  if (status != PF_OK)
    return status;
  if (area.task == PF_NO_TASK || area.variable != UINT32_MAX)
    return PF_MORE;
  if (!pf_grow_filled(&self->tasks, &self->task_capacity, (size_t)area.task + 1,
                      0))
    return pf_no_memory(error);
  task *const t = &self->tasks[area.task];
  t->job.task = area.name;
  if (enter(self, t, area.state, rows->times[i],
            pf_int_at(&self->events.batch, self->events.extra, i, -1),
            &ended)) {
    ended.unknown = area.unknown;
    put(self, batch, &ended);
  }
  return PF_MORE;
}


/* Read the next batch of events, or end the last jobs. */
static pf_status read_events (jobs_reader *self, pf_error *error) {
  const pf_status status = pf_events_next(&self->events, error);
  self->row = 0;
  if (status != PF_END)
    return status;
  self->events.batch.rows = 0;
  self->is_over = self->is_ending = true;
  self->ending = OPEN;
  return PF_MORE;
}


static pf_status step (pf_reader *reader, pf_batch *batch, pf_error *error) {
  jobs_reader *const self = (jobs_reader *)(void *)reader;
  if (self->is_ending)
    return end_next(self, batch);
  if (self->row >= self->events.batch.rows)
    return self->is_over ? PF_END : read_events(self, error);
  if (!self->is_cut && pf_events_begin_anew(&self->events, self->row)) {
    self->is_cut = self->is_ending = true;
    self->ending = GAP;
    return PF_MORE;
  }
  self->is_cut = false;
  return take(self, self->row++, batch, error);
}


PF_NEXT_BY_STEPS(jobs_next, step)


/* }====== */

static void jobs_close (pf_reader *reader) {
  jobs_reader *const self = (jobs_reader *)(void *)reader;
  pf_state_areas_free(&self->areas);
  pf_events_close(&self->events);
  free(self->tasks);
  free(self);
}


pf_status pf_jobs_open (pf_reader *events, const pf_jobs_options *options,
                        pf_reader **reader, pf_error *error) {
  static const char *const flags[NFLAGS] = {"",    "orphan", "unwound",
                                            "gap", "open",   "unknown"};
  jobs_reader *const self = pf_reader_of(sizeof *self, fields, JOB_COLUMNS,
                                         events->dictionary, jobs_next, error);
  if (self == NULL)
    return PF_ENOMEM;
  self->reader.close = jobs_close;
  self->options = *options;
  pf_status status =
      pf_events_open(&self->events, events, "core", NULL, false, error);
  pf_state_areas_init(&self->areas, &self->options, &self->events);
  if (status == PF_OK)
    status =
        pf_intern_texts(events->dictionary, flags, NFLAGS, self->flags, error);
  return pf_reader_opened(&self->reader, status, reader);
}
