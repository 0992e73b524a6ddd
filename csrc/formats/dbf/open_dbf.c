/*
** open_dbf.c - the format dbf: tables of dBASE, FoxPro, Clipper and Xbase++.
**
** The schema of table `data` is that of the file. A currency has two columns: a
** double, and its exact text, because 53 bits cannot hold every value.
** lua/trace_part.c and checked_reader.c call it through pf_format_dbf; the
** trace owns the dbf_state; `close` frees its arrays.
*/

#include <stdio.h>
#include <stdlib.h>

#include "bytes/text.h"
#include "formats/dbf/internal.h"
#include "model/dictionary/names.h"

static const char *help_of (const dbf_field *field) {
  switch (field->kind) {
    case DBF_TEXT: return "text, without blanks at the end";
    case DBF_DIGITS: return "decimal number";
    case DBF_LOGICAL: return "truth value";
    case DBF_DATE: return "date, YYYY-MM-DD";
    case DBF_INTEGER:
    case DBF_SORTABLE: return "whole number of 32 bits";
    case DBF_DOUBLE:
    case DBF_ORDERED: return "number of 64 bits";
    case DBF_CURRENCY: return "currency; its exact text is in the next column";
    case DBF_TIME:
    case DBF_INSTANT: return "date and time, YYYY-MM-DDTHH:MM:SS";
    case DBF_MEMO: return "memo";
    default: return "bytes";
  }
}


static bool is_field (const dbf_file *file, const char *name) {
  for (size_t i = 0; i < file->nfields; i++)
    if (pf_is_alike(file->fields[i].name, name))
      return true;
  return false;
}


static void add_column (dbf_state *state, size_t field, const char *name,
                        pf_type type, const char *help) {
  state->columns[state->ncolumns] = field;
  state->schema[state->ncolumns++] = (pf_field){name, type, help};
}


static pf_status make_schema (dbf_state *state, pf_error *error) {
  const dbf_file *const file = state->file;
  const size_t maximum = 2 * file->nfields + 2, capacity = 256;
  state->columns = calloc(maximum, sizeof *state->columns);
  state->schema = calloc(maximum, sizeof *state->schema);
  state->exact_names = calloc(file->nfields + 1, capacity);
  if (state->columns == NULL || state->schema == NULL ||
      state->exact_names == NULL)
    return pf_no_memory(error);
  for (size_t i = 0; i < file->nfields; i++) {
    const dbf_field *const field = &file->fields[i];
    if (field->kind == DBF_NULL_FLAGS || (field->flags & DBF_SYSTEM) != 0)
      continue;
    add_column(state, i, field->name, field->column, help_of(field));
    if (field->kind != DBF_CURRENCY)
      continue;
    char *const name = state->exact_names + i * capacity;
    size_t size = (size_t)snprintf(name, capacity, "%s_exact", field->name);
    while (is_field(file, name) && size + 1 < capacity)
      name[size++] = '_';
    add_column(state, i, name, PF_BYTES, "exact decimal text of the currency");
  }
  add_column(state, DBF_RECORD, "record", PF_INT,
             "number of the record, from 1");
  add_column(state, DBF_DELETED, "deleted", PF_BOOL,
             "whether the record is marked as deleted");
  return PF_OK;
}


static void set_info (pf_trace *trace, const dbf_state *state) {
  const dbf_file *const file = state->file;
  const pf_bytes bytes = trace->sources[0].bytes;
  const char *const version = dbf_version_name(file->version);
  pf_info_text(trace, "dialect",
               pf_bytes_of(version == NULL ? "unknown" : version));
  pf_info_int(trace, "version", file->version);
  /* the year of the last change has two digits or is relative to 1900 */
  const uint8_t *const date = bytes.at + 1;
  if (file->version != 0x02 && date[1] >= 1 && date[1] <= 12 && date[2] >= 1 &&
      date[2] <= 31) {
    char text[16];
    snprintf(text, sizeof text, "%04d-%02d-%02d",
             date[0] < 80 ? 2000 + date[0] : 1900 + date[0], date[1], date[2]);
    pf_info_text(trace, "changed", pf_bytes_of(text));
  }
  pf_info_int(trace, "records", (int64_t)dbf_header_count(file, bytes));
  pf_info_int(trace, "record_size", file->record);
  pf_info_int(trace, "header_size", file->start);
  pf_info_int(trace, "fields", (int64_t)file->nfields);
  pf_info_int(trace, "code_page_mark", file->mark);
  const char *const marked = dbf_code_page(file->mark);
  if (marked == NULL || !pf_is_alike(marked, file->charset.name))
    pf_info_int(trace, "page_mark", dbf_code_page_mark(file->charset.name));
  pf_info_text(trace, "code_page",
               pf_bytes_of(file->charset.kind == PF_TEXT_AS_BYTES
                               ? "raw"
                               : file->charset.name));
  pf_info_text(trace, "memo", pf_bytes_of(dbf_memo_names[file->memo]));
  if (file->memo != DBF_NO_MEMO)
    pf_info_int(trace, "memo_block", file->memo_block);
}


/* Compare the number of records in the header with the end of the file: report
   missing records, note others after them, or bytes after the last one and its
   end mark. *rows is the number of records, or -1 if more may follow. */
static pf_status check_count (pf_trace *trace, const dbf_file *file,
                              int64_t *rows, pf_error *error) {
  const pf_bytes bytes = trace->sources[0].bytes;
  const uint64_t counted = dbf_header_count(file, bytes);
  const uint64_t complete = dbf_complete_records(file, bytes);
  *rows = (int64_t)(counted < complete ? counted : complete);
  uint64_t end = file->start + (uint64_t)*rows * file->record;
  if (complete < counted)
    return pf_warn(trace, PF_DAMAGE, "dbf-truncated", PF_ETRUNCATED,
                   end < bytes.size ? end : bytes.size, error,
                   "%llu records expected, the file ends after %llu",
                   (unsigned long long)counted, (unsigned long long)complete);
  if (dbf_available(file, bytes, counted, 1).count > 0) {
    *rows = -1;
    return pf_warn(
        trace, PF_NOTE, "dbf-stale-count", PF_EFORMAT, 4, error,
        "the header states %llu records, and more follow: they are read too",
        (unsigned long long)counted);
  }
  end += end < bytes.size && bytes.at[end] == 0x1A;
  if (end >= bytes.size)
    return PF_OK;
  return pf_warn(trace, PF_NOTE, "dbf-trailing-bytes", PF_EFORMAT, end, error,
                 "the table ends before byte %llu, the file is %zu bytes long",
                 (unsigned long long)end, bytes.size);
}


static pf_status open_trace (pf_trace *trace, pf_error *error) {
  dbf_state *const state = trace->state;
  int64_t rows;
  if (pf_option_is(trace, "deleted", "show"))
    state->shown = DBF_ALL;
  else if (pf_option_is(trace, "deleted", "only"))
    state->shown = DBF_ONLY_DELETED;
  pf_status status = dbf_open(trace, &state->file, error);
  if (status == PF_OK)
    status = make_schema(state, error);
  if (status == PF_OK)
    status = check_count(trace, state->file, &rows, error);
  if (status != PF_OK)
    return status;
  set_info(trace, state);
  state->tables[0] =
      (pf_table){"data", state->schema, state->ncolumns,
                 state->shown == DBF_ALL ? rows : -1, dbf_open_data};
  state->tables[1] = dbf_structure_table;
  state->tables[1].rows = (int64_t)state->file->nfields;
  state->tables[2] = dbf_raw_table;
  trace->tables = state->tables;
  trace->ntables = 3;
  return PF_OK;
}


static void close_trace (pf_trace *trace) {
  dbf_state *const state = trace->state;
  dbf_close(state->file);
  free(state->columns);
  free(state->schema);
  free(state->exact_names);
}


const pf_format pf_format_dbf = {
    .name = "dbf",
    .score = dbf_score,
    .open = open_trace,
    .close = close_trace,
    .state_size = sizeof(dbf_state),
    .encoder = dbf_encoder,
};
