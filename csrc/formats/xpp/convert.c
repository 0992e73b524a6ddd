/*
** convert.c - a loop per type of field.
*/

#include <math.h>
#include <string.h>

#include "formats/xpp/convert.h"
#include "model/names.h"


/* {====== Numbers ====== */

/* A number as it may stand in text: sign, digits, a point and digits; blank is
   none. */
typedef enum parsed {
  PARSED,
  PARSED_NOTHING,
  PARSED_BADLY
} parsed;


/* Digits behind the point, as far as the scale has room for them; false when
   there is something else. */
static bool parse_fraction (pf_bytes text, uint64_t scale, uint64_t *value) {
  *value = 0;
  for (size_t i = 0; i < text.size; i++) {
    if (text.at[i] < '0' || text.at[i] > '9')
      return false;
    scale /= 10;
    *value += (uint64_t)(text.at[i] - '0') * scale;
  }
  return true;
}


/* What digits say; answers how many there are, 0 where they are too many. */
static size_t parse_whole (pf_bytes text, uint64_t *value) {
  size_t i = 0;
  *value = 0;
  for (; i < text.size && text.at[i] >= '0' && text.at[i] <= '9'; i++)
    if (__builtin_mul_overflow(*value, UINT64_C(10), value) ||
        __builtin_add_overflow(*value, (uint64_t)(text.at[i] - '0'), value))
      return 0;
  return i;
}


static parsed parse_number (pf_bytes value, int64_t scale, int64_t *number) {
  pf_bytes text = xpp_trim(value);
  if (text.size == 0)
    return PARSED_NOTHING;
  const bool is_negative = text.at[0] == '-';
  const size_t first = is_negative || text.at[0] == '+';
  const uint64_t most = (uint64_t)INT64_MAX + is_negative;
  uint64_t whole, fraction = 0;
  const size_t digits =
      parse_whole((pf_bytes){text.at + first, text.size - first}, &whole);
  const size_t i = first + digits;
  if (digits == 0 ||
      (i < text.size &&
       ((text.at[i] != '.' && text.at[i] != ',') ||
        !parse_fraction((pf_bytes){text.at + i + 1, text.size - i - 1},
                        (uint64_t)scale, &fraction))) ||
      __builtin_mul_overflow(whole, (uint64_t)scale, &whole) ||
      __builtin_add_overflow(whole, fraction, &whole) || whole > most)
    return PARSED_BADLY;
  *number = (int64_t)(is_negative ? 0 - whole : whole);
  return PARSED;
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
  for (size_t row = 0; row < rows; row++) {
    if (pf_is_missing(from, row)) {
      put_missing(to, row);
      continue;
    }
    switch (parse_number(from->bytes[row], numbers->scale, &to->ints[row])) {
      case PARSED: break;
      case PARSED_NOTHING: put_missing(to, row); break;
      default: put_bad(numbers, to, row);
    }
  }
}


/* Numbers of which none is missing and all can be multiplied; false: some
   cannot. Negative ones are as they are. */
static bool from_plain_ints (const xpp_numbers *numbers, const int64_t *from,
                             int64_t *to, size_t rows) {
  const uint64_t scale = (uint64_t)numbers->scale;
  const int64_t most = INT64_MAX / numbers->scale;
  const int64_t least = numbers->wraps ? 0 : INT64_MIN / numbers->scale;
  bool fits = true;
  for (size_t row = 0; row < rows; row++) {
    fits &= from[row] >= least && from[row] <= most;
    to[row] = (int64_t)((uint64_t)from[row] * scale);
  }
  return fits;
}


static void from_ints (xpp_numbers *numbers, const pf_column *from,
                       pf_column *to, size_t rows) {
  const int64_t most = INT64_MAX / numbers->scale;
  const int64_t least = INT64_MIN / numbers->scale;
  if (!from->has_missing &&
      from_plain_ints(numbers, from->ints, to->ints, rows))
    return;
  for (size_t row = 0; row < rows; row++) {
    if (from->has_missing && pf_is_missing(from, row)) {
      put_missing(to, row);
      continue;
    }
    int64_t value = from->ints[row];
    if (numbers->wraps && value < 0 && value >= INT32_MIN)
      value += (int64_t)1 << 32;
    if (value > most || value < least)
      put_bad(numbers, to, row);
    else
      to->ints[row] = value * numbers->scale;
  }
}


static void from_doubles (xpp_numbers *numbers, const pf_column *from,
                          pf_column *to, size_t rows) {
  for (size_t row = 0; row < rows; row++) {
    const double value = from->nums[row] * (double)numbers->scale;
    if (pf_is_missing(from, row))
      put_missing(to, row);
    else if (value > -9e18 && value < 9e18)
      to->ints[row] = llround(value);
    else
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

/* }====== */


/* {====== Names ====== */

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

/* }====== */
