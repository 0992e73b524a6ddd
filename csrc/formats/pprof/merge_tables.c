/*
** merge_tables.c - interns the functions, mappings and locations of files.
** If files are not sorted, locations are added when a sample refers to them for
** the first time, as in Go's pprof, because of equal mappings the first one
** determines the addresses. The pprof_merged and the pprof_translation own all
** arrays.
*/

#include "formats/pprof/merge.h"

#include <stdlib.h>
#include <string.h>

#include "model/base/memory.h"
#include "model/contexts/tree_order.h"

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


/* Search key of an id. */
typedef struct id_key {
  const pprof_translation *translation;
  uint64_t id;
} id_key;


static bool is_same_id (const void *context, uint32_t number) {
  const id_key *const w = context;
  return w->translation->mappings[number].stated.id == w->id;
}


/* Returns the entry number of a mapping of the file by its id, or 0. */
static uint32_t find_mapping (const pprof_translation *t, uint64_t id) {
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
  if (mapping->id != 0 && find_mapping(t, mapping->id) == 0)
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
  const uint32_t number = pprof_find_id(&t->file->function_ids, f.id);
  if (number == PF_NO_ID || t->functions[number] != 0)
    return PF_OK; /* of equal ids the first is kept */
  f.id = 0;       /* equal functions of several files are one */
  t->functions[number] =
      1 + pf_intern_element(&m->function_set, &m->functions,
                            &m->function_capacity, &f, sizeof f);
  return t->functions[number] != 0 ? PF_OK : pf_no_memory(error);
}


typedef struct location_key {
  const pprof_merged *merged;
  const pprof_merged_location *location;
} location_key;


static bool is_same_location (const void *context, uint32_t number) {
  const location_key *const w = context;
  const pprof_merged_location *const a = &w->merged->locations[number],
                                     *const b = w->location;
  return a->mapping == b->mapping && a->address == b->address &&
         a->nlines == b->nlines && a->is_folded == b->is_folded &&
         memcmp(w->merged->lines + a->first, w->merged->lines + b->first,
                a->nlines * sizeof(pprof_line)) == 0;
}


static uint64_t hash_of_location (const pprof_merged *m,
                                  const pprof_merged_location *l) {
  uint64_t hash = pf_mix(m->location_set.seed, l->address);
  hash = pf_mix(hash, l->mapping | (uint64_t)l->is_folded << 32);
  return pf_mix_bytes(hash, m->lines + l->first, l->nlines * sizeof *m->lines);
}


/* Returns the entry number of a location, or 0 if out of memory. Its lines must
   be the last ones in the array; they are removed if the location is known. */
static uint32_t intern_location (pprof_merged *m,
                                 const pprof_merged_location *location) {
  const location_key w = {m, location};
  const uint64_t hash = hash_of_location(m, location);
  const uint32_t known =
      pf_intern_table_find(&m->location_set, hash, is_same_location, &w);
  if (known != PF_NOT_INTERNED) {
    m->nlines = location->first;
    return known + 1;
  }
  if (!pf_intern_table_reserve(&m->location_set) ||
      !pf_grow(&m->locations, &m->location_capacity,
               (size_t)m->location_set.count + 1))
    return 0;
  m->locations[m->location_set.count] = *location;
  return pf_intern_table_add(&m->location_set, hash) + 1;
}


/* Append a line of the location that is being read. */
static bool add_line (pprof_merged *m, const pprof_translation *t,
                      pf_bytes message) {
  pprof_line line;
  pprof_read_message(message, &line, sizeof line);
  const uint32_t function =
      pprof_find_id(&t->file->function_ids, line.function);
  line.function = function == PF_NO_ID ? 0 : t->functions[function];
  const bool ok = m->nlines < UINT32_MAX - 1 &&
                  pf_grow(&m->lines, &m->line_capacity, (size_t)m->nlines + 1);
  if (ok)
    m->lines[m->nlines++] = line;
  return ok;
}


/* Read a location; its mapping is an entry number. The array of lines exists
   then, even if no location has one. False if out of memory. */
static bool read_location (pprof_merged *m, const pprof_translation *t,
                           pf_bytes message, pprof_merged_location *location) {
  pf_cursor c = pf_cursor_over(message, false);
  pprof_field field;
  uint64_t mapping = 0;
  bool ok = pf_grow(&m->lines, &m->line_capacity, (size_t)m->nlines + 1);
  *location = (pprof_merged_location){.first = m->nlines};
  while (ok && pprof_next_field(&c, &field))
    switch (field.number) {
      case 2: mapping = field.value; break;
      case 3: location->address = field.value; break;
      case 4:
        if (field.wire == PPROF_BYTES)
          ok = add_line(m, t, field.bytes);
        break;
      case 5: location->is_folded = field.value != 0; break;
      default: break;
    }
  location->nlines = m->nlines - location->first;
  location->mapping = find_mapping(t, mapping);
  return ok;
}


/* Returns the innermost frame of a location of a file. */
static uint32_t area_of (const pprof_file *file, uint32_t number) {
  return file->frames[file->locations[number].first];
}


uint32_t pprof_merge_location (pprof_merged *m, pprof_translation *t,
                               uint32_t number) {
  pprof_merged_location location;
  if (t->locations[number] != 0)
    return t->locations[number];
  if (!read_location(m, t, t->file->locations[number].message, &location))
    return 0;
  if (t->nmappings == 1 && t->mapping_ids.count == 0) /* the unknown one */
    location.mapping = 1;
  if (location.mapping != 0) {
    /* The mapping and the address in it become those of the merged profile: a
       program may be loaded elsewhere in each run. */
    pprof_file_mapping *const mapping = &t->mappings[location.mapping - 1];
    if (mapping->merged == 0)
      mapping->merged = pprof_intern_mapping(m, &mapping->stated);
    if (mapping->merged == 0)
      return 0;
    location.mapping = mapping->merged;
    location.address +=
        m->mappings[mapping->merged - 1].first.start - mapping->stated.start;
  }
  location.area = area_of(t->file, number);
  t->locations[number] = intern_location(m, &location);
  return t->locations[number];
}


pf_status pprof_check_locations (pprof_merged *m, pprof_translation *t,
                                 pf_error *error) {
  m->is_sorted &= t->nmappings <= 1;
  for (uint32_t i = 0; i < t->file->nlocations && m->is_sorted; i++) {
    pprof_merged_location l;
    const bool ok = read_location(m, t, t->file->locations[i].message, &l);
    m->nlines = l.first;
    if (!ok)
      return pf_no_memory(error);
    /* profio writes one line or an address, sorted by frame */
    m->is_sorted =
        !l.is_folded &&
        (l.nlines == 0 ||
         (l.nlines == 1 && l.address == 0 && m->lines[l.first].column == 0)) &&
        (i == 0 || pf_frame_compare(m->dictionary, area_of(t->file, i - 1),
                                    area_of(t->file, i)) < 0);
  }
  return PF_OK;
}


pf_status pprof_read_tables (pprof_merged *m, pprof_translation *t,
                             pf_error *error) {
  pprof_meta_cursor meta = {.wanted = PPROF_BIT(PPROF_MAPPING) |
                                      PPROF_BIT(PPROF_FUNCTION)};
  pprof_field field;
  pf_status status = PF_OK;
  t->functions = calloc((size_t)t->file->nfunctions + 1, sizeof *t->functions);
  t->locations = calloc((size_t)t->file->nlocations + 1, sizeof *t->locations);
  t->mapping_ids.seed = m->dictionary->seed;
  if (t->functions == NULL || t->locations == NULL)
    return pf_no_memory(error);
  while (status == PF_OK && pprof_next_meta(t->file, &meta, &field)) {
    if (field.wire != PPROF_BYTES)
      continue;
    if (field.number == PPROF_MAPPING)
      status = add_mapping(t, &field, error);
    else if (field.number == PPROF_FUNCTION)
      status = add_function(m, t, &field, error);
  }
  /* If a file states no mapping while others do, its locations get a mapping
     without address and name, so that they differ from those of known
     programs. */
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
  free(t->locations);
  free(t->types);
  free(t->factors);
}
