/*
** tasks.c - the states of tasks, and the calls that are open in them, event by
** event.
*/

#include "model/timeline/tasks.h"

#include <stdlib.h>

#include "model/base/memory.h"
#include "model/dictionary/names.h"

#define MOST_DEPTH 4096


/* The events of tasks: the states in which they may come, the state afterwards,
   and whether they have a core. */
static const struct {
  uint8_t from, to;
  bool has_core;
} moves[PF_TASK_WORDS] = {
    [PF_TASK_ACTIVATE] = {1 << PF_TASK_ANY, PF_TASK_ACTIVE, false},
    [PF_TASK_START] = {1 << PF_TASK_ACTIVE, PF_TASK_RUNNING, true},
    [PF_TASK_PREEMPT] = {1 << PF_TASK_RUNNING, PF_TASK_READY, true},
    [PF_TASK_RESUME] = {1 << PF_TASK_READY, PF_TASK_RUNNING, true},
    [PF_TASK_TERMINATE] = {1 << PF_TASK_RUNNING, PF_TASK_TERMINATED, true},
    [PF_TASK_POLL] = {1 << PF_TASK_RUNNING, PF_TASK_POLLING, true},
    [PF_TASK_RUN] = {1 << PF_TASK_POLLING, PF_TASK_RUNNING, true},
    [PF_TASK_PARK] = {1 << PF_TASK_POLLING, PF_TASK_PARKING, true},
    [PF_TASK_POLL_PARKING] = {1 << PF_TASK_PARKING, PF_TASK_POLLING, true},
    [PF_TASK_RELEASE_PARKING] = {1 << PF_TASK_PARKING, PF_TASK_READY, false},
    [PF_TASK_WAIT] = {1 << PF_TASK_RUNNING, PF_TASK_WAITING, true},
    [PF_TASK_RELEASE] = {1 << PF_TASK_WAITING, PF_TASK_READY, false}};


bool pf_task_has_core (pf_task_word word) {
  return word < PF_TASK_WORDS && moves[word].has_core;
}


static pf_status note (const pf_tasks *self, pf_task_note what,
                       const char *text, pf_error *error) {
  return self->note(self->context, what, text, error);
}


/* A failure if an area of the changes could not be added. */
static pf_status check (const pf_tasks *self, pf_status status,
                        pf_error *error) {
  for (size_t i = 0; i < self->count && status == PF_OK; i++)
    if (self->changes[i].area == PF_NO_AREA)
      status = pf_no_memory(error);
  return status;
}


/* {====== States ====== */

/* Changes the state of an instance by an event of its own. */
static pf_status move (pf_tasks *self, const pf_task_event *event,
                       const pf_task *task, pf_task_place *place,
                       pf_error *error) {
  const pf_task_state to = (pf_task_state)moves[event->word].to;
  const bool is_known = place->state != PF_TASK_ANY;
  const bool has_ended = place->depth > 0 && to == PF_TASK_TERMINATED;
  pf_status status = PF_OK;
  if (is_known && (moves[event->word].from >> place->state & 1) == 0)
    status = note(self, PF_TASK_ORDER,
                  "the state of the task does not allow this event", error);
  if (status == PF_OK && has_ended)
    status = note(self, PF_TASK_OPEN, "the task ends before a runnable of it",
                  error);
  if (status == PF_OK && moves[event->word].has_core)
    status = pf_task_set_core(self, event, place, to == PF_TASK_RUNNING, error);
  if (status != PF_OK)
    return status;
  if (event->word == PF_TASK_START)
    pf_task_start(self, task, place);
  else if (to == PF_TASK_RUNNING)
    pf_task_gain_core(self, task, place);
  else if (to == PF_TASK_TERMINATED)
    pf_task_end(self, task, place);
  else if (to != PF_TASK_ACTIVE &&
           (!is_known || place->state == PF_TASK_RUNNING))
    pf_task_lose_core(self, task, place);
  pf_task_set_state(self, place, to);
  return PF_OK;
}


pf_status pf_tasks_step (pf_tasks *self, const pf_task_event *event,
                         pf_error *error) {
  pf_task *const task = &self->tasks[event->task];
  pf_task_place *place =
      pf_task_find(task, event->has_instance, event->instance);
  pf_status status = PF_OK;
  self->count = 0;
  task->has_events = true;
  task->area = event->area;
  if (place == NULL)
    status = pf_task_add_instance(self, event, false, &place, error);
  if (status == PF_OK && event->word == PF_TASK_START)
    place = pf_task_move_down(self, task, place);
  if (status == PF_OK)
    status = move(self, event, task, place, error);
  return check(self, status, error);
}


/* }====== */

/* {====== Calls in tasks ====== */

/* A call starts or ends, so its task runs. */
static pf_status ensure_running (pf_tasks *self, const pf_task *task,
                                 pf_task_place *place, pf_error *error) {
  const bool is_known = place->state != PF_TASK_ANY;
  if (place->state == PF_TASK_RUNNING || (!is_known && !self->has_tasks))
    return PF_OK;
  if (place->state == PF_TASK_ACTIVE)
    pf_task_start(self, task, place);
  else
    pf_task_gain_core(self, task, place);
  pf_task_set_state(self, place, PF_TASK_RUNNING);
  return is_known ? note(self, PF_TASK_ORDER,
                         "the task of this runnable does not run", error)
                  : PF_OK;
}


/* The calls above `depth` have ended; the one around them runs, if it was
   resumed while they were open. */
static void pop_to (pf_tasks *self, pf_task_place *place, size_t depth) {
  place->depth = depth;
  if (place->held > depth)
    place->held = 0;
  pf_task_call *const top = depth == 0 ? NULL : &place->calls[depth - 1];
  if (top != NULL && top->is_stopped && !top->is_suspended && place->held == 0)
    pf_task_put_call(self, place, top, PF_EVENT_RESUME);
}


static pf_status push (pf_tasks *self, pf_task_place *place, uint32_t area,
                       pf_event_kind kind, pf_error *error) {
  pf_status status = PF_OK;
  if (place->depth == MOST_DEPTH) {
    status =
        note(self, PF_TASK_DEPTH,
             "4096 runnables of a task are open: the innermost ends", error);
    pf_task_put_call(self, place, &place->calls[MOST_DEPTH - 1],
                     PF_EVENT_LEAVE);
    pop_to(self, place, MOST_DEPTH - 1);
  }
  if (!pf_grow(&place->calls, &place->capacity, place->depth + 1))
    return pf_no_memory(error);
  pf_task_call *const call = &place->calls[place->depth++];
  *call = (pf_task_call){.area = area};
  pf_task_put_call(self, place, call, kind);
  return status;
}


/* A call that is open is suspended or resumed by itself. */
static void set_suspended (pf_tasks *self, pf_task_place *place, size_t at,
                           bool is_suspended) {
  pf_task_call *const call = &place->calls[at];
  const bool runs =
      place->state == PF_TASK_RUNNING || place->state == PF_TASK_ANY;
  if (call->is_suspended == is_suspended)
    return;
  call->is_suspended = is_suspended;
  if (is_suspended && place->held == at + 1)
    place->held = 0; /* it is suspended already, and stays so */
  else if (is_suspended || runs)
    pf_task_put_call(self, place, call,
                     is_suspended ? PF_EVENT_SUSPEND : PF_EVENT_RESUME);
  else if (at + 1 > place->held)
    place->held = at + 1; /* it runs with its task */
}


/* A call ends, which may have begun before the trace. */
static void end_call (pf_tasks *self, const pf_task *task, pf_task_place *place,
                      uint32_t area, size_t at) {
  pf_task_call earlier = {.area = area};
  pf_task_put_call(self, place, at > 0 ? &place->calls[at - 1] : &earlier,
                   PF_EVENT_LEAVE);
  if (at > 0)
    pop_to(self, place, at - 1);
  if (place->depth == 0 && !task->has_events && !self->has_tasks)
    place->is_open = false;
}


static pf_status step_call (pf_tasks *self, const pf_task_event *event,
                            const pf_task *task, pf_task_place *place,
                            pf_error *error) {
  const pf_task_word word = event->word;
  size_t at = place->depth;
  while (at > 0 && place->calls[at - 1].area != event->area)
    at--;
  const bool is_open = at > 0;
  const bool is_own =
      is_open && (word == PF_TASK_SUSPEND || word == PF_TASK_RESUME);
  if (is_own)
    set_suspended(self, place, at - 1, word == PF_TASK_SUSPEND);
  if (is_own || word == PF_TASK_SUSPEND) /* of one before the trace */
    return PF_OK;
  const pf_status status = ensure_running(self, task, place, error);
  if (status == PF_OK && word == PF_TASK_TERMINATE)
    end_call(self, task, place, event->area, at);
  if (status != PF_OK || word == PF_TASK_TERMINATE)
    return status;
  return push(self, place, event->area,
              word == PF_TASK_START ? PF_EVENT_ENTER : PF_EVENT_RESUME, error);
}


pf_status pf_tasks_step_call (pf_tasks *self, const pf_task_event *event,
                              pf_error *error) {
  const pf_task *const task = &self->tasks[event->task];
  pf_task_place *place =
      pf_task_find(task, event->has_instance, event->instance);
  pf_status status = PF_OK;
  self->count = 0;
  if (place == NULL)
    status = pf_task_add_instance(self, event, task->has_events, &place, error);
  if (status == PF_OK)
    status = step_call(self, event, task, place, error);
  return check(self, status, error);
}


pf_task_change *pf_tasks_put_write (pf_tasks *self, const pf_task_event *event,
                                    uint32_t lane) {
  const pf_task_place writer = {.lane = lane, .core = PF_NO_CORE};
  const pf_task_place *const place =
      event->task == PF_NO_TASK
          ? NULL
          : pf_task_find(&self->tasks[event->task], event->has_instance,
                         event->instance);
  self->count = 0;
  return pf_task_put(self, place == NULL ? &writer : place, PF_EVENT_WRITE,
                     event->area);
}


/* }====== */

pf_status pf_tasks_open (pf_tasks *self, pf_error *error) {
  static const char *const names[PF_TASK_STATES + 2] = {
      "?",       "Active",  "Ready",      "Running",  "Polling",
      "Parking", "Waiting", "Terminated", "variable", "task state"};
  uint32_t ids[PF_TASK_STATES + 2];
  const pf_status status =
      pf_intern_texts(self->dictionary, names, PF_TASK_STATES + 2, ids, error);
  if (status != PF_OK)
    return status;
  memcpy(self->state_names, ids, sizeof self->state_names);
  self->variable = ids[PF_TASK_STATES];
  self->state_class = ids[PF_TASK_STATES + 1];
  self->lane = PF_NO_NAME;
  return PF_OK;
}


void pf_tasks_free (pf_tasks *self) {
  for (size_t i = 0; i < self->ntasks; i++) {
    for (size_t j = 0; j < self->tasks[i].nplaces; j++)
      free(self->tasks[i].places[j].calls);
    free(self->tasks[i].places);
  }
  free(self->tasks);
  free(self->cores);
}


uint32_t pf_tasks_add (pf_tasks *self, uint32_t name, uint32_t area) {
  if (!pf_grow(&self->tasks, &self->capacity, self->ntasks + 1))
    return PF_NO_TASK;
  self->tasks[self->ntasks] = (pf_task){.name = name, .area = area};
  return (uint32_t)self->ntasks++;
}
