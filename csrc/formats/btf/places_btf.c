/*
** places_btf.c - the lanes of tasks and their open instances: what a task or a
** runnable does becomes changes, which are rows of table events. When a task
** loses its core, its innermost runnable is suspended if the file has not done
** that, and runs again with the task. Callers need no event: a call does not
** run while one that it made is open.
**
** Used by tasks_btf.c. The btf_tasks owns the tasks and their places.
*/

#include "formats/btf/tasks_btf.h"

#include <stdio.h>
#include <stdlib.h>

#include "model/base/memory.h"

#define MOST_PLACES 64


/* {====== Changes ====== */

static bool has_area (btf_tasks *self, uint32_t *area, const pf_area *wanted) {
  if (*area == PF_NO_AREA)
    *area = pf_area_add(self->parser->trace->dictionary, wanted);
  return *area != PF_NO_AREA;
}


uint32_t btf_area_of (btf_tasks *self, uint32_t id, btf_role role) {
  btf_entity *const entity = btf_entity_at(self, id);
  pf_area area = PF_AREA_NONE;
  area.name = entity->name;
  area.class = self->classes[role];
  area.has_handle = entity->number != 0;
  area.handle = entity->number;
  (void)has_area(self, &entity->areas[role], &area);
  return entity->areas[role];
}


btf_change *btf_put (btf_tasks *self, const btf_place *place,
                     pf_event_kind kind, uint32_t area) {
  btf_change *const change = &self->changes[self->count];
  self->count += self->count + 1 < BTF_CHANGES;
  *change = (btf_change){.kind = (uint8_t)kind,
                         .area = area,
                         .lane = place->lane,
                         .core = place->core};
  self->lane = place->lane;
  return change;
}


static void put_task (btf_tasks *self, const btf_task *task,
                      const btf_place *place, pf_event_kind kind) {
  if (self->has_calls)
    (void)btf_put(self, place, kind,
                  btf_area_of(self, task->entity, task->role));
}


void btf_put_call (btf_tasks *self, const btf_place *place, btf_open *call,
                   pf_event_kind kind) {
  call->is_stopped = kind == PF_EVENT_SUSPEND;
  (void)btf_put(self, place, kind,
                btf_area_of(self, call->runnable, BTF_AS_RUNNABLE));
}


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


/* Add the areas of the variable of a task's state, and of a state. */
static void add_state (btf_tasks *self, btf_place *place, btf_state state) {
  pf_dictionary *const dictionary = self->parser->trace->dictionary;
  const pf_bytes lane = pf_name(dictionary, place->lane);
  pf_area area = PF_AREA_NONE;
  area.name = pf_intern_joined(dictionary, pf_bytes_of("state of "), "", lane);
  area.class = self->classes[BTF_AS_SIGNAL];
  if (area.name != PF_NO_NAME)
    (void)has_area(self, &place->variable, &area);
  area = (pf_area)PF_AREA_NONE;
  area.name = pf_intern_joined(dictionary, lane, ": ",
                               pf_name(dictionary, self->state_names[state]));
  area.class = self->classes[BTF_ROLES];
  area.parent = place->variable;
  area.has_value = true;
  area.value = (int64_t)state;
  if (area.name != PF_NO_NAME && area.parent != PF_NO_AREA)
    (void)has_area(self, &place->states[state], &area);
}


void btf_set_state (btf_tasks *self, btf_place *place, btf_state state) {
  place->state = state;
  if (!self->has_calls)
    return;
  if (place->states[state] == PF_NO_AREA)
    add_state(self, place, state);
  btf_change *const change =
      btf_put(self, place, PF_EVENT_WRITE, place->states[state]);
  change->has_value = true;
  change->value = (int64_t)state;
}


/* }====== */

/* {====== Instances ====== */

btf_task *btf_task_of (btf_tasks *self, uint32_t id, btf_role role) {
  btf_entity *const entity = btf_entity_at(self, id);
  if (entity->task != BTF_NONE)
    return &self->tasks[entity->task];
  if (!pf_grow(&self->tasks, &self->capacity, self->ntasks + 1))
    return NULL;
  entity->task = (uint32_t)self->ntasks++;
  self->tasks[entity->task] = (btf_task){.entity = id, .role = role};
  return &self->tasks[entity->task];
}


/* Add a lane to a task. False when out of memory. */
static bool add_place (btf_tasks *self, btf_task *task) {
  btf_place place = {.core = BTF_NONE};
  place.lane =
      numbered(self->parser->trace->dictionary,
               btf_entity_at(self, task->entity)->unique, task->nplaces + 1);
  memset(&place.variable, 0xff, sizeof place.variable);
  memset(place.states, 0xff, sizeof place.states);
  if (place.lane == PF_NO_NAME ||
      !pf_grow(&task->places, &task->capacity, task->nplaces + 1))
    return false;
  task->places[task->nplaces++] = place;
  return true;
}


void btf_end_instance (btf_tasks *self, const btf_task *task,
                       btf_place *place) {
  const bool is_earlier = place->state == BTF_ANY && task->has_events;
  if (place->depth > 0 && !(self->has_calls && place->is_started))
    btf_put_call(self, place, &place->calls[0], PF_EVENT_LEAVE);
  if (place->is_started || is_earlier)
    put_task(self, task, place, PF_EVENT_LEAVE);
  place->depth = place->held = 0;
  place->is_started = place->is_open = false;
}


/* The first lane that is free, or a new one; the last one of too many. NULL
   when out of memory. */
static btf_place *free_place (btf_tasks *self, btf_task *task, bool *is_full) {
  for (size_t i = 0; i < task->nplaces; i++)
    if (!task->places[i].is_open)
      return &task->places[i];
  *is_full = task->nplaces == MOST_PLACES;
  return *is_full || add_place(self, task) ? &task->places[task->nplaces - 1]
                                           : NULL;
}


btf_place *btf_find_instance (const btf_task *task, bool has,
                              int64_t instance) {
  for (size_t i = 0; i < task->nplaces; i++)
    if (task->places[i].is_open &&
        (!has || task->places[i].instance == instance))
      return &task->places[i];
  return NULL;
}


pf_status btf_add_instance (btf_tasks *self, btf_task *task, bool is_doubted,
                            const btf_line *line, int64_t instance,
                            btf_place **place, pf_error *error) {
  bool is_full = false;
  pf_status status = PF_OK;
  btf_place *const new = free_place(self, task, &is_full);
  if (new == NULL)
    return pf_no_memory(error);
  if (is_full) {
    btf_end_instance(self, task, new);
    status = btf_warn(self->parser->trace, PF_DAMAGE, "btf-instances", line,
                      "more than 64 instances of a task are open", error);
  }
  if (is_doubted && status == PF_OK)
    status = btf_warn(self->parser->trace, PF_DAMAGE, "btf-order", line,
                      "no event has opened this instance of the task", error);
  new->is_open = true;
  new->instance = instance;
  new->state = BTF_ANY;
  new->core = BTF_NONE;
  *place = new;
  return status;
}


btf_place *btf_move_down (btf_tasks *self, btf_task *task, btf_place *place) {
  btf_place *to = task->places;
  while (to < place && to->is_open)
    to++;
  if (to == place || place->state != BTF_ACTIVE || place->depth > 0)
    return place;
  to->is_open = true;
  to->instance = place->instance;
  to->state = place->state;
  to->core = BTF_NONE;
  place->is_open = false;
  btf_set_state(self, place, BTF_TERMINATED);
  return to;
}


/* }====== */

/* {====== Cores ====== */

/* Note cores that column core cannot tell apart. */
static pf_status check_core (btf_tasks *self, const btf_line *line,
                             btf_entity *core, pf_error *error) {
  const uint64_t word = (uint64_t)core->end;
  uint32_t id;
  core->is_core = true;
  if (!core->has_end || pf_id_table_find(&self->cores, word) != PF_NO_ID)
    return btf_warn(self->parser->trace, PF_NOTE, "btf-core-name", line,
                    "the core's name ends in no number, or in that of another "
                    "one",
                    error);
  return pf_id_table_words(&self->cores, &word, 1, &id) == PF_OK
             ? PF_OK
             : pf_no_memory(error);
}


/* A task gets the core of the task that ran before, which the line states in
   place of the core. */
static pf_status follow (btf_tasks *self, const btf_line *line,
                         const btf_task *before, btf_place *place,
                         pf_error *error) {
  const btf_place *const last = btf_find_instance(
      before, line->has_source_instance, line->source_instance);
  if (before->nplaces > 0)
    place->core = before->places[0].core;
  return last != NULL && last != place && last->state == BTF_RUNNING
             ? btf_warn(self->parser->trace, PF_DAMAGE, "btf-core", line,
                        "the task before still runs on this core", error)
             : PF_OK;
}


pf_status btf_set_core (btf_tasks *self, const btf_line *line,
                        const btf_task *task, btf_place *place, bool runs,
                        pf_error *error) {
  btf_entity *const core = btf_entity_at(self, line->source);
  const uint32_t number = btf_entity_at(self, task->entity)->task;
  pf_status status = PF_OK;
  if (core->task != BTF_NONE && !core->is_core)
    return runs ? follow(self, line, &self->tasks[core->task], place, error)
                : PF_OK;
  if (!core->is_core)
    status = check_core(self, line, core, error);
  place->core = line->source;
  if (!runs)
    return status;
  const btf_task *const other =
      core->runs == BTF_NONE ? NULL : &self->tasks[core->runs];
  const btf_place *const last =
      other == NULL ? NULL
                    : btf_find_instance(other, true, core->runs_instance);
  if (status == PF_OK && last != NULL && last != place &&
      last->state == BTF_RUNNING && last->core == line->source)
    status = btf_warn(self->parser->trace, PF_DAMAGE, "btf-core", line,
                      "another task still runs on this core", error);
  core->runs = number;
  core->runs_instance = place->instance;
  return status;
}


void btf_lose_core (btf_tasks *self, const btf_task *task, btf_place *place) {
  size_t at = place->depth;
  while (at > 0 && place->calls[at - 1].is_suspended)
    at--;
  if (at > 0 && place->held == 0) {
    btf_put_call(self, place, &place->calls[at - 1], PF_EVENT_SUSPEND);
    place->held = at;
  }
  put_task(self, task, place, PF_EVENT_SUSPEND);
  place->is_started = true;
}


void btf_gain_core (btf_tasks *self, const btf_task *task, btf_place *place) {
  put_task(self, task, place, PF_EVENT_RESUME);
  place->is_started = true;
  if (place->held > 0)
    btf_put_call(self, place, &place->calls[place->held - 1], PF_EVENT_RESUME);
  place->held = 0;
}


void btf_start (btf_tasks *self, const btf_task *task, btf_place *place) {
  if (place->is_started)
    put_task(self, task, place, PF_EVENT_LEAVE);
  put_task(self, task, place, PF_EVENT_ENTER);
  place->is_started = true;
}


/* }====== */
