/*
** convert.c - a loop for each type of field.
*/

#include <math.h>
#include <string.h>

#include "formats/xpp/convert.h"
#include "model/dictionary/names.h"
#include "model/base/wide.h"


static int64_t scale_of (xpp_role role) {
  return role == XPP_TIME ? XPP_NS_PER_MS : 1;
}


static void put_missing (pf_column *to, size_t row) {
  to->ints[row] = 0;
  pf_set_missing(to, row);
}


static void put_bad (xpp_numbers *numbers, pf_column *to, size_t row) {
  put_missing(to, row);
  if (numbers->bad++ == 0)
    numbers->first_bad = row;
}


static void from_text (xpp_numbers *numbers, const pf_column *from,
                       pf_column *to, size_t rows) {
  const unsigned power = numbers->role == XPP_TIME ? 6 : 0;
  for (size_t row = 0; row < rows; row++) {
    if (pf_is_missing(from, row)) {
      put_missing(to, row);
      continue;
    }
    const pf_bytes text = from->bytes[row];
    switch (dbf_parse_scaled(text.at, text.size, power, &to->ints[row])) {
      case DBF_DIGITS_INT: break;
      case DBF_DIGITS_NONE: put_missing(to, row); break;
      default: put_bad(numbers, to, row);
    }
  }
}


static void from_ints (xpp_numbers *numbers, const pf_column *from,
                       pf_column *to, size_t rows) {
  const int64_t scale = scale_of(numbers->role);
  const int64_t max = INT64_MAX / scale;
  const int64_t min = INT64_MIN / scale;
  bool fits = !from->has_missing;
  for (size_t row = 0; row < rows && fits; row++) {
    const int64_t value = from->ints[row];
    fits = value >= (numbers->wraps ? 0 : min) && value <= max;
    to->ints[row] = (int64_t)((uint64_t)value * (uint64_t)scale);
  }
  /* again, where a number is missing, negative or too large */
  for (size_t row = 0; row < rows && !fits; row++) {
    int64_t value = from->ints[row];
    if (numbers->wraps && value < 0 && value >= INT32_MIN)
      value += XPP_CLOCK_RANGE;
    if (pf_is_missing(from, row))
      put_missing(to, row);
    else if (value > max || value < min)
      put_bad(numbers, to, row);
    else
      to->ints[row] = value * scale;
  }
}


/* Multiplies a double and rounds to the nearest integer, halves away from zero.
   Exact: 53 bits times 20 bits fit into pf_wide. Returns false on overflow. */
static bool scale_double (double value, int64_t scale, int64_t *number) {
  int exponent;
  const double fraction = frexp(fabs(value), &exponent);
  if (!(fabs(value) < 0x1p63)) /* also true for NaN */
    return false;
  pf_wide wide = (pf_wide)ldexp(fraction, 53) * scale;
  const int shift = 53 - exponent;
  if (shift > 0)
    wide = shift > 80 ? 0 : (wide + ((pf_wide)1 << (shift - 1))) >> shift;
  else
    wide <<= -shift;
  *number = (int64_t)(value < 0 ? -wide : wide);
  return wide <= INT64_MAX;
}


static void from_doubles (xpp_numbers *numbers, const pf_column *from,
                          pf_column *to, size_t rows) {
  const int64_t scale = scale_of(numbers->role);
  for (size_t row = 0; row < rows; row++) {
    if (pf_is_missing(from, row))
      put_missing(to, row);
    else if (!scale_double(from->nums[row], scale, &to->ints[row]))
      put_bad(numbers, to, row);
  }
}


void xpp_convert_numbers (xpp_numbers *numbers, const pf_column *from,
                          pf_column *to, size_t rows) {
  switch (from->type) {
    case PF_INT: from_ints(numbers, from, to, rows); break;
    case PF_NUM: from_doubles(numbers, from, to, rows); break;
    case PF_BYTES: from_text(numbers, from, to, rows); break;
    default:
      for (size_t row = 0; row < rows; row++)
        put_bad(numbers, to, row);
  }
}


bool xpp_is_decimal (const xpp_file *file, xpp_role role) {
  const size_t field = file->roles.field[role];
  return !file->is_text && field != XPP_NO_FIELD &&
         (role == XPP_THREAD || role == XPP_TIME || role == XPP_LINE) &&
         file->dbf->fields[field].kind == DBF_DIGITS &&
         file->dbf->fields[field].column == PF_NUM;
}


pf_status xpp_convert_decimals (xpp_rows *rows, xpp_role role, pf_column *to,
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


pf_status xpp_convert_names (pf_dictionary *dictionary, const pf_column *from,
                             pf_column *to, size_t rows) {
  pf_bytes texts[PF_BATCH_ROWS];
  for (size_t row = 0; row < rows; row++) {
    const bool known = from->type == PF_BYTES && !pf_is_missing(from, row);
    texts[row] = known ? xpp_trim(from->bytes[row]) : (pf_bytes){NULL, 0};
    if (!known)
      pf_set_missing(to, row);
  }
  return pf_intern_all(dictionary, texts, rows, to->ids) ? PF_OK : PF_ENOMEM;
}
