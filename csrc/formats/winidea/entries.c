/*
** entries.c - the list of a file's areas: entries by handle, and entries of
** states by handle and value.
*/

#include <stdlib.h>

#include "formats/winidea/winidea.h"

typedef struct sought {
  const winidea_areas *areas;
  uint32_t handle;
  bool has_value;
  int64_t value;
} sought;


static bool is_head (const void *context, uint32_t number) {
  const sought *const s = context;
  return s->areas->head_list[number].handle == s->handle;
}


static bool is_state (const void *context, uint32_t number) {
  const sought *const s = context;
  const winidea_entry *const entry =
      &s->areas->list[s->areas->state_list[number]];
  return entry->handle == s->handle && entry->has_value == s->has_value &&
         entry->value == s->value;
}


static uint64_t hash_of (uint64_t seed, uint32_t handle, int64_t value) {
  return pf_mix(pf_mix(seed, handle), (uint64_t)value);
}


winidea_head *winidea_head_of (const winidea_areas *areas, uint64_t seed,
                               uint32_t handle) {
  const sought s = {areas, handle, false, 0};
  const uint32_t known =
      pf_interned_find(&areas->heads, hash_of(seed, handle, 0), is_head, &s);
  return known == PF_NOT_INTERNED ? NULL : &areas->head_list[known];
}


const winidea_entry *winidea_state_of (const winidea_areas *areas,
                                       uint64_t seed, uint32_t handle,
                                       bool has_value, int64_t value) {
  const sought s = {areas, handle, has_value, value};
  const uint32_t known = pf_interned_find(
      &areas->states, hash_of(seed, handle, value), is_state, &s);
  return known == PF_NOT_INTERNED ? NULL
                                  : &areas->list[areas->state_list[known]];
}


/* Make `list` as long as the room of the table beside it. */
static void *follow (void *list, uint32_t *room, const pf_interned *table,
                     size_t size) {
  if (*room == table->room)
    return list;
  void *const longer = realloc(list, table->room * size);
  if (longer != NULL)
    *room = table->room;
  return longer;
}


static bool reserve_heads (winidea_areas *areas) {
  if (!pf_interned_reserve(&areas->heads))
    return false;
  winidea_head *const list =
      follow(areas->head_list, &areas->head_room, &areas->heads, sizeof *list);
  areas->head_list = list == NULL ? areas->head_list : list;
  return list != NULL;
}


static bool reserve_states (winidea_areas *areas) {
  if (!pf_interned_reserve(&areas->states))
    return false;
  uint32_t *const list = follow(areas->state_list, &areas->state_room,
                                &areas->states, sizeof *list);
  areas->state_list = list == NULL ? areas->state_list : list;
  return list != NULL;
}


static bool reserve_entry (winidea_areas *areas) {
  if (areas->count < areas->room)
    return true;
  if (areas->room > UINT32_MAX / 4)
    return false;
  const uint32_t room = areas->room == 0 ? 64 : areas->room * 2;
  winidea_entry *const list = realloc(areas->list, room * sizeof *list);
  if (list == NULL)
    return false;
  areas->list = list;
  areas->room = room;
  return true;
}


static bool is_new_state (const winidea_areas *areas, uint64_t seed,
                          const winidea_entry *entry) {
  return winidea_is_state(entry->handle) &&
         winidea_state_of(areas, seed, entry->handle, entry->has_value,
                          entry->value) == NULL;
}


/* The head of a handle, made when there is none; there is room. */
static winidea_head *get_head (winidea_areas *areas, uint64_t seed,
                               uint32_t handle) {
  winidea_head *const list = areas->head_list;
  winidea_head *const known = winidea_head_of(areas, seed, handle);
  if (known != NULL || list == NULL)
    return known;
  const uint32_t number =
      pf_interned_add(&areas->heads, hash_of(seed, handle, 0));
  list[number] = (winidea_head){handle, WINIDEA_NO_ENTRY, 0, WINIDEA_NO_ENTRY};
  return &list[number];
}


/* A row of the mapping stands for a state that was met before it came. */
static void replace_state (winidea_areas *areas, uint64_t seed,
                           uint32_t number) {
  const winidea_entry *const entry = &areas->list[number];
  const sought s = {areas, entry->handle, entry->has_value, entry->value};
  if (!entry->is_mapped || !winidea_is_state(entry->handle))
    return;
  const uint32_t known = pf_interned_find(
      &areas->states, hash_of(seed, entry->handle, entry->value), is_state, &s);
  if (!areas->list[areas->state_list[known]].is_mapped)
    areas->state_list[known] = number;
}


pf_status winidea_entry_add (winidea_file *file, uint64_t seed,
                             const winidea_entry *entry) {
  winidea_areas *const areas = &file->areas;
  if (!reserve_heads(areas) || !reserve_states(areas) || !reserve_entry(areas))
    return PF_ENOMEM;
  const uint32_t number = areas->count;
  winidea_head *const head = get_head(areas, seed, entry->handle);
  if (head == NULL)
    return PF_ENOMEM;
  if (head->entry == WINIDEA_NO_ENTRY ||
      (areas->is_mapping && !areas->list[head->entry].is_mapped))
    head->entry = number;
  const bool is_new = is_new_state(areas, seed, entry);
  areas->list[areas->count++] = *entry;
  areas->list[number].is_mapped = areas->is_mapping;
  areas->mapped += areas->is_mapping;
  if (!is_new) {
    replace_state(areas, seed, number);
    return PF_OK;
  }
  head->count += areas->is_mapping && entry->has_value;
  areas->state_list[areas->states.count] = number;
  pf_interned_add(&areas->states, hash_of(seed, entry->handle, entry->value));
  return PF_OK;
}


const winidea_entry *winidea_entry_of (const winidea_file *file, uint64_t seed,
                                       uint32_t handle) {
  const winidea_head *const head = winidea_head_of(&file->areas, seed, handle);
  return head == NULL || head->entry == WINIDEA_NO_ENTRY
             ? NULL
             : &file->areas.list[head->entry];
}


pf_status winidea_own_states (winidea_file *file, uint64_t seed,
                              uint32_t variable, uint32_t handle) {
  winidea_areas *const areas = &file->areas;
  winidea_head *const head =
      reserve_heads(areas) ? get_head(areas, seed, handle) : NULL;
  if (head == NULL)
    return PF_ENOMEM;
  if (head->variable == WINIDEA_NO_ENTRY)
    head->variable = variable;
  if (areas->list[variable].states == WINIDEA_NO_HANDLE)
    areas->list[variable].states = handle;
  return PF_OK;
}


void winidea_areas_free (winidea_areas *areas) {
  pf_interned_free(&areas->heads);
  pf_interned_free(&areas->states);
  free(areas->list);
  free(areas->head_list);
  free(areas->state_list);
}
