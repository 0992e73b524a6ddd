/*
** write_handles.c - the handles of written areas, and states as writes.
**
** Areas have their own handles, or new ones. Areas with new handles are kept,
** so that their names can be written after the events.
**
** Events of states are converted to writes of their variables, as the vendor's
** program exports them without TimelineStates. A write begins a state and ends
** the one before. So from its first write on a variable always has a state,
** which is never suspended. Other sequences of events are refused.
*/


#include "formats/winidea/encoder/encode_winidea.h"
#include "model/base/memory.h"
#include "model/dictionary/names.h"

/* The kind of an area, from its class. */
static unsigned kind_of (const winidea_writer *self, const pf_area *area) {
  const pf_bytes class = pf_name(self->dictionary, area->class);
  for (unsigned kind = 0; kind < 8 && area->class != PF_NO_NAME; kind++)
    if (class.size == strlen(winidea_class_names[kind]) &&
        memcmp(class.at, winidea_class_names[kind], class.size) == 0)
      return kind;
  return WINIDEA_FUNCTION;
}


static bool is_state (const winidea_writer *self, const pf_area *area) {
  return winidea_is_state((uint32_t)kind_of(self, area) << 28);
}


/* How a handle is used. */
enum {
  UNUSED,
  STATED,  /* by rows, or it is the own handle of an area */
  ASSIGNED /* to an area without one */
};

#define MAX_USES ((uint32_t)1 << 20) /* the uses of smaller indices are noted */


/* The use of a handle; NULL if it is not noted, or (then *has_memory is set to
   false) when out of memory. */
static uint8_t *use_of (winidea_writer *self, uint32_t handle,
                        bool *has_memory) {
  const unsigned kind = winidea_kind(handle);
  const uint32_t index = handle & (WINIDEA_KIND_STEP - 1);
  if (index >= MAX_USES)
    return NULL;
  if (!pf_grow_filled(&self->uses[kind], &self->nuses[kind], (size_t)index + 1,
                      UNUSED)) {
    *has_memory = false;
    return NULL;
  }
  return &self->uses[kind][index];
}


/* Refuses a handle that was assigned to another area than `area`. */
static pf_status check_assigned (const winidea_writer *self, uint32_t handle,
                                 uint32_t area) {
  for (uint32_t i = 0; i < self->nassigned; i++) {
    const uint32_t other = self->assigned[i];
    if (self->handles[other] != handle)
      continue;
    if (other == area)
      return PF_OK;
    const uint32_t id = pf_area_at(self->dictionary, other)->name;
    const pf_bytes name = pf_name(self->dictionary, id);
    return pf_refuse(self->error, "handle %08X has been given to area %.*s",
                     (unsigned)handle, PF_SHOWN(name, 60));
  }
  return PF_OK;
}


/* Sets *number to a handle that a row states, or that its area (or PF_NO_AREA)
   has. Such a handle must not have been assigned to another area. */
static pf_status check_handle (winidea_writer *self, uint64_t handle,
                               uint32_t area, uint32_t *number) {
  bool has_memory = true;
  *number = (uint32_t)handle;
  if (handle > UINT32_MAX)
    return pf_refuse(self->error, "a handle of 32 bits expected, found %llx",
                     (unsigned long long)handle);
  uint8_t *const use = use_of(self, *number, &has_memory);
  if (!has_memory)
    return pf_no_memory(self->error);
  if (use != NULL && *use == ASSIGNED)
    return check_assigned(self, *number, area);
  if (use != NULL)
    *use = STATED;
  return PF_OK;
}


/* Notes that a handle is assigned to an area. No row may have stated it. */
static pf_status note_assigned (winidea_writer *self, uint32_t area) {
  const uint32_t handle = self->handles[area];
  bool has_memory = true;
  uint8_t *const use = use_of(self, handle, &has_memory);
  if (!has_memory)
    return pf_no_memory(self->error);
  if (use == NULL)
    return PF_OK;
  const pf_bytes name =
      pf_name(self->dictionary, pf_area_at(self->dictionary, area)->name);
  if (*use == STATED)
    return pf_refuse(
        self->error,
        "area %.*s would get handle %08X, which another row has: state its "
        "handle",
        PF_SHOWN(name, 60), (unsigned)handle);
  *use = ASSIGNED;
  return PF_OK;
}


/* New handles of a kind are above the own handles of the areas before. */
static void skip_handle (winidea_writer *self, uint32_t handle) {
  const unsigned kind = winidea_kind(handle);
  const uint32_t index = handle & (WINIDEA_KIND_STEP - 1);
  uint32_t *const next =
      &self->next_of[winidea_is_state(handle) ? kind - 1 : kind];
  if (index >= *next && index < MAX_USES)
    *next = index + 1;
}


/* Sets *handle to the own handle of an area; for a state, to the one that
   follows from that of its variable, which has one already; else to the next
   one of its kind. Handles of more than 32 bits are refused when written. */
static pf_status new_handle (winidea_writer *self, const pf_area *area,
                             uint32_t *handle) {
  const unsigned kind = kind_of(self, area);
  const bool is_a_state = is_state(self, area);
  *handle = (uint32_t)area->handle;
  if (area->has_handle) {
    skip_handle(self, *handle);
    return PF_OK;
  }
  if (is_a_state && area->parent < self->nhandles) {
    *handle = self->handles[area->parent];
    if (winidea_kind(*handle) + 1 == kind) {
      *handle += WINIDEA_KIND_STEP;
      return PF_OK;
    }
  }
  /* states without a variable use the indices of variables, so that they do not
     share a handle with the states of another one */
  uint32_t *const next = &self->next_of[is_a_state ? kind - 1 : kind];
  if (*next == WINIDEA_KIND_STEP)
    return pf_fail(self->error, PF_ELIMIT, PF_NO_OFFSET,
                   "more than %u areas of one kind", WINIDEA_KIND_STEP);
  *handle = (uint32_t)kind << 28 | (*next)++;
  return PF_OK;
}


/* Assigns handles to all areas up to `number`, in the order of the dictionary,
   so that an encoder which continues the file (recovery of a ring) agrees. */
static pf_status assign_handles (winidea_writer *self, uint32_t number) {
  if (!pf_grow(&self->handles, &self->handles_capacity, (size_t)number + 1))
    return pf_no_memory(self->error);
  for (; self->nhandles <= number; self->nhandles++) {
    const pf_status status =
        new_handle(self, pf_area_at(self->dictionary, self->nhandles),
                   &self->handles[self->nhandles]);
    if (status < 0)
      return status;
  }
  return PF_OK;
}


pf_status winidea_area_handle (winidea_writer *self, uint32_t number,
                               uint32_t *handle) {
  const pf_area *const area = pf_area_at(self->dictionary, number);
  pf_status status = PF_OK;
  if (number >= pf_areas_count(self->dictionary))
    return pf_refuse(self->error, "a row has an area that does not exist");
  if (area->has_handle)
    return check_handle(self, area->handle, number, handle);
  if (number < self->nis_assigned && self->is_assigned[number]) {
    *handle = self->handles[number];
    return PF_OK;
  }
  /* The variable of a state gets a row, too. A state as parent does not: a ring
     may state chains of any length, for which the stack is too small. */
  if (is_state(self, area) && area->parent != PF_NO_AREA &&
      !is_state(self, pf_area_at(self->dictionary, area->parent)))
    status = winidea_area_handle(self, area->parent, handle);
  if (status >= 0)
    status = assign_handles(self, number);
  if (status >= 0)
    status = note_assigned(self, number);
  if (status < 0)
    return status;
  if (!pf_grow(&self->assigned, &self->assigned_capacity,
               (size_t)self->nassigned + 1) ||
      !pf_grow_filled(&self->is_assigned, &self->nis_assigned,
                      (size_t)number + 1, false))
    return pf_no_memory(self->error);
  *handle = self->handles[number];
  self->assigned[self->nassigned++] = number;
  self->is_assigned[number] = true;
  return PF_OK;
}


pf_status winidea_row_handle (winidea_writer *self, const pf_batch *batch,
                              size_t handle, size_t area, size_t row,
                              uint32_t *number) {
  if (pf_has_value(batch, handle, row))
    return check_handle(self, batch->columns[handle].addrs[row],
                        pf_id_at(batch, area, row), number);
  if (!pf_has_value(batch, area, row))
    return pf_refuse(self->error, "a row has no handle and no area");
  return winidea_area_handle(self, batch->columns[area].ids[row], number);
}


/* A variable whose states have been written. */
struct winidea_variable {
  bool has_begun; /* one of its states has been entered */
  bool has_gap;   /* its state was left, and no other has begun */
  int64_t value;
};

/* The variable with this handle, added if it is new. NULL when out of
   memory. */
static winidea_variable *variable_of (winidea_writer *self, uint32_t handle) {
  const uint32_t count = self->variables.count;
  const uint64_t word = handle;
  uint32_t id;
  if (!pf_grow(&self->variable_list, &self->variable_capacity,
               (size_t)count + 1) ||
      pf_id_table_words(&self->variables, &word, 1, &id) != PF_OK)
    return NULL;
  if (id == count)
    self->variable_list[id] = (winidea_variable){.has_gap = false};
  return &self->variable_list[id];
}


static pf_status refuse (const winidea_writer *self, uint32_t variable,
                         const char *what, int64_t time) {
  return pf_refuse(self->error,
                   "timeline_states = false: %s of variable %08X at %lld ns "
                   "cannot be expressed by writes",
                   what, (unsigned)variable, (long long)time);
}


/* Begins a state, or leaves one, unless another one has begun already. */
static void change_state (winidea_writer *self, winidea_variable *variable,
                          const winidea_event *event, bool begins) {
  if (begins) {
    self->ngaps -= variable->has_gap;
    variable->has_gap = false;
    variable->has_begun = true;
    variable->value = event->data;
  }
  else if (!event->has_value || event->data == variable->value) {
    self->ngaps += !variable->has_gap; /* another one must begin now */
    variable->has_gap = true;
    self->gap_time = event->time;
    self->gap_variable = event->handle;
  }
}


pf_status winidea_write_as_variable (winidea_writer *self,
                                     const pf_batch *batch, size_t row,
                                     winidea_event *event, bool *is_written) {
  const unsigned type = event->type;
  if (self->ngaps > 0 && event->time > self->gap_time)
    return refuse(self, self->gap_variable, "time without a state",
                  self->gap_time);
  if (!winidea_is_state(event->handle))
    return PF_OK;
  uint32_t handle = event->handle - WINIDEA_KIND_STEP;
  const uint32_t area = pf_id_at(batch, TIMELINE_area, row);
  const uint32_t parent = area == PF_NO_AREA
                              ? PF_NO_AREA
                              : pf_area_at(self->dictionary, area)->parent;
  const pf_status status =
      parent == PF_NO_AREA ? PF_OK : winidea_area_handle(self, parent, &handle);
  if (status < 0)
    return status;
  winidea_variable *const variable = variable_of(self, handle);
  if (variable == NULL)
    return pf_no_memory(self->error);
  event->handle = handle;
  event->type = WINIDEA_WRITE;
  *is_written = type >= WINIDEA_ENTER;
  if (*is_written && !event->has_value)
    return refuse(self, handle, "a state without a value", event->time);
  if (!*is_written && type != 0)
    return refuse(self, handle, "a suspended state", event->time);
  if (!*is_written && !variable->has_begun)
    return refuse(self, handle, "a state without a begin", event->time);
  /* a write of the value that a variable has begins no state */
  if (*is_written && variable->has_begun && event->data == variable->value &&
      (type == WINIDEA_ENTER || variable->has_gap))
    return refuse(self, handle, "a state entered again", event->time);
  change_state(self, variable, event, *is_written);
  return PF_OK;
}


pf_status winidea_check_states_end (const winidea_writer *self) {
  return self->ngaps > 0 && self->end > self->gap_time
             ? refuse(self, self->gap_variable, "time without a state",
                      self->gap_time)
             : PF_OK;
}
