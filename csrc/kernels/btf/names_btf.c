/*
** names_btf.c - unique names in the characters that BTF allows. The format has
** no quotes, so commas, % and all but printable ASCII are written as %XX;
** readers can restore each name.
*/

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/btf/machine.h"
#include "model/base/memory.h"

#define SUFFIX_SIZE 16 /* %: and a number */


/* Append `bytes`, escaped; `at` has 3 * bytes.size free bytes. */
static size_t put_safe (char *at, pf_bytes bytes) {
  static const char digits[] = "0123456789ABCDEF";
  size_t size = 0;
  for (size_t i = 0; i < bytes.size; i++) {
    const uint8_t c = bytes.at[i];
    const bool is_edge = i == 0 || i + 1 == bytes.size;
    if (c > 0x20 ? c < 0x7f && c != ',' && c != '%' : c == 0x20 && !is_edge) {
      at[size++] = (char)c;
      continue;
    }
    at[size++] = '%';
    at[size++] = digits[c >> 4];
    at[size++] = digits[c & 15];
  }
  return size;
}


uint32_t btf_name (btf_names *n, char type, const char *prefix, pf_bytes name) {
  const size_t before = strlen(prefix);
  if (name.size > (SIZE_MAX - before - SUFFIX_SIZE) / 3 ||
      !pf_grow(&n->text, &n->capacity, before + 3 * name.size + SUFFIX_SIZE))
    return PF_NO_NAME;
  memcpy(n->text, prefix, before);
  size_t size = before + put_safe(n->text + before, name);
  if (size == 0)
    n->text[size++] = '?';
  const pf_bytes plain = {(const uint8_t *)n->text, size};
  const uint32_t known = pf_intern(n->dictionary, plain);
  const uint64_t word = (uint64_t)(uint8_t)type << 32 | known;
  uint32_t pair;
  if (known == PF_NO_NAME ||
      pf_id_table_words(&n->known, &word, 1, &pair) != PF_OK ||
      !pf_grow_filled(&n->counts, &n->ncounts, (size_t)pair + 1, 0))
    return PF_NO_NAME;
  const uint32_t duplicates = n->counts[pair]++;
  if (duplicates == 0)
    return known;
  size += (size_t)snprintf(n->text + size, SUFFIX_SIZE, "%%:%lu",
                           (unsigned long)duplicates + 1);
  return pf_intern(n->dictionary, (pf_bytes){(const uint8_t *)n->text, size});
}


void btf_names_free (btf_names *n) {
  pf_id_table_free(&n->known);
  free(n->counts);
  free(n->text);
}
