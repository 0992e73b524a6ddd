/*
** drain.c - learns the journal of a ring, turns its records into batches and
** gives them to an encoder. Nothing that a ring says is trusted.
*/

#include "model/drain.h"

#include <stdlib.h>
#include <string.h>

#include "model/batch.h"

#define NO_TAG PF_RING_FILLER /* no rows wait */


static pf_status no_memory (pf_error *error) {
  return pf_fail(error, PF_ENOMEM, PF_NO_OFFSET, "out of memory");
}


static pf_status broken (const char *what, pf_error *error) {
  return pf_fail(error, PF_EFORMAT, PF_NO_OFFSET, "%s of the ring is broken",
                 what);
}


static uint64_t word_at (const uint8_t *at) {
  uint64_t word;
  memcpy(&word, at, sizeof word);
  return word;
}


/* {====== Making ====== */

bool pf_drain_carries (const pf_table *table) {
  return table->nfields <= PF_TAG_COLUMNS;
}


static pf_status open_batches (pf_drain *drain, pf_error *error) {
  size_t most = 1;
  drain->batches = calloc(drain->ntables + 1, sizeof *drain->batches);
  if (drain->batches == NULL)
    return no_memory(error);
  for (size_t i = 0; i < drain->ntables; i++) {
    const pf_table *const table = &drain->tables[i];
    if (!pf_drain_carries(table) || i >= PF_TAG_TABLES)
      continue;
    if (pf_batch_open(&drain->batches[i], table->fields, table->nfields,
                      NULL) != PF_OK)
      return no_memory(error);
    most = table->nfields > most ? table->nfields : most;
  }
  drain->columns = calloc(most, sizeof *drain->columns);
  return drain->columns == NULL ? no_memory(error) : PF_OK;
}


pf_status pf_drain_open (pf_drain *drain, const pf_format *format,
                         const pf_option *options, size_t noptions,
                         pf_sink *sink, pf_error *error) {
  *drain = (pf_drain){.sink = sink, .tag = NO_TAG};
  drain->dictionary = pf_dictionary_new();
  if (drain->dictionary == NULL)
    return no_memory(error);
  const pf_status status = format->encoder(options, noptions, drain->dictionary,
                                           &drain->encoder, error);
  if (status != PF_OK)
    return status;
  const bool has_own = drain->encoder->tables != NULL;
  drain->tables = has_own ? drain->encoder->tables : format->written;
  drain->ntables = has_own ? drain->encoder->ntables : format->nwritten;
  return open_batches(drain, error);
}


void pf_drain_close (pf_drain *drain) {
  for (size_t i = 0; drain->batches != NULL && i < drain->ntables; i++)
    pf_batch_close(&drain->batches[i]);
  free(drain->batches);
  free(drain->columns);
  for (int i = 0; i < PF_JOURNAL_KINDS; i++)
    free(drain->numbers[i].list);
  if (drain->encoder != NULL)
    drain->encoder->close(drain->encoder);
  pf_dictionary_free(drain->dictionary);
  *drain = (pf_drain){.sink = NULL};
}

/* }====== */


/* {====== The journal ====== */

static pf_status add_number (pf_numbers *numbers, uint32_t number,
                             pf_error *error) {
  if (numbers->count == numbers->room) {
    const size_t room = numbers->room == 0 ? 256 : numbers->room * 2;
    uint32_t *const list = realloc(numbers->list, room * sizeof *list);
    if (list == NULL)
      return no_memory(error);
    numbers->list = list;
    numbers->room = room;
  }
  numbers->list[numbers->count++] = number;
  return PF_OK;
}


/* The drain's number for one of the producer's; "none" stays. */
static bool translate (const pf_drain *drain, int kind, uint64_t number,
                       uint32_t *own) {
  const pf_numbers *const numbers = &drain->numbers[kind];
  *own = UINT32_MAX; /* PF_NO_NAME, PF_NO_AREA, PF_NO_STACK */
  if (number == UINT32_MAX)
    return true;
  if (number >= numbers->count)
    return false;
  *own = numbers->list[number];
  return true;
}


static pf_status learn_name (pf_drain *drain, pf_bytes text, pf_error *error) {
  const uint32_t name = pf_intern(drain->dictionary, text);
  if (name == PF_NO_NAME)
    return no_memory(error);
  return add_number(&drain->numbers[PF_JOURNAL_NAME], name, error);
}


static pf_status learn_area (pf_drain *drain, pf_bytes text, pf_error *error) {
  pf_area area = PF_AREA_NONE;
  uint64_t n[PF_JOURNAL_AREA_NUMBERS];
  if (text.size != sizeof n)
    return broken("an area", error);
  memcpy(n, text.at, sizeof n);
  if (!translate(drain, PF_JOURNAL_NAME, n[0], &area.name) ||
      !translate(drain, PF_JOURNAL_NAME, n[1], &area.class) ||
      !translate(drain, PF_JOURNAL_NAME, n[2], &area.file) ||
      !translate(drain, PF_JOURNAL_AREA, n[3], &area.parent))
    return broken("an area", error);
  area.line = (int64_t)n[4];
  area.handle = n[5];
  area.value = (int64_t)n[6];
  area.has_handle = (n[7] & 1) != 0;
  area.has_value = (n[7] & 2) != 0;
  const uint32_t number = pf_area_add(drain->dictionary, &area);
  if (number == PF_NO_AREA)
    return no_memory(error);
  return add_number(&drain->numbers[PF_JOURNAL_AREA], number, error);
}


static pf_status learn_stack (pf_drain *drain, pf_bytes text, pf_error *error) {
  uint32_t parent, frame;
  if (text.size != 16 ||
      !translate(drain, PF_JOURNAL_STACK, word_at(text.at), &parent) ||
      !translate(drain, PF_JOURNAL_AREA, word_at(text.at + 8), &frame))
    return broken("a stack", error);
  const uint32_t number = pf_stack_push(drain->dictionary, parent, frame);
  if (number == PF_NO_STACK)
    return no_memory(error);
  return add_number(&drain->numbers[PF_JOURNAL_STACK], number, error);
}


pf_status pf_drain_learn (pf_drain *drain, pf_ring_walk *journal,
                          pf_error *error) {
  uint32_t kind;
  pf_bytes text;
  pf_status status;
  while ((status = pf_ring_entry(journal, &kind, &text, error)) == PF_MORE) {
    switch (kind) {
      case PF_JOURNAL_NAME: status = learn_name(drain, text, error); break;
      case PF_JOURNAL_AREA: status = learn_area(drain, text, error); break;
      case PF_JOURNAL_STACK: status = learn_stack(drain, text, error); break;
      default: status = broken("the journal", error);
    }
    if (status != PF_OK)
      return status;
  }
  return status < 0 ? status : PF_OK;
}

/* }====== */


/* {====== Records ====== */

/* Give the rows that wait to the encoder: only columns that have values. */
static pf_status put_batch (pf_drain *drain, pf_error *error) {
  if (drain->tag == NO_TAG)
    return PF_OK;
  const size_t number = drain->tag >> PF_TAG_COLUMNS;
  const pf_table *const table = &drain->tables[number];
  pf_batch *const batch = &drain->batches[number];
  pf_batch out = {batch->rows, table->nfields, drain->columns, -1, false};
  for (size_t i = 0; i < table->nfields; i++)
    drain->columns[i] = (drain->tag >> i & 1) != 0
                            ? batch->columns[i]
                            : (pf_column){.type = table->fields[i].type};
  drain->tag = NO_TAG;
  drain->rows += batch->rows;
  batch->rows = 0;
  return drain->encoder->put(drain->encoder, number, &out, drain->sink, error);
}


/* Whether the tag is of a table and of columns it has. */
static bool is_known (const pf_drain *drain, uint32_t tag) {
  const size_t number = tag >> PF_TAG_COLUMNS;
  if (number >= drain->ntables || number >= PF_TAG_TABLES)
    return false;
  const pf_table *const table = &drain->tables[number];
  const uint32_t columns = tag & ((1u << PF_TAG_COLUMNS) - 1);
  return pf_drain_carries(table) && columns >> table->nfields == 0;
}


/* The words of a record that have not been taken. */
typedef struct words {
  const uint8_t *at;
  size_t left;
} words;


static bool take_bytes (words *w, uint64_t size, pf_bytes *bytes) {
  if (size > 8 * (uint64_t)w->left)
    return false;
  const size_t count = ((size_t)size + 7) / 8;
  *bytes = (pf_bytes){w->at, (size_t)size};
  w->at += 8 * count;
  w->left -= count;
  return true;
}


/* Take the value of a column from the words. */
static bool take_value (const pf_drain *drain, words *w, pf_column *column,
                        size_t row) {
  if (w->left == 0)
    return false;
  const uint64_t word = word_at(w->at);
  w->at += 8;
  w->left--;
  switch (column->type) {
    case PF_BOOL: column->bools[row] = word != 0; return true;
    case PF_NAME:
      return translate(drain, PF_JOURNAL_NAME, word, &column->ids[row]);
    case PF_AREA:
      return translate(drain, PF_JOURNAL_AREA, word, &column->ids[row]);
    case PF_STACK:
      return translate(drain, PF_JOURNAL_STACK, word, &column->ids[row]);
    case PF_BYTES: return take_bytes(w, word, &column->bytes[row]);
    default: column->addrs[row] = word; return true;
  }
}


/* One row, whatever its columns are. */
static pf_status add_row (pf_drain *drain, pf_batch *batch,
                          const uint8_t *values, size_t count,
                          pf_error *error) {
  words w = {values, count};
  for (size_t i = 0; i < drain->nwanted; i++)
    if (!take_value(drain, &w, &batch->columns[drain->wanted[i]], batch->rows))
      return broken("a record", error);
  if (w.left != 0)
    return broken("a record", error);
  batch->rows++;
  return PF_OK;
}


/* Words that lie `step` bytes one from the other, as numbers of the drain. */
static bool take_numbers (const pf_numbers *numbers, const uint8_t *at,
                          size_t step, size_t count, uint32_t *ids) {
  for (size_t i = 0; i < count; i++) {
    const uint64_t number = word_at(at + i * step);
    if (number < numbers->count)
      ids[i] = numbers->list[number];
    else if (number == UINT32_MAX)
      ids[i] = UINT32_MAX; /* PF_NO_NAME, PF_NO_AREA, PF_NO_STACK */
    else
      return false;
  }
  return true;
}


/* A column of some rows. */
static bool take_column (const pf_drain *drain, const uint8_t *at, size_t step,
                         size_t count, const pf_column *column, size_t row) {
  const pf_numbers *const n = drain->numbers;
  uint32_t *const ids = column->ids + row;
  switch (column->type) {
    case PF_NAME:
      return take_numbers(&n[PF_JOURNAL_NAME], at, step, count, ids);
    case PF_AREA:
      return take_numbers(&n[PF_JOURNAL_AREA], at, step, count, ids);
    case PF_STACK:
      return take_numbers(&n[PF_JOURNAL_STACK], at, step, count, ids);
    case PF_BOOL:
      for (size_t i = 0; i < count; i++)
        column->bools[row + i] = word_at(at + i * step) != 0;
      return true;
    default:
      for (size_t i = 0; i < count; i++)
        column->addrs[row + i] = word_at(at + i * step);
      return true;
  }
}


/* Rows of records that are alike: column by column where each value takes a
   word. Where one is broken, row by row up to that. */
static pf_status add_rows (pf_drain *drain, const pf_ring_record *record,
                           size_t count, pf_error *error) {
  pf_batch *const batch = &drain->batches[record->tag >> PF_TAG_COLUMNS];
  const size_t step = 8 * (record->count + 1);
  bool done = drain->is_plain && record->count == drain->nwanted;
  for (size_t i = 0; done && i < drain->nwanted; i++)
    done = take_column(drain, record->words + 8 * i, step, count,
                       &batch->columns[drain->wanted[i]], batch->rows);
  if (done) {
    batch->rows += count;
    return PF_OK;
  }
  pf_status status = PF_OK;
  for (size_t i = 0; i < count && status == PF_OK; i++)
    status =
        add_row(drain, batch, record->words + i * step, record->count, error);
  return status;
}


/* From here on rows are of a tag. */
static pf_status begin_rows (pf_drain *drain, uint32_t tag, pf_error *error) {
  const pf_status status = put_batch(drain, error);
  if (status != PF_OK)
    return status;
  if (!is_known(drain, tag))
    return broken("a record", error);
  const pf_table *const table = &drain->tables[tag >> PF_TAG_COLUMNS];
  drain->nwanted = 0;
  drain->is_plain = true;
  for (size_t i = 0; i < table->nfields; i++)
    if ((tag >> i & 1) != 0) {
      drain->wanted[drain->nwanted++] = (uint8_t)i;
      drain->is_plain &= table->fields[i].type != PF_BYTES;
    }
  drain->tag = tag;
  return PF_OK;
}


/* How many rows the batch of a tag has room for. */
static size_t room_of (const pf_drain *drain, uint32_t tag) {
  return tag == drain->tag
             ? PF_BATCH_ROWS - drain->batches[tag >> PF_TAG_COLUMNS].rows
             : 0;
}


/* How many more records like one to take with it: no more than the batch has room
   for, or than lie within so many bytes. */
static size_t more_of (const pf_drain *drain, const pf_ring_record *record,
                       uint64_t bytes) {
  const size_t room = room_of(drain, record->tag) - 1;
  const uint64_t more = bytes / (8 * ((uint64_t)record->count + 1));
  return more < room ? (size_t)more : room;
}


pf_status pf_drain_encode (pf_drain *drain, pf_ring_walk *records,
                           uint64_t most, pf_error *error) {
  const uint64_t start = records->at;
  pf_ring_record record;
  pf_status status = PF_MORE;
  while (status == PF_MORE && records->at - start < most) {
    const uint64_t left = most - (records->at - start);
    status = pf_ring_next(records, &record, error);
    if (status == PF_MORE && room_of(drain, record.tag) == 0)
      status = begin_rows(drain, record.tag, error);
    if (status == PF_MORE)
      status = add_rows(
          drain, &record,
          1 + pf_ring_more(records, &record, more_of(drain, &record, left)),
          error);
  }
  const pf_status put = put_batch(drain, error);
  return put != PF_OK ? put : status;
}

/* }====== */


/* {====== Out ====== */

static pf_status flush_sinks (pf_sink *sink, pf_error *error) {
  pf_status status = PF_OK;
  for (; sink != NULL && status == PF_OK; sink = sink->side)
    status = pf_sink_flush(sink, error);
  return status;
}


pf_status pf_drain_flush (pf_drain *drain, pf_error *error) {
  const pf_status status =
      drain->encoder->flush(drain->encoder, drain->sink, error);
  return status < 0 ? status : flush_sinks(drain->sink, error);
}


pf_status pf_drain_finish (pf_drain *drain, pf_error *error) {
  const pf_status status =
      drain->encoder->finish(drain->encoder, drain->sink, error);
  return status < 0 ? status : flush_sinks(drain->sink, error);
}

/* }====== */
