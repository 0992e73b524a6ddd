/*
** text.h - compares texts, trims them, and parses them as numbers. Nothing is
** allocated.
*/

#ifndef text_h
#define text_h

#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "bytes/cursor.h"

/* Whether two texts have the same bytes. */
static inline bool pf_bytes_equal (pf_bytes a, pf_bytes b) {
  return a.size == b.size && (a.size == 0 || memcmp(a.at, b.at, a.size) == 0);
}

/* The same, but small and capital letters of ASCII are equal. */
static inline bool pf_bytes_alike (pf_bytes a, pf_bytes b) {
  for (size_t i = 0; i < a.size && i < b.size; i++) {
    const unsigned differ = (unsigned)a.at[i] ^ b.at[i], low = a.at[i] | 0x20u;
    if (differ != 0 && (differ != 0x20 || low < 'a' || low > 'z'))
      return false;
  }
  return a.size == b.size;
}

/* The same of two strings. */
static inline bool pf_is_alike (const char *a, const char *b) {
  return pf_bytes_alike((pf_bytes){(const uint8_t *)a, strlen(a)},
                        (pf_bytes){(const uint8_t *)b, strlen(b)});
}

/* The text without its first bytes; `at` of an empty text may be NULL. */
static inline pf_bytes pf_text_after (pf_bytes text, size_t count) {
  return count == 0 ? text : (pf_bytes){text.at + count, text.size - count};
}

static inline bool pf_is_blank (uint8_t c) {
  return c == ' ' || c == '\t';
}

/* The text without blanks and tabs around it, and without the byte `last` at
   its end. */
static inline pf_bytes pf_trim_also (pf_bytes text, uint8_t last) {
  for (; text.size > 0; text.size--) {
    const uint8_t c = text.at[text.size - 1];
    if (!pf_is_blank(c) && c != last)
      break;
  }
  while (text.size > 0 && pf_is_blank(text.at[0])) {
    text.at++;
    text.size--;
  }
  return text;
}

/* The text without blanks and tabs around it. */
static inline pf_bytes pf_trim (pf_bytes text) {
  return pf_trim_also(text, ' ');
}

/* Remove the first word from `text` and set *word; words are parted by blanks
   and tabs. False if there is none. */
static inline bool pf_next_word (pf_bytes *text, pf_bytes *word) {
  const pf_bytes rest = pf_trim(*text);
  size_t size = 0;
  while (size < rest.size && rest.at[size] != ' ' && rest.at[size] != '\t')
    size++;
  *word = (pf_bytes){rest.at, size};
  if (size > 0)
    *text = pf_text_after(rest, size);
  return size > 0;
}

/* Remove the last word from `text` and set *word; as pf_next_word from the end.
 */
static inline bool pf_last_word (pf_bytes *text, pf_bytes *word) {
  const pf_bytes rest = pf_trim(*text);
  size_t at = rest.size;
  while (at > 0 && rest.at[at - 1] != ' ' && rest.at[at - 1] != '\t')
    at--;
  *word = pf_text_after(rest, at);
  if (word->size > 0)
    *text = (pf_bytes){rest.at, at};
  return word->size > 0;
}

/* The end of the line that begins at a byte of a text: the position of its line
   feed, or the size of the text. */
static inline size_t pf_line_end (pf_bytes text, size_t at) {
  const size_t left = text.size - at;
  const uint8_t *const stop =
      left == 0 ? NULL : memchr(text.at + at, '\n', left);
  return stop == NULL ? text.size : (size_t)(stop - text.at);
}

/* The line that begins at a byte of a text, without its end; *size: with it. */
static inline pf_bytes pf_line_at (pf_bytes text, size_t at, size_t *size) {
  const size_t stop = pf_line_end(text, at);
  pf_bytes line = {text.at + at, stop - at};
  *size = line.size + (stop < text.size);
  line.size -= line.size > 0 && line.at[line.size - 1] == '\r';
  return line;
}

/* The beginning of the line that a byte of a text is in, from this byte on, for
   messages: at most 128 bytes, since a line may be the whole file. */
static inline pf_bytes pf_line_from (pf_bytes text, uint64_t at) {
  const size_t left = at < text.size ? text.size - (size_t)at : 0;
  const pf_bytes line = {left == 0 ? NULL : text.at + at,
                         left < 128 ? left : 128};
  return (pf_bytes){line.at, pf_line_end(line, 0)};
}

static inline bool pf_begins_with (pf_bytes text, const char *begin) {
  const size_t size = strlen(begin);
  return text.size >= size && memcmp(text.at, begin, size) == 0;
}

/* Whether a text has another one in it. */
static inline bool pf_has_text (pf_bytes text, const char *wanted) {
  const size_t size = strlen(wanted);
  while (text.size >= size) {
    const uint8_t *const p = memchr(text.at, wanted[0], text.size - size + 1);
    if (p == NULL || memcmp(p, wanted, size) == 0)
      return p != NULL;
    text = pf_text_after(text, (size_t)(p - text.at) + 1);
  }
  return false;
}

/* The number of bytes at the begin of a text that are digits of a base. */
static inline size_t pf_count_digits (pf_bytes text, unsigned base) {
  size_t n = 0;
  while (n < text.size && pf_digit(text.at[n]) < base)
    n++;
  return n;
}

/* Parse a number in base 2 to 16. Returns PF_EFORMAT if `digits` is empty or
   has another byte, PF_ELIMIT if the number is above 2^64 - 1; *number is then
   unchanged. */
static inline pf_status pf_parse_uint (pf_bytes digits, unsigned base,
                                       uint64_t *number) {
  uint64_t value = 0;
  bool exceeds = false;
  for (size_t i = 0; i < digits.size; i++) {
    const unsigned digit = pf_digit(digits.at[i]);
    if (digit >= base)
      return PF_EFORMAT;
    exceeds = __builtin_mul_overflow(value, (uint64_t)base, &value) ||
              __builtin_add_overflow(value, (uint64_t)digit, &value) || exceeds;
  }
  if (digits.size == 0 || exceeds)
    return digits.size == 0 ? PF_EFORMAT : PF_ELIMIT;
  *number = value;
  return PF_OK;
}

/* Parse a whole number, which may be negative. False if it is none, or does not
   fit; *number is then unchanged. */
static inline bool pf_parse_int (pf_bytes text, int64_t *number) {
  const bool is_negative = text.size > 0 && text.at[0] == '-';
  const pf_bytes digits = pf_text_after(text, is_negative);
  uint64_t value = 0;
  if (digits.size == 0 || digits.size > 18) {
    if (pf_parse_uint(digits, 10, &value) != PF_OK || value > INT64_MAX)
      return false;
  }
  else /* no check for overflow */
    for (size_t i = 0; i < digits.size; i++) {
      const unsigned digit = (unsigned)(digits.at[i] - '0');
      if (digit > 9)
        return false;
      value = value * 10 + digit;
    }
  *number = is_negative ? -(int64_t)value : (int64_t)value;
  return true;
}

/* Parse a number with a decimal point or an exponent, inf or nan, of fewer than
   64 bytes. False if it is none; *number may have changed. */
static inline bool pf_parse_double (pf_bytes text, double *number) {
  char copy[64], *stop;
  if (text.size == 0 || text.size >= sizeof copy)
    return false;
  memcpy(copy, text.at, text.size);
  copy[text.size] = '\0';
  char *const point = strchr(copy, '.');
  if (point != NULL) /* strtod expects that of the locale */
    *point = *localeconv()->decimal_point;
  *number = strtod(copy, &stop);
  return stop == copy + text.size;
}

#endif
