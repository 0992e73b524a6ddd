/*
** events.c - columns of events as plain arrays: names become kinds and flags,
** values of lanes become numbers.
*/

#include "kernels/calls/events.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/chain.h"
#include "kernels/order.h"
#include "model/names.h"

#define KNOWN    0x80 /* a meaning that has been looked up */
#define PATIENCE 8    /* batches that are not packed behind one of slow rows */


const char *const pf_call_flag_names[PF_CALL_FLAG_NAMES] = {
    "cut", "gap", "lost", "open", "orphan", "unwound"};


void pf_call_flags_text (unsigned flags, char *text, size_t room) {
  size_t size = 0;
  text[0] = '\0';
  for (size_t i = 0; i < PF_CALL_FLAG_NAMES && size < room; i++)
    if ((flags >> i & 1) != 0)
      size += (size_t)snprintf(text + size, room - size, "%s%s",
                               size == 0 ? "" : " ", pf_call_flag_names[i]);
}


/* {====== Opening ====== */

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
  e->also = e->file = e->line = e->params = r->nfields;
  e->now = PF_NO_NAME;
  for (size_t i = 0; i < r->nfields; i++)
    if (r->fields[i].help == pf_chain_file)
      e->file = i;
  const size_t needed[] = {e->time, e->event, e->area};
  static const char *const words[] = {"time\" of type int",
                                      "event\" of type name",
                                      "area\" of type area or name"};
  for (size_t i = 0; i < 3; i++)
    if (needed[i] == r->nfields)
      return pf_fail(error, PF_EUNSUPPORTED, PF_NO_OFFSET,
                     "calls are made from events: a column \"%s is needed",
                     words[i]);
  return PF_OK;
}


void pf_events_want (const pf_events *e, bool *wanted) {
  const size_t columns[] = {e->time, e->event, e->area, e->lane,  e->flags,
                            e->also, e->file,  e->line, e->params};
  for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
    wanted[columns[i]] = true;
}


static pf_status open_batch (pf_events *e, pf_error *error) {
  bool *const wanted = calloc(e->reader->nfields + 1, sizeof *wanted);
  pf_status status = PF_ENOMEM;
  if (wanted != NULL) {
    pf_events_want(e, wanted);
    status = pf_batch_for(&e->batch, e->reader, wanted);
  }
  free(wanted);
  if (status != PF_OK)
    pf_fail(error, status, PF_NO_OFFSET, "out of memory");
  return status;
}


pf_status pf_events_open (pf_events *e, pf_reader *reader, pf_error *error) {
  return pf_events_open_with(e, reader, NULL, error);
}


pf_status pf_events_open_with (pf_events *e, pf_reader *reader,
                               const char *also, pf_error *error) {
  const pf_status status = pf_events_columns(e, reader, error);
  pf_id_table_init(&e->lanes);
  if (also != NULL)
    e->also = column_of(reader, also, PF_INT, PF_INT);
  return status == PF_OK ? open_batch(e, error) : status;
}


void pf_events_find_details (pf_events *e) {
  e->line = column_of(e->reader, "line", PF_INT, PF_INT);
  e->params = column_of(e->reader, "params", PF_BYTES, PF_BYTES);
}


pf_status pf_events_open_details (pf_events *e, pf_reader *reader,
                                  pf_error *error) {
  const pf_status status = pf_events_columns(e, reader, error);
  pf_id_table_init(&e->lanes);
  if (status != PF_OK)
    return status;
  pf_events_find_details(e);
  return open_batch(e, error);
}


void pf_events_close (pf_events *e) {
  if (e->reader == NULL)
    return;
  pf_batch_close(&e->batch);
  pf_id_table_free(&e->lanes);
  free(e->meanings);
  e->reader = NULL;
}

/* }====== */


/* {====== What names mean ====== */

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


/* The bits of words with blanks between them. */
static uint8_t flags_of (pf_bytes text) {
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


/* The place of the two meanings of a name, as event and as flags; NULL when
   out of memory. */
static uint8_t *meanings_of (pf_events *e, uint32_t name) {
  if (name >= e->nmeanings) {
    const size_t room = name < 32 ? 64 : (size_t)name * 2;
    uint8_t *const grown = realloc(e->meanings, room * 2);
    if (grown == NULL)
      return NULL;
    memset(grown + e->nmeanings * 2, 0, (room - e->nmeanings) * 2);
    e->meanings = grown;
    e->nmeanings = room;
  }
  return &e->meanings[(size_t)name * 2];
}


/* Look up what the name of a row means; missing means nothing. */
static pf_status look_up (pf_events *e, const pf_column *column, size_t row,
                          size_t which, uint8_t (*mean)(pf_bytes),
                          uint8_t *out) {
  *out = 0;
  if (pf_is_missing(column, row))
    return PF_OK;
  const uint32_t name = column->ids[row];
  uint8_t *const meanings = meanings_of(e, name);
  if (meanings == NULL)
    return PF_ENOMEM;
  meanings[which] = KNOWN | mean(pf_name(e->reader->dictionary, name));
  *out = meanings[which] & (uint8_t)~KNOWN;
  return PF_OK;
}


/* What is known so far, from the first name on; there may be nothing. */
static const uint8_t *known_of (const pf_events *e, size_t which) {
  return e->meanings == NULL ? NULL : e->meanings + which;
}


/* What the names of a column mean, looked up once each. */
static pf_status translate (pf_events *e, const pf_column *column, size_t which,
                            uint8_t (*mean)(pf_bytes), uint8_t *out) {
  const uint32_t *const ids = column->ids;
  const uint8_t *known = known_of(e, which);
  size_t nknown = column->has_missing ? 0 : e->nmeanings;
  const size_t rows = e->batch.rows;
  for (size_t i = 0; i < rows; i++) {
    const uint8_t meaning = ids[i] < nknown ? known[(size_t)ids[i] * 2] : 0;
    if (meaning != 0) {
      out[i] = meaning & (uint8_t)~KNOWN;
      continue;
    }
    if (look_up(e, column, i, which, mean, &out[i]) != PF_OK)
      return PF_ENOMEM;
    known = known_of(e, which);
    nknown = column->has_missing ? 0 : e->nmeanings;
  }
  return PF_OK;
}

/* }====== */


/* {====== Lanes ====== */

static pf_status number_lane (pf_events *e, uint64_t word, bool missing,
                              uint32_t *number) {
  if (pf_id_table_nullable(&e->lanes, &word, &missing, 1, number) != PF_OK)
    return PF_ENOMEM;
  if (!missing) {
    e->recent[word & 63].word = word;
    e->recent[word & 63].number = *number + 1;
  }
  return PF_OK;
}


/* Lanes that are names, none of them missing: mostly that of the row before. */
static pf_status number_names (pf_events *e, const uint32_t *ids) {
  const size_t rows = e->batch.rows;
  uint32_t last = PF_NO_NAME, number = 0;
  for (size_t i = 0; i < rows; i++) {
    if (ids[i] != last) {
      const size_t at = ids[i] & 63;
      last = ids[i];
      number = e->recent[at].number - 1;
      if ((e->recent[at].number == 0 || e->recent[at].word != last) &&
          number_lane(e, last, false, &number) != PF_OK)
        return PF_ENOMEM;
    }
    e->numbers[i] = number;
  }
  return PF_OK;
}


/* How many rows are in the lane of the first one, which is there: all, mostly.
   Their numbers are set. */
static size_t number_first (pf_events *e, const int64_t *lanes) {
  const size_t rows = e->batch.rows;
  const uint64_t word = pf_order_int(lanes[0]);
  const uint32_t number = e->recent[word & 63].number;
  size_t i = 0;
  if (number == 0 || e->recent[word & 63].word != word)
    return 0;
  for (; i < rows && lanes[i] == lanes[0]; i++)
    e->numbers[i] = number - 1;
  return i;
}


static pf_status number_lanes (pf_events *e, const pf_column *column) {
  if (column->type == PF_NAME && !column->has_missing)
    return number_names(e, column->ids);
  size_t i = column->type == PF_INT && !column->has_missing
                 ? number_first(e, column->ints)
                 : 0;
  for (; i < e->batch.rows; i++) {
    const bool missing = pf_is_missing(column, i);
    const uint64_t word =
        column->type == PF_INT ? pf_order_int(column->ints[i]) : column->ids[i];
    e->numbers[i] = e->recent[word & 63].number - 1;
    if ((missing || e->recent[word & 63].number == 0 ||
         e->recent[word & 63].word != word) &&
        number_lane(e, word, missing, &e->numbers[i]) != PF_OK)
      return PF_ENOMEM;
  }
  return PF_OK;
}


pf_status pf_events_same_lane (pf_events *e, const pf_events *others,
                               uint32_t lane, uint32_t *same) {
  const bool missing = lane == others->lanes.missing;
  return number_lane(e, others->lanes.words[lane], missing, same);
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

/* }====== */


/* Rows without a time or an area are no events, though their time counts. */
static void drop_missing (pf_events *e) {
  const pf_column *const columns = e->batch.columns;
  const pf_column *const time = &columns[e->time];
  const pf_column *const area = &columns[e->area];
  const pf_column *const event = &columns[e->event];
  if (!time->has_missing && !area->has_missing && !event->has_missing)
    return;
  for (size_t i = 0; i < e->batch.rows; i++)
    if (pf_is_missing(time, i))
      e->kinds[i] = PF_EVENT_NONE;
    else if (pf_is_missing(area, i) || pf_is_missing(event, i))
      e->kinds[i] = PF_EVENT_OTHER;
}


/* Mark rows that are of another file than the row before. */
static void mark_files (pf_events *e) {
  const size_t rows = e->batch.rows;
  if (e->file == e->reader->nfields)
    return;
  const pf_column *const file = &e->batch.columns[e->file];
  for (size_t i = 0; i < rows; i++) {
    if (file->ids[i] == e->now)
      continue;
    if (e->rows.flags == NULL)
      memset(e->bits, 0, rows);
    e->rows.flags = e->bits;
    e->bits[i] |= PF_CALL_NEW_FILE;
    e->now = file->ids[i];
  }
}


/* Most batches have no flags, though they could: then there are none. */
static pf_status arrange (pf_events *e) {
  const pf_column *const columns = e->batch.columns;
  pf_status status = translate(e, &columns[e->event], 0, event_of, e->kinds);
  if (status == PF_OK && pf_events_have_lanes(e))
    status = number_lanes(e, &columns[e->lane]);
  e->rows = (pf_event_rows){.times = columns[e->time].ints,
                            .kinds = e->kinds,
                            .areas = columns[e->area].ids,
                            .lanes = e->numbers};
  if (status == PF_OK && e->flags < e->reader->nfields &&
      pf_has_values(&columns[e->flags], e->batch.rows)) {
    status = translate(e, &columns[e->flags], 1, flags_of, e->bits);
    e->rows.flags = e->bits;
  }
  drop_missing(e);
  mark_files(e);
  return status;
}


bool pf_events_are_over (const pf_events *e, const pf_machine *machine) {
  const size_t none = e->reader->nfields;
  return machine->is_behind && e->flags == none && e->file == none;
}


/* The same of packed rows. */
static pf_status unpack (pf_events *e, size_t from, size_t to) {
  const pf_packed *const packed = &e->packed;
  pf_status status = PF_OK;
  for (size_t i = from; i < to && status == PF_OK; i++) {
    e->kinds[i] = (uint8_t)pf_packed_kind(packed->words[i]);
    e->areas[i] = pf_packed_area(packed->words[i]);
    status = pf_events_lane(e, i, &e->numbers[i]);
  }
  e->rows = (pf_event_rows){.times = packed->times,
                            .kinds = e->kinds,
                            .areas = e->areas,
                            .lanes = e->numbers};
  return status;
}


pf_status pf_events_convert (pf_events *e, size_t from, size_t to) {
  return e->is_packed ? unpack(e, from, to) : arrange(e);
}


pf_status pf_events_pull (pf_events *e, bool packed, pf_error *error) {
  pf_reader *const reader = e->reader;
  if (e->slow > e->batch.rows / 8)
    e->waits = PATIENCE;
  e->slow = 0;
  e->waits -= e->waits > 0;
  e->is_packed = packed && e->waits == 0 && reader->pack != NULL &&
                 reader->pack(reader, &e->packed);
  if (!e->is_packed)
    return reader->next(reader, &e->batch, error);
  e->batch.rows = e->packed.rows;
  return PF_MORE;
}


pf_status pf_events_next (pf_events *e, pf_error *error) {
  const pf_status status = pf_events_pull(e, false, error);
  if (status == PF_MORE && arrange(e) != PF_OK)
    return pf_fail(error, PF_ENOMEM, PF_NO_OFFSET, "out of memory");
  return status;
}


pf_status pf_events_lane (pf_events *e, size_t row, uint32_t *number) {
  const pf_packed *const packed = &e->packed;
  const uint32_t lane = pf_packed_lane(packed->words[row]);
  const uint64_t word = packed->threads == NULL
                            ? packed->lanes[lane]
                            : pf_order_int(packed->threads[lane]);
  const size_t at = word & 63;
  *number = e->recent[at].number - 1;
  return e->recent[at].number != 0 && e->recent[at].word == word
             ? PF_OK
             : number_lane(e, word, false, number);
}
