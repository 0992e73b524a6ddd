/*
** merge_write.c - writes a merged profile. encode_pprof.c calls
** pprof_merged_write once, because it changes the header and the lines of the
** pprof_merged. It frees its own tables before it returns.
*/

#include "formats/pprof/merge.h"

#include <stdlib.h>

typedef struct merged_writer {
  pprof_merged *merged;
  pf_sink *sink;
  pprof_strings strings;
  uint32_t *ids;       /* output id by location index, 0: unused */
  uint32_t *locations; /* location index by output id - 1 */
  uint32_t nlocations;
  uint32_t *functions, *mappings; /* output ids by index, 0: not written yet */
  uint32_t *used; /* index of a mapping or function by output id - 1 */
  uint8_t *bytes; /* scratch: packed locations and values of a sample */
} merged_writer;


/* Set values[4] to the fields 1 to 4 of a label. */
static void get_fields (merged_writer *w, const uint32_t *label,
                        uint64_t *values) {
  values[0] = pprof_string_index(&w->strings, label[LABEL_KEY]);
  values[1] = pprof_string_index(&w->strings, label[LABEL_TEXT]);
  values[2] = label[LABEL_LOW] | (uint64_t)label[LABEL_HIGH] << 32;
  values[3] = pprof_string_index(&w->strings, label[LABEL_UNIT]);
}


static void put_sample (merged_writer *w, const pprof_sample *sample) {
  const pprof_merged *const m = w->merged;
  const uint32_t *const record = sample->record;
  const uint32_t count = record[RECORD_LOCATIONS];
  const uint32_t *const labels = record + RECORD_HEADER + count;
  const uint32_t *const end =
      labels + (size_t)record[RECORD_LABELS] * LABEL_WORDS;
  uint64_t values[4];
  size_t labels_size = 0;
  uint8_t *to = w->bytes;
  for (uint32_t i = 0; i < count; i++)
    to = pf_save_varint(to, w->ids[record[RECORD_HEADER + i] - 1]);
  const size_t ids = (size_t)(to - w->bytes);
  for (size_t t = 0; t < m->ntypes; t++)
    to = pf_save_varint(to, (uint64_t)sample->values[t]);
  for (const uint32_t *label = labels; label < end; label += LABEL_WORDS) {
    get_fields(w, label, values);
    const size_t size = pprof_numbers_size(values, 4);
    labels_size += 1 + pprof_varint_size(size) + size;
  }
  pprof_put_sample(w->sink, (pf_bytes){w->bytes, ids},
                   (pf_bytes){w->bytes + ids, (size_t)(to - w->bytes) - ids},
                   labels_size);
  for (const uint32_t *label = labels; label < end; label += LABEL_WORDS) {
    get_fields(w, label, values);
    pprof_put_numbers(w->sink, 3, values, 4);
  }
}


/* Give entry `at` the next output id, unless it has one. */
static void assign_id (uint32_t *ids, uint32_t *used, uint32_t *count,
                       uint64_t at) {
  if (ids[at] != 0)
    return;
  used[*count] = (uint32_t)at;
  ids[at] = ++*count;
}


/* Give output ids to the locations in use: in sorted order if the files are
   sorted, else in order of their first use. */
static void assign_location_ids (merged_writer *w) {
  const pprof_merged *const m = w->merged;
  for (uint32_t i = 0; i < m->nsamples; i++) {
    const uint32_t *const record = m->samples[i].record;
    for (uint32_t l = 0; l < record[RECORD_LOCATIONS]; l++)
      assign_id(w->ids, w->locations, &w->nlocations,
                record[RECORD_HEADER + l] - 1);
  }
  if (!m->is_sorted)
    return;
  w->nlocations = 0;
  for (uint32_t i = 0; i < m->location_set.count; i++)
    if (w->ids[i] != 0) {
      w->locations[w->nlocations++] = i;
      w->ids[i] = w->nlocations;
    }
}


/* Write the mappings: the main program first, then in the order of the
   locations that use them, then unused ones. */
static void put_mappings (merged_writer *w) {
  const pprof_merged *const m = w->merged;
  const uint32_t nmappings = m->mapping_set.count;
  uint32_t count = 0;
  if (nmappings > 0)
    assign_id(w->mappings, w->used, &count, 0);
  for (uint32_t i = 0; i < w->nlocations; i++) {
    const uint32_t mapping = m->locations[w->locations[i]].mapping;
    if (mapping != 0)
      assign_id(w->mappings, w->used, &count, mapping - 1);
  }
  for (uint32_t i = 0; i < nmappings; i++)
    assign_id(w->mappings, w->used, &count, i);
  for (uint32_t i = 0; i < count; i++) {
    pprof_mapping mapping = m->mappings[w->used[i]].first;
    mapping.id = i + 1u;
    pprof_put_record(w->sink, &w->strings, PPROF_MAPPING, &mapping);
  }
}


/* Write the locations and give output ids to the functions of their lines.
   Returns the number of these functions. */
static uint32_t put_locations (merged_writer *w) {
  pprof_merged *const m = w->merged;
  uint32_t nfunctions = 0;
  for (uint32_t i = 0; i < w->nlocations; i++) {
    const pprof_merged_location *const l = &m->locations[w->locations[i]];
    pprof_line *const lines = m->lines + l->first;
    for (uint32_t n = 0; n < l->nlines; n++)
      if (lines[n].function != 0) {
        const uint64_t function = lines[n].function - 1;
        assign_id(w->functions, w->used, &nfunctions, function);
        lines[n].function = w->functions[function];
      }
    const pprof_location_message message = {
        .id = i + 1u,
        .mapping = l->mapping == 0 ? 0 : w->mappings[l->mapping - 1],
        .address = l->address,
        .is_folded = l->is_folded,
        .lines = lines,
        .nlines = l->nlines};
    pprof_put_location(w->sink, &message);
  }
  return nfunctions;
}


static void put_all (merged_writer *w) {
  const pprof_merged *const m = w->merged;
  for (size_t t = 0; t < m->ntypes; t++)
    pprof_put_record(w->sink, &w->strings, PPROF_SAMPLE_TYPE, &m->types[t]);
  pprof_put_header(w->sink, &w->strings, &m->header);
  for (uint32_t i = 0; i < m->nsamples; i++)
    put_sample(w, &m->samples[i]);
  put_mappings(w);
  const uint32_t nfunctions = put_locations(w);
  for (uint32_t i = 0; i < nfunctions; i++) {
    pprof_function_message function = m->functions[w->used[i]];
    function.id = i + 1u;
    pprof_put_record(w->sink, &w->strings, PPROF_FUNCTION, &function);
  }
  pprof_put_strings(&w->strings, w->sink);
}


static bool allocate (merged_writer *w) {
  const pprof_merged *const m = w->merged;
  const size_t nfunctions = (size_t)m->function_set.count + 1;
  const size_t nmappings = (size_t)m->mapping_set.count + 1;
  uint32_t maximum = 0;
  for (uint32_t i = 0; i < m->nsamples; i++)
    if (m->samples[i].record[RECORD_LOCATIONS] > maximum)
      maximum = m->samples[i].record[RECORD_LOCATIONS];
  w->ids = calloc((size_t)m->location_set.count + 1, sizeof *w->ids);
  w->locations =
      calloc((size_t)m->location_set.count + 1, sizeof *w->locations);
  w->functions = calloc(nfunctions, sizeof *w->functions);
  w->mappings = calloc(nmappings, sizeof *w->mappings);
  w->used = calloc(nfunctions + nmappings, sizeof *w->used);
  w->bytes = malloc((maximum + m->ntypes + 1) * PF_VARINT_SIZE);
  return w->ids != NULL && w->locations != NULL && w->functions != NULL &&
         w->mappings != NULL && w->used != NULL && w->bytes != NULL;
}


pf_status pprof_merged_write (pprof_merged *m, const pprof_header *given,
                              pf_sink *sink, pf_error *error) {
  merged_writer w = {
      .merged = m, .sink = sink, .strings = {.dictionary = m->dictionary}};
  if (given->time_nanos != 0)
    m->header.time_nanos = given->time_nanos;
  if (given->duration_nanos != 0)
    m->header.duration_nanos = given->duration_nanos;
  if (given->period != 0)
    m->header.period = given->period;
  pf_status status = PF_OK;
  if (!allocate(&w))
    status = pf_no_memory(error);
  if (status == PF_OK) {
    assign_location_ids(&w);
    put_all(&w);
    status =
        w.strings.failed ? pf_no_memory(error) : pf_sink_flush(sink, error);
  }
  pprof_strings_close(&w.strings);
  free(w.ids);
  free(w.locations);
  free(w.functions);
  free(w.mappings);
  free(w.used);
  free(w.bytes);
  return status;
}
