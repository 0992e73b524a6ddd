/*
** interchange_text.c - rows for other programs: csv, tsv, json, ndjson.
**
** csv     quoted as in RFC 4180, but lines end in LF; an empty text is "" and
**         a missing value is empty
** tsv     without quotes; tab, LF, CR and backslash of a text are written as
**         \t \n \r \\; an empty text and a missing value are both empty
** json    one array of objects; ndjson: one object per line. Missing values
**         and numbers that are not finite are null; addresses and handles are
**         strings, written as in csv and tsv
**
** csv and tsv write nan, inf and -inf. A byte of a text that is not UTF-8
** becomes U+FFFD; csv and tsv keep it if row_job.is_raw is set. The job also
** chooses the delimiter of csv, and the decimal sign and the byte order mark of
** csv and tsv.
** lua/row_text.c calls the formats through row_format. They allocate only space
** in the text buffer of the job.
*/

#include <math.h>
#include <string.h>

#include "text/rows.h"


/* The text from byte `i` on. */
static pf_bytes rest_of (pf_bytes bytes, size_t i) {
  return (pf_bytes){bytes.at + i, bytes.size - i};
}


static bool has_byte (pf_bytes bytes, char c) {
  return bytes.size > 0 && memchr(bytes.at, c, bytes.size) != NULL;
}


/* Copies the character at `at` to *p; a byte that is not UTF-8 becomes U+FFFD,
   three bytes, unless `raw`. Returns the number of bytes read. */
static size_t put_character (char **p, const uint8_t *at, size_t left,
                             bool raw) {
  const size_t size = raw ? 1 : pf_utf8(at, left);
  if (size == 0)
    memcpy(*p, "\xef\xbf\xbd", 3);
  else
    memcpy(*p, at, size);
  *p += size == 0 ? 3 : size;
  return size == 0 ? 1 : size;
}


/* The two bytes for a byte that csv or tsv writes otherwise, or NULL. */
static const char *escape_of (bool is_tsv, uint8_t c) {
  switch (c) {
    case '"': return is_tsv ? NULL : "\"\"";
    case '\t': return is_tsv ? "\\t" : NULL;
    case '\n': return is_tsv ? "\\n" : NULL;
    case '\r': return is_tsv ? "\\r" : NULL;
    case '\\': return is_tsv ? "\\\\" : NULL;
    default: return NULL;
  }
}


/* Whether a spreadsheet takes a text for a formula, by its first byte. */
static bool is_formula (pf_bytes bytes) {
  return bytes.size > 0 && memchr("=+-@\t\r", bytes.at[0], 6) != NULL;
}


/* Appends a text. At most, each byte becomes U+FFFD, and two quotes and the
   mark of a formula are added. */
static pf_status put_text (row_job *job, pf_bytes bytes) {
  const bool is_tsv = job->format == &row_tsv;
  row_text *const text = &job->text;
  if (bytes.size > SIZE_MAX / 4 ||
      row_reserve(text, 3 * bytes.size + 3) != PF_OK)
    return PF_ENOMEM;
  char *p = text->at + text->used;
  const bool is_marked = job->no_formulas && is_formula(bytes);
  if (!is_tsv && !is_marked && bytes.size > 0 &&
      row_copy_ascii(p, bytes, job->delimiter, '"')) {
    text->used += bytes.size;
    return PF_OK;
  }
  const bool is_quoted =
      !is_tsv &&
      (bytes.size == 0 || has_byte(bytes, job->delimiter) ||
       has_byte(bytes, '"') || has_byte(bytes, '\n') || has_byte(bytes, '\r'));
  if (is_quoted)
    *p++ = '"';
  if (is_marked)
    *p++ = '\'';
  for (size_t i = 0; i < bytes.size;) {
    const size_t plain =
        row_copy_plain(p, rest_of(bytes, i), is_tsv ? '\\' : '"', 0);
    p += plain;
    i += plain;
    if (i == bytes.size)
      break;
    const char *const escape = escape_of(is_tsv, bytes.at[i]);
    if (escape == NULL)
      i += put_character(&p, bytes.at + i, bytes.size - i, job->is_raw);
    else {
      p = (char *)memcpy(p, escape, 2) + 2;
      i++;
    }
  }
  if (is_quoted)
    *p++ = '"';
  text->used = (size_t)(p - text->at);
  return PF_OK;
}


/* The byte after the value of column `i`. */
static char end_of (const row_job *job, size_t i) {
  return i + 1 == job->ncolumns ? '\n' : job->delimiter;
}


static pf_status put_header (row_job *job) {
  if (job->header && job->has_bom &&
      row_put(&job->text, "\xef\xbb\xbf", 3) != PF_OK)
    return PF_ENOMEM;
  for (size_t i = 0; job->header && i < job->ncolumns; i++) {
    const char end = end_of(job, i);
    if (put_text(job, pf_bytes_of(job->columns[i].name)) != PF_OK ||
        row_put(&job->text, &end, 1) != PF_OK)
      return PF_ENOMEM;
  }
  return PF_OK;
}


/* Writes a value that is no text. */
static char *put_value (char *p, const row_job *job, const pf_column *values,
                        size_t row) {
  char *const end = row_put_value(p, values, row);
  if (job->decimal != '.' && values->type == PF_NUM) {
    char *const point = memchr(p, '.', (size_t)(end - p));
    if (point != NULL)
      *point = job->decimal;
  }
  return end;
}


/* Writes the value of column `i`, and the byte after it. */
static pf_status put_field (row_job *job, size_t i, size_t row) {
  const pf_column *const values = &job->batch.columns[job->columns[i].field];
  row_text *const text = &job->text;
  const bool missing = pf_is_missing(values, row);
  const bool is_text = row_is_text(values->type);
  if (!missing && is_text &&
      put_text(job, row_bytes(values, row, job->reader->dictionary)) != PF_OK)
    return PF_ENOMEM;
  if (row_reserve(text, ROW_NUMBER_SIZE + 1) != PF_OK)
    return PF_ENOMEM;
  char *p = text->at + text->used;
  if (!missing && !is_text)
    p = put_value(p, job, values, row);
  *p++ = end_of(job, i);
  text->used = (size_t)(p - text->at);
  return PF_OK;
}


static pf_status put_rows (row_job *job) {
  pf_status status = PF_OK;
  for (size_t row = 0; row < job->batch.rows && status == PF_OK; row++) {
    for (size_t i = 0; i < job->ncolumns; i++)
      if (put_field(job, i, row) != PF_OK)
        return PF_ENOMEM;
    status = row_flush(job, false);
  }
  return status;
}


const row_format row_csv = {.name = "csv",
                            .begin = put_header,
                            .rows = put_rows,
                            .is_independent = true};
const row_format row_tsv = {.name = "tsv",
                            .begin = put_header,
                            .rows = put_rows,
                            .is_independent = true};


/* Appends a character, if needed with an escape; returns the number of bytes
   read. Six bytes must be free for each of them. */
static size_t put_json_character (row_text *text, const uint8_t *at,
                                  size_t left) {
  char *p = text->at + text->used;
  const bool is_escaped = at[0] == '"' || at[0] == '\\';
  const bool is_control = at[0] < 0x20 || at[0] == 0x7f;
  if (is_escaped)
    *p++ = '\\';
  const size_t size = is_control ? 1 : put_character(&p, at, left, false);
  if (is_control) {
    memcpy(p, "\\u00", 4);
    p[4] = "0123456789abcdef"[at[0] >> 4];
    p[5] = "0123456789abcdef"[at[0] & 15];
    p += 6;
  }
  text->used = (size_t)(p - text->at);
  return size;
}


/* The longest escape, \u00 and two digits, has six bytes. */
pf_status row_put_json (row_text *text, pf_bytes bytes) {
  if (bytes.size > SIZE_MAX / 8 ||
      row_reserve(text, 6 * bytes.size + 2) != PF_OK)
    return PF_ENOMEM;
  text->at[text->used++] = '"';
  for (size_t i = 0; i < bytes.size;) {
    const size_t plain =
        row_copy_plain(text->at + text->used, rest_of(bytes, i), '"', '\\');
    text->used += plain;
    i += plain;
    if (i < bytes.size)
      i += put_json_character(text, bytes.at + i, bytes.size - i);
  }
  text->at[text->used++] = '"';
  return PF_OK;
}


static pf_status put_json_value (row_job *job, const pf_column *values,
                                 size_t row) {
  row_text *const text = &job->text;
  if (pf_is_missing(values, row) ||
      (values->type == PF_NUM && !isfinite(values->nums[row])))
    return row_put(text, "null", 4);
  if (row_is_text(values->type))
    return row_put_json(text, row_bytes(values, row, job->reader->dictionary));
  if (row_reserve(text, ROW_NUMBER_SIZE) != PF_OK)
    return PF_ENOMEM;
  const bool is_quoted = values->type == PF_ADDR || values->type == PF_HANDLE;
  char *p = text->at + text->used;
  if (is_quoted)
    *p++ = '"';
  p = row_put_value(p, values, row);
  if (is_quoted)
    *p++ = '"';
  text->used = (size_t)(p - text->at);
  return PF_OK;
}


static pf_status put_object (row_job *job, size_t row) {
  row_text *const text = &job->text;
  for (size_t i = 0; i < job->ncolumns; i++) {
    const row_column *const column = &job->columns[i];
    if (row_put(text, i == 0 ? "{" : ",", 1) != PF_OK ||
        row_put_json(text, pf_bytes_of(column->name)) != PF_OK ||
        row_put(text, ":", 1) != PF_OK ||
        put_json_value(job, &job->batch.columns[column->field], row) != PF_OK)
      return PF_ENOMEM;
  }
  return job->ncolumns == 0 ? row_put(text, "{}", 2) : row_put(text, "}", 1);
}


static pf_status put_objects (row_job *job) {
  const bool is_array = job->format == &row_json;
  for (size_t row = 0; row < job->batch.rows; row++) {
    const char *const mark = job->count + row == 0 ? "[\n" : ",\n";
    if ((is_array && row_put(&job->text, mark, 2) != PF_OK) ||
        put_object(job, row) != PF_OK ||
        (!is_array && row_put(&job->text, "\n", 1) != PF_OK))
      return PF_ENOMEM;
    const pf_status status = row_flush(job, false);
    if (status != PF_OK)
      return status;
  }
  return PF_OK;
}


static pf_status json_end (row_job *job) {
  return job->count == 0 ? row_put(&job->text, "[]\n", 3)
                         : row_put(&job->text, "\n]\n", 3);
}

const row_format row_json = {.name = "json",
                             .rows = put_objects,
                             .end = json_end,
                             .is_independent = true};
const row_format row_ndjson = {
    .name = "ndjson", .rows = put_objects, .is_independent = true};
