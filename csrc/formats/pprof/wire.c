/*
** wire.c - reads any field of a protocol buffer. The fields that are not the
** most common ones come here from pprof_next_field (wire.h).
*/

#include "formats/pprof/wire.h"


bool pprof_next_long_field (pf_cursor *c, pprof_field *field) {
  const size_t at = c->at;
  uint64_t tag, size;
  *field = (pprof_field){.at = at};
  if (!pf_take_varint(c, &tag))
    return false;
  field->number = tag >> 3;
  field->wire = (unsigned)(tag & 7);
  bool ok = field->number != 0;
  switch (field->wire) {
    case PPROF_VARINT: ok = ok && pf_take_varint(c, &field->value); break;
    case PPROF_FIXED64: ok = ok && pf_take_uint(c, 8, &field->value); break;
    case PPROF_FIXED32: ok = ok && pf_take_uint(c, 4, &field->value); break;
    case PPROF_BYTES:
      ok = ok && pf_take_varint(c, &size) && pf_take(c, size, &field->bytes);
      break;
    default: ok = false;
  }
  if (!ok)
    c->at = at;
  return ok;
}
