/*
** area_cache.c - from the handle and the value of a record to its area.
**
** The list of areas of the file contains the mapping and the areas of events
** that the mapping lacks. A reader of events looks up a pair of handle and
** value there and caches the result in arrays of its own, so threads share only
** the first look-up of most pairs. Not cached are the invalid handle and, if
** writes become events of states, a variable with states.
**
** Used by decode.c and the readers of timelines, which own their caches, and by
** sections.c, which looks up each row in the list.
*/

#include <stdlib.h>

#include "formats/winidea/decode.h"
#include "formats/winidea/text1.h"
#include "model/base/memory.h"

#define MAX_EXACT_DOUBLE \
  9007199254740992.0 /* integers up to this are exact in a double */
#define MAX_ARRAY ((uint32_t)1 << 20) /* smaller indices use the arrays */


winidea_value_kind winidea_default_value_kind (const winidea_file *file,
                                               uint32_t handle) {
  const unsigned kind = winidea_kind(handle);
  if (winidea_is_state(handle))
    return WINIDEA_STATE_VALUE;
  if (kind == WINIDEA_FUNCTION || kind == WINIDEA_LINE)
    return WINIDEA_NO_VALUE;
  return kind == WINIDEA_AUX ? file->input_value_kind : WINIDEA_INTEGER;
}


/* Adds an entry that the mapping lacks, and its area; nothing but handle, value
   and parent of it is known. */
static pf_status add_bare (winidea_area_cache *cache, uint32_t handle,
                           bool has_value, int64_t value, uint32_t parent,
                           winidea_entry *entry) {
  *entry = WINIDEA_ENTRY_NONE;
  entry->handle = handle;
  entry->has_value = has_value;
  entry->value = value;
  entry->parent = parent;
  entry->value_kind = winidea_default_value_kind(cache->file, handle);
  const pf_status status = winidea_build_area(cache->trace, entry);
  return status == PF_OK ? winidea_add_entry(cache->file, entry) : status;
}


/* Adds an entry that the mapping lacks. A state gets its variable as parent,
   which is added if there is none, so that the result does not depend on
   whether a state or its variable occurs first. */
static pf_status add_unmapped (winidea_area_cache *cache, uint32_t handle,
                               bool has_value, int64_t value,
                               winidea_entry *entry) {
  const winidea_file *const file = cache->file;
  uint32_t parent = WINIDEA_NO_ENTRY;
  if (winidea_is_state(handle)) {
    const uint32_t variable = handle - WINIDEA_KIND_STEP;
    const winidea_handle_info *const info =
        winidea_find_handle(&file->areas, handle);
    if (info != NULL)
      parent = info->variable;
    if (parent == WINIDEA_NO_ENTRY) {
      if (winidea_first_entry(file, variable) == NULL &&
          add_bare(cache, variable, false, 0, WINIDEA_NO_ENTRY, entry) != PF_OK)
        return PF_ENOMEM;
      parent =
          (uint32_t)(winidea_first_entry(file, variable) - file->areas.list);
    }
  }
  return add_bare(cache, handle, has_value, value, parent, entry);
}


/* Finds or adds the entry of a handle; of a state the one with this value, else
   the only one of the mapping. A value of 0 may mean that the file states none.
   PF_OK or PF_ENOMEM. */
static pf_status find_entry (winidea_area_cache *cache, uint32_t handle,
                             int64_t data, winidea_entry *found) {
  const winidea_areas *const areas = &cache->file->areas;
  const winidea_handle_info *const info = winidea_find_handle(areas, handle);
  const bool is_state = winidea_is_state(handle);
  const winidea_entry *entry =
      is_state ? winidea_find_state(areas, handle, true, data)
               : winidea_first_entry(cache->file, handle);
  const bool is_mapped = is_state && info != NULL &&
                         info->entry != WINIDEA_NO_ENTRY &&
                         areas->list[info->entry].is_mapped;
  const bool is_unsaid = is_mapped && data == 0;
  if (entry == NULL && is_mapped && info->count == 1)
    entry = &areas->list[info->entry];
  if (entry == NULL && is_unsaid)
    entry = winidea_find_state(areas, handle, false, 0);
  if (entry == NULL)
    return add_unmapped(cache, handle, is_state && !is_unsaid,
                        is_state ? data : 0, found);
  *found = *entry;
  return PF_OK;
}


/* The handle of the states that writes to a variable begin, if the reader
   derives states and the mapping has some; else WINIDEA_NO_HANDLE. */
static uint32_t derived_states (const winidea_area_cache *cache,
                                uint32_t handle) {
  if (!cache->derives_states || !winidea_has_writes(handle))
    return WINIDEA_NO_HANDLE;
  const winidea_entry *const entry = winidea_first_entry(cache->file, handle);
  return entry == NULL ? WINIDEA_NO_HANDLE : entry->states;
}


/* Scans the rest of the text if the list does not contain the area or, where
   states are derived, the states of a variable. PF_OK or a failure. */
static pf_status scan_for (winidea_area_cache *cache, uint32_t handle,
                           int64_t data, pf_error *error) {
  const winidea_file *const file = cache->file;
  if (file->text == NULL || file->is_scanned)
    return PF_OK;
  const bool is_known =
      winidea_is_state(handle)
          ? winidea_find_state(&file->areas, handle, true, data) != NULL
      : cache->derives_states && winidea_has_writes(handle)
          ? derived_states(cache, handle) != WINIDEA_NO_HANDLE
          : winidea_find_handle(&file->areas, handle) != NULL;
  return is_known ? PF_OK : winidea_scan_all(cache->trace, error);
}


static uint64_t hash_of (const winidea_area_cache *cache, uint32_t handle,
                         int64_t data) {
  return pf_mix(cache->trace->dictionary->seed ^ handle, (uint64_t)data);
}


/* Stores an area in the array of its kind or in `others`. PF_OK or
   PF_ENOMEM. */
static pf_status cache_area (winidea_area_cache *cache,
                             const winidea_cached_area *cached) {
  const uint32_t index = cached->handle & (WINIDEA_KIND_STEP - 1);
  if (!winidea_is_state(cached->handle) && index < MAX_ARRAY &&
      cached->value_kind != WINIDEA_STATE_VALUE) {
    winidea_handle_array *const array =
        &cache->arrays[winidea_kind(cached->handle)];
    uint32_t size = array->size == 0 ? 64 : array->size;
    while (size <= index)
      size *= 2;
    size_t areas = array->size, value_kinds = array->size;
    if (!pf_grow_filled(&array->areas, &areas, size, 0xff) || /* PF_NO_AREA */
        !pf_grow_filled(&array->value_kinds, &value_kinds, size,
                        WINIDEA_UNRESOLVED))
      return PF_ENOMEM;
    array->size = size;
    array->areas[index] = cached->area;
    array->value_kinds[index] = cached->value_kind;
    return PF_OK;
  }
  if (!pf_intern_table_reserve(&cache->others_known) ||
      !pf_grow(&cache->others, &cache->others_capacity,
               (size_t)cache->others_known.count + 1))
    return PF_ENOMEM;
  const uint64_t hash = hash_of(cache, cached->handle, cached->data);
  cache->others[pf_intern_table_add(&cache->others_known, hash)] = *cached;
  return PF_OK;
}


/* Sets *cached from an entry; stores it if `is_kept`. */
static pf_status use_entry (winidea_area_cache *cache,
                            const winidea_entry *entry, bool is_kept,
                            winidea_cached_area *cached) {
  const bool by_data = winidea_is_state(entry->handle);
  cached->area = entry->area;
  cached->value_kind = (uint8_t)entry->value_kind;
  if (by_data && !entry->has_value)
    cached->value_kind = WINIDEA_NO_VALUE;
  else if (by_data)
    cached->value = entry->value;
  else
    cached->data = 0;
  return is_kept && !cache->is_bypassed ? cache_area(cache, cached) : PF_OK;
}


pf_status winidea_resolve (winidea_area_cache *cache, uint32_t handle,
                           int64_t data, winidea_cached_area *cached,
                           pf_error *error) {
  winidea_entry entry;
  *cached =
      (winidea_cached_area){handle, PF_NO_AREA, data, data, WINIDEA_NO_VALUE};
  if (handle == WINIDEA_NO_HANDLE)
    return PF_OK;
  pthread_mutex_lock(&cache->file->mutex);
  pf_status status = scan_for(cache, handle, data, error);
  if (status == PF_OK)
    status = find_entry(cache, handle, data, &entry);
  const bool has_states = derived_states(cache, handle) != WINIDEA_NO_HANDLE;
  pthread_mutex_unlock(&cache->file->mutex);
  if (status == PF_OK)
    status = use_entry(cache, &entry, !has_states, cached);
  return status == PF_ENOMEM ? pf_no_memory(error) : status;
}


/* Converts what was written to an integer. Returns false if it is none. */
static bool integer_value (const winidea_area_cache *cache, uint32_t handle,
                           winidea_data_type kind, int64_t *value) {
  const winidea_entry *const entry = winidea_first_entry(cache->file, handle);
  double number;
  if (kind != WINIDEA_DATA_DOUBLE &&
      (kind != WINIDEA_DATA_BITS || entry == NULL ||
       entry->value_kind != WINIDEA_DOUBLE))
    return true;
  memcpy(&number, value, sizeof number);
  if (!(number >= -MAX_EXACT_DOUBLE && number <= MAX_EXACT_DOUBLE))
    return false;
  *value = (int64_t)number;
  return (double)*value == number;
}


/*
** Finds the state that a write of `data` to a variable begins, if the reader
** derives states; `kind` is the type of `data`. cached->value_kind is
** WINIDEA_UNRESOLVED if the mapping has no states of the variable or the value
** is not an integer. PF_OK or a failure. Takes the mutex.
*/
static pf_status find_written (winidea_area_cache *cache, uint32_t handle,
                               int64_t data, winidea_data_type kind,
                               winidea_cached_area *cached, pf_error *error) {
  winidea_entry entry;
  int64_t value = data;
  uint32_t states = WINIDEA_NO_HANDLE;
  *cached =
      (winidea_cached_area){handle, PF_NO_AREA, data, data, WINIDEA_UNRESOLVED};
  pthread_mutex_lock(&cache->file->mutex);
  pf_status status = scan_for(cache, handle, 0, error);
  if (status == PF_OK && integer_value(cache, handle, kind, &value))
    states = derived_states(cache, handle);
  if (states != WINIDEA_NO_HANDLE) {
    /* values have 32 bits, and the mapping may state one with another sign than
       the event */
    const winidea_areas *const areas = &cache->file->areas;
    const int64_t other =
        value < 0 ? value + ((int64_t)1 << 32) : (int64_t)(int32_t)value;
    const winidea_entry *known = winidea_find_state(areas, states, true, value);
    if (known == NULL && value >= INT32_MIN && value <= UINT32_MAX)
      known = winidea_find_state(areas, states, true, other);
    if (known != NULL)
      entry = *known;
    else
      status = add_unmapped(cache, states, true, value, &entry);
  }
  pthread_mutex_unlock(&cache->file->mutex);
  if (status == PF_OK && states != WINIDEA_NO_HANDLE)
    status = use_entry(cache, &entry, true, cached);
  return status == PF_ENOMEM ? pf_no_memory(error) : status;
}


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


/* Returns the element of `others` for a handle and the DATA of the record, or
   NULL. */
static const winidea_cached_area *find_other (const winidea_area_cache *cache,
                                              uint32_t handle, int64_t data) {
  const search_key key = {cache->others, handle, data};
  const uint32_t number = pf_intern_table_find(
      &cache->others_known, hash_of(cache, handle, data), is_same, &key);
  return number == PF_NOT_INTERNED ? NULL : &cache->others[number];
}


/* Finds an area that is not in the arrays by its handle and, for a state,
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
   are derived, else the variable. `others` contains either states of a
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
  if (kind != WINIDEA_DATA_NONE) {
    known = find_other(&self->cache, handle, data);
    if (known != NULL) {
      *cached = *known;
      return PF_OK;
    }
    const pf_status status =
        find_written(&self->cache, handle, data, kind, cached, error);
    if (status < 0 || cached->value_kind != WINIDEA_UNRESOLVED)
      return status;
  }
  return winidea_resolve(&self->cache, handle, 0, cached, error);
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
  for (size_t i = 0; self->kinds != NULL && i < records.count; i++) {
    /* no branch on the kind of the area, which differs from row to row */
    const bool is_number = (value_kinds[i] == WINIDEA_INTEGER) |
                           (value_kinds[i] == WINIDEA_DOUBLE);
    if (is_number & (self->kinds[i] == WINIDEA_DATA_NONE))
      value_kinds[i] = WINIDEA_NO_VALUE;
    if (is_number & (self->kinds[i] == WINIDEA_DATA_DOUBLE))
      value_kinds[i] = WINIDEA_DOUBLE;
  }
  return PF_OK;
}


void winidea_cache_refresh (winidea_area_cache *cache) {
  pthread_mutex_lock(&cache->file->mutex);
  const uint32_t changes = cache->file->areas.changes;
  pthread_mutex_unlock(&cache->file->mutex);
  if (cache->changes == changes)
    return;
  winidea_cache_free(cache);
  memset(cache->arrays, 0, sizeof cache->arrays);
  cache->others = NULL;
  cache->others_capacity = 0;
  cache->changes = changes;
}


void winidea_cache_free (winidea_area_cache *cache) {
  for (int i = 0; i < WINIDEA_KINDS; i++) {
    free(cache->arrays[i].areas);
    free(cache->arrays[i].value_kinds);
  }
  free(cache->others);
  pf_intern_table_free(&cache->others_known);
}
