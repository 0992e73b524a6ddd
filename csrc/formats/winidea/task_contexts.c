/*
** task_contexts.c - finds the context of each event. A row of Text1 may name
** it; in a binary timeline it is the value last written on the core of the
** event to a variable of option context_area, or the state of it that was last
** entered.
**
** A context runs on two cores at once if core B begins to run it while core A
** still does. Then the events of the two cores lie on two stacks, so it has a
** lane for each core; context_scan.c finds those before the first event is
** read. A context that moves from core to core keeps one lane.
*/

#include "formats/winidea/task_contexts.h"

#include <stdio.h>
#include <stdlib.h>

#include "formats/winidea/decode.h"
#include "formats/winidea/text1.h"
#include "model/base/memory.h"
#include "model/dictionary/names.h"


void winidea_contexts_init (winidea_contexts *c) {
  pf_id_table_init(&c->ids);
  pf_id_table_init(&c->at_once);
  c->core = WINIDEA_NO_CORE;
}


void winidea_contexts_free (winidea_contexts *c) {
  pf_id_table_free(&c->ids);
  pf_id_table_free(&c->at_once);
  free(c->names);
  free(c->switches);
}


/* {====== The variables of option context_area ====== */

/* Whether a text matches a pattern in which `*` stands for any text. */
static bool matches (pf_bytes pattern, pf_bytes text) {
  size_t p = 0, t = 0, star = SIZE_MAX, from = 0;
  while (t < text.size) {
    if (p < pattern.size && pattern.at[p] == '*') {
      star = p++;
      from = t;
    }
    else if (p < pattern.size && pattern.at[p] == text.at[t]) {
      p++;
      t++;
    }
    else if (star != SIZE_MAX) {
      p = star + 1;
      t = ++from;
    }
    else
      return false;
  }
  while (p < pattern.size && pattern.at[p] == '*')
    p++;
  return p == pattern.size;
}


/* Adds the variable of a handle, which may be that of its states. */
static pf_status add_switch (winidea_file *file, uint32_t handle) {
  winidea_contexts *const c = &file->contexts;
  winidea_switch added = {.variable = handle, .core = WINIDEA_NO_CORE};
  if (winidea_is_state(handle)) {
    const winidea_handle_info *const info =
        winidea_find_handle(&file->areas, handle);
    added.states = handle;
    added.variable = info != NULL && info->variable != WINIDEA_NO_ENTRY
                         ? file->areas.list[info->variable].handle
                         : handle - WINIDEA_KIND_STEP;
  }
  else {
    const winidea_entry *const entry = winidea_first_entry(file, handle);
    added.states = entry != NULL && entry->states != WINIDEA_NO_HANDLE
                       ? entry->states
                       : handle + WINIDEA_KIND_STEP;
  }
  for (size_t i = 0; i < c->nswitches; i++)
    if (c->switches[i].variable == added.variable)
      return PF_OK;
  if (!pf_grow(&c->switches, &c->switches_capacity, c->nswitches + 1))
    return PF_ENOMEM;
  c->switches[c->nswitches++] = added;
  c->filter |=
      UINT64_C(1) << (added.variable & 63) | UINT64_C(1) << (added.states & 63);
  return PF_OK;
}


/* Adds the variables that an item of the option stands for. */
static pf_status add_switches (pf_trace *trace, pf_bytes item, bool *is_found,
                               pf_error *error) {
  winidea_file *const file = trace->state;
  uint32_t handle;
  pf_status status = PF_OK;
  *is_found = false;
  for (uint32_t i = 0; i < file->areas.count && status == PF_OK; i++) {
    const winidea_entry *const entry = &file->areas.list[i];
    if (entry->name == PF_NO_NAME ||
        winidea_kind(entry->handle) < WINIDEA_VARIABLE ||
        !matches(item, pf_name(trace->dictionary, entry->name)))
      continue;
    *is_found = true;
    status = add_switch(file, entry->handle);
  }
  if (!*is_found && winidea_read_handle(item, &handle)) {
    *is_found = true;
    status = add_switch(file, handle);
  }
  return status == PF_OK ? PF_OK : pf_no_memory(error);
}


/* Without the option: the variable by which the recorder distinguishes
   coroutines that share the number of a core. */
static pf_status find_recorded (pf_trace *trace, pf_error *error) {
  const winidea_file *const file = trace->state;
  bool is_found;
  return file->timeline == NULL
             ? PF_OK
             : add_switches(trace, pf_bytes_of("profio.coroutine"), &is_found,
                            error);
}


pf_status winidea_find_switches (pf_trace *trace, pf_error *error) {
  const winidea_file *const file = trace->state;
  pf_bytes text;
  bool is_found;
  if (!pf_option_text(trace, "context_area", &text) || text.size == 0)
    return find_recorded(trace, error);
  pf_status status =
      file->text == NULL ? PF_OK : winidea_scan_all(trace, error);
  if (status == PF_OK) /* a name may contain commas */
    status = add_switches(trace, text, &is_found, error);
  while (status == PF_OK && !is_found && text.size > 0) {
    const uint8_t *const comma = memchr(text.at, ',', text.size);
    const size_t size =
        comma == NULL ? text.size : (size_t)(comma - text.at) + 1;
    const pf_bytes item = pf_trim((pf_bytes){text.at, size - (comma != NULL)});
    text = (pf_bytes){text.at + size, text.size - size};
    status = add_switches(trace, item, &is_found, error);
    if (status == PF_OK && !is_found)
      return pf_refuse(error, "context_area: no variable is called %.*s",
                       PF_SHOWN(item, 60));
    is_found = text.size == 0;
  }
  return status;
}


const winidea_switch *winidea_switch_of (const winidea_contexts *c,
                                         uint32_t handle) {
  if ((c->filter >> (handle & 63) & 1) == 0)
    return NULL;
  for (size_t i = 0; i < c->nswitches; i++)
    if (c->switches[i].variable == handle || c->switches[i].states == handle)
      return &c->switches[i];
  return NULL;
}

/* }====== */


/* {====== Names ====== */

uint32_t winidea_context_of (const pf_trace *trace, pf_bytes text) {
  const winidea_file *const file = trace->state;
  const winidea_contexts *const c = &file->contexts;
  const uint32_t name = pf_intern(trace->dictionary, text);
  uint32_t handle;
  const uint32_t id = winidea_read_handle(text, &handle)
                          ? pf_id_table_find(&c->ids, handle)
                          : PF_NO_ID;
  if (id == PF_NO_ID || c->names[id] == PF_NO_NAME)
    return name;
  for (uint32_t i = 0; i < c->ids.count; i++)
    if (c->names[i] == name)
      return name;
  return c->names[id];
}


/* The name of the context that a value of a variable stands for: that of
   CONTEXTS, else that of the state; PF_NO_NAME if there is none, but a text if
   the file has no CONTEXTS. The caller holds the mutex. */
static pf_status name_of_value (const pf_trace *trace, const winidea_switch *s,
                                int64_t value, uint32_t *name) {
  const winidea_file *const file = trace->state;
  const winidea_contexts *const c = &file->contexts;
  const uint32_t id = pf_id_table_find(&c->ids, (uint64_t)value);
  *name = id == PF_NO_ID ? PF_NO_NAME : c->names[id];
  if (*name != PF_NO_NAME)
    return PF_OK;
  const winidea_entry *const state =
      winidea_find_state(&file->areas, s->states, true, value);
  if (state != NULL)
    *name = state->name;
  if (*name != PF_NO_NAME || c->ids.count > 0)
    return PF_OK;
  const winidea_entry *const entry = winidea_first_entry(file, s->variable);
  const pf_bytes of = entry == NULL || entry->name == PF_NO_NAME
                          ? pf_bytes_of("context")
                          : pf_name(trace->dictionary, entry->name);
  char text[128];
  snprintf(text, sizeof text, "%.*s=%lld", PF_SHOWN(of, 100), (long long)value);
  *name = pf_intern_text(trace->dictionary, text);
  return *name == PF_NO_NAME ? PF_ENOMEM : PF_OK;
}


/* The lane of a context on a core: its name, or with the core if it runs on
   several at once. The caller holds the mutex. */
static pf_status lane_of (const pf_trace *trace, winidea_tracker *t,
                          uint32_t name, unsigned core, uint32_t *lane) {
  const winidea_file *const file = trace->state;
  const uint64_t pair = (uint64_t)name << 8 | core;
  uint32_t id;
  *lane = name;
  if (name == PF_NO_NAME || core == WINIDEA_NO_CORE ||
      pf_id_table_find(&file->contexts.at_once, name) == PF_NO_ID)
    return PF_OK;
  if (pf_id_table_words(&t->known, &pair, 1, &id) != PF_OK ||
      !pf_grow_filled(&t->known_lanes, &t->capacity, (size_t)id + 1, 0xff))
    return PF_ENOMEM;
  if (t->known_lanes[id] == PF_NO_NAME) {
    char text[256];
    snprintf(text, sizeof text, "%.*s (core %u)",
             PF_SHOWN(pf_name(trace->dictionary, name), 200), core);
    t->known_lanes[id] = pf_intern_text(trace->dictionary, text);
  }
  *lane = t->known_lanes[id];
  return *lane == PF_NO_NAME ? PF_ENOMEM : PF_OK;
}

/* }====== */


/* {====== Tracking ====== */

pf_status winidea_note_contexts (pf_trace *trace, pf_error *error) {
  const winidea_file *const file = trace->state;
  const uint32_t count = file->contexts.ids.count;
  winidea_rowformat format;
  bool has_timeline = file->timeline != NULL;
  if (file->contexts.nswitches > 1 && !has_timeline && file->text != NULL)
    return pf_warn(trace, PF_NOTE, "winidea-unknown-core", PF_EFORMAT,
                   PF_NO_OFFSET, error,
                   "a timeline of Text1 states no cores: the contexts of %zu "
                   "variables are taken for those of one core",
                   file->contexts.nswitches);
  if (count < 2 || file->contexts.nswitches > 0)
    return PF_OK;
  for (size_t i = 0; i < file->nsections && !has_timeline; i++) {
    const winidea_section *const section = &file->sections[i];
    if (section->kind != WINIDEA_TIMELINE || !section->is_readable ||
        !winidea_compile(&format, section->format))
      continue;
    if (winidea_has_macro(&format, MACRO_CONTEXT))
      return PF_OK;
    has_timeline = true;
  }
  if (!has_timeline)
    return PF_OK;
  return pf_warn(trace, PF_NOTE, "winidea-no-contexts", PF_EFORMAT,
                 PF_NO_OFFSET, error,
                 "the file declares %u contexts, but its timeline states none: "
                 "%s, so gross and call times may be wrong",
                 count,
                 file->timeline != NULL ? "all tasks of a core share a stack"
                                        : "all tasks and cores share a stack");
}


void winidea_tracker_init (winidea_tracker *t) {
  memset(t->names, 0xff, sizeof t->names); /* PF_NO_NAME */
  memset(t->lanes, 0xff, sizeof t->lanes);
  pf_id_table_init(&t->known);
}


void winidea_tracker_free (winidea_tracker *t) {
  pf_id_table_free(&t->known);
  free(t->known_lanes);
}


/* The core for whose events a write to a variable counts. */
static unsigned core_written (const winidea_contexts *c,
                              const winidea_switch *s, unsigned core) {
  if (s->is_fixed || (core == WINIDEA_NO_CORE && s->core != WINIDEA_NO_CORE))
    return s->core;
  return core == WINIDEA_NO_CORE ? c->core : core;
}


pf_status winidea_track (winidea_decoder *self, const uint8_t *record,
                         size_t row, unsigned *at) {
  const winidea_contexts *const c = &self->file->contexts;
  const uint32_t handle = pf_load32le(record);
  const winidea_switch *const s = winidea_switch_of(c, handle);
  const bool is_state = winidea_is_state(handle);
  const unsigned type = pf_load32le(record + 4) >> self->shift & 15;
  *at = WINIDEA_CORES;
  if (s == NULL || (is_state && type < WINIDEA_ENTER))
    return PF_OK;
  const int64_t value =
      is_state && self->value_kinds[row] == WINIDEA_STATE_VALUE
          ? self->state_values[row]
          : winidea_data(record, self->layout.size);
  winidea_tracker *const t = &self->tracker;
  *at = core_written(c, s, winidea_core_of(self, record));
  pthread_mutex_lock(&self->file->mutex);
  pf_status status = name_of_value(self->trace, s, value, &t->names[*at]);
  if (status == PF_OK)
    status = lane_of(self->trace, t, t->names[*at], *at, &t->lanes[*at]);
  pthread_mutex_unlock(&self->file->mutex);
  t->has_any |= t->names[*at] != PF_NO_NAME;
  return status;
}


pf_status winidea_track_contexts (winidea_decoder *self, winidea_slice records,
                                  pf_error *error) {
  const uint32_t *const running = self->columns == winidea_events_columns
                                      ? self->tracker.lanes
                                      : self->tracker.names;
  for (size_t i = 0; i < records.count; i++) {
    const uint8_t *const record = records.at + i * records.size;
    unsigned at;
    if (winidea_track(self, record, i, &at) != PF_OK)
      return pf_no_memory(error);
    if (at == WINIDEA_CORES)
      at = winidea_known_core(self, record);
    self->contexts[i] = running[at];
  }
  return PF_OK;
}


pf_status winidea_note_untracked (pf_trace *trace, pf_error *error) {
  winidea_file *const file = trace->state;
  pf_bytes text;
  pf_status status = PF_OK;
  pthread_mutex_lock(&file->mutex);
  if (pf_option_text(trace, "context_area", &text) && text.size > 0)
    status = pf_warn(trace, PF_NOTE, "winidea-no-context", PF_EFORMAT,
                     PF_NO_OFFSET, error,
                     "no event got a context: %.*s is never written, or its "
                     "values are neither handles of CONTEXTS nor named states",
                     PF_SHOWN(text, 80));
  else if (file->contexts.ids.count > 1)
    status = pf_warn(trace, PF_NOTE, "winidea-no-context", PF_EFORMAT,
                     PF_NO_OFFSET, error,
                     "no event got a context: the context is empty in all rows "
                     "of the timeline");
  pthread_mutex_unlock(&file->mutex);
  return status;
}

/* }====== */
