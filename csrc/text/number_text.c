/*
** number_text.c - converts numbers to text with the digits of printf, but
** faster.
**
** A double is m * 2^e with m below 2^53, so for a moderate number its product
** with a power of ten fits in one or two words and is exact. The bits below the
** last digit decide the rounding: to nearest, ties to even, as printf does.
** Other numbers are left to printf.
*/

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bytes/cursor.h"
#include "text/rows.h"

__extension__ typedef unsigned __int128 wide;


/* {====== Digits ====== */

static const char pairs[] =
    "00010203040506070809101112131415161718192021222324"
    "25262728293031323334353637383940414243444546474849"
    "50515253545556575859606162636465666768697071727374"
    "75767778798081828384858687888990919293949596979899";


/* log10(2) is about 1233 / 4096, so the number of bits gives the number of
   digits or one more. Zero has one digit. */
static size_t count_digits (uint64_t value) {
  /* clang-format off */
  static const uint64_t powers[] = {
      0, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000,
      1000000000, 10000000000, 100000000000, 1000000000000, 10000000000000,
      100000000000000, 1000000000000000, 10000000000000000,
      100000000000000000, 1000000000000000000, 10000000000000000000u};
  /* clang-format on */
  const int bits = 64 - __builtin_clzll(value | 1);
  const size_t most = (size_t)(bits * 1233 >> 12);
  return most + 1 - (value < powers[most]);
}


/* Writes the digits of `value` before `end`, as many as count_digits
   returns. */
static void put_digits (char *end, uint64_t value) {
  for (; value >= 100; value /= 100)
    memcpy(end -= 2, &pairs[2 * (value % 100)], 2);
  if (value >= 10)
    memcpy(end - 2, &pairs[2 * value], 2);
  else
    end[-1] = (char)('0' + value);
}


/* Returns the eight decimal digits of a value as bytes, the first in the lowest
   byte: three divisions by multiplication, each for several digits (SWAR). */
static inline uint64_t eight_digits (uint32_t value) {
  const uint64_t fours = value / 10000 | (uint64_t)(value % 10000) << 32;
  const uint64_t hundreds = fours * 5243 >> 19 & UINT64_C(0x0000007f0000007f);
  const uint64_t twos = hundreds | (fours - 100 * hundreds) << 16;
  const uint64_t tens = twos * 103 >> 10 & UINT64_C(0x000f000f000f000f);
  return tens | (twos - 10 * tens) << 8;
}


/* Whether a value has at most eight digits and fits into `width` columns with a
   decimal point before the last `decimals` of them. */
static inline bool is_eight (uint64_t value, size_t width, size_t decimals) {
  static const uint32_t powers[] = {0,      10,      100,      1000,     10000,
                                    100000, 1000000, 10000000, 100000000};
  const size_t places = width - (decimals > 0);
  return width > decimals + 1 && value < powers[places < 8 ? places : 8];
}


/* Writes such a value right-aligned. There is no branch on the number of
   digits, so none is mispredicted, and the position after it does not depend on
   the value. */
static char *put_eight_right (char *p, size_t width, uint32_t value,
                              unsigned decimals) {
  const uint64_t ones = UINT64_C(0x0101010101010101);
  const uint64_t digits = eight_digits(value);
  const uint64_t last = UINT64_C(1) << 8 * (7 - decimals); /* always shown */
  const unsigned zeros = (unsigned)__builtin_ctzll(digits | last) / 8;
  const uint64_t blank = (UINT64_C(1) << 8 * zeros) - 1; /* leading */
  const uint64_t text = (digits | '0' * ones) ^ (('0' ^ ' ') * ones & blank);
  const size_t most = 8 + (decimals > 0);
  char *const end = p + width;
  if (width >= most)
    pf_save64le((uint8_t *)row_put_spaces(p, width - most), text);
  else
    pf_save64le((uint8_t *)p, text >> 8 * (most - width));
  if (decimals == 0)
    return end;
  char *const point = end - decimals - 1;
  pf_save64le((uint8_t *)point + 1, text >> 8 * (8 - decimals));
  *point = '.';
  return end;
}


char *row_put_uint (char *p, uint64_t value) {
  char *const end = p + count_digits(value);
  put_digits(end, value);
  return end;
}


char *row_right_int (char *p, size_t width, int64_t value) {
  if (is_eight((uint64_t)value, width, 0))
    return put_eight_right(p, width, (uint32_t)value, 0);
  const bool negative = value < 0;
  const uint64_t size = negative ? 0 - (uint64_t)value : (uint64_t)value;
  const size_t taken = count_digits(size) + negative;
  if (taken < width)
    p = row_put_spaces(p, width - taken);
  *p = '-';
  put_digits(p + taken, size);
  return p + taken;
}


char *row_put_int (char *p, int64_t value) {
  return row_right_int(p, 0, value);
}


char *row_put_handle (char *p, uint64_t value) {
  for (int i = value > UINT32_MAX ? 16 : 8; i-- > 0;)
    *p++ = "0123456789ABCDEF"[value >> 4 * i & 15];
  return p;
}


char *row_put_addr (char *p, uint64_t value) {
  const int digits = (67 - __builtin_clzll(value | 1)) / 4;
  *p++ = '0';
  *p++ = 'x';
  for (int i = digits; i-- > 0;)
    *p++ = "0123456789abcdef"[value >> 4 * i & 15];
  return p;
}

/* }====== */


/* {====== Fixed precision ====== */

/* The magnitude of a double, m * 2^e, exactly; e is 972 for infinities and
   nan. */
typedef struct binary {
  uint64_t m; /* below 2^53 */
  int e;
  bool negative;
} binary;


static binary binary_of (double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  const uint64_t m = bits & (((uint64_t)1 << 52) - 1);
  const int exponent = (int)(bits >> 52 & 0x7ff);
  const bool negative = bits >> 63 != 0;
  if (exponent == 0)
    return (binary){m, -1074, negative};
  return (binary){m | (uint64_t)1 << 52, exponent - 1075, negative};
}


/* Returns value / 2^shift rounded to nearest, ties to even. `value` is below
   2^63. */
static uint64_t round_shift (uint64_t value, unsigned shift) {
  if (shift >= 64)
    return 0; /* less than a half */
  const uint64_t whole = value >> shift;
  const uint64_t rest = value - (whole << shift);
  const uint64_t half = (uint64_t)1 << shift >> 1;
  return shift == 0 ? whole : whole + (rest + (whole & 1) > half);
}


/* printf uses the decimal separator of the locale. */
static char *replace_commas (char *p, char *end) {
  for (; p < end; p++)
    if (*p == ',')
      *p = '.';
  return end;
}


/* Right-aligns the number as printf writes it. */
static char *right_by_printf (char *p, size_t width, double value,
                              int precision) {
  char text[ROW_NUMBER_SIZE];
  const size_t n =
      (size_t)snprintf(text, sizeof text, "%.*f", precision, value);
  if (n < width)
    p = row_put_spaces(p, width - n);
  memcpy(p, text, n);
  return replace_commas(p, p + n);
}


/* Writes `count` digits of `value` before `end`, with leading zeros. */
static void put_fraction (char *end, uint32_t value, size_t count) {
  if ((count & 1) != 0) {
    *--end = (char)('0' + value % 10);
    value /= 10;
  }
  if (count > 1)
    memcpy(end - 2, &pairs[2 * value], 2);
}


char *row_right_fixed (char *p, size_t width, double value, int precision) {
  static const uint32_t powers[] = {1, 10, 100, 1000};
  const binary x = binary_of(value);
  if (x.e > 0 || precision > 3)
    return right_by_printf(p, width, value, precision);
  const uint32_t power = powers[precision];
  const uint64_t scaled = round_shift(x.m * power, (unsigned)-x.e);
  if (!x.negative && is_eight(scaled, width, (size_t)precision))
    return put_eight_right(p, width, (uint32_t)scaled, (unsigned)precision);
  const uint64_t whole = scaled / power;
  const size_t decimals = precision == 0 ? 0 : (size_t)precision + 1;
  const size_t before = count_digits(whole) + x.negative;
  if (before + decimals < width)
    p = row_put_spaces(p, width - before - decimals);
  *p = '-';
  p += before;
  put_digits(p, whole);
  if (decimals == 0)
    return p;
  *p = '.';
  put_fraction(p + decimals, (uint32_t)(scaled - whole * power), decimals - 1);
  return p + decimals;
}


char *row_put_fixed (char *p, double value, int precision) {
  return row_right_fixed(p, 0, value, precision);
}

/* }====== */


/* {====== Shortest representation ====== */

/*
** Most numbers are a whole number of millionths, k / 10^6, with at most 15
** digits. Division is correctly rounded, so if k / 10^6 gives the number, the
** digits of k read back as it. No two numbers of 15 digits read as the same
** double, so without trailing zeros this is the shortest form. NULL: the number
** is of another kind.
*/
static char *put_millionths (char *p, double size) {
  const double k = size * 1e6 + 0.5;
  if (!(k < 1e15) || (double)(uint64_t)k / 1e6 != size)
    return NULL;
  const uint64_t whole = (uint64_t)k / 1000000;
  const uint32_t rest = (uint32_t)((uint64_t)k % 1000000);
  p = row_put_uint(p, whole);
  if (rest == 0)
    return p;
  *p = '.';
  for (size_t i = 0, left = rest; i < 3; i++, left /= 100)
    memcpy(p + 5 - 2 * i, &pairs[2 * (left % 100)], 2);
  for (p += 7; p[-1] == '0';)
    p--;
  return p;
}


/* Decimal digits and a power of ten. */
typedef struct decimal {
  uint64_t digits;
  int exponent; /* decimal exponent of the first digit */
} decimal;


/* The number times 10^k, which is exactly m * 5^k / 2^shift. */
typedef struct scaled {
  wide value;     /* m * 5^k */
  uint64_t ulp;   /* 5^k: distance of the next double */
  unsigned shift; /* 1 to 63 */
  int exponent;   /* exponent of the first of the 17 integral digits */
} scaled;


/* Chooses k such that the number times 10^k has 17 integral digits. The number
   must be at least 1e-10 and below 1e15, so k is 2 to 27. */
static scaled scale (binary x) {
  /* clang-format off */
  static const uint64_t fives[] = {
      1, 5, 25, 125, 625, 3125, 15625, 78125, 390625, 1953125, 9765625,
      48828125, 244140625, 1220703125, 6103515625, 30517578125, 152587890625,
      762939453125, 3814697265625, 19073486328125, 95367431640625,
      476837158203125, 2384185791015625, 11920928955078125, 59604644775390625,
      298023223876953125, 1490116119384765625, 7450580596923828125};
  /* clang-format on */
  const int log2 = x.e + 52;
  const int guess = log2 >= 0 ? log2 * 1233 >> 12 : -(-log2 * 1233 >> 12) - 1;
  const int k = 16 - guess;
  const unsigned shift = (unsigned)(-x.e - k);
  /* NOLINTNEXTLINE(clang-analyzer-core.*): k is 2 to 27, fives has 28 */
  const wide value = (wide)x.m * fives[k];
  if ((uint64_t)(value >> shift) < 100000000000000000u)
    return (scaled){value, fives[k], shift, guess};
  return (scaled){(wide)x.m * fives[k - 1], fives[k - 1], shift + 1, guess + 1};
}


/*
** Rounds to 17, 16 or 15 digits (`unit` 1, 10 or 100). Returns whether the
** result reads back as the same double, that is, whether it is nearer than half
** the distance to the next double, which is half as far below a power of two.
** 5^k is odd, so there are no ties.
*/
static bool round_to (scaled n, bool is_power_of_two, unsigned unit,
                      decimal *result) {
  const wide step = (wide)unit << n.shift;
  const wide whole = (uint64_t)(n.value >> n.shift) / unit;
  const wide rest = n.value - whole * step;
  const bool up = rest + (whole & 1) > step / 2;
  const wide error = up ? step - rest : rest;
  *result = (decimal){(uint64_t)whole + up, n.exponent};
  return (is_power_of_two && !up ? 4 : 2) * error < n.ulp;
}


/* Writes a decimal as printf "%.17g" does. */
static char *put_decimal (char *p, decimal number, size_t precision) {
  char digits[24] = "0";
  size_t n = (size_t)(row_put_uint(digits, number.digits) - digits);
  int exponent = number.exponent + (n > precision); /* rounded up */
  while (n > 1 && digits[n - 1] == '0')
    n--;
  if (exponent < -4) {
    *p = digits[0];
    p[1] = '.';
    memcpy(p + 2, digits + 1, n - 1);
    p += n == 1 ? 1 : n + 1;
    memcpy(p, "e-", 2);
    memcpy(p + 2, &pairs[-2 * exponent], 2);
    return p + 4;
  }
  if (exponent < 0) {
    memcpy(p, "0.0000", 6);
    p += 1 - exponent;
    memcpy(p, digits, n);
    return p + n;
  }
  const size_t before = (size_t)exponent + 1;
  memset(p, '0', before);
  if (n <= before)
    return (char *)memcpy(p, digits, n) + before;
  memcpy(p, digits, before);
  p[before] = '.';
  memcpy(p + before + 1, digits + before, n - before);
  return p + n + 1;
}


/* Writes 15 digits, or 16 or 17 if needed to read back. */
static char *put_shortest (char *p, double size) {
  const binary x = binary_of(size);
  const bool is_power_of_two = x.m == (uint64_t)1 << 52;
  const scaled n = scale(x);
  decimal result;
  if (round_to(n, is_power_of_two, 100, &result))
    return put_decimal(p, result, 15);
  if (round_to(n, is_power_of_two, 10, &result))
    return put_decimal(p, result, 16);
  (void)round_to(n, is_power_of_two, 1, &result);
  return put_decimal(p, result, 17);
}


/* The same by printf, for very large and very small numbers. */
static char *put_by_printf (char *p, double value) {
  for (int precision = 15;; precision++) {
    const int n = snprintf(p, ROW_NUMBER_SIZE, "%.*g", precision, value);
    if (precision == 17 || strtod(p, NULL) == value)
      return replace_commas(p, p + n);
  }
}


char *row_put_num (char *p, double value) {
  if (isnan(value)) /* printf may print a sign */
    return (char *)memcpy(p, "nan", 3) + 3;
  const double size = fabs(value);
  *p = '-';
  char *const start = p + (signbit(value) != 0);
  char *const end = put_millionths(start, size);
  if (end != NULL)
    return end;
  return size >= 1e-10 && size < 1e15 ? put_shortest(start, size)
                                      : put_by_printf(p, value);
}

/* }====== */
