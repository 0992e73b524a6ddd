/*
** area_list.c - the list of areas of a file, with indices by handle and, for
** states, by handle and value; and their areas in the dictionary. Used by
** area_cache.c, mapping.c and open_winidea.c. The winidea_file owns the list;
** winidea_areas_free frees it.
*/

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/winidea/winidea.h"
#include "model/base/memory.h"
#include "model/dictionary/names.h"

const char *const winidea_class_names[WINIDEA_KINDS] = {
    "function", "line",      "variable",  "state",
    "aux",      "aux state", "inspector", "inspector state",
    "unknown",  "unknown",   "unknown",   "unknown",
    "unknown",  "unknown",   "unknown",   "unknown"};

typedef struct search_key {
  const winidea_areas *areas;
  uint32_t handle;
  bool has_value;
  int64_t value;
} search_key;


static bool is_state (const void *context, uint32_t number) {
  const search_key *const s = context;
  const winidea_entry *const entry =
      &s->areas->list[s->areas->state_list[number]];
  return entry->handle == s->handle && entry->has_value == s->has_value &&
         entry->value == s->value;
}


static uint64_t hash_of (const winidea_areas *areas, uint32_t handle,
                         int64_t value) {
  return pf_mix(pf_mix(areas->states.seed, handle), (uint64_t)value);
}


winidea_handle_info *winidea_find_handle (const winidea_areas *areas,
                                          uint32_t handle) {
  const uint32_t id = pf_id_table_find(&areas->handles, handle);
  return id == PF_NO_ID ? NULL : &areas->handle_list[id];
}


static uint32_t find_state (const winidea_areas *areas, uint32_t handle,
                            bool has_value, int64_t value) {
  const search_key s = {areas, handle, has_value, value};
  return pf_intern_table_find(&areas->states, hash_of(areas, handle, value),
                              is_state, &s);
}


const winidea_entry *winidea_find_state (const winidea_areas *areas,
                                         uint32_t handle, bool has_value,
                                         int64_t value) {
  const uint32_t known = find_state(areas, handle, has_value, value);
  return known == PF_NOT_INTERNED ? NULL
                                  : &areas->list[areas->state_list[known]];
}


/* Returns the entries of a handle, which may be new. NULL: out of memory. */
static winidea_handle_info *add_handle (winidea_areas *areas, uint32_t handle) {
  const uint32_t count = areas->handles.count;
  const uint64_t word = handle;
  uint32_t id;
  if (!pf_grow(&areas->handle_list, &areas->handles_capacity,
               (size_t)count + 1) ||
      pf_id_table_words(&areas->handles, &word, 1, &id) != PF_OK)
    return NULL;
  if (id == count)
    areas->handle_list[id] =
        (winidea_handle_info){WINIDEA_NO_ENTRY, 0, WINIDEA_NO_ENTRY};
  return &areas->handle_list[id];
}


pf_status winidea_add_entry (winidea_file *file, const winidea_entry *entry) {
  winidea_areas *const areas = &file->areas;
  if (!pf_intern_table_reserve(&areas->states) ||
      !pf_grow(&areas->state_list, &areas->states_capacity,
               (size_t)areas->states.count + 1) ||
      areas->count >= UINT32_MAX / 4 ||
      !pf_grow(&areas->list, &areas->capacity, (size_t)areas->count + 1))
    return PF_ENOMEM;
  const uint32_t number = areas->count;
  winidea_handle_info *const info = add_handle(areas, entry->handle);
  if (info == NULL)
    return PF_ENOMEM;
  if (info->entry == WINIDEA_NO_ENTRY ||
      (areas->is_mapping && !areas->list[info->entry].is_mapped))
    info->entry = number;
  areas->list[areas->count++] = *entry;
  areas->list[number].is_mapped = areas->is_mapping;
  areas->mapped += areas->is_mapping;
  if (!winidea_is_state(entry->handle))
    return PF_OK;
  const uint32_t known =
      find_state(areas, entry->handle, entry->has_value, entry->value);
  if (known == PF_NOT_INTERNED) {
    info->count += areas->is_mapping && entry->has_value;
    areas->state_list[areas->states.count] = number;
    pf_intern_table_add(&areas->states,
                        hash_of(areas, entry->handle, entry->value));
  }
  else if (areas->is_mapping &&
           !areas->list[areas->state_list[known]].is_mapped) {
    info->count += entry->has_value;
    areas->state_list[known] = number; /* an event has added the state before */
  }
  return PF_OK;
}


const winidea_entry *winidea_first_entry (const winidea_file *file,
                                          uint32_t handle) {
  const winidea_handle_info *const info =
      winidea_find_handle(&file->areas, handle);
  return info == NULL || info->entry == WINIDEA_NO_ENTRY
             ? NULL
             : &file->areas.list[info->entry];
}


pf_status winidea_set_states (winidea_file *file, uint32_t variable,
                              uint32_t handle) {
  winidea_areas *const areas = &file->areas;
  winidea_handle_info *const info = add_handle(areas, handle);
  if (info == NULL)
    return PF_ENOMEM;
  if (info->variable == WINIDEA_NO_ENTRY)
    info->variable = variable;
  if (areas->list[variable].states == WINIDEA_NO_HANDLE)
    areas->list[variable].states = handle;
  return PF_OK;
}


int64_t winidea_line_of (const winidea_entry *entry) {
  const unsigned kind = winidea_kind(entry->handle);
  const bool has_line = kind == WINIDEA_LINE ||
                        (kind == WINIDEA_FUNCTION && entry->file != PF_NO_NAME);
  return has_line && entry->has_value ? entry->value : 0;
}


/* Builds the name of an area that has none, or is a state: the name of its
   parent (without one, the handle), and its own name or value:
   "Task_A=RUNNING". */
static uint32_t build_name (pf_trace *trace, const winidea_entry *entry,
                            const winidea_entry *parent) {
  pf_dictionary *const names = trace->dictionary;
  const bool has_parent = parent != NULL && parent->name != PF_NO_NAME;
  const bool has_name = entry->name != PF_NO_NAME;
  if (has_name && !has_parent)
    return entry->name;
  const pf_bytes none = {NULL, 0};
  const pf_bytes of = has_parent ? pf_name(names, parent->name) : none;
  const pf_bytes own = has_name ? pf_name(names, entry->name) : none;
  char *const text = malloc(of.size + own.size + 40);
  if (text == NULL)
    return PF_NO_NAME;
  size_t size = of.size;
  if (size > 0)
    memcpy(text, of.at, size);
  else
    size = (size_t)snprintf(text, 40, "%08X", (unsigned)entry->handle);
  if (has_name) {
    text[size++] = '=';
    memcpy(text + size, own.at, own.size);
    size += own.size;
  }
  else if (entry->has_value)
    size += (size_t)snprintf(text + size, 24, "=%lld", (long long)entry->value);
  const pf_bytes name = {(const uint8_t *)text, size};
  const uint32_t number = pf_intern(names, name);
  free(text);
  return number;
}


pf_status winidea_build_area (pf_trace *trace, winidea_entry *entry) {
  const winidea_file *const file = trace->state;
  const winidea_entry *const parent = entry->parent == WINIDEA_NO_ENTRY
                                          ? NULL
                                          : &file->areas.list[entry->parent];
  pf_area area = PF_AREA_NONE;
  area.name = entry->name == PF_NO_NAME || winidea_is_state(entry->handle)
                  ? build_name(trace, entry, parent)
                  : entry->name;
  if (area.name == PF_NO_NAME)
    return PF_ENOMEM;
  area.class = file->classes[winidea_kind(entry->handle)];
  area.file = entry->file;
  area.parent = parent == NULL ? PF_NO_AREA : parent->area;
  area.has_handle = true;
  area.handle = entry->handle;
  area.line = winidea_line_of(entry);
  area.has_value =
      entry->has_value &&
      (area.line == 0 || winidea_kind(entry->handle) != WINIDEA_FUNCTION);
  area.value = area.has_value ? entry->value : 0;
  entry->area = pf_area_add(trace->dictionary, &area);
  return entry->area == PF_NO_AREA ? PF_ENOMEM : PF_OK;
}


void winidea_areas_free (winidea_areas *areas) {
  pf_id_table_free(&areas->handles);
  pf_intern_table_free(&areas->states);
  free(areas->list);
  free(areas->handle_list);
  free(areas->state_list);
}
