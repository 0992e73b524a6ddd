/*
** merge_sorted.c - merges samples of files that profio exported. These
** are sorted by their texts alone, and so is the result: equal profiles give
** equal bytes, whatever the number of files. The samples of all other files
** keep input order, as in Go's pprof.
**
** The files of a group are read in parallel threads, each into a block of its
** own, and merged with those before: memory grows with the distinct samples,
** not with the files. The threads add nothing to the dictionary. Called by
** merge.c; the pprof_merged owns the blocks.
*/

#include "formats/pprof/merge.h"

#include <stdlib.h>
#include <string.h>

#include "model/contexts/tree_order.h"
#include "model/base/memory.h"
#include "model/system/parallel.h"
#include "model/base/sorts.h"

typedef struct sorted_reader {
  const pprof_merged *merged;
  const pprof_translation *translation;
  pprof_block *block;
  pprof_values values; /* scratch */
  bool is_sorted;
  pf_status status;
  pf_error error;
} sorted_reader;

/* A sorted sequence of samples, as in a merge sort. */
typedef struct run {
  pprof_sample *samples;
  uint32_t count;
} run;


/* Compare two records from the root to the leaf by location. Returns a value
   below 0 if `a` comes first, 0 if both are equal. */
static int compare_records (const uint32_t *a, const uint32_t *b) {
  const uint32_t na = a[RECORD_LOCATIONS], nb = b[RECORD_LOCATIONS];
  const uint32_t minimum = na < nb ? na : nb;
  const uint32_t *const p = a + RECORD_HEADER + na, *const q =
                                                        b + RECORD_HEADER + nb;
  for (uint32_t i = 1; i <= minimum; i++) {
    const uint32_t x = p[-(ptrdiff_t)i], y = q[-(ptrdiff_t)i];
    if (x != y)
      return x < y ? -1 : 1;
  }
  return (na > nb) - (na < nb);
}


static int compare_locations (const void *context, const void *left,
                              const void *right) {
  const pprof_merged *const m = context;
  return pf_frame_compare(m->dictionary,
                          m->locations[*(const uint32_t *)left].area,
                          m->locations[*(const uint32_t *)right].area);
}


/* Sort the locations by frame, and renumber them in all translations. */
static pf_status sort_locations (pprof_merged *m,
                                 pprof_translation *translations) {
  const uint32_t count = m->location_set.count;
  uint32_t *const order = pf_array(count, sizeof *order);
  uint32_t *const numbers = pf_array(count, sizeof *numbers);
  pprof_merged_location *const moved = pf_array(count, sizeof *moved);
  const bool ok = order != NULL && numbers != NULL && moved != NULL;
  for (uint32_t i = 0; ok && i < count; i++)
    order[i] = i;
  if (ok)
    pf_sort(order, numbers, count, sizeof *order, compare_locations, m);
  for (uint32_t i = 0; ok && i < count; i++) {
    moved[i] = m->locations[order[i]];
    numbers[order[i]] = i + 1;
  }
  if (ok && count > 0)
    memcpy(m->locations, moved, count * sizeof *moved);
  for (size_t f = 0; ok && f < m->nfiles; f++)
    for (uint32_t i = 0; i < translations[f].file->nlocations; i++)
      translations[f].locations[i] = numbers[translations[f].locations[i] - 1];
  free(order);
  free(numbers);
  free(moved);
  return ok ? PF_OK : PF_ENOMEM;
}


/* Undo the merge of locations. The mappings that they use stay. */
static void undo_merge (pprof_merged *m, pprof_translation *translations) {
  pf_intern_table_free(&m->location_set);
  m->location_set.seed = m->dictionary->seed;
  m->nlines = 0;
  for (size_t i = 0; i <= PPROF_GROUP; i++)
    pprof_block_close(&m->blocks[i]);
  free(m->samples);
  m->samples = NULL;
  m->nsamples = 0;
  for (size_t f = 0; f < m->nfiles; f++) {
    pprof_translation *const t = &translations[f];
    memset(t->locations, 0, t->file->nlocations * sizeof *t->locations);
  }
}


/* Append the locations of a sample to the block. Returns false if out of memory
   or if they are not as profio writes them. */
static bool read_locations (sorted_reader *r, pf_bytes ids) {
  pprof_block *const block = r->block;
  const pprof_file *const file = r->translation->file;
  pf_cursor c = pf_cursor_over(ids, false);
  uint64_t id;
  /* an id has at least one byte */
  if (!pprof_block_reserve(block, RECORD_HEADER + ids.size,
                           r->merged->ntypes)) {
    r->status = pf_no_memory(&r->error);
    return false;
  }
  uint32_t *const record = block->words + block->nwords, n = 0;
  while (pf_take_varint(&c, &id)) {
    const uint32_t number = pprof_find_id(&file->location_ids, id);
    if (number == PF_NO_ID)
      return false;
    record[RECORD_HEADER + n++] = r->translation->locations[number];
  }
  record[RECORD_LOCATIONS] = n;
  record[RECORD_LABELS] = 0;
  return pf_left(&c) == 0;
}


/* Read a sample. False if it is not as profio writes it, or not in order; also
   if out of memory, which r->status tells. */
static bool read_sample (sorted_reader *r, pf_bytes message) {
  pprof_block *const block = r->block;
  const pprof_file *const file = r->translation->file;
  pf_cursor c = pf_cursor_over(message, false);
  pprof_field field;
  pf_bytes ids = {message.at, 0};
  r->values.count = 0;
  r->values.is_damaged = false;
  while (pprof_next_field(&c, &field)) {
    if (field.number == 2) {
      if (!pprof_read_values(&r->values, &field)) {
        r->status = pf_no_memory(&r->error);
        return false;
      }
    }
    else if (field.number == 1 && field.wire == PPROF_BYTES && ids.size == 0)
      ids = field.bytes;
    else
      return false;
  }
  if (pf_left(&c) != 0 || r->values.is_damaged ||
      r->values.count != file->nstated_types || !read_locations(r, ids))
    return false;
  uint32_t *const record = block->words + block->nwords;
  if (block->count > 0 &&
      compare_records(block->words + block->records[block->count - 1],
                      record) >= 0)
    return false;
  block->records[block->count] = block->nwords;
  block->nwords += RECORD_HEADER + (size_t)record[RECORD_LOCATIONS];
  pprof_block_add(block, block->count++, r->merged->ntypes, r->translation,
                  &r->values);
  return true;
}


static void read_file (void *context) {
  sorted_reader *const r = context;
  pf_cursor c = pf_cursor_over(r->translation->file->readable, false);
  pprof_field field;
  while (r->status == PF_OK && r->is_sorted && pprof_next_field(&c, &field))
    if (field.number == PPROF_SAMPLE && field.wire == PPROF_BYTES)
      r->is_sorted = read_sample(r, field.bytes);
  free(r->values.at);
}


/* Merge two sequences into `to`, which has space for both. */
static run merge_two (pprof_merged *m, run a, run b, pprof_sample *to) {
  run both = {to, 0};
  uint32_t i = 0, j = 0;
  while (i < a.count && j < b.count) {
    const int order = compare_records(a.samples[i].record, b.samples[j].record);
    if (order == 0) {
      int64_t *const sums = a.samples[i].values;
      const int64_t *const more = b.samples[j++].values;
      for (size_t t = 0; t < m->ntypes; t++)
        sums[t] = pf_weight_add(sums[t], more[t], &m->has_overflowed);
    }
    to[both.count++] = order <= 0 ? a.samples[i++] : b.samples[j++];
  }
  for (; i < a.count; i++)
    to[both.count++] = a.samples[i];
  for (; j < b.count; j++)
    to[both.count++] = b.samples[j];
  return both;
}


/* Merge adjacent sequences pairwise until one is left, alternating between
   m->samples and `spare`. Returns the array with the result. */
static pprof_sample *merge_runs (pprof_merged *m, run *runs, size_t nruns,
                                 pprof_sample *spare) {
  pprof_sample *here = m->samples;
  for (; nruns > 1; nruns = (nruns + 1) / 2) {
    pprof_sample *to = spare;
    for (size_t r = 0; r < nruns; r += 2) {
      const run none = {NULL, 0};
      runs[r / 2] =
          merge_two(m, runs[r], r + 1 < nruns ? runs[r + 1] : none, to);
      to += runs[r / 2].count;
    }
    pprof_sample *const was = here;
    here = spare;
    spare = was;
  }
  return here;
}


/* Replace m->samples by those of the first `count` blocks, merged. */
static pf_status merge_blocks (pprof_merged *m, size_t count, pf_error *error) {
  size_t total = 0;
  for (size_t b = 0; b < count; b++)
    total += m->blocks[b].count;
  if (total >= UINT32_MAX)
    return pf_fail(error, PF_ELIMIT, PF_NO_OFFSET, "more than 2^32 samples");
  run runs[PPROF_GROUP + 1];
  pprof_sample *const spare = malloc((total + 1) * sizeof *spare);
  free(m->samples);
  m->nsamples = 0;
  m->samples = malloc((total + 1) * sizeof *m->samples);
  const bool ok = spare != NULL && m->samples != NULL;
  for (size_t b = 0; ok && b < count; b++) {
    runs[b] = (run){m->samples + m->nsamples, m->blocks[b].count};
    for (uint32_t i = 0; i < runs[b].count; i++)
      pprof_append_sample(m, &m->blocks[b], i);
  }
  pprof_sample *unused = spare;
  if (ok && merge_runs(m, runs, count, spare) == spare) {
    unused = m->samples;
    m->samples = spare;
  }
  if (ok)
    m->nsamples = runs[0].count;
  free(unused);
  return ok ? PF_OK : pf_no_memory(error);
}


/* Copy m->samples into the first block, and close the others. */
static pf_status gather (pprof_merged *m, pf_error *error) {
  pprof_block all = {0};
  bool ok = true;
  for (uint32_t i = 0; ok && i < m->nsamples; i++) {
    const uint32_t *const record = m->samples[i].record;
    const size_t size = RECORD_HEADER + (size_t)record[RECORD_LOCATIONS];
    ok = pprof_block_reserve(&all, size, m->ntypes);
    if (!ok)
      break;
    memcpy(all.words + all.nwords, record, size * sizeof *record);
    memcpy(all.values + all.count * m->ntypes, m->samples[i].values,
           m->ntypes * sizeof *all.values);
    all.records[all.count++] = all.nwords;
    all.nwords += size;
  }
  for (size_t b = 0; b <= PPROF_GROUP; b++)
    pprof_block_close(&m->blocks[b]);
  m->blocks[0] = all;
  return ok ? PF_OK : pf_no_memory(error);
}


/* Read the samples of up to PPROF_GROUP files into the blocks after the first
   one. Clear m->is_sorted if a file is not sorted. */
static pf_status read_group (pprof_merged *m,
                             const pprof_translation *translations,
                             size_t count, pf_error *error) {
  sorted_reader readers[PPROF_GROUP];
  pf_status status = PF_OK;
  for (size_t f = 0; f < count; f++)
    readers[f] = (sorted_reader){.merged = m,
                                 .translation = &translations[f],
                                 .block = &m->blocks[f + 1],
                                 .is_sorted = true};
  pf_run_all(read_file, readers, sizeof *readers, count);
  for (size_t f = 0; status == PF_OK && f < count; f++) {
    m->is_sorted &= readers[f].is_sorted;
    m->has_overflowed |= m->blocks[f + 1].has_overflowed;
    status = readers[f].status;
    *error = readers[f].error;
  }
  return status;
}


/* Merge the locations of all files. */
static pf_status merge_locations (pprof_merged *m,
                                  pprof_translation *translations,
                                  pf_error *error) {
  for (size_t f = 0; f < m->nfiles; f++)
    for (uint32_t i = 0; i < translations[f].file->nlocations; i++)
      if (pprof_merge_location(m, &translations[f], i) == 0)
        return pf_no_memory(error);
  return sort_locations(m, translations) == PF_OK ? PF_OK : pf_no_memory(error);
}


pf_status pprof_merge_sorted (pprof_merged *m, pprof_translation *translations,
                              pf_error *error) {
  m->blocks = calloc(PPROF_GROUP + 1, sizeof *m->blocks);
  if (m->blocks == NULL)
    return pf_no_memory(error);
  pf_status status = merge_locations(m, translations, error);
  for (size_t f = 0; status == PF_OK && f < m->nfiles; f += PPROF_GROUP) {
    const size_t left = m->nfiles - f;
    const size_t count = left < PPROF_GROUP ? left : PPROF_GROUP;
    if (f > 0)
      status = gather(m, error);
    if (status == PF_OK)
      status = read_group(m, &translations[f], count, error);
    if (status == PF_OK && !m->is_sorted) {
      m->has_overflowed = false;
      undo_merge(m, translations);
      return PF_OK;
    }
    if (status == PF_OK)
      status = merge_blocks(m, count + 1, error);
  }
  return status;
}
