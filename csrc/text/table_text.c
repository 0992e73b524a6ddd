/*
** table_text.c - rows as an aligned table.
**
** The texts of ROW_AHEAD rows at a time are collected to determine the column
** widths, then written. If later rows are wider, their columns become wider
** from there on, so memory does not grow with the number of rows.
**
** A line that is wider than line_width is fitted: texts become narrower, down
** to LONG_TEXT; if that is not enough, columns are left out, the last ones
** first; if that is not enough, texts become narrower down to MIN_TEXT. They
** are cut in their middle. A text of more than max_width characters is cut at
** its end.
**
** lua/row_text.c calls the functions of row_table. `begin` allocates job->cells
** and job->widths; job_gc of row_text.c frees them and the buffers, also after
** a failure.
*/

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/group/estimates.h"
#include "text/rows.h"

#define GAP        2              /* spaces between columns */
#define CUT        "\xe2\x80\xa6" /* ellipsis: marks a text that was cut */
#define CUT_SIZE   3
#define ABOUT      "about " /* before an estimate */
#define ABOUT_SIZE 6
#define BOLD       "\x1b[1m"
#define DIM        "\x1b[2m"
#define PLAIN      "\x1b[0m"
#define MIN_TEXT   8  /* no text is cut to less */
#define LONG_TEXT  20 /* columns are left out before texts are cut to less */


void row_set_unit (row_job *job, size_t unit) {
  static const row_column units[ROW_UNITS] = {
      {.unit = 1, .digits = 0},
      {.unit = 1000, .digits = 3},
      {.unit = 1000000, .digits = 3},
      {.unit = 1000000000, .digits = 6}};
  static const char *const names[ROW_UNITS] = {"ns", "us", "ms", "s"};
  for (size_t i = 0; i < job->ncolumns; i++)
    if (job->columns[i].is_time) {
      job->columns[i].unit = units[unit].unit;
      job->columns[i].digits = units[unit].digits;
      job->columns[i].suffix = pf_bytes_of(names[unit]);
    }
}


/* Writes a time in a larger unit, rounded to column->digits decimals; the unit
   has that many zeros at least. */
static char *put_time (char *p, int64_t value, const row_column *column) {
  const uint64_t time = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
  uint64_t power = 1;
  for (int i = 0; i < column->digits; i++)
    power *= 10;
  const uint64_t step = (uint64_t)column->unit / power; /* ns per last digit */
  const uint64_t steps = time / step + (time % step >= (step + 1) / 2);
  *p = '-'; /* overwritten if there is no sign */
  return row_put_decimals(p + (value < 0), steps, (size_t)column->digits);
}


/* Writes a number with `digits` decimals; very large and very small ones with
   digits + 1 significant digits. */
static char *put_decimal (char *p, double value, int digits) {
  const double magnitude = fabs(value);
  if (magnitude == 0 || (magnitude >= 0.001 && magnitude < 1e15))
    return row_put_fixed(p, value, digits);
  if (!isfinite(value))
    return row_put_num(p, value);
  return row_put_significant(p, value, digits + 1);
}


static char *put_number (char *p, const row_column *column,
                         const pf_column *values, size_t row) {
  if (column->is_date)
    return row_put_date(p, values->ints[row]);
  if (values->type == PF_INT && column->unit > 1)
    return put_time(p, values->ints[row], column);
  if (values->type != PF_NUM)
    return row_put_value(p, values, row);
  if (column->is_share) {
    p = put_decimal(p, 100 * values->nums[row], 2);
    *p++ = '%';
    return p;
  }
  return column->unit > 1
             ? put_decimal(p, values->nums[row] / (double)column->unit,
                           column->digits)
             : put_decimal(p, values->nums[row], 3);
}


/* Returns the size in bytes of the first `count` characters of a text. */
static size_t size_of_first (const char *text, size_t size, size_t count) {
  size_t at = 0;
  for (size_t i = 0; i < count; i++)
    at += pf_utf8((const uint8_t *)text + at, size - at);
  return at;
}


/* Sets *text to the text of a value; for an area whose name areas of other
   files have, with its file. False when out of memory. */
static bool text_of (row_job *job, const pf_column *values, size_t row,
                     pf_bytes *text) {
  const pf_dictionary *const dictionary = job->reader->dictionary;
  *text = row_bytes(values, row, dictionary);
  if (values->type != PF_AREA)
    return true;
  const uint32_t area = values->ids[row];
  const size_t size = pf_full_name_size(&job->shared, dictionary, area);
  job->full.used = 0;
  if (size == text->size)
    return true;
  if (row_reserve(&job->full, size) != PF_OK)
    return false;
  (void)pf_full_name_put(&job->shared, dictionary, area,
                         (uint8_t *)job->full.at);
  *text = (pf_bytes){(const uint8_t *)job->full.at, size};
  return true;
}


size_t row_about (const pf_reader *reader) {
  const size_t i = pf_field_index(reader->fields, reader->nfields, PF_ABOUT);
  return i < reader->nfields && reader->fields[i].type == PF_NAME
             ? i
             : reader->nfields;
}


/* Whether the value of a column is an estimate: column `about` names it. */
static bool is_estimate (const row_job *job, const char *name, size_t row) {
  if (job->about >= job->reader->nfields ||
      pf_is_missing(&job->batch.columns[job->about], row))
    return false;
  const pf_bytes names =
      row_bytes(&job->batch.columns[job->about], row, job->reader->dictionary);
  const size_t size = strlen(name);
  for (size_t at = 0; at + size <= names.size; at++)
    if (memcmp(names.at + at, name, size) == 0 &&
        (at == 0 || names.at[at - 1] == ' ') &&
        (at + size == names.size || names.at[at + size] == ' '))
      return true;
  return false;
}


/* Appends a cell to those that wait for their column widths. */
static pf_status add_cell (row_job *job, const row_column *column, size_t row,
                           row_cell *cell) {
  const pf_column *const values = &job->batch.columns[column->field];
  row_text *const text = &job->waiting;
  *cell = (row_cell){text->used, 0};
  if (pf_is_missing(values, row))
    return PF_OK;
  if (row_reserve(text, ABOUT_SIZE + ROW_NUMBER_SIZE) != PF_OK)
    return PF_ENOMEM;
  if (!row_is_text(values->type)) {
    char *const p = text->at + text->used;
    const size_t mark = is_estimate(job, column->name, row) ? ABOUT_SIZE : 0;
    memcpy(p, ABOUT, mark);
    cell->width = (size_t)(put_number(p + mark, column, values, row) - p);
    text->used += cell->width;
    return PF_OK;
  }
  pf_bytes bytes;
  if (!text_of(job, values, row, &bytes))
    return PF_ENOMEM;
  /* A character has at most 4 bytes; one more than fits tells that it is
     cut. */
  if (bytes.size / 4 > job->max_width)
    bytes.size = 4 * (job->max_width + 1);
  if (row_put_printable(text, bytes, &cell->width) != PF_OK ||
      row_reserve(text, 3) != PF_OK)
    return PF_ENOMEM;
  if (cell->width > job->max_width) {
    text->used =
        cell->at + size_of_first(text->at + cell->at, text->used - cell->at,
                                 job->max_width - 1);
    memcpy(text->at + text->used, CUT, CUT_SIZE);
    text->used += CUT_SIZE;
    cell->width = job->max_width;
  }
  return PF_OK;
}


/* Returns the maximum widths of the columns, stored after the widths. A column
   with the maximum 0 is left out. */
static size_t *bounds_of (const row_job *job) {
  return job->widths + job->ncolumns;
}


/* Writes a cell, padded to the width of its column. The gap is written before
   it, so that nothing follows the last one that is shown. */
static pf_status put_cell (row_job *job, size_t i, const char *bytes,
                           size_t size, size_t width) {
  if (bounds_of(job)[i] == 0)
    return PF_OK;
  const size_t gap = i == 0 ? 0 : GAP; /* the first column is always shown */
  const size_t pad = job->widths[i] - width;
  const pf_type type = job->columns[i].type;
  const bool right = !row_is_text(type) && type != PF_BOOL;
  if (row_reserve(&job->text, gap + size + pad) != PF_OK)
    return PF_ENOMEM;
  char *p = job->text.at + job->text.used;
  p = (char *)memset(p, ' ', gap + (right ? pad : 0)) + gap + (right ? pad : 0);
  if (size > 0)
    memcpy(p, bytes, size);
  p += size;
  if (!right)
    p = (char *)memset(p, ' ', pad) + pad;
  job->text.used = (size_t)(p - job->text.at);
  return PF_OK;
}


/* Writes the header of a column into job->cut: its name, as printable as cells,
   and its unit. Returns PF_ENOMEM or PF_OK, and its width in *width. */
static pf_status make_header (row_job *job, size_t i, size_t *width) {
  const row_column *const column = &job->columns[i];
  row_text *const text = &job->cut;
  text->used = 0;
  pf_status status = row_put_printable(text, pf_bytes_of(column->name), width);
  if (status != PF_OK || column->suffix.size == 0)
    return status;
  size_t unit_width;
  status = row_put(text, " (", 2);
  if (status == PF_OK)
    status = row_put_printable(text, column->suffix, &unit_width);
  if (status != PF_OK)
    return status;
  *width += unit_width + 3;
  return row_put(text, ")", 1);
}


/* Returns the widths of the headers, 0 without headers, stored after the
   maximum widths. */
static size_t *headers_of (const row_job *job) {
  return job->widths + 2 * job->ncolumns;
}


/* Removes the spaces at the end of a line and adds the text that ends it. */
static pf_status end_line (row_job *job, const char *end) {
  while (job->text.used > 0 && job->text.at[job->text.used - 1] == ' ')
    job->text.used--;
  return row_put(&job->text, end, strlen(end));
}


static pf_status put_header (row_job *job) {
  job->is_headed = true;
  if (!job->header)
    return PF_OK;
  if (job->color && row_put(&job->text, BOLD, sizeof BOLD - 1) != PF_OK)
    return PF_ENOMEM;
  for (size_t i = 0; i < job->ncolumns; i++) {
    size_t width = 0;
    if (make_header(job, i, &width) != PF_OK ||
        put_cell(job, i, job->cut.at, job->cut.used, width) != PF_OK)
      return PF_ENOMEM;
  }
  return end_line(job, job->color ? PLAIN "\n" : "\n");
}


/* Returns the widest column of texts that is wider than its header and `least`;
   ncolumns if there is none. */
static size_t widest_text (const row_job *job, size_t least) {
  size_t widest = job->ncolumns;
  for (size_t i = 0; i < job->ncolumns; i++) {
    const size_t header = headers_of(job)[i];
    const bool can_be_cut = row_is_text(job->columns[i].type) &&
                            job->widths[i] > least && job->widths[i] > header;
    if (can_be_cut &&
        (widest == job->ncolumns || job->widths[i] > job->widths[widest]))
      widest = i;
  }
  return widest;
}


/* Narrows columns of texts to `least`, the widest first, until a line, whose
   width is `total`, fits into line_width. Returns its width then. */
static size_t narrow_texts (row_job *job, size_t total, size_t least) {
  while (total > job->line_width) {
    const size_t widest = widest_text(job, least);
    if (widest == job->ncolumns)
      return total;
    bounds_of(job)[widest] = --job->widths[widest];
    total--;
  }
  return total;
}


/* Returns the width to which a column is narrowed before others are left
   out. */
static size_t least_width (const row_job *job, size_t i) {
  const size_t header = headers_of(job)[i];
  const size_t least = header > LONG_TEXT ? header : LONG_TEXT;
  return row_is_text(job->columns[i].type) && job->widths[i] > least
             ? least
             : job->widths[i];
}


/* Fits a line into line_width. Columns are left out from the right, because the
   first ones are the most important, but not the first one and not the first
   one of texts, which names the row. Numbers are never cut. */
static void fit_line (row_job *job) {
  const size_t gaps = job->ncolumns == 0 ? 0 : GAP * (job->ncolumns - 1);
  size_t total = gaps, least_total = gaps, first_text = 0;
  for (size_t i = 0; i < job->ncolumns; i++) {
    total += job->widths[i];
    least_total += least_width(job, i);
  }
  if (job->line_width == 0 || total <= job->line_width)
    return;
  while (first_text < job->ncolumns &&
         !row_is_text(job->columns[first_text].type))
    first_text++;
  for (size_t i = job->ncolumns; i-- > 1 && least_total > job->line_width;)
    if (i != first_text) {
      total -= job->widths[i] + GAP;
      least_total -= least_width(job, i) + GAP;
      bounds_of(job)[i] = job->widths[i] = 0;
      job->nhidden++;
    }
  (void)narrow_texts(job, narrow_texts(job, total, LONG_TEXT), MIN_TEXT);
}


/* Cuts a text of `size` bytes and `width` characters to `bound` characters,
   into job->cut: its begin and its end, which often distinguishes names, are
   kept. Returns the size in bytes; 0: no memory. */
static size_t cut_middle (row_job *job, const char *bytes, size_t size,
                          size_t width, size_t bound) {
  const size_t begin = (bound - 1) / 3, end = bound - 1 - begin;
  const size_t head = size_of_first(bytes, size, begin);
  const size_t skipped = size_of_first(bytes, size, width - end);
  if (row_reserve(&job->cut, head + CUT_SIZE + size - skipped) != PF_OK)
    return 0;
  memcpy(job->cut.at, bytes, head);
  memcpy(job->cut.at + head, CUT, CUT_SIZE);
  memcpy(job->cut.at + head + CUT_SIZE, bytes + skipped, size - skipped);
  return head + CUT_SIZE + size - skipped;
}


/* Whether a number is shown as 0: as zeros with a sign, a point, a per cent
   sign or the 0x of an address. */
static bool is_zero (const char *bytes, size_t size) {
  for (size_t i = 0; i < size; i++)
    if (memchr("0-.%x", bytes[i], 5) == NULL)
      return false;
  return size > 0 && memchr(bytes, '0', size) != NULL;
}


/* Writes a cell that is no text, dimmed if it is 0. */
static pf_status put_number_cell (row_job *job, size_t i, const char *bytes,
                                  size_t size) {
  if (!job->color || !is_zero(bytes, size))
    return put_cell(job, i, bytes, size, size);
  return row_put(&job->text, DIM, sizeof DIM - 1) == PF_OK &&
                 put_cell(job, i, bytes, size, size) == PF_OK &&
                 row_put(&job->text, PLAIN, sizeof PLAIN - 1) == PF_OK
             ? PF_OK
             : PF_ENOMEM;
}


/* Writes a row, with each cell cut to the maximum width of its column. A cell
   ends where the next one begins; one more marks the end of the last row. */
static pf_status put_waiting_row (row_job *job, const row_cell *cell) {
  for (size_t i = 0; i < job->ncolumns; i++, cell++) {
    const size_t bound = bounds_of(job)[i];
    size_t size = cell[1].at - cell->at, width = cell->width;
    const char *bytes = size == 0 ? "" : job->waiting.at + cell->at;
    if (bound == 0)
      continue;
    if (width > bound) {
      size = cut_middle(job, bytes, size, width, bound);
      if (size == 0)
        return PF_ENOMEM;
      width = bound;
      bytes = job->cut.at;
    }
    const pf_status status = row_is_text(job->columns[i].type)
                                 ? put_cell(job, i, bytes, size, width)
                                 : put_number_cell(job, i, bytes, size);
    if (status != PF_OK)
      return status;
  }
  return end_line(job, "\n") == PF_OK ? row_flush(job, false) : PF_ENOMEM;
}


/* Writes the rows that wait for their column widths. */
static pf_status put_waiting (row_job *job) {
  const size_t n = job->ncolumns;
  for (size_t cell = 0; cell < job->rows_waiting * n; cell++) {
    const size_t i = cell % n, bound = bounds_of(job)[i];
    const size_t wanted = job->cells[cell].width;
    const size_t width = wanted > bound ? bound : wanted;
    if (width > job->widths[i])
      job->widths[i] = width;
  }
  if (!job->is_headed)
    fit_line(job);
  pf_status status = job->is_headed ? PF_OK : put_header(job);
  job->cells[job->rows_waiting * n].at = job->waiting.used;
  for (size_t r = 0; status == PF_OK && r < job->rows_waiting; r++)
    status = put_waiting_row(job, &job->cells[r * n]);
  job->rows_waiting = 0;
  job->waiting.used = 0;
  return status;
}


/* Stores the widths of the headers. */
static pf_status measure_headers (row_job *job) {
  for (size_t i = 0; job->header && i < job->ncolumns; i++) {
    if (make_header(job, i, &headers_of(job)[i]) != PF_OK)
      return PF_ENOMEM;
    job->widths[i] = headers_of(job)[i];
  }
  return PF_OK;
}


/* Shows times in the unit that suits the largest one of the current batch. */
static pf_status choose_unit (row_job *job) {
  double largest = 0;
  size_t unit = 0;
  for (size_t i = 0; i < job->ncolumns; i++) {
    const pf_column *const values = &job->batch.columns[job->columns[i].field];
    for (size_t r = 0; job->columns[i].is_time && r < job->batch.rows; r++) {
      const double value = pf_is_missing(values, r) ? 0
                           : values->type == PF_INT ? (double)values->ints[r]
                                                    : values->nums[r];
      largest = fmax(largest, fabs(value));
    }
  }
  for (double size = 1000; unit + 1 < ROW_UNITS && largest >= size;
       size *= 1000)
    unit++;
  job->chooses_unit = false;
  row_set_unit(job, unit);
  return measure_headers(job);
}


static pf_status table_begin (row_job *job) {
  const size_t n = job->ncolumns;
  job->cells = calloc(ROW_AHEAD * n + 1, sizeof *job->cells);
  job->widths = calloc(3 * n + 1, sizeof *job->widths);
  if (job->cells == NULL || job->widths == NULL)
    return PF_ENOMEM;
  for (size_t i = 0; i < n; i++)
    bounds_of(job)[i] = SIZE_MAX;
  return measure_headers(job);
}


static pf_status table_rows (row_job *job) {
  pf_status status = job->chooses_unit ? choose_unit(job) : PF_OK;
  for (size_t i = 0; i < job->ncolumns; i++)
    if (job->columns[i].type == PF_AREA &&
        !pf_shared_names_all(&job->shared, job->reader->dictionary))
      return PF_ENOMEM;
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


const row_format row_table = {.name = "text",
                              .begin = table_begin,
                              .rows = table_rows,
                              .end = put_waiting};
