/*
** merge_locations.c - interns locations. They are added when a sample
** refers to them for the first time, as in Go's pprof, because of equal
** mappings the first one determines the addresses.
*/

#include "formats/pprof/merge.h"

#include <stdlib.h>
#include <string.h>

#include "model/contexts/tree_order.h"
#include "model/base/memory.h"


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
      pf_id_table_find(&t->file->function_ids, line.function);
  line.function = function == PF_NO_ID ? 0 : t->functions[function];
  const bool ok = m->nlines < UINT32_MAX - 1 &&
                  pf_grow(&m->lines, &m->line_capacity, (size_t)m->nlines + 1);
  if (ok)
    m->lines[m->nlines++] = line;
  return ok;
}


/* Read a location; its mapping is an entry number of the file. Returns false if
   out of memory. */
static bool read_location (pprof_merged *m, const pprof_translation *t,
                           pf_bytes message, pprof_merged_location *location) {
  pf_cursor c = pf_cursor_over(message, false);
  pprof_field field;
  uint64_t mapping = 0;
  bool ok = true;
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
  location->mapping = pprof_find_mapping(t, mapping);
  return ok;
}


uint32_t pprof_merge_location (pprof_merged *m, pprof_translation *t,
                               uint32_t number) {
  const pprof_file *const file = t->file;
  pprof_merged_location location;
  if (t->locations[number] != 0)
    return t->locations[number];
  if (!read_location(m, t, t->messages[number], &location))
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
  location.area = file->frames[file->locations[number].first];
  t->locations[number] = intern_location(m, &location);
  return t->locations[number];
}


/* {====== Sorted files ====== */


/* Clear is_sorted if the locations of a file are not sorted by frame. */
static pf_status check_order (pprof_merged *m, const pprof_file *file,
                              pf_error *error) {
  const size_t nareas = pf_areas_count(m->dictionary);
  uint32_t *const ranks = malloc((nareas + 1) * sizeof *ranks);
  uint32_t *const areas =
      malloc(((size_t)file->nlocations + 1) * sizeof *areas);
  for (uint32_t i = 0; areas != NULL && i < file->nlocations; i++)
    areas[i] = file->frames[file->locations[i].first];
  const bool ok =
      areas != NULL && ranks != NULL &&
      pf_frames_rank(m->dictionary, areas, file->nlocations, ranks) == PF_OK;
  for (uint32_t i = 1; ok && i < file->nlocations; i++)
    m->is_sorted &= ranks[areas[i - 1]] < ranks[areas[i]];
  free(areas);
  free(ranks);
  return ok ? PF_OK : pf_no_memory(error);
}


pf_status pprof_check_locations (pprof_merged *m, pprof_translation *t,
                                 pf_error *error) {
  m->is_sorted &= t->nmappings <= 1;
  for (uint32_t i = 0; i < t->file->nlocations && m->is_sorted; i++) {
    pprof_merged_location l;
    const bool ok = read_location(m, t, t->messages[i], &l);
    m->nlines = l.first;
    if (!ok)
      return pf_no_memory(error);
    /* profio writes one line or an address */
    m->is_sorted =
        !l.is_folded && (l.nlines == 0 || (l.nlines == 1 && l.address == 0 &&
                                           m->lines[l.first].column == 0));
  }
  return m->is_sorted ? check_order(m, t->file, error) : PF_OK;
}

/* }====== */
