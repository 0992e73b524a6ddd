/*
** state_areas.c - which task and which state of it an area is.
*/

#include "kernels/tasks/jobs.h"

#include <stdlib.h>

#include "model/base/memory.h"

#define NONE        UINT32_MAX
#define OF_VARIABLE (UINT64_C(1) << 32) /* in the word of a task */


static char lower (char c) {
  return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
}


static bool is_same (pf_bytes text, const char *name) {
  size_t i = 0;
  while (i < text.size && name[i] != '\0' &&
         lower((char)text.at[i]) == lower(name[i]))
    i++;
  return i == text.size && name[i] == '\0';
}


/* The meaning of a state's name. */
static pf_task_state meaning_of (const pf_state_areas *self, pf_bytes name) {
  for (size_t i = self->options->count; i-- > 0;)
    if (is_same(name, self->options->names[i].text))
      return self->options->names[i].state;
  return PF_TASK_ANY;
}


/* Divide the name of a state, as "Task_A=READY" or "A: Ready", at the last of
   these signs. False: it has none. */
static bool divide (pf_bytes name, pf_bytes *owner, pf_bytes *state) {
  for (size_t i = name.size; i-- > 0;) {
    const bool is_colon =
        name.at[i] == ':' && i + 1 < name.size && name.at[i + 1] == ' ';
    if (name.at[i] != '=' && !is_colon)
      continue;
    const size_t next = i + 1 + is_colon;
    *owner = (pf_bytes){name.at, i};
    *state = (pf_bytes){name.at + next, name.size - next};
    return true;
  }
  return false;
}


/* The place of a variable among those that state which task runs. */
static uint32_t variable_of (const pf_state_areas *self, pf_bytes name) {
  for (size_t i = 0; i < self->options->nrunning; i++)
    if (is_same(name, self->options->running[i]))
      return (uint32_t)i;
  return NONE;
}


/* Find out what an area is. */
static pf_status find_out (pf_state_areas *self, uint32_t id,
                           pf_state_area *found, pf_error *error) {
  pf_dictionary *const d = self->dictionary;
  const pf_area *const area = self->type == PF_AREA ? pf_area_at(d, id) : NULL;
  *found = (pf_state_area){.state = PF_TASK_ANY,
                           .task = PF_NO_TASK,
                           .name = PF_NO_NAME,
                           .variable = NONE,
                           .unknown = PF_NO_NAME};
  if (area == NULL || area->parent == PF_NO_AREA)
    return PF_OK;
  pf_bytes owner = pf_name(d, pf_area_name(d, area->parent));
  pf_bytes state = pf_name(d, area->name);
  (void)divide(pf_name(d, area->name), &owner, &state);
  found->state = meaning_of(self, state);
  found->variable = variable_of(self, owner);
  if (found->variable != NONE && found->state != PF_TASK_TERMINATED)
    found->state = PF_TASK_RUNNING;
  found->name = pf_intern(d, found->variable != NONE ? state : owner);
  const uint64_t word = found->variable != NONE
                            ? found->name
                            : OF_VARIABLE | (uint64_t)area->parent;
  if (found->state == PF_TASK_ANY)
    found->unknown = pf_intern(d, state);
  if (found->name == PF_NO_NAME ||
      (found->state == PF_TASK_ANY && found->unknown == PF_NO_NAME))
    return pf_no_memory(error);
  if (found->state != PF_TASK_ANY)
    return pf_id_table_words(&self->tasks, &word, 1, &found->task) == PF_OK
               ? PF_OK
               : pf_no_memory(error);
  found->task = pf_id_table_find(&self->tasks, word);
  return PF_OK;
}


void pf_state_areas_init (pf_state_areas *self, const pf_jobs_options *options,
                          const pf_events *events) {
  const pf_reader *const reader = events->reader;
  *self = (pf_state_areas){.options = options};
  pf_id_table_init(&self->tasks);
  if (reader == NULL || events->area >= reader->nfields)
    return;
  self->dictionary = reader->dictionary;
  self->type = reader->fields[events->area].type;
}


pf_status pf_state_area_of (pf_state_areas *self, uint32_t id,
                            pf_state_area *area, pf_error *error) {
  if (!pf_grow_filled(&self->areas, &self->capacity, (size_t)id + 1, 0) ||
      !pf_grow_filled(&self->known, &self->known_capacity, (size_t)id + 1, 0))
    return pf_no_memory(error);
  /* what is no state of a task may be one when a task has turned up */
  const uint32_t now = self->tasks.count + 1;
  if (self->known[id] == 0 ||
      (self->known[id] != now && self->areas[id].task == PF_NO_TASK)) {
    const pf_status status = find_out(self, id, &self->areas[id], error);
    if (status != PF_OK)
      return status;
    self->known[id] = self->tasks.count + 1;
  }
  *area = self->areas[id];
  return PF_OK;
}


void pf_state_areas_free (pf_state_areas *self) {
  pf_id_table_free(&self->tasks);
  free(self->areas);
  free(self->known);
}
