/*
** areas.c - the table of areas: the rows of the mapping in their order. Where
** there is no mapping the timeline is read for them.
*/

#include <stdlib.h>

#include "formats/winidea/text.h"
#include "model/batch.h"
#include "model/names.h"

typedef struct areas_reader {
  pf_reader reader;
  pf_trace *trace;
  uint32_t row;
} areas_reader;


/* {====== Rows ====== */

static void put_id (pf_column *column, size_t row, uint32_t id) {
  if (column->data == NULL)
    return;
  column->ids[row] = id;
  if (id == PF_NO_NAME)
    pf_set_missing(column, row);
}


static void put_value (pf_column *column, size_t row, int64_t value,
                       bool is_known) {
  if (column->data == NULL)
    return;
  column->ints[row] = value;
  if (!is_known)
    pf_set_missing(column, row);
}


static void put_entry (const winidea_file *file, const winidea_entry *entry,
                       const pf_batch *batch, size_t row) {
  pf_column *const c = batch->columns;
  const bool is_line = winidea_kind(entry->handle) == WINIDEA_LINE;
  put_id(&c[AREAS_AREA], row, entry->area);
  put_value(&c[AREAS_HANDLE], row, entry->handle, true);
  put_value(&c[AREAS_VALUE], row, entry->value, entry->has_value);
  put_id(&c[AREAS_NAME], row, entry->name);
  put_id(&c[AREAS_CLASS], row, file->classes[winidea_kind(entry->handle)]);
  put_id(&c[AREAS_PARENT], row,
         entry->parent == WINIDEA_NO_ENTRY
             ? PF_NO_AREA
             : file->areas.list[entry->parent].area);
  put_id(&c[AREAS_FILE], row, entry->file);
  put_value(&c[AREAS_LINE], row, is_line ? entry->value : 0,
            is_line && entry->has_value);
  put_id(&c[AREAS_TYPE], row, entry->type);
  put_id(&c[AREAS_UNIT], row, entry->unit);
  put_id(&c[AREAS_PATH], row, entry->path);
}


static pf_status areas_next (pf_reader *reader, pf_batch *batch,
                             pf_error *error) {
  areas_reader *const self = (areas_reader *)(void *)reader;
  winidea_file *const file = self->trace->state;
  (void)error;
  pf_batch_clear(batch);
  pthread_mutex_lock(&file->mutex);
  const uint32_t count =
      file->areas.mapped > 0 ? file->areas.mapped : file->areas.count;
  for (; batch->rows < PF_BATCH_ROWS && self->row < count; self->row++)
    put_entry(file, &file->areas.list[self->row], batch, batch->rows++);
  pthread_mutex_unlock(&file->mutex);
  return batch->rows > 0 ? PF_MORE : PF_END;
}


static pf_status areas_seek (pf_reader *reader, uint64_t row, pf_error *error) {
  areas_reader *const self = (areas_reader *)(void *)reader;
  (void)error;
  self->row = row < UINT32_MAX ? (uint32_t)row : UINT32_MAX;
  return PF_OK;
}


static void areas_close (pf_reader *reader) {
  free(reader);
}

/* }====== */


/* Read the areas of the whole timeline: each is met. */
static pf_status meet_all (pf_trace *trace, pf_error *error) {
  static const bool wants_area[TIMELINE_COLUMNS] = {[TIMELINE_AREA] = true};
  const pf_table timeline = {"timeline", winidea_timeline_fields,
                             TIMELINE_COLUMNS, -1, NULL};
  pf_reader *reader;
  pf_batch batch;
  pf_status status = winidea_open_bin(trace, &timeline, &reader, error);
  if (status != PF_OK)
    return status;
  if (pf_batch_open(&batch, reader->fields, reader->nfields, wants_area) !=
      PF_OK)
    status = winidea_no_memory(error);
  while (status == PF_MORE)
    status = reader->next(reader, &batch, error);
  pf_batch_close(&batch);
  reader->close(reader);
  return status < 0 ? status : PF_OK;
}


pf_status winidea_open_areas (pf_trace *trace, const pf_table *table,
                              pf_reader **reader, pf_error *error) {
  winidea_file *const file = trace->state;
  pf_status status = PF_OK;
  pthread_mutex_lock(&file->mutex);
  if (file->text != NULL)
    status = winidea_scan_all(trace, error);
  pthread_mutex_unlock(&file->mutex);
  if (status == PF_OK && file->areas.mapped == 0 && file->timeline != NULL)
    status = meet_all(trace, error);
  if (status < 0)
    return status;
  areas_reader *const self = calloc(1, sizeof *self);
  if (self == NULL)
    return winidea_no_memory(error);
  self->reader = (pf_reader){.fields = table->fields,
                             .nfields = table->nfields,
                             .dictionary = trace->dictionary,
                             .next = areas_next,
                             .seek = areas_seek,
                             .close = areas_close};
  self->trace = trace;
  *reader = &self->reader;
  return PF_OK;
}
