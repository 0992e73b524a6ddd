/*
** sections.c - the readers of tables statistics and contexts, which
** parse the rows of their sections when they are read.
*/

#include <stdlib.h>

#include "formats/winidea/decode.h"
#include "formats/winidea/text1.h"
#include "model/rows/batch.h"
#include "model/dictionary/names.h"
#include "model/rows/put_values.h"
#include "model/rows/table_reader.h"

typedef struct section_reader section_reader;
struct section_reader {
  pf_reader reader;
  pf_trace *trace;
  winidea_section_kind kind;
  const char *expected; /* what a row should be, for messages */
  size_t section;       /* index of the next section to examine */
  winidea_section now;
  winidea_rowformat format;
  uint64_t at; /* byte of the next row; now.end: the section is finished */
  winidea_area_cache cache;
  /* Puts a row; clears *is_good if it does not match the header. */
  pf_status (*put)(section_reader *self, const winidea_fields *fields,
                   const pf_batch *batch, bool *is_good, pf_error *error);
};


static pf_status put_text (section_reader *self, const pf_batch *batch,
                           size_t column, pf_bytes text, pf_error *error) {
  winidea_file *const file = self->trace->state;
  pthread_mutex_lock(&file->mutex);
  const bool is_good =
      pf_put_text(self->trace->dictionary, &batch->columns[column], batch->rows,
                  text, text.size > 0);
  pthread_mutex_unlock(&file->mutex);
  return is_good ? PF_OK : pf_no_memory(error);
}


/* Parses an integer that may be empty or not in the format. */
static bool take_number (pf_bytes text, int64_t *number, bool *is_known) {
  text = winidea_trim(text);
  *is_known = text.size > 0;
  *number = 0;
  return !*is_known || winidea_read_decimal(text, number);
}


static pf_status put_context (section_reader *self,
                              const winidea_fields *fields,
                              const pf_batch *batch, bool *is_good,
                              pf_error *error) {
  uint32_t handle = 0;
  *is_good = winidea_read_handle(fields->of[MACRO_HANDLE], &handle);
  if (!*is_good)
    return PF_OK;
  pf_put_int(&batch->columns[CONTEXTS_HANDLE], batch->rows, handle, true);
  return put_text(self, batch, CONTEXTS_NAME, fields->of[MACRO_NAME], error);
}


/* Put the area with this handle and value, if it is wanted. */
static pf_status put_area (section_reader *self, const pf_batch *batch,
                           uint32_t handle, int64_t value, pf_error *error) {
  winidea_cached_area cached;
  if (batch->columns[STATISTICS_AREA].data == NULL)
    return PF_OK;
  const pf_status status =
      winidea_resolve(&self->cache, handle, value, &cached, error);
  if (status == PF_OK)
    pf_put_id(&batch->columns[STATISTICS_AREA], batch->rows, cached.area);
  return status;
}


static pf_status put_statistics (section_reader *self,
                                 const winidea_fields *fields,
                                 const pf_batch *batch, bool *is_good,
                                 pf_error *error) {
  const winidea_file *const file = self->trace->state;
  const pf_bytes text = winidea_trim(fields->of[MACRO_VALUE]);
  const pf_bytes context = fields->of[MACRO_CONTEXT];
  uint32_t handle = 0;
  int64_t value = 0, number;
  bool is_known;
  pf_status status = PF_OK;
  *is_good = winidea_read_handle(fields->of[MACRO_HANDLE], &handle) &&
             (text.size == 0 ||
              winidea_read_value(text, file->mapping_base, &value)) &&
             take_number(fields->of[MACRO_COUNT], &number, &is_known);
  if (*is_good)
    pf_put_int(&batch->columns[STATISTICS_COUNT], batch->rows, number,
               is_known);
  /* the macros of the times are in the order of the columns */
  for (size_t i = 0; *is_good && i < STATISTICS_COLUMNS - STATISTICS_NET; i++) {
    *is_good = take_number(fields->of[MACRO_NET + i], &number, &is_known);
    pf_put_int(&batch->columns[STATISTICS_NET + i], batch->rows, number,
               is_known);
  }
  if (!*is_good)
    return PF_OK;
  pf_put_int(&batch->columns[STATISTICS_HANDLE], batch->rows, handle, true);
  pf_put_int(&batch->columns[STATISTICS_VALUE], batch->rows, value,
             text.size > 0);
  if (context.size > 0)
    status = put_text(self, batch, STATISTICS_CONTEXT, context, error);
  else
    pf_put_id(&batch->columns[STATISTICS_CONTEXT], batch->rows,
              self->now.context);
  if (status == PF_OK)
    status =
        put_text(self, batch, STATISTICS_NAME, fields->of[MACRO_NAME], error);
  return status < 0 ? status : put_area(self, batch, handle, value, error);
}


static pf_status read_row (section_reader *self, pf_batch *batch,
                           pf_error *error) {
  winidea_file *const file = self->trace->state;
  const uint64_t offset = self->at;
  winidea_fields fields;
  const pf_bytes row = winidea_line(file->text->bytes, offset, &self->at);
  if (row.size == 0)
    return PF_OK;
  bool is_good = winidea_split(&self->format, row, &fields);
  pf_status status = PF_OK;
  if (is_good)
    status = self->put(self, &fields, batch, &is_good, error);
  if (status < 0)
    return status;
  batch->rows += is_good;
  if (is_good)
    return PF_OK;
  const uint64_t bit = (uint64_t)1 << (batch->rows & 63);
  for (size_t i = 0; i < batch->ncolumns; i++) /* the row is dropped */
    if (batch->columns[i].has_missing)
      batch->columns[i].missing[batch->rows >> 6] &= ~bit;
  pthread_mutex_lock(&file->mutex);
  status = winidea_bad_row(self->trace, offset, row, self->expected, error);
  pthread_mutex_unlock(&file->mutex);
  return status;
}


/* Reads the next row; before that, opens the next section of the kind if needed,
   after scanning the whole text. */
static pf_status step (pf_reader *reader, pf_batch *batch, pf_error *error) {
  section_reader *const self = (section_reader *)(void *)reader;
  winidea_file *const file = self->trace->state;
  bool found = false;
  if (self->at < self->now.end)
    return read_row(self, batch, error);
  pthread_mutex_lock(&file->mutex);
  pf_status status = winidea_scan_all(self->trace, error);
  pthread_mutex_unlock(&file->mutex);
  if (status == PF_OK)
    status = winidea_next_section(self->trace, self->kind, &self->section,
                                  &self->now, &self->format, &found, error);
  if (status < 0 || !found)
    return status < 0 ? status : PF_END;
  self->at = !self->now.is_readable ? self->now.end : self->now.rows;
  return PF_OK;
}


static pf_status section_next (pf_reader *self, pf_batch *batch,
                               pf_error *error) {
  return pf_batch_fill(self, batch, step, error);
}


static void section_close (pf_reader *reader) {
  section_reader *const self = (section_reader *)(void *)reader;
  winidea_cache_free(&self->cache);
  free(self);
}


pf_status winidea_open_section (pf_trace *trace, const pf_table *table,
                                pf_reader **reader, pf_error *error) {
  const bool is_contexts = table->fields == winidea_contexts_fields;
  section_reader *const self =
      pf_reader_new(sizeof *self, trace, table, section_next, error);
  if (self == NULL)
    return PF_ENOMEM;
  self->reader.close = section_close;
  self->trace = trace;
  self->cache.trace = trace;
  self->cache.file = trace->state;
  self->kind = is_contexts ? WINIDEA_CONTEXTS : WINIDEA_STATISTICS;
  self->put = is_contexts ? put_context : put_statistics;
  self->expected = is_contexts ? "a context as the header says"
                               : "statistics as the header says";
  *reader = &self->reader;
  return PF_OK;
}
