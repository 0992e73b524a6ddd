/*
** table_text.c - rows as an aligned table.
**
** The texts of the first ROW_AHEAD rows are collected to determine the column
** widths, then written. If a later row is wider, its column becomes wider from
** there on, so memory does not grow with the number of rows.
*/

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "text/rows.h"

#define GAP      2              /* spaces between columns */
#define CUT      "\xe2\x80\xa6" /* ellipsis: marks a text that was cut */
#define CUT_SIZE 3
#define MIN_TEXT 8 /* minimum width of a text in a line that is too long */


/* Writes a time in a larger unit, rounded to column->digits decimals. */
static char *put_time (char *p, int64_t value, const row_column *column) {
  const uint64_t size = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
  uint64_t power = 1;
  for (int i = 0; i < column->digits; i++)
    power *= 10;
  const uint64_t step = (uint64_t)column->unit / power; /* ns per last digit */
  const uint64_t steps = size / step + (size % step >= (step + 1) / 2);
  if (value < 0)
    *p++ = '-';
  p = row_put_uint(p, steps / power);
  *p++ = '.';
  uint64_t digits = steps % power;
  for (int i = column->digits; i-- > 0; digits /= 10)
    p[i] = (char)('0' + digits % 10);
  return p + column->digits;
}


/* Writes a number with `digits` decimals; very large and very small ones with
   digits + 1 significant digits. */
static char *put_decimal (char *p, double value, int digits) {
  const double size = fabs(value);
  if (size == 0 || (size >= 0.001 && size < 1e15))
    return row_put_fixed(p, value, digits);
  if (!isfinite(value))
    return row_put_num(p, value);
  return p + snprintf(p, ROW_NUMBER_SIZE, "%.*g", digits + 1, value);
}


static char *put_share (char *p, double value) {
  p = put_decimal(p, 100 * value, 2);
  *p++ = '%';
  return p;
}


static char *put_number (char *p, const row_column *column,
                         const pf_column *values, size_t row) {
  switch (values->type) {
    case PF_INT:
      return column->unit > 1 ? put_time(p, values->ints[row], column)
                              : row_put_int(p, values->ints[row]);
    case PF_NUM:
      if (column->is_share)
        return put_share(p, values->nums[row]);
      if (column->unit > 1)
        return put_decimal(p, values->nums[row] / (double)column->unit,
                           column->digits);
      return put_decimal(p, values->nums[row], 3);
    case PF_ADDR: return row_put_addr(p, values->addrs[row]);
    case PF_HANDLE: return row_put_handle(p, values->addrs[row]);
    case PF_BOOL:
      memcpy(p, values->bools[row] ? "true" : "false", 5);
      return p + (values->bools[row] ? 4 : 5);
    default: return row_put_uint(p, values->ids[row]);
  }
}


/* Returns the bytes of the first `places` characters of a text. */
static size_t size_of_places (const char *text, size_t size, size_t places) {
  size_t at = 0;
  for (size_t i = 0; i < places; i++)
    at += row_utf8((const uint8_t *)text + at, size - at);
  return at;
}


/* Cuts a text of *width characters to max_width. */
static void cut_text (row_job *job, size_t at, size_t *width) {
  if (*width <= job->max_width)
    return;
  job->waiting.used =
      at + size_of_places(job->waiting.at + at, job->waiting.used - at,
                          job->max_width - 1);
  memcpy(job->waiting.at + job->waiting.used, CUT, CUT_SIZE);
  job->waiting.used += CUT_SIZE;
  *width = job->max_width;
}


/* Appends a cell to those that wait for their column widths. */
static pf_status add_cell (row_job *job, const row_column *column, size_t row,
                           row_cell *cell) {
  const pf_column *const values = &job->batch.columns[column->field];
  row_text *const text = &job->waiting;
  *cell = (row_cell){text->used, 0};
  if (pf_is_missing(values, row))
    return PF_OK;
  if (row_reserve(text, ROW_NUMBER_SIZE) != PF_OK)
    return PF_ENOMEM;
  if (!row_is_text(values->type)) {
    char *const p = text->at + text->used;
    cell->width = (size_t)(put_number(p, column, values, row) - p);
    text->used += cell->width;
    return PF_OK;
  }
  pf_bytes bytes = row_bytes(values, row, job->reader->dictionary);
  if (bytes.size / 4 > job->max_width) /* a character has at most 4 bytes */
    bytes.size = 4 * (job->max_width + 1);
  if (row_put_printable(text, bytes, &cell->width) != PF_OK ||
      row_reserve(text, 3) != PF_OK)
    return PF_ENOMEM;
  cut_text(job, cell->at, &cell->width);
  return PF_OK;
}


static bool is_right (const row_column *column) {
  return !row_is_text(column->type) && column->type != PF_BOOL;
}


/* Writes a cell, padded to the width of its column. */
static pf_status put_cell (row_job *job, size_t i, const char *bytes,
                           size_t size, size_t width) {
  const bool is_last = i + 1 == job->ncolumns;
  const size_t pad = job->widths[i] - width;
  const bool right = is_right(&job->columns[i]);
  if (row_reserve(&job->text, size + pad + GAP) != PF_OK)
    return PF_ENOMEM;
  char *p = job->text.at + job->text.used;
  if (right)
    p = (char *)memset(p, ' ', pad) + pad;
  if (size > 0)
    memcpy(p, bytes, size);
  p += size;
  if (!right && !is_last)
    p = (char *)memset(p, ' ', pad) + pad;
  if (!is_last)
    p = (char *)memset(p, ' ', GAP) + GAP;
  job->text.used = (size_t)(p - job->text.at);
  return PF_OK;
}


static size_t header_width (const row_column *column) {
  const size_t suffix = strlen(column->suffix);
  return strlen(column->name) + (suffix == 0 ? 0 : suffix + 3);
}


static pf_status put_header_cell (row_job *job, size_t i) {
  const row_column *const column = &job->columns[i];
  char name[128];
  const bool has_unit = column->suffix[0] != '\0';
  const int n = has_unit ? snprintf(name, sizeof name, "%s (%s)", column->name,
                                    column->suffix)
                         : 0;
  if (!has_unit || n >= (int)sizeof name)
    return put_cell(job, i, column->name, strlen(column->name),
                    strlen(column->name));
  return put_cell(job, i, name, (size_t)n, (size_t)n);
}


/* Ends a line; trailing spaces are removed. */
static pf_status end_line (row_job *job, const char *before) {
  while (job->text.used > 0 && job->text.at[job->text.used - 1] == ' ')
    job->text.used--;
  return row_put(&job->text, before, strlen(before));
}


static pf_status put_header (row_job *job) {
  job->is_headed = true;
  if (!job->header)
    return PF_OK;
  if (job->color && row_put(&job->text, "\x1b[1m", 4) != PF_OK)
    return PF_ENOMEM;
  for (size_t i = 0; i < job->ncolumns; i++)
    if (put_header_cell(job, i) != PF_OK)
      return PF_ENOMEM;
  return end_line(job, job->color ? "\x1b[0m\n" : "\n");
}


/* Returns the maximum widths of the columns, stored after the widths. */
static size_t *bounds_of (const row_job *job) {
  return job->widths + job->ncolumns;
}


static void measure (row_job *job) {
  const size_t *const bounds = bounds_of(job);
  for (size_t r = 0; r < job->rows_waiting; r++)
    for (size_t i = 0; i < job->ncolumns; i++) {
      size_t width = job->cells[r * job->ncolumns + i].width;
      if (width > bounds[i])
        width = bounds[i];
      if (width > job->widths[i])
        job->widths[i] = width;
    }
}


/* Returns the widest column of texts that can be narrowed, or ncolumns. */
static size_t widest_text (const row_job *job) {
  size_t widest = job->ncolumns;
  for (size_t i = 0; i < job->ncolumns; i++) {
    const size_t header = job->header ? header_width(&job->columns[i]) : 0;
    const bool can_be_cut = row_is_text(job->columns[i].type) &&
                            job->widths[i] > MIN_TEXT &&
                            job->widths[i] > header;
    if (can_be_cut &&
        (widest == job->ncolumns || job->widths[i] > job->widths[widest]))
      widest = i;
  }
  return widest;
}


/* Narrows columns of texts, the widest first, until a line fits into
   line_width. Numbers are never cut, so a line of many numbers may stay
   longer. */
static void fit_line (row_job *job) {
  size_t total = job->ncolumns == 0 ? 0 : GAP * (job->ncolumns - 1);
  for (size_t i = 0; i < job->ncolumns; i++)
    total += job->widths[i];
  while (job->line_width > 0 && total > job->line_width) {
    const size_t widest = widest_text(job);
    if (widest == job->ncolumns)
      return;
    bounds_of(job)[widest] = --job->widths[widest];
    total--;
  }
}


/* Writes a cell that exceeds the maximum width of its column. */
static pf_status put_cut_cell (row_job *job, size_t i, const char *bytes,
                               size_t size) {
  const size_t bound = bounds_of(job)[i];
  const size_t kept = size_of_places(bytes, size, bound - 1);
  if (row_reserve(&job->cut, kept + CUT_SIZE) != PF_OK)
    return PF_ENOMEM;
  memcpy(job->cut.at, bytes, kept);
  memcpy(job->cut.at + kept, CUT, CUT_SIZE);
  return put_cell(job, i, job->cut.at, kept + CUT_SIZE, bound);
}


static pf_status put_waiting_cell (row_job *job, size_t i,
                                   const row_cell *cell) {
  const size_t size = cell[1].at - cell->at;
  const char *const bytes = size == 0 ? "" : job->waiting.at + cell->at;
  return cell->width > bounds_of(job)[i]
             ? put_cut_cell(job, i, bytes, size)
             : put_cell(job, i, bytes, size, cell->width);
}


static pf_status put_waiting_row (row_job *job, size_t row) {
  const row_cell *const cells = &job->cells[row * job->ncolumns];
  for (size_t i = 0; i < job->ncolumns; i++)
    if (put_waiting_cell(job, i, &cells[i]) != PF_OK)
      return PF_ENOMEM;
  if (end_line(job, "\n") != PF_OK)
    return PF_ENOMEM;
  return row_flush(job, false);
}


/* Writes the rows that wait for their column widths. */
static pf_status put_waiting (row_job *job) {
  measure(job);
  if (!job->is_headed)
    fit_line(job);
  pf_status status = job->is_headed ? PF_OK : put_header(job);
  job->cells[job->rows_waiting * job->ncolumns].at = job->waiting.used;
  for (size_t r = 0; status == PF_OK && r < job->rows_waiting; r++)
    status = put_waiting_row(job, r);
  job->rows_waiting = 0;
  job->waiting.used = 0;
  return status;
}


static pf_status table_begin (row_job *job) {
  const size_t n = job->ncolumns;
  job->cells = calloc(ROW_AHEAD * n + 1, sizeof *job->cells);
  job->widths = calloc(2 * n + 1, sizeof *job->widths);
  if (job->cells == NULL || job->widths == NULL)
    return PF_ENOMEM;
  for (size_t i = 0; i < n; i++)
    bounds_of(job)[i] = SIZE_MAX;
  for (size_t i = 0; job->header && i < n; i++)
    job->widths[i] = header_width(&job->columns[i]);
  return PF_OK;
}


static pf_status table_rows (row_job *job) {
  pf_status status = PF_OK;
  for (size_t row = 0; status == PF_OK && row < job->batch.rows; row++) {
    row_cell *const cells = &job->cells[job->rows_waiting * job->ncolumns];
    for (size_t i = 0; i < job->ncolumns; i++)
      if (add_cell(job, &job->columns[i], row, &cells[i]) != PF_OK)
        return PF_ENOMEM;
    if (++job->rows_waiting == ROW_AHEAD)
      status = put_waiting(job);
  }
  return status;
}


static pf_status table_end (row_job *job) {
  return put_waiting(job);
}

const row_format row_table = {"text", table_begin, table_rows, table_end,
                              false};
