/*
** fill.c - the decoder: one loop for each kind of field. Null flags are
** applied afterwards.
*/

#include <math.h>
#include <string.h>

#include "bytes/cursor.h"
#include "formats/dbf/internal.h"
#include "formats/dbf/fast_int.h"
#include "model/rows/batch.h"

#define DAY_MS 86400000

/* The arguments of all loops. */
typedef struct fill_args {
  dbf_decoder *decoder;
  const dbf_field *field;
  const dbf_run *run;
  const uint8_t *first; /* the field in the first record */
  size_t stride;        /* bytes of a record */
  pf_column *column;
  size_t row;
  pf_error *error;
} fill_args;


static inline const uint8_t *value_at (const fill_args *f, size_t i) {
  return f->first + i * f->stride;
}


/* {====== Invalid values ====== */

/* Copy the printable bytes of a value, others as "?". */
static void show (char *out, size_t capacity, const uint8_t *bytes,
                  size_t size) {
  size_t i = 0;
  for (; i < size && i + 1 < capacity; i++)
    out[i] = bytes[i] >= 0x20 && bytes[i] < 0x7F ? (char)bytes[i] : '?';
  out[i] = '\0';
}


/* Mark value i as missing and warn. */
static pf_status bad_value (const fill_args *f, size_t i,
                            const char *expected) {
  char shown[32];
  show(shown, sizeof shown, value_at(f, i), f->field->size);
  pf_set_missing(f->column, f->row + i);
  return pf_warn(f->decoder->trace, PF_DAMAGE, "dbf-bad-value", PF_EFORMAT,
                 f->run->offset + i * f->stride + f->field->offset, f->error,
                 "field %.60s: %s expected, found '%s'", f->field->name,
                 expected, shown);
}


/* Mark a number that was stored as asterisks as missing and note it. */
static pf_status warn_overflow (const fill_args *f, size_t i) {
  pf_set_missing(f->column, f->row + i);
  return pf_warn(f->decoder->trace, PF_NOTE, "dbf-overflow", PF_EFORMAT,
                 f->run->offset + i * f->stride + f->field->offset, f->error,
                 "field %.60s holds asterisks: the number did not fit",
                 f->field->name);
}


static bool is_all (const uint8_t *p, size_t size, uint8_t a, uint8_t b,
                    uint8_t c) {
  for (size_t i = 0; i < size; i++)
    if (p[i] != a && p[i] != b && p[i] != c)
      return false;
  return true;
}

/* }====== */


/* {====== Numbers ====== */

/* General path for a number in digits. */
static pf_status fill_number (const fill_args *f, size_t i) {
  const bool is_int = f->column->type == PF_INT;
  int64_t integer = 0;
  double number = 0;
  const dbf_digits found =
      dbf_parse_digits(value_at(f, i), f->field->size, &integer, &number);
  if (found == DBF_DIGITS_INT && is_int)
    f->column->ints[f->row + i] = integer;
  else if (!is_int && (found == DBF_DIGITS_INT || found == DBF_DIGITS_NUM))
    f->column->nums[f->row + i] = number;
  else if (found == DBF_DIGITS_NONE)
    pf_set_missing(f->column, f->row + i);
  else if (found == DBF_DIGITS_STARS)
    return warn_overflow(f, i);
  else
    return bad_value(f, i, is_int ? "a whole number below 2^63" : "a number");
  return PF_OK;
}


static pf_status fill_digits (const fill_args *f) {
  const size_t count = f->run->count;
  dbf_fast_int usual;
  const bool has_usual = f->column->type == PF_INT &&
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


static pf_status fill_scaled (const fill_args *f, unsigned power) {
  pf_status status = PF_OK;
  for (size_t i = 0; i < f->run->count && status == PF_OK; i++) {
    switch (dbf_parse_scaled(value_at(f, i), f->field->size, power,
                             &f->column->ints[f->row + i])) {
      case DBF_DIGITS_INT: break;
      case DBF_DIGITS_NONE: pf_set_missing(f->column, f->row + i); break;
      case DBF_DIGITS_STARS: status = warn_overflow(f, i); break;
      default: status = bad_value(f, i, "a number that fits into 64 bits");
    }
  }
  return status;
}


static pf_status fill_integer (const fill_args *f) {
  for (size_t i = 0; i < f->run->count; i++)
    f->column->ints[f->row + i] = (int32_t)pf_load32le(value_at(f, i));
  return PF_OK;
}


/* The sign bit is inverted, so that the bytes sort like the numbers. 0 means
   blank. */
static pf_status fill_sortable (const fill_args *f) {
  for (size_t i = 0; i < f->run->count; i++) {
    const uint32_t bits = pf_load32be(value_at(f, i));
    f->column->ints[f->row + i] = (int32_t)(bits ^ 0x80000000u);
    if (bits == 0)
      pf_set_missing(f->column, f->row + i);
  }
  return PF_OK;
}


static double double_of (uint64_t bits) {
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}


static pf_status fill_double (const fill_args *f) {
  for (size_t i = 0; i < f->run->count; i++)
    f->column->nums[f->row + i] = double_of(pf_load64le(value_at(f, i)));
  return PF_OK;
}


/* The sign bit of positive numbers is inverted; all bits of negative ones are.
   0 means blank. */
static pf_status fill_ordered (const fill_args *f) {
  const uint64_t sign = (uint64_t)1 << 63;
  for (size_t i = 0; i < f->run->count; i++) {
    const uint64_t bits = pf_load64be(value_at(f, i));
    f->column->nums[f->row + i] =
        double_of((bits & sign) != 0 ? bits ^ sign : ~bits);
    if (bits == 0)
      pf_set_missing(f->column, f->row + i);
  }
  return PF_OK;
}


static pf_status fill_currency (const fill_args *f) {
  for (size_t i = 0; i < f->run->count; i++)
    f->column->nums[f->row + i] =
        (double)(int64_t)pf_load64le(value_at(f, i)) / 10000;
  return PF_OK;
}


static pf_status fill_currency_text (const fill_args *f) {
  for (size_t i = 0; i < f->run->count; i++) {
    uint8_t *const out = dbf_arena_alloc(&f->decoder->arena, 24);
    if (out == NULL)
      return pf_no_memory(f->error);
    const size_t size =
        dbf_put_currency(out, (int64_t)pf_load64le(value_at(f, i)));
    f->column->bytes[f->row + i] = (pf_bytes){out, size};
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

/* }====== */


/* {====== Dates and times ====== */

/* Returns a buffer for a date and time; NULL if out of memory. */
static uint8_t *alloc_time (const fill_args *f) {
  return dbf_arena_alloc(&f->decoder->arena, 24);
}


static pf_status fill_date (const fill_args *f) {
  for (size_t i = 0; i < f->run->count; i++) {
    uint8_t *const out = alloc_time(f);
    pf_status status = PF_OK;
    if (out == NULL)
      return pf_no_memory(f->error);
    f->column->bytes[f->row + i] = (pf_bytes){out, 10};
    if (is_all(value_at(f, i), 8, ' ', '0', 0))
      pf_set_missing(f->column, f->row + i);
    else if (!dbf_put_date(out, value_at(f, i)))
      status = bad_value(f, i, "a date YYYYMMDD");
    if (status != PF_OK)
      return status;
  }
  return PF_OK;
}


/* Store a date and time. Returns false if the day is out of range. */
static bool put_time (const fill_args *f, size_t i, uint8_t *out, int64_t day,
                      int64_t milliseconds) {
  if (!dbf_put_day(out, day + milliseconds / DAY_MS))
    return false;
  const size_t size =
      10 + dbf_put_clock(out + 10, (uint32_t)(milliseconds % DAY_MS));
  f->column->bytes[f->row + i] = (pf_bytes){out, size};
  return true;
}


/* A Julian day and the milliseconds since midnight. Day 0 and blanks mean no
   value. */
static pf_status fill_time (const fill_args *f) {
  for (size_t i = 0; i < f->run->count; i++) {
    const uint32_t day = pf_load32le(value_at(f, i));
    const uint32_t milliseconds = pf_load32le(value_at(f, i) + 4);
    uint8_t *const out = alloc_time(f);
    pf_status status = PF_OK;
    if (out == NULL)
      return pf_no_memory(f->error);
    if (day == 0 || is_all(value_at(f, i), 8, ' ', ' ', ' '))
      pf_set_missing(f->column, f->row + i);
    else if (!put_time(f, i, out, day, milliseconds))
      status = bad_value(f, i, "a date and time");
    if (status != PF_OK)
      return status;
  }
  return PF_OK;
}


/* Milliseconds since the day before year 1, as a big-endian double. In files
   its sign bit is clear, although the documentation says inverted. */
static pf_status fill_instant (const fill_args *f) {
  const int64_t day_before = 1721425;
  for (size_t i = 0; i < f->run->count; i++) {
    const uint64_t bits = pf_load64be(value_at(f, i)) & INT64_MAX;
    const double value = double_of(bits);
    uint8_t *const out = alloc_time(f);
    pf_status status = PF_OK;
    if (out == NULL)
      return pf_no_memory(f->error);
    if (is_all(value_at(f, i), 8, ' ', 0, 0))
      pf_set_missing(f->column, f->row + i);
    else if (!(value < 1e15) ||
             !put_time(f, i, out, day_before, llround(value)))
      status = bad_value(f, i, "a date and time");
    if (status != PF_OK)
      return status;
  }
  return PF_OK;
}

/* }====== */


/* {====== Text ====== */

static bool has_bit (const fill_args *f, size_t i, int32_t bit) {
  const dbf_file *const file = f->decoder->file;
  const uint8_t *const flags =
      f->run->at + i * f->stride + file->fields[file->null_flags].offset;
  return (flags[bit >> 3] >> (bit & 7) & 1) != 0;
}


/* Returns a value without blanks and NULs at its end. */
static pf_bytes trimmed (const uint8_t *p, size_t size) {
  while (size >= 8 && pf_load64le(p + size - 8) == 0x2020202020202020u)
    size -= 8;
  while (size > 0 && (p[size - 1] == ' ' || p[size - 1] == 0))
    size--;
  return (pf_bytes){p, size};
}


/* Store text in a row, converted to UTF-8. */
static pf_status put_text (const fill_args *f, size_t row, pf_bytes text) {
  dbf_decoder *const d = f->decoder;
  f->column->bytes[row] = text;
  if ((f->field->flags & DBF_AS_IS) != 0 ||
      pf_is_same_in_utf8(&d->file->charset, text))
    return PF_OK;
  if (text.size > (SIZE_MAX - 16) / 5)
    return pf_no_memory(f->error);
  const size_t capacity = pf_converted_max(&d->file->charset, text.size);
  uint8_t *const out = dbf_arena_alloc(&d->arena, capacity);
  if (out == NULL)
    return pf_no_memory(f->error);
  const size_t size = pf_convert(&d->converter, text, out);
  dbf_arena_shrink(&d->arena, capacity - size);
  f->column->bytes[row] = (pf_bytes){out, size};
  return PF_OK;
}


static pf_status fill_text (const fill_args *f) {
  pf_status status = PF_OK;
  for (size_t i = 0; i < f->run->count && status == PF_OK; i++)
    status = put_text(f, f->row + i, trimmed(value_at(f, i), f->field->size));
  return status;
}


/* V and Q: if the length bit is set, the last byte is the length. */
static pf_status fill_varying (const fill_args *f) {
  const size_t size = f->field->size;
  const bool is_text = f->field->kind == DBF_TEXT;
  pf_status status = PF_OK;
  for (size_t i = 0; i < f->run->count && status == PF_OK; i++) {
    pf_bytes value = {value_at(f, i), size};
    if (size > 0 && has_bit(f, i, f->field->length_bit))
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


static pf_status fill_binary (const fill_args *f) {
  for (size_t i = 0; i < f->run->count; i++)
    f->column->bytes[f->row + i] = (pf_bytes){value_at(f, i), f->field->size};
  return PF_OK;
}

/* }====== */


/* {====== Memos ====== */

/* Get the number of a memo block; 0: no memo. Returns false if it is
   invalid. */
static bool memo_block (const fill_args *f, size_t i, uint64_t *block) {
  int64_t integer = 0;
  double number;
  if (f->field->size == 4) {
    *block = pf_load32le(value_at(f, i));
    return true;
  }
  const dbf_digits found =
      dbf_parse_digits(value_at(f, i), f->field->size, &integer, &number);
  *block = (uint64_t)integer;
  return found == DBF_DIGITS_NONE || (found == DBF_DIGITS_INT && integer >= 0);
}


static pf_status warn_no_memo_file (const fill_args *f, size_t i) {
  pf_set_missing(f->column, f->row + i);
  return pf_warn(f->decoder->trace, PF_DAMAGE, "dbf-no-memo", PF_EIO,
                 f->field->descriptor_at, f->error,
                 "field %.60s has memos, but there is no memo file",
                 f->field->name);
}


/* Whether a value has a NUL. Text has none; pictures in text memos have, and
   must not be converted. */
static bool has_nul (pf_bytes value) {
  return value.size > 0 && memchr(value.at, 0, value.size) != NULL;
}


static pf_status put_memo (const fill_args *f, size_t i, uint64_t block) {
  const dbf_decoder *const d = f->decoder;
  pf_bytes value;
  bool is_text;
  const char *problem;
  if (d->file->memo == DBF_NO_MEMO)
    return warn_no_memo_file(f, i);
  if (!dbf_memo_find(d->file, d->memo, block, &value, &is_text, &problem)) {
    pf_set_missing(f->column, f->row + i);
    return pf_warn(d->trace, PF_DAMAGE, "dbf-memo-block", PF_EFORMAT,
                   f->run->offset + i * f->stride + f->field->offset, f->error,
                   "field %.60s points at memo block %llu: %s", f->field->name,
                   (unsigned long long)block, problem);
  }
  if (is_text && f->field->type == 'M' && !has_nul(value))
    return put_text(f, f->row + i, value);
  f->column->bytes[f->row + i] = value;
  return PF_OK;
}


static pf_status fill_memo (const fill_args *f) {
  pf_status status = PF_OK;
  for (size_t i = 0; i < f->run->count && status == PF_OK; i++) {
    uint64_t block;
    if (!memo_block(f, i, &block))
      status = bad_value(f, i, "the number of a memo block");
    else if (block == 0)
      pf_set_missing(f->column, f->row + i);
    else
      status = put_memo(f, i, block);
  }
  return status;
}

/* }====== */


/* Programs without null flags fill them with blanks, as they do with all
   unknown fields. So a null bit counts only if the value is blank or the flags
   are not all blank. */
static bool is_null (const fill_args *f, size_t i) {
  const dbf_file *const file = f->decoder->file;
  const dbf_field *const flags = &file->fields[file->null_flags];
  if (!has_bit(f, i, f->field->null_bit))
    return false;
  return is_all(value_at(f, i), f->field->size, ' ', 0, 0) ||
         !is_all(f->run->at + i * f->stride + flags->offset, flags->size, ' ',
                 ' ', ' ');
}


static void mark_nulls (const fill_args *f) {
  for (size_t i = 0; i < f->run->count; i++)
    if (is_null(f, i))
      pf_set_missing(f->column, f->row + i);
}


/* Whether the end of the record truncates a field. Text and digits are still
   decoded; other kinds are missing. */
static bool is_cut (const dbf_field *field) {
  return field->size < field->stated && field->kind != DBF_TEXT &&
         field->kind != DBF_BINARY && field->kind != DBF_DIGITS;
}


static pf_status fill_kind (const fill_args *f) {
  static pf_status (*const fillers[])(const fill_args *) = {
      [DBF_TEXT] = fill_text,         [DBF_BINARY] = fill_binary,
      [DBF_DIGITS] = fill_digits,     [DBF_LOGICAL] = fill_logical,
      [DBF_DATE] = fill_date,         [DBF_INTEGER] = fill_integer,
      [DBF_SORTABLE] = fill_sortable, [DBF_DOUBLE] = fill_double,
      [DBF_ORDERED] = fill_ordered,   [DBF_CURRENCY] = fill_currency,
      [DBF_TIME] = fill_time,         [DBF_INSTANT] = fill_instant,
      [DBF_MEMO] = fill_memo,         [DBF_NULL_FLAGS] = fill_binary};
  if (is_cut(f->field)) {
    for (size_t i = 0; i < f->run->count; i++)
      pf_set_missing(f->column, f->row + i);
    return PF_OK;
  }
  return f->field->length_bit >= 0 ? fill_varying(f)
                                   : fillers[f->field->kind](f);
}


/* {====== The decoder ====== */

static fill_args fill_args_of (dbf_decoder *decoder, const dbf_field *field,
                               const dbf_run *run, pf_column *column,
                               size_t row, pf_error *error) {
  return (fill_args){
      decoder, field, run,  run->at + field->offset, decoder->file->record,
      column,  row,   error};
}


pf_status dbf_fill (dbf_decoder *decoder, const dbf_field *field,
                    const dbf_run *run, pf_column *column, size_t row,
                    pf_error *error) {
  const fill_args f = fill_args_of(decoder, field, run, column, row, error);
  const pf_status status = fill_kind(&f);
  if (status == PF_OK && field->null_bit >= 0)
    mark_nulls(&f);
  return status;
}


pf_status dbf_fill_exact (dbf_decoder *decoder, const dbf_field *field,
                          const dbf_run *run, pf_column *column, size_t row,
                          pf_error *error) {
  const fill_args f = fill_args_of(decoder, field, run, column, row, error);
  pf_status status = PF_OK;
  if (is_cut(field))
    return fill_kind(&f);
  status = fill_currency_text(&f);
  if (status == PF_OK && field->null_bit >= 0)
    mark_nulls(&f);
  return status;
}


pf_status dbf_fill_scaled (dbf_decoder *decoder, const dbf_field *field,
                           const dbf_run *run, unsigned power,
                           pf_column *column, size_t row, pf_error *error) {
  const fill_args f = fill_args_of(decoder, field, run, column, row, error);
  const pf_status status = fill_scaled(&f, power);
  if (status == PF_OK && field->null_bit >= 0)
    mark_nulls(&f);
  return status;
}


pf_status dbf_decoder_open (dbf_decoder *decoder, pf_trace *trace,
                            const dbf_file *file, pf_error *error) {
  *decoder = (dbf_decoder){.file = file, .trace = trace};
  const pf_status status =
      pf_converter_open(&decoder->converter, &file->charset);
  if (status == PF_OK)
    return PF_OK;
  return pf_fail(error, status, PF_NO_OFFSET,
                 "the code page %s is no longer available", file->charset.name);
}


void dbf_decoder_close (dbf_decoder *decoder) {
  pf_converter_close(&decoder->converter);
  dbf_arena_close(&decoder->arena);
}


void dbf_decoder_begin (dbf_decoder *decoder) {
  const pf_source *const memo =
      pf_source_of(decoder->trace, decoder->file->memo_role);
  dbf_arena_reset(&decoder->arena);
  decoder->memo = memo == NULL ? (pf_bytes){NULL, 0} : memo->bytes;
}

/* }====== */
