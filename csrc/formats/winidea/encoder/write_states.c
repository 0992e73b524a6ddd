/*
** write_states.c - converts events of states to writes of their
** variables, as the vendor's program exports them without TimelineStates.
**
** A write begins a state and ends the one before. So from its first write on a
** variable always has a state, which is never suspended. Other sequences of
** events are refused.
*/


#include "formats/winidea/encoder/encode_winidea.h"
#include "model/base/memory.h"

/* A variable whose states have been written. */
struct winidea_variable {
  bool has_gap; /* its state was left, and no other has begun */
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
  const uint32_t area = pf_id_at(batch, TIMELINE_AREA, row);
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
  change_state(self, variable, event, *is_written);
  return PF_OK;
}


pf_status winidea_check_states_end (const winidea_writer *self) {
  return self->ngaps > 0 && self->end > self->gap_time
             ? refuse(self, self->gap_variable, "time without a state",
                      self->gap_time)
             : PF_OK;
}
