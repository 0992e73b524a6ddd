/*
** unpack.c - reads packed data from outside.
*/

#include "model/base/unpack.h"

#include <string.h>


void pf_unpack_fail (pf_unpack *from, pf_status status, const char *why) {
  if (from->status == PF_OK)
    from->status = status == PF_ENOMEM
                       ? pf_no_memory(from->error)
                       : pf_fail(from->error, status, from->cursor.at, "%s: %s",
                                 from->what, why);
}


uint64_t pf_unpack_number (pf_unpack *from, uint64_t limit) {
  uint64_t value = 0;
  if (from->status == PF_OK && !pf_take_varint(&from->cursor, &value))
    pf_unpack_fail(from, PF_ETRUNCATED, "a number is expected");
  pf_unpack_check(from, value <= limit, "a number is too large");
  return from->status == PF_OK ? value : 0;
}


int64_t pf_unpack_signed (pf_unpack *from) {
  return pf_unzigzag(pf_unpack_number(from, UINT64_MAX));
}


size_t pf_unpack_length (pf_unpack *from, size_t size) {
  const uint64_t length = pf_unpack_number(from, UINT32_MAX / 2);
  pf_unpack_check(from, length <= pf_left(&from->cursor) / size,
                  "a list is longer than the bytes");
  return from->status == PF_OK ? (size_t)length : 0;
}


pf_bytes pf_unpack_bytes (pf_unpack *from, uint64_t size) {
  pf_bytes taken = {(const uint8_t *)"", 0};
  if (from->status == PF_OK && size > 0 &&
      !pf_take(&from->cursor, size, &taken))
    pf_unpack_fail(from, PF_ETRUNCATED, "they end too early");
  return taken;
}


pf_bytes pf_unpack_text (pf_unpack *from, uint64_t limit) {
  return pf_unpack_bytes(from, pf_unpack_number(from, limit));
}


void pf_unpack_magic (pf_unpack *from, const char *magic) {
  const size_t size = strlen(magic);
  pf_bytes bytes;
  if (!pf_take(&from->cursor, size, &bytes) ||
      memcmp(bytes.at, magic, size) != 0)
    from->status = pf_fail(from->error, PF_EFORMAT, 0,
                           "%s: they do not begin with \"%.*s\"", from->what,
                           (int)size - 1, magic);
}
