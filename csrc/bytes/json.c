/*
** json.c - the parts of json.h that are not worth a copy in each place.
*/

#include "bytes/json.h"

#include "bytes/text.h"

/* {====== Nested values ====== */

const uint8_t *pf_json_mark (const uint8_t *p, const uint8_t *end) {
  static const bool is_mark[256] = {
      ['"'] = true, ['{'] = true, ['}'] = true, ['['] = true, [']'] = true};
  while (p < end && !is_mark[*p])
    p++;
  return p;
}


const uint8_t *pf_json_nested (const uint8_t *p, const uint8_t *end) {
  uint8_t open[PF_JSON_DEPTH];
  size_t depth = 0;
  pf_json string;
  for (; (p = pf_json_mark(p, end)) < end; p++) {
    if (*p == '"') {
      const uint8_t *const after = pf_json_string(p, end, &string);
      if (after == NULL)
        break;
      p = after - 1;
    }
    else if (*p == '{' || *p == '[') {
      if (depth == PF_JSON_DEPTH)
        return NULL;
      open[depth++] = *p;
    }
    else {
      if (depth == 0 ||
          open[depth - 1] + 2 != *p) /* ] and } are two after [ and { */
        return NULL;
      if (--depth == 0)
        return p + 1;
    }
  }
  return NULL;
}


bool pf_json_member (pf_bytes object, pf_bytes name, pf_json *value) {
  const uint8_t *const end = object.at + object.size;
  pf_json key;
  for (const uint8_t *p = object.at;
       (p = pf_json_next(p, end, &key, value)) != NULL;)
    if (pf_bytes_equal(key.text, name))
      return true;
  return false;
}


/* }====== */

/* {====== Escapes ====== */

/* The code unit of four hexadecimal digits after \u; UINT32_MAX: it has none.
 */
static uint32_t unit_at (pf_bytes text, size_t at) {
  uint64_t unit;
  if (text.size < at + 6 || text.at[at] != '\\' || text.at[at + 1] != 'u' ||
      pf_parse_uint((pf_bytes){text.at + at + 2, 4}, 16, &unit) != PF_OK)
    return UINT32_MAX;
  return (uint32_t)unit;
}


/* Writes a character in UTF-8; returns its size. */
static size_t put_utf8 (uint32_t c, uint8_t *out) {
  static const uint8_t leads[] = {0, 0, 0xC0, 0xE0, 0xF0};
  const size_t size = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
  for (size_t i = size; i-- > 1; c >>= 6)
    out[i] = (uint8_t)(0x80 | (c & 0x3F));
  out[0] = (uint8_t)(leads[size] | c);
  return size;
}


/* Writes the character of an escape \u; returns how many bytes were read. */
static size_t put_unit (pf_bytes text, size_t at, uint8_t *out, size_t *size) {
  const uint32_t high = unit_at(text, at);
  const bool is_pair = high >= 0xD800 && high < 0xDC00;
  const uint32_t low = is_pair ? unit_at(text, at + 6) : 0;
  if (is_pair && low >= 0xDC00 && low < 0xE000) {
    *size = put_utf8(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00), out);
    return 12;
  }
  *size = put_utf8(high >= 0xD800 && high < 0xE000 ? 0xFFFD : high, out);
  return 6;
}


size_t pf_json_unescape (pf_bytes text, uint8_t *out) {
  static const char names[] = "\"\"\\\\//b\bf\fn\nr\rt\t";
  size_t used = 0;
  for (size_t at = 0; at < text.size;) {
    const uint8_t c = at + 1 < text.size ? text.at[at + 1] : 0;
    const char *known = NULL;
    size_t size = 1;
    for (const char *n = names; text.at[at] == '\\' && *n != '\0'; n += 2)
      if ((uint8_t)*n == c)
        known = n;
    if (known != NULL) {
      out[used] = (uint8_t)known[1];
      at += 2;
    }
    else if (unit_at(text, at) != UINT32_MAX)
      at += put_unit(text, at, out + used, &size);
    else
      out[used] = text.at[at++];
    used += size;
  }
  return used;
}


/* }====== */

/* {====== Numbers ====== */

/* A number: mantissa * 10^exponent. */
typedef struct decimal {
  uint64_t mantissa;
  int64_t exponent;
  bool is_negative;
} decimal;


/* Reads digits into a number; those after the 19th only count. */
static size_t take_digits (pf_bytes text, size_t at, bool is_fraction,
                           decimal *d) {
  for (; at < text.size && (unsigned)(text.at[at] - '0') < 10; at++) {
    const bool fits = d->mantissa < UINT64_C(1000000000000000000);
    if (fits)
      d->mantissa = d->mantissa * 10 + (unsigned)(text.at[at] - '0');
    d->exponent += (is_fraction ? -1 : 0) + (fits ? 0 : 1);
  }
  return at;
}


static bool read_decimal (pf_bytes text, decimal *d) {
  size_t at = text.size > 0 && text.at[0] == '-';
  *d = (decimal){.is_negative = at > 0};
  const size_t begin = at;
  at = take_digits(text, at, false, d);
  if (at == begin)
    return false;
  if (at < text.size && text.at[at] == '.')
    at = take_digits(text, at + 1, true, d);
  if (at < text.size && (text.at[at] | 0x20) == 'e') {
    const uint8_t sign = ++at < text.size ? text.at[at] : 0;
    uint64_t power;
    at += sign == '-' || sign == '+';
    if (pf_parse_uint(pf_text_after(text, at), 10, &power) != PF_OK ||
        power > 9999)
      return false;
    d->exponent += sign == '-' ? -(int64_t)power : (int64_t)power;
    at = text.size;
  }
  return at == text.size;
}


/* The value of a number times 10^digits, without its sign. */
static pf_status scale (const decimal *d, unsigned digits, uint64_t *whole,
                        uint64_t *thousandths) {
  int64_t exponent = d->exponent + digits;
  uint64_t power = 1;
  *whole = d->mantissa;
  *thousandths = 0;
  for (; exponent > 0 && *whole > 0; exponent--)
    if (__builtin_mul_overflow(*whole, UINT64_C(10), whole))
      return PF_ELIMIT;
  for (; exponent < 0 && power < UINT64_C(10000000000000000000); exponent++)
    power *= 10;
  if (exponent < 0)
    *whole = 0;
  else if (power > 1) {
    const uint64_t rest = d->mantissa % power;
    *whole = d->mantissa / power;
    *thousandths = power >= 1000 ? rest / (power / 1000) : rest * 1000 / power;
  }
  return *whole > INT64_MAX ? PF_ELIMIT : PF_OK;
}


pf_status pf_parse_scaled (pf_bytes text, unsigned digits, int64_t *whole,
                           int *thousandths) {
  decimal d;
  uint64_t value, rest;
  if (!read_decimal(text, &d))
    return PF_EFORMAT;
  const pf_status status = scale(&d, digits, &value, &rest);
  if (status != PF_OK)
    return status;
  *whole = d.is_negative ? -(int64_t)value : (int64_t)value;
  *thousandths = d.is_negative ? -(int)rest : (int)rest;
  return PF_OK;
}


/* }====== */
