/*
** shared_names.c - finds names that areas of several files have: an array of
** the file of each name, owned by the caller's pf_shared_names.
*/

#include <string.h>

#include "model/dictionary/shared_names.h"
#include "model/base/memory.h"
#include "model/dictionary/names.h"

#define SEVERAL UINT32_MAX


bool pf_shared_names_add (pf_shared_names *shared,
                          const pf_dictionary *dictionary, uint32_t area) {
  const pf_area *const a = pf_area_at(dictionary, area);
  const uint32_t file = a->file == PF_NO_NAME ? 1 : a->file + 2;
  if (a->name == PF_NO_NAME)
    return true;
  if (!pf_grow_filled(&shared->files, &shared->capacity, (size_t)a->name + 1,
                      0))
    return false;
  uint32_t *const known = &shared->files[a->name];
  *known = *known == 0 || *known == file ? file : SEVERAL;
  return true;
}


bool pf_shared_names_all (pf_shared_names *shared,
                          const pf_dictionary *dictionary) {
  const uint32_t count = pf_areas_count(dictionary);
  for (; shared->areas < count; shared->areas++)
    if (!pf_shared_names_add(shared, dictionary, shared->areas))
      return false;
  return true;
}


/* The file by which an area is distinguished from others with its name; an
   empty text: it needs none, or has none. */
static pf_bytes file_of (const pf_shared_names *shared,
                         const pf_dictionary *dictionary, const pf_area *a) {
  const bool is_shared = a->name < shared->capacity &&
                         shared->files[a->name] == SEVERAL &&
                         a->file != PF_NO_NAME;
  return is_shared ? pf_name(dictionary, a->file) : (pf_bytes){NULL, 0};
}


size_t pf_full_name_size (const pf_shared_names *shared,
                          const pf_dictionary *dictionary, uint32_t area) {
  const pf_area *const a = pf_area_at(dictionary, area);
  const size_t size = file_of(shared, dictionary, a).size;
  return pf_name(dictionary, a->name).size + (size > 0 ? size + 3 : 0);
}


static uint8_t *append (uint8_t *at, const void *bytes, size_t size) {
  if (size > 0)
    memcpy(at, bytes, size);
  return at + size;
}


uint8_t *pf_full_name_put (const pf_shared_names *shared,
                           const pf_dictionary *dictionary, uint32_t area,
                           uint8_t *at) {
  const pf_area *const a = pf_area_at(dictionary, area);
  const pf_bytes name = pf_name(dictionary, a->name);
  const pf_bytes file = file_of(shared, dictionary, a);
  at = append(at, name.at, name.size);
  if (file.size == 0)
    return at;
  at = append(append(at, " (", 2), file.at, file.size);
  return append(at, ")", 1);
}
