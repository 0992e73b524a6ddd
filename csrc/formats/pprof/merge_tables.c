/*
** merge_tables.c - interns the functions and mappings of a file, and
** finds the messages of its locations.
*/

#include "formats/pprof/merge.h"

#include <stdlib.h>
#include <string.h>

#include "model/base/memory.h"

#define PAGE 4096u /* sizes of mappings are compared in pages */


/* Replace string indexes by names; "" becomes PF_NO_NAME. */
static pf_status to_names (pf_trace *trace, uint64_t *const *texts,
                           size_t count, uint64_t offset, pf_error *error) {
  for (size_t i = 0; i < count; i++) {
    uint32_t name;
    const pf_status status =
        pprof_name_or_none(trace, *texts[i], offset, &name, error);
    if (status != PF_OK)
      return status;
    *texts[i] = pf_name(trace->dictionary, name).size == 0 ? PF_NO_NAME : name;
  }
  return PF_OK;
}


/* {====== Mappings ====== */

/* Search key of an id. */
typedef struct id_key {
  const pprof_translation *translation;
  uint64_t id;
} id_key;


static bool is_same_id (const void *context, uint32_t number) {
  const id_key *const w = context;
  return w->translation->mappings[number].stated.id == w->id;
}


uint32_t pprof_find_mapping (const pprof_translation *t, uint64_t id) {
  const id_key w = {t, id};
  return 1 + pf_intern_table_find(&t->mapping_ids,
                                  pf_mix(t->mapping_ids.seed, id), is_same_id,
                                  &w); /* PF_NOT_INTERNED becomes 0 */
}


uint32_t pprof_intern_mapping (pprof_merged *m, const pprof_mapping *mapping) {
  const pprof_merged_mapping entry = {
      .pages = (mapping->limit - mapping->start + PAGE - 1) / PAGE,
      .offset = mapping->offset,
      .file =
          mapping->build_id != PF_NO_NAME ? mapping->build_id : mapping->file,
      .first = *mapping};
  return 1 + pf_intern_element(&m->mapping_set, &m->mappings,
                               &m->mapping_capacity, &entry,
                               offsetof(pprof_merged_mapping, first));
}


/* Append a mapping of the file. Returns false if out of memory. */
static bool push_mapping (pprof_translation *t, const pprof_mapping *mapping) {
  if (!pf_grow(&t->mappings, &t->mapping_capacity, (size_t)t->nmappings + 1) ||
      !pf_intern_table_reserve(&t->mapping_ids))
    return false;
  t->mappings[t->nmappings] = (pprof_file_mapping){*mapping, 0};
  if (mapping->id != 0 && pprof_find_mapping(t, mapping->id) == 0)
    pf_intern_table_put(&t->mapping_ids,
                        pf_mix(t->mapping_ids.seed, mapping->id), t->nmappings);
  t->nmappings++;
  return true;
}


static pf_status add_mapping (pprof_translation *t, const pprof_field *message,
                              pf_error *error) {
  pprof_mapping mapping;
  pprof_read_message(message->bytes, &mapping, sizeof mapping);
  uint64_t *const texts[] = {&mapping.file, &mapping.build_id};
  pf_status status = to_names(t->trace, texts, 2, message->at, error);
  if (status == PF_OK && !push_mapping(t, &mapping))
    status = pf_no_memory(error);
  return status;
}

/* }====== */


/* {====== Functions ====== */

static pf_status add_function (pprof_merged *m, pprof_translation *t,
                               const pprof_field *message, pf_error *error) {
  pprof_function_message f;
  pprof_read_message(message->bytes, &f, sizeof f);
  uint64_t *const texts[] = {&f.name, &f.system_name, &f.file};
  const pf_status status = to_names(t->trace, texts, 3, message->at, error);
  if (status != PF_OK)
    return status;
  if (f.system_name != PF_NO_NAME || f.start_line != 0)
    m->is_sorted = false; /* profio does not write these */
  const uint32_t number = pf_id_table_find(&t->file->function_ids, f.id);
  if (number == PF_NO_ID || t->functions[number] != 0)
    return PF_OK; /* of equal ids the first is kept */
  f.id = 0;       /* equal functions of several files are one */
  t->functions[number] =
      1 + pf_intern_element(&m->function_set, &m->functions,
                            &m->function_capacity, &f, sizeof f);
  return t->functions[number] != 0 ? PF_OK : pf_no_memory(error);
}

/* }====== */


/* Store the message of a location; of equal ids the first is kept. */
static void add_location (pprof_translation *t, const pprof_field *message) {
  pf_cursor c = pf_cursor_over(message->bytes, false);
  pprof_field field;
  uint64_t id = 0;
  while (pprof_next_field(&c, &field))
    if (field.number == 1)
      id = field.value;
  const uint32_t number = pf_id_table_find(&t->file->location_ids, id);
  if (number != PF_NO_ID && t->messages[number].at == NULL)
    t->messages[number] = message->bytes;
}


pf_status pprof_read_tables (pprof_merged *m, pprof_translation *t,
                             pf_error *error) {
  pprof_meta_cursor meta = {0};
  pprof_field field;
  pf_status status = PF_OK;
  t->functions = calloc((size_t)t->file->nfunctions + 1, sizeof *t->functions);
  t->locations = calloc((size_t)t->file->nlocations + 1, sizeof *t->locations);
  t->messages = calloc((size_t)t->file->nlocations + 1, sizeof *t->messages);
  t->mapping_ids.seed = m->dictionary->seed;
  if (t->functions == NULL || t->locations == NULL || t->messages == NULL)
    return pf_no_memory(error);
  while (status == PF_OK && pprof_next_meta(t->file, &meta, &field)) {
    if (field.wire != PPROF_BYTES)
      continue;
    if (field.number == PPROF_MAPPING)
      status = add_mapping(t, &field, error);
    else if (field.number == PPROF_FUNCTION)
      status = add_function(m, t, &field, error);
    else if (field.number == PPROF_LOCATION)
      add_location(t, &field);
  }
  /* All locations of a file that states no mapping while other files do get a
     mapping without address and name, so that they are not equal to locations
     of known programs. */
  const pprof_mapping unknown = {.file = PF_NO_NAME, .build_id = PF_NO_NAME};
  if (status == PF_OK && m->has_mappings && t->nmappings == 0 &&
      !push_mapping(t, &unknown))
    status = pf_no_memory(error);
  /* The first mapping of the first file that has one is the main program and
     stays the first of the merged profile. */
  if (status == PF_OK && m->mapping_set.count == 0 && t->nmappings > 0) {
    t->mappings[0].merged = pprof_intern_mapping(m, &t->mappings[0].stated);
    if (t->mappings[0].merged == 0)
      status = pf_no_memory(error);
  }
  return status;
}


void pprof_translation_close (pprof_translation *t) {
  pf_intern_table_free(&t->mapping_ids);
  free(t->mappings);
  free(t->functions);
  free(t->messages);
  free(t->locations);
  free(t->types);
  free(t->factors);
}
