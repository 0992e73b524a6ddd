/*
** manifest.c - writes and reads the manifest of a writer.
*/

#include "model/writer/manifest.h"

#include <string.h>

#include "bytes/cursor.h"

/* The unused bytes of the output. */
typedef struct output {
  uint8_t *to;
  size_t left;
  bool is_full;
} output;


static void put (output *o, const void *bytes, size_t size) {
  o->is_full |= size > o->left;
  if (o->is_full)
    return;
  if (size > 0)
    memcpy(o->to, bytes, size);
  o->to += size;
  o->left -= size;
}


/* The option with the first name after that of `last` (NULL: of all); NULL:
   there is none. */
static const pf_option *next_option (const pf_manifest *manifest,
                                     const pf_option *last) {
  const pf_option *next = NULL;
  for (size_t i = 0; i < manifest->noptions; i++) {
    const pf_option *const option = &manifest->options[i];
    if ((last == NULL || strcmp(option->name, last->name) > 0) &&
        (next == NULL || strcmp(option->name, next->name) < 0))
      next = option;
  }
  return next;
}


size_t pf_manifest_write (uint8_t *to, size_t size,
                          const pf_manifest *manifest) {
  output o = {to, size, manifest->noptions > PF_MANIFEST_OPTIONS};
  put(&o, manifest->format, strlen(manifest->format) + 1);
  for (size_t i = 0; i < manifest->nroles; i++)
    put(&o, manifest->roles[i], strlen(manifest->roles[i]) + 1);
  put(&o, "", 1);
  const pf_option *last = NULL;
  for (size_t i = 0; i < manifest->noptions; i++) {
    last = next_option(manifest, last);
    if (last == NULL)
      return 0; /* an option is given twice */
    uint8_t number[8];
    put(&o, last->name, strlen(last->name) + 1);
    put(&o, last->is_text ? "t" : "i", 1);
    pf_save(number, last->is_text ? 2 : 8, false,
            last->is_text ? last->text.size : (uint64_t)last->integer);
    put(&o, number, last->is_text ? 2 : 8);
    if (last->is_text)
      put(&o, last->text.at, last->text.size);
    o.is_full |= last->is_text && last->text.size > UINT16_MAX;
  }
  return o.is_full ? 0 : size - o.left;
}


/* Read a text that ends in NUL; NULL: there is no NUL. */
static const char *take_text (pf_cursor *cursor) {
  const uint8_t *const at = cursor->bytes.at + cursor->at;
  const size_t left = pf_left(cursor);
  const uint8_t *const nul = left == 0 ? NULL : memchr(at, 0, left);
  if (nul == NULL)
    return NULL;
  cursor->at += (size_t)(nul - at) + 1;
  return (const char *)at;
}


static bool take_option (pf_cursor *cursor, pf_option *option) {
  uint64_t type, number;
  *option = (pf_option){.name = take_text(cursor)};
  if (option->name == NULL || !pf_take_uint(cursor, 1, &type))
    return false;
  option->is_text = type == 't';
  if (!pf_take_uint(cursor, option->is_text ? 2 : 8, &number))
    return false;
  option->integer = (int64_t)number;
  return !option->is_text || pf_take(cursor, number, &option->text);
}


bool pf_manifest_read (pf_bytes bytes, pf_manifest *manifest) {
  pf_cursor cursor = pf_cursor_over(bytes, false);
  *manifest = (pf_manifest){.format = take_text(&cursor)};
  if (manifest->format == NULL)
    return false;
  const char *role;
  while ((role = take_text(&cursor)) != NULL && role[0] != '\0')
    if (manifest->nroles == PF_MANIFEST_ROLES)
      return false;
    else
      manifest->roles[manifest->nroles++] = role;
  if (role == NULL)
    return false;
  while (pf_left(&cursor) > 0)
    if (manifest->noptions == PF_MANIFEST_OPTIONS ||
        !take_option(&cursor, &manifest->read[manifest->noptions++]))
      return false;
  manifest->options = manifest->read;
  return true;
}
