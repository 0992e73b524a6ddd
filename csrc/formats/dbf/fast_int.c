/*
** fast_int.c - parses eight digits in one word (SIMD within a register).
** The first digit is in the lowest byte.
*/

#include "formats/dbf/fast_int.h"

#include "bytes/cursor.h"
#include "model/base/switches.h"

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
static inline bool is_blank (const uint8_t *at, size_t size) {
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


size_t dbf_fast_int_fill (const dbf_fast_int *fast, const uint8_t *at,
                          size_t stride, size_t count, int64_t *out) {
  const dbf_fast_int w = *fast;
  size_t i = 0;
  if (w.prefix == 0)
    while (i < count && read_word(word_of(&w, at + i * stride), &out[i]))
      i++;
  else
    while (i < count && is_blank(at + i * stride, w.prefix) &&
           read_word(pf_load64le(at + i * stride + w.prefix), &out[i]))
      i++;
  return i;
}
