/*
** json_members.c - reads objects by the shape of the one before, or member by
** member.
*/

#include "model/rows/json_members.h"

#include "bytes/text.h"
#include "model/base/switches.h"

/* Sets a value; one by one, as a copy of all would wait for the stores before
   it. */
static inline void set (pf_json *to, const uint8_t *at, size_t size,
                        pf_json_kind kind, bool has_escapes) {
  to->text.at = at;
  to->text.size = size;
  to->kind = kind;
  to->has_escapes = has_escapes;
}


/* The end of a value that begins at `p` and has no escapes; NULL: it has some
   or is of another kind. */
static inline const uint8_t *end_of (pf_json_kind kind, const uint8_t *p,
                                     const uint8_t *end) {
  const uint8_t *const begin = p;
  if (kind == PF_JSON_STRING) {
    p = pf_json_plain(p, end);
    return p < end && *p == '"' ? p : NULL;
  }
  if (kind == PF_JSON_OBJECT || kind == PF_JSON_ARRAY)
    return *p == '{' || *p == '[' ? pf_json_nested(p, end) : NULL;
  while (p < end && ((unsigned)(*p - '0') < 10 || *p == '.'))
    p++;
  return p == begin ? NULL : p;
}


/* Fast path: reads an object whose keys and blanks are those of the one before.
   NULL: it has others. */
static const uint8_t *read_alike (const pf_json_shape *shape, const uint8_t *p,
                                  const uint8_t *end, pf_json *values) {
  pf_json_kind kind = PF_JSON_NONE;
  if (!PF_FAST(SHAPES) || shape->count == 0 || shape->count > PF_JSON_GAPS)
    return NULL;
  for (size_t i = 0; i < shape->count; i++) {
    const pf_json_gap *const gap = &shape->gaps[i];
    if (end - p < 16 ||
        (((pf_load64le(p) ^ gap->words[0]) & gap->masks[0]) |
         ((pf_load64le(p + 8) ^ gap->words[1]) & gap->masks[1])) != 0)
      return NULL;
    const uint8_t *const at = p + gap->size;
    kind = gap->kind;
    p = end_of(kind, at, end);
    if (p == NULL)
      return NULL;
    set(&values[gap->member], at, (size_t)(p - at), kind, false);
  }
  p = pf_json_blanks(p + (kind == PF_JSON_STRING), end);
  return p < end && *p == '}' ? p + 1 : NULL;
}


/* Remembers what stands between two values, from the end of the one to the
   begin of the other. */
static void learn (pf_json_shape *shape, const uint8_t *from,
                   const pf_json *value, size_t member) {
  const size_t size = (size_t)(value->text.at - from);
  if (shape->count >= PF_JSON_GAPS || size > sizeof(uint64_t[2])) {
    shape->count = PF_JSON_GAPS + 1;
    return;
  }
  pf_json_gap *const gap = &shape->gaps[shape->count++];
  uint8_t bytes[16] = {0}, mask[16] = {0};
  memcpy(bytes, from, size);
  memset(mask, 0xFF, size);
  for (size_t i = 0; i < 2; i++) {
    gap->words[i] = pf_load64le(bytes + 8 * i);
    gap->masks[i] = pf_load64le(mask + 8 * i);
  }
  gap->size = (uint8_t)size;
  gap->member = (uint8_t)member;
  gap->kind = value->kind;
}


static size_t member_of (const pf_json_wanted *wanted, pf_bytes key) {
  size_t i = 0;
  while (i < wanted->count && (strlen(wanted->names[i]) != key.size ||
                               memcmp(wanted->names[i], key.at, key.size) != 0))
    i++;
  return i;
}


const uint8_t *pf_json_members (pf_json_shape *shape,
                                const pf_json_wanted *wanted, const uint8_t *p,
                                const uint8_t *end, pf_json *values,
                                bool *is_empty) {
  const pf_json none = {.kind = PF_JSON_NONE};
  pf_json key, value;
  bool has;
  *is_empty = false;
  for (size_t i = 0; i <= wanted->count; i++)
    values[i] = none;
  const uint8_t *const alike = read_alike(shape, p, end, values);
  if (alike != NULL)
    return alike;
  for (size_t i = 0; i <= wanted->count; i++)
    values[i] = none;
  const uint8_t *before = p;
  shape->count = 0;
  p = pf_json_begin(p, end, '{', &has);
  *is_empty = p != NULL && !has;
  while (p != NULL && has) {
    p = pf_json_key(p, end, &key);
    if (p == NULL || (p = pf_json_value(p, end, &value)) == NULL)
      return NULL;
    const size_t member = member_of(wanted, key.text);
    values[member] = value;
    learn(shape, before, &value, member);
    before = value.text.at + value.text.size;
    p = pf_json_more(p, end, '}', &has);
  }
  return p;
}
