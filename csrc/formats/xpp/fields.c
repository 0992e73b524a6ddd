/*
** fields.c - finds the fields in the table header or the row of names, and
** their roles from the first rows. Called by open_xpp.c. The arrays of fields
** and names belong to the xpp_file, and `close` of open_xpp.c frees them.
*/

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/xpp/parser/fill_rows.h"
#include "model/dictionary/names.h"
#include "model/rows/batch.h"

#define HEAD_BYTES    65536 /* bytes in which the separator is searched */
#define FIRST_ROWS    4     /* rows that must have an operation each */
#define SAMPLE_ROWS   1024  /* rows examined to find the roles */
#define NAME_SIZE     60    /* bytes of a field name in text, at most */
#define NAME_CAPACITY 90    /* the same with "_number" appended */


/* The first bytes that are text: of the main file or, if that is empty, of the
   first packet that is not. */
static pf_bytes first_text (const pf_trace *trace) {
  for (size_t i = 0; i < trace->nsources; i++)
    if (trace->sources[i].bytes.size > 0 &&
        (i == 0 || strcmp(trace->sources[i].role, "packet") == 0))
      return trace->sources[i].bytes;
  return trace->sources[0].bytes;
}


/* Scans the first row that is not blank. Returns the number of cells, or 0. */
static size_t first_row (pf_bytes head, uint8_t separator, xpp_cell *cells,
                         size_t capacity) {
  xpp_scanner scanner = {separator, UINT64_MAX};
  for (uint64_t at = 0; at < head.size;) {
    const xpp_row row = xpp_scan_row(&scanner, head, at, cells, capacity);
    if (row.cells > 1 || !xpp_is_line_end(head.at[at]))
      return row.cells < capacity ? row.cells : capacity;
    at = row.end;
  }
  return 0;
}


/* Names the fields by the row of names, with the number appended if a name is
   used already, else "fieldN". */
static pf_status name_text_fields (xpp_file *file, const xpp_cell *cells,
                                   size_t count, pf_error *error) {
  file->fields = calloc(file->nfields + 1, sizeof *file->fields);
  file->names = calloc(file->nfields + 1, NAME_CAPACITY);
  if (file->fields == NULL || file->names == NULL)
    return pf_no_memory(error);
  for (size_t i = 0; i < file->nfields; i++) {
    char *const name = file->names + i * NAME_CAPACITY;
    const pf_bytes text = file->has_names && i < count
                              ? xpp_trim(cells[i].text)
                              : (pf_bytes){(const uint8_t *)"", 0};
    const int size = (int)(text.size < NAME_SIZE ? text.size : NAME_SIZE);
    (void)snprintf(name, NAME_CAPACITY, "%.*s", size, (const char *)text.at);
    if (size == 0)
      (void)snprintf(name, NAME_CAPACITY, "field%zu", i + 1);
    else if (pf_field_index(file->fields, i, name) < i)
      (void)snprintf(name, NAME_CAPACITY, "%.*s_%zu", size,
                     (const char *)text.at, i + 1);
    file->fields[i] = (pf_field){name, PF_BYTES, NULL};
  }
  return PF_OK;
}


/* Whether the option code_page names one; *option is its value. */
static bool gives_code_page (const pf_trace *trace, pf_bytes *option) {
  return pf_option_text(trace, "code_page", option) &&
         !pf_option_is(trace, "code_page", "auto");
}


/* Only the option states the code page of text. */
static pf_status find_text_fields (pf_trace *trace, xpp_file *file,
                                   pf_error *error) {
  const pf_bytes bytes = first_text(trace);
  const pf_bytes head = {bytes.at,
                         bytes.size < HEAD_BYTES ? bytes.size : HEAD_BYTES};
  pf_bytes option;
  uint8_t given = 0;
  file->is_text = true;
  pf_status status = xpp_separator_option(trace, &given, error);
  if (status != PF_OK)
    return status;
  file->separator = xpp_detect_separator(head, head.size == bytes.size, given,
                                         &file->nfields);
  if (file->separator == 0)
    return pf_fail(error, PF_EFORMAT, 0,
                   "a table, or rows of text with separators expected, found "
                   "neither");
  xpp_cell *const cells = calloc(file->nfields, sizeof *cells);
  if (cells == NULL)
    return pf_no_memory(error);
  const size_t count = first_row(head, file->separator, cells, file->nfields);
  file->has_names = xpp_are_names(cells, count);
  status = name_text_fields(file, cells, count, error);
  free(cells);
  if (status != PF_OK)
    return status;
  if (!gives_code_page(trace, &option))
    return PF_OK; /* the charset is zeroed: bytes as they are */
  return pf_charset_open_given(&file->charset, option, error);
}


static pf_status find_table_fields (pf_trace *trace, xpp_file *file,
                                    pf_error *error) {
  const pf_status status = dbf_open(trace, &file->dbf, error);
  if (status != PF_OK)
    return status;
  const dbf_file *const dbf = file->dbf;
  file->nfields = dbf->nfields;
  file->fields = calloc(dbf->nfields + 1, sizeof *file->fields);
  if (file->fields == NULL)
    return pf_no_memory(error);
  for (size_t i = 0; i < dbf->nfields; i++)
    file->fields[i] = (pf_field){dbf->fields[i].name, dbf->fields[i].column,
                                 "as the file has it"};
  return PF_OK;
}


pf_status xpp_find_fields (pf_trace *trace, xpp_file *file, pf_error *error) {
  const pf_bytes bytes = trace->sources[0].bytes;
  const bool is_table = pf_option_is(trace, "form", "foxdbe") ||
                        (!pf_option_is(trace, "form", "deldbe") &&
                         !pf_option_is(trace, "form", "text") &&
                         dbf_score(bytes, bytes.size) > 0);
  return is_table ? find_table_fields(trace, file, error)
                  : find_text_fields(trace, file, error);
}


static xpp_kind kind_of (const xpp_file *file, size_t number) {
  if (file->is_text)
    return XPP_TEXT;
  const dbf_field *const field = &file->dbf->fields[number];
  if (field->column == PF_INT || field->column == PF_NUM)
    return XPP_NUMBER;
  return field->kind == DBF_TEXT   ? XPP_TEXT
         : field->kind == DBF_MEMO ? XPP_MEMO
                                   : XPP_OTHER;
}


/* Describes a field by its name and its values in the first rows. */
static xpp_candidate candidate_of (const xpp_file *file, const pf_batch *batch,
                                   size_t field) {
  const bool has_name = !file->is_text || file->has_names;
  const char *const name = file->fields[field].name;
  const pf_column *const column = &batch->columns[field];
  xpp_candidate found = {
      .name = {(const uint8_t *)name, has_name ? strlen(name) : 0},
      .kind = kind_of(file, field),
      .width = file->is_text ? 0 : file->dbf->fields[field].size,
      .has_no_text = column->type != PF_BYTES};
  for (size_t row = 0; row < batch->rows; row++) {
    if (pf_is_missing(column, row))
      continue;
    if (column->type == PF_BYTES)
      xpp_stats_text(&found.stats, column->bytes[row]);
    else if (column->type == PF_INT)
      xpp_stats_number(&found.stats, column->ints[row]);
    else if (column->type == PF_NUM && column->nums[row] > -1e15 &&
             column->nums[row] < 1e15)
      xpp_stats_number(&found.stats, (int64_t)column->nums[row]);
  }
  return found;
}


static pf_status report_roles (pf_trace *trace, const xpp_file *file,
                               pf_error *error) {
  const xpp_roles *const roles = &file->roles;
  pf_status status = PF_OK;
  if (roles->duplicate != XPP_NO_FIELD)
    status = pf_warn(
        trace, PF_NOTE, "xpp-two-fields", PF_EFORMAT, PF_NO_OFFSET, error,
        "field %.60s has the same role as another field, which is used",
        file->fields[roles->duplicate].name);
  if (status == PF_OK && !xpp_is_mapped(roles))
    return pf_warn(trace, PF_NOTE, "xpp-no-roles", PF_EFORMAT, PF_NO_OFFSET,
                   error,
                   "no fields found for the operation and the function, so "
                   "there is no table entries; name them with map = FIELDS");
  if (status == PF_OK && roles->is_guessed)
    status = pf_warn(trace, PF_NOTE, "xpp-fields-guessed", PF_EFORMAT,
                     PF_NO_OFFSET, error,
                     "the roles of the fields are guessed from their values; "
                     "if they are wrong, set them with map = FIELDS");
  return status;
}


static pf_status assign_roles (pf_trace *trace, xpp_file *file,
                               const pf_batch *batch, pf_error *error) {
  xpp_roles *const roles = &file->roles;
  pf_status status = PF_OK;
  pf_bytes map;
  xpp_candidate *const fields = calloc(file->nfields + 1, sizeof *fields);
  if (fields == NULL)
    return pf_no_memory(error);
  for (size_t i = 0; i < file->nfields; i++)
    fields[i] = candidate_of(file, batch, i);
  for (xpp_role role = 0; role < XPP_ROLES; role++)
    roles->is_absent[role] = xpp_settings_lack(file->settings, role);
  if (pf_option_text(trace, "map", &map))
    status = xpp_map_option(fields, file->nfields, map, roles, error);
  if (status == PF_OK)
    xpp_map_roles(fields, file->nfields, roles);
  free(fields);
  return status == PF_OK ? report_roles(trace, file, error) : status;
}


static bool is_same (const pf_column *column, size_t row, size_t other) {
  if (column == NULL)
    return true;
  if (pf_is_missing(column, row) || pf_is_missing(column, other))
    return false;
  if (column->type == PF_INT)
    return column->ints[row] == column->ints[other];
  if (column->type == PF_NUM)
    return column->nums[row] == column->nums[other];
  if (column->type != PF_BYTES)
    return false;
  return pf_text_compare(xpp_trim(column->bytes[row]),
                         xpp_trim(column->bytes[other])) == 0;
}


/* The operation in a row, or 0 if it is not valid. */
static uint8_t op_in (const pf_column *op, size_t row) {
  if (op->type != PF_BYTES || pf_is_missing(op, row))
    return 0;
  const pf_bytes text = xpp_trim(op->bytes[row]);
  return text.size == 1 && memchr("iIoO", text.at[0], 4) != NULL ? text.at[0]
                                                                 : 0;
}


/* Sets is_unfiltered if i X is directly followed by I X, or O X by o X; and
   op_offset if the first FIRST_ROWS rows have valid operations, which the
   parser then requires of each record. */
static void inspect_ops (xpp_file *file, const xpp_rows *rows) {
  const size_t *const field = file->roles.field;
  const pf_column *const columns = rows->batch.columns;
  const pf_column *const thread =
      field[XPP_THREAD] == XPP_NO_FIELD ? NULL : &columns[field[XPP_THREAD]];
  bool all = true;
  for (size_t row = 0; row < rows->batch.rows; row++) {
    const uint8_t op = op_in(&columns[field[XPP_OP]], row);
    all = all && (op != 0 || row >= FIRST_ROWS);
    if (row == 0 || !is_same(thread, row, row - 1) ||
        !is_same(&columns[field[XPP_CALL]], row, row - 1))
      continue;
    const uint8_t before = op_in(&columns[field[XPP_OP]], row - 1);
    if ((before == 'i' && op == 'I') || (before == 'O' && op == 'o'))
      file->is_unfiltered = true;
  }
  if (all && rows->batch.rows > 0 && !file->is_text &&
      file->dbf->fields[field[XPP_OP]].kind == DBF_TEXT &&
      file->dbf->fields[field[XPP_OP]].size > 0)
    file->op_offset = file->dbf->fields[field[XPP_OP]].offset;
}


/* With a given code page, functions and parameters are converted also in fields
   whose flag says that their bytes are no text: FOXDBE sets it for memos. */
static void convert_texts (const pf_trace *trace, xpp_file *file) {
  pf_bytes option;
  if (file->is_text || !gives_code_page(trace, &option))
    return;
  for (xpp_role role = 0; role < XPP_ROLES; role++) {
    const size_t field = file->roles.field[role];
    if (field != XPP_NO_FIELD && xpp_needs_text(role))
      file->dbf->fields[field].flags &= (uint8_t)~DBF_AS_IS;
  }
}


/* Warnings about the first rows go into notes that are dropped, because the
   readers will report them again. */
pf_status xpp_find_roles (pf_trace *trace, xpp_file *file, pf_error *error) {
  pf_trace sample = *trace;
  xpp_rows rows;
  file->roles = (xpp_roles)XPP_NO_ROLES;
  sample.strict = false;
  sample.notes = pf_notes_new();
  if (sample.notes == NULL)
    return pf_no_memory(error);
  pf_status status = xpp_rows_open(&rows, &sample, NULL, false, error);
  if (status == PF_OK)
    status = xpp_rows_next(&rows, SAMPLE_ROWS, error);
  if (status >= 0) /* there may be no rows */
    status = assign_roles(trace, file, &rows.batch, error);
  if (status == PF_OK && xpp_is_mapped(&file->roles))
    inspect_ops(file, &rows);
  convert_texts(trace, file);
  xpp_rows_close(&rows);
  pf_notes_free(sample.notes);
  return status;
}
