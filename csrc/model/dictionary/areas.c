/*
** areas.c - the areas of a dictionary.
*/

#include <stdatomic.h>
#include <stdlib.h>

#include "model/dictionary/areas.h"
#include "model/base/intern_table.h"

/* Like names (names.h), areas are in segments and never move, so that one
   thread may read those it knows while another thread adds some. */
struct pf_areas {
  pf_intern_table table;
  pf_area *segments[PF_NAMES_SEGMENTS]; /* those after the last are NULL */
  _Atomic uint32_t count;
};


static pf_area *entry (const struct pf_areas *areas, uint32_t number) {
  size_t at;
  const unsigned segment = pf_names_place(number, &at);
  return &areas->segments[segment][at];
}


typedef struct wanted {
  const struct pf_areas *areas;
  const pf_area *area;
} wanted;


static bool is_same (const void *context, uint32_t number) {
  const wanted *const w = context;
  const pf_area *const a = w->area, *const b = entry(w->areas, number);
  return a->name == b->name && a->class == b->class && a->file == b->file &&
         a->parent == b->parent && a->line == b->line &&
         a->has_handle == b->has_handle && a->has_value == b->has_value &&
         a->handle == b->handle && a->value == b->value;
}


uint32_t pf_area_add (pf_dictionary *dictionary, const pf_area *area) {
  if (dictionary->areas == NULL) {
    dictionary->areas = calloc(1, sizeof *dictionary->areas);
    if (dictionary->areas != NULL)
      dictionary->areas->table.seed = dictionary->seed;
  }
  struct pf_areas *const areas = dictionary->areas;
  if (areas == NULL)
    return PF_NO_AREA;
  uint64_t h =
      pf_mix(areas->table.seed, area->name | (uint64_t)area->file << 32);
  h = pf_mix(h, area->class | (uint64_t)area->parent << 32);
  h = pf_mix(h, area->handle);
  h = pf_mix(h, (uint64_t)area->value);
  const uint64_t hash =
      pf_mix(h, (uint64_t)area->line << 2 | (uint64_t)area->has_handle << 1 |
                    (uint64_t)area->has_value);
  const wanted w = {areas, area};
  const uint32_t known = pf_intern_table_find(&areas->table, hash, is_same, &w);
  if (known != PF_NOT_INTERNED)
    return known;
  size_t at;
  const unsigned which = pf_names_place(areas->table.count, &at);
  pf_area **const segment = &areas->segments[which];
  if (!pf_intern_table_reserve(&areas->table))
    return PF_NO_AREA;
  if (*segment == NULL)
    *segment = malloc(sizeof **segment << (which + PF_NAMES_FIRST));
  if (*segment == NULL)
    return PF_NO_AREA;
  (*segment)[at] = *area;
  const uint32_t number = pf_intern_table_add(&areas->table, hash);
  atomic_store_explicit(&areas->count, number + 1, memory_order_release);
  return number;
}


uint32_t pf_areas_count (const pf_dictionary *dictionary) {
  return dictionary->areas == NULL
             ? 0
             : atomic_load_explicit(&dictionary->areas->count,
                                    memory_order_acquire);
}


const pf_area *pf_area_at (const pf_dictionary *dictionary, uint32_t number) {
  static const pf_area none = PF_AREA_NONE;
  return number < pf_areas_count(dictionary) ? entry(dictionary->areas, number)
                                             : &none;
}


void pf_areas_free (struct pf_areas *areas) {
  if (areas == NULL)
    return;
  pf_intern_table_free(&areas->table);
  for (size_t i = 0; i < PF_NAMES_SEGMENTS; i++)
    free(areas->segments[i]);
  free(areas);
}
