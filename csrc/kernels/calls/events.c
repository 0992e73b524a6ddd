/*
** events.c - converts columns of events to arrays: names to kinds and flags,
** values of lanes to ids; and marks the first row of each file.
*/

#include "kernels/calls/events.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/order.h"
#include "model/base/memory.h"
#include "model/dictionary/names.h"
#include "model/rows/abilities.h"

#define KNOWN 0x80 /* set in codes that have been looked up */


const char *const pf_call_flag_names[PF_CALL_FLAG_NAMES] = {
    "cut", "gap", "lost", "open", "orphan", "unwound"};


void pf_call_flags_text (unsigned flags, char *text, size_t capacity) {
  size_t size = 0;
  text[0] = '\0';
  for (size_t i = 0; i < PF_CALL_FLAG_NAMES && size < capacity; i++)
    if ((flags >> i & 1) != 0)
      size += (size_t)snprintf(text + size, capacity - size, "%s%s",
                               size == 0 ? "" : " ", pf_call_flag_names[i]);
}


static size_t column_of (const pf_reader *reader, const char *name,
                         pf_type type, pf_type other) {
  const size_t i = pf_field_index(reader->fields, reader->nfields, name);
  if (i == reader->nfields ||
      (reader->fields[i].type != type && reader->fields[i].type != other))
    return reader->nfields;
  return i;
}


pf_status pf_events_columns (pf_events *e, pf_reader *r, pf_error *error) {
  memset(e, 0, sizeof *e);
  e->reader = r;
  e->time = column_of(r, "time", PF_INT, PF_INT);
  e->event = column_of(r, "event", PF_NAME, PF_NAME);
  e->area = column_of(r, "area", PF_AREA, PF_NAME);
  e->lane = column_of(r, "lane", PF_INT, PF_NAME);
  e->flags = column_of(r, "flags", PF_NAME, PF_NAME);
  e->extra = e->number = e->file = e->line = e->params = r->nfields;
  e->current_file = PF_NO_NAME;
  for (size_t i = 0; i < r->nfields; i++)
    if (pf_is_file(&r->fields[i]))
      e->file = i;
  const size_t needed[] = {e->time, e->event, e->area};
  static const char *const words[] = {"time\" of type int",
                                      "event\" of type name",
                                      "area\" of type area or name"};
  for (size_t i = 0; i < 3; i++)
    if (needed[i] == r->nfields)
      return pf_refuse(error, "a column \"%s is needed in a table of events",
                       words[i]);
  return PF_OK;
}


void pf_events_want (const pf_events *e, bool *wanted) {
  const size_t columns[] = {e->time,  e->event,  e->area, e->lane, e->flags,
                            e->extra, e->number, e->file, e->line, e->params};
  for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
    wanted[columns[i]] = true;
}


void pf_events_find_details (pf_events *e) {
  e->line = column_of(e->reader, "line", PF_INT, PF_INT);
  e->params = column_of(e->reader, "params", PF_BYTES, PF_BYTES);
}


pf_status pf_events_open (pf_events *e, pf_reader *reader, const char *extra,
                          const char *number, bool details, pf_error *error) {
  const pf_status status = pf_events_columns(e, reader, error);
  pf_id_table_init(&e->lanes);
  if (status != PF_OK)
    return status;
  if (extra != NULL)
    e->extra = column_of(reader, extra, PF_INT, PF_INT);
  if (number != NULL)
    e->number = column_of(reader, number, PF_NUM, PF_NUM);
  if (details)
    pf_events_find_details(e);
  bool *const wanted = calloc(reader->nfields + 1, sizeof *wanted);
  if (wanted == NULL)
    return pf_no_memory(error);
  pf_events_want(e, wanted);
  const pf_status opened = pf_batch_for(&e->batch, reader, wanted);
  free(wanted);
  return opened == PF_OK ? PF_OK : pf_no_memory(error);
}


void pf_events_close (pf_events *e) {
  if (e->reader == NULL)
    return;
  pf_batch_close(&e->batch);
  pf_id_table_free(&e->lanes);
  free(e->codes);
  e->reader = NULL;
}


static bool is_word (pf_bytes text, const char *word) {
  return text.size == strlen(word) && memcmp(text.at, word, text.size) == 0;
}


static uint8_t event_of (pf_bytes text) {
  static const char *const words[] = {"leave", "suspend", "resume", "enter",
                                      "write"}; /* as pf_event_kind */
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (is_word(text, words[i]))
      return (uint8_t)i;
  return PF_EVENT_OTHER;
}


uint8_t pf_call_flags_of (pf_bytes text) {
  uint8_t bits = 0;
  for (size_t at = 0; at < text.size; at++) {
    const size_t from = at;
    while (at < text.size && text.at[at] != ' ')
      at++;
    for (size_t i = 0; i < PF_CALL_FLAG_NAMES; i++)
      if (is_word((pf_bytes){text.at + from, at - from}, pf_call_flag_names[i]))
        bits |= (uint8_t)(1u << i);
  }
  return bits;
}


/* Look up a name once: return its codes, or NULL when out of memory. */
static const uint8_t *look_up (pf_events *e, uint32_t name, size_t which,
                               uint8_t (*mean)(pf_bytes)) {
  if (name >= e->ncodes &&
      !pf_grow_filled_array(&e->codes, &e->ncodes, (size_t)name + 1, 0, 2))
    return NULL;
  e->codes[(size_t)name * 2 + which] =
      KNOWN | mean(pf_name(e->reader->dictionary, name));
  return e->codes;
}


/* Convert the names of a column to codes, 0 if missing. */
static pf_status translate (pf_events *e, const pf_column *column, size_t which,
                            uint8_t (*mean)(pf_bytes), uint8_t *out) {
  const uint8_t *codes = e->codes; /* copies, which the stores cannot change */
  size_t known = e->ncodes;
  const uint32_t *const ids = column->ids;
  const size_t rows = e->batch.rows;
  for (size_t i = 0; i < rows; i++) {
    uint8_t code = ids[i] < known ? codes[(size_t)ids[i] * 2 + which] : 0;
    if (code == 0 && !pf_is_missing(column, i)) {
      codes = look_up(e, ids[i], which, mean);
      if (codes == NULL)
        return PF_ENOMEM;
      known = e->ncodes;
      code = codes[(size_t)ids[i] * 2 + which];
    }
    out[i] = code & (uint8_t)~KNOWN;
  }
  for (size_t i = 0; column->has_missing && i < rows; i++)
    if (pf_is_missing(column, i))
      out[i] = 0;
  return PF_OK;
}


pf_status pf_events_lane_id (pf_events *e, uint64_t word, bool missing,
                             uint32_t *id) {
  if (pf_id_table_nullable(&e->lanes, &word, &missing, 1, id) != PF_OK ||
      *id >= PF_LANE_IDS)
    return PF_ENOMEM;
  if (!missing) {
    e->lane_cache[word & 63].word = word;
    e->lane_cache[word & 63].id = *id + 1;
  }
  return PF_OK;
}


/* The id of the lane of a row. PF_ENOMEM. */
static pf_status encode_lane (pf_events *e, const pf_column *column, size_t row,
                              uint32_t *id) {
  const uint64_t word = column->type == PF_INT ? pf_order_int(column->ints[row])
                                               : column->ids[row];
  const size_t at = word & 63;
  if (pf_is_missing(column, row) || e->lane_cache[at].id == 0 ||
      e->lane_cache[at].word != word)
    return pf_events_lane_id(e, word, pf_is_missing(column, row), id);
  *id = e->lane_cache[at].id - 1;
  return PF_OK;
}


/* Build the words of a batch. Most rows have the lane of the previous row. */
static pf_status build_words (pf_events *e) {
  const uint32_t *const areas = e->batch.columns[e->area].ids;
  const pf_column *const lane =
      pf_events_have_lanes(e) ? &e->batch.columns[e->lane] : NULL;
  const size_t rows = e->batch.rows;
  const int64_t *const ints =
      lane != NULL && lane->type == PF_INT ? lane->ints : NULL;
  const uint32_t *const names = lane != NULL && ints == NULL ? lane->ids : NULL;
  const bool has_missing = lane != NULL && lane->has_missing;
  uint32_t id = 0;
  for (size_t i = 0; i < rows; i++) {
    const bool is_same = i > 0 && !has_missing &&
                         (ints == NULL || ints[i] == ints[i - 1]) &&
                         (names == NULL || names[i] == names[i - 1]);
    if (lane != NULL && !is_same && encode_lane(e, lane, i, &id) != PF_OK)
      return PF_ENOMEM;
    e->words[i] = pf_event_word(e->kinds[i], id, areas[i]);
  }
  return PF_OK;
}


bool pf_events_have_lanes (const pf_events *e) {
  return e->lane < e->reader->nfields;
}


pf_type pf_events_lane_type (const pf_events *e) {
  return pf_events_have_lanes(e) ? e->reader->fields[e->lane].type : PF_INT;
}


void pf_events_put_lane (const pf_events *e, uint32_t lane, pf_column *column,
                         size_t row) {
  if (!pf_events_have_lanes(e) || lane == PF_NO_SLOT ||
      lane == e->lanes.missing)
    pf_set_missing(column, row);
  else if (column->type == PF_INT)
    column->ints[row] = pf_unorder_int(e->lanes.words[lane]);
  else
    column->ids[row] = (uint32_t)e->lanes.words[lane];
}


/* Mark the first row of each file. */
static void mark_files (pf_events *e) {
  const size_t rows = e->batch.rows;
  if (e->file == e->reader->nfields)
    return;
  const pf_column *const file = &e->batch.columns[e->file];
  for (size_t i = 0; i < rows; i++) {
    if (file->ids[i] == e->current_file)
      continue;
    if (e->rows.flags == NULL)
      memset(e->flag_bits, 0, rows);
    e->rows.flags = e->flag_bits;
    e->flag_bits[i] |= PF_CALL_NEW_FILE;
    e->current_file = file->ids[i];
  }
}


/* Convert the batch to events->rows, whose flags are NULL in most batches: no
   row has a flag. PF_ENOMEM. */
static pf_status arrange (pf_events *e) {
  const pf_column *const columns = e->batch.columns;
  pf_status status = translate(e, &columns[e->event], 0, event_of, e->kinds);
  e->rows = (pf_event_rows){.times = columns[e->time].ints, .words = e->words};
  if (status == PF_OK && e->flags < e->reader->nfields &&
      pf_has_values(&columns[e->flags], e->batch.rows)) {
    status =
        translate(e, &columns[e->flags], 1, pf_call_flags_of, e->flag_bits);
    e->rows.flags = e->flag_bits;
  }
  /* Of rows without a time only the flags are used; rows without an area or
     event only advance the time. */
  const pf_column *const time = &columns[e->time];
  const pf_column *const area = &columns[e->area];
  const pf_column *const event = &columns[e->event];
  const bool some =
      time->has_missing || area->has_missing || event->has_missing;
  for (size_t i = 0; some && i < e->batch.rows; i++)
    if (pf_is_missing(time, i))
      e->kinds[i] = PF_EVENT_NONE;
    else if (pf_is_missing(area, i) || pf_is_missing(event, i))
      e->kinds[i] = PF_EVENT_OTHER;
  mark_files(e);
  return status == PF_OK ? build_words(e) : status;
}


bool pf_events_are_over (const pf_events *e, const pf_machine *machine) {
  const size_t none = e->reader->nfields;
  return machine->after_range && e->flags == none && e->file == none;
}


static uint32_t id_of_lane (void *context, uint32_t name) {
  uint32_t id;
  return pf_events_lane_id(context, name, false, &id) == PF_OK ? id : PF_NO_ID;
}


/* Read events without their columns, if nothing else is wanted and the reader
   can. PF_MORE without rows: it cannot for these. */
static pf_status next_words (pf_events *e, pf_error *error) {
  const pf_abilities *const can = pf_can(e->reader);
  const size_t none = e->reader->nfields;
  e->batch.rows = 0;
  if (can->next_events == NULL || e->flags < none || e->file < none ||
      e->extra < none || e->line < none || e->params < none)
    return PF_MORE;
  const pf_event_target to = {e->batch.columns[e->time].ints, e->words,
                              id_of_lane, e};
  e->rows = (pf_event_rows){.times = to.times, .words = to.words};
  return can->next_events(e->reader, &to, &e->batch.rows, error);
}


pf_status pf_events_next (pf_events *e, pf_error *error) {
  const pf_status words = next_words(e, error);
  if (words != PF_MORE || e->batch.rows > 0)
    return words;
  const pf_status status = e->reader->next(e->reader, &e->batch, error);
  if (status == PF_MORE && arrange(e) != PF_OK)
    return pf_no_memory(error);
  return status;
}


pf_status pf_events_take (pf_events *e, const pf_batch *batch,
                          pf_error *error) {
  pf_column *const own = e->batch.columns;
  e->batch.columns = batch->columns;
  e->batch.rows = batch->rows;
  const pf_status status = arrange(e);
  e->batch.columns = own;
  return status == PF_OK ? PF_OK : pf_no_memory(error);
}
