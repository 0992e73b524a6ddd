/*
** listing_text.c - rows of several kinds, each written by a template for its
** kind. A template is text with columns in braces, formatted as printf would:
**
**   {column}            the value
**   {column:9.2}        a number with 2 decimals, right-aligned in 9 columns
**   {column:-9}         left-aligned in 9 columns
**   {column:.20}        at most 20 characters of a text
**   {column:json}       a JSON string or number; null if the value is missing
**                       or not finite; no addresses, handles and stacks
**   {column:us}         nanoseconds since the origin of the job as
**                       microseconds with all decimals, without a width;
**                       {column:ms} as milliseconds
**   {{                  an opening brace; a closing one is never doubled
**
** Missing values are blanks, except in JSON. lua/row_text.c compiles the
** templates and calls row_listing. It owns the segments; only the text buffer
** of the job grows here.
*/

#include <math.h>
#include <string.h>

#include "model/base/switches.h"
#include "text/rows.h"

#define GROUP 8 /* rows that are prefetched together */

#define MAX_WIDTH 1000u


/* Reads a decimal number; MAX_WIDTH if it is larger, 0 if there is none. */
static uint32_t parse_number (const uint8_t **at, const uint8_t *end) {
  uint32_t value = 0;
  for (; *at < end && **at >= '0' && **at <= '9'; (*at)++)
    value = value * 10 + (uint32_t)(**at - '0') < MAX_WIDTH
                ? value * 10 + (uint32_t)(**at - '0')
                : MAX_WIDTH;
  return value;
}


static bool is_word (const uint8_t *at, const uint8_t *end, const char *word) {
  const size_t size = strlen(word);
  return (size_t)(end - at) == size && memcmp(at, word, size) == 0;
}


/* Parses the specification after the colon; false if it is invalid. */
static bool parse_spec (const uint8_t *at, const uint8_t *end,
                        row_segment *segment) {
  segment->is_json = is_word(at, end, "json");
  segment->digits = is_word(at, end, "us") ? 3 : is_word(at, end, "ms") ? 6 : 0;
  if (segment->is_json || segment->digits > 0)
    return true;
  if (at < end && *at == '-') {
    segment->is_left = true;
    at++;
  }
  segment->width = parse_number(&at, end);
  if (at < end && *at == '.') {
    at++;
    segment->precision = (int32_t)parse_number(&at, end);
  }
  return at == end;
}


static pf_status compile_column (pf_bytes inner, const pf_reader *reader,
                                 row_segment *segment, pf_error *error) {
  const uint8_t *const end = inner.at + inner.size;
  const uint8_t *const colon = memchr(inner.at, ':', inner.size);
  const uint8_t *const stop = colon == NULL ? end : colon;
  const pf_bytes name = {inner.at, (size_t)(stop - inner.at)};
  size_t field = 0;
  while (field < reader->nfields &&
         !is_word(name.at, stop, reader->fields[field].name))
    field++;
  *segment = (row_segment){.field = field, .precision = -1};
  if (field == reader->nfields)
    return pf_fail(error, PF_EFORMAT, PF_NO_OFFSET,
                   "no column '%.*s' for the template", (int)name.size,
                   (const char *)name.at);
  if (colon != NULL && !parse_spec(colon + 1, end, segment))
    return pf_fail(error, PF_EFORMAT, PF_NO_OFFSET,
                   "cannot read '{%.*s}' in the template", (int)inner.size,
                   (const char *)inner.at);
  const pf_type type = reader->fields[field].type;
  if (segment->is_json &&
      (type == PF_ADDR || type == PF_HANDLE || type == PF_STACK))
    return pf_fail(error, PF_EFORMAT, PF_NO_OFFSET,
                   "column '%.*s' has no form in JSON", (int)name.size,
                   (const char *)name.at);
  if (type == PF_NUM && segment->precision > 15)
    segment->precision = 15;
  return PF_OK;
}


/* Appends literal text: to the last segment if that has none yet, and what does
   not fit as segments without a column. */
static void add_literal (row_segment *segments, size_t *nsegments,
                         const uint8_t *at, size_t size) {
  for (size_t done = 0, part; done < size; done += part) {
    part = size - done < ROW_LITERAL ? size - done : ROW_LITERAL;
    if (*nsegments == 0 || segments[*nsegments - 1].literal_size > 0)
      segments[(*nsegments)++] =
          (row_segment){.field = SIZE_MAX, .precision = -1};
    row_segment *const segment = &segments[*nsegments - 1];
    memcpy(segment->literal, at + done, part);
    segment->literal_size = (uint8_t)part;
  }
}


pf_status row_compile (pf_bytes source, const pf_reader *reader,
                       row_segment *segments, size_t *nsegments,
                       pf_error *error) {
  const uint8_t *at = source.at;
  const uint8_t *const end = at + source.size;
  size_t n = 0;
  while (at < end) {
    const size_t left = (size_t)(end - at);
    const uint8_t *const brace = memchr(at, '{', left);
    const size_t before = brace == NULL ? left : (size_t)(brace - at);
    if (before > 0) {
      add_literal(segments, &n, at, before);
      at += before;
      continue;
    }
    if (left > 1 && at[1] == '{') {
      add_literal(segments, &n, at, 1);
      at += 2;
      continue;
    }
    const uint8_t *const close = memchr(at, '}', left);
    if (close == NULL)
      return pf_fail(error, PF_EFORMAT, PF_NO_OFFSET,
                     "a brace of the template is not closed");
    const pf_bytes inner = {at + 1, (size_t)(close - at - 1)};
    const pf_status status =
        compile_column(inner, reader, &segments[n++], error);
    if (status != PF_OK)
      return status;
    at = close + 1;
  }
  *nsegments = n;
  return PF_OK;
}


/* Pads the value of `size` bytes and `width` characters at the end of the text
   to the width of the segment. Space for the padding is reserved. */
static void pad (row_text *text, const row_segment *segment, size_t size,
                 size_t width) {
  if (width >= segment->width)
    return;
  const size_t count = segment->width - width;
  char *const start = text->at + text->used - size;
  if (!segment->is_left)
    memmove(start + count, start, size);
  memset(segment->is_left ? start + size : start, ' ', count);
  text->used += count;
}


/* Appends a text that is not printable ASCII. */
static pf_status put_other_text (row_text *text, const row_segment *segment,
                                 pf_bytes bytes) {
  const size_t start = text->used;
  size_t width;
  if (row_put_printable(text, bytes, &width) != PF_OK ||
      row_reserve(text, segment->width) != PF_OK)
    return PF_ENOMEM;
  if (segment->precision >= 0 && width > (size_t)segment->precision) {
    const uint8_t *const at = (const uint8_t *)text->at;
    const size_t end = text->used;
    width = (size_t)segment->precision;
    text->used = start;
    for (size_t i = 0; i < width; i++)
      text->used += pf_utf8(at + text->used, end - text->used);
  }
  pad(text, segment, text->used - start, width);
  return PF_OK;
}


/* Writes a text at `p`, the end of the buffer, and reserves `room` bytes after
   it. Returns the new end; NULL: out of memory. */
static char *put_text (row_text *text, char *p, const row_segment *segment,
                       pf_bytes bytes, size_t room) {
  const size_t size =
      segment->precision >= 0 && bytes.size > (size_t)segment->precision
          ? (size_t)segment->precision
          : bytes.size;
  const size_t blank = segment->width > size ? segment->width - size : 0;
  text->used = (size_t)(p - text->at);
  if (size > SIZE_MAX / 2 || row_reserve(text, size + blank + room) != PF_OK)
    return NULL;
  p = row_put_spaces(text->at + text->used, segment->is_left ? 0 : blank);
  if (row_copy_ascii(p, (pf_bytes){bytes.at, size}, 0, 0))
    return row_put_spaces(p + size, segment->is_left ? blank : 0);
  if (put_other_text(text, segment, bytes) != PF_OK ||
      row_reserve(text, room) != PF_OK)
    return NULL;
  return text->at + text->used;
}


static char *put_number (char *p, size_t width, const row_segment *segment,
                         const pf_column *column, size_t row) {
  if (column->type == PF_INT)
    return row_right_int(p, width, column->ints[row]);
  if (column->type == PF_NUM && segment->precision >= 0)
    return row_right_fixed(p, width, column->nums[row], segment->precision);
  return column->type == PF_BOOL ? row_put_uint(p, column->bools[row])
                                 : row_put_value(p, column, row);
}


/* Whether the JSON value is null. */
static bool is_null (const pf_column *column, size_t row) {
  return pf_is_missing(column, row) ||
         (column->type == PF_NUM && !isfinite(column->nums[row]));
}


/* Writes a value as JSON. NULL: out of memory. */
static char *put_json (row_text *text, char *p, const row_job *job,
                       const row_segment *segment, const pf_column *column,
                       size_t row) {
  if (!is_null(column, row) && !row_is_text(column->type))
    return put_number(p, 0, segment, column, row);
  text->used = (size_t)(p - text->at);
  const pf_status status =
      is_null(column, row)
          ? row_put(text, "null", 4)
          : row_put_json(text, row_bytes(column, row, job->reader->dictionary));
  if (status != PF_OK || row_reserve(text, job->fixed_size) != PF_OK)
    return NULL;
  return text->at + text->used;
}


/* Writes a number, or blanks for a missing one, in the width of its segment. */
static char *put_padded (char *p, const row_job *job,
                         const row_segment *segment, const pf_column *column,
                         size_t row) {
  if (pf_is_missing(column, row))
    return row_put_spaces(p, segment->width);
  if (segment->digits > 0 && column->type == PF_INT) {
    const uint64_t value = (uint64_t)column->ints[row];
    const uint64_t origin = (uint64_t)job->origin;
    const bool is_negative = column->ints[row] < job->origin;
    *p = '-';
    return row_put_decimals(p + is_negative,
                            is_negative ? origin - value : value - origin,
                            segment->digits);
  }
  const size_t width = segment->is_left ? 0 : segment->width;
  char *const end = put_number(p, width, segment, column, row);
  const size_t size = (size_t)(end - p);
  if (size >= segment->width)
    return end;
  const size_t blank = segment->width - size;
  if (segment->is_left)
    return row_put_spaces(end, blank);
  memmove(p + blank, p, size); /* put_number has left-aligned it */
  memset(p, ' ', blank);
  return end + blank;
}


/* Space for everything but texts is reserved at once (and a byte, so that there
   is an array); each text reserves again. */
static pf_status put_row (row_job *job, const row_template *template,
                          size_t row) {
  row_text *const text = &job->text;
  if (row_reserve(text, job->fixed_size + 1) != PF_OK)
    return PF_ENOMEM;
  char *p = text->at + text->used;
  for (size_t i = 0; i < template->nsegments; i++) {
    const row_segment *const segment = &template->segments[i];
    if (segment->field != SIZE_MAX) {
      const pf_column *const column = &job->batch.columns[segment->field];
      if (segment->is_json)
        p = put_json(text, p, job, segment, column, row);
      else if (!row_is_text(column->type) || pf_is_missing(column, row))
        p = put_padded(p, job, segment, column, row);
      else
        p = put_text(text, p, segment,
                     row_bytes(column, row, job->reader->dictionary),
                     job->fixed_size);
      if (p == NULL)
        return PF_ENOMEM;
    }
    memcpy(p, segment->literal, ROW_LITERAL); /* has room */
    p += segment->literal_size;
  }
  text->used = (size_t)(p - text->at);
  return row_flush(job, false);
}


/* Returns the template of a row; NULL: the row is skipped. Kinds have
   consecutive ids, so their low bits differ. */
static const row_template *template_at (row_job *job, const pf_column *kinds,
                                        size_t row) {
  if (kinds == NULL)
    return job->templates;
  if (pf_is_missing(kinds, row))
    return NULL;
  const uint32_t kind = kinds->ids[row];
  const row_template **const known = &job->kind_cache[kind % ROW_KINDS];
  if (*known != NULL && (*known)->kind == kind)
    return *known;
  size_t i = 0;
  while (i < job->ntemplates && job->templates[i].kind != kind)
    i++;
  return i == job->ntemplates ? NULL : (*known = &job->templates[i]);
}


/* Prefetches for GROUP rows, some groups ahead: their values, which another
   core has written, then the entries of their names in the dictionary, then the
   bytes of the names. A sorted listing has names from anywhere in memory. */
static void prefetch_group (const row_job *job, size_t row) {
  const pf_dictionary *const dictionary = job->reader->dictionary;
  for (size_t i = 0; i < job->batch.ncolumns; i++) {
    const pf_column *const column = &job->batch.columns[i];
    const size_t size = pf_type_size(column->type);
    if (column->data == NULL)
      continue;
    __builtin_prefetch((const uint8_t *)column->data +
                       (row + 6 * GROUP) * size);
    for (size_t r = row; column->type == PF_NAME && r < row + GROUP; r++) {
      pf_name_prefetch(dictionary, column->ids[r + 4 * GROUP]);
      __builtin_prefetch(pf_name(dictionary, column->ids[r + 2 * GROUP]).at);
    }
  }
}


static pf_status listing_rows (row_job *job) {
  const pf_column *const kinds =
      job->kind == SIZE_MAX ? NULL : &job->batch.columns[job->kind];
  pf_status status = PF_OK;
  for (size_t row = 0; status == PF_OK && row < job->batch.rows; row++) {
    const row_template *const template = template_at(job, kinds, row);
    if (PF_FAST(MISSES) && row % GROUP == 0 &&
        row + 7 * GROUP <= job->batch.rows)
      prefetch_group(job, row);
    if (template != NULL && job->separator.size > 0 && job->count + row > 0)
      status = row_put(&job->text, job->separator.at, job->separator.size);
    if (template != NULL && status == PF_OK)
      status = put_row(job, template, row);
  }
  return status;
}


static pf_status listing_begin (row_job *job) {
  for (size_t i = 0; i < job->ntemplates; i++) {
    const row_template *const template = &job->templates[i];
    size_t size = 0;
    for (size_t j = 0; j < template->nsegments; j++)
      size += template->segments[j].width + ROW_NUMBER_SIZE +
              template->segments[j].literal_size;
    if (job->fixed_size < size)
      job->fixed_size = size;
  }
  return PF_OK;
}


const row_format row_listing = {"listing", listing_begin, listing_rows, NULL,
                                true};
