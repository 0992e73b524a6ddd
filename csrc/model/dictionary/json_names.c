/*
** json_names.c - names from values of JSON.
*/

#include "model/dictionary/json_names.h"

#include <stdlib.h>

/* The id of a text without its escapes; PF_NO_NAME when out of memory. */
static uint32_t intern_unescaped (pf_dictionary *dictionary, pf_bytes text) {
  uint8_t *const plain = malloc(text.size);
  if (plain == NULL)
    return PF_NO_NAME;
  const size_t size = pf_json_unescape(text, plain);
  const uint32_t name = pf_intern(dictionary, (pf_bytes){plain, size});
  free(plain);
  return name;
}


pf_status pf_intern_json (pf_dictionary *dictionary, const pf_json *value,
                          uint32_t *name, pf_error *error) {
  *name = PF_NO_NAME;
  if (value->kind == PF_JSON_NONE)
    return PF_OK;
  *name = value->has_escapes ? intern_unescaped(dictionary, value->text)
                             : pf_intern(dictionary, value->text);
  return *name == PF_NO_NAME ? pf_no_memory(error) : PF_OK;
}
