/*
** sections.c - the readers of tables statistics and contexts, which parse the
** rows of their sections, of Text1 or XML, when they are read. Opened by
** open_winidea.c for lua/checked_reader.c, which calls `close`; that frees the
** area cache and the parser of XML.
** Readers may run in several threads, so the mutex of the file protects the
** dictionary, the sections and the warnings.
*/

#include <stdlib.h>

#include "formats/winidea/decode.h"
#include "formats/winidea/text1.h"
#include "formats/winidea/xml/element_rows.h"
#include "model/rows/put_values.h"
#include "model/rows/table_reader.h"

typedef struct section_reader {
  pf_reader reader;
  pf_trace *trace;
  winidea_section_kind kind;
  winidea_section_cursor section;
  uint64_t at, end; /* bytes of the next row and of the end of the known rows */
  winidea_xml *xml; /* of an XML export, once it is read */
  bool is_xml_over; /* its last row has been read */
  winidea_area_cache cache;
} section_reader;


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


/* Fills a row of table contexts. If its handle is invalid, *is_good is set to
   false and nothing is filled. */
static pf_status put_context (section_reader *self,
                              const winidea_fields *fields,
                              const pf_batch *batch, bool *is_good,
                              pf_error *error) {
  uint32_t handle = 0;
  *is_good = winidea_read_handle_of(fields, MACRO_HANDLE, &handle);
  if (!*is_good)
    return PF_OK;
  pf_put_int(&batch->columns[CONTEXTS_handle], batch->rows, handle, true);
  return put_text(self, batch, CONTEXTS_name, fields->of[MACRO_NAME], error);
}


/* Puts the context of a row of statistics: its own, or that of the section. */
static pf_status put_row_context (section_reader *self, pf_bytes context,
                                  pf_column *column, size_t row,
                                  pf_error *error) {
  winidea_file *const file = self->trace->state;
  uint32_t name = self->xml != NULL ? PF_NO_NAME : self->section.now.context;
  if (context.size > 0) {
    pthread_mutex_lock(&file->mutex);
    name = winidea_context_of(self->trace, context);
    pthread_mutex_unlock(&file->mutex);
    if (name == PF_NO_NAME)
      return pf_no_memory(error);
  }
  pf_put_id(column, row, name);
  return PF_OK;
}


#define NUMBERS (STATISTICS_COLUMNS - STATISTICS_COUNT)

/* Fills a row of table statistics, with *is_good as in put_context. The area is
   looked up last, and only if its column is wanted, since that may add one. */
static pf_status put_statistics (section_reader *self,
                                 const winidea_fields *fields,
                                 const pf_batch *batch, bool *is_good,
                                 pf_error *error) {
  const winidea_file *const file = self->trace->state;
  pf_column *const columns = batch->columns;
  const pf_bytes text = pf_trim(fields->of[MACRO_VALUE]);
  const pf_bytes context = fields->of[MACRO_CONTEXT];
  const size_t row = batch->rows;
  pf_bytes numbers[NUMBERS];
  int64_t value = 0, values[NUMBERS] = {0};
  winidea_cached_area cached;
  uint32_t handle = 0;
  *is_good =
      winidea_read_handle_of(fields, MACRO_HANDLE, &handle) &&
      (text.size == 0 || winidea_read_value(text, file->mapping_base, &value));
  for (size_t i = 0; i < NUMBERS; i++) {
    numbers[i] = pf_trim(fields->of[MACRO_COUNT + i]);
    *is_good &=
        numbers[i].size == 0 || winidea_read_decimal(numbers[i], &values[i]);
  }
  if (!*is_good)
    return PF_OK;
  for (size_t i = 0; i < NUMBERS; i++)
    pf_put_int(&columns[STATISTICS_COUNT + i], row, values[i],
               numbers[i].size > 0);
  pf_put_int(&columns[STATISTICS_HANDLE], row, handle, true);
  pf_put_int(&columns[STATISTICS_VALUE], row, value, text.size > 0);
  pf_status status =
      put_row_context(self, context, &columns[STATISTICS_CONTEXT], row, error);
  if (status == PF_OK)
    status =
        put_text(self, batch, STATISTICS_NAME, fields->of[MACRO_NAME], error);
  if (status < 0 || columns[STATISTICS_AREA].data == NULL)
    return status;
  status = winidea_resolve(&self->cache, handle, value, &cached, error);
  if (status == PF_OK)
    pf_put_id(&columns[STATISTICS_AREA], row, cached.area);
  return status;
}


/* Fills a row of the table, with *is_good as in put_context. */
static pf_status put_fields (section_reader *self, const winidea_fields *fields,
                             pf_batch *batch, bool *is_good, pf_error *error) {
  const pf_status status =
      self->kind == WINIDEA_CONTEXTS
          ? put_context(self, fields, batch, is_good, error)
          : put_statistics(self, fields, batch, is_good, error);
  batch->rows += status == PF_OK && *is_good;
  return status;
}


static pf_status read_row (section_reader *self, pf_batch *batch,
                           pf_error *error) {
  winidea_file *const file = self->trace->state;
  const uint64_t offset = self->at;
  winidea_fields fields;
  const pf_bytes row = winidea_line(file->text->bytes, offset, &self->at);
  if (row.size == 0)
    return PF_OK;
  bool is_good = winidea_split(&self->section.format, row, &fields);
  pf_status status = PF_OK;
  if (is_good)
    status = put_fields(self, &fields, batch, &is_good, error);
  if (status < 0 || (is_good && !fields.is_ambiguous))
    return status;
  pthread_mutex_lock(&file->mutex);
  status = is_good
               ? winidea_ambiguous_row(self->trace, offset, row, error)
               : winidea_bad_row(self->trace, offset, row, self->kind, error);
  pthread_mutex_unlock(&file->mutex);
  return status;
}


/* Sets the end of the known rows: that of the section or, while that is open,
   that of the last complete line. */
static void set_end (section_reader *self) {
  const winidea_file *const file = self->trace->state;
  const winidea_section *const now = &self->section.now;
  self->end = now->end != WINIDEA_OPEN
                  ? now->end
                  : winidea_complete_lines(file, file->text->bytes).size;
  if (!now->is_readable)
    self->at = self->end;
}


/* At the end of the known rows, scans the rest of the text for sections, and
   continues the current one or goes to the next one of the kind. PF_OK, PF_END
   after the last section (PF_AGAIN in a live trace), or a failure. */
static pf_status next_rows (section_reader *self, pf_error *error) {
  winidea_file *const file = self->trace->state;
  winidea_section *const now = &self->section.now;
  pthread_mutex_lock(&file->mutex);
  pf_status status = winidea_scan_all(self->trace, error);
  if (status == PF_OK && now->end == WINIDEA_OPEN) {
    now->end = file->sections[self->section.next - 1].end;
    set_end(self);
  }
  pthread_mutex_unlock(&file->mutex);
  if (status != PF_OK || self->at < self->end)
    return status;
  status = now->end == WINIDEA_OPEN
               ? PF_END
               : winidea_next_section(self->trace, self->kind, &self->section,
                                      error);
  if (status != PF_OK)
    return status == PF_END && file->is_live ? PF_AGAIN : status;
  self->at = now->rows;
  set_end(self);
  return PF_OK;
}


/* As step, of XML; in a live trace once it is complete. */
static pf_status read_xml_row (section_reader *self, pf_batch *batch,
                               pf_error *error) {
  winidea_file *const file = self->trace->state;
  winidea_xml_row row;
  bool is_good = true;
  if (self->is_xml_over || !file->has_read_xml)
    return file->is_live ? PF_AGAIN : PF_END;
  if (self->xml == NULL)
    self->xml =
        winidea_xml_new(1u << self->kind, self->trace->dictionary->seed, false);
  pf_status status = self->xml == NULL
                         ? PF_ENOMEM
                         : winidea_xml_next(self->xml, file->xml->bytes, &row);
  if (status == PF_ENOMEM)
    return pf_no_memory(error);
  self->is_xml_over = status == PF_END;
  if (status == PF_OK)
    status = put_fields(self, &row.fields, batch, &is_good, error);
  if (status < 0 || (is_good && !self->is_xml_over))
    return status;
  pthread_mutex_lock(&file->mutex);
  status =
      self->is_xml_over
          ? winidea_xml_end(self->xml, self->trace, file->xml->bytes, error)
          : winidea_bad_xml_row(self->trace, row.offset, self->kind, error);
  pthread_mutex_unlock(&file->mutex);
  return status;
}


static pf_status step (pf_reader *reader, pf_batch *batch, pf_error *error) {
  section_reader *const self = (section_reader *)(void *)reader;
  const winidea_file *const file = self->trace->state;
  if (file->xml != NULL)
    return read_xml_row(self, batch, error);
  return self->at < self->end ? read_row(self, batch, error)
                              : next_rows(self, error);
}


static pf_status section_next (pf_reader *reader, pf_batch *batch,
                               pf_error *error) {
  section_reader *const self = (section_reader *)(void *)reader;
  pf_batch_clear(batch);
  const pf_status status = winidea_update_live(self->trace, error);
  return status < 0 ? status : pf_batch_fill(reader, batch, step, error);
}


static void section_close (pf_reader *reader) {
  section_reader *const self = (section_reader *)(void *)reader;
  winidea_xml_free(self->xml);
  winidea_cache_free(&self->cache);
  free(self);
}


pf_status winidea_open_section (pf_trace *trace, const pf_table *table,
                                pf_reader **reader, pf_error *error) {
  section_reader *const self =
      pf_reader_new(sizeof *self, trace, table, section_next, error);
  if (self == NULL)
    return PF_ENOMEM;
  self->reader.close = section_close;
  self->trace = trace;
  self->cache.trace = trace;
  self->cache.file = trace->state;
  self->cache.is_bypassed = true;
  self->kind = table->fields == winidea_contexts_fields ? WINIDEA_CONTEXTS
                                                        : WINIDEA_STATISTICS;
  *reader = &self->reader;
  return PF_OK;
}
