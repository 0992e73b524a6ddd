/*
** recorder_put.c - what is recorded, on its way out: rows of a table into the
** ring of a writer, or sums.
*/

#include <string.h>

#include "lua/recorder.h"


/* {====== Shapes ====== */

/* The table of a writer by its name. */
static const pf_table *table_of (lua_State *L, const pf_writer *writer,
                                 const char *name, size_t *number) {
  size_t count;
  const pf_table *const tables = pf_writer_tables(writer, &count);
  for (*number = 0; *number < count; (*number)++)
    if (strcmp(tables[*number].name, name) == 0)
      return &tables[*number];
  luaL_error(L, "the format has no table '%s'", name);
  return NULL;
}


/* Values lie in a record in the order of the table's columns. */
static l_shape shape_of (lua_State *L, const pf_writer *writer,
                         const char *name, const char *const *columns,
                         size_t count) {
  size_t number, at[L_SHAPE_MOST];
  uint32_t mask = 0;
  const pf_table *const table = table_of(L, writer, name, &number);
  l_shape shape = {.words = (uint8_t)count};
  for (size_t i = 0; i < count; i++) {
    at[i] = pf_field_index(table->fields, table->nfields, columns[i]);
    if (at[i] == table->nfields)
      luaL_error(L, "table '%s' has no column '%s'", name, columns[i]);
    mask |= 1u << at[i];
  }
  for (size_t i = 0; i < count; i++)
    for (size_t k = 0; k < count; k++)
      shape.at[i] = (uint8_t)(shape.at[i] + (at[k] < at[i]));
  shape.tag = pf_tag(number, mask);
  return shape;
}


static void prepare_calls (lua_State *L, l_recorder *r, bool has_timeline) {
  static const char *const timeline[] = {"time", "event", "area", "core"};
  static const char *const entries[] = {"time", "op", "call", "thread"};
  static const char *const words[] = {"enter", "leave", "suspend", "resume"};
  static const char *const ops[] = {"i", "o"};
  r->shape = has_timeline ? shape_of(L, r->writer, "timeline", timeline, 4)
                          : shape_of(L, r->writer, "entries", entries, 4);
  r->most_lanes = has_timeline ? 255 : UINT32_MAX;
  r->name_most = has_timeline ? 255 : 80; /* as recorder.lua asks for */
  for (int i = 0; i < 4; i++) {
    r->letters[i] = PF_NO_NAME;
    if (!has_timeline && i >= 2)
      continue;
    r->letters[i] =
        pf_intern_text(r->dictionary, has_timeline ? words[i] : ops[i]);
    if (r->letters[i] == PF_NO_NAME)
      luaL_error(L, "not enough memory");
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
    case L_TIMED: r->shape = shape_of(L, r->writer, "samples", lines, 2); break;
    case L_SAMPLED:
      r->shape = shape_of(L, r->writer, "samples", samples, 1);
      break;
    default: prepare_calls(L, r, has_timeline);
  }
}

/* }====== */


/* {====== Records ====== */

/* Waiting for room is nobody's time. */
static uint64_t *wait_for_room (l_recorder *r, size_t words) {
  const int64_t before = l_now(r);
  uint64_t *const record = pf_writer_begin(r->writer, words);
  const int64_t waited = l_now(r) - before;
  r->waited += waited;
  r->stolen += waited;
  return record;
}


/* Room for a record; NULL: it was dropped, or recording has ended. */
static uint64_t *begin (l_recorder *r, size_t words) {
  pf_error error;
  if (r->is_muted)
    return r->nowhere;
  if (r->writer == NULL || r->error.status != PF_OK)
    return NULL;
  if (pf_writer_failed(r->writer)) {
    (void)pf_writer_failure(r->writer, &error);
    l_recorder_fail(r, error.status, error.what);
    return NULL;
  }
  if (r->has_news) {
    r->has_news = false;
    if (pf_writer_learn(r->writer, &error) != PF_OK) {
      l_recorder_fail(r, error.status, error.what);
      return NULL;
    }
  }
  if (r->writer->ring.head + 8 * words + 16 > r->writer->ring.limit)
    return wait_for_room(r, words);
  return pf_writer_begin(r->writer, words);
}


static void commit (l_recorder *r, uint64_t *record, const l_shape *shape) {
  r->events++;
  if (!r->is_muted)
    pf_writer_commit(r->writer, record, shape->words, shape->tag);
}

/* }====== */


/* {====== Lines ====== */

/* The place of a frame's line, whose callers have theirs. */
static uint32_t place_below (l_recorder *r, uint32_t below, l_frame *f) {
  const uint32_t area = l_line_area(r, f->function, f->line);
  uint32_t place = L_NO_PLACE;
  if (area != PF_NO_AREA && r->contexts != NULL)
    place = pf_context_of(r->contexts, below, area);
  else if (area != PF_NO_AREA)
    place = pf_stack_push(r->dictionary, below, area);
  if (place == L_NO_PLACE)
    l_recorder_fail(r, PF_ENOMEM, "out of memory");
  r->has_news |= r->contexts == NULL;
  return place;
}


/* The place of the first `count` frames: mostly they have theirs. */
static uint32_t callers_of (l_recorder *r, const l_lane *lane, size_t count) {
  size_t i = count;
  while (i > 0 && lane->frames[i - 1].place == L_NO_PLACE)
    i--;
  uint32_t place = r->contexts == NULL ? PF_NO_STACK : 0;
  if (i > 0)
    place = lane->frames[i - 1].place;
  for (; i < count && r->error.status == PF_OK; i++) {
    if (!lane->frames[i].is_hidden)
      place = place_below(r, place, &lane->frames[i]);
    lane->frames[i].place = place;
  }
  return place;
}


/* The place of a frame's line. Of deep stacks the frames in the middle are left
   out. */
static uint32_t place_of (l_recorder *r, const l_lane *lane, l_frame *f) {
  const size_t above = (size_t)(f - lane->frames);
  const size_t most = r->depth - 1 + lane->frames[0].is_hidden;
  if (f->place == L_NO_PLACE)
    f->place =
        place_below(r, callers_of(r, lane, above < most ? above : most), f);
  return f->place;
}


static void put_sums (l_recorder *r, const l_lane *lane, l_frame *f) {
  const uint32_t node = place_of(r, lane, f);
  if (r->error.status != PF_OK)
    return;
  pf_context_add(r->contexts, node, 0, f->spent);
  pf_context_add(r->contexts, node, 1, f->is_new);
  if (r->by_line)
    pf_context_add(r->contexts, node, 2, 1);
  f->is_new = false;
  r->events++;
}


void l_put_line (l_recorder *r, l_lane *lane, l_frame *f) {
  if (r->mode == L_SUMS)
    put_sums(r, lane, f);
  if (r->mode != L_TIMED)
    return;
  const uint32_t stack = r->has_callers ? place_of(r, lane, f)
                                        : l_line_area(r, f->function, f->line);
  uint64_t *const record = begin(r, r->shape.words);
  if (record == NULL)
    return;
  record[r->shape.at[0]] = (uint64_t)f->spent;
  record[r->shape.at[1]] = stack;
  commit(r, record, &r->shape);
}

/* }====== */


/* {====== Calls and samples ====== */

void l_put_event (l_recorder *r, const l_lane *lane, l_letter letter,
                  l_frame *f) {
  if (r->mode != L_CALLS || f->is_hidden || r->letters[letter] == PF_NO_NAME)
    return;
  if (letter == L_ENTER)
    f->is_told = true;
  else if (!f->is_told)
    return;
  const bool is_entry = r->letters[L_SUSPEND] == PF_NO_NAME;
  const uint32_t area = is_entry
                            ? f->function->name
                            : l_line_area(r, f->function, f->function->first);
  if (area == PF_NO_AREA)
    l_recorder_fail(r, PF_ENOMEM, "out of memory");
  uint64_t *const record = begin(r, r->shape.words);
  if (record == NULL)
    return;
  record[r->shape.at[0]] = (uint64_t)r->last;
  record[r->shape.at[1]] = r->letters[letter];
  record[r->shape.at[2]] = area;
  record[r->shape.at[3]] =
      lane->number < r->most_lanes ? lane->number : r->most_lanes - 1;
  commit(r, record, &r->shape);
}


void l_put_sample (l_recorder *r, uint32_t stack, uint64_t count) {
  for (; count > 0; count--) {
    uint64_t *const record = begin(r, r->shape.words);
    if (record == NULL)
      return;
    record[r->shape.at[0]] = stack;
    commit(r, record, &r->shape);
  }
}

/* }====== */
