/*
** frames.c - stacks of open calls. Threads, and pairs of a thread and a name
** (slots), get ids. Each slot has the index of its innermost open call, and
** each open call that of the next one of its slot.
*/

#include <stdlib.h>
#include <string.h>

#include "formats/xpp/operations/frames.h"
#include "model/base/memory.h"
#include "model/dictionary/names.h"


/* {====== Columns ====== */

/* The index of a field with a name and a type, or nfields. */
static size_t field_of (const pf_reader *reader, const char *name,
                        pf_type type) {
  const size_t field = pf_field_index(reader->fields, reader->nfields, name);
  if (field < reader->nfields && reader->fields[field].type == type)
    return field;
  return reader->nfields;
}


pf_status xpp_entry_columns_of (const pf_reader *reader,
                                xpp_entry_columns *columns, pf_error *error) {
  *columns = (xpp_entry_columns){.thread = field_of(reader, "thread", PF_INT),
                                 .time = field_of(reader, "time", PF_INT),
                                 .op = field_of(reader, "op", PF_NAME),
                                 .call = field_of(reader, "call", PF_NAME),
                                 .flags = field_of(reader, "flags", PF_NAME),
                                 .file = field_of(reader, "file", PF_NAME)};
  if (columns->op < reader->nfields && columns->call < reader->nfields)
    return PF_OK;
  return pf_fail(error, PF_EUNSUPPORTED, PF_NO_OFFSET,
                 "columns \"op\" and \"call\" of type name are needed");
}


void xpp_entry_columns_want (const pf_reader *reader,
                             const xpp_entry_columns *columns, bool *wanted) {
  const size_t needed[] = {columns->thread, columns->time,  columns->op,
                           columns->call,   columns->flags, columns->file};
  for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++)
    if (needed[i] < reader->nfields)
      wanted[needed[i]] = true;
}

/* }====== */


/* {====== Numbers for threads and names ====== */

static pf_status grow_lanes (xpp_frames *frames) {
  const pf_id_table *const numbers = &frames->lane_ids;
  const uint32_t first = frames->nlanes;
  if (numbers->count <= first)
    return PF_OK;
  if (!pf_widen(&frames->lanes, first, numbers->count))
    return PF_ENOMEM;
  frames->nlanes = numbers->count;
  for (uint32_t i = first; i < frames->nlanes; i++) {
    xpp_call_stack *const lane = &frames->lanes[i];
    lane->orphan = XPP_NO_FRAME;
    lane->has_thread = i != numbers->missing;
    lane->thread = lane->has_thread ? (int64_t)numbers->words[i] : 0;
  }
  return PF_OK;
}


/* Whether two names are equal, ignoring the case of ASCII letters. */
static bool is_same_name (pf_bytes left, pf_bytes right) {
  if (left.size != right.size)
    return false;
  for (size_t i = 0; i < left.size; i++) {
    const uint8_t l = left.at[i], r = right.at[i], low = l | 0x20;
    if (l != r && (low < 'a' || low > 'z' || low != (r | 0x20)))
      return false;
  }
  return true;
}


/* Whether a function interrupts tracing: prfHold, or _prfHold when it is
   compiled in. */
static bool holds_tracing (pf_bytes name) {
  static const pf_bytes holder = {(const uint8_t *)"PRFHOLD", 7};
  if (name.size > 0 && name.at[0] == '_') {
    name.at++;
    name.size--;
  }
  return is_same_name(name, holder);
}


static bool is_idle (const xpp_frames *frames, pf_bytes name) {
  for (size_t i = 0; i < frames->nidle; i++)
    if (is_same_name(name, frames->idle[i]))
      return true;
  return false;
}


static pf_status grow_slots (xpp_frames *frames) {
  const pf_id_table *const numbers = &frames->slot_ids;
  const uint32_t first = frames->nslots;
  if (numbers->count <= first)
    return PF_OK;
  if (!pf_widen(&frames->slots, first, numbers->count))
    return PF_ENOMEM;
  frames->nslots = numbers->count;
  for (uint32_t i = first; i < frames->nslots; i++) {
    const uint32_t name = (uint32_t)numbers->words[i];
    const pf_bytes text = pf_name(frames->dictionary, name);
    frames->slots[i] =
        (xpp_call_slot){name, XPP_NO_FRAME, PF_NO_AREA, holds_tracing(text),
                        is_idle(frames, text)};
    frames->has_holders |= frames->slots[i].is_holder;
  }
  return PF_OK;
}


static uint8_t op_of (const xpp_frames *frames, uint32_t id) {
  size_t op = 0;
  while (op < XPP_NO_OP && frames->op_names[op] != id)
    op++;
  return (uint8_t)op;
}


/* Find the lane of a row, mostly that of the previous row. */
static pf_status find_lane (xpp_frames *frames, const pf_column *thread,
                            size_t row, uint32_t *lane) {
  const bool missing = thread == NULL || pf_is_missing(thread, row);
  const uint64_t word = missing ? 0 : (uint64_t)thread->ints[row];
  if (!missing && frames->lane != XPP_NO_FRAME &&
      frames->thread == (int64_t)word) {
    *lane = frames->lane;
    return PF_OK;
  }
  if (pf_id_table_nullable(&frames->lane_ids, &word, &missing, 1, lane) !=
      PF_OK)
    return PF_ENOMEM;
  frames->thread = (int64_t)word;
  frames->lane = missing ? XPP_NO_FRAME : *lane;
  return grow_lanes(frames);
}


static pf_status find_slot (xpp_frames *frames, uint32_t lane, uint32_t name,
                            uint32_t *slot) {
  const uint64_t word = (uint64_t)lane << 32 | name;
  xpp_cached_slot *const cached = &frames->cache[name & (XPP_CACHED_SLOTS - 1)];
  if (cached->word != word) {
    if (pf_id_table_words(&frames->slot_ids, &word, 1, slot) != PF_OK)
      return PF_ENOMEM;
    *cached = (xpp_cached_slot){word, *slot};
  }
  *slot = cached->slot;
  return grow_slots(frames);
}


pf_status xpp_frames_look (xpp_frames *frames, const pf_batch *batch,
                           const xpp_entry_columns *columns, size_t row,
                           xpp_call_row *call_row) {
  const pf_column *const c = batch->columns;
  const pf_column *const op = &c[columns->op], *const call = &c[columns->call];
  const pf_column *const thread =
      columns->thread < batch->ncolumns ? &c[columns->thread] : NULL;
  const uint32_t name =
      pf_is_missing(call, row) ? frames->nameless : call->ids[row];
  call_row->op = pf_is_missing(op, row)
                     ? XPP_NO_OP
                     : (xpp_call_op)op_of(frames, op->ids[row]);
  const pf_status status = find_lane(frames, thread, row, &call_row->lane);
  return status == PF_OK
             ? find_slot(frames, call_row->lane, name, &call_row->slot)
             : status;
}


uint32_t xpp_frames_area (xpp_frames *frames, uint32_t slot) {
  xpp_call_slot *const s = &frames->slots[slot];
  if (s->area == PF_NO_AREA) {
    pf_area area = PF_AREA_NONE;
    area.name = s->name;
    s->area = pf_area_add(frames->dictionary, &area);
  }
  return s->area;
}

/* }====== */


/* {====== Stacks ====== */

bool xpp_frames_new_file (xpp_frames *frames, const pf_batch *batch,
                          const xpp_entry_columns *columns, size_t row) {
  if (columns->file >= batch->ncolumns)
    return false;
  const pf_column *const file = &batch->columns[columns->file];
  const uint32_t now = pf_is_missing(file, row) ? PF_NO_NAME : file->ids[row];
  const bool is_new = frames->has_file && now != frames->file;
  frames->file = now;
  frames->has_file = true;
  return is_new;
}


xpp_open_call *xpp_frames_push (xpp_frames *frames, xpp_call_stack *lane,
                                uint32_t slot) {
  if (lane->depth >= XPP_NO_FRAME - 1 ||
      !pf_grow(&lane->frames, &lane->capacity, (size_t)lane->depth + 1))
    return NULL;
  xpp_open_call *const frame = &lane->frames[lane->depth];
  *frame = (xpp_open_call){
      .slot = slot, .below = frames->slots[slot].top, .gaps = frames->gaps};
  frames->slots[slot].top = lane->depth++;
  return frame;
}


void xpp_frames_pop (xpp_frames *frames, xpp_call_stack *lane) {
  const xpp_open_call *const frame = &lane->frames[--lane->depth];
  frames->slots[frame->slot].top = frame->below;
}


pf_status xpp_frames_open (xpp_frames *frames, pf_dictionary *dictionary) {
  static const char *const names[XPP_NO_OP] = {"i", "I", "O", "o"};
  memset(frames, 0, sizeof *frames);
  frames->dictionary = dictionary;
  pf_id_table_init(&frames->lane_ids);
  pf_id_table_init(&frames->slot_ids);
  frames->nameless = pf_intern_text(dictionary, "");
  bool done = frames->nameless != PF_NO_NAME;
  for (unsigned i = 0; i < XPP_NO_OP && done; i++) {
    frames->op_names[i] = pf_intern_text(dictionary, names[i]);
    done = frames->op_names[i] != PF_NO_NAME;
  }
  frames->lane = XPP_NO_FRAME;
  for (uint32_t i = 0; i < 256; i++)
    frames->op_of_name[i] = op_of(frames, i);
  for (size_t i = 0; i < XPP_CACHED_SLOTS; i++)
    frames->cache[i].word = UINT64_MAX; /* no slot has this word */
  return done ? PF_OK : PF_ENOMEM;
}


void xpp_frames_close (xpp_frames *frames) {
  for (uint32_t i = 0; i < frames->nlanes; i++)
    free(frames->lanes[i].frames);
  free(frames->lanes);
  free(frames->slots);
  pf_id_table_free(&frames->lane_ids);
  pf_id_table_free(&frames->slot_ids);
}

/* }====== */
