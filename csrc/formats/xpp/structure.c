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


static bool put_name (const structure_reader *self, pf_column *column,
                      size_t row, const char *text, size_t size) {
  return pf_put_text(self->trace->dictionary, column, row,
                     (pf_bytes){(const uint8_t *)text, size}, size > 0);
}


/* One batch suffices: a table has fewer fields than a batch has rows. Only
   tables have a type. */
static pf_status next (pf_reader *reader, pf_batch *batch, pf_error *error) {
  structure_reader *const self = (structure_reader *)(void *)reader;
  const xpp_file *const file = self->trace->state;
  pf_column *const c = batch->columns;
  pf_batch_clear(batch);
  if (self->has_ended)
    return PF_END;
  self->has_ended = true;
  for (size_t i = 0; i < file->nfields; i++) {
    const char *const name = file->fields[i].name;
    const xpp_role role = xpp_role_of_field(&file->roles, i);
    const char *const word = role == XPP_ROLES ? "" : xpp_role_names[role];
    const bool has_type = !file->is_text;
    const dbf_field none = {0};
    const dbf_field *const field = has_type ? &file->dbf->fields[i] : &none;
    const size_t row = batch->rows++;
    pf_put_int(&c[FIELD_SIZE], row, field->size, has_type);
    pf_put_int(&c[FIELD_DECIMALS], row, field->decimals, has_type);
    pf_put_bool(&c[FIELD_NULLABLE], row, (field->flags & DBF_NULLABLE) != 0,
                has_type);
    if (!put_name(self, &c[FIELD_NAME], row, name, strlen(name)) ||
        !put_name(self, &c[FIELD_ROLE], row, word, strlen(word)) ||
        !put_name(self, &c[FIELD_TYPE], row, &field->type, has_type))
      return pf_no_memory(error);
  }
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
