/*
** rows_put.c - values into text: numbers without printf where the result is
** provably the same, and texts that a terminal can bear.
*/

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lua/rows.h"

#define FLUSH_SIZE (256u * 1024)


/* {====== Text ====== */

pf_status row_grow (row_text *text, size_t more) {
  size_t size = text->size == 0 ? 4096 : text->size;
  while (size - text->used < more)
    if (size > SIZE_MAX / 2)
      return PF_ENOMEM;
    else
      size *= 2;
  char *const at = realloc(text->at, size);
  if (at == NULL)
    return PF_ENOMEM;
  text->at = at;
  text->size = size;
  return PF_OK;
}


pf_status row_flush (row_job *job, bool all) {
  if (job->file == NULL || (!all && job->text.used < FLUSH_SIZE))
    return PF_OK;
  errno = 0;
  const size_t size = job->text.used;
  const size_t done = fwrite(job->text.at, 1, size, job->file);
  job->text.used = 0;
  if (done == size && (!all || fflush(job->file) == 0))
    return PF_OK;
  job->errnum = errno;
  return PF_EIO;
}

/* }====== */


/* {====== Numbers ====== */

static unsigned count_digits (uint64_t value) {
  unsigned n = 1;
  for (; value >= 10000; value /= 10000)
    n += 4;
  return n + (value >= 10) + (value >= 100) + (value >= 1000);
}


char *row_put_uint (char *p, uint64_t value) {
  char *const end = p + count_digits(value);
  char *at = end;
  do
    *--at = (char)('0' + value % 10);
  while ((value /= 10) != 0);
  return end;
}


char *row_put_int (char *p, int64_t value) {
  if (value >= 0)
    return row_put_uint(p, (uint64_t)value);
  *p = '-';
  return row_put_uint(p + 1, 0 - (uint64_t)value);
}


char *row_put_addr (char *p, uint64_t value) {
  unsigned digits = 1;
  while (digits < 16 && value >> 4 * digits != 0)
    digits++;
  *p++ = '0';
  *p++ = 'x';
  for (unsigned i = digits; i-- > 0;)
    *p++ = "0123456789abcdef"[value >> 4 * i & 15];
  return p;
}


/* The locale of the host program may print a comma: a point is wanted. */
static char *only_points (char *p, char *end) {
  for (; p < end; p++)
    if (*p == ',')
      *p = '.';
  return end;
}


/*
** A double is m * 2^e with m below 2^53. Times 1000 it still fits in 63 bits,
** so for up to three digits the product with 10^precision is exact, and the
** bits shifted out say which way to round: ties to even, as printf does.
*/
char *row_put_fixed (char *p, double value, int precision) {
  static const uint32_t powers[] = {1, 10, 100, 1000};
  int exponent;
  const double fraction = frexp(fabs(value), &exponent);
  exponent -= 53;
  if (!isfinite(value) || precision > 3 || exponent > 0)
    return only_points(
        p, p + snprintf(p, ROW_NUMBER_SIZE, "%.*f", precision, value));
  uint64_t scaled = (uint64_t)(fraction * 0x1p53) * powers[precision];
  const unsigned shift = (unsigned)-exponent;
  if (shift >= 64)
    scaled = 0; /* below 2^63 / 2^64: less than a half */
  else if (shift > 0) {
    const uint64_t rest = scaled & (((uint64_t)1 << shift) - 1);
    const uint64_t half = (uint64_t)1 << (shift - 1);
    scaled >>= shift;
    scaled += rest > half || (rest == half && (scaled & 1) != 0);
  }
  if (signbit(value))
    *p++ = '-';
  p = row_put_uint(p, scaled / powers[precision]);
  if (precision == 0)
    return p;
  uint32_t digits = (uint32_t)(scaled % powers[precision]);
  *p = '.';
  for (int i = precision; i > 0; i--, digits /= 10)
    p[i] = (char)('0' + digits % 10);
  return p + precision + 1;
}


/*
** Most numbers here are a whole number of hundredths or millionths k / 10^6
** with at most 15 digits. Division rounds correctly, so if k / 10^6 gives the
** number, the digits of k read back as it; and no two numbers of 15 digits
** read as the same double, so nothing shorter than those without the zeros
** at the end would do.
*/
static char *put_millionths (char *p, double value) {
  const double k = nearbyint(fabs(value) * 1e6);
  if (!(k < 1e15) || k / 1e6 != fabs(value))
    return NULL;
  if (signbit(value))
    *p++ = '-';
  const uint64_t whole = (uint64_t)k;
  p = row_put_uint(p, whole / 1000000);
  uint32_t rest = (uint32_t)(whole % 1000000);
  if (rest == 0)
    return p;
  *p = '.';
  for (int i = 6; i > 0; i--, rest /= 10)
    p[i] = (char)('0' + rest % 10);
  for (p += 7; p[-1] == '0';)
    p--;
  return p;
}


char *row_put_num (char *p, double value) {
  if (isnan(value)) /* printf may show a sign */
    return (char *)memcpy(p, "nan", 3) + 3;
  char *end = put_millionths(p, value);
  for (int precision = 15; end == NULL; precision++) {
    const int n = snprintf(p, ROW_NUMBER_SIZE, "%.*g", precision, value);
    if (precision == 17 || strtod(p, NULL) == value)
      end = only_points(p, p + n);
  }
  return end;
}

/* }====== */


/* {====== Texts ====== */

/* Whether a byte may begin a character of `size` bytes whose second byte is
   `next`: no overlong forms, no surrogates, nothing above U+10FFFF. */
static bool is_start (uint8_t first, uint8_t next) {
  switch (first) {
    case 0xe0: return next >= 0xa0;
    case 0xed: return next < 0xa0;
    case 0xf0: return next >= 0x90;
    case 0xf4: return next < 0x90;
    default: return first >= 0xc2 && first <= 0xf4;
  }
}


size_t row_utf8 (const uint8_t *p, size_t left) {
  if (p[0] < 0x80)
    return 1;
  const size_t size = p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;
  if (left < size || !is_start(p[0], p[1]))
    return 0;
  for (size_t i = 1; i < size; i++)
    if ((p[i] & 0xc0) != 0x80)
      return 0;
  return size;
}


/* Whether the character is an order to a terminal: C0, DEL, C1. */
static bool is_control (const uint8_t *p, size_t size) {
  return p[0] < 0x20 || p[0] == 0x7f ||
         (size == 2 && p[0] == 0xc2 && p[1] < 0xa0);
}


static size_t count_plain (pf_bytes bytes) {
  size_t i = 0;
  while (i < bytes.size && bytes.at[i] >= 0x20 && bytes.at[i] < 0x7f)
    i++;
  return i;
}


/* The rest of row_put_plain, where some byte is no printable ASCII. */
static void put_escaped (row_text *text, pf_bytes bytes, size_t *width) {
  for (size_t i = 0; i < bytes.size;) {
    const uint8_t *const at = bytes.at + i;
    const size_t size = row_utf8(at, bytes.size - i);
    char *const to = text->at + text->used;
    if (size > 0 && !is_control(at, size)) {
      memcpy(to, at, size);
      text->used += size;
      *width += 1;
      i += size;
      continue;
    }
    const uint8_t byte = size == 2 ? at[1] : at[0];
    to[0] = '\\';
    to[1] = 'x';
    to[2] = "0123456789abcdef"[byte >> 4];
    to[3] = "0123456789abcdef"[byte & 15];
    text->used += 4;
    *width += 4;
    i += size == 0 ? 1 : size;
  }
}


pf_status row_put_plain (row_text *text, pf_bytes bytes, size_t *width) {
  const size_t plain = count_plain(bytes);
  if (bytes.size > SIZE_MAX / 4 ||
      row_reserve(text, plain + 4 * (bytes.size - plain)) != PF_OK)
    return PF_ENOMEM;
  if (plain > 0)
    memcpy(text->at + text->used, bytes.at, plain);
  text->used += plain;
  *width = plain;
  put_escaped(text, (pf_bytes){bytes.at + plain, bytes.size - plain}, width);
  return PF_OK;
}

/* }====== */
