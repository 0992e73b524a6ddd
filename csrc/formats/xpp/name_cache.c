/*
** name_cache.c - a hash table with linear probing of at most PROBES slots.
** A new name whose slots are all used replaces the first of them.
*/

#include <stdlib.h>
#include <string.h>

#include "bytes/cursor.h"
#include "formats/xpp/name_cache.h"
#include "model/base/switches.h"
#include "model/dictionary/names.h"
#include "model/rows/put_values.h"

#define SLOTS  4096 /* a power of two */
#define WIDEST 248  /* bytes of a field, so that all slots have at most 1 MiB */
#define PROBES 4    /* slots examined for one name */

/* Inlined into the loop over records. */
#define HOT static inline __attribute__((always_inline))


pf_status xpp_name_cache_open (xpp_name_cache *cache, const xpp_file *file,
                               size_t field) {
  memset(cache, 0, sizeof *cache);
  if (file->is_text || field == XPP_NO_FIELD || !PF_FAST(KNOWN))
    return PF_OK;
  const dbf_field *const f = &file->dbf->fields[field];
  if (f->kind != DBF_TEXT || f->size == 0 || (f->size > 1 && f->size < 8) ||
      f->size > WIDEST || f->null_bit >= 0 || f->length_bit >= 0)
    return PF_OK;
  cache->field = f;
  cache->words = (f->size + 7) / 8;
  cache->slots = calloc(SLOTS, (cache->words + 1) * sizeof *cache->slots);
  return cache->slots == NULL ? PF_ENOMEM : PF_OK;
}


void xpp_name_cache_close (xpp_name_cache *cache) {
  free(cache->slots);
}


/* Word `i` of a key of 1, 8 or more bytes. The last one may overlap. */
HOT uint64_t word_at (const uint8_t *at, size_t size, size_t i) {
  return size == 1
             ? at[0]
             : pf_load64le(8 * i + 8 <= size ? at + 8 * i : at + size - 8);
}


/* The slot of a key; if it is not in the table, the slot to store it in: a free
   one, or the first. Each key of one byte has a slot of its own. */
HOT uint64_t *find_slot (uint64_t *slots, size_t words, size_t size,
                         const uint8_t *at, bool *found) {
  if (size == 1) {
    *found = slots[(size_t)2 * at[0] + 1] != 0;
    return &slots[(size_t)2 * at[0]];
  }
  uint64_t hash = word_at(at, size, 0) * 0x9e3779b97f4a7c15u;
  for (size_t i = 1; i < words; i++)
    hash = (hash ^ word_at(at, size, i)) * 0x9e3779b97f4a7c15u;
  const size_t first = (size_t)(hash >> 40);
  for (size_t probe = 0; probe < PROBES; probe++) {
    uint64_t *const slot = slots + (first + probe) % SLOTS * (words + 1);
    uint64_t other = slot[0] ^ word_at(at, size, 0);
    for (size_t i = 1; i < words; i++)
      other |= slot[i] ^ word_at(at, size, i);
    *found = other == 0 && slot[words] != 0;
    if (*found || slot[words] == 0)
      return slot;
  }
  return slots + first % SLOTS * (words + 1);
}


/* Sets the names of consecutive records up to the first one whose name is not
   in the cache. Returns their number, and the slot for that name. `at` is the
   field in the first record. `words` and `size` are constants for operations,
   and `words` for names of the usual length, so that no loop is left. */
HOT size_t find_names (const xpp_name_cache *cache, size_t words, size_t size,
                       const uint8_t *at, size_t stride, size_t count,
                       uint32_t *names, uint64_t **slot) {
  uint64_t *const slots = cache->slots;
  size_t i = 0;
  for (; i < count; i++, at += stride) {
    bool found;
    uint64_t *const its = find_slot(slots, words, size, at, &found);
    if (!found) {
      *slot = its;
      break;
    }
    names[i] = (uint32_t)its[words] - 1;
  }
  return i;
}


/* Decodes the name in one record, and stores it in its slot. */
static pf_status decode (xpp_name_cache *cache, xpp_rows *rows,
                         const dbf_run *run, uint64_t *slot, pf_column *column,
                         size_t row, pf_error *error) {
  uint64_t missing[PF_BATCH_ROWS / 64];
  pf_bytes text = {NULL, 0};
  pf_column one = {.type = PF_BYTES, .missing = missing};
  one.bytes = &text;
  const pf_status status =
      dbf_fill(&rows->decoder, cache->field, run, &one, 0, error);
  if (status != PF_OK)
    return status;
  if (pf_is_missing(&one, 0)) {
    pf_put_none(column, row, 1);
    return PF_OK;
  }
  text = xpp_trim(text);
  cache->has_filled |= xpp_name_fills(cache->field, run->at, text);
  const uint32_t name = pf_intern(rows->parser.trace->dictionary, text);
  if (name == PF_NO_NAME)
    return pf_no_memory(error);
  for (size_t i = 0; i < cache->words; i++)
    slot[i] = word_at(run->at + cache->field->offset, cache->field->size, i);
  slot[cache->words] = (uint64_t)name + 1;
  column->ids[row] = name;
  return PF_OK;
}


static pf_status fill_run (xpp_name_cache *cache, xpp_rows *rows,
                           const xpp_run *run, pf_column *column,
                           pf_error *error) {
  const xpp_item *const item = &run->item;
  const uint8_t *const bytes = xpp_source(&rows->parser, item->source).at;
  const size_t size = cache->field->size, words = cache->words;
  const size_t stride = (size_t)item->size;
  uint64_t *slot = NULL;
  for (size_t i = 0; i < item->count; i++) {
    const uint8_t *const at =
        bytes + item->offset + i * stride + cache->field->offset;
    uint32_t *const names = &column->ids[run->row + i];
    const size_t left = item->count - i;
    i += size == 1 ? find_names(cache, 1, 1, at, stride, left, names, &slot)
         : words == 3
             ? find_names(cache, 3, size, at, stride, left, names, &slot)
             : find_names(cache, words, size, at, stride, left, names, &slot);
    if (i == item->count)
      break;
    const uint64_t offset = item->offset + i * stride;
    const dbf_run one = {bytes + offset, 1, offset};
    const pf_status status =
        decode(cache, rows, &one, slot, column, run->row + i, error);
    if (status != PF_OK)
      return status;
  }
  return PF_OK;
}


pf_status xpp_name_cache_fill (xpp_name_cache *cache, xpp_rows *rows,
                               pf_column *column, pf_error *error) {
  pf_status status = PF_OK;
  for (size_t i = 0; i < rows->nruns && status == PF_OK; i++)
    status = fill_run(cache, rows, &rows->runs[i], column, error);
  return status;
}
