/*
** digits.c - converts numbers and dates from and to text.
**
** Used by fill.c and the encoder, dbf_parse_scaled also by xpp. Allocates
** nothing: the caller passes the memory for texts.
*/

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/dbf/internal.h"
#include "bytes/cursor.h"
#include "model/base/switches.h"
#include "model/base/wide.h"

#define MAX_DIGITS 19  /* decimal digits that always fit into uint64_t */
#define SHOWN      800 /* digits that decide the nearest double */

/* A decimal number: digits * 10^power. */
typedef struct decimal {
  uint64_t digits;
  int ndigits; /* digits in `digits`; MAX_DIGITS + 1: others were dropped */
  int power;
  int ndropped;          /* digits that were dropped */
  bool is_inexact;       /* one of them was not 0 */
  uint8_t first_dropped; /* the first digit that was dropped, or 0 */
  bool negative;
} decimal;


/* Returns 10^n for n of 0 to 19. */
static uint64_t power_of_ten (int n) {
  uint64_t power = 1;
  while (n-- > 0)
    power *= 10;
  return power;
}


static bool is_digit (uint8_t c) {
  return c >= '0' && c <= '9';
}


/* Parse digits; each one adds `power` to the power of ten. Digits above
   MAX_DIGITS count as zeros. */
static const uint8_t *parse_digits (decimal *d, const uint8_t *p,
                                    const uint8_t *end, int power) {
  const uint8_t *const first = p;
  uint64_t digits = d->digits; /* a copy: p may alias d->digits */
  int ndigits = d->ndigits;
  for (; p < end && is_digit(*p) && ndigits < MAX_DIGITS; p++) {
    digits = digits * 10 + (uint64_t)(*p - '0');
    ndigits += digits != 0;
  }
  if (p < end && is_digit(*p) && ndigits == MAX_DIGITS) {
    d->first_dropped = *p;
    ndigits++;
  }
  const uint8_t *const start = p;
  for (; p < end && is_digit(*p); p++)
    d->is_inexact = d->is_inexact || *p != '0';
  d->digits = digits;
  d->ndigits = ndigits;
  d->ndropped += (int)(p - start);
  d->power += power * (int)(p - first) + (int)(p - start);
  return p;
}


/* Parse a sign, digits with one point or comma, and an exponent like e+12, up
   to the end. Returns false for other text. */
static bool parse_decimal (decimal *d, const uint8_t *p, const uint8_t *end) {
  d->negative = p < end && *p == '-';
  p += p < end && (*p == '-' || *p == '+');
  const uint8_t *first = p;
  p = parse_digits(d, p, end, 0);
  size_t count = (size_t)(p - first);
  if (p < end && (*p == '.' || *p == ',')) {
    const uint8_t *const start = ++p;
    p = parse_digits(d, p, end, -1);
    count += (size_t)(p - start);
  }
  if (count == 0 || p == end)
    return count > 0;
  if (*p != 'e' && *p != 'E')
    return false;
  const bool negative = ++p < end && *p == '-';
  p += p < end && (*p == '-' || *p == '+');
  int power = 0;
  for (first = p; p < end && is_digit(*p); p++)
    power = power < 10000 ? power * 10 + (*p - '0') : power;
  d->power += negative ? -power : power;
  return p == end && p > first;
}


/* Returns the nearest double of a text that has more than MAX_DIGITS digits, or
   is very small or large. Digits beyond SHOWN count as zeros. */
static double read_double (const decimal *d, const uint8_t *text,
                           const uint8_t *end) {
  char digits[SHOWN + 16];
  int n = 0, power = d->power - d->ndropped;
  for (; text < end && *text != 'e' && *text != 'E'; text++)
    if (is_digit(*text) && n < SHOWN)
      digits[n++] = (char)*text;
    else
      power += is_digit(*text);
  snprintf(digits + n, sizeof digits - (size_t)n, "e%d", power);
  return strtod(digits, NULL); /* without a point: the same in all locales */
}


/* Returns the nearest double. */
static double to_double (const decimal *d, const uint8_t *text,
                         const uint8_t *end) {
  const pf_wide digits = d->digits;
  double value = 0;
  if (d->is_inexact || (digits != 0 && (d->power < -19 || d->power > 19)))
    value = read_double(d, text, end);
  else if (digits != 0 && d->power >= 0)
    value = (double)(digits * power_of_ten(d->power));
  else if (digits != 0)
    value = pf_ratio(digits, power_of_ten(-d->power));
  return d->negative ? -value : value;
}


/* Convert to an integer. Returns false if it is not one or exceeds int64_t. */
static bool to_int (const decimal *d, int64_t *integer) {
  uint64_t digits = d->digits;
  int power = d->power;
  if (d->is_inexact || (digits != 0 && power > 18))
    return false;
  for (; power < 0 && digits != 0; power++, digits /= 10)
    if (digits % 10 != 0)
      return false;
  const uint64_t maximum = (uint64_t)INT64_MAX + d->negative;
  if (digits != 0 && digits > maximum / power_of_ten(power))
    return false;
  const uint64_t value = digits == 0 ? 0 : digits * power_of_ten(power);
  *integer = (int64_t)(d->negative ? 0 - value : value);
  return true;
}


/* Round to the nearest integer, ties away from zero. Returns false if it
   exceeds int64_t. Dropped digits matter only if the power is 0: with a
   negative power MAX_DIGITS digits determine the rounding. */
static bool to_nearest (const decimal *d, int64_t *integer) {
  uint64_t value = d->digits;
  const uint64_t maximum = (uint64_t)INT64_MAX + d->negative;
  if (d->power < 0) {
    const uint64_t by = d->power < -19 ? 0 : power_of_ten(-d->power);
    value = by == 0 ? 0 : value / by + (value % by >= by / 2);
  }
  else if (value != 0 &&
           (d->power > 19 ||
            __builtin_mul_overflow(value, power_of_ten(d->power), &value) ||
            __builtin_add_overflow(value, (uint64_t)(d->first_dropped >= '5'),
                                   &value)))
    return false;
  *integer = (int64_t)(d->negative ? 0 - value : value);
  return value <= maximum;
}


static bool is_blank (uint8_t c) {
  return c == ' ' || c == 0 || c == '\t';
}


/* Parse a field. DBF_DIGITS_NUM: the number is in *d. */
static dbf_digits parse (const uint8_t *at, size_t size, decimal *d) {
  const uint8_t *p = at, *end = at + size;
  while (p < end && is_blank(*p))
    p++;
  while (end > p && is_blank(end[-1]))
    end--;
  if (p == end)
    return DBF_DIGITS_NONE;
  if (*p == '*')
    return DBF_DIGITS_STARS;
  if (*p == '.' && end - p == 1)
    return DBF_DIGITS_NONE; /* the template of a number that was not entered */
  *d = (decimal){.digits = 0};
  return end - p <= INT_MAX / 2 && parse_decimal(d, p, end) ? DBF_DIGITS_NUM
                                                            : DBF_DIGITS_BAD;
}


dbf_digits dbf_parse_digits (const uint8_t *at, size_t size, int64_t *integer,
                             double *number) {
  decimal d;
  const dbf_digits found = parse(at, size, &d);
  if (found != DBF_DIGITS_NUM)
    return found;
  *number = to_double(&d, at, at + size);
  return to_int(&d, integer) ? DBF_DIGITS_INT : DBF_DIGITS_NUM;
}


dbf_digits dbf_parse_scaled (const uint8_t *at, size_t size, int power,
                             int64_t *integer) {
  decimal d;
  const dbf_digits found = parse(at, size, &d);
  if (found != DBF_DIGITS_NUM)
    return found;
  d.power += power;
  return to_nearest(&d, integer) ? DBF_DIGITS_INT : DBF_DIGITS_BAD;
}


static void put_digits (uint8_t *out, unsigned count, uint32_t value) {
  while (count-- > 0) {
    out[count] = (uint8_t)('0' + value % 10);
    value /= 10;
  }
}


static void put_ymd (uint8_t *out, uint32_t year, uint32_t month,
                     uint32_t day) {
  put_digits(out, 4, year);
  out[4] = out[7] = '-';
  put_digits(out + 5, 2, month);
  put_digits(out + 8, 2, day);
}


/* Days are counted from 1 March, so that the leap day is the last of a year
   (Hinnant, chrono-Compatible Low-Level Date Algorithms). */
bool dbf_put_day (uint8_t *out, int64_t julian) {
  const int64_t first = 1721426, last = 5373484; /* years 1 to 9999 */
  if (julian < first || julian > last)
    return false;
  const uint32_t days = (uint32_t)(julian - 1721120); /* from 1 March 0 */
  const uint32_t era = days / 146097, of_era = days % 146097;
  const uint32_t of_years =
      of_era - of_era / 1460 + of_era / 36524 - of_era / 146096;
  const uint32_t year = of_years / 365;
  const uint32_t of_year = of_era - (365 * year + year / 4 - year / 100);
  const uint32_t month = (5 * of_year + 2) / 153;
  const uint32_t day = of_year - (153 * month + 2) / 5 + 1;
  put_ymd(out, era * 400 + year + (month >= 10),
          month < 10 ? month + 3 : month - 9, day);
  return true;
}


uint32_t dbf_number_of (const uint8_t *digits, size_t count) {
  uint32_t number = 0;
  for (size_t i = 0; i < count; i++)
    number = number * 10 + (uint32_t)(digits[i] - '0');
  return number;
}


bool dbf_put_date (uint8_t *out, const uint8_t *digits) {
  static const uint8_t days[] = {31, 28, 31, 30, 31, 30,
                                 31, 31, 30, 31, 30, 31};
  for (int i = 0; i < 8; i++)
    if (!is_digit(digits[i]))
      return false;
  const uint32_t number = dbf_number_of(digits, 8);
  const uint32_t year = number / 10000, month = number / 100 % 100;
  const uint32_t day = number % 100;
  const bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
  if (year == 0 || month < 1 || month > 12 || day < 1 ||
      day > days[month - 1] + (uint32_t)(month == 2 && leap))
    return false;
  put_ymd(out, year, month, day);
  return true;
}


bool dbf_parse_date (pf_bytes text, uint8_t *digits) {
  uint8_t back[10];
  if (text.size < 10)
    return false;
  memcpy(digits, text.at, 4);
  memcpy(digits + 4, text.at + 5, 2);
  memcpy(digits + 6, text.at + 8, 2);
  return dbf_put_date(back, digits) && memcmp(back, text.at, 10) == 0;
}


size_t dbf_put_clock (uint8_t *out, uint32_t milliseconds) {
  const uint32_t seconds = milliseconds / 1000;
  out[0] = 'T';
  put_digits(out + 1, 2, seconds / 3600);
  out[3] = out[6] = ':';
  put_digits(out + 4, 2, seconds / 60 % 60);
  put_digits(out + 7, 2, seconds % 60);
  if (milliseconds % 1000 == 0)
    return 9;
  out[9] = '.';
  put_digits(out + 10, 3, milliseconds % 1000);
  return 13;
}


size_t dbf_put_currency (uint8_t *out, int64_t units) {
  const uint64_t size = units < 0 ? -(uint64_t)units : (uint64_t)units;
  uint64_t quotient = size / 10000;
  uint8_t text[24];
  size_t at = sizeof text - 4;
  put_digits(text + at, 4, (uint32_t)(size % 10000));
  text[--at] = '.';
  do
    text[--at] = (uint8_t)('0' + quotient % 10);
  while ((quotient /= 10) > 0);
  if (units < 0)
    text[--at] = '-';
  memcpy(out, text + at, sizeof text - at);
  return sizeof text - at;
}


/* Eight digits are parsed in one word (SIMD within a register). The first digit
   is in the lowest byte. */

#define BYTES(b) ((uint64_t)(b)*0x0101010101010101u) /* a word of equal bytes */


bool dbf_fast_int_open (dbf_fast_int *fast, const dbf_field *field,
                        size_t record) {
  const size_t size = field->size;
  *fast = (dbf_fast_int){.mask = UINT64_MAX};
  if (size == 0 || !PF_FAST(DIGITS))
    return false;
  if (size >= 8) {
    fast->offset = (ptrdiff_t)(size - 8);
    fast->prefix = size - 8;
    return true;
  }
  const unsigned others = 8 * (8 - (unsigned)size);
  fast->blanks = BYTES(' ') >> (64 - others);
  if (record - field->offset >= 8) {
    fast->shift = others;
    return true;
  }
  fast->offset = (ptrdiff_t)size - 8;
  fast->mask = UINT64_MAX << others;
  return field->offset + size >= 8;
}


static inline uint64_t word_of (const dbf_fast_int *fast, const uint8_t *at) {
  return (pf_load64le(at + fast->offset) << fast->shift & fast->mask) |
         fast->blanks;
}


/* Whether the bytes before the word are blank. The last few are checked in an
   overlapping word. */
static inline bool are_blanks (const uint8_t *at, size_t size) {
  size_t i = 0;
  for (; i + 8 < size; i += 8)
    if (pf_load64le(at + i) != BYTES(' '))
      return false;
  return (pf_load64le(at + i) ^ BYTES(' ')) << 8 * (8 - (size - i)) == 0;
}


/* Parse blanks and digits. Returns false for other bytes and for blanks
   only. */
static inline bool read_word (uint64_t word, int64_t *value) {
  const uint64_t bits = word ^ BYTES('0'); /* a digit becomes its value */
  const uint64_t marks = bits & BYTES(0x10);
  const uint64_t blank = (marks << 4) - (marks >> 4); /* 0xff for each blank */
  uint64_t digits = bits ^ marks;                     /* a blank becomes 0 */
  const uint64_t invalid = (digits & blank) | (blank & (blank + 1)) |
                           ((digits | (digits + BYTES(0x76))) & BYTES(0x80));
  if (invalid != 0 || blank == UINT64_MAX)
    return false;
  digits = digits * 10 + (digits >> 8); /* pairs, in every second byte */
  digits = (digits & 0x000000FF000000FFu) * 0x000F424000000064u +
           (digits >> 16 & 0x000000FF000000FFu) * 0x0000271000000001u;
  *value = (int64_t)(digits >> 32);
  return true;
}


/* Parse values as long as the word is that of the first, as the numbers of a
   thread are. */
static size_t fill_equal (const dbf_fast_int *fast, const uint8_t *at,
                          size_t stride, size_t count, int64_t *out) {
  const uint64_t first = word_of(fast, at);
  size_t i = 1;
  if (!read_word(first, out))
    return 0;
  for (; i < count && word_of(fast, at + i * stride) == first; i++)
    out[i] = out[0];
  return i;
}


size_t dbf_fast_int_fill (const dbf_fast_int *fast, const uint8_t *at,
                          size_t stride, size_t count, int64_t *out) {
  const dbf_fast_int w = *fast;
  size_t i = 0;
  if (w.prefix == 0 && count > 0)
    i = fill_equal(&w, at, stride, count, out);
  if (w.prefix == 0)
    while (i < count && read_word(word_of(&w, at + i * stride), &out[i]))
      i++;
  else
    while (i < count && are_blanks(at + i * stride, w.prefix) &&
           read_word(pf_load64le(at + i * stride + w.prefix), &out[i]))
      i++;
  return i;
}
