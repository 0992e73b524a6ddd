/*
** frames.c - flags, which are texts of words separated by blanks, and stacks of
** open calls. Threads, and pairs of a thread and a name (slots), get ids. Each
** slot has the index of its innermost open call, and each open call that of the
** next one of its slot.
*/

#include <stdlib.h>
#include <string.h>

#include "formats/xpp/operations/frames.h"
#include "formats/xpp/roles.h"
#include "model/base/memory.h"
#include "model/dictionary/names.h"

#define FLAGS   6
#define LONGEST 128 /* bytes of merged words */

static const char *const words[FLAGS] = {"gap",    "lost", "open",
                                         "orphan", "run",  "unwound"};


/* Append a word to a text of words. Returns its new size. */
static size_t add_word (char *text, size_t used, const void *word,
                        size_t size) {
  if (used > 0)
    text[used++] = ' ';
  memcpy(text + used, word, size);
  return used + size;
}


bool xpp_flag_names (pf_dictionary *dictionary, uint32_t names[XPP_FLAG_SETS]) {
  for (unsigned set = 0; set < XPP_FLAG_SETS; set++) {
    char text[40];
    size_t used = 0;
    for (unsigned i = 0; i < FLAGS; i++)
      if (set & 1u << i)
        used = add_word(text, used, words[i], strlen(words[i]));
    names[set] = pf_intern(dictionary, (pf_bytes){(const uint8_t *)text, used});
    if (names[set] == PF_NO_NAME)
      return false;
  }
  return true;
}


/* Returns the next word of a text and advances *at; empty at the end. */
static pf_bytes next_word (pf_bytes text, size_t *at) {
  while (*at < text.size && text.at[*at] == ' ')
    ++*at;
  const size_t from = *at;
  while (*at < text.size && text.at[*at] != ' ')
    ++*at;
  return (pf_bytes){text.at + from, *at - from};
}


static unsigned flags_in (pf_bytes text) {
  unsigned set = 0;
  size_t at = 0;
  for (pf_bytes w = next_word(text, &at); w.size > 0; w = next_word(text, &at))
    for (unsigned i = 0; i < FLAGS; i++)
      if (pf_text_compare(w, pf_bytes_of(words[i])) == 0)
        set |= 1u << i;
  return set;
}


/* Whether a word sorts before another one; an empty one sorts last. */
static bool is_before (pf_bytes word, pf_bytes other) {
  if (word.size == 0 || other.size == 0)
    return word.size > 0;
  return pf_text_compare(word, other) < 0;
}


uint32_t xpp_flags_merge (pf_dictionary *dictionary, uint32_t left,
                          uint32_t right) {
  const pf_bytes texts[] = {pf_name(dictionary, left),
                            pf_name(dictionary, right)};
  char text[LONGEST];
  size_t used = 0, l = 0, r = 0;
  pf_bytes a = next_word(texts[0], &l), b = next_word(texts[1], &r);
  while (a.size + b.size > 0 && used + a.size + b.size < LONGEST) {
    const bool a_waits = is_before(b, a), b_waits = is_before(a, b);
    const pf_bytes word = a_waits ? b : a;
    used = add_word(text, used, word.at, word.size);
    if (!a_waits)
      a = next_word(texts[0], &l);
    if (!b_waits)
      b = next_word(texts[1], &r);
  }
  return pf_intern(dictionary, (pf_bytes){(const uint8_t *)text, used});
}


size_t xpp_entry_column (const pf_reader *reader, const char *name,
                         pf_type type) {
  const size_t i = pf_field_index(reader->fields, reader->nfields, name);
  return i < reader->nfields && reader->fields[i].type == type ? i
                                                               : XPP_NO_COLUMN;
}


pf_status xpp_entry_columns_of (const pf_reader *reader,
                                xpp_entry_columns *columns, pf_error *error) {
  *columns =
      (xpp_entry_columns){.thread = xpp_entry_column(reader, "thread", PF_INT),
                          .time = xpp_entry_column(reader, "time", PF_INT),
                          .op = xpp_entry_column(reader, "op", PF_NAME),
                          .call = xpp_entry_column(reader, "call", PF_NAME),
                          .line = xpp_entry_column(reader, "line", PF_INT),
                          .flags = xpp_entry_column(reader, "flags", PF_NAME),
                          .file = xpp_entry_column(reader, "file", PF_NAME)};
  if (columns->op != XPP_NO_COLUMN && columns->call != XPP_NO_COLUMN)
    return PF_OK;
  return pf_refuse(error,
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
    lane->first = lane->shown = INT64_MIN;
    lane->has_thread = i != numbers->missing;
    lane->thread = lane->has_thread ? (int64_t)numbers->words[i] : 0;
  }
  return PF_OK;
}


static xpp_line_range lines_of (const xpp_frames *frames, uint32_t name) {
  static const xpp_line_range unknown = {1, 0};
  return frames->ranges == NULL
             ? unknown
             : xpp_line_range_of(frames->ranges,
                                 frames->has_file ? frames->file : PF_NO_NAME,
                                 name);
}


/* prfHold interrupts tracing, or _prfHold when it is compiled in. */
static pf_status grow_slots (xpp_frames *frames) {
  static const pf_bytes holder = {(const uint8_t *)"PRFHOLD", 7};
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
    const size_t prefix = text.size > 0 && text.at[0] == '_';
    xpp_call_slot *const slot = &frames->slots[i];
    *slot =
        (xpp_call_slot){.name = name, .top = XPP_NO_FRAME, .area = PF_NO_AREA};
    slot->lines = lines_of(frames, name);
    slot->is_holder = xpp_is_same_name(
        (pf_bytes){text.at + prefix, text.size - prefix}, holder);
    for (size_t k = 0; k < frames->nidle; k++)
      slot->is_idle |= xpp_is_same_name(text, frames->idle[k]);
    frames->has_holders |= slot->is_holder;
  }
  return PF_OK;
}


static uint8_t op_of (const xpp_frames *frames, uint32_t id) {
  size_t op = 0;
  while (op < XPP_NO_OP && frames->op_names[op] != id)
    op++;
  return (uint8_t)op;
}


/* The lane is mostly that of the previous row. */
pf_status xpp_frames_look (xpp_frames *frames, const pf_batch *batch,
                           const xpp_entry_columns *columns, size_t row,
                           xpp_call_row *call_row) {
  const pf_column *const c = batch->columns;
  const pf_column *const op = &c[columns->op], *const call = &c[columns->call];
  const pf_column *const thread =
      columns->thread < batch->ncolumns ? &c[columns->thread] : NULL;
  const bool missing = thread == NULL || pf_is_missing(thread, row);
  const uint64_t number = missing ? 0 : (uint64_t)thread->ints[row];
  call_row->op = pf_is_missing(op, row)
                     ? XPP_NO_OP
                     : (xpp_call_op)op_of(frames, op->ids[row]);
  call_row->lane = frames->lane;
  if (missing || frames->lane == XPP_NO_FRAME ||
      frames->thread != (int64_t)number) {
    if (pf_id_table_nullable(&frames->lane_ids, &number, &missing, 1,
                             &call_row->lane) != PF_OK)
      return PF_ENOMEM;
    frames->thread = (int64_t)number;
    frames->lane = missing ? XPP_NO_FRAME : call_row->lane;
    if (grow_lanes(frames) != PF_OK)
      return PF_ENOMEM;
  }
  const uint32_t name =
      pf_is_missing(call, row) ? frames->nameless : call->ids[row];
  const uint64_t word = (uint64_t)call_row->lane << 32 | name;
  xpp_cached_slot *const cached = &frames->cache[name & (XPP_CACHED_SLOTS - 1)];
  if (cached->word != word) {
    if (pf_id_table_words(&frames->slot_ids, &word, 1, &call_row->slot) !=
        PF_OK)
      return PF_ENOMEM;
    *cached = (xpp_cached_slot){word, call_row->slot};
  }
  call_row->slot = cached->slot;
  return grow_slots(frames);
}


unsigned xpp_frames_break (xpp_frames *frames, const pf_batch *batch,
                           const xpp_entry_columns *columns, size_t row) {
  unsigned flags = 0;
  if (pf_has_value(batch, columns->flags, row))
    flags = flags_in(
        pf_name(frames->dictionary, batch->columns[columns->flags].ids[row]));
  if (columns->file < batch->ncolumns) {
    const pf_column *const file = &batch->columns[columns->file];
    const uint32_t now = pf_is_missing(file, row) ? PF_NO_NAME : file->ids[row];
    if (frames->has_file && now != frames->file)
      flags |= XPP_FLAG_RUN;
    const bool is_new = !frames->has_file || now != frames->file;
    frames->file = now;
    frames->has_file = true;
    for (uint32_t i = 0; is_new && i < frames->nslots; i++)
      frames->slots[i].lines = lines_of(frames, frames->slots[i].name);
  }
  return (flags & XPP_FLAG_RUN) != 0 ? XPP_FLAG_OPEN : flags & XPP_FLAG_GAP;
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


pf_status xpp_op_names (pf_dictionary *dictionary, uint32_t ops[XPP_NO_OP],
                        pf_error *error) {
  static const char *const names[XPP_NO_OP] = {"i", "I", "O", "o"};
  return pf_intern_texts(dictionary, names, XPP_NO_OP, ops, error);
}


pf_status xpp_frames_open (xpp_frames *frames, pf_dictionary *dictionary,
                           pf_error *error) {
  memset(frames, 0, sizeof *frames);
  frames->dictionary = dictionary;
  pf_id_table_init(&frames->lane_ids);
  pf_id_table_init(&frames->slot_ids);
  frames->nameless = pf_intern_text(dictionary, "");
  if (frames->nameless == PF_NO_NAME)
    return pf_no_memory(error);
  if (xpp_op_names(dictionary, frames->op_names, error) != PF_OK)
    return PF_ENOMEM;
  frames->lane = XPP_NO_FRAME;
  for (uint32_t i = 0; i < 256; i++)
    frames->op_of_name[i] = op_of(frames, i);
  for (size_t i = 0; i < XPP_CACHED_SLOTS; i++)
    frames->cache[i].word = UINT64_MAX; /* no slot has this word */
  return PF_OK;
}


void xpp_frames_close (xpp_frames *frames) {
  for (uint32_t i = 0; i < frames->nlanes; i++)
    free(frames->lanes[i].frames);
  free(frames->lanes);
  free(frames->slots);
  pf_id_table_free(&frames->lane_ids);
  pf_id_table_free(&frames->slot_ids);
}
