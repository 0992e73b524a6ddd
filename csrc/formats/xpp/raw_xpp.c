/*
** raw_xpp.c - the readers of table raw, all items of the trace with their bytes
** and fields as stated, and of table structure, the fields and their roles.
** Opened through pf_table.open by lua/checked_reader.c, which calls `close`;
** that frees the reader and its rows. The schema of raw belongs to the
** xpp_file.
*/

#include <string.h>

#include "formats/xpp/parser/fill_rows.h"
#include "model/rows/put_values.h"
#include "model/rows/table_reader.h"

typedef struct raw_reader {
  pf_reader reader;
  pf_trace *trace;
  xpp_file *file;
  uint32_t kinds[XPP_ITEM_KINDS];
  xpp_rows rows;
} raw_reader;

static const pf_field before[RAW_FIELDS] = {
    {"offset", PF_INT, "the byte of its file at which it begins"},
    {"size", PF_INT, "its bytes"},
    {"kind", PF_NAME, "header, entry, deleted, blank, end or rest"},
    {"packet", PF_INT, "the number of its packet; 0: the file itself"},
};


pf_status xpp_raw_schema (xpp_file *file, pf_error *error) {
  static const pf_field bytes_field = {"bytes", PF_BYTES, "all its bytes"};
  file->raw = calloc(RAW_FIELDS + file->nfields + 1, sizeof *file->raw);
  file->shown = calloc(file->nfields + 1, sizeof *file->shown);
  if (file->raw == NULL || file->shown == NULL)
    return pf_no_memory(error);
  memcpy(file->raw, before, sizeof before);
  file->nraw = RAW_FIELDS;
  for (size_t i = 0; i < file->nfields; i++) {
    const char *const name = file->fields[i].name;
    if (xpp_is_hidden(file, i) || strcmp(name, bytes_field.name) == 0 ||
        pf_field_index(before, RAW_FIELDS, name) < RAW_FIELDS)
      continue;
    file->shown[file->nraw - RAW_FIELDS] = i;
    file->raw[file->nraw++] = file->fields[i];
  }
  file->raw[file->nraw++] = bytes_field;
  return PF_OK;
}


static void fill_run (const raw_reader *self, const pf_batch *batch,
                      const xpp_run *run) {
  const xpp_file *const file = self->file;
  const xpp_item *const item = &run->item;
  const uint8_t *const at = xpp_source(&self->rows.parser, item->source).at;
  pf_column *const c = batch->columns;
  size_t segment = 0;
  while (segment + 1 < file->nsegments &&
         file->segments[segment].source != item->source)
    segment++;
  const int64_t packet = (int64_t)file->segments[segment].number;
  for (size_t i = 0; i < item->count; i++) {
    const uint64_t begin = item->offset + i * item->size;
    const size_t row = run->row + i;
    pf_put_int(&c[RAW_OFFSET], row, (int64_t)begin, true);
    pf_put_int(&c[RAW_SIZE], row, (int64_t)item->size, true);
    pf_put_id(&c[RAW_KIND], row, self->kinds[item->kind]);
    pf_put_int(&c[RAW_PACKET], row, packet, true);
    pf_put_bytes(&c[file->nraw - 1], row,
                 (pf_bytes){at + begin, (size_t)item->size}, true);
  }
}


static pf_status open_rows (raw_reader *self, const pf_batch *batch,
                            pf_error *error) {
  const xpp_file *const file = self->file;
  bool *const fields = calloc(file->nfields + 1, sizeof *fields);
  if (fields == NULL)
    return pf_no_memory(error);
  for (size_t i = RAW_FIELDS; i + 1 < file->nraw; i++)
    fields[file->shown[i - RAW_FIELDS]] = batch->columns[i].data != NULL;
  const pf_status status =
      xpp_rows_open(&self->rows, self->trace, fields, true, error);
  free(fields);
  return status;
}


static pf_status next (pf_reader *reader, pf_batch *batch, pf_error *error) {
  raw_reader *const self = (raw_reader *)(void *)reader;
  pf_status status = self->rows.is_open ? PF_OK : open_rows(self, batch, error);
  pf_batch_clear(batch);
  if (status == PF_OK)
    status = xpp_rows_next(&self->rows, PF_BATCH_ROWS, error);
  if (status != PF_MORE)
    return status;
  batch->rows = self->rows.batch.rows;
  for (size_t i = 0; i < self->rows.nruns; i++)
    fill_run(self, batch, &self->rows.runs[i]);
  for (size_t i = RAW_FIELDS; i + 1 < self->file->nraw; i++)
    pf_put_values(&batch->columns[i],
                  &self->rows.batch.columns[self->file->shown[i - RAW_FIELDS]],
                  0, batch->rows);
  return PF_MORE;
}


static void close_reader (pf_reader *reader) {
  raw_reader *const self = (raw_reader *)(void *)reader;
  xpp_rows_close(&self->rows);
  free(self);
}


pf_status xpp_open_raw (pf_trace *trace, const pf_table *table,
                        pf_reader **reader, pf_error *error) {
  raw_reader *const self =
      pf_reader_new(sizeof *self, trace, table, next, error);
  if (self == NULL)
    return PF_ENOMEM;
  self->reader.close = close_reader;
  self->trace = trace;
  self->file = trace->state;
  const pf_status status = pf_intern_texts(trace->dictionary, xpp_item_names,
                                           XPP_ITEM_KINDS, self->kinds, error);
  return pf_reader_opened(&self->reader, status, reader);
}


#define FIELD_LIST(X, T)                                                    \
  X(T, name, NAME, "as the file has it, or its number")                     \
  X(T, role, NAME, "thread, time, op, call, line, params; missing: others") \
  X(T, type, NAME, "its letter in a table; missing in text")                \
  X(T, size, INT, "bytes in a record")                                      \
  X(T, decimals, INT, "digits after the decimal point")                     \
  X(T, nullable, BOOL, "it can be null")
PF_COLUMN_INDEXES(FIELD);
static const pf_field structure_fields[] = PF_COLUMN_FIELDS(FIELD);

typedef struct structure_reader {
  pf_reader reader;
  pf_trace *trace;
  bool has_ended;
} structure_reader;


/* A table has fewer fields than a batch has rows. Only tables have a type. */
static pf_status next_field (pf_reader *reader, pf_batch *batch,
                             pf_error *error) {
  structure_reader *const self = (structure_reader *)(void *)reader;
  const xpp_file *const file = self->trace->state;
  pf_dictionary *const dictionary = self->trace->dictionary;
  pf_column *const c = batch->columns;
  pf_batch_clear(batch);
  if (self->has_ended)
    return PF_END;
  self->has_ended = true;
  for (size_t i = 0; i < file->nfields; i++) {
    const pf_bytes name = pf_bytes_of(file->fields[i].name);
    const xpp_role role = xpp_role_of_field(&file->roles, i);
    const bool has_role = role != XPP_ROLES, has_type = !file->is_text;
    const dbf_field none = {0};
    const dbf_field *const field = has_type ? &file->dbf->fields[i] : &none;
    const pf_bytes type = {(const uint8_t *)&field->type, 1};
    const size_t row = batch->rows++;
    pf_put_int(&c[FIELD_size], row, field->size, has_type);
    pf_put_int(&c[FIELD_decimals], row, field->decimals, has_type);
    pf_put_bool(&c[FIELD_nullable], row, (field->flags & DBF_NULLABLE) != 0,
                has_type);
    if (!pf_put_text(dictionary, &c[FIELD_name], row, name, name.size > 0) ||
        !pf_put_text(dictionary, &c[FIELD_role], row,
                     pf_bytes_of(has_role ? xpp_role_names[role] : ""),
                     has_role) ||
        !pf_put_text(dictionary, &c[FIELD_type], row, type, has_type))
      return pf_no_memory(error);
  }
  return pf_batch_status(batch, PF_END);
}


static pf_status open_structure (pf_trace *trace, const pf_table *table,
                                 pf_reader **reader, pf_error *error) {
  structure_reader *const self =
      pf_reader_new(sizeof *self, trace, table, next_field, error);
  if (self == NULL)
    return PF_ENOMEM;
  self->trace = trace;
  *reader = &self->reader;
  return PF_OK;
}


const pf_table xpp_structure_table = {"structure", structure_fields,
                                      FIELD_COLUMNS, -1, open_structure};
