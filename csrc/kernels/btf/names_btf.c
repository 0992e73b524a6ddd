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


static bool is_safe (uint8_t c, bool is_edge) {
  return c > 0x20 ? c < 0x7f && c != ',' && c != '%' : c == 0x20 && !is_edge;
}


/* Append `bytes`, escaped; `at` has 3 * bytes.size free bytes. */
static size_t put_safe (char *at, pf_bytes bytes) {
  static const char digits[] = "0123456789ABCDEF";
  size_t size = 0;
  for (size_t i = 0; i < bytes.size; i++) {
    const uint8_t c = bytes.at[i];
    if (is_safe(c, i == 0 || i + 1 == bytes.size)) {
      at[size++] = (char)c;
      continue;
    }
    at[size++] = '%';
    at[size++] = digits[c >> 4];
    at[size++] = digits[c & 15];
  }
  return size;
}


/* Count a pair of type and name. Returns how often it occurred before, or
   PF_NO_NAME when out of memory. */
static uint32_t count_pair (btf_names *n, char type, uint32_t name) {
  const uint64_t word = (uint64_t)(uint8_t)type << 32 | name;
  uint32_t number;
  if (name == PF_NO_NAME ||
      pf_id_table_words(&n->known, &word, 1, &number) != PF_OK)
    return PF_NO_NAME;
  if (!pf_grow_filled(&n->counts, &n->ncounts, (size_t)number + 1, 0))
    return PF_NO_NAME;
  return n->counts[number]++;
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
  const uint32_t duplicates = count_pair(n, type, known);
  if (duplicates == 0 || duplicates == PF_NO_NAME)
    return duplicates == 0 ? known : PF_NO_NAME;
  size += (size_t)snprintf(n->text + size, SUFFIX_SIZE, "%%:%lu",
                           (unsigned long)duplicates + 1);
  return pf_intern(n->dictionary, (pf_bytes){(const uint8_t *)n->text, size});
}


void btf_names_free (btf_names *n) {
  pf_id_table_free(&n->known);
  free(n->counts);
  free(n->text);
}
