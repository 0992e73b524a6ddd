/*
** lanes_chrome.c - the lanes of a file: threads, and work that has an id.
**
** Used by items_chrome.c. The lanes belong to the chrome_file; texts are
** borrowed from the source.
*/

#include <stdio.h>
#include <stdlib.h>

#include "formats/chrome/chrome.h"
#include "model/base/memory.h"

#define WORK_LANE (UINT64_C(1) << 63) /* in the word of a lane: has an id */

void chrome_lanes_init (chrome_lanes *self) {
  pf_id_table_init(&self->known);
  pf_id_table_init(&self->works);
  pf_id_table_init(&self->pids);
  self->last = UINT32_MAX;
}


void chrome_lanes_free (chrome_lanes *self) {
  pf_id_table_free(&self->known);
  pf_id_table_free(&self->works);
  pf_id_table_free(&self->pids);
  free(self->lanes);
  free(self->processes);
}


/* {====== Lanes of events ====== */

/* Sets the word of work with an id: process and category, and the id. */
static pf_status work_word (chrome_lanes *self, pf_trace *trace,
                            const chrome_event *event, uint32_t pid,
                            uint64_t *word, pf_error *error) {
  uint32_t category, name, group;
  pf_status status = pf_intern_json(
      trace->dictionary, &event->texts[CHROME_CATEGORY], &category, error);
  if (status == PF_OK)
    status = pf_intern_json(trace->dictionary, &event->texts[CHROME_ID], &name,
                            error);
  if (status != PF_OK)
    return status;
  const uint64_t pair = (uint64_t)pid << 32 | category;
  if (pf_id_table_words(&self->works, &pair, 1, &group) != PF_OK)
    return pf_no_memory(error);
  *word = WORK_LANE | (uint64_t)group << 32 | name;
  return PF_OK;
}


/* Sets *lane to the lane of a word, which is added if it is new. */
static pf_status lane_of_word (chrome_lanes *self, uint64_t word, uint32_t pid,
                               uint32_t tid, uint32_t *lane, pf_error *error) {
  const uint32_t count = self->known.count;
  uint32_t process;
  if (pf_id_table_words(&self->known, &word, 1, lane) != PF_OK)
    return pf_no_memory(error);
  if (self->known.count == count)
    return PF_OK;
  const uint64_t wide = pid;
  if (!pf_grow(&self->lanes, &self->capacity, self->known.count) ||
      pf_id_table_words(&self->pids, &wide, 1, &process) != PF_OK)
    return pf_no_memory(error);
  self->lanes[*lane] = (chrome_lane){.pid = pid,
                                     .tid = tid,
                                     .title = PF_NO_NAME,
                                     .name = PF_NO_NAME,
                                     .process = PF_NO_NAME,
                                     .is_work = word >= WORK_LANE,
                                     .start = INT64_MIN,
                                     .end = INT64_MIN};
  return PF_OK;
}


pf_status chrome_lane_of (chrome_lanes *self, pf_trace *trace,
                          const chrome_event *event, uint32_t *lane,
                          pf_error *error) {
  const bool is_work = chrome_is_work(event->phase);
  uint32_t pid, tid = PF_NO_NAME;
  if (!is_work && self->last != UINT32_MAX &&
      pf_bytes_equal(event->texts[CHROME_TID].text, self->last_tid) &&
      pf_bytes_equal(event->texts[CHROME_PID].text, self->last_pid)) {
    *lane = self->last;
    return PF_OK;
  }
  pf_status status =
      pf_intern_json(trace->dictionary, &event->texts[CHROME_PID], &pid, error);
  if (status == PF_OK && !is_work)
    status = pf_intern_json(trace->dictionary, &event->texts[CHROME_TID], &tid,
                            error);
  uint64_t word = (uint64_t)(pid & INT32_MAX) << 32 | tid;
  if (status == PF_OK && is_work)
    status = work_word(self, trace, event, pid, &word, error);
  if (status == PF_OK)
    status = lane_of_word(self, word, pid, tid, lane, error);
  if (status != PF_OK || is_work)
    return status;
  self->last = *lane;
  self->last_pid = event->texts[CHROME_PID].text;
  self->last_tid = event->texts[CHROME_TID].text;
  return PF_OK;
}


/* }====== */

/* {====== Names ====== */

pf_status chrome_take_metadata (chrome_lanes *self, pf_trace *trace,
                                const chrome_event *event, pf_error *error) {
  const pf_bytes kind = event->texts[CHROME_NAME].text;
  const bool is_thread = pf_bytes_equal(kind, pf_bytes_of("thread_name"));
  uint32_t name, lane, pid, process;
  pf_json value;
  if ((!is_thread && !pf_bytes_equal(kind, pf_bytes_of("process_name"))) ||
      event->texts[CHROME_ARGS].kind != PF_JSON_OBJECT ||
      !pf_json_member(event->texts[CHROME_ARGS].text, pf_bytes_of("name"),
                      &value))
    return PF_OK;
  pf_status status = pf_intern_json(trace->dictionary, &value, &name, error);
  if (status == PF_OK && is_thread) {
    status = chrome_lane_of(self, trace, event, &lane, error);
    if (status == PF_OK)
      self->lanes[lane].title = name;
    return status;
  }
  if (status == PF_OK)
    status = pf_intern_json(trace->dictionary, &event->texts[CHROME_PID], &pid,
                            error);
  if (status != PF_OK)
    return status;
  const uint64_t wide = pid;
  if (pf_id_table_words(&self->pids, &wide, 1, &process) != PF_OK ||
      !pf_grow_filled(&self->processes, &self->process_capacity,
                      (size_t)process + 1, 0xFF))
    return pf_no_memory(error);
  self->processes[process] = name;
  return PF_OK;
}


/* The name of the process of a lane; PF_NO_NAME when out of memory. */
static uint32_t name_process (const chrome_lanes *self, pf_dictionary *d,
                              const chrome_lane *lane) {
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
static uint32_t name_lane (pf_dictionary *d, const chrome_lane *lane,
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


pf_status chrome_name_lanes (chrome_lanes *self, pf_dictionary *d,
                             pf_error *error) {
  pf_id_table names;
  uint32_t *const firsts = /* by name: the first lane that has it */
      pf_array_of_zeros(self->known.count, sizeof *firsts);
  pf_status status = PF_OK;
  if (firsts == NULL)
    return pf_no_memory(error);
  pf_id_table_init(&names);
  for (uint32_t i = 0; i < self->known.count && status == PF_OK; i++) {
    chrome_lane *const lane = &self->lanes[i];
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
      chrome_lane *const first = &self->lanes[firsts[id]];
      lane->name = name_lane(d, lane, true);
      first->name = name_lane(d, first, true);
    }
  }
  free(firsts);
  pf_id_table_free(&names);
  return status;
}


/* }====== */
