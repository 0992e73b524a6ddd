/*
** pack.c - writes packed data.
*/

#include "model/base/pack.h"

#include <string.h>

#include "model/base/memory.h"


uint8_t *pf_pack_grow (pf_packed *to, size_t size) {
  if (pf_grow(&to->at, &to->capacity, to->used + size))
    return to->at + to->used;
  to->is_out_of_memory = true;
  return NULL;
}


void pf_pack_bytes (pf_packed *to, const void *bytes, size_t size) {
  uint8_t *const at = size == 0 ? NULL : pf_pack_reserve(to, size);
  if (at == NULL)
    return;
  memcpy(at, bytes, size);
  to->used += size;
}


void pf_pack_text (pf_packed *to, pf_bytes text) {
  pf_pack_number(to, text.size);
  pf_pack_bytes(to, text.at, text.size);
}
