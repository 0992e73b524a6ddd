/*
** id_table.c - multiplicative hashing of words (Knuth, The Art of Computer
** Programming 3, 6.4), and an array for small words.
*/

#include <stdlib.h>
#include <string.h>

#include "model/base/id_table.h"
#include "model/base/memory.h"
#include "os/os.h"

#define MAX_DIRECT  ((uint32_t)1 << 22) /* words below it use the array */
#define SMALL_TABLE ((size_t)1 << 14)   /* words */

void pf_id_table_init (pf_id_table *n) {
  memset(n, 0, sizeof *n);
  n->missing = PF_NO_ID;
  /* The multiplier of the hash: differs between runs and tables, so that no
     file can contain prepared collisions; odd, so that no bit of a word is
     lost. */
  uint64_t m = (uint64_t)os_now(OS_MONOTONIC) ^ (uint64_t)(uintptr_t)n << 20;
  m = (m ^ m >> 31) * 0xbf58476d1ce4e5b9u;
  m = (m ^ m >> 27) * 0x94d049bb133111ebu;
  n->known.seed = (m ^ m >> 31) | 1;
}


void pf_id_table_free (pf_id_table *n) {
  free(n->words);
  free(n->direct);
  pf_intern_table_free(&n->known);
}


static inline uint32_t hash_of (const pf_id_table *n, uint64_t word) {
  return (uint32_t)(word * n->known.seed >> 32);
}


typedef struct wanted {
  const uint64_t *words;
  uint64_t word;
} wanted;


static bool is_same (const void *context, uint32_t id) {
  const wanted *const w = context;
  return w->words[id] == w->word;
}


/* The id of a word, or PF_NO_ID. The table has slots. */
static inline uint32_t look_up (const pf_id_table *n, uint64_t word) {
  const wanted w = {n->words, word};
  return pf_intern_probe(&n->known, hash_of(n, word), is_same, &w);
}


uint32_t pf_id_table_find (const pf_id_table *n, uint64_t word) {
  return n->known.capacity == 0 ? PF_NO_ID : look_up(n, word);
}


/* Assign the next id. */
static pf_status append (pf_id_table *n, uint64_t word, uint32_t *id) {
  if (n->count >= (uint32_t)1 << 31 ||
      !pf_grow(&n->words, &n->capacity, n->count + 1))
    return PF_ENOMEM;
  n->words[n->count] = word;
  *id = n->count++;
  return PF_OK;
}


/* Reserve slots for one more word. A small table stays three quarters empty,
   which keeps probe sequences short; a large one is limited by cache misses and
   stays half empty. */
static bool reserve (pf_id_table *n) {
  const size_t count = (size_t)n->known.count + 1;
  return pf_intern_table_reserve_all(&n->known,
                                     count < SMALL_TABLE ? 2 * count : count);
}


static pf_status add_word (pf_id_table *n, uint64_t word, uint32_t *id) {
  if (!reserve(n) || append(n, word, id) != PF_OK)
    return PF_ENOMEM;
  pf_intern_put_short(&n->known, hash_of(n, word), *id);
  return PF_OK;
}


static inline pf_status find (pf_id_table *n, uint64_t word, uint32_t *id) {
  *id = look_up(n, word);
  return *id != PF_NO_ID ? PF_OK : add_word(n, word, id);
}


pf_status pf_id_table_words (pf_id_table *n, const uint64_t *words,
                             size_t count, uint32_t *ids) {
  return pf_id_table_nullable(n, words, NULL, count, ids);
}


pf_status pf_id_table_nullable (pf_id_table *n, const uint64_t *words,
                                const bool *missing, size_t count,
                                uint32_t *ids) {
  if (n->known.capacity == 0 && !reserve(n))
    return PF_ENOMEM;
  pf_id_table now = *n; /* `ids` is not in it, so it stays in registers */
  for (size_t i = 0; i < count; i++) {
    const bool has_value = missing == NULL || !missing[i];
    ids[i] = has_value ? look_up(&now, words[i]) : n->missing;
    if (ids[i] != PF_NO_ID)
      continue;
    if ((has_value ? add_word(n, words[i], &ids[i])
                   : append(n, 0, &n->missing)) != PF_OK)
      return PF_ENOMEM;
    now = *n;
    if (!has_value)
      ids[i] = n->missing;
  }
  return PF_OK;
}


/* Encode values up to the first one that is not in the array. Returns how many.
   The size of the array is a power of two and ids are below 2^31, so that one
   comparison tests several values or ids. */
static size_t encode_known (const pf_id_table *n, const uint32_t *values,
                            size_t count, uint32_t *ids) {
  const uint32_t *const direct = n->direct;
  const uint32_t ndirect = n->ndirect;
  size_t i = 0;
  for (; count - i >= 4; i += 4) {
    const uint32_t *const four = values + i;
    if ((four[0] | four[1] | four[2] | four[3]) >= ndirect)
      break;
    const uint32_t a = direct[four[0]], b = direct[four[1]];
    const uint32_t c = direct[four[2]], d = direct[four[3]];
    if ((a | b | c | d) > INT32_MAX)
      break;
    ids[i] = a;
    ids[i + 1] = b;
    ids[i + 2] = c;
    ids[i + 3] = d;
  }
  while (i < count && values[i] < ndirect && direct[values[i]] != PF_NO_ID) {
    ids[i] = direct[values[i]];
    i++;
  }
  return i;
}


pf_status pf_id_table_small (pf_id_table *n, const uint32_t *values,
                             size_t count, uint32_t *ids) {
  size_t done = encode_known(n, values, count, ids);
  if (n->known.capacity == 0 && !reserve(n))
    return PF_ENOMEM;
  while (done < count) {
    const uint32_t value = values[done];
    if (find(n, value, &ids[done]) != PF_OK)
      return PF_ENOMEM;
    if (value < MAX_DIRECT) {
      uint32_t size = n->ndirect == 0 ? 256 : n->ndirect;
      while (size <= value)
        size *= 2;
      size_t capacity = n->ndirect;
      if (!pf_grow_filled(&n->direct, &capacity, size, 0xff))
        return PF_ENOMEM;
      n->ndirect = size;
      n->direct[value] = ids[done];
    }
    done++;
    done += encode_known(n, values + done, count - done, ids + done);
  }
  return PF_OK;
}
