/*
** pprof_wire.h - fields of a protocol buffer.
*/

#ifndef pprof_wire_h
#define pprof_wire_h

#include "bytes/cursor.h"

typedef enum pprof_wire {
  PPROF_VARINT = 0,
  PPROF_FIXED64 = 1,
  PPROF_BYTES = 2,
  PPROF_FIXED32 = 5
} pprof_wire;

/* A field. `at` is where its tag stands in the slice that was read. */
typedef struct pprof_field {
  uint64_t number;
  unsigned wire;
  uint64_t value; /* of wire types 0, 1 and 5 */
  pf_bytes bytes; /* of wire type 2 */
  size_t at;
} pprof_field;


/* A number of 7 bits a byte, at maximum 10 bytes; false: it does not fit, and the
   cursor is where it was. */
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


/* The next field; false at the end and where none can be read: the cursor is
   at its end, or where it was. */
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


/* The values of a repeated number: packed, or the one of this field. Begin
   with a cursor made by pprof_numbers. */
static inline pf_cursor pprof_numbers (const pprof_field *field) {
  return pf_cursor_over(
      field->wire == PPROF_BYTES ? field->bytes : (pf_bytes){NULL, 0}, false);
}

#endif
