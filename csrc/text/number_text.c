/*
** number_text.c - converts numbers to text with the digits of printf. Used by
** the row formats of this folder, the exports of lua/profile and
** lua/stages/lane_overview.c. Each function writes at `p`, where the caller has
** ROW_NUMBER_SIZE bytes and `width` free, returns the end, and allocates
** nothing.
**
** A double is m * 2^e with m below 2^53, so for a moderate number its product
** with a small power of ten fits in a word and is exact. The bits below the
** last digit decide the rounding: to nearest, ties to even, as printf does.
** Other numbers are left to printf.
*/

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "model/base/switches.h"
#include "os/os.h"
#include "text/rows.h"


/* Returns the number of decimal digits, 1 for 0. It is the number of bits times
   the decimal logarithm of 2 (about 1233 / 4096), rounded down, or one more. */
static size_t count_digits (uint64_t value) {
  static const uint64_t powers[] = {0,
                                    10,
                                    100,
                                    1000,
                                    10000,
                                    100000,
                                    1000000,
                                    10000000,
                                    100000000,
                                    1000000000,
                                    10000000000,
                                    100000000000,
                                    1000000000000,
                                    10000000000000,
                                    100000000000000,
                                    1000000000000000,
                                    10000000000000000,
                                    100000000000000000,
                                    1000000000000000000,
                                    10000000000000000000u};
  const unsigned bits = 64 - (unsigned)__builtin_clzll(value | 1);
  const unsigned minimum = bits * 1233 >> 12;
  return minimum + (value >= powers[minimum]);
}


/* Writes value / 10^decimals after a sign, right-aligned in `width` columns,
   two digits at a time. Returns the end. */
static char *put_right (char *p, size_t width, bool is_negative, uint64_t value,
                        size_t decimals) {
  static const char pairs[] =
      "0001020304050607080910111213141516171819202122232425262728293031323334"
      "3536373839404142434445464748495051525354555657585960616263646566676869"
      "707172737475767778798081828384858687888990919293949596979899";
  const size_t digits = count_digits(value);
  const size_t count = digits > decimals ? digits : decimals + 1;
  const size_t size = is_negative + count + (decimals > 0);
  if (size < width)
    p = row_put_spaces(p, width - size);
  *p = '-';
  p += is_negative;
  size_t left = count;
  for (; left >= 2; left -= 2, value /= 100)
    memcpy(p + left - 2, pairs + value % 100 * 2, 2);
  if (left > 0)
    *p = (char)('0' + value);
  if (decimals == 0)
    return p + count;
  for (size_t i = 0; i < decimals; i++)
    p[count - i] = p[count - i - 1];
  p[count - decimals] = '.';
  return p + count + 1;
}


char *row_put_decimals (char *p, uint64_t value, size_t decimals) {
  return put_right(p, 0, false, value, decimals);
}


char *row_put_uint (char *p, uint64_t value) {
  return put_right(p, 0, false, value, 0);
}


char *row_right_int (char *p, size_t width, int64_t value) {
  const bool is_negative = value < 0;
  return put_right(p, width, is_negative,
                   is_negative ? 0 - (uint64_t)value : (uint64_t)value, 0);
}


char *row_put_int (char *p, int64_t value) {
  return row_right_int(p, 0, value);
}


/* 8 or 16 hex digits */
static char *put_handle (char *p, uint64_t value) {
  for (int i = value > UINT32_MAX ? 16 : 8; i-- > 0;)
    *p++ = "0123456789ABCDEF"[value >> 4 * i & 15];
  return p;
}


/* 0x, then lower-case hex digits */
static char *put_addr (char *p, uint64_t value) {
  const int digits = (67 - __builtin_clzll(value | 1)) / 4;
  *p++ = '0';
  *p++ = 'x';
  for (int i = digits; i-- > 0;)
    *p++ = "0123456789abcdef"[value >> 4 * i & 15];
  return p;
}


/* printf uses the decimal separator of the locale. */
static char *replace_commas (char *p, char *end) {
  for (; p < end; p++)
    if (*p == ',')
      *p = '.';
  return end;
}


/* Sets *scaled to the magnitude of `value` times `power`, at most 1000, rounded
   to an integer. Returns false if the number is too large, or none. */
static bool scale (double value, uint32_t power, uint64_t *scaled) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  const unsigned exponent = bits >> 52 & 0x7ff;
  const uint64_t implicit = (uint64_t)(exponent > 0) << 52;
  const uint64_t m = (bits & (((uint64_t)1 << 52) - 1)) | implicit;
  const unsigned shift = exponent == 0 ? 1074 : 1075 - exponent; /* -e */
  if (!PF_FAST(FIXED) || exponent > 1075)
    return false;
  const uint64_t product = m * power;
  *scaled = shift == 0 ? product : 0; /* beyond 63 bits it is below a half */
  if (shift == 0 || shift >= 64)
    return true;
  const uint64_t whole = product >> shift;
  const uint64_t rest = product - (whole << shift);
  *scaled = whole + (rest + (whole & 1) > (uint64_t)1 << (shift - 1));
  return true;
}


char *row_right_fixed (char *p, size_t width, double value, int precision) {
  static const uint32_t powers[] = {1, 10, 100, 1000};
  uint64_t scaled;
  if (precision > 3 || !scale(value, powers[precision], &scaled)) {
    char text[ROW_NUMBER_SIZE];
    const size_t n =
        (size_t)snprintf(text, sizeof text, "%.*f", precision, value);
    if (n < width)
      p = row_put_spaces(p, width - n);
    memcpy(p, text, n);
    return replace_commas(p, p + n);
  }
  return put_right(p, width, signbit(value) != 0, scaled, (size_t)precision);
}


char *row_put_fixed (char *p, double value, int precision) {
  return row_right_fixed(p, 0, value, precision);
}


char *row_put_significant (char *p, double value, int digits) {
  return replace_commas(
      p, p + snprintf(p, ROW_NUMBER_SIZE, "%.*g", digits, value));
}


/*
** Most numbers are a whole number of millionths, k / 10^6, with at most 15
** digits. Division is correctly rounded, so if k / 10^6 gives the number, the
** digits of k read back as it. No two numbers of 15 digits read as the same
** double, so without trailing zeros this is the shortest form.
*/
char *row_put_num (char *p, double value) {
  if (isnan(value)) /* printf may print a sign */
    return (char *)memcpy(p, "nan", 3) + 3;
  const double size = fabs(value), k = size * 1e6 + 0.5;
  if (k < 1e15 && (double)(uint64_t)k / 1e6 == size) {
    *p = '-';
    p = row_put_decimals(p + (signbit(value) != 0), (uint64_t)k, 6);
    while (p[-1] == '0')
      p--;
    return p[-1] == '.' ? p - 1 : p;
  }
  for (int precision = 15;; precision++) {
    const int n = snprintf(p, ROW_NUMBER_SIZE, "%.*g", precision, value);
    if (precision == 17 || strtod(p, NULL) == value)
      return replace_commas(p, p + n);
  }
}


char *row_put_date (char *p, int64_t ns) {
  const int64_t second = 1000000000;
  struct tm date;
  if (!os_date((time_t)(ns / second - (ns % second < 0)), &date))
    return row_put_int(p, ns);
  return p + strftime(p, ROW_NUMBER_SIZE, "%Y-%m-%d %H:%M:%S", &date);
}


char *row_put_value (char *p, const pf_column *column, size_t row) {
  switch (column->type) {
    case PF_INT: return row_put_int(p, column->ints[row]);
    case PF_NUM: return row_put_num(p, column->nums[row]);
    case PF_ADDR: return put_addr(p, column->addrs[row]);
    case PF_HANDLE: return put_handle(p, column->addrs[row]);
    case PF_BOOL:
      memcpy(p, column->bools[row] ? "true" : "false", 5);
      return p + (column->bools[row] ? 4 : 5);
    default: return row_put_uint(p, column->ids[row]);
  }
}
