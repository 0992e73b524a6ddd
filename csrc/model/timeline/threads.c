/*
** threads.c - threads and their names. A name is that of the process, if there
** are several, and that of the thread; lanes that would have the same name get
** both numbers.
*/

#include "model/timeline/threads.h"

#include <stdio.h>
#include <stdlib.h>

#include "model/base/memory.h"


void pf_threads_init (pf_threads *self) {
  pf_id_table_init(&self->known);
  pf_id_table_init(&self->pids);
}


void pf_threads_free (pf_threads *self) {
  pf_id_table_free(&self->known);
  pf_id_table_free(&self->pids);
  free(self->lanes);
  free(self->processes);
}


bool pf_thread_of (pf_threads *self, uint64_t word, const pf_thread *lane,
                   uint32_t *id) {
  const uint32_t count = self->known.count;
  const uint64_t pid = lane->pid;
  uint32_t process;
  if (pf_id_table_words(&self->known, &word, 1, id) != PF_OK)
    return false;
  if (self->known.count == count)
    return true;
  if (!pf_grow(&self->lanes, &self->capacity, self->known.count) ||
      pf_id_table_words(&self->pids, &pid, 1, &process) != PF_OK)
    return false;
  self->lanes[*id] = (pf_thread){.pid = lane->pid,
                                 .tid = lane->tid,
                                 .title = PF_NO_NAME,
                                 .process = PF_NO_NAME,
                                 .name = PF_NO_NAME,
                                 .is_work = lane->is_work};
  return true;
}


bool pf_threads_set_process (pf_threads *self, uint32_t pid, uint32_t name) {
  const uint64_t word = pid;
  uint32_t process;
  if (pf_id_table_words(&self->pids, &word, 1, &process) != PF_OK ||
      !pf_grow_filled(&self->processes, &self->process_capacity,
                      (size_t)process + 1, 0xFF))
    return false;
  self->processes[process] = name;
  return true;
}


/* The name of the process of a lane; PF_NO_NAME when out of memory. */
static uint32_t name_process (const pf_threads *self, pf_dictionary *d,
                              const pf_thread *lane) {
  const uint32_t process = pf_id_table_find(&self->pids, lane->pid);
  char text[64];
  if (process < self->process_capacity &&
      self->processes[process] != PF_NO_NAME)
    return self->processes[process];
  const pf_bytes pid = pf_name(d, lane->pid);
  if (pid.size == 0)
    return pf_intern_text(d, "(no process)");
  snprintf(text, sizeof text, "process %.*s", PF_SHOWN(pid, 40));
  return pf_intern_text(d, text);
}


/* The name of a lane: that of its process, if there are several, and of its
   thread; with both numbers if `is_exact`. PF_NO_NAME when out of memory. */
static uint32_t name_lane (pf_dictionary *d, const pf_thread *lane,
                           bool is_exact) {
  const pf_bytes pid = pf_name(d, lane->pid), tid = pf_name(d, lane->tid);
  char text[512];
  int used = 0;
  if (lane->process != PF_NO_NAME)
    used = snprintf(text, sizeof text, "%.*s/",
                    PF_SHOWN(pf_name(d, lane->process), 200));
  const size_t left = sizeof text - (size_t)used;
  if (lane->title != PF_NO_NAME)
    used += snprintf(text + used, left, "%.*s",
                     PF_SHOWN(pf_name(d, lane->title), 200));
  else if (tid.size > 0)
    used += snprintf(text + used, left, "thread %.*s", PF_SHOWN(tid, 40));
  else
    used += snprintf(text + used, left, "(no thread)");
  if (is_exact)
    snprintf(text + used, sizeof text - (size_t)used, " (%.*s %.*s)",
             PF_SHOWN(pid, 20), PF_SHOWN(tid, 20));
  return pf_intern_text(d, text);
}


pf_status pf_threads_set_names (pf_threads *self, pf_dictionary *d,
                                pf_error *error) {
  pf_id_table names;
  uint32_t *const firsts = /* by name: the first lane that has it */
      pf_array_of_zeros(self->known.count, sizeof *firsts);
  pf_status status = PF_OK;
  if (firsts == NULL)
    return pf_no_memory(error);
  pf_id_table_init(&names);
  for (uint32_t i = 0; i < self->known.count && status == PF_OK; i++) {
    pf_thread *const lane = &self->lanes[i];
    const uint32_t count = names.count;
    uint32_t id;
    if (self->pids.count > 1)
      lane->process = name_process(self, d, lane);
    lane->name = name_lane(d, lane, false);
    const uint64_t word = lane->name;
    if (lane->is_work)
      continue;
    if (lane->name == PF_NO_NAME ||
        pf_id_table_words(&names, &word, 1, &id) != PF_OK)
      status = pf_no_memory(error);
    else if (names.count > count)
      firsts[id] = i;
    else {
      pf_thread *const first = &self->lanes[firsts[id]];
      lane->name = name_lane(d, lane, true);
      first->name = name_lane(d, first, true);
    }
  }
  free(firsts);
  pf_id_table_free(&names);
  return status;
}
