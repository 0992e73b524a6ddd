/*
** put_events.c - writes what the hooks see: as rows of a table into the ring
** of a writer, or as sums into contexts.
**
** Used by hooks.c, lua_lanes.c, timer.c and recorder.c, partly through inlined
** functions of fast_events.h. It owns nothing: writer and contexts are borrowed
** from the recorder.
*/

#include <stdio.h>
#include <string.h>

#include "lua/arguments.h"
#include "lua/recorder/fast_events.h"
#include "lua/recorder/sampling.h"
#include "lua/writer/written.h"
#include "model/writer/ring_encoder.h"


/* The values of a record are in the order of the table's columns. Raises if the
   writer has no table of this name. */
static l_layout layout_of (lua_State *L, const pf_writer *writer,
                           const char *name, const char *const *columns,
                           size_t count) {
  size_t number = 0, ntables, at[L_LAYOUT_MAX];
  uint32_t mask = 0;
  const pf_table *const tables = pf_writer_tables(writer, &ntables);
  while (number < ntables && strcmp(tables[number].name, name) != 0)
    number++;
  if (number == ntables)
    luaL_error(L, "the format has no table '%s'", name);
  const pf_table *const table = &tables[number];
  l_layout layout = {.tag = 0};
  for (size_t i = 0; i < count; i++) {
    at[i] = pf_field_index(table->fields, table->nfields, columns[i]);
    if (at[i] == table->nfields)
      l_no_column(L, table, columns[i]);
    mask |= 1u << at[i];
  }
  for (size_t i = 0; i < count; i++)
    layout.at[i] = (uint8_t)pf_tag_word(mask, at[i]);
  layout.tag = pf_tag(number, mask);
  return layout;
}


/* Prepares the records that distinguish the lanes with the number of the last
   core; winidea reads the variable of this name. */
static void prepare_switches (lua_State *L, l_recorder *r) {
  static const char *const columns[] = {"time", "event", "area", "core",
                                        "value"};
  pf_area area = PF_AREA_NONE;
  r->switch_layout =
      layout_of(L, r->writer, "timeline", columns, L_SWITCH_WORDS);
  area.name = pf_intern_text(r->dictionary, "profio.coroutine");
  area.class = pf_intern_text(r->dictionary, "variable");
  r->switch_code = pf_intern_text(r->dictionary, "write");
  r->switch_area = area.name == PF_NO_NAME || area.class == PF_NO_NAME
                       ? PF_NO_AREA
                       : pf_area_add(r->dictionary, &area);
  if (r->switch_area == PF_NO_AREA || r->switch_code == PF_NO_NAME)
    l_no_memory(L);
}


/* Prepares mode "calls" for the table `timeline`, which has areas and all four
   events, or `entries`, which has names, enters and leaves. */
static void prepare_calls (lua_State *L, l_recorder *r, bool has_timeline) {
  static const char *const timeline[] = {"time", "event", "area", "core"};
  static const char *const entries[] = {"time", "op", "call", "thread"};
  static const char *const words[] = {"enter", "leave", "suspend", "resume"};
  static const char *const ops[] = {"i", "o"};
  r->layout = has_timeline
                  ? layout_of(L, r->writer, "timeline", timeline, L_EVENT_WORDS)
                  : layout_of(L, r->writer, "entries", entries, L_EVENT_WORDS);
  r->max_lanes = has_timeline ? 255 : UINT32_MAX;
  r->shared_number = L_NO_ID;
  if (has_timeline)
    prepare_switches(L, r);
  r->max_name = has_timeline ? 255 : 80; /* as recorder.lua asks for */
  for (int i = 0; i < 4; i++) {
    r->event_codes[i] = PF_NO_NAME;
    if (!has_timeline && i >= 2)
      continue;
    r->event_codes[i] =
        pf_intern_text(r->dictionary, has_timeline ? words[i] : ops[i]);
    if (r->event_codes[i] == PF_NO_NAME)
      l_no_memory(L);
  }
}


void l_put_prepare (lua_State *L, l_recorder *r) {
  static const char *const lines[] = {"spent", "stack"};
  static const char *const samples[] = {"stack"};
  size_t count;
  const pf_table *const tables = pf_writer_tables(r->writer, &count);
  bool has_timeline = false;
  for (size_t i = 0; i < count; i++)
    has_timeline |= strcmp(tables[i].name, "timeline") == 0;
  switch (r->mode) {
    case L_TIMED:
      r->layout = layout_of(L, r->writer, "samples", lines, L_LINE_WORDS);
      break;
    case L_SAMPLED:
      r->layout = layout_of(L, r->writer, "samples", samples, L_SAMPLE_WORDS);
      break;
    default: prepare_calls(L, r, has_timeline);
  }
}


L_COLD void l_put_check_size (l_recorder *r) {
  if (r->warn_at == 0 || r->is_probe || r->writer == NULL ||
      r->writer->ring.header == NULL) /* a copy of the process */
    return;
  const pf_checkpoint at = pf_ring_checkpoint(r->writer->ring.header);
  uint64_t size = 0;
  for (size_t i = 0; i < PF_RING_FILES; i++)
    size += at.lengths[i];
  if (size < (uint64_t)r->warn_at)
    return;
  fprintf(
      stderr,
      "profio.recorder: the recording has %.3f GB after %.1f s, and goes on "
      "to grow; mode sampled writes some KB, aggregate only sums\n",
      (double)size / 1e9, (double)(l_now(r) - r->start) / 1e9);
  r->warn_at = 0;
}


L_COLD uint64_t *l_put_begin_general (l_recorder *r, size_t words) {
  pf_error error;
  if (r->writer == NULL || r->error.status != PF_OK)
    return NULL;
  pf_status status = PF_OK;
  if (!r->is_probe)
    status = pf_writer_failure(r->writer, &error);
  if (status == PF_OK && r->fast_writer == NULL && !r->is_probe)
    status = pf_writer_journal(r->writer, &error);
  if (status != PF_OK) {
    l_recorder_fail(r, status, error.what);
    return NULL;
  }
  r->fast_writer = r->writer;
  l_put_check_size(r);
  if (pf_ring_has_space(&r->writer->ring, words))
    return pf_writer_begin(r->writer, words);
  /* Wait for space. Where costs are subtracted, waiting is part of the time
     inside the hook; otherwise it is added to the overhead here. */
  const int64_t before = l_now(r);
  uint64_t *const record = pf_writer_begin(r->writer, words);
  const int64_t waited = l_now(r) - before;
  r->waited += waited;
  if (!r->has_costs)
    r->overhead += waited;
  return record;
}


/* Returns the call path of a frame's line below the path of its callers.
   L_NO_ID: out of memory; recording has ended. */
static uint32_t path_below (l_recorder *r, uint32_t below, l_frame *f) {
  const uint32_t area = l_line_area(r, f->function, f->line);
  uint32_t path = L_NO_ID;
  if (area != PF_NO_AREA && r->contexts != NULL)
    path = pf_context_of(r->contexts, below, area);
  else if (area != PF_NO_AREA)
    path = pf_stack_push(r->dictionary, below, area);
  if (path == L_NO_ID)
    l_recorder_fail(r, PF_ENOMEM, "out of memory");
  if (r->contexts == NULL)
    l_put_changed(r);
  return path;
}


/* Returns the path of the outermost `count` frames. Usually they have it. */
static uint32_t callers_of (l_recorder *r, const l_lane *lane, size_t count) {
  size_t i = count;
  while (i > 0 && lane->frames[i - 1].path == L_NO_ID)
    i--;
  uint32_t path = lane->base;
  if (i > 0)
    path = lane->frames[i - 1].path;
  for (; i < count && r->error.status == PF_OK; i++) {
    if (!lane->frames[i].is_hidden)
      path = path_below(r, path, &lane->frames[i]);
    lane->frames[i].path = path;
  }
  return path;
}


/* Returns the call path of a frame's line. For stacks deeper than r->depth the
   frames in the middle are omitted. */
static uint32_t path_of (l_recorder *r, const l_lane *lane, l_frame *f) {
  const size_t above = (size_t)(f - lane->frames);
  const size_t max = r->depth - 1 + lane->frames[0].is_hidden;
  if (f->path == L_NO_ID)
    f->path = path_below(r, callers_of(r, lane, above < max ? above : max), f);
  return f->path;
}


void l_put_open (l_recorder *r, const l_lane *lane, l_frame *f) {
  if (f->is_hidden || !f->has_line || r->error.status != PF_OK)
    return;
  const uint32_t path = path_of(r, lane, f);
  if (r->error.status != PF_OK)
    return;
  pf_context_add(r->contexts, path, 0, f->spent);
  pf_context_add(r->contexts, path, 1, f->is_new);
  f->spent = 0;
  f->is_new = false;
}


uint32_t l_put_running (l_recorder *r) {
  const l_lane *const lane = r->running;
  const size_t count = lane == NULL ? 0 : l_lane_count(lane);
  const uint32_t path =
      count == 0 ? 0 : callers_of(r, lane, count < r->depth ? count : r->depth);
  return path == 0 ? L_NO_ID : path;
}


void l_put_line (l_recorder *r, const l_lane *lane, l_frame *f) {
  if (r->mode == L_MEMORY)
    return;
  const bool has_path = r->mode == L_AGGREGATE || r->has_callers;
  const uint32_t stack =
      has_path ? path_of(r, lane, f) : l_line_area(r, f->function, f->line);
  if (r->mode == L_AGGREGATE) { /* adds to the context of the call path */
    if (r->error.status != PF_OK)
      return;
    pf_context_add(r->contexts, stack, 0, f->spent);
    pf_context_add(r->contexts, stack, 1, f->is_new);
    if (r->by_line)
      pf_context_add(r->contexts, stack, 2, 1);
    f->is_new = false;
    r->events++;
    return;
  }
  uint64_t *const record = l_put_begin(r, L_LINE_WORDS);
  if (record == NULL)
    return;
  record[r->layout.at[0]] = (uint64_t)f->spent;
  record[r->layout.at[1]] = stack;
  l_put_commit(r, record, L_LINE_WORDS);
}


L_COLD uint32_t l_put_function (l_recorder *r, l_function *f) {
  const bool has_areas = r->event_codes[L_SUSPEND] != PF_NO_NAME;
  f->record_id = has_areas ? l_line_area(r, f, f->key.first) : f->name;
  return f->record_id;
}


L_COLD void l_put_switch (l_recorder *r, const l_lane *lane) {
  uint64_t *const record = l_put_begin(r, L_SWITCH_WORDS);
  if (record == NULL)
    return;
  const uint8_t *const at = r->switch_layout.at;
  record[at[0]] = (uint64_t)r->program_time;
  record[at[1]] = r->switch_code;
  record[at[2]] = r->switch_area;
  record[at[3]] = lane->recorded;
  record[at[4]] = lane->number;
  r->shared_number = lane->number;
  r->events++;
  pf_writer_commit(r->writer, record, L_SWITCH_WORDS, r->switch_layout.tag);
}


void l_put_suspended (l_recorder *r, const l_lane *lane, bool suspended) {
  const l_event_code code = suspended ? L_SUSPEND : L_RESUME;
  if (lane->top->has_enter && r->event_codes[code] != PF_NO_NAME)
    l_put_event(r, lane, code, lane->top);
}


void l_put_sample (l_recorder *r, uint32_t stack, uint64_t count) {
  for (; count > 0; count--) {
    uint64_t *const record = l_put_begin(r, L_SAMPLE_WORDS);
    if (record == NULL)
      return;
    record[r->layout.at[0]] = stack;
    l_put_commit(r, record, L_SAMPLE_WORDS);
  }
}
