/*
** names.c - the names of a dictionary. The strings lie one after another in
** blocks that are never moved or freed before the dictionary, so that a name
** keeps its address.
*/

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/intern_table.h"
#include "model/base/memory.h"
#include "model/dictionary/names.h"
#include "model/base/switches.h"
#include "model/dictionary/stacks.h"
#include "os/os.h"

#define FIRST_BLOCK (1u << 16)
#define MOST_BLOCK  (1u << 22)
#define AT_ONCE     64u /* names whose slots are prefetched together */

/* A block of memory for strings. The strings follow the header. */
struct pf_names_block {
  struct pf_names_block *next;
  size_t used, size; /* bytes, with the header */
};

typedef struct pf_names_block block;


pf_dictionary *pf_dictionary_new (void) {
  pf_dictionary *d = calloc(1, sizeof *d);
  if (d == NULL)
    return NULL;
  /* The seed differs for each run and each dictionary, so that nobody can
     prepare names that collide. */
  d->seed = pf_mix(pf_mix(0x9e3779b97f4a7c15u, (uint64_t)os_now(OS_MONOTONIC)),
                   (uint64_t)(uintptr_t)d);
  return d;
}


void pf_dictionary_free (pf_dictionary *d) {
  if (d == NULL)
    return;
  for (block *b = d->blocks, *next; b != NULL; b = next) {
    next = b->next;
    free(b);
  }
  pf_areas_free(d->areas);
  pf_stacks_free(d->stacks);
  for (size_t i = 0; i < PF_NAMES_SEGMENTS; i++)
    free(d->segments[i]);
  pf_intern_table_free(&d->table);
  free(d);
}


static uint64_t eight_bytes (const uint8_t *p) {
  uint64_t word;
  memcpy(&word, p, sizeof word);
  return word;
}


/* Returns a word that is different for any two strings of the same size, which
   is below eight. */
static uint64_t few_bytes (const uint8_t *p, size_t size) {
  if (size >= 4) {
    uint32_t first, last;
    memcpy(&first, p, sizeof first);
    memcpy(&last, p + size - sizeof last, sizeof last);
    return first | (uint64_t)last << 32;
  }
  return size == 0
             ? 0
             : p[0] | (uint64_t)p[size / 2] << 8 | (uint64_t)p[size - 1] << 16;
}


/* Returns the hash of a name. It takes eight bytes per step, which is fast for
   short strings, and mixes all bits well enough for a table whose size is a
   power of two. The last step may read some bytes a second time. */
static uint64_t hash_of (const pf_dictionary *d, pf_bytes name) {
  const size_t size = name.size;
  uint64_t h = pf_mix(d->seed, size);
  for (size_t i = 0; i + 8 < size; i += 8)
    h = pf_mix(h, eight_bytes(name.at + i));
  return pf_mix(h, size < 8 ? few_bytes(name.at, size)
                            : eight_bytes(name.at + size - 8));
}


typedef struct wanted {
  const pf_dictionary *dictionary;
  pf_bytes name;
} wanted;


static bool is_same (const void *context, uint32_t number) {
  const wanted *const w = context;
  const pf_bytes known = *pf_names_entry(w->dictionary, number);
  return known.size == w->name.size &&
         (known.size == 0 || memcmp(known.at, w->name.at, known.size) == 0);
}


static uint32_t find (const pf_dictionary *d, pf_bytes name, uint64_t hash) {
  const wanted w = {d, name};
  return pf_intern_table_find(&d->table, hash, is_same, &w);
}


bool pf_names_reserve (pf_dictionary *d, size_t count) {
  return pf_intern_table_reserve_all(&d->table, count);
}


/* Copies a name, with a NUL after it, into a block. Each block is twice as
   large as the block before it, up to MOST_BLOCK; a longer name gets a block of
   its own size. NULL when out of memory. */
static const uint8_t *keep (pf_dictionary *d, pf_bytes name) {
  if (d->blocks == NULL || d->blocks->size - d->blocks->used <= name.size) {
    size_t size = d->blocks == NULL ? FIRST_BLOCK : 2 * d->blocks->size;
    if (size > MOST_BLOCK)
      size = MOST_BLOCK;
    if (size - sizeof(block) <= name.size)
      size = sizeof(block) + name.size + 1;
    block *const more = pf_array(size, 1);
    if (more == NULL)
      return NULL;
    *more = (block){d->blocks, sizeof *more, size};
    d->blocks = more;
  }
  block *const b = d->blocks;
  uint8_t *const at = (uint8_t *)b + b->used;
  if (name.size > 0)
    memcpy(at, name.at, name.size);
  at[name.size] = 0;
  b->used += name.size + 1;
  return at;
}


/* Returns the id of a name, which is added if it is new; PF_NO_NAME when out of
   memory. */
static uint32_t intern (pf_dictionary *d, pf_bytes name, uint64_t hash) {
  const uint32_t known = find(d, name, hash);
  if (known != PF_NOT_INTERNED)
    return known;
  if (!pf_intern_table_reserve(&d->table))
    return PF_NO_NAME;
  size_t place;
  const unsigned which = pf_names_place(pf_names_count(d), &place);
  pf_bytes **const segment = &d->segments[which];
  if (*segment == NULL)
    *segment =
        pf_array((size_t)1 << (PF_NAMES_FIRST + which), sizeof **segment);
  const uint8_t *const at = *segment == NULL ? NULL : keep(d, name);
  if (at == NULL)
    return PF_NO_NAME;
  (*segment)[place] = (pf_bytes){at, name.size};
  d->has_mangled |= pf_mangled_start(name) != SIZE_MAX;
  const uint32_t number = pf_intern_table_add(&d->table, hash);
  atomic_store_explicit(&d->count, number + 1, memory_order_relaxed);
  return number;
}


uint32_t pf_intern (pf_dictionary *d, pf_bytes name) {
  return intern(d, name, hash_of(d, name));
}


static size_t smaller (size_t a, size_t b) {
  return a < b ? a : b;
}


/* Computes the hashes of at most AT_ONCE names and prefetches their slots. */
static void ask (const pf_dictionary *d, const pf_bytes *names, size_t count,
                 uint64_t *hashes) {
  for (size_t i = 0; i < smaller(count, AT_ONCE); i++) {
    hashes[i] = hash_of(d, names[i]);
    if (PF_FAST(MISSES))
      pf_intern_prefetch(&d->table, hashes[i]);
  }
}


/* Works in two groups: the slots of the next group are prefetched while the
   names of this group are looked up, so that cache misses overlap. */
bool pf_intern_all (pf_dictionary *d, const pf_bytes *names, size_t count,
                    uint32_t *numbers) {
  uint64_t hashes[2][AT_ONCE];
  ask(d, names, count, hashes[0]);
  for (size_t i = 0, turn = 0; i < count; i += AT_ONCE, turn ^= 1) {
    const size_t end = smaller(count, i + AT_ONCE);
    ask(d, names + end, count - end, hashes[turn ^ 1]);
    for (size_t j = i; j < end; j++) {
      numbers[j] = intern(d, names[j], hashes[turn][j - i]);
      if (numbers[j] == PF_NO_NAME)
        return false;
    }
  }
  return true;
}


uint32_t pf_intern_text (pf_dictionary *d, const char *name) {
  return pf_intern(d, pf_bytes_of(name));
}


/* Copies a string behind others, and returns their size. */
static size_t append (uint8_t *all, size_t size, pf_bytes text) {
  if (text.size > 0)
    memcpy(all + size, text.at, text.size);
  return size + text.size;
}


uint32_t pf_intern_joined (pf_dictionary *d, pf_bytes left, const char *between,
                           pf_bytes right) {
  const pf_bytes middle = pf_bytes_of(between);
  uint8_t *const all = malloc(left.size + middle.size + right.size + 1);
  if (all == NULL)
    return PF_NO_NAME;
  size_t size = append(all, 0, left);
  size = append(all, size, middle);
  size = append(all, size, right);
  const uint32_t id = pf_intern(d, (pf_bytes){all, size});
  free(all);
  return id;
}


pf_status pf_intern_texts (pf_dictionary *d, const char *const *names,
                           size_t count, uint32_t *numbers, pf_error *error) {
  for (size_t i = 0; i < count; i++) {
    numbers[i] = pf_intern_text(d, names[i]);
    if (numbers[i] == PF_NO_NAME)
      return pf_no_memory(error);
  }
  return PF_OK;
}


uint32_t pf_find_name (const pf_dictionary *d, pf_bytes name) {
  return find(d, name, hash_of(d, name));
}


int pf_text_compare (pf_bytes left, pf_bytes right) {
  const size_t least = left.size < right.size ? left.size : right.size;
  const int order = least == 0 ? 0 : memcmp(left.at, right.at, least);
  if (order != 0)
    return order < 0 ? -1 : 1;
  return (left.size > right.size) - (left.size < right.size);
}


int pf_name_compare (const pf_dictionary *d, uint32_t left, uint32_t right) {
  return pf_text_compare(pf_name(d, left), pf_name(d, right));
}
