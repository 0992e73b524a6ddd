/*
** convert.c - a loop for each type of field.
*/

#include <math.h>

#include "formats/xpp/convert.h"
#include "model/base/wide.h"
#include "model/rows/put_values.h"


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
  for (size_t row = 0; row < rows; row++) {
    int64_t value = from->ints[row];
    if (c->wraps && value < 0 && value >= INT32_MIN)
      value += XPP_CLOCK_RANGE;
    if (pf_is_missing(from, row))
      pf_put_int(to, row, 0, false);
    else if (value > max || value < min)
      put_bad(c, to, row);
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


bool xpp_is_decimal (const xpp_file *file, xpp_role role) {
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


pf_status xpp_fill_numbers (xpp_rows *rows, xpp_role role, pf_column *column,
                            pf_error *error) {
  const xpp_file *const file = rows->parser.file;
  const size_t number = file->roles.field[role], count = rows->batch.rows;
  if (number == XPP_NO_FIELD) {
    pf_put_none(column, 0, count);
    return PF_OK;
  }
  if (xpp_is_decimal(file, role))
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
