/*
** task_places.c - the lanes of tasks and their open instances: what a task or a
** call in it does becomes changes.
*/

#include <stdio.h>
#include <stdlib.h>

#include "model/base/memory.h"
#include "model/dictionary/names.h"
#include "model/timeline/tasks.h"

#define MOST_PLACES 64

/* The task that runs on a core. */
struct pf_task_core {
  uint32_t task; /* + 1; 0: none */
  int64_t instance;
};


/* {====== Changes ====== */

pf_task_change *pf_task_put (pf_tasks *self, const pf_task_place *place,
                             pf_event_kind kind, uint32_t area) {
  pf_task_change *const change = &self->changes[self->count];
  self->count += self->count + 1 < PF_TASK_CHANGES;
  *change = (pf_task_change){.kind = (uint8_t)kind,
                             .area = area,
                             .lane = place->lane,
                             .core = place->core};
  self->lane = place->lane;
  return change;
}


static void put_task (pf_tasks *self, const pf_task *task,
                      const pf_task_place *place, pf_event_kind kind) {
  if (self->has_calls)
    (void)pf_task_put(self, place, kind, task->area);
}


void pf_task_put_call (pf_tasks *self, const pf_task_place *place,
                       pf_task_call *call, pf_event_kind kind) {
  call->is_stopped = kind == PF_EVENT_SUSPEND;
  (void)pf_task_put(self, place, kind, call->area);
}


/* Adds the areas of the variable of a task's state, and of a state. */
static void add_state (pf_tasks *self, pf_task_place *place,
                       pf_task_state state) {
  pf_dictionary *const d = self->dictionary;
  const pf_bytes lane = pf_name(d, place->lane);
  pf_area area = PF_AREA_NONE;
  area.name = pf_intern_joined(d, pf_bytes_of("state of "), "", lane);
  area.class = self->variable;
  if (area.name != PF_NO_NAME && place->variable == PF_NO_AREA)
    place->variable = pf_area_add(d, &area);
  area = (pf_area)PF_AREA_NONE;
  area.name =
      pf_intern_joined(d, lane, ": ", pf_name(d, self->state_names[state]));
  area.class = self->state_class;
  area.parent = place->variable;
  area.has_value = true;
  area.value = (int64_t)state;
  if (area.name != PF_NO_NAME && area.parent != PF_NO_AREA)
    place->states[state] = pf_area_add(d, &area);
}


void pf_task_set_state (pf_tasks *self, pf_task_place *place,
                        pf_task_state state) {
  place->state = state;
  if (!self->has_calls)
    return;
  if (place->states[state] == PF_NO_AREA)
    add_state(self, place, state);
  pf_task_change *const change =
      pf_task_put(self, place, PF_EVENT_WRITE, place->states[state]);
  change->has_value = true;
  change->value = (int64_t)state;
}


/* }====== */

/* {====== Instances ====== */

/* A name, with a number in brackets if it is above 1. PF_NO_NAME when out of
   memory. */
static uint32_t numbered (pf_dictionary *dictionary, uint32_t name,
                          size_t number) {
  char text[32];
  snprintf(text, sizeof text, " (%zu)", number);
  return number > 1 ? pf_intern_joined(dictionary, pf_name(dictionary, name),
                                       text, pf_bytes_of(""))
                    : name;
}


/* Adds a lane to a task. False when out of memory. */
static bool add_place (pf_tasks *self, pf_task *task) {
  pf_task_place place = {.core = PF_NO_CORE};
  place.lane = numbered(self->dictionary, task->name, task->nplaces + 1);
  place.variable = PF_NO_AREA;
  memset(place.states, 0xff, sizeof place.states);
  if (place.lane == PF_NO_NAME ||
      !pf_grow(&task->places, &task->capacity, task->nplaces + 1))
    return false;
  task->places[task->nplaces++] = place;
  return true;
}


void pf_task_end (pf_tasks *self, const pf_task *task, pf_task_place *place) {
  const bool is_earlier = place->state == PF_TASK_ANY && task->has_events;
  if (place->depth > 0 && !(self->has_calls && place->is_started))
    pf_task_put_call(self, place, &place->calls[0], PF_EVENT_LEAVE);
  if (place->is_started || is_earlier)
    put_task(self, task, place, PF_EVENT_LEAVE);
  place->depth = place->held = 0;
  place->is_started = place->is_open = false;
}


/* The first lane that is free, or a new one; the last one of too many. NULL
   when out of memory. */
static pf_task_place *free_place (pf_tasks *self, pf_task *task,
                                  bool *is_full) {
  for (size_t i = 0; i < task->nplaces; i++)
    if (!task->places[i].is_open)
      return &task->places[i];
  *is_full = task->nplaces == MOST_PLACES;
  return *is_full || add_place(self, task) ? &task->places[task->nplaces - 1]
                                           : NULL;
}


pf_task_place *pf_task_find (const pf_task *task, bool has_instance,
                             int64_t instance) {
  for (size_t i = 0; i < task->nplaces; i++)
    if (task->places[i].is_open &&
        (!has_instance || task->places[i].instance == instance))
      return &task->places[i];
  return NULL;
}


pf_status pf_task_add_instance (pf_tasks *self, const pf_task_event *event,
                                bool is_doubted, pf_task_place **place,
                                pf_error *error) {
  pf_task *const task = &self->tasks[event->task];
  bool is_full = false;
  pf_status status = PF_OK;
  pf_task_place *const new = free_place(self, task, &is_full);
  if (new == NULL)
    return pf_no_memory(error);
  if (is_full) {
    pf_task_end(self, task, new);
    status = self->note(self->context, PF_TASK_INSTANCES,
                        "more than 64 instances of a task are open", error);
  }
  if (is_doubted && status == PF_OK)
    status = self->note(self->context, PF_TASK_ORDER,
                        "no event has opened this instance of the task", error);
  new->is_open = true;
  new->instance = event->instance;
  new->state = PF_TASK_ANY;
  new->core = PF_NO_CORE;
  *place = new;
  return status;
}


pf_task_place *pf_task_move_down (pf_tasks *self, pf_task *task,
                                  pf_task_place *place) {
  pf_task_place *to = task->places;
  while (to < place && to->is_open)
    to++;
  if (to == place || place->state != PF_TASK_ACTIVE || place->depth > 0)
    return place;
  to->is_open = true;
  to->instance = place->instance;
  to->state = place->state;
  to->core = PF_NO_CORE;
  place->is_open = false;
  pf_task_set_state(self, place, PF_TASK_TERMINATED);
  return to;
}


/* }====== */

/* {====== Cores ====== */

/* A task gets the core of the task that ran before. */
static pf_status follow (const pf_tasks *self, const pf_task_event *event,
                         pf_task_place *place, pf_error *error) {
  const pf_task *const before = &self->tasks[event->before];
  const pf_task_place *const last =
      pf_task_find(before, event->has_before_instance, event->before_instance);
  if (before->nplaces > 0)
    place->core = before->places[0].core;
  return last != NULL && last != place && last->state == PF_TASK_RUNNING
             ? self->note(self->context, PF_TASK_CORE,
                          "the task before still runs on this core", error)
             : PF_OK;
}


pf_status pf_task_set_core (pf_tasks *self, const pf_task_event *event,
                            pf_task_place *place, bool runs, pf_error *error) {
  if (event->before != PF_NO_TASK)
    return runs ? follow(self, event, place, error) : PF_OK;
  place->core = event->core;
  if (!runs || event->core == PF_NO_CORE)
    return PF_OK;
  if (!pf_grow_filled(&self->cores, &self->core_capacity,
                      (size_t)event->core + 1, 0))
    return pf_no_memory(error);
  struct pf_task_core *const core = &self->cores[event->core];
  const pf_task_place *const last =
      core->task == 0
          ? NULL
          : pf_task_find(&self->tasks[core->task - 1], true, core->instance);
  core->task = event->task + 1;
  core->instance = place->instance;
  return last != NULL && last != place && last->state == PF_TASK_RUNNING &&
                 last->core == event->core
             ? self->note(self->context, PF_TASK_CORE,
                          "another task still runs on this core", error)
             : PF_OK;
}


void pf_task_lose_core (pf_tasks *self, const pf_task *task,
                        pf_task_place *place) {
  size_t at = place->depth;
  while (at > 0 && place->calls[at - 1].is_suspended)
    at--;
  if (at > 0 && place->held == 0) {
    pf_task_put_call(self, place, &place->calls[at - 1], PF_EVENT_SUSPEND);
    place->held = at;
  }
  put_task(self, task, place, PF_EVENT_SUSPEND);
  place->is_started = true;
}


void pf_task_gain_core (pf_tasks *self, const pf_task *task,
                        pf_task_place *place) {
  put_task(self, task, place, PF_EVENT_RESUME);
  place->is_started = true;
  if (place->held > 0)
    pf_task_put_call(self, place, &place->calls[place->held - 1],
                     PF_EVENT_RESUME);
  place->held = 0;
}


void pf_task_start (pf_tasks *self, const pf_task *task, pf_task_place *place) {
  if (place->is_started)
    put_task(self, task, place, PF_EVENT_LEAVE);
  put_task(self, task, place, PF_EVENT_ENTER);
  place->is_started = true;
}


/* }====== */
