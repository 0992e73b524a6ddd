/*
** decode_areas.c - finds the areas of records in the cache of the
** reader, else in the file.
*/

#include "formats/winidea/decode.h"

typedef struct search_key {
  const winidea_cached_area *others;
  uint32_t handle;
  int64_t data;
} search_key;


static bool is_same (const void *context, uint32_t number) {
  const search_key *const key = context;
  const winidea_cached_area *const cached = &key->others[number];
  return cached->handle == key->handle && cached->data == key->data;
}


/* Returns what the cache has for a handle and the DATA of the record, beside
   the arrays, or NULL. */
static const winidea_cached_area *find_other (const winidea_area_cache *cache,
                                              uint32_t handle, int64_t data) {
  const search_key key = {cache->others, handle, data};
  const uint32_t number = pf_intern_table_find(
      &cache->others_known, winidea_cache_hash(cache, handle, data), is_same,
      &key);
  return number == PF_NOT_INTERNED ? NULL : &cache->others[number];
}


/* Finds an area that the arrays do not contain, by its handle and, for a state,
   DATA. */
static pf_status resolve (winidea_decoder *self, uint32_t handle, int64_t data,
                          winidea_cached_area *cached, pf_error *error) {
  const winidea_cached_area *const known =
      find_other(&self->cache, handle, data);
  if (known == NULL)
    return winidea_resolve(&self->cache, handle, data, cached, error);
  *cached = *known;
  return PF_OK;
}


/* Finds the area of a write to a variable: the state that it begins, if states
   are derived, else the variable. The slots contain either the states of a
   variable or, with DATA 0, the variable. */
static pf_status resolve_write (winidea_decoder *self, uint32_t handle,
                                int64_t data, size_t row,
                                winidea_cached_area *cached, pf_error *error) {
  const winidea_data_type kind =
      self->kinds == NULL ? WINIDEA_DATA_BITS : self->kinds[row];
  const winidea_cached_area *known = find_other(&self->cache, handle, 0);
  if (!self->cache.derives_states ||
      (known != NULL && known->value_kind != WINIDEA_STATE_VALUE))
    return resolve(self, handle, 0, cached, error);
  known =
      kind == WINIDEA_DATA_NONE ? NULL : find_other(&self->cache, handle, data);
  if (known != NULL) {
    *cached = *known;
    return PF_OK;
  }
  cached->value_kind = WINIDEA_UNRESOLVED;
  const pf_status status =
      kind == WINIDEA_DATA_NONE
          ? PF_OK
          : winidea_resolve_write(&self->cache, handle, data, kind, cached,
                                  error);
  return status < 0 || cached->value_kind != WINIDEA_UNRESOLVED
             ? status
             : winidea_resolve(&self->cache, handle, 0, cached, error);
}


/* Finds the area of row `row`, which the arrays do not contain. */
static pf_status resolve_row (winidea_decoder *self, const uint8_t *record,
                              size_t size, size_t row, pf_error *error) {
  const uint32_t handle = pf_load32le(record);
  const int64_t data = winidea_data(record, size);
  winidea_cached_area cached;
  const pf_status status =
      winidea_has_writes(handle)
          ? resolve_write(self, handle, data, row, &cached, error)
          : resolve(self, handle, winidea_is_state(handle) ? data : 0, &cached,
                    error);
  if (status != PF_OK)
    return status;
  self->areas[row] = cached.area;
  self->value_kinds[row] = cached.value_kind;
  self->state_values[row] = cached.value;
  self->has_state_values |= cached.value_kind == WINIDEA_STATE_VALUE;
  self->has_missing_areas |= cached.area == PF_NO_AREA;
  return PF_OK;
}


pf_status winidea_find_areas (winidea_decoder *self, winidea_slice records,
                              pf_error *error) {
  const winidea_handle_array *const arrays = self->cache.arrays;
  uint32_t *const areas = self->areas;
  uint8_t *const value_kinds = self->value_kinds;
  self->has_state_values = self->has_missing_areas = false;
  for (size_t i = 0; i < records.count; i++) {
    const uint8_t *const record = records.at + i * records.size;
    const uint32_t handle = pf_load32le(record);
    const winidea_handle_array *const array = &arrays[winidea_kind(handle)];
    const uint32_t index = handle & (WINIDEA_KIND_STEP - 1);
    if (index < array->size &&
        array->value_kinds[index] != WINIDEA_UNRESOLVED) {
      areas[i] = array->areas[index];
      value_kinds[i] = array->value_kinds[index];
      continue;
    }
    const pf_status status = resolve_row(self, record, records.size, i, error);
    if (status < 0)
      return status;
  }
  for (size_t i = 0; self->kinds != NULL && i < records.count; i++)
    if (value_kinds[i] == WINIDEA_INTEGER || value_kinds[i] == WINIDEA_DOUBLE)
      value_kinds[i] = self->kinds[i] == WINIDEA_DATA_NONE ? WINIDEA_NO_VALUE
                       : self->kinds[i] == WINIDEA_DATA_DOUBLE ? WINIDEA_DOUBLE
                                                               : value_kinds[i];
  return PF_OK;
}
