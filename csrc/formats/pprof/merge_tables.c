/*
** merge_tables.c - interns the functions and mappings of a file, and
** finds the messages of its locations.
*/

#include "formats/pprof/merge.h"

#include <stdlib.h>
#include <string.h>

#include "model/base/memory.h"

#define PAGE 4096u /* sizes of mappings are compared in pages */


typedef struct table_reader {
  pprof_merged *merged;
  pf_trace *trace;
  const pprof_file *file;
  pprof_translation *translation;
} table_reader;


/* {====== Ids ====== */

typedef struct id_key {
  const pprof_id_map *map;
  uint64_t id;
} id_key;


static bool is_same_id (const void *context, uint32_t number) {
  const id_key *const w = context;
  return w->map->entries[number].id == w->id;
}


uint32_t pprof_find_id (const pprof_id_map *map, uint64_t id) {
  const id_key w = {map, id};
  const uint32_t at = pf_intern_table_find(&map->set, pf_mix(map->set.seed, id),
                                           is_same_id, &w);
  return at == PF_NOT_INTERNED ? 0 : map->entries[at].number;
}


/* Map an id to an entry number, unless it is mapped already or 0. Returns false
   if out of memory. */
static bool add_id (pprof_id_map *map, uint64_t id, uint32_t number) {
  if (id == 0 || pprof_find_id(map, id) != 0)
    return true;
  const bool ok =
      pf_intern_table_reserve(&map->set) &&
      pf_grow(&map->entries, &map->capacity, (size_t)map->set.count + 1);
  if (ok)
    map->entries[pf_intern_table_add(&map->set, pf_mix(map->set.seed, id))] =
        (pprof_id){id, number};
  return ok;
}


static void close_ids (pprof_id_map *map) {
  free(map->entries);
  pf_intern_table_free(&map->set);
}


/* Replace a string index by a name; "" becomes PF_NO_NAME. */
static pf_status to_name (const table_reader *t, uint64_t *text,
                          uint64_t offset, pf_error *error) {
  pf_bytes bytes;
  if (*text == 0) {
    *text = PF_NO_NAME;
    return PF_OK;
  }
  const pf_status status =
      pprof_string(t->trace, t->file, *text, offset, &bytes, error);
  if (status != PF_OK)
    return status;
  *text = bytes.size == 0 ? PF_NO_NAME : pf_intern(t->trace->dictionary, bytes);
  return *text == PF_NO_NAME && bytes.size > 0 ? pf_no_memory(error) : PF_OK;
}

/* }====== */


/* {====== Mappings ====== */

typedef struct mapping_key {
  const pprof_merged *merged;
  const pprof_mapping *mapping;
} mapping_key;


static uint64_t rounded_size (const pprof_mapping *m) {
  return (m->limit - m->start + PAGE - 1) / PAGE;
}


/* Returns the name id that identifies the mapped file: that of the build id if
   it is known, else that of the file name. */
static uint64_t identity (const pprof_mapping *m) {
  return m->build_id != PF_NO_NAME ? m->build_id : m->file;
}


static bool is_same_mapping (const void *context, uint32_t number) {
  const mapping_key *const w = context;
  const pprof_mapping *const known = &w->merged->mappings[number];
  return rounded_size(known) == rounded_size(w->mapping) &&
         known->offset == w->mapping->offset &&
         identity(known) == identity(w->mapping);
}


uint32_t pprof_intern_mapping (pprof_merged *m, const pprof_mapping *mapping) {
  const mapping_key w = {m, mapping};
  uint64_t hash = pf_mix(m->mapping_set.seed, rounded_size(mapping));
  hash = pf_mix(pf_mix(hash, mapping->offset), identity(mapping));
  const uint32_t known =
      pf_intern_table_find(&m->mapping_set, hash, is_same_mapping, &w);
  if (known != PF_NOT_INTERNED)
    return known + 1;
  if (!pf_intern_table_reserve(&m->mapping_set) ||
      !pf_grow(&m->mappings, &m->mapping_capacity,
               (size_t)m->mapping_set.count + 1))
    return 0;
  m->mappings[m->mapping_set.count] = *mapping;
  return pf_intern_table_add(&m->mapping_set, hash) + 1;
}


/* Append a mapping of the file. Returns false if out of memory. */
static bool push_mapping (pprof_translation *t, const pprof_mapping *mapping) {
  if (!pf_grow(&t->mappings, &t->mapping_capacity, (size_t)t->nmappings + 1))
    return false;
  t->mappings[t->nmappings] = *mapping;
  t->mappings[t->nmappings++].id = 0;
  return add_id(&t->mapping_ids, mapping->id, t->nmappings);
}


static pf_status add_mapping (table_reader *t, const pprof_field *message,
                              pf_error *error) {
  pprof_mapping mapping;
  pprof_read_mapping(message->bytes, &mapping);
  pf_status status = to_name(t, &mapping.file, message->at, error);
  if (status == PF_OK)
    status = to_name(t, &mapping.build_id, message->at, error);
  if (status == PF_OK && !push_mapping(t->translation, &mapping))
    status = pf_no_memory(error);
  return status;
}


/* Add a mapping without address and name for all locations of a file that
   states no mapping while other files do, so that they are not equal to
   locations of known programs. */
static bool add_unknown_mapping (pprof_translation *t) {
  const pprof_mapping unknown = {.file = PF_NO_NAME, .build_id = PF_NO_NAME};
  return push_mapping(t, &unknown);
}


/* The first mapping of the first file that has one is the main program and
   stays the first of the merged profile. */
static bool merge_main_mapping (pprof_merged *m, pprof_translation *t) {
  if (m->mapping_set.count > 0 || t->nmappings == 0)
    return true;
  t->mappings[0].id = pprof_intern_mapping(m, &t->mappings[0]);
  return t->mappings[0].id != 0;
}


pf_status pprof_merge_unused_mappings (pprof_merged *m, pprof_translation *t,
                                       pf_error *error) {
  for (uint32_t i = 0; i < t->nmappings; i++)
    if (t->mappings[i].id == 0 && pprof_intern_mapping(m, &t->mappings[i]) == 0)
      return pf_no_memory(error);
  return PF_OK;
}

/* }====== */


/* {====== Functions ====== */

typedef struct function_key {
  const pprof_merged *merged;
  const pprof_function_message *function;
} function_key;


static bool is_same_function (const void *context, uint32_t number) {
  const function_key *const w = context;
  const pprof_function_message *const known = &w->merged->functions[number];
  return known->name == w->function->name &&
         known->system_name == w->function->system_name &&
         known->file == w->function->file &&
         known->start_line == w->function->start_line;
}


/* Returns the entry number of a function, or 0 if out of memory. */
static uint32_t intern_function (pprof_merged *m,
                                 const pprof_function_message *function) {
  const function_key w = {m, function};
  uint64_t hash =
      pf_mix(m->function_set.seed, function->name | function->file << 32);
  hash = pf_mix(hash, function->system_name);
  hash = pf_mix(hash, (uint64_t)function->start_line);
  const uint32_t known =
      pf_intern_table_find(&m->function_set, hash, is_same_function, &w);
  if (known != PF_NOT_INTERNED)
    return known + 1;
  if (!pf_intern_table_reserve(&m->function_set) ||
      !pf_grow(&m->functions, &m->function_capacity,
               (size_t)m->function_set.count + 1))
    return 0;
  m->functions[m->function_set.count] = *function;
  return pf_intern_table_add(&m->function_set, hash) + 1;
}


static pf_status add_function (table_reader *t, const pprof_field *message,
                               pf_error *error) {
  pprof_function_message f;
  pprof_read_function(message->bytes, &f);
  pf_status status = to_name(t, &f.name, message->at, error);
  if (status == PF_OK)
    status = to_name(t, &f.system_name, message->at, error);
  if (status == PF_OK)
    status = to_name(t, &f.file, message->at, error);
  if (status != PF_OK)
    return status;
  if (f.system_name != PF_NO_NAME || f.start_line != 0)
    t->merged->is_sorted = false; /* profio does not write these */
  const uint32_t number = intern_function(t->merged, &f);
  return number != 0 && add_id(&t->translation->function_ids, f.id, number)
             ? PF_OK
             : pf_no_memory(error);
}

/* }====== */


/* Store the message of a location; of equal ids the first is kept. */
static void add_location (table_reader *t, const pprof_field *message) {
  pf_cursor c = pf_cursor_over(message->bytes, false);
  pprof_field field;
  uint64_t id = 0;
  while (pprof_next_field(&c, &field))
    if (field.number == 1)
      id = field.value;
  const uint32_t number = pprof_find_location(t->file, id);
  if (number != UINT32_MAX && t->translation->messages[number].at == NULL)
    t->translation->messages[number] = message->bytes;
}


/* Add all messages with a field number. */
static pf_status add_all (table_reader *t, uint64_t number, pf_error *error) {
  pprof_meta_cursor meta = {0};
  pprof_field field;
  pf_status status = PF_OK;
  while (status == PF_OK && pprof_next_meta(t->file, &meta, &field)) {
    if (field.number != number || field.wire != PPROF_BYTES)
      continue;
    if (number == PPROF_MAPPING)
      status = add_mapping(t, &field, error);
    else if (number == PPROF_FUNCTION)
      status = add_function(t, &field, error);
    else
      add_location(t, &field);
  }
  return status;
}


pf_status pprof_read_tables (pprof_merged *m, pf_trace *trace,
                             pprof_translation *translation, pf_error *error) {
  table_reader t = {m, trace, trace->state, translation};
  const size_t count = (size_t)t.file->nlocations + 1;
  translation->nlocations = t.file->nlocations;
  translation->locations = calloc(count, sizeof *translation->locations);
  translation->messages = calloc(count, sizeof *translation->messages);
  translation->mapping_ids.set.seed = translation->function_ids.set.seed =
      m->dictionary->seed;
  if (translation->locations == NULL || translation->messages == NULL)
    return pf_no_memory(error);
  pf_status status = add_all(&t, PPROF_MAPPING, error);
  if (status == PF_OK && ((m->has_mappings && translation->nmappings == 0 &&
                           !add_unknown_mapping(translation)) ||
                          !merge_main_mapping(m, translation)))
    status = pf_no_memory(error);
  if (status == PF_OK)
    status = add_all(&t, PPROF_FUNCTION, error);
  if (status == PF_OK)
    status = add_all(&t, PPROF_LOCATION, error);
  return status;
}


void pprof_translation_close (pprof_translation *t) {
  close_ids(&t->function_ids);
  close_ids(&t->mapping_ids);
  free(t->mappings);
  free(t->messages);
  free(t->locations);
  free(t->types);
  free(t->factors);
}
