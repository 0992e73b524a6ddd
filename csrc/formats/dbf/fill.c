/*
** fill.c - the decoder: each kind of field has a function that decodes a run of
** records. Null flags are applied afterwards.
**
** Called by data.c and by xpp. The dbf_decoder is the caller's; its arena owns
** converted texts until the next dbf_decoder_begin.
*/

#include <math.h>
#include <string.h>

#include "bytes/cursor.h"
#include "formats/dbf/internal.h"
#include "model/rows/batch.h"

#define DAY_MS 86400000

/* The arguments of these functions. */
typedef struct fill_args {
  dbf_decoder *decoder;
  const dbf_field *field;
  const dbf_run *run;
  const uint8_t *first; /* the field in the first record */
  size_t stride;        /* bytes of a record */
  pf_column *column;
  size_t row;
  int power; /* of ten, of dbf_fill_scaled; else -1 */
  pf_error *error;
} fill_args;


static inline const uint8_t *value_at (const fill_args *f, size_t i) {
  return f->first + i * f->stride;
}


/* The byte in the source at which a value begins. */
static uint64_t offset_of (const fill_args *f, size_t i) {
  return f->run->offset + i * f->stride + f->field->offset;
}


static pf_status bad_value (const fill_args *f, size_t i,
                            const char *expected) {
  const uint8_t *const bytes = value_at(f, i);
  char shown[32]; /* the printable bytes, others as "?" */
  size_t size = 0;
  for (; size < f->field->size && size + 1 < sizeof shown; size++)
    shown[size] =
        bytes[size] >= 0x20 && bytes[size] < 0x7F ? (char)bytes[size] : '?';
  shown[size] = '\0';
  pf_set_missing(f->column, f->row + i);
  return pf_warn(f->decoder->trace, PF_DAMAGE, "dbf-bad-value", PF_EFORMAT,
                 offset_of(f, i), f->error,
                 "field %.60s: %s expected, found '%s'", f->field->name,
                 expected, shown);
}


static bool is_all (const uint8_t *p, size_t size, uint8_t a, uint8_t b,
                    uint8_t c) {
  for (size_t i = 0; i < size; i++)
    if (p[i] != a && p[i] != b && p[i] != c)
      return false;
  return true;
}


/* General path for a number in digits. */
static pf_status fill_number (const fill_args *f, size_t i) {
  const bool is_int = f->column->type == PF_INT;
  int64_t integer = 0;
  double number = 0;
  const uint8_t *const at = value_at(f, i);
  const size_t size = f->field->size;
  const dbf_digits found = f->power >= 0
                               ? dbf_parse_scaled(at, size, f->power, &integer)
                               : dbf_parse_digits(at, size, &integer, &number);
  if (found == DBF_DIGITS_INT && is_int)
    f->column->ints[f->row + i] = integer;
  else if (!is_int && (found == DBF_DIGITS_INT || found == DBF_DIGITS_NUM))
    f->column->nums[f->row + i] = number;
  else if (found == DBF_DIGITS_NONE)
    pf_set_missing(f->column, f->row + i);
  else if (found == DBF_DIGITS_STARS) {
    pf_set_missing(f->column, f->row + i);
    return pf_warn(f->decoder->trace, PF_NOTE, "dbf-overflow", PF_EFORMAT,
                   offset_of(f, i), f->error,
                   "field %.60s holds asterisks: the number did not fit",
                   f->field->name);
  }
  else
    return bad_value(f, i,
                     f->power >= 0 ? "a number that fits into 64 bits"
                     : is_int      ? "a whole number below 2^63"
                                   : "a number");
  return PF_OK;
}


static pf_status fill_digits (const fill_args *f) {
  const size_t count = f->run->count;
  dbf_fast_int usual;
  const bool has_usual = f->power < 0 && f->column->type == PF_INT &&
                         dbf_fast_int_open(&usual, f->field, f->stride);
  pf_status status = PF_OK;
  for (size_t i = 0; i < count && status == PF_OK; i++) {
    if (has_usual)
      i += dbf_fast_int_fill(&usual, value_at(f, i), f->stride, count - i,
                             &f->column->ints[f->row + i]);
    if (i < count)
      status = fill_number(f, i);
  }
  return status;
}


static double double_of (uint64_t bits) {
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}


/* In the sortable kinds the sign bit is inverted (of negative doubles all bits
   are), so that the bytes sort like the numbers, and 0 means blank. */
static pf_status fill_binary_number (const fill_args *f) {
  const uint64_t sign = (uint64_t)1 << 63;
  for (size_t i = 0; i < f->run->count; i++) {
    const uint8_t *const p = value_at(f, i);
    int64_t *const integer = &f->column->ints[f->row + i];
    double *const number = &f->column->nums[f->row + i];
    uint64_t bits = 1;
    switch (f->field->kind) {
      case DBF_INTEGER: *integer = (int32_t)pf_load32le(p); break;
      case DBF_SORTABLE:
        bits = pf_load32be(p);
        *integer = (int32_t)((uint32_t)bits ^ 0x80000000u);
        break;
      case DBF_DOUBLE: *number = double_of(pf_load64le(p)); break;
      default: /* DBF_ORDERED */
        bits = pf_load64be(p);
        *number = double_of((bits & sign) != 0 ? bits ^ sign : ~bits);
    }
    if (bits == 0)
      pf_set_missing(f->column, f->row + i);
  }
  return PF_OK;
}


static pf_status fill_currency (const fill_args *f) {
  for (size_t i = 0; i < f->run->count; i++) {
    const int64_t units = (int64_t)pf_load64le(value_at(f, i));
    if (f->column->type == PF_NUM) {
      f->column->nums[f->row + i] = (double)units / 10000;
      continue;
    }
    uint8_t *const out = dbf_arena_alloc(&f->decoder->arena, 24);
    if (out == NULL)
      return pf_no_memory(f->error);
    f->column->bytes[f->row + i] =
        (pf_bytes){out, dbf_put_currency(out, units)};
  }
  return PF_OK;
}


static pf_status fill_logical (const fill_args *f) {
  for (size_t i = 0; i < f->run->count; i++) {
    const uint8_t c = f->field->size == 0 ? ' ' : *value_at(f, i);
    uint8_t *const value = &f->column->bools[f->row + i];
    pf_status status = PF_OK;
    *value = c == 'T' || c == 't' || c == 'Y' || c == 'y';
    if (*value != 0 || c == 'F' || c == 'f' || c == 'N' || c == 'n')
      continue;
    pf_set_missing(f->column, f->row + i);
    if (c != ' ' && c != '?' && c != 0)
      status = bad_value(f, i, "T, F or blank");
    if (status != PF_OK)
      return status;
  }
  return PF_OK;
}


/* Store a date and time. Returns false if the day is out of range. */
static bool put_time (uint8_t *out, int64_t day, int64_t milliseconds,
                      pf_bytes *value) {
  if (!dbf_put_day(out, day + milliseconds / DAY_MS))
    return false;
  value->size = 10 + dbf_put_clock(out + 10, (uint32_t)(milliseconds % DAY_MS));
  return true;
}


/* DBF_DATE; DBF_TIME: a Julian day and the milliseconds since midnight, where
   day 0 and blanks mean no value; DBF_INSTANT: milliseconds since the day
   before year 1, as a big-endian double. In files its sign bit is clear,
   although the documentation says inverted. */
static pf_status fill_date (const fill_args *f) {
  const int64_t day_before = 1721425;
  pf_status status = PF_OK;
  for (size_t i = 0; i < f->run->count && status == PF_OK; i++) {
    const uint8_t *const p = value_at(f, i);
    uint8_t *const out = dbf_arena_alloc(&f->decoder->arena, 24);
    pf_bytes *const value = &f->column->bytes[f->row + i];
    bool is_blank, is_good;
    if (out == NULL)
      return pf_no_memory(f->error);
    *value = (pf_bytes){out, 10};
    if (f->field->kind == DBF_DATE) {
      is_blank = is_all(p, 8, ' ', '0', 0);
      is_good = is_blank || dbf_put_date(out, p);
    }
    else if (f->field->kind == DBF_TIME) {
      const uint32_t day = pf_load32le(p);
      is_blank = day == 0 || is_all(p, 8, ' ', ' ', ' ');
      is_good = is_blank || put_time(out, day, pf_load32le(p + 4), value);
    }
    else {
      const double number = double_of(pf_load64be(p) & INT64_MAX);
      is_blank = is_all(p, 8, ' ', 0, 0);
      is_good = is_blank || (number < 1e15 &&
                             put_time(out, day_before, llround(number), value));
    }
    if (is_blank)
      pf_set_missing(f->column, f->row + i);
    else if (!is_good)
      status = bad_value(f, i,
                         f->field->kind == DBF_DATE ? "a date YYYYMMDD"
                                                    : "a date and time");
  }
  return status;
}


static bool has_bit (const fill_args *f, size_t i, int32_t bit) {
  const dbf_file *const file = f->decoder->file;
  const uint8_t *const flags =
      f->run->at + i * f->stride + file->fields[file->null_flags].offset;
  return (flags[bit >> 3] >> (bit & 7) & 1) != 0;
}


/* Returns the size of a value without blanks and NULs at its end. */
static size_t trimmed_size (const uint8_t *p, size_t size) {
  while (size >= 8 && pf_load64le(p + size - 8) == 0x2020202020202020u)
    size -= 8;
  while (size > 0 && (p[size - 1] == ' ' || p[size - 1] == 0))
    size--;
  return size;
}


static pf_status put_text (const fill_args *f, size_t row, pf_bytes text) {
  dbf_decoder *const d = f->decoder;
  if ((f->field->flags & DBF_AS_IS) == 0 &&
      !dbf_arena_convert(&d->arena, &d->converter, &text))
    return pf_no_memory(f->error);
  f->column->bytes[row] = text;
  return PF_OK;
}


/* V and Q have a length bit: if it is set, the last byte is the length. */
static pf_status fill_bytes (const fill_args *f) {
  const size_t size = f->field->size;
  const bool is_text = f->field->kind == DBF_TEXT;
  const int32_t bit = f->field->length_bit;
  pf_status status = PF_OK;
  for (size_t i = 0; i < f->run->count && status == PF_OK; i++) {
    pf_bytes value = {value_at(f, i), size};
    if (bit < 0 && is_text)
      value.size = trimmed_size(value.at, size);
    else if (bit >= 0 && size > 0 && has_bit(f, i, bit))
      value.size = value.at[size - 1];
    if (value.size > size)
      status = bad_value(f, i, "a length in the last byte");
    else if (is_text)
      status = put_text(f, f->row + i, value);
    else
      f->column->bytes[f->row + i] = value;
  }
  return status;
}


static pf_status put_memo (const fill_args *f, size_t i, uint64_t block) {
  dbf_decoder *const d = f->decoder;
  pf_bytes value;
  bool is_text;
  const char *problem;
  if (f->field == d->last_field && block == d->last_block) {
    f->column->bytes[f->row + i] = d->last_memo;
    return PF_OK;
  }
  if (d->file->memo == DBF_NO_MEMO) {
    pf_set_missing(f->column, f->row + i);
    return pf_warn(d->trace, PF_DAMAGE, "dbf-no-memo", PF_EIO,
                   f->field->descriptor_at, f->error,
                   "field %.60s has memos, but there is no memo file",
                   f->field->name);
  }
  if (!dbf_memo_find(d->file, d->memo, block, &value, &is_text, &problem)) {
    pf_set_missing(f->column, f->row + i);
    return pf_warn(d->trace, PF_DAMAGE, "dbf-memo-block", PF_EFORMAT,
                   offset_of(f, i), f->error,
                   "field %.60s points at memo block %llu: %s", f->field->name,
                   (unsigned long long)block, problem);
  }
  /* pictures in text memos have NULs, and must not be converted */
  const bool has_nul =
      value.size > 0 && memchr(value.at, 0, value.size) != NULL;
  f->column->bytes[f->row + i] = value;
  if (is_text && f->field->type == 'M' && !has_nul &&
      put_text(f, f->row + i, value) != PF_OK)
    return PF_ENOMEM;
  d->last_field = f->field;
  d->last_block = block;
  d->last_memo = f->column->bytes[f->row + i];
  return PF_OK;
}


static pf_status fill_memo (const fill_args *f) {
  pf_status status = PF_OK;
  for (size_t i = 0; i < f->run->count && status == PF_OK; i++) {
    int64_t block = 0;
    double ignored;
    dbf_digits found = DBF_DIGITS_INT;
    if (f->field->size == 4)
      block = pf_load32le(value_at(f, i));
    else
      found =
          dbf_parse_digits(value_at(f, i), f->field->size, &block, &ignored);
    if (found == DBF_DIGITS_NONE)
      block = 0;
    else if (found != DBF_DIGITS_INT || block < 0) {
      status = bad_value(f, i, "the number of a memo block");
      continue;
    }
    if (block == 0) /* no memo */
      pf_set_missing(f->column, f->row + i);
    else
      status = put_memo(f, i, (uint64_t)block);
  }
  return status;
}


static pf_status (*const fillers[])(const fill_args *) = {
    [DBF_TEXT] = fill_bytes,
    [DBF_BINARY] = fill_bytes,
    [DBF_DIGITS] = fill_digits,
    [DBF_LOGICAL] = fill_logical,
    [DBF_DATE] = fill_date,
    [DBF_INTEGER] = fill_binary_number,
    [DBF_SORTABLE] = fill_binary_number,
    [DBF_DOUBLE] = fill_binary_number,
    [DBF_ORDERED] = fill_binary_number,
    [DBF_CURRENCY] = fill_currency,
    [DBF_TIME] = fill_date,
    [DBF_INSTANT] = fill_date,
    [DBF_MEMO] = fill_memo,
    [DBF_NULL_FLAGS] = fill_bytes};


/* If the end of the record truncates a field, text, bytes and digits are still
   decoded; other kinds are missing. */
pf_status dbf_fill_scaled (dbf_decoder *decoder, const dbf_field *field,
                           const dbf_run *run, int power, pf_column *column,
                           size_t row, pf_error *error) {
  const fill_args f = {.decoder = decoder,
                       .field = field,
                       .run = run,
                       .first = run->at + field->offset,
                       .stride = decoder->file->record,
                       .column = column,
                       .row = row,
                       .power = power,
                       .error = error};
  const bool is_cut = field->size < field->stated && field->kind != DBF_TEXT &&
                      field->kind != DBF_BINARY && field->kind != DBF_DIGITS;
  pf_status status = PF_OK;
  for (size_t i = 0; is_cut && i < run->count; i++)
    pf_set_missing(column, row + i);
  if (!is_cut)
    status = (field->length_bit >= 0 ? fill_bytes : fillers[field->kind])(&f);
  if (status != PF_OK || field->null_bit < 0)
    return status;
  /* Programs without null flags fill them with blanks, as all unknown fields.
     So a null bit counts only if the value is blank or the flags are not all
     blank. */
  const dbf_field *const flags =
      &decoder->file->fields[decoder->file->null_flags];
  for (size_t i = 0; i < run->count; i++)
    if (has_bit(&f, i, field->null_bit) &&
        (is_all(value_at(&f, i), field->size, ' ', 0, 0) ||
         !is_all(run->at + i * f.stride + flags->offset, flags->size, ' ', ' ',
                 ' ')))
      pf_set_missing(column, row + i);
  return PF_OK;
}


pf_status dbf_fill (dbf_decoder *decoder, const dbf_field *field,
                    const dbf_run *run, pf_column *column, size_t row,
                    pf_error *error) {
  return dbf_fill_scaled(decoder, field, run, -1, column, row, error);
}


pf_status dbf_decoder_open (dbf_decoder *decoder, pf_trace *trace,
                            const dbf_file *file, pf_error *error) {
  *decoder = (dbf_decoder){.file = file, .trace = trace};
  return dbf_converter_open(&decoder->converter, file, error);
}


void dbf_decoder_close (dbf_decoder *decoder) {
  pf_converter_close(&decoder->converter);
  dbf_arena_close(&decoder->arena);
}


void dbf_decoder_begin (dbf_decoder *decoder) {
  const pf_source *const memo = pf_source_of(decoder->trace, "memo");
  dbf_arena_reset(&decoder->arena);
  decoder->last_field = NULL;
  decoder->memo = memo == NULL ? (pf_bytes){NULL, 0} : memo->bytes;
}
