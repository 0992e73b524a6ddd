/*
** pack.h - writes packed data: bytes that grow, to which varints and texts are
** appended; unpack.h reads them. A struct of zeros is empty. When memory runs
** out, is_out_of_memory is set and the bytes are of no use, so that a writer
** checks only at its end. The owner frees `at`.
*/

#ifndef pack_h
#define pack_h

#include "bytes/cursor.h"

typedef struct pf_packed {
  uint8_t *at;
  size_t used, capacity;
  bool is_out_of_memory;
} pf_packed;

/* Grow the memory. NULL: out of memory. */
uint8_t *pf_pack_grow (pf_packed *to, size_t size);

/* Return memory for `size` more bytes; the caller adds to `used` what it writes
   there. NULL: out of memory. */
static inline uint8_t *pf_pack_reserve (pf_packed *to, size_t size) {
  return size <= to->capacity - to->used ? to->at + to->used
                                         : pf_pack_grow(to, size);
}

/* Append a varint. */
static inline void pf_pack_number (pf_packed *to, uint64_t value) {
  uint8_t *const at = pf_pack_reserve(to, PF_VARINT_SIZE);
  if (at != NULL)
    to->used = (size_t)(pf_save_varint(at, value) - to->at);
}

/* Append a signed number, for pf_unpack_signed. */
static inline void pf_pack_signed (pf_packed *to, int64_t value) {
  pf_pack_number(to, pf_zigzag(value));
}

/* Append bytes. */
void pf_pack_bytes (pf_packed *to, const void *bytes, size_t size);

/* Append a size and as many bytes, for pf_unpack_text. */
void pf_pack_text (pf_packed *to, pf_bytes text);

#endif
