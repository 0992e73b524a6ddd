/*
** wire.h - reads fields and varints of a protocol buffer. Used by all
** readers of the format. Source: the protocol buffers encoding specification.
*/

#ifndef wire_h
#define wire_h

#include "bytes/cursor.h"

typedef enum pprof_wire {
  PPROF_VARINT = 0,
  PPROF_FIXED64 = 1,
  PPROF_BYTES = 2,
  PPROF_FIXED32 = 5
} pprof_wire;

/* A field. `at` is the offset of its tag in the slice of the cursor. */
typedef struct pprof_field {
  uint64_t number;
  unsigned wire;
  uint64_t value; /* wire types 0, 1 and 5 */
  pf_bytes bytes; /* wire type 2 */
  size_t at;
} pprof_field;


/* Read a varint of at most 10 bytes. Returns false at the end of the bytes or
   if it is too long; the cursor is then unchanged. */
static inline bool pprof_varint (pf_cursor *c, uint64_t *value) {
  uint64_t sum = 0;
  size_t at = c->at;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    if (at == c->bytes.size)
      return false;
    const uint8_t byte = c->bytes.at[at++];
    sum |= (uint64_t)(byte & 0x7f) << shift;
    if (byte < 0x80) {
      c->at = at;
      *value = sum;
      return true;
    }
  }
  return false;
}


/* Read the next field. Returns false at the end and at an invalid field, where
   the cursor is then left. */
static inline bool pprof_next_field (pf_cursor *c, pprof_field *field) {
  const size_t at = c->at;
  uint64_t tag, size;
  *field = (pprof_field){.at = at};
  if (!pprof_varint(c, &tag))
    return false;
  field->number = tag >> 3;
  field->wire = (unsigned)(tag & 7);
  bool ok = field->number != 0;
  switch (field->wire) {
    case PPROF_VARINT: ok = ok && pprof_varint(c, &field->value); break;
    case PPROF_FIXED64: ok = ok && pf_take_uint(c, 8, &field->value); break;
    case PPROF_FIXED32: ok = ok && pf_take_uint(c, 4, &field->value); break;
    case PPROF_BYTES:
      ok = ok && pprof_varint(c, &size) && pf_take(c, size, &field->bytes);
      break;
    default: ok = false;
  }
  if (!ok)
    c->at = at;
  return ok;
}


/* Returns a cursor over the packed values of a repeated number field, which is
   empty if the field is not packed (its only value is field->value). */
static inline pf_cursor pprof_numbers (const pprof_field *field) {
  return pf_cursor_over(
      field->wire == PPROF_BYTES ? field->bytes : (pf_bytes){NULL, 0}, false);
}

#endif
