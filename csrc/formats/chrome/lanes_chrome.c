/*
** lanes_chrome.c - the lanes of a file: threads, and work that has an id.
**
** Used by items_chrome.c. The lanes belong to the chrome_file; texts are
** borrowed from the source.
*/

#include "formats/chrome/chrome.h"

#define WORK_LANE (UINT64_C(1) << 63) /* in the word of a lane: has an id */

/* Sets the word of work with an id: process and category, and the id. */
static pf_status work_word (pf_trace *trace, const chrome_event *event,
                            uint32_t pid, uint64_t *word, pf_error *error) {
  chrome_file *const file = trace->state;
  uint32_t category, name, group;
  pf_status status = pf_intern_json(
      trace->dictionary, &event->texts[CHROME_CATEGORY], &category, error);
  if (status == PF_OK)
    status = pf_intern_json(trace->dictionary, &event->texts[CHROME_ID], &name,
                            error);
  if (status != PF_OK)
    return status;
  const uint64_t pair = (uint64_t)pid << 32 | category;
  if (pf_id_table_words(&file->works, &pair, 1, &group) != PF_OK)
    return pf_no_memory(error);
  *word = WORK_LANE | (uint64_t)group << 32 | name;
  return PF_OK;
}


pf_status chrome_lane_of (pf_trace *trace, const chrome_event *event,
                          uint32_t *lane, pf_error *error) {
  chrome_file *const file = trace->state;
  pf_dictionary *const d = trace->dictionary;
  const pf_json *const texts = event->texts;
  pf_thread new = {.tid = PF_NO_NAME, .is_work = chrome_is_work(event->phase)};
  if (!new.is_work &&
      file->last_lane !=
          PF_NO_ID &&pf_bytes_equal(texts[CHROME_TID].text, file->last_tid) &&
      pf_bytes_equal(texts[CHROME_PID].text, file->last_pid)) {
    *lane = file->last_lane;
    return PF_OK;
  }
  pf_status status = pf_intern_json(d, &texts[CHROME_PID], &new.pid, error);
  if (status == PF_OK && !new.is_work)
    status = pf_intern_json(d, &texts[CHROME_TID], &new.tid, error);
  uint64_t word = (uint64_t)(new.pid &INT32_MAX) << 32 | new.tid;
  if (status == PF_OK && new.is_work)
    status = work_word(trace, event, new.pid, &word, error);
  if (status != PF_OK)
    return status;
  if (!pf_thread_of(&file->lanes, word, &new, lane))
    return pf_no_memory(error);
  if (new.is_work)
    return PF_OK;
  file->last_lane = *lane;
  file->last_pid = texts[CHROME_PID].text;
  file->last_tid = texts[CHROME_TID].text;
  return PF_OK;
}


pf_status chrome_take_metadata (pf_trace *trace, const chrome_event *event,
                                pf_error *error) {
  chrome_file *const file = trace->state;
  const pf_json *const texts = event->texts;
  const pf_bytes kind = texts[CHROME_NAME].text;
  const bool is_thread = pf_bytes_equal(kind, pf_bytes_of("thread_name"));
  uint32_t name, id;
  pf_json value;
  if ((!is_thread && !pf_bytes_equal(kind, pf_bytes_of("process_name"))) ||
      texts[CHROME_ARGS].kind != PF_JSON_OBJECT ||
      !pf_json_member(texts[CHROME_ARGS].text, pf_bytes_of("name"), &value))
    return PF_OK;
  pf_status status = pf_intern_json(trace->dictionary, &value, &name, error);
  if (status == PF_OK)
    status = is_thread ? chrome_lane_of(trace, event, &id, error)
                       : pf_intern_json(trace->dictionary, &texts[CHROME_PID],
                                        &id, error);
  if (status != PF_OK)
    return status;
  if (is_thread)
    file->lanes.lanes[id].title = name;
  return is_thread || pf_threads_set_process(&file->lanes, id, name)
             ? PF_OK
             : pf_no_memory(error);
}
