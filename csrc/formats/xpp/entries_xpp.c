/*
** entries_xpp.c - the reader of table entries: fields with a role in profio's
** units, the others unchanged. Opened by open_xpp.c for lua/checked_reader.c,
** which calls `close`; that frees the reader, its rows, caches and threads. The
** schema belongs to the xpp_file.
*/

#include <math.h>
#include <string.h>

#include "formats/xpp/name_cache.h"
#include "formats/xpp/times.h"
#include "model/base/wide.h"
#include "model/rows/put_values.h"
#include "model/rows/table_reader.h"

/* Flags of a row; they can be combined. */
enum {
  DELETED = 1,
  GAP = 2,
  RUN = 4,
  ROW_FLAGS = 8
};

typedef struct entries_reader {
  pf_reader reader;
  pf_trace *trace;
  xpp_file *file;
  uint32_t op_names[4];      /* ids of i, I, O, o */
  uint32_t flags[ROW_FLAGS]; /* id of the text of each combination */
  xpp_times clock;
  bool tracks_times; /* times must be processed: for column time or for flags */
  int64_t threads[PF_BATCH_ROWS]; /* used if column thread is not wanted */
  int64_t times[PF_BATCH_ROWS];   /* times needed only for flags */
  xpp_name_cache ops, calls;      /* of tables */
  xpp_rows rows;
} entries_reader;


pf_status xpp_entries_schema (xpp_file *file, pf_error *error) {
  static const pf_field ours[ENTRIES_COLUMNS] = {
      {"thread", PF_INT, "number of the thread"},
      {"time", PF_INT, "ns since the trace began"},
      {"op", PF_NAME,
       "i: about to be called, I: entered, O: about to return, o: returned"},
      {"call", PF_NAME, "name of the function"},
      {"line", PF_INT, "line of the source"},
      {"params", PF_BYTES, "parameters with their values"},
      {"flags", PF_NAME,
       "gap: rows before it are lost; run: the first one of another run; "
       "deleted"},
  };
  const size_t max = ENTRIES_COLUMNS + file->nfields;
  file->entries = calloc(max, sizeof *file->entries);
  file->extras = calloc(file->nfields + 1, sizeof *file->extras);
  if (file->entries == NULL || file->extras == NULL)
    return pf_no_memory(error);
  memcpy(file->entries, ours, sizeof ours);
  file->nentries = ENTRIES_COLUMNS;
  for (size_t i = 0; i < file->nfields; i++) {
    if (xpp_role_of_field(&file->roles, i) != XPP_ROLES ||
        xpp_is_hidden(file, i) ||
        pf_field_index(ours, ENTRIES_COLUMNS, file->fields[i].name) <
            ENTRIES_COLUMNS)
      continue;
    file->extras[file->nentries - ENTRIES_COLUMNS] = i;
    file->entries[file->nentries++] = file->fields[i];
  }
  return PF_OK;
}


/* The conversion of a column. */
typedef struct conversion {
  xpp_role role;
  bool wraps;       /* negative numbers are unsigned numbers of 32 bits */
  size_t bad;       /* number of invalid values */
  size_t first_bad; /* row of the first one */
} conversion;


static int64_t scale_of (xpp_role role) {
  return role == XPP_TIME ? XPP_NS_PER_MS : 1;
}


static void put_bad (conversion *c, pf_column *to, size_t row) {
  pf_put_int(to, row, 0, false);
  if (c->bad++ == 0)
    c->first_bad = row;
}


static void from_text (conversion *c, const pf_column *from, pf_column *to,
                       size_t rows) {
  const unsigned power = c->role == XPP_TIME ? 6 : 0;
  for (size_t row = 0; row < rows; row++) {
    const pf_bytes text = from->bytes[row];
    const dbf_digits found =
        pf_is_missing(from, row)
            ? DBF_DIGITS_NONE
            : dbf_parse_scaled(text.at, text.size, power, &to->ints[row]);
    if (found == DBF_DIGITS_NONE)
      pf_put_int(to, row, 0, false);
    else if (found != DBF_DIGITS_INT)
      put_bad(c, to, row);
  }
}


static void from_ints (conversion *c, const pf_column *from, pf_column *to,
                       size_t rows) {
  const int64_t scale = scale_of(c->role);
  const int64_t max = INT64_MAX / scale;
  const int64_t min = INT64_MIN / scale;
  const int64_t *const values = from->ints;
  int64_t *const numbers = to->ints;
  size_t row = 0;
  if (!from->has_missing && !c->wraps)
    for (; row < rows && values[row] <= max && values[row] >= min; row++)
      numbers[row] = values[row] * scale;
  for (; row < rows; row++) {
    int64_t value = values[row];
    if (c->wraps && value < 0 && value >= INT32_MIN)
      value += XPP_CLOCK_RANGE;
    if (pf_is_missing(from, row))
      pf_put_int(to, row, 0, false);
    else if (value > max || value < min)
      put_bad(c, to, row);
    else
      numbers[row] = value * scale;
  }
}


/* Multiplies a double and rounds to the nearest integer, halves away from zero.
   Exact: 53 bits times 20 bits fit into pf_wide. Returns false on overflow. */
static bool scale_double (double value, int64_t scale, int64_t *number) {
  return fabs(value) < 0x1p63 && /* also false for NaN */
         pf_scaled(scale, pf_factor_of(value), number);
}


static void from_doubles (conversion *c, const pf_column *from, pf_column *to,
                          size_t rows) {
  const int64_t scale = scale_of(c->role);
  for (size_t row = 0; row < rows; row++) {
    if (pf_is_missing(from, row))
      pf_put_int(to, row, 0, false);
    else if (!scale_double(from->nums[row], scale, &to->ints[row]))
      put_bad(c, to, row);
  }
}


/* Returns true if the field of a role is decimal text with a fraction. Table
   raw has it as a double, which would not be exact here, so it is converted
   directly from the records. */
static bool is_decimal (const xpp_file *file, xpp_role role) {
  const size_t field = file->roles.field[role];
  return !file->is_text && field != XPP_NO_FIELD &&
         (role == XPP_THREAD || role == XPP_TIME || role == XPP_LINE) &&
         file->dbf->fields[field].kind == DBF_DIGITS &&
         file->dbf->fields[field].column == PF_NUM;
}


static pf_status fill_decimals (xpp_rows *rows, xpp_role role, pf_column *to,
                                pf_error *error) {
  const xpp_file *const file = rows->parser.file;
  const dbf_field *const field = &file->dbf->fields[file->roles.field[role]];
  pf_status status = PF_OK;
  for (size_t i = 0; i < rows->nruns && status == PF_OK; i++) {
    const xpp_item *const item = &rows->runs[i].item;
    const uint8_t *const bytes = xpp_source(&rows->parser, item->source).at;
    const dbf_run run = {bytes + item->offset, item->count, item->offset};
    status =
        dbf_fill_scaled(&rows->decoder, field, &run, role == XPP_TIME ? 6 : 0,
                        to, rows->runs[i].row, error);
  }
  return status;
}


/* Fills a column of int64 from the field of a role, in profio's units: ns for
   times. Numbers are rounded to the nearest integer. Values that are not
   numbers or do not fit are missing, with a warning; without a field all
   are. */
static pf_status fill_numbers (xpp_rows *rows, xpp_role role, pf_column *column,
                               pf_error *error) {
  const xpp_file *const file = rows->parser.file;
  const size_t number = file->roles.field[role], count = rows->batch.rows;
  if (number == XPP_NO_FIELD) {
    pf_put_none(column, 0, count);
    return PF_OK;
  }
  if (is_decimal(file, role))
    return fill_decimals(rows, role, column, error);
  const pf_column *const from = &rows->batch.columns[number];
  conversion c = {.role = role,
                  .wraps = role == XPP_TIME && !file->is_text &&
                           file->dbf->fields[number].kind == DBF_INTEGER};
  switch (from->type) {
    case PF_INT: from_ints(&c, from, column, count); break;
    case PF_NUM: from_doubles(&c, from, column, count); break;
    case PF_BYTES: from_text(&c, from, column, count); break;
    default:
      for (size_t row = 0; row < count; row++)
        put_bad(&c, column, row);
  }
  if (c.bad == 0)
    return PF_OK;
  return pf_warn(rows->parser.trace, PF_DAMAGE, "xpp-bad-number", PF_EFORMAT,
                 xpp_row_offset(rows, c.first_bad), error,
                 "field %.60s: a number expected, found something else",
                 file->fields[number].name);
}


/* The field of a role in the current rows, or NULL. */
static const pf_column *field_of (const entries_reader *self, xpp_role role) {
  const size_t field = self->file->roles.field[role];
  return field == XPP_NO_FIELD ? NULL : &self->rows.batch.columns[field];
}


/* Fills the column of times, or one of our own if only flags are wanted,
   because runs are found by the times. Column `thread` is filled already. */
static pf_status fill_times (entries_reader *self, const pf_batch *batch,
                             pf_error *error) {
  uint64_t missing[2][PF_BATCH_ROWS / 64];
  pf_column threads = {.type = PF_INT, .missing = missing[0]};
  pf_column times = {.type = PF_INT, .missing = missing[1]};
  threads.ints = self->threads;
  times.ints = self->times;
  const bool has_threads = batch->columns[ENTRIES_THREAD].data != NULL;
  pf_column *const column = batch->columns[ENTRIES_TIME].data != NULL
                                ? &batch->columns[ENTRIES_TIME]
                                : &times;
  pf_status status = fill_numbers(&self->rows, XPP_TIME, column, error);
  if (!self->tracks_times)
    return status; /* the trace has no times */
  if (status == PF_OK && !has_threads)
    status = fill_numbers(&self->rows, XPP_THREAD, &threads, error);
  if (status != PF_OK)
    return status;
  return xpp_times_update(&self->clock, &self->rows,
                          has_threads ? batch->columns[ENTRIES_THREAD].ints
                                      : threads.ints,
                          column, error);
}


/* Sets cache->has_filled if a name of the batch fills its field of a table. */
static void find_filled (const entries_reader *self, xpp_role role,
                         xpp_name_cache *cache, const pf_bytes *names) {
  if (self->file->is_text)
    return;
  const dbf_field *const field =
      &self->file->dbf->fields[self->file->roles.field[role]];
  if (field->kind != DBF_TEXT)
    return;
  for (size_t r = 0; r < self->rows.nruns && !cache->has_filled; r++) {
    const xpp_run *const run = &self->rows.runs[r];
    const uint8_t *const first =
        xpp_source(&self->rows.parser, run->item.source).at + run->item.offset;
    for (size_t i = 0; i < run->item.count && !cache->has_filled; i++)
      cache->has_filled = xpp_name_fills(field, first + i * run->item.size,
                                         names[run->row + i]);
  }
}


/* Fills a column with names, without the blanks around them. */
static pf_status fill_names (entries_reader *self, xpp_role role,
                             xpp_name_cache *cache, pf_column *column,
                             size_t count, pf_error *error) {
  const pf_column *const from = field_of(self, role);
  pf_bytes texts[PF_BATCH_ROWS];
  if (cache->field != NULL)
    return xpp_name_cache_fill(cache, &self->rows, column, error);
  for (size_t row = 0; row < count; row++) {
    const bool known = from->type == PF_BYTES && !pf_is_missing(from, row);
    texts[row] = known ? xpp_trim(from->bytes[row]) : (pf_bytes){NULL, 0};
    if (!known)
      pf_set_missing(column, row);
  }
  find_filled(self, role, cache, texts);
  if (pf_intern_all(self->trace->dictionary, texts, count, column->ids))
    return PF_OK;
  return pf_no_memory(error);
}


static pf_status check_ops (const entries_reader *self, const pf_column *column,
                            size_t count, pf_error *error) {
  const uint32_t *const known = self->op_names;
  for (size_t row = 0; row < count; row++) {
    const uint32_t op = column->ids[row];
    if (((op == known[0]) | (op == known[1]) | (op == known[2]) |
         (op == known[3])) != 0 && /* in no order, so without branches */
        !pf_is_missing(column, row))
      continue;
    const pf_bytes text = pf_name(self->trace->dictionary, op);
    const pf_status status = pf_warn(
        self->trace, PF_DAMAGE, "xpp-unknown-op", PF_EFORMAT,
        xpp_row_offset(&self->rows, row), error,
        "an operation i, I, O or o expected, found '%.*s'", PF_SHOWN(text, 20));
    if (status != PF_OK)
      return status;
  }
  return PF_OK;
}


/* Warns once if a name fills its field, because longer ones were cut. */
static pf_status check_symbols (const entries_reader *self, pf_error *error) {
  const xpp_file *const file = self->file;
  if (!self->calls.has_filled ||
      pf_warning_total(self->trace->notes, "xpp-symbol-cut") > 0)
    return PF_OK;
  return pf_warn(self->trace, PF_NOTE, "xpp-symbol-cut", PF_EFORMAT,
                 PF_NO_OFFSET, error,
                 "a name fills its field of %u bytes: longer names were cut, "
                 "and cuts that are equal become one name",
                 (unsigned)file->dbf->fields[file->roles.field[XPP_CALL]].size);
}


static void add_flag (const entries_reader *self, pf_column *column, size_t row,
                      unsigned flag) {
  const uint64_t bit = (uint64_t)1 << (row & 63);
  unsigned set = 0;
  if ((column->missing[row >> 6] & bit) == 0)
    while (self->flags[set] != column->ids[row])
      set++;
  column->ids[row] = self->flags[set | flag];
  column->missing[row >> 6] &= ~bit;
}


/* Sets the flags; most rows have none. */
static void fill_flags (const entries_reader *self, pf_column *column,
                        size_t count) {
  memset(column->data, 0, count * sizeof *column->ids);
  memset(column->missing, 0xff, PF_BATCH_ROWS / 8);
  column->has_missing = true;
  for (size_t i = 0; self->clock.has_run_starts && i < PF_BATCH_ROWS / 64; i++)
    for (uint64_t left = self->clock.run_starts[i]; left != 0; left &= left - 1)
      add_flag(self, column, i * 64 + (size_t)__builtin_ctzll(left), RUN);
  for (size_t r = 0; r < self->rows.nruns; r++) {
    const xpp_run *const run = &self->rows.runs[r];
    const bool is_deleted = run->item.kind == XPP_DELETED;
    for (size_t i = 0; i < run->item.count; i++) {
      const size_t row = run->row + i;
      if (!is_deleted && !(run->item.has_gap && i == 0))
        break; /* only the first row has a gap before it */
      add_flag(self, column, row, is_deleted ? DELETED : GAP);
    }
  }
}


static pf_status fill_column (entries_reader *self, const pf_batch *batch,
                              size_t number, size_t count, pf_error *error) {
  pf_column *const column = &batch->columns[number];
  const pf_column *from;
  pf_status status;
  switch (number) {
    case ENTRIES_THREAD:
    case ENTRIES_LINE:
      return fill_numbers(&self->rows, (xpp_role)number, column, error);
    case ENTRIES_TIME: return fill_times(self, batch, error);
    case ENTRIES_OP:
      status = fill_names(self, XPP_OP, &self->ops, column, count, error);
      return status == PF_OK ? check_ops(self, column, count, error) : status;
    case ENTRIES_CALL:
      status = fill_names(self, XPP_CALL, &self->calls, column, count, error);
      return status == PF_OK ? check_symbols(self, error) : status;
    case ENTRIES_PARAMS: from = field_of(self, XPP_PARAMS); break;
    case ENTRIES_FLAGS: fill_flags(self, column, count); return PF_OK;
    default:
      from = &self->rows.batch
                  .columns[self->file->extras[number - ENTRIES_COLUMNS]];
  }
  if (from == NULL || from->type != column->type)
    pf_put_none(column, 0, count);
  else
    pf_put_values(column, from, 0, count);
  return PF_OK;
}


/* Opens the rows with the fields that the wanted columns need. */
static pf_status open_rows (entries_reader *self, const pf_batch *batch,
                            pf_error *error) {
  const xpp_file *const file = self->file;
  bool *const wanted = calloc(file->nfields + 1, sizeof *wanted);
  if (wanted == NULL)
    return pf_no_memory(error);
  const size_t time = file->roles.field[XPP_TIME];
  self->tracks_times =
      time != XPP_NO_FIELD && (batch->columns[ENTRIES_TIME].data != NULL ||
                               batch->columns[ENTRIES_FLAGS].data != NULL);
  if (self->tracks_times) {
    wanted[time] = true;
    if (file->roles.field[XPP_THREAD] != XPP_NO_FIELD)
      wanted[file->roles.field[XPP_THREAD]] = true;
  }
  for (size_t i = 0; i < batch->ncolumns && i < file->nentries; i++) {
    if (batch->columns[i].data == NULL || i == ENTRIES_FLAGS)
      continue;
    const size_t field = i < XPP_ROLES ? file->roles.field[i]
                                       : file->extras[i - ENTRIES_COLUMNS];
    const bool is_named = (i == ENTRIES_OP && self->ops.field != NULL) ||
                          (i == ENTRIES_CALL && self->calls.field != NULL);
    if (field != XPP_NO_FIELD && !is_named)
      wanted[field] = true;
  }
  for (xpp_role role = 0; role < XPP_ROLES; role++)
    if (is_decimal(file, role)) /* fill_numbers decodes it from the
                                       records */
      wanted[file->roles.field[role]] = false;
  const pf_status status =
      xpp_rows_open(&self->rows, self->trace, wanted, false, error);
  free(wanted);
  return status;
}


static pf_status next (pf_reader *reader, pf_batch *batch, pf_error *error) {
  entries_reader *const self = (entries_reader *)(void *)reader;
  pf_status status = self->rows.is_open ? PF_OK : open_rows(self, batch, error);
  pf_batch_clear(batch);
  if (status == PF_OK)
    status = xpp_rows_next(&self->rows, PF_BATCH_ROWS, error);
  if (status != PF_MORE)
    return status;
  const size_t count = self->rows.batch.rows;
  for (size_t i = 0; i < self->file->nentries && status == PF_OK; i++)
    if (batch->columns[i].data != NULL ||
        (i == ENTRIES_TIME && self->tracks_times))
      status = fill_column(self, batch, i, count, error);
  batch->rows = count;
  return status;
}


static void close_reader (pf_reader *reader) {
  entries_reader *const self = (entries_reader *)(void *)reader;
  xpp_rows_close(&self->rows);
  xpp_name_cache_close(&self->ops);
  xpp_name_cache_close(&self->calls);
  xpp_times_close(&self->clock);
  free(self);
}


pf_status xpp_open_entries (pf_trace *trace, const pf_table *table,
                            pf_reader **reader, pf_error *error) {
  static const char *const ops[] = {"i", "I", "O", "o"};
  static const char *const flags[ROW_FLAGS] = {
      "",    "deleted",     "gap",     "deleted gap",
      "run", "deleted run", "gap run", "deleted gap run"};
  entries_reader *const self =
      pf_reader_new(sizeof *self, trace, table, next, error);
  if (self == NULL)
    return PF_ENOMEM;
  self->reader.close = close_reader;
  self->trace = trace;
  self->file = trace->state;
  xpp_times_open(&self->clock);
  const size_t *const fields = self->file->roles.field;
  pf_status status = PF_OK;
  if (xpp_name_cache_open(&self->ops, self->file, fields[XPP_OP]) != PF_OK ||
      xpp_name_cache_open(&self->calls, self->file, fields[XPP_CALL]) != PF_OK)
    status = pf_no_memory(error);
  if (status == PF_OK)
    status = pf_intern_texts(trace->dictionary, ops, 4, self->op_names, error);
  if (status == PF_OK)
    status = pf_intern_texts(trace->dictionary, flags, ROW_FLAGS, self->flags,
                             error);
  return pf_reader_opened(&self->reader, status, reader);
}
