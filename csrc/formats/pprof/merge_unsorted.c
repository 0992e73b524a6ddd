/*
** merge_unsorted.c - merges samples of any files in input order. A sample is
** written to the end of the block merged->unsorted, which keeps it if it is
** new. Called by merge.c.
*/

#include "formats/pprof/merge.h"

#include <stdlib.h>
#include <string.h>

#include "model/base/memory.h"
#include "model/base/sorts.h"

typedef struct sample_merger {
  pprof_merged *merged;
  pprof_translation *translation;
  pf_intern_table set; /* hash table of the samples in merged->unsorted */
  uint32_t *locations; /* of the current sample, leaf first */
  size_t nlocations, location_capacity;
  uint32_t *labels; /* LABEL_WORDS for each, and as many to sort them */
  size_t nlabels, label_capacity;
  pprof_values values;
} sample_merger;


/* Append the locations of a field, as indexes in the file. */
static pf_status read_locations (sample_merger *s, const pprof_field *field,
                                 size_t offset, pf_error *error) {
  pprof_numbers numbers = pprof_numbers_of(field);
  pf_status status = PF_OK;
  for (uint64_t id; status == PF_OK && pprof_next_number(&numbers, &id);) {
    const uint32_t number =
        pprof_find_id(&s->translation->file->location_ids, id);
    if (number == PF_NO_ID)
      status = pprof_warn_no_location(s->translation->trace, id, offset, error);
    else if (pf_grow(&s->locations, &s->location_capacity, s->nlocations + 1))
      s->locations[s->nlocations++] = number;
    else
      status = pf_no_memory(error);
  }
  s->values.is_damaged |= status == PF_OK && !pprof_numbers_end(&numbers);
  return status;
}


static pf_status read_label (sample_merger *s, pf_bytes message, size_t offset,
                             pf_error *error) {
  pf_trace *const trace = s->translation->trace;
  pprof_label label;
  if (!pf_grow(&s->labels, &s->label_capacity,
               (s->nlabels + 1) * 2 * LABEL_WORDS))
    return pf_no_memory(error);
  uint32_t *const to = s->labels + s->nlabels++ * LABEL_WORDS;
  s->values.is_damaged |= !pprof_read_message(message, &label, sizeof label);
  to[LABEL_LOW] = (uint32_t)label.number;
  to[LABEL_HIGH] = (uint32_t)((uint64_t)label.number >> 32);
  const uint64_t texts[] = {[LABEL_KEY] = label.key,
                            [LABEL_TEXT] = label.text,
                            [LABEL_UNIT] = label.unit};
  pf_status status = PF_OK;
  for (size_t i = 0; i <= LABEL_UNIT && status == PF_OK; i++)
    status = pprof_name_or_none(trace, texts[i], offset, &to[i], error);
  return status;
}


static pf_status read_sample (sample_merger *s, const pprof_field *message,
                              pf_error *error) {
  pf_cursor c = pf_cursor_over(message->bytes, false);
  pprof_field field;
  pf_status status = PF_OK;
  s->nlocations = s->nlabels = s->values.count = 0;
  s->values.is_damaged = false;
  while (status == PF_OK && pprof_next_field(&c, &field))
    switch (field.number) {
      case 1: status = read_locations(s, &field, message->at, error); break;
      case 2:
        if (!pprof_read_values(&s->values, &field))
          status = pf_no_memory(error);
        break;
      case 3:
        if (field.wire == PPROF_BYTES)
          status = read_label(s, field.bytes, message->at, error);
        break;
      default: break;
    }
  s->values.is_damaged |= pf_left(&c) != 0;
  return status == PF_OK
             ? pprof_check_values(s->translation->trace, s->translation->file,
                                  &s->values, message->at, error)
             : status;
}


typedef struct sample_key {
  const pprof_block *block;
  const uint32_t *record;
  size_t bytes;
} sample_key;


static bool is_same_sample (const void *context, uint32_t number) {
  const sample_key *const w = context;
  return memcmp(w->block->words + w->block->records[number], w->record,
                w->bytes) == 0;
}


/* Sort key of a label: key, texts before numbers. */
static uint64_t rank_of_label (const uint32_t *label) {
  return (uint64_t)label[LABEL_KEY] << 1 | (label[LABEL_TEXT] == PF_NO_NAME);
}


static int compare_labels (const void *context, const void *left,
                           const void *right) {
  const uint64_t a = rank_of_label(left), b = rank_of_label(right);
  (void)context;
  return (a > b) - (a < b);
}


/* Write the record of the sample after the last one in the block, and return
   the index of an equal sample, or that of the new one; PF_NOT_INTERNED: no
   memory. */
static uint32_t intern_sample (sample_merger *s) {
  pprof_block *const block = &s->merged->unsorted;
  const size_t nlabel_words = s->nlabels * LABEL_WORDS;
  const size_t size = RECORD_HEADER + s->nlocations + nlabel_words;
  if (!pprof_block_reserve(block, size, s->merged->ntypes) ||
      !pf_intern_table_reserve(&s->set))
    return PF_NOT_INTERNED;
  /* The order of labels is not significant, except among values of one key. */
  if (s->nlabels > 1)
    pf_sort(s->labels, s->labels + nlabel_words, s->nlabels,
            LABEL_WORDS * sizeof *s->labels, compare_labels, NULL);
  uint32_t *const record = block->words + block->nwords;
  record[RECORD_LOCATIONS] = (uint32_t)s->nlocations;
  record[RECORD_LABELS] = (uint32_t)s->nlabels;
  if (s->nlocations > 0)
    memcpy(record + RECORD_HEADER, s->locations,
           s->nlocations * sizeof *record);
  if (nlabel_words > 0)
    memcpy(record + RECORD_HEADER + s->nlocations, s->labels,
           nlabel_words * sizeof *record);
  const sample_key w = {block, record, size * sizeof *record};
  const uint64_t hash = pf_mix_bytes(s->set.seed, record, w.bytes);
  const uint32_t known =
      pf_intern_table_find(&s->set, hash, is_same_sample, &w);
  if (known != PF_NOT_INTERNED)
    return known;
  block->records[block->count++] = block->nwords;
  block->nwords += size;
  return pf_intern_table_add(&s->set, hash);
}


static pf_status add_sample (sample_merger *s, pf_error *error) {
  const pprof_translation *const file = s->translation;
  bool has_weight = false; /* a merged type has a value other than 0 */
  for (size_t t = 0; t < s->merged->ntypes; t++)
    has_weight |=
        file->types[t] < s->values.count && s->values.at[file->types[t]] != 0;
  if (!has_weight)
    return PF_OK;
  for (size_t i = 0; i < s->nlocations; i++) {
    s->locations[i] =
        pprof_merge_location(s->merged, s->translation, s->locations[i]);
    if (s->locations[i] == 0)
      return pf_no_memory(error);
  }
  const uint32_t sample = intern_sample(s);
  if (sample == PF_NOT_INTERNED)
    return pf_no_memory(error);
  pprof_block_add(&s->merged->unsorted, sample, s->merged->ntypes, file,
                  &s->values);
  return PF_OK;
}


static pf_status add_file (sample_merger *s, pf_error *error) {
  pf_cursor c = pf_cursor_over(s->translation->file->readable, false);
  pprof_field field;
  pf_status status = PF_OK;
  while (status == PF_OK && pprof_next_field(&c, &field)) {
    if (field.number != PPROF_SAMPLE || field.wire != PPROF_BYTES)
      continue;
    status = read_sample(s, &field, error);
    if (status == PF_OK)
      status = add_sample(s, error);
  }
  return status;
}


pf_status pprof_merge_unsorted (pprof_merged *m,
                                pprof_translation *translations,
                                pf_error *error) {
  sample_merger *const s = calloc(1, sizeof *s);
  if (s == NULL)
    return pf_no_memory(error);
  s->merged = m;
  s->set.seed = m->dictionary->seed;
  pf_status status = PF_OK;
  for (size_t f = 0; f < m->nfiles && status == PF_OK; f++) {
    s->translation = &translations[f];
    status = add_file(s, error);
  }
  pf_intern_table_free(&s->set);
  free(s->locations);
  free(s->labels);
  free(s->values.at);
  free(s);
  m->has_overflowed |= m->unsorted.has_overflowed;
  if (status != PF_OK)
    return status;
  m->samples = malloc(((size_t)m->unsorted.count + 1) * sizeof *m->samples);
  for (uint32_t i = 0; m->samples != NULL && i < m->unsorted.count; i++)
    pprof_append_sample(m, &m->unsorted, i);
  return m->samples != NULL ? PF_OK : pf_no_memory(error);
}
