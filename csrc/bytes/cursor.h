/*
** cursor.h - loads and stores of integers in both byte orders, varints, and a
** cursor with bounds checks. Parsers and encoders convert between bytes and
** integers only by these functions. (The numbers of a ring have the byte order
** of the machine and are read in place.)
**
** A cursor is a position in a slice, which it borrows. The functions pf_skip
** and pf_take... return false and leave the cursor unchanged if too few bytes
** are left. Nothing is allocated.
*/

#ifndef cursor_h
#define cursor_h

#include "profio.h"

typedef struct pf_cursor {
  pf_bytes bytes; /* the whole slice; positions count from its start */
  size_t at;      /* at most bytes.size */
  bool big;       /* big-endian loads */
} pf_cursor;


/* Loads without a check: the caller has checked that the bytes exist. */

static inline uint16_t pf_load16 (const uint8_t *p, bool big) {
  return (uint16_t)(big ? p[0] << 8 | p[1] : p[1] << 8 | p[0]);
}

static inline uint32_t pf_load32le (const uint8_t *p) {
  return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 |
         (uint32_t)p[3] << 24;
}

static inline uint32_t pf_load32be (const uint8_t *p) {
  return (uint32_t)p[3] | (uint32_t)p[2] << 8 | (uint32_t)p[1] << 16 |
         (uint32_t)p[0] << 24;
}

static inline uint32_t pf_load32 (const uint8_t *p, bool big) {
  return big ? pf_load32be(p) : pf_load32le(p);
}

static inline uint64_t pf_load64le (const uint8_t *p) {
  return (uint64_t)pf_load32le(p) | (uint64_t)pf_load32le(p + 4) << 32;
}

static inline uint64_t pf_load64be (const uint8_t *p) {
  return (uint64_t)pf_load32be(p) << 32 | (uint64_t)pf_load32be(p + 4);
}

static inline uint64_t pf_load64 (const uint8_t *p, bool big) {
  return big ? pf_load64be(p) : pf_load64le(p);
}

/* Load an unsigned integer of width 1, 2, 4 or 8 bytes. */
static inline uint64_t pf_load (const uint8_t *p, unsigned width, bool big) {
  switch (width) {
    case 8: return pf_load64(p, big);
    case 4: return pf_load32(p, big);
    case 2: return pf_load16(p, big);
    default: return *p;
  }
}


/* Letters and digits of text. */

static inline uint8_t pf_upper (uint8_t c) {
  return c >= 'a' && c <= 'z' ? (uint8_t)(c - 'a' + 'A') : c;
}

/* The value of a hexadecimal digit, or 16. */
static inline unsigned pf_digit (uint8_t c) {
  const uint8_t upper = pf_upper(c);
  if (c >= '0' && c <= '9')
    return c - (unsigned)'0';
  return upper >= 'A' && upper <= 'F' ? upper - (unsigned)'A' + 10 : 16;
}


/* Store an integer of `width` bytes. */

static inline void pf_save (uint8_t *p, unsigned width, bool big,
                            uint64_t value) {
  for (unsigned i = 0; i < width; i++)
    p[big ? width - 1 - i : i] = (uint8_t)(value >> 8 * i);
}


/* Store little-endian integers; each function compiles to one store. */

static inline void pf_save32le (uint8_t *p, uint32_t value) {
  p[0] = (uint8_t)value;
  p[1] = (uint8_t)(value >> 8);
  p[2] = (uint8_t)(value >> 16);
  p[3] = (uint8_t)(value >> 24);
}

static inline void pf_save64le (uint8_t *p, uint64_t value) {
  pf_save32le(p, (uint32_t)value);
  pf_save32le(p + 4, (uint32_t)(value >> 32));
}


/* A varint: an unsigned integer as 7 bits in each byte, the low ones first; the
   top bit is set in all bytes but the last. */

#define PF_VARINT_SIZE 10 /* maximum bytes */

/* A signed number as an unsigned one that is small if it is near 0, and
   back. */
static inline uint64_t pf_zigzag (int64_t value) {
  return (uint64_t)value << 1 ^ (value < 0 ? UINT64_MAX : 0);
}

static inline int64_t pf_unzigzag (uint64_t word) {
  return (int64_t)(word >> 1 ^ (0 - (word & 1)));
}

/* Store a varint. Returns the end. */
static inline uint8_t *pf_save_varint (uint8_t *p, uint64_t value) {
  for (; value >= 0x80; value >>= 7)
    *p++ = (uint8_t)(value | 0x80);
  *p++ = (uint8_t)value;
  return p;
}


/* Return a cursor at the start of a slice. */

static inline pf_cursor pf_cursor_over (pf_bytes bytes, bool big) {
  return (pf_cursor){bytes, 0, big};
}

/* Return the number of bytes left. */
static inline size_t pf_left (const pf_cursor *cursor) {
  return cursor->bytes.size - cursor->at;
}

static inline bool pf_skip (pf_cursor *cursor, uint64_t size) {
  if (size > pf_left(cursor))
    return false;
  cursor->at += (size_t)size;
  return true;
}

/* Take `size` bytes as a slice. */
static inline bool pf_take (pf_cursor *cursor, uint64_t size, pf_bytes *slice) {
  const size_t at = cursor->at;
  if (!pf_skip(cursor, size))
    return false;
  *slice = (pf_bytes){cursor->bytes.at + at, (size_t)size};
  return true;
}

/* Take an unsigned integer of width 1, 2, 4 or 8 bytes. */
static inline bool pf_take_uint (pf_cursor *cursor, unsigned width,
                                 uint64_t *value) {
  const size_t at = cursor->at;
  if (!pf_skip(cursor, width))
    return false;
  *value = pf_load(cursor->bytes.at + at, width, cursor->big);
  return true;
}

/* Take a varint; false, and nothing is taken, also if it has more than 64
   bits. */
static inline bool pf_take_varint (pf_cursor *cursor, uint64_t *value) {
  uint64_t sum = 0;
  size_t at = cursor->at;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    if (at == cursor->bytes.size)
      return false;
    const uint8_t byte = cursor->bytes.at[at++];
    sum |= (uint64_t)(byte & 0x7f) << shift;
    if (byte < 0x80) {
      if (shift == 63 && byte > 1)
        return false;
      cursor->at = at;
      *value = sum;
      return true;
    }
  }
  return false;
}

#endif
