/*
** chain_steps.c - which steps of chains an event is: by its area, found once
** for each; then by its kind, its lane and its value.
*/

#include <stdio.h>
#include <stdlib.h>

#include "kernels/base/order.h"
#include "kernels/chains/chains.h"
#include "model/base/memory.h"
#include "model/dictionary/areas.h"

#define NO_STEPS 1 /* in `first`: an area that is in no chain */

/* A step that an area has. */
typedef struct pf_step_link {
  uint32_t chain, step;
  uint32_t names; /* index of its names */
  uint32_t next;  /* the next link, or 0 */
} step_link;

/* Names that those of areas and lanes are compared with. */
typedef struct pf_step_names {
  uint32_t area, variable; /* X, and "state of X" */
  uint32_t lane;
} step_names;


/* {====== Areas ====== */

/* Whether a name is that of a step, or a pattern finds it. */
static pf_status is_named (const pf_step_table *self, const step_names *names,
                           const pf_chain_step *step, uint32_t name,
                           bool *is_it, pf_error *error) {
  pf_found found = {false, 0, 0};
  *is_it = name == names->area || name == names->variable;
  if (step->pattern == NULL)
    return PF_OK;
  const pf_status status = pf_pattern_find(
      step->pattern, pf_name(self->dictionary, name), &found, error);
  *is_it = found.is_found;
  return status;
}


/* Whether a state is that of a step: by its value, or its name, which may have
   that of the variable in front, as in "X: STATE" and "X=STATE". */
static bool is_state (const pf_chain_step *step, const pf_area *area,
                      pf_bytes name) {
  const size_t size = strlen(step->state);
  if (area->has_value && step->has_state_value &&
      step->state_value == area->value)
    return true;
  if (name.size < size || size == 0 ||
      memcmp(name.at + name.size - size, step->state, size) != 0)
    return false;
  const size_t front = name.size - size;
  return front == 0 || strchr(" =:./", name.at[front - 1]) != NULL;
}


/* Whether a step may be an event of an area. */
static pf_status has_area (const pf_step_table *self, const step_names *names,
                           const pf_chain_step *step, pf_type type, uint32_t id,
                           bool *has, pf_error *error) {
  const pf_dictionary *const d = self->dictionary;
  const uint32_t name = type == PF_AREA ? pf_area_name(d, id) : id;
  const pf_area *const area = type == PF_AREA ? pf_area_at(d, id) : NULL;
  const bool has_parent = area != NULL && area->parent != PF_NO_AREA;
  *has = false;
  pf_status status = step->state == NULL
                         ? is_named(self, names, step, name, has, error)
                         : PF_OK;
  if (status == PF_OK && !*has && has_parent && step->kind == PF_EVENT_WRITE &&
      (step->state == NULL || is_state(step, area, pf_name(d, name))))
    status =
        is_named(self, names, step, pf_area_name(d, area->parent), has, error);
  return status;
}


/* Finds the steps of an area. */
static pf_status add_area (pf_step_table *self, const pf_events *events,
                           uint32_t id, pf_error *error) {
  const pf_reader *const reader = events->reader;
  const pf_type type = reader->fields[events->area].type;
  const step_names *names = self->names;
  uint32_t last = 0;
  self->first[id] = NO_STEPS;
  for (uint32_t c = 0; c < self->options->count;
       names += self->options->chains[c++].nsteps)
    for (size_t s = self->options->chains[c].nsteps; s-- > 0;) {
      bool has;
      const pf_status status =
          has_area(self, &names[s], &self->options->chains[c].steps[s], type,
                   id, &has, error);
      if (status != PF_OK)
        return status;
      if (!has)
        continue;
      if (!pf_grow(&self->links, &self->capacity, self->nlinks + 2))
        return pf_no_memory(error);
      const uint32_t new = (uint32_t)++self->nlinks;
      self->links[new] = (step_link){
          c, (uint32_t)s, (uint32_t)(names - self->names + (ptrdiff_t)s), 0};
      if (last == 0)
        self->first[id] = new + 1;
      else
        self->links[last].next = new;
      last = new;
    }
  return PF_OK;
}


/* }====== */

/* {====== Events ====== */

static bool is_lane (const pf_events *events, uint32_t lane, const char *text,
                     const step_names *wanted) {
  const pf_id_table *const lanes = &events->lanes;
  char number[24];
  if (lane == lanes->missing || !pf_events_have_lanes(events))
    return false;
  const uint64_t word = lanes->words[lane];
  if (pf_events_lane_type(events) == PF_NAME)
    return wanted->lane == (uint32_t)word;
  snprintf(number, sizeof number, "%lld", (long long)pf_unorder_int(word));
  return strcmp(number, text) == 0;
}


static bool is_value (const pf_chain_step *step, const pf_events *events,
                      size_t row) {
  const size_t nfields = events->reader->nfields;
  const pf_column *const c = events->batch.columns;
  const size_t whole = events->extra, part = events->number;
  double value;
  if (whole < nfields && !pf_is_missing(&c[whole], row))
    value = (double)c[whole].ints[row];
  else if (part < nfields && !pf_is_missing(&c[part], row))
    value = c[part].nums[row];
  else
    return false;
  switch (step->test) {
    case PF_TEST_EQUAL: return value == step->operand;
    case PF_TEST_UNEQUAL: return value != step->operand;
    case PF_TEST_BELOW: return value < step->operand;
    case PF_TEST_AT_MOST: return value <= step->operand;
    case PF_TEST_ABOVE: return value > step->operand;
    case PF_TEST_AT_LEAST: return value >= step->operand;
    default: return true;
  }
}


static bool is_step (const pf_chain_step *step, const step_names *names,
                     const pf_events *events, size_t row, uint64_t word) {
  return pf_event_kind_of(word) == step->kind &&
         (step->lane == NULL ||
          is_lane(events, pf_event_lane(word), step->lane, names)) &&
         (step->test == PF_TEST_NONE || is_value(step, events, row));
}


pf_status pf_steps_of (pf_step_table *self, const pf_events *events, size_t row,
                       pf_take_step *take, void *context, pf_error *error) {
  const uint64_t word = events->rows.words[row];
  const uint32_t area = pf_event_area(word);
  if (pf_event_kind_of(word) > PF_EVENT_WRITE || area == UINT32_MAX)
    return PF_OK;
  if (!pf_grow_filled(&self->first, &self->first_capacity, (size_t)area + 1, 0))
    return pf_no_memory(error);
  pf_status status =
      self->first[area] != 0 ? PF_OK : add_area(self, events, area, error);
  for (uint32_t at = status == PF_OK ? self->first[area] - 1 : 0;
       at != 0 && status == PF_OK; at = self->links[at].next) {
    const step_link *const link = &self->links[at];
    const pf_chain *const chain = &self->options->chains[link->chain];
    if (is_step(&chain->steps[link->step], &self->names[link->names], events,
                row, word))
      status = take(context, link->chain, link->step, events->rows.times[row],
                    pf_event_lane(word));
  }
  return status == PF_ENOMEM ? pf_no_memory(error) : status;
}


/* }====== */

static pf_status set_names (const pf_step_table *self, step_names *names,
                            const pf_chain_step *step, pf_error *error) {
  static const char none[] = "";
  pf_dictionary *const d = self->dictionary;
  const pf_bytes area = pf_bytes_of(step->pattern == NULL ? step->area : none);
  *names =
      (step_names){pf_intern(d, area),
                   pf_intern_joined(d, pf_bytes_of("state of "), "", area),
                   pf_intern_text(d, step->lane == NULL ? none : step->lane)};
  return names->area == PF_NO_NAME || names->variable == PF_NO_NAME ||
                 names->lane == PF_NO_NAME
             ? pf_no_memory(error)
             : PF_OK;
}


pf_status pf_step_table_open (pf_step_table *self,
                              const pf_chain_options *options,
                              pf_dictionary *dictionary, pf_error *error) {
  size_t count = 0;
  pf_status status = PF_OK;
  self->options = options;
  self->dictionary = dictionary;
  for (size_t c = 0; c < options->count; c++)
    count += options->chains[c].nsteps;
  self->names = pf_array(count + 1, sizeof *self->names);
  if (self->names == NULL)
    return pf_no_memory(error);
  step_names *names = self->names;
  for (size_t c = 0; c < options->count; c++)
    for (size_t s = 0; s < options->chains[c].nsteps && status == PF_OK; s++)
      status = set_names(self, names++, &options->chains[c].steps[s], error);
  return status;
}


void pf_step_table_free (pf_step_table *self) {
  free(self->links);
  free(self->first);
  free(self->names);
}
