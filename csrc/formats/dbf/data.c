/*
** data.c - the reader of table data: a column for each field that is not hidden
** (two for a currency), the number of the record, and its delete flag.
**
** Only wanted fields are decoded. Records that the option `deleted` excludes
** end a run, so their fields are never decoded. Opened through pf_table.open by
** lua/checked_reader.c, which calls `close`; that frees the reader and its
** decoder.
*/

#include <stdlib.h>

#include "formats/dbf/internal.h"
#include "model/rows/abilities.h"
#include "model/rows/table_reader.h"

/* Maximum bytes of the records of a batch. Converted text of so many bytes also
   ends a batch. */
#define MAX_BYTES ((size_t)4 << 20)
#define MEMO_ROWS 16 /* rows between checks of this limit, with memos */

typedef struct data_reader {
  pf_reader reader;
  pf_trace *trace;
  const dbf_state *state;
  const dbf_file *file;
  uint64_t record; /* index of the next record */
  size_t max_rows; /* maximum rows of a batch */
  dbf_decoder decoder;
} data_reader;


/* Returns how many records at the start of a run are shown, or with `shown`
   false, are left out. */
static size_t count_shown (const data_reader *self, const dbf_run *run,
                           bool shown) {
  const dbf_shown option = self->state->shown;
  size_t count = 0;
  for (; count < run->count; count++) {
    const bool is_deleted =
        dbf_is_deleted(run->at + count * self->file->record);
    if ((option == DBF_ALL || is_deleted == (option == DBF_ONLY_DELETED)) !=
        shown)
      break;
  }
  return count;
}


/* Find the next records that are shown; the run is empty at the end. Notes once
   that records are left out. */
static pf_status next_run (data_reader *self, size_t max_rows, dbf_run *run,
                           pf_error *error) {
  const pf_bytes bytes = self->trace->sources[0].bytes;
  for (;;) {
    *run = dbf_available(self->file, bytes, self->record, max_rows);
    const size_t hidden = count_shown(self, run, false);
    if (hidden == 0)
      break;
    self->record += hidden;
    if (self->state->shown != DBF_LIVE ||
        pf_warning_total(self->trace->notes, "dbf-deleted") > 0)
      continue;
    const pf_status status = pf_warn(
        self->trace, PF_NOTE, "dbf-deleted", PF_EFORMAT, run->offset, error,
        "records marked as deleted are left out; deleted = \"show\" "
        "shows them");
    if (status != PF_OK)
      return status;
  }
  run->count = count_shown(self, run, true);
  return PF_OK;
}


/* Warn of invalid delete flags. Such records count as not deleted. */
static pf_status check_flags (const data_reader *self, const dbf_run *run,
                              pf_error *error) {
  const size_t size = self->file->record;
  for (size_t i = 0; i < run->count; i++) {
    const uint8_t flag = run->at[i * size];
    if (dbf_is_flag(flag))
      continue;
    const pf_status status =
        pf_warn(self->trace, PF_DAMAGE, "dbf-delete-flag", PF_EFORMAT,
                run->offset + i * size, error,
                "record %llu begins with 0x%02x: 0x20 or 0x2a expected",
                (unsigned long long)(self->record + i + 1), flag);
    if (status != PF_OK)
      return status;
  }
  return PF_OK;
}


static pf_status fill_column (data_reader *self, const dbf_run *run,
                              size_t field, pf_column *column, size_t row,
                              pf_error *error) {
  const dbf_file *const file = self->file;
  if (field == DBF_RECORD)
    for (size_t i = 0; i < run->count; i++)
      column->ints[row + i] = (int64_t)(self->record + i + 1);
  else if (field == DBF_DELETED)
    for (size_t i = 0; i < run->count; i++)
      column->bools[row + i] = dbf_is_deleted(run->at + i * file->record);
  else
    return dbf_fill(&self->decoder, &file->fields[field], run, column, row,
                    error);
  return PF_OK;
}


/* Whether a memo column is wanted: their size is not known before reading. */
static bool wants_memos (const data_reader *self, const pf_batch *batch) {
  for (size_t i = 0; i < self->state->ncolumns; i++) {
    const size_t field = self->state->columns[i];
    if (batch->columns[i].data != NULL && field < self->file->nfields &&
        self->file->fields[field].kind == DBF_MEMO)
      return true;
  }
  return false;
}


static pf_status next (pf_reader *reader, pf_batch *batch, pf_error *error) {
  data_reader *const self = (data_reader *)reader;
  const size_t ahead = wants_memos(self, batch) ? MEMO_ROWS : self->max_rows;
  dbf_run run;
  pf_status status = PF_OK;
  dbf_decoder_begin(&self->decoder);
  pf_batch_clear(batch);
  while (status == PF_OK && batch->rows < self->max_rows &&
         self->decoder.arena.allocated < MAX_BYTES) {
    const size_t left = self->max_rows - batch->rows;
    status = next_run(self, left < ahead ? left : ahead, &run, error);
    if (status != PF_OK || run.count == 0)
      break;
    status = check_flags(self, &run, error);
    for (size_t i = 0; i < self->state->ncolumns && status == PF_OK; i++)
      if (batch->columns[i].data != NULL)
        status = fill_column(self, &run, self->state->columns[i],
                             &batch->columns[i], batch->rows, error);
    self->record += run.count;
    batch->rows += run.count;
  }
  return pf_batch_status(batch, status);
}


/* If all records are shown, the position is computed; otherwise records are
   counted from the first one. */
static pf_status seek (pf_reader *reader, uint64_t row, pf_error *error) {
  data_reader *const self = (data_reader *)reader;
  dbf_run run;
  pf_status status = PF_OK;
  self->record = self->state->shown == DBF_ALL ? row : 0;
  while (self->state->shown != DBF_ALL && row > 0 && status == PF_OK) {
    status = next_run(self, row < PF_BATCH_ROWS ? (size_t)row : PF_BATCH_ROWS,
                      &run, error);
    if (status == PF_OK && run.count == 0)
      break;
    self->record += run.count;
    row -= run.count;
  }
  return status;
}


static void close_reader (pf_reader *reader) {
  data_reader *const self = (data_reader *)reader;
  dbf_decoder_close(&self->decoder);
  free(self);
}


pf_status dbf_open_data (pf_trace *trace, const pf_table *table,
                         pf_reader **reader, pf_error *error) {
  static const pf_abilities abilities = {.seek = seek};
  const dbf_state *const state = trace->state;
  const size_t fit = MAX_BYTES / state->file->record;
  data_reader *const self =
      pf_reader_new(sizeof *self, trace, table, next, error);
  if (self == NULL)
    return PF_ENOMEM;
  self->reader.close = close_reader;
  self->reader.can = &abilities;
  self->trace = trace;
  self->state = state;
  self->file = state->file;
  self->max_rows = fit == 0 ? 1 : fit < PF_BATCH_ROWS ? fit : PF_BATCH_ROWS;
  const pf_status status =
      dbf_decoder_open(&self->decoder, trace, state->file, error);
  return pf_reader_opened(&self->reader, status, reader);
}
