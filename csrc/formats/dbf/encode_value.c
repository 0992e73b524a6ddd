/*
** encode_value.c - encodes values into fields, and writes memos. A value that
** does not fit is an error and never truncated; the option `round` allows
** rounding of numbers. Called by encode_dbf.c; the dbf_writer owns the record
** and the converted texts.
*/

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bytes/cursor.h"
#include "formats/dbf/encode_dbf.h"
#include "model/rows/batch.h"

#define MEMO_HEADER 512

/* The arguments of all functions below. */
typedef struct put_args {
  dbf_writer *writer;
  const dbf_output_field *field;
  const pf_column *column;
  size_t row;
  uint8_t *out; /* position of the field in the record */
  pf_sink *sink;
  pf_error *error;
} put_args;


static pf_status reject (const put_args *p, const char *why) {
  return pf_refuse(p->error, "record %llu, field %s: %s",
                   (unsigned long long)(p->writer->encoder.count + 1),
                   p->field->name, why);
}


/* Convert UTF-8 to the code page; the result is valid until the next batch. */
static pf_status to_page (const put_args *p, pf_bytes *text) {
  dbf_writer *const self = p->writer;
  if (pf_is_same_in_utf8(&self->charset, *text))
    return PF_OK;
  uint8_t *const out =
      text->size > (SIZE_MAX - 16) / 5
          ? NULL
          : dbf_arena_alloc(&self->text, PF_CONVERTED_MAX(text->size));
  if (out == NULL)
    return pf_no_memory(p->error);
  size_t size = 0;
  const bool converted = pf_convert_back(&self->to_page, *text, out, &size);
  *text = (pf_bytes){out, size};
  if (converted)
    return PF_OK;
  return pf_refuse(p->error,
                   "record %llu, field %s: a character is not in code page %s",
                   (unsigned long long)(self->encoder.count + 1),
                   p->field->name, self->charset.name);
}


static void set_bit (const put_args *p, int32_t bit) {
  uint8_t *const flags = p->writer->record + p->writer->null_flags;
  flags[bit >> 3] = (uint8_t)(flags[bit >> 3] | 1 << (bit & 7));
}


/* C, V and Q. A value of V or Q that is shorter than the field has its length
   in the last byte, and the length bit is set. */
static pf_status put_text (const put_args *p) {
  const size_t size = p->field->size;
  const bool varies = p->field->length_bit >= 0;
  pf_bytes value = p->column->bytes[p->row];
  const pf_status status = p->field->type == 'Q' ? PF_OK : to_page(p, &value);
  if (status != PF_OK)
    return status;
  if (value.size > size)
    return reject(p, varies ? "the value is longer than the field"
                            : "the text is longer than the field");
  if (varies)
    memset(p->out, 0, size);
  if (value.size > 0)
    memcpy(p->out, value.at, value.size);
  if (varies && value.size < size) {
    p->out[size - 1] = (uint8_t)value.size;
    set_bit(p, p->field->length_bit);
  }
  return PF_OK;
}


static pf_status put_digits (const put_args *p, const char *digits, int size) {
  if (size < 0 || size > p->field->size)
    return reject(p, "the number has more digits than the field");
  memcpy(p->out + p->field->size - size, digits, (size_t)size);
  return PF_OK;
}


/* Use fewer decimals than stated if the number is too long, as other programs
   do. */
static pf_status put_number (const put_args *p) {
  const double value = p->column->nums[p->row];
  char digits[400];
  bool fits = false;
  if (!isfinite(value))
    return reject(p, "infinity and NaN cannot be written in digits");
  for (int decimals = p->field->decimals; decimals >= 0; decimals--) {
    int64_t integer;
    double back = 0;
    const int size = snprintf(digits, sizeof digits, "%.*f", decimals, value);
    for (int i = 0; i < size && (size_t)i < sizeof digits; i++)
      if (digits[i] != '-' && (digits[i] < '0' || digits[i] > '9'))
        digits[i] = '.'; /* whatever the locale has there */
    if (size < 0 || size > p->field->size)
      continue;
    fits = true;
    (void)dbf_parse_digits((const uint8_t *)digits, (size_t)size, &integer,
                           &back);
    if (back == value || p->writer->round) {
      p->writer->encoder.rounded += back != value;
      return put_digits(p, digits, size);
    }
  }
  return reject(p, fits ? "the number has more decimals than the field; round "
                          "= true rounds it"
                        : "the number has more digits than the field");
}


/* Parse an exact text into units of 1/10000. Returns false if it is not one. */
static bool exact_units (pf_bytes text, int64_t *units) {
  uint8_t digits[32], back[24];
  size_t size = 0;
  double ignored;
  if (text.size < 6 || text.size > 24 || text.at[text.size - 5] != '.')
    return false;
  for (size_t i = 0; i < text.size; i++)
    if (text.at[i] != '.')
      digits[size++] = text.at[i];
  if (dbf_parse_digits(digits, size, units, &ignored) != DBF_DIGITS_INT)
    return false;
  const size_t written = dbf_put_currency(back, *units);
  return written == text.size && memcmp(back, text.at, written) == 0;
}


static pf_status put_currency (const put_args *p) {
  int64_t units = 0;
  if (p->column->type == PF_BYTES) {
    if (!exact_units(p->column->bytes[p->row], &units))
      return reject(p, "digits with four decimals expected");
  }
  else {
    const double value = p->column->nums[p->row] * 10000;
    if (!(fabs(value) < 9.2e18))
      return reject(p, "the number does not fit into a currency");
    units = llround(value);
    const bool is_exact = (double)units / 10000 == p->column->nums[p->row];
    p->writer->encoder.rounded += !is_exact && p->writer->round;
    if (!is_exact && !p->writer->round)
      return reject(p, "the number has more than four decimals; round = true "
                       "rounds it");
  }
  pf_save(p->out, 8, false, (uint64_t)units);
  return PF_OK;
}


/* Returns the Julian day number of a date (Tondering, Calendar FAQ). */
static uint32_t julian_day (const uint8_t *digits) {
  const uint32_t year = dbf_number_of(digits, 4),
                 month = dbf_number_of(digits + 4, 2);
  const uint32_t before = month <= 2;
  const uint32_t y = year + 4800 - before, m = month + 12 * before - 3;
  return dbf_number_of(digits + 6, 2) + (153 * m + 2) / 5 + 365 * y + y / 4 -
         y / 100 + y / 400 - 32045;
}


/* Parse THH:MM:SS or THH:MM:SS.mmm. Returns false for other text. */
static bool parse_clock (pf_bytes text, uint32_t *milliseconds) {
  static const char picture[] = "T00:00:00.000";
  if (text.size != 9 && text.size != 13)
    return false;
  for (size_t i = 0; i < text.size; i++)
    if (picture[i] == '0' ? text.at[i] < '0' || text.at[i] > '9'
                          : text.at[i] != (uint8_t)picture[i])
      return false;
  const uint32_t hours = dbf_number_of(text.at + 1, 2);
  const uint32_t minutes = dbf_number_of(text.at + 4, 2);
  const uint32_t seconds = dbf_number_of(text.at + 7, 2);
  *milliseconds = ((hours * 60 + minutes) * 60 + seconds) * 1000 +
                  (text.size == 13 ? dbf_number_of(text.at + 10, 3) : 0);
  return hours < 24 && minutes < 60 && seconds < 60;
}


static pf_status put_time (const put_args *p) {
  const pf_bytes text = p->column->bytes[p->row];
  uint8_t digits[8];
  uint32_t milliseconds;
  if (!dbf_parse_date(text, digits) ||
      !parse_clock((pf_bytes){text.at + 10, text.size - 10}, &milliseconds))
    return reject(p, "a time YYYY-MM-DDTHH:MM:SS expected");
  pf_save(p->out, 4, false, julian_day(digits));
  pf_save(p->out + 4, 4, false, milliseconds);
  return PF_OK;
}


/* Write the header of the memo file, once. */
static void begin_memos (dbf_writer *self, pf_sink *memo) {
  uint8_t size[2];
  if (self->next_block != 0)
    return;
  pf_sink_hold(memo);
  pf_save(size, 2, true, self->memo_block);
  (void)pf_sink_fill(memo, 0, 6);
  (void)pf_sink_put(memo, size, 2);
  (void)pf_sink_fill(memo, 0, MEMO_HEADER - 8);
  self->next_block = (MEMO_HEADER + self->memo_block - 1) / self->memo_block;
  (void)pf_sink_fill(
      memo, 0, (size_t)(self->next_block * self->memo_block - MEMO_HEADER));
}


/* Append a memo, and write the number of its block into the field. */
static pf_status append_memo (const put_args *p, pf_bytes value, bool is_text) {
  dbf_writer *const self = p->writer;
  pf_sink *const memo = pf_sink_side(p->sink, "memo");
  if (memo == NULL)
    return pf_refuse(
        p->error,
        "field %s: memos need a file of their own, and the table has no path",
        p->field->name);
  begin_memos(self, memo);
  const uint64_t blocks =
      ((uint64_t)value.size + 8 + self->memo_block - 1) / self->memo_block;
  if (value.size > INT32_MAX ||
      (self->next_block + blocks) * self->memo_block > INT32_MAX)
    return pf_fail(p->error, PF_ELIMIT, PF_NO_OFFSET,
                   "a memo file has less than 2^31 bytes: a memo of %zu bytes "
                   "does not fit",
                   value.size);
  (void)pf_sink_uint(memo, 4, true, is_text ? 1 : 0);
  (void)pf_sink_uint(memo, 4, true, value.size);
  (void)pf_sink_put(memo, value.at, value.size);
  (void)pf_sink_fill(memo, 0,
                     (size_t)(blocks * self->memo_block - 8 - value.size));
  if (memo->failed != PF_OK)
    return pf_sink_flush(memo, p->error);
  const uint32_t block = (uint32_t)self->next_block;
  self->next_block += blocks;
  if (!self->visual) {
    char digits[16];
    const int size = snprintf(digits, sizeof digits, "%u", (unsigned)block);
    return put_digits(p, digits, size);
  }
  pf_save(p->out, 4, false, block);
  return PF_OK;
}


/* Text is converted to the code page. A value with a NUL is binary and is
   not. */
static pf_status put_memo (const put_args *p) {
  pf_bytes value = p->column->bytes[p->row];
  const bool is_text =
      value.size == 0 || memchr(value.at, 0, value.size) == NULL;
  const pf_status status = is_text ? to_page(p, &value) : PF_OK;
  return status == PF_OK ? append_memo(p, value, is_text) : status;
}


pf_status dbf_end_memos (dbf_writer *self, pf_sink *sink, pf_error *error) {
  pf_sink *const memo = pf_sink_side(sink, "memo");
  uint8_t next[4];
  if (!self->has_memos || memo == NULL)
    return PF_OK;
  begin_memos(self, memo); /* a table with memo fields needs the file */
  pf_save(next, 4, true, self->next_block);
  if (pf_sink_patch(memo, 0, next, 4) != PF_OK)
    return pf_sink_flush(memo, error);
  return PF_OK;
}


/* Encode a missing value: null if the field allows it, else blank. */
static pf_status put_missing (const put_args *p) {
  const bool is_binary = strchr("IBYTMVQ", p->field->type) != NULL;
  if (is_binary && p->writer->visual)
    memset(p->out, 0, p->field->size);
  if (p->field->nullable) {
    set_bit(p, p->field->null_bit);
    return PF_OK;
  }
  if (p->field->length_bit >= 0)
    set_bit(p, p->field->length_bit);
  if (strchr("IBY", p->field->type) != NULL)
    return reject(
        p,
        "it has no value, and its type has no blank: add null after the type");
  return PF_OK;
}


static pf_status put_present (const put_args *p) {
  char digits[24];
  int64_t integer;
  switch (p->field->type) {
    case 'C':
    case 'V':
    case 'Q': return put_text(p);
    case 'N':
      if (p->field->decimals > 0)
        return put_number(p);
      const int size = snprintf(digits, sizeof digits, "%lld",
                                (long long)p->column->ints[p->row]);
      return put_digits(p, digits, size);
    case 'F': return put_number(p);
    case 'L': *p->out = p->column->bools[p->row] ? 'T' : 'F'; return PF_OK;
    case 'D':
      if (p->column->bytes[p->row].size == 10 &&
          dbf_parse_date(p->column->bytes[p->row], p->out))
        return PF_OK;
      return reject(p, "a date YYYY-MM-DD expected");
    case 'T': return put_time(p);
    case 'I':
      integer = p->column->ints[p->row];
      if (integer < INT32_MIN || integer > INT32_MAX)
        return reject(p, "the number has more than 32 bits");
      pf_save(p->out, 4, false, (uint64_t)integer);
      return PF_OK;
    case 'B': pf_save(p->out, 8, false, p->column->addrs[p->row]); return PF_OK;
    case 'Y': return put_currency(p);
    default: return put_memo(p);
  }
}


pf_status dbf_put_value (dbf_writer *self, const dbf_output_field *field,
                         const pf_batch *batch, size_t row, pf_sink *sink,
                         pf_error *error) {
  /* of the two columns of a currency the exact text has precedence */
  const bool has_exact =
      field->type == 'Y' && pf_has_value(batch, field->column + 1, row);
  const size_t column = field->column + has_exact;
  const put_args p = {
      self, field, &batch->columns[column], row, self->record + field->offset,
      sink, error};
  return pf_has_value(batch, column, row) ? put_present(&p) : put_missing(&p);
}
