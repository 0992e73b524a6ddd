/*
** ring_encoder.c - adds the journal of a ring to the dictionary, collects the
** ring's records in batches and gives these to the encoder of the format.
*/

#include "model/writer/ring_encoder.h"

#include <stdlib.h>
#include <string.h>

#include "model/base/memory.h"
#include "model/rows/batch.h"

#define NO_TAG PF_RING_FILLER /* pf_ring_encoder.tag: no rows are collected */


static pf_status broken (const char *what, pf_error *error) {
  return pf_fail(error, PF_EFORMAT, PF_NO_OFFSET, "%s of the ring is broken",
                 what);
}


bool pf_ring_encoder_accepts (const pf_table *table) {
  return table->nfields <= PF_TAG_COLUMNS;
}


pf_status pf_ring_encoder_open (pf_ring_encoder *e, const pf_format *format,
                                const pf_option *options, size_t noptions,
                                pf_sink *sink, pf_error *error) {
  *e = (pf_ring_encoder){.sink = sink, .tag = NO_TAG};
  e->dictionary = pf_dictionary_new();
  if (e->dictionary == NULL)
    return pf_no_memory(error);
  const pf_status status =
      format->encoder(options, noptions, e->dictionary, &e->encoder, error);
  if (status != PF_OK)
    return status;
  const bool from_encoder = e->encoder->tables != NULL;
  e->tables = from_encoder ? e->encoder->tables : format->written;
  e->ntables = from_encoder ? e->encoder->ntables : format->nwritten;
  size_t most = 1;
  e->batches = calloc(e->ntables + 1, sizeof *e->batches);
  if (e->batches == NULL)
    return pf_no_memory(error);
  for (size_t i = 0; i < e->ntables; i++) {
    const pf_table *const table = &e->tables[i];
    if (!pf_ring_encoder_accepts(table) || i >= PF_TAG_TABLES)
      continue; /* without a batch: begin_rows refuses its records */
    if (pf_batch_open(&e->batches[i], table->fields, table->nfields, NULL) !=
        PF_OK)
      return pf_no_memory(error);
    most = table->nfields > most ? table->nfields : most;
  }
  e->columns = calloc(most, sizeof *e->columns);
  return e->columns == NULL ? pf_no_memory(error) : PF_OK;
}


void pf_ring_encoder_close (pf_ring_encoder *e) {
  for (size_t i = 0; e->batches != NULL && i < e->ntables; i++)
    pf_batch_close(&e->batches[i]);
  free(e->batches);
  free(e->columns);
  for (int i = 0; i < PF_JOURNAL_KINDS; i++)
    free(e->ids[i].ids);
  if (e->encoder != NULL)
    e->encoder->close(e->encoder);
  pf_dictionary_free(e->dictionary);
  *e = (pf_ring_encoder){.sink = NULL};
}


/* Set *encoded to the encoder's id for an id of the producer; the id for "none"
   is the same in both. False: no journal entry has that id. */
static inline bool translate (const pf_id_map *map, uint64_t id,
                              uint32_t *encoded) {
  if (id < map->count)
    *encoded = map->ids[id];
  else if (id == UINT32_MAX)
    *encoded = UINT32_MAX; /* PF_NO_NAME, PF_NO_AREA, PF_NO_STACK */
  else
    return false;
  return true;
}


/* Set *id to the encoder's id of an area, or to UINT32_MAX when out of memory.
   PF_EFORMAT. */
static pf_status replay_area (pf_ring_encoder *e, pf_bytes text, uint32_t *id,
                              pf_error *error) {
  pf_area area = PF_AREA_NONE;
  uint64_t n[PF_JOURNAL_AREA_NUMBERS];
  if (text.size != sizeof n)
    return broken("an area", error);
  memcpy(n, text.at, sizeof n);
  if (!translate(&e->ids[PF_JOURNAL_NAME], n[0], &area.name) ||
      !translate(&e->ids[PF_JOURNAL_NAME], n[1], &area.class) ||
      !translate(&e->ids[PF_JOURNAL_NAME], n[2], &area.file) ||
      !translate(&e->ids[PF_JOURNAL_AREA], n[3], &area.parent))
    return broken("an area", error);
  area.line = (int64_t)n[4];
  area.handle = n[5];
  area.value = (int64_t)n[6];
  area.has_handle = (n[7] & 1) != 0;
  area.has_value = (n[7] & 2) != 0;
  *id = pf_area_add(e->dictionary, &area);
  return PF_OK;
}


pf_status pf_ring_encoder_replay (pf_ring_encoder *e, pf_ring_cursor *journal,
                                  pf_error *error) {
  uint32_t kind;
  pf_bytes text;
  pf_status status;
  while ((status = pf_ring_journal_next(journal, &kind, &text, error)) ==
         PF_MORE) {
    uint32_t id = UINT32_MAX; /* out of memory */
    switch (kind) {
      case PF_JOURNAL_NAME: id = pf_intern(e->dictionary, text); break;
      case PF_JOURNAL_AREA: status = replay_area(e, text, &id, error); break;
      case PF_JOURNAL_STACK: {
        uint32_t parent, frame;
        if (text.size != 16 ||
            !translate(&e->ids[PF_JOURNAL_STACK], pf_ring_word(text.at),
                       &parent) ||
            !translate(&e->ids[PF_JOURNAL_AREA], pf_ring_word(text.at + 8),
                       &frame))
          status = broken("a stack", error);
        else
          id = pf_stack_push(e->dictionary, parent, frame);
        break;
      }
      default: status = broken("the journal", error);
    }
    if (status != PF_OK)
      return status;
    pf_id_map *const map = &e->ids[kind];
    if (id == UINT32_MAX || !pf_grow(&map->ids, &map->capacity, map->count + 1))
      return pf_no_memory(error);
    map->ids[map->count++] = id;
  }
  return status < 0 ? status : PF_OK;
}


/* Give the collected rows to the encoder, with the columns that have values. */
static pf_status put_batch (pf_ring_encoder *e, pf_error *error) {
  if (e->tag == NO_TAG)
    return PF_OK;
  const size_t number = e->tag >> PF_TAG_COLUMNS;
  const pf_table *const table = &e->tables[number];
  pf_batch *const batch = &e->batches[number];
  pf_batch out = {batch->rows, table->nfields, e->columns};
  for (size_t i = 0; i < table->nfields; i++)
    e->columns[i] = (e->tag >> i & 1) != 0
                        ? batch->columns[i]
                        : (pf_column){.type = table->fields[i].type};
  e->tag = NO_TAG;
  e->rows += batch->rows;
  batch->rows = 0;
  return e->encoder->put(e->encoder, number, &out, e->sink, error);
}


/* The unread words of a record. */
typedef struct words {
  const uint8_t *at;
  size_t left;
} words;


/* Read `count` words at intervals of `step` bytes as ids, and translate
   them. */
static bool take_ids (const pf_id_map *map, const uint8_t *at, size_t step,
                      size_t count, uint32_t *ids) {
  for (size_t i = 0; i < count; i++)
    if (!translate(map, pf_ring_word(at + i * step), &ids[i]))
      return false;
  return true;
}


/* Read one column of `count` records at intervals of `step` bytes. */
static bool take_column (const pf_ring_encoder *e, const uint8_t *at,
                         size_t step, size_t count, const pf_column *column,
                         size_t row) {
  const pf_id_map *const maps = e->ids;
  uint32_t *const ids = column->ids + row;
  switch (column->type) {
    case PF_NAME: return take_ids(&maps[PF_JOURNAL_NAME], at, step, count, ids);
    case PF_AREA: return take_ids(&maps[PF_JOURNAL_AREA], at, step, count, ids);
    case PF_STACK:
      return take_ids(&maps[PF_JOURNAL_STACK], at, step, count, ids);
    case PF_BOOL:
      for (size_t i = 0; i < count; i++)
        column->bools[row + i] = pf_ring_word(at + i * step) != 0;
      return true;
    default: /* int, num, addr, handle: a word of a union */
      for (size_t i = 0; i < count; i++)
        column->addrs[row + i] = pf_ring_word(at + i * step);
      return true;
  }
}


/* Read the value of a column from the words. */
static bool take_value (const pf_ring_encoder *e, words *w, pf_column *column,
                        size_t row) {
  if (w->left == 0)
    return false;
  const uint8_t *const at = w->at;
  w->at += 8;
  w->left--;
  if (column->type != PF_BYTES)
    return take_column(e, at, 8, 1, column, row);
  const uint64_t size = pf_ring_word(at);
  if (size > 8 * (uint64_t)w->left)
    return false;
  const size_t count = ((size_t)size + 7) / 8;
  column->bytes[row] = (pf_bytes){w->at, (size_t)size};
  w->at += 8 * count;
  w->left -= count;
  return true;
}


/* Add one row, with columns of any type. */
static pf_status add_row (pf_ring_encoder *e, pf_batch *batch,
                          const uint8_t *values, size_t count,
                          pf_error *error) {
  words w = {values, count};
  for (size_t i = 0; i < e->nwanted; i++)
    if (!take_value(e, &w, &batch->columns[e->wanted[i]], batch->rows))
      return broken("a record", error);
  if (w.left != 0)
    return broken("a record", error);
  batch->rows++;
  return PF_OK;
}


/* Add the rows of `count` records of one tag and size. Fast path: column by
   column, if each value is one word. If that finds an invalid id, the rows are
   added one by one instead, which keeps those before the invalid one. */
static pf_status add_rows (pf_ring_encoder *e, const pf_ring_record *record,
                           size_t count, pf_error *error) {
  pf_batch *const batch = &e->batches[record->tag >> PF_TAG_COLUMNS];
  const size_t step = 8 * (record->count + 1);
  bool by_column = e->has_fixed_size && record->count == e->nwanted;
  for (size_t i = 0; by_column && i < e->nwanted; i++)
    by_column = take_column(e, record->words + 8 * i, step, count,
                            &batch->columns[e->wanted[i]], batch->rows);
  if (by_column) {
    batch->rows += count;
    return PF_OK;
  }
  pf_status status = PF_OK;
  for (size_t i = 0; i < count && status == PF_OK; i++)
    status = add_row(e, batch, record->words + i * step, record->count, error);
  return status;
}


/* Put the collected rows and begin to collect rows of another tag. */
static pf_status begin_rows (pf_ring_encoder *e, uint32_t tag,
                             pf_error *error) {
  const pf_status status = put_batch(e, error);
  if (status != PF_OK)
    return status;
  const size_t number = tag >> PF_TAG_COLUMNS;
  const uint32_t columns = tag & ((1u << PF_TAG_COLUMNS) - 1);
  if (number >= e->ntables || number >= PF_TAG_TABLES)
    return broken("a record", error);
  const pf_table *const table = &e->tables[number];
  if (!pf_ring_encoder_accepts(table) || columns >> table->nfields != 0)
    return broken("a record", error);
  e->nwanted = 0;
  e->has_fixed_size = true;
  for (size_t i = 0; i < table->nfields; i++)
    if ((tag >> i & 1) != 0) {
      e->wanted[e->nwanted++] = (uint8_t)i;
      e->has_fixed_size &= table->fields[i].type != PF_BYTES;
    }
  e->tag = tag;
  return PF_OK;
}


/* Number of rows that may be added with a tag before begin_rows. */
static size_t free_rows (const pf_ring_encoder *e, uint32_t tag) {
  return tag == e->tag ? PF_BATCH_ROWS - e->batches[tag >> PF_TAG_COLUMNS].rows
                       : 0;
}


pf_status pf_ring_encoder_consume (pf_ring_encoder *e, pf_ring_cursor *records,
                                   uint64_t max_bytes, pf_error *error) {
  const uint64_t start = records->at;
  pf_ring_record record;
  pf_status status = PF_MORE;
  while (status == PF_MORE && records->at - start < max_bytes) {
    const uint64_t left = max_bytes - (records->at - start);
    status = pf_ring_next(records, &record, error);
    if (status == PF_MORE && free_rows(e, record.tag) == 0)
      status = begin_rows(e, record.tag, error);
    if (status != PF_MORE)
      break;
    /* Records of the same tag and size are added together with this one. */
    const size_t free_for = free_rows(e, record.tag) - 1;
    const uint64_t in_bytes = left / (8 * ((uint64_t)record.count + 1));
    const size_t alike = pf_ring_next_alike(
        records, &record, in_bytes < free_for ? (size_t)in_bytes : free_for);
    status = add_rows(e, &record, 1 + alike, error);
  }
  /* Also after a failure: the rows before it are kept. */
  const pf_status put = put_batch(e, error);
  return put != PF_OK ? put : status;
}


/* Write the file and its side files. */
static pf_status flush_sinks (pf_sink *sink, pf_error *error) {
  pf_status status = PF_OK;
  for (; sink != NULL && status == PF_OK; sink = sink->side)
    status = pf_sink_flush(sink, error);
  return status;
}


pf_status pf_ring_encoder_flush (pf_ring_encoder *e, pf_error *error) {
  const pf_status status = e->encoder->flush(e->encoder, e->sink, error);
  return status < 0 ? status : flush_sinks(e->sink, error);
}


pf_status pf_ring_encoder_finish (pf_ring_encoder *e, pf_error *error) {
  const pf_status status = e->encoder->finish(e->encoder, e->sink, error);
  return status < 0 ? status : flush_sinks(e->sink, error);
}
