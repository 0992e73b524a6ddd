/*
** keys.c - converts keys of rows to words and words to ids.
**
** Each key has an id table of its values. With several keys the ids of the
** first two form a pair, which gets an id; this id and that of the third key
** form a pair, and so on. The last id is the group.
*/

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/group/keys.h"
#include "model/base/id_table.h"
#include "kernels/base/order.h"
#include "model/dictionary/names.h"

struct pf_keys {
  size_t nkeys;
  pf_key *keys;
  pf_id_table *values;  /* by key: its values */
  pf_id_table *pairs;   /* by key except the first: id of the keys before it in
                           the upper half, its own in the lower */
  pf_dictionary *texts; /* copies of the values of PF_BYTES keys */
  uint64_t words[PF_BATCH_ROWS];
  uint32_t numbers[PF_BATCH_ROWS];
  bool missing[PF_BATCH_ROWS];
};


static int64_t floor_octave (int64_t value) {
  if (value == 0 || value == INT64_MIN)
    return value;
  if (value > 0)
    return INT64_C(1) << (63 - __builtin_clzll((uint64_t)value));
  const uint64_t over = 0 - (uint64_t)value - 1;
  /* cppcheck-suppress knownConditionTrueFalse ; of -1 it is 0 */
  return over == 0 ? -1 : -1 - (int64_t)(UINT64_MAX >> __builtin_clzll(over));
}


static pf_status intern_texts (pf_keys *k, const pf_column *column, size_t rows,
                               pf_error *error) {
  for (size_t i = 0; i < rows; i++) {
    if (pf_is_missing(column, i))
      continue;
    k->words[i] = pf_intern(k->texts, column->bytes[i]);
    if (k->words[i] == PF_NO_NAME)
      return pf_no_memory(error);
  }
  return PF_OK;
}


/* Round the words of a key down to its buckets. */
static void floor_words (const pf_key *key, pf_type type, uint64_t *words,
                         size_t rows) {
  uint64_t low = 0, span = 0; /* the last bucket is [low, low + span) */
  if (type == PF_NUM && key->bucket_num > 0)
    for (size_t i = 0; i < rows; i++) {
      /* A number that is too large for a quotient is a multiple already. */
      const double quotient = pf_unorder_num(words[i]) / key->bucket_num;
      if (isfinite(quotient))
        words[i] = pf_order_num(floor(quotient) * key->bucket_num);
    }
  else if (type == PF_INT && key->octave)
    for (size_t i = 0; i < rows; i++)
      words[i] = pf_order_int(floor_octave(pf_unorder_int(words[i])));
  else if ((type == PF_ADDR || type == PF_HANDLE) && key->bucket > 0)
    for (size_t i = 0; i < rows; i++)
      words[i] -= words[i] % (uint64_t)key->bucket;
  for (size_t i = 0; type == PF_INT && key->bucket > 0 && i < rows; i++) {
    /* Consecutive times are often in one bucket: divide only when the bucket
       changes. A bucket at the ends of the range of integers is shorter. */
    if (words[i] - low >= span) {
      const int64_t value = pf_unorder_int(words[i]);
      const int64_t rest = value % key->bucket;
      const int64_t over = rest < 0 ? rest + key->bucket : rest;
      low = value < INT64_MIN + over ? 0 : pf_order_int(value - over);
      span = (uint64_t)key->bucket;
      if (span > 0 - low)
        span = 0 - low;
    }
    words[i] = low;
  }
}


/* Write the ids of one key. */
static pf_status encode_key (pf_keys *k, size_t key, const pf_batch *batch,
                             uint32_t *numbers, pf_error *error) {
  const pf_key *const spec = &k->keys[key];
  const pf_computed_key *const computed = spec->computed;
  pf_id_table *const values = &k->values[key];
  const pf_column *const column =
      computed != NULL ? NULL : &batch->columns[spec->column];
  const size_t rows = batch->rows;
  pf_status status = PF_OK;
  if (computed != NULL) {
    memset(k->missing, 0, sizeof k->missing);
    status = computed->compute(computed->context, batch, k->words, k->missing,
                               error);
  }
  else if (column->type == PF_BYTES)
    status = intern_texts(k, column, rows, error);
  else if (pf_type_is_id(column->type) && !column->has_missing)
    return pf_id_table_small(values, column->ids, rows, numbers) == PF_OK
               ? PF_OK
               : pf_no_memory(error);
  else {
    pf_order_column(column, rows, k->words);
    floor_words(spec, column->type, k->words, rows);
  }
  for (size_t i = 0; column != NULL && column->has_missing && i < rows; i++)
    k->missing[i] = pf_is_missing(column, i);
  if (status != PF_OK)
    return status;
  const bool *const missing =
      column != NULL && !column->has_missing ? NULL : k->missing;
  status = pf_id_table_nullable(values, k->words, missing, rows, numbers);
  return status == PF_OK ? PF_OK : pf_no_memory(error);
}


/* Set groups[i] to the id of the pair (groups[i], k->numbers[i]). */
static pf_status encode_pairs (pf_keys *k, size_t key, size_t rows,
                               uint32_t *groups) {
  for (size_t i = 0; i < rows; i++)
    k->words[i] = (uint64_t)groups[i] << 32 | k->numbers[i];
  return pf_id_table_words(&k->pairs[key], k->words, rows, groups);
}


pf_status pf_keys_find (pf_keys *k, const pf_batch *batch, uint32_t *groups,
                        pf_error *error) {
  if (k->nkeys == 0) {
    memset(groups, 0, batch->rows * sizeof *groups);
    return PF_OK;
  }
  pf_status status = encode_key(k, 0, batch, groups, error);
  for (size_t key = 1; key < k->nkeys && status == PF_OK; key++) {
    status = encode_key(k, key, batch, k->numbers, error);
    if (status == PF_OK && encode_pairs(k, key, batch->rows, groups) != PF_OK)
      return pf_no_memory(error);
  }
  return status;
}


bool pf_keys_are_mergeable (const pf_keys *k, const pf_field *fields) {
  for (size_t i = 0; i < k->nkeys; i++)
    if (k->keys[i].computed != NULL ||
        fields[k->keys[i].column].type == PF_BYTES)
      return false;
  return true;
}


pf_status pf_keys_clone (const pf_keys *k, pf_keys **made) {
  return pf_keys_open(k->keys, k->nkeys, made);
}


/* Find the ids in `keys` of the values that groups first, first + 1, ... of
   `more` have in a key. */
static pf_status encode_values (pf_keys *k, size_t key, const pf_keys *more,
                                size_t first, size_t count, uint32_t *numbers) {
  const pf_id_table *const theirs = &more->values[key];
  for (size_t i = 0; i < count; i++) {
    uint64_t pair = first + i;
    for (size_t later = k->nkeys - 1; later > key; later--)
      pair = more->pairs[later].words[pair] >> 32;
    const uint32_t number =
        (uint32_t)(key == 0 ? pair : more->pairs[key].words[pair]);
    k->words[i] = theirs->words[number];
    k->missing[i] = number == theirs->missing;
  }
  return pf_id_table_nullable(&k->values[key], k->words, k->missing, count,
                              numbers);
}


pf_status pf_keys_merge (pf_keys *k, const pf_keys *more, uint32_t *groups) {
  const size_t count = pf_keys_count(more);
  pf_status status = PF_OK;
  if (k->nkeys == 0)
    groups[0] = 0;
  for (size_t i = 0; k->nkeys > 0 && i < count && status == PF_OK;
       i += PF_BATCH_ROWS) {
    const size_t left = count - i;
    const size_t some = left < PF_BATCH_ROWS ? left : PF_BATCH_ROWS;
    status = encode_values(k, 0, more, i, some, groups + i);
    for (size_t key = 1; key < k->nkeys && status == PF_OK; key++) {
      status = encode_values(k, key, more, i, some, k->numbers);
      if (status == PF_OK)
        status = encode_pairs(k, key, some, groups + i);
    }
  }
  return status;
}


size_t pf_keys_count (const pf_keys *k) {
  if (k->nkeys == 0)
    return 1;
  return k->nkeys == 1 ? k->values[0].count : k->pairs[k->nkeys - 1].count;
}


pf_status pf_keys_finish (const pf_keys *k, pf_store *store, pf_error *error) {
  for (size_t row = 0; k->nkeys > 0 && row < store->rows; row++) {
    uint32_t group = (uint32_t)row;
    for (size_t key = k->nkeys; key-- > 0;) {
      const uint64_t pair = key == 0 ? group : k->pairs[key].words[group];
      const pf_computed_key *const computed = k->keys[key].computed;
      const pf_id_table *const values = &k->values[key];
      pf_column *const column = &store->columns[key];
      const uint64_t word = values->words[(uint32_t)pair];
      pf_status status = PF_OK;
      if ((uint32_t)pair == values->missing)
        pf_store_set_missing(store, key, row);
      else if (computed != NULL)
        status = computed->put(computed->context, word, column, row, error);
      else if (column->type == PF_BYTES)
        column->bytes[row] = pf_name(k->texts, (uint32_t)word);
      else
        pf_unorder(column, row, word);
      if (status != PF_OK)
        return status;
      group = (uint32_t)(pair >> 32);
    }
  }
  return PF_OK;
}


pf_status pf_keys_open (const pf_key *keys, size_t nkeys, pf_keys **made) {
  pf_keys *const k = calloc(1, sizeof *k);
  if (k == NULL)
    return PF_ENOMEM;
  k->keys = calloc(nkeys + 1, sizeof *k->keys);
  k->values = calloc(nkeys + 1, sizeof *k->values);
  k->pairs = calloc(nkeys + 1, sizeof *k->pairs);
  k->texts = pf_dictionary_new();
  if (k->keys == NULL || k->values == NULL || k->pairs == NULL ||
      k->texts == NULL) {
    pf_keys_close(k);
    return PF_ENOMEM;
  }
  k->nkeys = nkeys;
  for (size_t i = 0; i < nkeys; i++) {
    k->keys[i] = keys[i];
    pf_id_table_init(&k->values[i]);
    pf_id_table_init(&k->pairs[i]);
  }
  *made = k;
  return PF_OK;
}


void pf_keys_close (pf_keys *k) {
  if (k == NULL)
    return;
  for (size_t i = 0; i < k->nkeys; i++) {
    pf_id_table_free(&k->values[i]);
    pf_id_table_free(&k->pairs[i]);
  }
  pf_dictionary_free(k->texts);
  free(k->keys);
  free(k->values);
  free(k->pairs);
  free(k);
}
