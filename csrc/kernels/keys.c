/*
** keys.c - the keys of a row as words, and one hash table over them.
**
** A group is nkeys words and one more with a bit for each missing key. A
** single column of names or areas goes by a plain array from number to group,
** which only remembers what the table has answered.
*/

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "kernels/keys.h"
#include "kernels/order.h"
#include "model/names.h"

#define MAX_DIRECT ((uint32_t)1 << 22) /* numbers the plain array holds */
#define UNKNOWN    UINT32_MAX          /* in the plain array: not seen */
#define MAX_GROUPS (UINT32_MAX - 1)

typedef struct slot {
  uint32_t tag;   /* the upper half of the hash */
  uint32_t group; /* + 1, or 0: free */
} slot;

struct pf_keys {
  size_t nkeys, width; /* width: words of a group, nkeys + 1 */
  pf_key *keys;
  pf_type *types;   /* of the columns */
  uint64_t *groups; /* `width` words of each group */
  size_t count, room;
  slot *slots;
  size_t mask;
  uint64_t seed;    /* so that no file can be made of collisions */
  uint32_t *direct; /* number to group, or UNKNOWN */
  uint32_t ndirect;
  pf_dictionary *texts; /* of PF_BYTES keys */
  uint64_t *rows;       /* `width` arrays of PF_BATCH_ROWS words */
  bool missing[PF_BATCH_ROWS];
};


/* {====== The table ====== */

static uint64_t mix (uint64_t hash, uint64_t word) {
  hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
  return hash ^ hash >> 32;
}


static uint64_t hash_of (const pf_keys *k, const uint64_t *words) {
  uint64_t hash = k->seed;
  for (size_t i = 0; i < k->width; i++)
    hash = mix(hash, words[i]);
  hash *= 0xd6e8feb86659fd93u;
  return hash ^ hash >> 29;
}


static bool same_words (const uint64_t *a, const uint64_t *b, size_t width) {
  for (size_t i = 0; i < width; i++)
    if (a[i] != b[i])
      return false;
  return true;
}


static void insert (pf_keys *k, uint64_t hash, uint32_t group) {
  size_t i = (size_t)hash & k->mask;
  while (k->slots[i].group != 0)
    i = (i + 1) & k->mask;
  k->slots[i] = (slot){(uint32_t)(hash >> 32), group + 1};
}


static bool grow_slots (pf_keys *k) {
  const size_t mask = k->slots == NULL ? 255 : k->mask * 2 + 1;
  slot *const slots = calloc(mask + 1, sizeof *slots);
  if (slots == NULL)
    return false;
  free(k->slots);
  k->slots = slots;
  k->mask = mask;
  for (size_t g = 0; g < k->count; g++)
    insert(k, hash_of(k, k->groups + g * k->width), (uint32_t)g);
  return true;
}


static bool grow_groups (pf_keys *k) {
  const size_t room = k->room == 0 ? 64 : k->room * 2;
  uint64_t *const groups = realloc(k->groups, room * k->width * sizeof *groups);
  if (groups == NULL)
    return false;
  k->groups = groups;
  k->room = room;
  return true;
}


/* A new group of these words. */
static pf_status add_group (pf_keys *k, const uint64_t *words, uint64_t hash,
                            uint32_t *group) {
  if (k->count == MAX_GROUPS || (k->count == k->room && !grow_groups(k)))
    return PF_ENOMEM;
  if ((k->slots == NULL || k->count >= k->mask / 2) && !grow_slots(k))
    return PF_ENOMEM;
  memcpy(k->groups + k->count * k->width, words, k->width * sizeof *words);
  *group = (uint32_t)k->count++;
  insert(k, hash, *group);
  return PF_OK;
}


/* The group of these words, old or new. */
static pf_status find_group (pf_keys *k, const uint64_t *words,
                             uint32_t *group) {
  const uint64_t hash = hash_of(k, words);
  size_t i = (size_t)hash & k->mask;
  for (; k->slots != NULL && k->slots[i].group != 0; i = (i + 1) & k->mask) {
    const uint32_t g = k->slots[i].group - 1;
    if (k->slots[i].tag == (uint32_t)(hash >> 32) &&
        same_words(k->groups + g * k->width, words, k->width)) {
      *group = g;
      return PF_OK;
    }
  }
  return add_group(k, words, hash, group);
}

/* }====== */


/* {====== Words of a batch ====== */

/* Round down to a multiple, or to the least number when that is too low. */
static int64_t floor_int (int64_t value, int64_t width) {
  int64_t over = value % width;
  if (over < 0)
    over += width;
  return value < INT64_MIN + over ? INT64_MIN : value - over;
}


/* Times often stay in one bucket for long: divide only when one is left. */
static void bucket_ints (uint64_t *words, size_t rows, int64_t width) {
  uint64_t low = 1, span = 0, word = 0; /* an empty bucket */
  for (size_t i = 0; i < rows; i++) {
    if (words[i] - low >= span) {
      const int64_t value = pf_unorder_int(words[i]);
      low = word = pf_order_int(floor_int(value, width));
      span = (uint64_t)width;
      if (word == 0) { /* at the least number the bucket may be cut */
        low = words[i];
        span = 1;
      }
      else if (span > 0 - low) /* and at the greatest */
        span = 0 - low;
    }
    words[i] = word;
  }
}


static void bucket_addrs (uint64_t *words, size_t rows, uint64_t width) {
  for (size_t i = 0; i < rows; i++)
    words[i] -= words[i] % width;
}


static void bucket_nums (uint64_t *words, size_t rows, double width) {
  for (size_t i = 0; i < rows; i++)
    words[i] = pf_order_num(floor(pf_unorder_num(words[i]) / width) * width);
}


static pf_status intern_texts (pf_keys *k, const pf_column *column, size_t rows,
                               uint64_t *words) {
  for (size_t i = 0; i < rows; i++) {
    if (pf_is_missing(column, i))
      continue;
    words[i] = pf_intern(k->texts, column->bytes[i]);
    if (words[i] == PF_NO_NAME)
      return PF_ENOMEM;
  }
  return PF_OK;
}


/* The words of a key that is a column. */
static pf_status column_words (pf_keys *k, size_t key, const pf_column *column,
                               size_t rows, uint64_t *words) {
  const pf_key *const spec = &k->keys[key];
  if (column->type == PF_BYTES)
    return intern_texts(k, column, rows, words);
  pf_order_column(column, rows, words);
  if (column->type == PF_NUM && spec->bucket_num > 0)
    bucket_nums(words, rows, spec->bucket_num);
  else if (column->type == PF_INT && spec->bucket > 0)
    bucket_ints(words, rows, spec->bucket);
  else if (column->type == PF_ADDR && spec->bucket > 0)
    bucket_addrs(words, rows, (uint64_t)spec->bucket);
  return PF_OK;
}


/* Mark the missing values of a key: bit in the last word, and word 0. */
static void mark_missing (pf_keys *k, size_t key, size_t rows) {
  uint64_t *const words = k->rows + key * PF_BATCH_ROWS;
  uint64_t *const marks = k->rows + k->nkeys * PF_BATCH_ROWS;
  for (size_t i = 0; i < rows; i++)
    if (k->missing[i]) {
      words[i] = 0;
      marks[i] |= (uint64_t)1 << key;
    }
}


static pf_status key_words (pf_keys *k, size_t key, const pf_batch *batch,
                            pf_error *error) {
  uint64_t *const words = k->rows + key * PF_BATCH_ROWS;
  const pf_maker *const maker = k->keys[key].maker;
  if (maker != NULL) {
    memset(k->missing, 0, sizeof k->missing);
    const pf_status status =
        maker->make(maker->context, batch, words, k->missing, error);
    if (status != PF_OK)
      return status;
    mark_missing(k, key, batch->rows);
    return PF_OK;
  }
  const pf_column *const column = &batch->columns[k->keys[key].column];
  if (column_words(k, key, column, batch->rows, words) != PF_OK)
    return pf_fail(error, PF_ENOMEM, PF_NO_OFFSET, "out of memory");
  if (column->has_missing) {
    for (size_t i = 0; i < batch->rows; i++)
      k->missing[i] = pf_is_missing(column, i);
    mark_missing(k, key, batch->rows);
  }
  return PF_OK;
}

/* }====== */


/* {====== Groups of a batch ====== */

/* Any keys: words of all rows, then one look-up per change of words. */
static pf_status find_by_words (pf_keys *k, const pf_batch *batch,
                                uint32_t *groups, pf_error *error) {
  uint64_t words[PF_MAX_KEYS + 1];
  memset(k->rows + k->nkeys * PF_BATCH_ROWS, 0, batch->rows * sizeof *k->rows);
  for (size_t key = 0; key < k->nkeys; key++) {
    const pf_status status = key_words(k, key, batch, error);
    if (status != PF_OK)
      return status;
  }
  for (size_t i = 0; i < batch->rows; i++) {
    bool same = i > 0;
    for (size_t w = 0; w < k->width; w++) {
      const uint64_t word = k->rows[w * PF_BATCH_ROWS + i];
      same = same && word == words[w];
      words[w] = word;
    }
    if (same)
      groups[i] = groups[i - 1];
    else if (find_group(k, words, &groups[i]) != PF_OK)
      return pf_fail(error, PF_ENOMEM, PF_NO_OFFSET, "out of memory");
  }
  return PF_OK;
}


/* Make the plain array hold `number`. */
static bool grow_direct (pf_keys *k, uint32_t number) {
  uint32_t size = k->ndirect == 0 ? 256 : k->ndirect;
  while (size <= number)
    size *= 2;
  uint32_t *const direct = realloc(k->direct, size * sizeof *direct);
  if (direct == NULL)
    return false;
  memset(direct + k->ndirect, 255, (size - k->ndirect) * sizeof *direct);
  k->direct = direct;
  k->ndirect = size;
  return true;
}


/* The group of a number the plain array does not know; it does then, unless
   the number is too large for it. */
static pf_status learn (pf_keys *k, uint32_t number, uint32_t *group) {
  const uint64_t words[2] = {number, 0};
  if (find_group(k, words, group) != PF_OK)
    return PF_ENOMEM;
  if (number >= MAX_DIRECT)
    return PF_OK;
  if (number >= k->ndirect && !grow_direct(k, number))
    return PF_ENOMEM;
  k->direct[number] = *group;
  return PF_OK;
}


/* One column of numbers, none of them missing. */
static pf_status find_direct (pf_keys *k, const uint32_t *ids, size_t rows,
                              uint32_t *groups) {
  const uint32_t *direct = k->direct;
  uint32_t ndirect = k->ndirect;
  for (size_t i = 0; i < rows; i++) {
    const uint32_t id = ids[i];
    uint32_t group = id < ndirect ? direct[id] : UNKNOWN;
    if (group == UNKNOWN) {
      if (learn(k, id, &group) != PF_OK)
        return PF_ENOMEM;
      direct = k->direct;
      ndirect = k->ndirect;
    }
    groups[i] = group;
  }
  return PF_OK;
}


/* Whether the keys are one column of numbers, none missing in the batch. */
static bool is_direct (const pf_keys *k, const pf_batch *batch) {
  return k->nkeys == 1 && k->keys[0].maker == NULL &&
         pf_type_is_id(k->types[0]) &&
         !batch->columns[k->keys[0].column].has_missing;
}


pf_status pf_keys_find (pf_keys *k, const pf_batch *batch, uint32_t *groups,
                        pf_error *error) {
  if (k->nkeys == 0) {
    memset(groups, 0, batch->rows * sizeof *groups);
    return PF_OK;
  }
  if (!is_direct(k, batch))
    return find_by_words(k, batch, groups, error);
  if (find_direct(k, batch->columns[k->keys[0].column].ids, batch->rows,
                  groups) != PF_OK)
    return pf_fail(error, PF_ENOMEM, PF_NO_OFFSET, "out of memory");
  return PF_OK;
}

/* }====== */


size_t pf_keys_count (const pf_keys *k) {
  return k->nkeys == 0 ? 1 : k->count;
}


static pf_status put_key (const pf_keys *k, size_t key, uint64_t word,
                          pf_column *column, size_t row, pf_error *error) {
  const pf_maker *const maker = k->keys[key].maker;
  if (maker != NULL)
    return maker->put(maker->context, word, column, row, error);
  if (column->type == PF_BYTES)
    column->bytes[row] = pf_name(k->texts, (uint32_t)word);
  else
    pf_unorder(column, row, word);
  return PF_OK;
}


pf_status pf_keys_finish (const pf_keys *k, pf_store *store, pf_error *error) {
  for (size_t g = 0; g < k->count; g++) {
    const uint64_t *const words = k->groups + g * k->width;
    for (size_t key = 0; key < k->nkeys; key++) {
      if ((words[k->nkeys] >> key & 1) != 0) {
        pf_store_set_missing(store, key, g);
        continue;
      }
      const pf_status status =
          put_key(k, key, words[key], &store->columns[key], g, error);
      if (status != PF_OK)
        return status;
    }
  }
  return PF_OK;
}


/* What differs from run to run and from table to table. */
static uint64_t seed_of (const pf_keys *k) {
  struct timespec now = {0, 0};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return mix((uint64_t)now.tv_nsec, (uint64_t)(uintptr_t)k);
}


pf_status pf_keys_open (const pf_key *keys, size_t nkeys,
                        const pf_field *fields, pf_keys **made) {
  pf_keys *const k = calloc(1, sizeof *k);
  if (k == NULL)
    return PF_ENOMEM;
  k->nkeys = nkeys;
  k->width = nkeys + 1;
  k->seed = seed_of(k);
  k->keys = calloc(nkeys + 1, sizeof *k->keys);
  k->types = calloc(nkeys + 1, sizeof *k->types);
  k->rows = calloc(k->width * PF_BATCH_ROWS, sizeof *k->rows);
  k->texts = pf_dictionary_new();
  if (k->keys == NULL || k->types == NULL || k->rows == NULL ||
      k->texts == NULL) {
    pf_keys_close(k);
    return PF_ENOMEM;
  }
  for (size_t i = 0; i < nkeys; i++) {
    k->keys[i] = keys[i];
    k->types[i] = keys[i].maker == NULL ? fields[keys[i].column].type : PF_INT;
  }
  *made = k;
  return PF_OK;
}


void pf_keys_close (pf_keys *k) {
  if (k == NULL)
    return;
  pf_dictionary_free(k->texts);
  free(k->keys);
  free(k->types);
  free(k->groups);
  free(k->slots);
  free(k->direct);
  free(k->rows);
  free(k);
}
