/*
** name_cache.c - a hash table with linear probing of at most PROBES slots.
** A new name whose slots are all used replaces the first of them.
*/

#include <stdlib.h>
#include <string.h>

#include "bytes/cursor.h"
#include "formats/xpp/name_cache.h"
#include "model/dictionary/names.h"

#define MAX_SLOTS 4096
#define MAX_BYTES ((size_t)1 << 20) /* of all slots */
#define PROBES    4                 /* slots examined for one name */

/* Inlined into the loops over records. */
#define HOT static inline __attribute__((always_inline))

/* In a slot: the field is empty. Other values are id + 1. */
#define MISSING UINT32_MAX


/* {====== Opening ====== */

/* Returns true if equal bytes of the field always mean the same text. */
static bool is_cacheable (const dbf_field *field) {
  return field->kind == DBF_TEXT && field->size > 0 && field->null_bit < 0 &&
         field->length_bit < 0;
}


/* Sets how a field of 2 to 7 bytes is loaded as a word; false: its record is
   too short. */
static bool find_load (xpp_name_cache *cache, uint32_t record) {
  const dbf_field *const field = cache->field;
  if (record - field->offset >= 8)
    cache->load = XPP_LOAD_FOLLOWING;
  else if (field->offset + field->size >= 8)
    cache->load = XPP_LOAD_PRECEDING;
  else
    return false;
  return true;
}


pf_status xpp_name_cache_open (xpp_name_cache *cache, const xpp_file *file,
                               size_t field) {
  memset(cache, 0, sizeof *cache);
  if (file->is_text || field == XPP_NO_FIELD ||
      !is_cacheable(&file->dbf->fields[field]))
    return PF_OK;
  cache->field = &file->dbf->fields[field];
  const size_t size = cache->field->size;
  if (size == 1)
    return PF_OK;
  if (size < 8 && !find_load(cache, file->dbf->record)) {
    cache->field = NULL;
    return PF_OK;
  }
  cache->words = (size + 7) / 8;
  const size_t slot = (cache->words + 1) * sizeof(uint64_t);
  size_t count = MAX_SLOTS;
  while (count > PROBES && count * slot > MAX_BYTES)
    count /= 2;
  cache->mask = count - 1;
  cache->slots = calloc(count, slot);
  return cache->slots == NULL ? PF_ENOMEM : PF_OK;
}


void xpp_name_cache_close (xpp_name_cache *cache) {
  free(cache->slots);
  cache->slots = NULL;
}

/* }====== */


/* {====== Look-up ====== */

/* Layout of a key; a constant in the loops for common sizes, so that the
   compiler unrolls them. */
typedef struct key_layout {
  xpp_load load;
  size_t size, words;
} key_layout;


/* Word `i` of a key. The last word may overlap the one before it. */
HOT uint64_t word_at (key_layout key, const uint8_t *at, size_t i) {
  const size_t size = key.size;
  switch (key.load) {
    case XPP_LOAD_WORDS:
      return pf_load64le(8 * i + 8 <= size ? at + 8 * i : at + size - 8);
    case XPP_LOAD_FOLLOWING: return pf_load64le(at) << 8 * (8 - size);
    default: return pf_load64le(at + size - 8) >> 8 * (8 - size);
  }
}


static inline uint64_t mix (uint64_t hash, uint64_t word) {
  return (hash ^ word) * 0x9e3779b97f4a7c15u;
}


/* The slot at which probing starts. Without a loop for the first three words,
   so that a constant number of words leaves no branch. */
HOT size_t first_slot (key_layout key, const uint8_t *at) {
  uint64_t hash = mix(0, word_at(key, at, 0));
  if (key.words > 1)
    hash = mix(hash, word_at(key, at, 1));
  if (key.words > 2)
    hash = mix(hash, word_at(key, at, 2));
  for (size_t i = 3; i < key.words; i++)
    hash = mix(hash, word_at(key, at, i));
  return (size_t)(hash >> 40);
}


HOT bool is_known (key_layout key, const uint64_t *slots, const uint8_t *at) {
  uint64_t other = slots[0] ^ word_at(key, at, 0);
  if (key.words > 1)
    other |= slots[1] ^ word_at(key, at, 1);
  if (key.words > 2)
    other |= slots[2] ^ word_at(key, at, 2);
  for (size_t i = 3; i < key.words; i++)
    other |= slots[i] ^ word_at(key, at, i);
  return other == 0 && slots[key.words] != 0;
}


/* The slot of a key; if it is not in the table, the slot to store it in: a free
   one, or the first. */
HOT size_t find_slot (const xpp_name_cache *cache, key_layout key,
                      const uint8_t *at, bool *found) {
  const size_t first = first_slot(key, at) & cache->mask, size = key.words + 1;
  for (size_t i = 0; i < PROBES; i++) {
    const size_t slot = (first + i) & cache->mask;
    const uint64_t *const slots = cache->slots + slot * size;
    *found = is_known(key, slots, at);
    if (*found || slots[key.words] == 0)
      return slot * size;
  }
  return first * size;
}


HOT size_t find_words (const xpp_name_cache *cache, key_layout key,
                       const uint8_t *at, size_t stride, size_t count,
                       uint32_t *names) {
  size_t i = 0;
  for (; i < count; i++, at += stride) {
    bool found;
    const size_t slot = find_slot(cache, key, at, &found);
    const uint32_t name = (uint32_t)cache->slots[slot + key.words];
    if (!found || name == MISSING)
      break;
    names[i] = name - 1;
  }
  return i;
}


static size_t find_bytes (const xpp_name_cache *cache, const uint8_t *at,
                          size_t stride, size_t count, uint32_t *names) {
  size_t i = 0;
  for (; i < count; i++, at += stride) {
    names[i] = cache->of_byte[*at] - 1;
    if (names[i] >= MISSING - 1)
      break;
  }
  return i;
}


/* Common key sizes have specialised loops. */
size_t xpp_name_cache_find (const xpp_name_cache *cache, const uint8_t *at,
                            size_t stride, size_t count, uint32_t *names) {
  const size_t size = cache->field->size;
  const key_layout two = {XPP_LOAD_WORDS, size, 2};
  const key_layout three = {XPP_LOAD_WORDS, size, 3};
  const key_layout any = {cache->load, size, cache->words};
  switch (cache->words) {
    case 0: return find_bytes(cache, at, stride, count, names);
    case 2: return find_words(cache, two, at, stride, count, names);
    case 3: return find_words(cache, three, at, stride, count, names);
    default: return find_words(cache, any, at, stride, count, names);
  }
}

/* }====== */


/* {====== Columns ====== */

/* Decodes the name in one record; *name is id + 1, or MISSING. */
static pf_status decode (xpp_name_cache *cache, xpp_rows *rows, dbf_run run,
                         uint32_t *name, pf_error *error) {
  uint64_t missing[PF_BATCH_ROWS / 64];
  pf_bytes text = {NULL, 0};
  pf_column one = {.type = PF_BYTES, .missing = missing};
  one.bytes = &text;
  const pf_status status =
      dbf_fill(&rows->decoder, cache->field, &run, &one, 0, error);
  if (status != PF_OK)
    return status;
  *name = MISSING;
  if (pf_is_missing(&one, 0))
    return PF_OK;
  text = xpp_trim(text);
  cache->has_filled |= text.size >= cache->field->size;
  const uint32_t number = pf_intern(rows->parser.trace->dictionary, text);
  *name = number + 1;
  return number >= PF_NO_NAME - 1 ? pf_no_memory(error) : PF_OK;
}

/* Stores the name of a record in its slot. */
static void store (xpp_name_cache *cache, const uint8_t *at, uint32_t name) {
  const key_layout key = {cache->load, cache->field->size, cache->words};
  bool found;
  if (key.words == 0) {
    cache->of_byte[*at] = name;
    return;
  }
  uint64_t *const slots = cache->slots + find_slot(cache, key, at, &found);
  for (size_t i = 0; i < key.words; i++)
    slots[i] = word_at(key, at, i);
  slots[key.words] = name;
}


/* Decodes, stores and sets the name of one record. */
static pf_status fill_one (xpp_name_cache *cache, xpp_rows *rows,
                           const dbf_run *run, pf_column *column, size_t row,
                           pf_error *error) {
  uint32_t name;
  const pf_status status = decode(cache, rows, *run, &name, error);
  if (status != PF_OK)
    return status;
  store(cache, run->at + cache->field->offset, name);
  column->ids[row] = name == MISSING ? 0 : name - 1;
  if (name == MISSING)
    pf_set_missing(column, row);
  return PF_OK;
}


static pf_status fill_run (xpp_name_cache *cache, xpp_rows *rows,
                           const xpp_run *run, pf_column *column,
                           pf_error *error) {
  const xpp_item *const item = &run->item;
  const size_t record = (size_t)item->size;
  const uint8_t *const first =
      xpp_source(&rows->parser, item->source).at + item->offset;
  for (size_t i = 0; i < item->count; i++) {
    i += xpp_name_cache_find(cache, first + i * record + cache->field->offset,
                             record, item->count - i,
                             &column->ids[run->row + i]);
    if (i == item->count)
      break;
    const dbf_run one = {first + i * record, 1, item->offset + i * record};
    const pf_status status =
        fill_one(cache, rows, &one, column, run->row + i, error);
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

/* }====== */
