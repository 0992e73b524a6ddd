/*
** rows_listing.c - rows of several kinds, each by the template of its kind.
**
** A template is text with columns in braces, formatted as printf would:
**
**   {column}            as it is
**   {column:9.2}        a number with 2 digits behind the point, in 9 places
**   {column:-9}         at the left of 9 places
**   {column:.20}        a text, at most 20 places of it
**   {{                  a brace
**
** A missing value leaves its places blank.
*/

#include <string.h>

#include "lua/rows.h"

#define MAX_WIDTH 1000u


/* {====== Compiling ====== */

static bool is_digit (const uint8_t *at, const uint8_t *end) {
  return at < end && *at >= '0' && *at <= '9';
}


/* A decimal number below MAX_WIDTH (larger: MAX_WIDTH); 0 when none stands
   there. */
static uint32_t take_number (const uint8_t **at, const uint8_t *end) {
  uint32_t value = 0;
  for (; is_digit(*at, end); (*at)++)
    value =
        value >= MAX_WIDTH ? MAX_WIDTH : value * 10 + (uint32_t)(**at - '0');
  return value < MAX_WIDTH ? value : MAX_WIDTH;
}


/* What stands behind the colon. False: it is not understood. */
static bool take_spec (const uint8_t *at, const uint8_t *end,
                       row_piece *piece) {
  if (at < end && *at == '-') {
    piece->is_left = true;
    at++;
  }
  piece->width = take_number(&at, end);
  if (at < end && *at == '.') {
    at++;
    piece->precision = (int32_t)take_number(&at, end);
  }
  return at == end;
}


static size_t field_called (const pf_reader *reader, pf_bytes name) {
  size_t i = 0;
  while (i < reader->nfields &&
         (strlen(reader->fields[i].name) != name.size ||
          memcmp(reader->fields[i].name, name.at, name.size) != 0))
    i++;
  return i;
}


/* What stands between braces. */
static pf_status compile_column (pf_bytes inner, const pf_reader *reader,
                                 row_piece *piece, pf_error *error) {
  const uint8_t *const end = inner.at + inner.size;
  const uint8_t *const colon = memchr(inner.at, ':', inner.size);
  const uint8_t *const stop = colon == NULL ? end : colon;
  const pf_bytes name = {inner.at, (size_t)(stop - inner.at)};
  *piece = (row_piece){{NULL, 0}, field_called(reader, name), 0, -1, false};
  if (piece->field == reader->nfields)
    return pf_fail(error, PF_EFORMAT, PF_NO_OFFSET,
                   "no column '%.*s' for the template", (int)name.size,
                   (const char *)name.at);
  if (colon != NULL && !take_spec(colon + 1, end, piece))
    return pf_fail(error, PF_EFORMAT, PF_NO_OFFSET,
                   "cannot read '{%.*s}' in the template", (int)inner.size,
                   (const char *)inner.at);
  if (reader->fields[piece->field].type == PF_NUM && piece->precision > 15)
    piece->precision = 15;
  return PF_OK;
}


static row_piece literal_piece (const uint8_t *at, size_t size) {
  return (row_piece){{at, size}, SIZE_MAX, 0, -1, false};
}


pf_status row_compile (pf_bytes source, const pf_reader *reader,
                       row_piece *pieces, size_t *npieces, pf_error *error) {
  const uint8_t *at = source.at;
  const uint8_t *const end = at + source.size;
  size_t n = 0;
  while (at < end) {
    const size_t left = (size_t)(end - at);
    const uint8_t *const brace = memchr(at, '{', left);
    const size_t before = brace == NULL ? left : (size_t)(brace - at);
    if (before > 0) {
      pieces[n++] = literal_piece(at, before);
      at += before;
      continue;
    }
    if (left > 1 && at[1] == '{') {
      pieces[n++] = literal_piece(at, 1);
      at += 2;
      continue;
    }
    const uint8_t *const close = memchr(at, '}', left);
    if (close == NULL)
      return pf_fail(error, PF_EFORMAT, PF_NO_OFFSET,
                     "a brace of the template is not closed");
    const pf_bytes inner = {at + 1, (size_t)(close - at - 1)};
    const pf_status status = compile_column(inner, reader, &pieces[n++], error);
    if (status != PF_OK)
      return status;
    at = close + 1;
  }
  *npieces = n;
  return PF_OK;
}

/* }====== */


/* {====== Writing ====== */

static char *pad (char *p, size_t count) {
  memset(p, ' ', count);
  return p + count;
}


/* Move a value of `size` bytes and `width` places, which stands at the end
   of the text, to its side of the piece's places. Room for the padding is
   there. */
static void place (row_text *text, const row_piece *piece, size_t size,
                   size_t width) {
  if (width >= piece->width)
    return;
  const size_t count = piece->width - width;
  char *const start = text->at + text->used - size;
  if (piece->is_left)
    pad(start + size, count);
  else {
    memmove(start + count, start, size);
    pad(start, count);
  }
  text->used += count;
}


/* Keep `places` characters of the text that begins at `start`. */
static void cut (row_text *text, size_t start, size_t places) {
  const uint8_t *const bytes = (const uint8_t *)text->at;
  size_t at = start;
  for (size_t i = 0; i < places; i++)
    at += row_utf8(bytes + at, text->used - at);
  text->used = at;
}


static pf_status put_text (row_text *text, const row_piece *piece,
                           pf_bytes bytes) {
  const size_t start = text->used;
  size_t width;
  if (row_put_plain(text, bytes, &width) != PF_OK ||
      row_reserve(text, piece->width) != PF_OK)
    return PF_ENOMEM;
  if (piece->precision >= 0 && width > (size_t)piece->precision) {
    width = (size_t)piece->precision;
    cut(text, start, width);
  }
  place(text, piece, text->used - start, width);
  return PF_OK;
}


static char *put_number (char *p, const row_piece *piece,
                         const pf_column *column, size_t row) {
  switch (column->type) {
    case PF_INT: return row_put_int(p, column->ints[row]);
    case PF_NUM:
      return piece->precision < 0
                 ? row_put_num(p, column->nums[row])
                 : row_put_fixed(p, column->nums[row], piece->precision);
    case PF_ADDR: return row_put_addr(p, column->addrs[row]);
    case PF_BOOL: return row_put_uint(p, column->bools[row]);
    default: return row_put_uint(p, column->ids[row]);
  }
}


static pf_status put_piece (row_job *job, const row_piece *piece, size_t row) {
  row_text *const text = &job->text;
  if (piece->field == SIZE_MAX)
    return row_put(text, piece->literal.at, piece->literal.size);
  const pf_column *const column = &job->batch.columns[piece->field];
  const bool missing = pf_is_missing(column, row);
  if (!missing && row_is_text(column->type))
    return put_text(text, piece,
                    row_bytes(column, row, job->reader->dictionary));
  if (row_reserve(text, ROW_NUMBER_SIZE + piece->width) != PF_OK)
    return PF_ENOMEM;
  char *const p = text->at + text->used;
  const size_t size =
      missing ? 0 : (size_t)(put_number(p, piece, column, row) - p);
  text->used += size;
  place(text, piece, size, size);
  return PF_OK;
}


/* The numbers of kinds follow each other, so their low bits differ. */
static const row_template *template_of (row_job *job, uint32_t kind) {
  const row_template **const known = &job->by_kind[kind % ROW_KINDS];
  if (*known != NULL && (*known)->kind == kind)
    return *known;
  size_t i = 0;
  while (i < job->ntemplates && job->templates[i].kind != kind)
    i++;
  return i == job->ntemplates ? NULL : (*known = &job->templates[i]);
}


static pf_status put_row (row_job *job, const row_template *template,
                          size_t row) {
  for (size_t i = 0; i < template->npieces; i++)
    if (put_piece(job, &template->pieces[i], row) != PF_OK)
      return PF_ENOMEM;
  return row_flush(job, false);
}


/* Rows of a kind without a template are left out. */
static pf_status listing_rows (row_job *job) {
  const uint32_t *const kinds =
      job->kind == SIZE_MAX ? NULL : job->batch.columns[job->kind].ids;
  pf_status status = PF_OK;
  for (size_t row = 0; status == PF_OK && row < job->batch.rows; row++) {
    const row_template *const template =
        kinds == NULL ? job->templates : template_of(job, kinds[row]);
    if (template != NULL)
      status = put_row(job, template, row);
  }
  return status;
}


static pf_status nothing (row_job *job) {
  (void)job;
  return PF_OK;
}

const row_form row_listing = {"listing", nothing, listing_rows, nothing};

/* }====== */
