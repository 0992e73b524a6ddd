/*
** intern_table.h - dictionary encoding: finds the entry of an array that equals
** a new one. It is a hash table with open addressing over ids (indices of the
** array) and hashes; the owner of the table has the entries and compares them.
** It is the only hash table of the core; id_table.h numbers words by one. Used
** in all layers from model on.
**
** Order of calls: zero a table and set `seed`; then for each entry find, and if
** there is none, reserve and add; or pf_intern_element. pf_intern_table_free
** frees the slots; the struct belongs to the caller.
*/

#ifndef intern_table_h
#define intern_table_h

#include <string.h>

#include "model/base/wide.h"

#define PF_NOT_INTERNED UINT32_MAX

typedef struct pf_intern_slot {
  uint32_t hash;
  uint32_t number; /* the id, or PF_NOT_INTERNED: the slot is free */
} pf_intern_slot;

typedef struct pf_intern_table {
  pf_intern_slot *slots;
  uint32_t count, capacity;
  uint32_t mask;  /* slots are mask + 1; there are none while capacity is 0 */
  unsigned shift; /* from the 32 bits of a hash to its slot: the top bits */
  uint64_t seed;  /* first value of all hashes; random, so that a file cannot be
                    made to have many equal hashes */
} pf_intern_table;

/* Whether entry `number` equals the entry that `context` describes. */
typedef bool pf_is_same (const void *context, uint32_t number);

/*
** Mix one more word into a hash, which begins with table->seed. The factor
** depends on the hash: with a constant factor, pairs of words could be found
** that cancel each other for every seed.
*/
static inline uint64_t pf_mix (uint64_t hash, uint64_t word) {
  const pf_magnitude product =
      (pf_magnitude)(hash ^ word) * (hash * 0x9e3779b97f4a7c15u | 1);
  return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* Mix `size` bytes into a hash. */
static inline uint64_t pf_mix_bytes (uint64_t hash, const void *bytes,
                                     size_t size) {
  const uint8_t *at = bytes;
  uint64_t word = 0;
  for (; size >= sizeof word; at += sizeof word, size -= sizeof word) {
    memcpy(&word, at, sizeof word);
    hash = pf_mix(hash, word);
  }
  if (size == 0)
    return hash;
  word = 0;
  memcpy(&word, at, size);
  return pf_mix(hash, word);
}

/* The 32 bits of a hash that a slot stores. */
static inline uint32_t pf_intern_fold (uint64_t hash) {
  hash *= 0xd6e8feb86659fd93u;
  return (uint32_t)(hash ^ hash >> 32);
}

/* The id of the entry that has these 32 bits of a hash and is equal, or
   PF_NOT_INTERNED. The table has slots. Inline, so that `is_same`, which is a
   constant where this is called, needs no call. */
static inline uint32_t pf_intern_probe (const pf_intern_table *table,
                                        uint32_t short_hash,
                                        pf_is_same *is_same,
                                        const void *context) {
  for (uint32_t i = short_hash >> table->shift;; i = (i + 1) & table->mask) {
    const pf_intern_slot *const slot = &table->slots[i];
    const uint32_t number = slot->number;
    if (slot->hash == short_hash) {
      if (number == PF_NOT_INTERNED || is_same(context, number))
        return number;
    }
    else if (number == PF_NOT_INTERNED)
      return number;
  }
}

/* The id of the equal entry, or PF_NOT_INTERNED. */
static inline uint32_t pf_intern_table_find (const pf_intern_table *table,
                                             uint64_t hash, pf_is_same *is_same,
                                             const void *context) {
  return table->capacity == 0
             ? PF_NOT_INTERNED
             : pf_intern_probe(table, pf_intern_fold(hash), is_same, context);
}

/* Fetch the slot of a hash into the cache. */
static inline void pf_intern_prefetch (const pf_intern_table *table,
                                       uint64_t hash) {
  if (table->capacity > 0)
    __builtin_prefetch(&table->slots[pf_intern_fold(hash) >> table->shift], 1);
}

/* Reserve capacity for one more entry, whose id will be table->count. False
   when out of memory or of ids: nothing has changed. */
bool pf_intern_table_reserve (pf_intern_table *table);

/* Reserve capacity for `count` entries in all. False as above. */
bool pf_intern_table_reserve_all (pf_intern_table *table, size_t count);

/* Add an entry after pf_intern_table_reserve. Returns its id. */
uint32_t pf_intern_table_add (pf_intern_table *table, uint64_t hash);

/* Add an entry with an id that the owner chooses, for owners that do not add
   all their entries; after pf_intern_table_reserve. */
void pf_intern_table_put (pf_intern_table *table, uint64_t hash,
                          uint32_t number);

/* As pf_intern_table_put, by the 32 bits of a hash. */
void pf_intern_put_short (pf_intern_table *table, uint32_t short_hash,
                          uint32_t number);

/* Replace the contents of a table by a copy of `from`, with its seed. False
   when out of memory: nothing has changed. */
bool pf_intern_table_copy (pf_intern_table *table, const pf_intern_table *from);

void pf_intern_table_free (pf_intern_table *table);

/*
** The id of an element in an array, which is appended if it is new;
** PF_NOT_INTERNED when out of memory or of ids. `array` is the address of its
** pointer, `capacity` of a size_t. Elements are equal if their first `key_size`
** bytes are, which must not contain padding. Inline, so that constant sizes
** need no calls.
*/
#define pf_intern_element(table, array, capacity, element, key_size) \
  pf_intern_bytes((table), (array), (capacity), *(array), (element), \
                  sizeof **(array), (key_size))
typedef struct pf_element_key {
  const void *array, *element;
  size_t size, key_size;
} pf_element_key;

static inline bool pf_is_same_element (const void *context, uint32_t number) {
  const pf_element_key *const k = context;
  const uint8_t *const known = (const uint8_t *)k->array + number * k->size;
  return memcmp(known, k->element, k->key_size) == 0;
}

uint32_t pf_intern_append (pf_intern_table *table, uint64_t hash, void *array,
                           size_t *capacity, const void *element, size_t size);

static inline uint32_t pf_intern_bytes (pf_intern_table *table, void *array,
                                        size_t *capacity, const void *elements,
                                        const void *element, size_t size,
                                        size_t key_size) {
  const pf_element_key key = {elements, element, size, key_size};
  const uint64_t hash = pf_mix_bytes(table->seed, element, key_size);
  const uint32_t known =
      pf_intern_table_find(table, hash, pf_is_same_element, &key);
  return known != PF_NOT_INTERNED
             ? known
             : pf_intern_append(table, hash, array, capacity, element, size);
}

#endif
