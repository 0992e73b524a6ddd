/*
** places.c - which area a handle and a value mean.
**
** The file has all areas, those of the mapping and those that were met without
** one. A reader asks it once for each pair of handle and value, and keeps the
** answer in arrays of its own, so that readers in several threads share nothing
** but the first sight of a pair.
*/

#include <stdio.h>
#include <stdlib.h>

#include "formats/winidea/text.h"
#include "model/names.h"

#define WHOLE_DOUBLE \
  9007199254740992.0 /* doubles up to here hold whole numbers */
#define MAX_LEVEL ((uint32_t)1 << 20) /* indices below it use the arrays */

const char *const winidea_class_names[WINIDEA_KINDS] = {
    "function", "line",      "variable",  "state",
    "aux",      "aux state", "inspector", "inspector state",
    "unknown",  "unknown",   "unknown",   "unknown",
    "unknown",  "unknown",   "unknown",   "unknown"};


/* {====== Areas ====== */

/* A name for an area that has none: what it belongs to, and its value. */
static uint32_t made_name (pf_trace *trace, const winidea_entry *entry,
                           const winidea_entry *parent) {
  pf_dictionary *const names = trace->dictionary;
  const pf_bytes of = parent == NULL || parent->name == PF_NO_NAME
                          ? (pf_bytes){NULL, 0}
                          : pf_name(names, parent->name);
  char *const text = malloc(of.size + 40);
  if (text == NULL)
    return PF_NO_NAME;
  size_t size = of.size;
  if (size > 0)
    memcpy(text, of.at, size);
  else
    size = (size_t)snprintf(text, 40, "%08X", (unsigned)entry->handle);
  if (entry->has_value)
    size += (size_t)snprintf(text + size, 24, "=%lld", (long long)entry->value);
  const pf_bytes name = {(const uint8_t *)text, size};
  const uint32_t number = pf_intern(names, name);
  free(text);
  return number;
}


pf_status winidea_make_area (pf_trace *trace, winidea_entry *entry) {
  const winidea_file *const file = trace->state;
  const winidea_entry *const parent = entry->parent == WINIDEA_NO_ENTRY
                                          ? NULL
                                          : &file->areas.list[entry->parent];
  pf_area area = PF_AREA_NONE;
  area.name =
      entry->name == PF_NO_NAME ? made_name(trace, entry, parent) : entry->name;
  if (area.name == PF_NO_NAME)
    return PF_ENOMEM;
  area.class = file->classes[winidea_kind(entry->handle)];
  area.file = entry->file;
  area.parent = parent == NULL ? PF_NO_AREA : parent->area;
  area.has_handle = true;
  area.handle = entry->handle;
  area.has_value = entry->has_value;
  area.value = entry->value;
  if (winidea_kind(entry->handle) == WINIDEA_LINE && entry->has_value)
    area.line = entry->value;
  entry->area = pf_area_add(trace->dictionary, &area);
  return entry->area == PF_NO_AREA ? PF_ENOMEM : PF_OK;
}

/* }====== */


/* {====== First sight ====== */

winidea_reading winidea_reading_of (const winidea_file *file, uint32_t handle) {
  const unsigned kind = winidea_kind(handle);
  if (winidea_is_state(handle))
    return WINIDEA_STATED;
  if (kind == WINIDEA_FUNCTION || kind == WINIDEA_LINE)
    return WINIDEA_NOTHING;
  return kind == WINIDEA_AUX ? file->input_reading : WINIDEA_INTEGER;
}


/* The entry of a handle for which there is none: nothing is known of it. */
static winidea_entry bare_entry (const winidea_file *file, uint32_t handle) {
  return (winidea_entry){.handle = handle,
                         .parent = WINIDEA_NO_ENTRY,
                         .parent_handle = WINIDEA_NO_HANDLE,
                         .states = WINIDEA_NO_HANDLE,
                         .name = PF_NO_NAME,
                         .file = PF_NO_NAME,
                         .type = PF_NO_NAME,
                         .unit = PF_NO_NAME,
                         .path = PF_NO_NAME,
                         .parent_name = PF_NO_NAME,
                         .reading = winidea_reading_of(file, handle)};
}


static pf_status add_entry (winidea_places *places, winidea_entry *entry) {
  const pf_status status = winidea_make_area(places->trace, entry);
  return status == PF_OK
             ? winidea_entry_add(places->file, places->trace->dictionary->seed,
                                 entry)
             : status;
}


/* Sets *number to the entry of the variable whose states have the handle
   `states`; the entry is made when there is none, so it makes no difference
   whether a state or its variable is met first. */
static pf_status find_variable (winidea_places *places, uint32_t states,
                                uint32_t *number) {
  const winidea_file *const file = places->file;
  const uint64_t seed = places->trace->dictionary->seed;
  const winidea_head *const head = winidea_head_of(&file->areas, seed, states);
  const uint32_t handle = states - WINIDEA_KIND_STEP;
  if (head != NULL && head->variable != WINIDEA_NO_ENTRY) {
    *number = head->variable;
    return PF_OK;
  }
  if (winidea_entry_of(file, seed, handle) == NULL) {
    winidea_entry bare = bare_entry(file, handle);
    if (add_entry(places, &bare) != PF_OK)
      return PF_ENOMEM;
  }
  *number = (uint32_t)(winidea_entry_of(file, seed, handle) - file->areas.list);
  return PF_OK;
}


/* An entry for what the mapping has not. A state whose value is not known has
   none, and belongs to its variable. */
static pf_status add_unmapped (winidea_places *places, uint32_t handle,
                               bool has_value, int64_t value,
                               winidea_entry *entry) {
  *entry = bare_entry(places->file, handle);
  entry->has_value = has_value;
  entry->value = value;
  if (winidea_is_state(handle) &&
      find_variable(places, handle, &entry->parent) != PF_OK)
    return PF_ENOMEM;
  return add_entry(places, entry);
}


/* A state: the one with this value, else the only one there is. A value of 0
   may mean that the file has none. */
static pf_status find_state (winidea_places *places, uint32_t handle,
                             int64_t data, winidea_entry *found) {
  const winidea_areas *const areas = &places->file->areas;
  const uint64_t seed = places->trace->dictionary->seed;
  const winidea_head *const head = winidea_head_of(areas, seed, handle);
  const winidea_entry *entry =
      winidea_state_of(areas, seed, handle, true, data);
  const bool is_mapped = head != NULL && head->entry != WINIDEA_NO_ENTRY &&
                         areas->list[head->entry].is_mapped;
  const bool is_unsaid = is_mapped && data == 0;
  if (entry == NULL && is_mapped && head->count == 1)
    entry = &areas->list[head->entry];
  if (entry == NULL && is_unsaid)
    entry = winidea_state_of(areas, seed, handle, false, 0);
  if (entry == NULL)
    return add_unmapped(places, handle, !is_unsaid, data, found);
  *found = *entry;
  return PF_OK;
}


/* What the mapping has not may stand in a part of it that has not been read. */
static pf_status read_on (winidea_places *places, uint32_t handle, int64_t data,
                          pf_error *error) {
  const winidea_file *const file = places->file;
  const uint64_t seed = places->trace->dictionary->seed;
  if (file->text == NULL || file->is_scanned)
    return PF_OK;
  const bool is_known =
      winidea_is_state(handle)
          ? winidea_state_of(&file->areas, seed, handle, true, data) != NULL
          : winidea_head_of(&file->areas, seed, handle) != NULL;
  return is_known ? PF_OK : winidea_scan_all(places->trace, error);
}


/* The entry of the state with a value, or NULL. Values have 32 bits, and a
   mapping may state one with another sign than the event. */
static const winidea_entry *state_with (const winidea_places *places,
                                        uint32_t handle, int64_t value) {
  const winidea_areas *const areas = &places->file->areas;
  const uint64_t seed = places->trace->dictionary->seed;
  const winidea_entry *const entry =
      winidea_state_of(areas, seed, handle, true, value);
  if (entry != NULL || value < INT32_MIN || value > UINT32_MAX)
    return entry;
  const int64_t other =
      value < 0 ? value + ((int64_t)1 << 32) : (int64_t)(int32_t)value;
  return other == value ? NULL
                        : winidea_state_of(areas, seed, handle, true, other);
}


/* The handle of the states that a variable's writes begin: the mapping has
   some, and the reader derives them; else WINIDEA_NO_HANDLE. */
static uint32_t derived_states (const winidea_places *places, uint32_t handle) {
  if (!places->derives || !winidea_is_written(handle))
    return WINIDEA_NO_HANDLE;
  const winidea_entry *const entry =
      winidea_entry_of(places->file, places->trace->dictionary->seed, handle);
  return entry == NULL ? WINIDEA_NO_HANDLE : entry->states;
}


/* The state that a variable has once a value has been written to it. */
static pf_status find_derived (winidea_places *places, uint32_t states,
                               int64_t value, winidea_entry *found) {
  const winidea_entry *const entry = state_with(places, states, value);
  if (entry == NULL)
    return add_unmapped(places, states, true, value, found);
  *found = *entry;
  return PF_OK;
}


static pf_status find_entry (winidea_places *places, uint32_t handle,
                             int64_t data, winidea_entry *found) {
  if (winidea_is_state(handle))
    return find_state(places, handle, data, found);
  const winidea_entry *const entry =
      winidea_entry_of(places->file, places->trace->dictionary->seed, handle);
  if (entry == NULL)
    return add_unmapped(places, handle, false, 0, found);
  *found = *entry;
  return PF_OK;
}


static bool grow_level (winidea_level *level, uint32_t index) {
  uint32_t size = level->size == 0 ? 64 : level->size;
  while (size <= index)
    size *= 2;
  uint32_t *const areas = realloc(level->areas, size * sizeof *areas);
  if (areas == NULL)
    return false;
  level->areas = areas;
  uint8_t *const readings = realloc(level->readings, size);
  if (readings == NULL)
    return false;
  level->readings = readings;
  for (uint32_t i = level->size; i < size; i++) {
    areas[i] = PF_NO_AREA;
    readings[i] = WINIDEA_UNSEEN;
  }
  level->size = size;
  return true;
}


static void place_slot (winidea_places *places, const winidea_place *place) {
  uint32_t i = winidea_slot(places, place->handle, place->data);
  while (places->slots[i].reading != WINIDEA_UNSEEN)
    i = (i + 1) & places->mask;
  places->slots[i] = *place;
}


static bool grow_slots (winidea_places *places) {
  winidea_place *const old = places->slots;
  const uint32_t count = old == NULL ? 0 : places->mask + 1;
  if (count > UINT32_MAX / 4)
    return false;
  const uint32_t size = count == 0 ? 64 : count * 2;
  places->slots = calloc(size, sizeof *places->slots);
  if (places->slots == NULL) {
    places->slots = old;
    return false;
  }
  places->mask = size - 1;
  for (uint32_t i = 0; i < count; i++)
    if (old[i].reading != WINIDEA_UNSEEN)
      place_slot(places, &old[i]);
  free(old);
  return true;
}


/* Keep what was found where it is looked for next time. */
static pf_status remember (winidea_places *places, const winidea_place *place) {
  const uint32_t index = place->handle & (WINIDEA_KIND_STEP - 1);
  if (!winidea_is_state(place->handle) && index < MAX_LEVEL &&
      place->reading != WINIDEA_STATED) {
    winidea_level *const level = &places->levels[winidea_kind(place->handle)];
    if (index >= level->size && !grow_level(level, index))
      return PF_ENOMEM;
    level->areas[index] = place->area;
    level->readings[index] = place->reading;
    return PF_OK;
  }
  if ((places->slots == NULL || places->count > places->mask / 2) &&
      !grow_slots(places))
    return PF_ENOMEM;
  places->count++;
  place_slot(places, place);
  return PF_OK;
}


/* Fill a place with what an entry says, and keep it if `is_kept`. */
static pf_status take_entry (winidea_places *places, const winidea_entry *entry,
                             bool is_kept, winidea_place *place) {
  const bool by_data = winidea_is_state(entry->handle);
  place->area = entry->area;
  place->reading = (uint8_t)entry->reading;
  if (by_data && !entry->has_value)
    place->reading = WINIDEA_NOTHING;
  else if (by_data)
    place->value = entry->value;
  else
    place->data = 0;
  const pf_status status = is_kept ? remember(places, place) : PF_OK;
  if (!by_data)
    place->value = place->data;
  return status;
}


pf_status winidea_meet (winidea_places *places, uint32_t handle, int64_t data,
                        winidea_place *place, pf_error *error) {
  winidea_entry entry;
  bool has_states = false;
  *place = (winidea_place){handle, PF_NO_AREA, data, data, WINIDEA_NOTHING};
  if (handle == WINIDEA_NO_HANDLE)
    return PF_OK;
  pthread_mutex_lock(&places->file->mutex);
  pf_status status = read_on(places, handle, data, error);
  const bool is_read = status == PF_OK;
  if (is_read) {
    status = find_entry(places, handle, data, &entry);
    has_states = derived_states(places, handle) != WINIDEA_NO_HANDLE;
  }
  pthread_mutex_unlock(&places->file->mutex);
  if (!is_read)
    return status;
  if (status == PF_OK)
    status = take_entry(places, &entry, !has_states, place);
  if (!winidea_is_state(handle))
    place->value = data;
  return status == PF_OK ? PF_OK : winidea_no_memory(error);
}


/* The whole number that was written to a variable; false: it was none. */
static bool whole_value (const winidea_places *places, uint32_t handle,
                         winidea_value kind, int64_t *value) {
  const winidea_entry *const entry =
      winidea_entry_of(places->file, places->trace->dictionary->seed, handle);
  double number;
  if (kind != WINIDEA_VALUE_DOUBLE &&
      (kind != WINIDEA_VALUE_BITS || entry == NULL ||
       entry->reading != WINIDEA_DOUBLE))
    return true;
  memcpy(&number, value, sizeof number);
  if (!(number >= -WHOLE_DOUBLE && number <= WHOLE_DOUBLE))
    return false;
  *value = (int64_t)number;
  return (double)*value == number;
}


pf_status winidea_meet_write (winidea_places *places, uint32_t handle,
                              int64_t data, winidea_value kind,
                              winidea_place *place, pf_error *error) {
  winidea_entry entry;
  int64_t value = data;
  uint32_t states = WINIDEA_NO_HANDLE;
  *place = (winidea_place){handle, PF_NO_AREA, data, data, WINIDEA_UNSEEN};
  pthread_mutex_lock(&places->file->mutex);
  pf_status status = read_on(places, handle, 0, error);
  const bool is_read = status == PF_OK;
  if (is_read && whole_value(places, handle, kind, &value))
    states = derived_states(places, handle);
  if (is_read && states != WINIDEA_NO_HANDLE)
    status = find_derived(places, states, value, &entry);
  pthread_mutex_unlock(&places->file->mutex);
  if (!is_read)
    return status;
  if (status == PF_OK && states != WINIDEA_NO_HANDLE)
    status = take_entry(places, &entry, true, place);
  return status == PF_OK ? PF_OK : winidea_no_memory(error);
}


void winidea_places_renew (winidea_places *places) {
  pthread_mutex_lock(&places->file->mutex);
  const uint32_t changes = places->file->areas.changes;
  pthread_mutex_unlock(&places->file->mutex);
  if (places->changes == changes)
    return;
  winidea_places_free(places);
  memset(places->levels, 0, sizeof places->levels);
  places->slots = NULL;
  places->mask = places->count = 0;
  places->changes = changes;
}


void winidea_places_free (winidea_places *places) {
  for (int i = 0; i < WINIDEA_KINDS; i++) {
    free(places->levels[i].areas);
    free(places->levels[i].readings);
  }
  free(places->slots);
}

/* }====== */
