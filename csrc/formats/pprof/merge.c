/*
** merge.c - merges the attributes and sample types of traces, and calls
** the steps of a merge.
*/

#include "formats/pprof/merge.h"

#include <stdlib.h>
#include <string.h>

#include "model/contexts/contexts.h"
#include "model/base/memory.h"


pprof_merged *pprof_merged_new (pf_dictionary *dictionary) {
  pprof_merged *const m = calloc(1, sizeof *m);
  if (m == NULL)
    return NULL;
  m->dictionary = dictionary;
  m->is_sorted = true;
  m->mapping_set.seed = m->function_set.seed = m->location_set.seed =
      dictionary->seed;
  pprof_header_open(&m->header);
  return m;
}


void pprof_merged_free (pprof_merged *m) {
  if (m == NULL)
    return;
  pprof_header_close(&m->header);
  free(m->types);
  free(m->mappings);
  free(m->functions);
  free(m->locations);
  free(m->lines);
  pf_intern_table_free(&m->mapping_set);
  pf_intern_table_free(&m->function_set);
  pf_intern_table_free(&m->location_set);
  for (size_t i = 0; m->blocks != NULL && i <= PPROF_GROUP; i++)
    pprof_block_close(&m->blocks[i]);
  free(m->blocks);
  pprof_block_close(&m->unsorted);
  free(m->samples);
  free(m);
}


typedef struct stated_type {
  pprof_value_type names;
  pprof_unit unit;
} stated_type;

/* The sample types of a file in order, up to PPROF_MAX_TYPES. */
typedef struct stated_types {
  stated_type *types;
  size_t count;
} stated_types;


static pf_status read_type (pf_trace *trace, const pprof_field *message,
                            pprof_value_type *type, pf_error *error) {
  pprof_value_type stated;
  uint32_t name = PF_NO_NAME, unit = PF_NO_NAME;
  pprof_read_message(message->bytes, &stated, sizeof stated);
  pf_status status =
      pprof_name_or_none(trace, stated.type, message->at, &name, error);
  if (status == PF_OK)
    status = pprof_name_or_none(trace, stated.unit, message->at, &unit, error);
  *type = (pprof_value_type){name, unit};
  return status;
}


static pf_status read_header_field (pf_trace *trace, const pprof_field *field,
                                    pprof_header *header, pf_error *error) {
  pprof_numbers numbers = pprof_numbers_of(field);
  pf_status status = PF_OK;
  uint32_t comment, *name = NULL;
  if (field->number == PPROF_COMMENT)
    for (uint64_t n; status == PF_OK && pprof_next_number(&numbers, &n);) {
      status = pprof_name_or_none(trace, n, field->at, &comment, error);
      if (status == PF_OK && comment != PF_NO_NAME &&
          !pprof_header_comment(header, comment))
        status = pf_no_memory(error);
    }
  if (field->number == PPROF_PERIOD_TYPE && field->wire == PPROF_BYTES)
    return read_type(trace, field, &header->period_type, error);
  if (field->wire != PPROF_VARINT)
    return status;
  switch (field->number) {
    case PPROF_TIME_NANOS: header->time_nanos = (int64_t)field->value; break;
    case PPROF_DURATION_NANOS:
      header->duration_nanos = (int64_t)field->value;
      break;
    case PPROF_PERIOD: header->period = (int64_t)field->value; break;
    case PPROF_DROP_FRAMES: name = &header->drop_frames; break;
    case PPROF_KEEP_FRAMES: name = &header->keep_frames; break;
    case PPROF_DEFAULT_TYPE: name = &header->default_type; break;
    case PPROF_DOC_URL: name = &header->doc_url; break;
    default: break;
  }
  return name == NULL
             ? status
             : pprof_name_or_none(trace, field->value, field->at, name, error);
}


static pf_status read_header (pprof_merged *m, const pprof_translation *t,
                              pprof_header *header, stated_types *types,
                              pf_error *error) {
  pprof_meta_cursor meta = {.wanted = PPROF_HEADER};
  pprof_field field;
  pf_status status = PF_OK;
  types->types = calloc(t->file->ntypes + 1, sizeof *types->types);
  if (types->types == NULL)
    return pf_no_memory(error);
  while (status == PF_OK && pprof_next_meta(t->file, &meta, &field)) {
    m->has_mappings |=
        field.number == PPROF_MAPPING && field.wire == PPROF_BYTES;
    if (field.number != PPROF_SAMPLE_TYPE)
      status = read_header_field(t->trace, &field, header, error);
    else if (field.wire == PPROF_BYTES && types->count < t->file->ntypes) {
      stated_type *const type = &types->types[types->count++];
      status = read_type(t->trace, &field, &type->names, error);
      type->unit =
          pprof_unit_of(pf_name(m->dictionary, (uint32_t)type->names.unit));
    }
  }
  return status;
}


/* Whether two types can be added: equal names and convertible units. */
static bool are_addable (const stated_type *a, const stated_type *b) {
  return a->names.type == b->names.type &&
         (a->names.unit == b->names.unit ||
          (a->unit.family == b->unit.family &&
           a->unit.family != PPROF_NO_FAMILY));
}


/* The index of the nth type of a file that is addable to `type`, or
   SIZE_MAX. */
static size_t find_type (const stated_types *types, const stated_type *type,
                         size_t nth) {
  for (size_t i = 0; i < types->count; i++)
    if (are_addable(type, &types->types[i]) && nth-- == 0)
      return i;
  return SIZE_MAX;
}


/* Report the types of a file that are not merged. */
static pf_status note_unmerged_types (const pprof_merged *m,
                                      const stated_types *types,
                                      const pprof_translation *translation,
                                      pf_error *error) {
  bool *const used = calloc(types->count + 1, sizeof *used);
  pf_status status = PF_OK;
  if (used == NULL)
    return pf_no_memory(error);
  for (size_t t = 0; t < m->ntypes; t++)
    used[translation->types[t]] = true;
  for (size_t i = 0; status == PF_OK && i < types->count; i++) {
    if (used[i])
      continue;
    const pf_bytes name =
        pf_name(m->dictionary, (uint32_t)types->types[i].names.type);
    status =
        pf_warn(translation->trace, PF_NOTE, "pprof-types-differ",
                PF_EUNSUPPORTED, PF_NO_OFFSET, error,
                "sample type '%.*s' is left out of the merged profile: not all "
                "files have it",
                PF_SHOWN(name, 100));
  }
  free(used);
  return status;
}


/* Add type `t` of the first file to the merged types if all files have it, with
   the finest of their units. */
static void add_type (pprof_merged *m, const stated_types *stated, size_t t,
                      pprof_translation *translations) {
  const stated_type *finest = &stated[0].types[t];
  size_t nth = 0; /* types of equal name are matched in their order */
  for (size_t i = 0; i < t; i++)
    nth += are_addable(&stated[0].types[i], &stated[0].types[t]);
  for (size_t f = 0; f < m->nfiles; f++) {
    const size_t found = find_type(&stated[f], &stated[0].types[t], nth);
    if (found == SIZE_MAX)
      return;
    translations[f].types[m->ntypes] = found;
    if (stated[f].types[found].unit.size < finest->unit.size)
      finest = &stated[f].types[found];
  }
  for (size_t f = 0; f < m->nfiles; f++) {
    const size_t found = translations[f].types[m->ntypes];
    translations[f].factors[m->ntypes] =
        stated[f].types[found].unit.size / finest->unit.size;
  }
  m->types[m->ntypes++] = finest->names;
}


/* Merge the types that all files have, in the order of the first file. */
static pf_status merge_types (pprof_merged *m, const stated_types *stated,
                              pprof_translation *translations,
                              pf_error *error) {
  pf_status status = PF_OK;
  m->types = calloc(stated[0].count + 1, sizeof *m->types);
  if (m->types == NULL)
    return pf_no_memory(error);
  for (size_t f = 0; f < m->nfiles; f++) {
    translations[f].types = calloc(stated[0].count + 1, sizeof(size_t));
    translations[f].factors = calloc(stated[0].count + 1, sizeof(int64_t));
    if (translations[f].types == NULL || translations[f].factors == NULL)
      return pf_no_memory(error);
  }
  for (size_t t = 0; t < stated[0].count; t++)
    add_type(m, stated, t, translations);
  if (m->ntypes == 0 && stated[0].count > 0)
    return pf_refuse(error, "these profiles have no sample type in common: "
                            "merge those of one kind");
  for (size_t f = 0; f < m->nfiles && status == PF_OK; f++)
    status = note_unmerged_types(m, &stated[f], &translations[f], error);
  return status;
}


/* Refuse files that are sampled by different events. */
static pf_status check_period (const pprof_merged *m,
                               const pprof_header *header, pf_error *error) {
  const pprof_value_type *const a = &m->header.period_type,
                                *const b = &header->period_type;
  const pf_dictionary *const d = m->dictionary;
  const stated_type first = {*a, pprof_unit_of(pf_name(d, (uint32_t)a->unit))},
                    other = {*b, pprof_unit_of(pf_name(d, (uint32_t)b->unit))};
  if (a->type == PF_NO_NAME || b->type == PF_NO_NAME ||
      are_addable(&first, &other))
    return PF_OK;
  return pf_refuse(error,
                   "one profile is sampled by '%.60s', another by '%.60s': "
                   "merge those of one kind",
                   (const char *)pf_name(d, (uint32_t)a->type).at,
                   (const char *)pf_name(d, (uint32_t)b->type).at);
}


/* Merge attributes and sample types, and map the types of each file. */
static pf_status merge_headers (pprof_merged *m,
                                pprof_translation *translations,
                                pf_error *error) {
  const size_t count = m->nfiles;
  stated_types *const stated = calloc(count + 1, sizeof *stated);
  pf_status status = PF_OK;
  bool has_default = count <= 1;
  if (stated == NULL)
    return pf_no_memory(error);
  for (size_t f = 0; f < count && status == PF_OK; f++) {
    pprof_header header;
    pprof_header_open(&header);
    status = read_header(m, &translations[f], &header, &stated[f], error);
    if (status == PF_OK)
      status = check_period(m, &header, error);
    if (status == PF_OK &&
        !pprof_header_merge(&m->header, &header, f == 0, m->dictionary))
      status = pf_no_memory(error);
    pprof_header_close(&header);
  }
  if (status == PF_OK)
    status = merge_types(m, stated, translations, error);
  for (size_t t = 0; t < m->ntypes; t++)
    has_default |= m->types[t].type == m->header.default_type;
  if (!has_default)
    m->header.default_type = PF_NO_NAME;
  for (size_t f = 0; f < count; f++)
    free(stated[f].types);
  free(stated);
  return status;
}


bool pprof_block_reserve (pprof_block *b, size_t words, size_t ntypes) {
  const size_t count = (size_t)b->count + 1;
  const bool ok = count < UINT32_MAX &&
                  pf_grow(&b->words, &b->word_capacity, b->nwords + words) &&
                  pf_grow(&b->records, &b->record_capacity, count) &&
                  pf_grow(&b->values, &b->value_capacity, count * ntypes + 1);
  if (ok) /* new values start at 0 */
    memset(b->values + (count - 1) * ntypes, 0, ntypes * sizeof *b->values);
  return ok;
}


void pprof_block_close (pprof_block *b) {
  free(b->words);
  free(b->records);
  free(b->values);
  *b = (pprof_block){0};
}


void pprof_block_add (pprof_block *b, uint32_t sample, size_t ntypes,
                      const pprof_translation *translation,
                      const pprof_values *values) {
  int64_t *const sums = b->values + sample * ntypes;
  for (size_t t = 0; t < ntypes; t++) {
    const size_t type = translation->types[t];
    int64_t value = type < values->count ? values->at[type] : 0;
    if (__builtin_mul_overflow(value, translation->factors[t], &value)) {
      value = values->at[type] < 0 ? INT64_MIN : INT64_MAX;
      b->has_overflowed = true;
    }
    sums[t] = pf_weight_add(sums[t], value, &b->has_overflowed);
  }
}


void pprof_append_sample (pprof_merged *m, const pprof_block *b,
                          uint32_t sample) {
  m->samples[m->nsamples++] = (pprof_sample){b->words + b->records[sample],
                                             b->values + sample * m->ntypes};
}


/* Remove samples whose values are all 0. */
static void drop_zeros (pprof_merged *m) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < m->nsamples; i++) {
    bool is_zero = true;
    for (size_t t = 0; t < m->ntypes && is_zero; t++)
      is_zero = m->samples[i].values[t] == 0;
    if (!is_zero)
      m->samples[kept++] = m->samples[i];
  }
  m->nsamples = kept;
}


pf_status pprof_merged_add (pprof_merged *m, pf_trace *const *traces,
                            size_t count, pf_error *error) {
  pprof_translation *const files = calloc(count + 1, sizeof *files);
  if (files == NULL)
    return pf_no_memory(error);
  m->nfiles = count;
  for (size_t f = 0; f < count; f++) {
    files[f].trace = traces[f];
    files[f].file = traces[f]->state;
  }
  pf_status status = merge_headers(m, files, error);
  for (size_t f = 0; f < count && status == PF_OK; f++)
    status = pprof_read_tables(m, &files[f], error);
  for (size_t f = 0; f < count && status == PF_OK && m->is_sorted; f++)
    status = pprof_check_locations(m, &files[f], error);
  if (status == PF_OK && m->is_sorted)
    status = pprof_merge_sorted(m, files, error);
  if (status == PF_OK && !m->is_sorted)
    status = pprof_merge_unsorted(m, files, error);
  for (size_t f = 0; f < count; f++) {
    /* mappings that no sample uses */
    for (uint32_t i = 0; status == PF_OK && i < files[f].nmappings; i++)
      if (files[f].mappings[i].merged == 0 &&
          pprof_intern_mapping(m, &files[f].mappings[i].stated) == 0)
        status = pf_no_memory(error);
    pprof_translation_close(&files[f]);
  }
  free(files);
  if (status != PF_OK)
    return status;
  drop_zeros(m);
  if (m->has_overflowed)
    return pf_refuse(
        error, "the values of a sample add up to more than 64 bits can hold");
  return PF_OK;
}
