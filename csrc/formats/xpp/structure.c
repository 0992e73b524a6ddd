/*
** structure.c - the reader of table structure: the fields and their roles.
*/

#include <stdlib.h>
#include <string.h>

#include "formats/xpp/fields.h"
#include "model/rows/batch.h"
#include "model/dictionary/names.h"
#include "model/rows/put_values.h"

enum {
  FIELD_NAME,
  FIELD_ROLE,
  FIELD_TYPE,
  FIELD_SIZE,
  FIELD_DECIMALS,
  FIELD_NULLABLE
};

const pf_field xpp_structure_fields[XPP_STRUCTURE_COLUMNS] = {
    {"name", PF_NAME, "as the file has it, or its number"},
    {"role", PF_NAME, "thread, time, op, call, line, params; missing: others"},
    {"type", PF_NAME, "its letter in a table; missing in text"},
    {"size", PF_INT, "bytes in a record"},
    {"decimals", PF_INT, "digits after the decimal point"},
    {"nullable", PF_BOOL, "it can be null"},
};

typedef struct structure_reader {
  pf_reader reader;
  pf_trace *trace;
  bool has_ended;
} structure_reader;


static pf_status put_name (pf_trace *trace, pf_column *column, size_t row,
                           const char *text, size_t size, pf_error *error) {
  const pf_bytes name = {(const uint8_t *)text, size};
  return pf_put_text(trace->dictionary, column, row, name, size > 0)
             ? PF_OK
             : pf_no_memory(error);
}


/* Sets the columns that only tables have. */
static pf_status put_type (pf_trace *trace, pf_batch *batch, size_t row,
                           const dbf_field *field, pf_error *error) {
  pf_column *const columns = batch->columns;
  const bool known = field != NULL;
  pf_put_int(&columns[FIELD_SIZE], row, known ? field->size : 0, known);
  pf_put_int(&columns[FIELD_DECIMALS], row, known ? field->decimals : 0, known);
  pf_put_bool(&columns[FIELD_NULLABLE], row,
              known && (field->flags & DBF_NULLABLE) != 0, known);
  return put_name(trace, &columns[FIELD_TYPE], row, known ? &field->type : "",
                  known, error);
}


static const char *role_of (const xpp_file *file, size_t field) {
  for (size_t i = 0; i < XPP_ROLES; i++)
    if (file->roles.field[i] == field)
      return xpp_role_names[i];
  return "";
}


/* One batch suffices: a table has fewer fields than a batch has rows. */
static pf_status next (pf_reader *reader, pf_batch *batch, pf_error *error) {
  structure_reader *const self = (structure_reader *)(void *)reader;
  const xpp_file *const file = self->trace->state;
  pf_status status = PF_OK;
  pf_batch_clear(batch);
  if (self->has_ended)
    return PF_END;
  self->has_ended = true;
  for (size_t i = 0; i < file->nfields && status == PF_OK; i++) {
    const char *const name = file->fields[i].name;
    const char *const role = role_of(file, i);
    const size_t row = batch->rows++;
    status = put_name(self->trace, &batch->columns[FIELD_NAME], row, name,
                      strlen(name), error);
    if (status == PF_OK)
      status = put_name(self->trace, &batch->columns[FIELD_ROLE], row, role,
                        strlen(role), error);
    if (status == PF_OK)
      status = put_type(self->trace, batch, row,
                        file->is_text ? NULL : &file->dbf->fields[i], error);
  }
  if (status != PF_OK)
    return status;
  return batch->rows > 0 ? PF_MORE : PF_END;
}


static void close_reader (pf_reader *reader) {
  free(reader);
}


pf_status xpp_open_structure (pf_trace *trace, const pf_table *table,
                              pf_reader **reader, pf_error *error) {
  structure_reader *const self = calloc(1, sizeof *self);
  if (self == NULL)
    return pf_no_memory(error);
  self->reader = (pf_reader){.fields = table->fields,
                             .nfields = table->nfields,
                             .dictionary = trace->dictionary,
                             .next = next,
                             .close = close_reader};
  self->trace = trace;
  *reader = &self->reader;
  return PF_OK;
}
