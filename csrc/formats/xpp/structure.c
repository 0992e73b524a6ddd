/*
** structure.c - the reader of table structure: the fields and their roles.
*/

#include "formats/xpp/fields.h"
#include "model/rows/put_values.h"
#include "model/rows/table_reader.h"

enum {
  FIELD_NAME,
  FIELD_ROLE,
  FIELD_TYPE,
  FIELD_SIZE,
  FIELD_DECIMALS,
  FIELD_NULLABLE,
  FIELD_COLUMNS
};

static const pf_field fields[FIELD_COLUMNS] = {
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


/* One batch suffices: a table has fewer fields than a batch has rows. Only
   tables have a type. */
static pf_status next (pf_reader *reader, pf_batch *batch, pf_error *error) {
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
    pf_put_int(&c[FIELD_SIZE], row, field->size, has_type);
    pf_put_int(&c[FIELD_DECIMALS], row, field->decimals, has_type);
    pf_put_bool(&c[FIELD_NULLABLE], row, (field->flags & DBF_NULLABLE) != 0,
                has_type);
    if (!pf_put_text(dictionary, &c[FIELD_NAME], row, name, name.size > 0) ||
        !pf_put_text(dictionary, &c[FIELD_ROLE], row,
                     pf_bytes_of(has_role ? xpp_role_names[role] : ""),
                     has_role) ||
        !pf_put_text(dictionary, &c[FIELD_TYPE], row, type, has_type))
      return pf_no_memory(error);
  }
  return pf_batch_status(batch, PF_END);
}


static pf_status open (pf_trace *trace, const pf_table *table,
                       pf_reader **reader, pf_error *error) {
  structure_reader *const self =
      pf_reader_new(sizeof *self, trace, table, next, error);
  if (self == NULL)
    return PF_ENOMEM;
  self->trace = trace;
  *reader = &self->reader;
  return PF_OK;
}


const pf_table xpp_structure_table = {"structure", fields, FIELD_COLUMNS, -1,
                                      open};
