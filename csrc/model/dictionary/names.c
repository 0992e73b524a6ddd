/*
** names.c - the dictionary: a hash table with open addressing and linear
** probing. The strings lie one after another in blocks that are never moved or
** freed before the dictionary, so that a name keeps its address.
*/

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "model/base/intern_table.h"
#include "model/base/memory.h"
#include "model/dictionary/names.h"
#include "model/base/switches.h"
#include "model/dictionary/stacks.h"

#define FIRST_BLOCK (1u << 16)
#define MOST_BLOCK  (1u << 22)
#define AT_ONCE     64u /* names whose slots are prefetched together */

/* A block of memory for strings. The strings follow the header. */
struct pf_names_block {
  struct pf_names_block *next;
  size_t used, size; /* bytes, with the header */
};

typedef struct pf_names_block block;
typedef struct pf_names_slot slot;


/* Allocates free slots; NULL when out of memory. The loop writes them, because
   a page of calloc that is first read and then written costs two page faults,
   and a prefetch of such a page has no effect. */
static slot *new_slots (uint32_t mask) {
  const size_t count = (size_t)mask + 1;
  slot *const slots = pf_array(count, sizeof *slots);
  if (slots != NULL)
    memset(slots, 0xff, count * sizeof *slots); /* each PF_NO_NAME */
  return slots;
}


pf_dictionary *pf_dictionary_new (void) {
  pf_dictionary *d = calloc(1, sizeof *d);
  if (d == NULL)
    return NULL;
  /* The seed differs for each run and each dictionary, so that nobody can
     prepare names that collide. */
  struct timespec now = {0, 0};
  clock_gettime(CLOCK_MONOTONIC, &now);
  d->seed = pf_mix(pf_mix(0x9e3779b97f4a7c15u, (uint64_t)now.tv_nsec),
                   (uint64_t)(uintptr_t)d);
  d->mask = 255;
  d->slots = new_slots(d->mask);
  if (d->slots == NULL) {
    free(d);
    return NULL;
  }
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
  free(d->slots);
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
static uint32_t hash_of (const pf_dictionary *d, pf_bytes name) {
  const size_t size = name.size;
  uint64_t h = pf_mix(d->seed, size);
  for (size_t i = 0; i + 8 < size; i += 8)
    h = pf_mix(h, eight_bytes(name.at + i));
  h = pf_mix(h, size < 8 ? few_bytes(name.at, size)
                         : eight_bytes(name.at + size - 8));
  return (uint32_t)(h ^ h >> 32);
}


/* Returns whether an occupied slot belongs to the name. */
static bool is_same (const pf_dictionary *d, const slot *s, pf_bytes name,
                     uint32_t hash) {
  if (s->hash != hash)
    return false;
  const pf_bytes known = *pf_names_entry(d, s->number);
  return known.size == name.size &&
         (name.size == 0 || memcmp(known.at, name.at, name.size) == 0);
}


/* Returns the slot of the name, or the free slot where the name belongs. */
static slot *slot_of (const pf_dictionary *d, pf_bytes name, uint32_t hash) {
  uint32_t i = hash & d->mask;
  while (d->slots[i].number != PF_NO_NAME &&
         !is_same(d, &d->slots[i], name, hash))
    i = (i + 1) & d->mask;
  return &d->slots[i];
}


/* Returns the maximum number of names of a table: three quarters of its slots.
   */
static uint32_t most_names (uint32_t mask) {
  return mask - mask / 4;
}


/* Moves all slots to a larger table. The slots contain the hashes, so no name
   is read. False when out of memory. */
static bool resize_slots (pf_dictionary *d, uint32_t mask) {
  slot *const slots = new_slots(mask);
  if (slots == NULL)
    return false;
  for (size_t old = 0; pf_names_count(d) > 0 && old <= d->mask; old++)
    if (d->slots[old].number != PF_NO_NAME) {
      uint32_t i = d->slots[old].hash & mask;
      while (slots[i].number != PF_NO_NAME)
        i = (i + 1) & mask;
      slots[i] = d->slots[old];
    }
  free(d->slots);
  d->slots = slots;
  assert((mask & (mask + 1)) == 0);
  d->mask = mask;
  return true;
}


bool pf_names_reserve (pf_dictionary *d, size_t count) {
  uint32_t mask = d->mask;
  while (most_names(mask) < count) {
    if (mask == UINT32_MAX)
      return false; /* all 32-bit ids are taken */
    mask = mask * 2 + 1;
  }
  return mask == d->mask || resize_slots(d, mask);
}


/* Allocates a block in which a name of `name_size` bytes fits. Each block is
   twice as large as the block before it, up to MOST_BLOCK. NULL when out of
   memory. */
static block *new_block (pf_dictionary *d, size_t name_size) {
  size_t size = d->blocks == NULL ? FIRST_BLOCK : 2 * d->blocks->size;
  if (size > MOST_BLOCK)
    size = MOST_BLOCK;
  if (size - sizeof(block) <= name_size)
    size = sizeof(block) + name_size + 1;
  block *const b = pf_array(size, 1);
  if (b == NULL)
    return NULL;
  *b = (block){d->blocks, sizeof *b, size};
  return d->blocks = b;
}


/* Copies a name, with a NUL after it, into a block. NULL when out of memory. */
static const uint8_t *keep (pf_dictionary *d, pf_bytes name) {
  block *b = d->blocks;
  if (b == NULL || b->size - b->used <= name.size) {
    b = new_block(d, name.size);
    if (b == NULL)
      return NULL;
  }
  uint8_t *const at = (uint8_t *)b + b->used;
  if (name.size > 0)
    memcpy(at, name.at, name.size);
  at[name.size] = 0;
  b->used += name.size + 1;
  return at;
}


/* Returns the free entry of the next name; NULL when out of memory. */
static pf_bytes *next_entry (pf_dictionary *d) {
  size_t at;
  const unsigned number = pf_names_place(pf_names_count(d), &at);
  pf_bytes **const segment = &d->segments[number];
  if (*segment == NULL) {
    const unsigned bits = PF_NAMES_FIRST + number;
    *segment = pf_array((size_t)1 << bits, sizeof **segment);
  }
  return *segment == NULL ? NULL : *segment + at;
}


/* Adds a new name in its slot. Returns its id, or PF_NO_NAME when out of
   memory. */
static uint32_t add (pf_dictionary *d, slot *s, pf_bytes name, uint32_t hash) {
  const uint32_t number = pf_names_count(d);
  if (number >= most_names(d->mask)) {
    if (!pf_names_reserve(d, (size_t)number + 1))
      return PF_NO_NAME;
    s = slot_of(d, name, hash);
  }
  pf_bytes *const entry = next_entry(d);
  const uint8_t *const at = entry == NULL ? NULL : keep(d, name);
  if (at == NULL)
    return PF_NO_NAME;
  *entry = (pf_bytes){at, name.size};
  d->has_mangled |= pf_mangled_start(name) != SIZE_MAX;
  *s = (slot){hash, number};
  atomic_store_explicit(&d->count, number + 1, memory_order_relaxed);
  return number;
}


static uint32_t intern (pf_dictionary *d, pf_bytes name, uint32_t hash) {
  slot *const s = slot_of(d, name, hash);
  return s->number != PF_NO_NAME ? s->number : add(d, s, name, hash);
}


uint32_t pf_intern (pf_dictionary *d, pf_bytes name) {
  return intern(d, name, hash_of(d, name));
}


static size_t smaller (size_t a, size_t b) {
  return a < b ? a : b;
}


/* Computes the hashes of the first AT_ONCE names and prefetches their slots. */
static void ask (const pf_dictionary *d, const pf_bytes *names, size_t count,
                 uint32_t *hashes) {
  for (size_t i = 0; i < smaller(count, AT_ONCE); i++) {
    hashes[i] = hash_of(d, names[i]);
    if (PF_FAST(MISSES))
      __builtin_prefetch(&d->slots[hashes[i] & d->mask], 1);
  }
}


/* Works in two groups: the slots of the next group are prefetched while the
   names of this group are looked up, so that cache misses overlap. */
bool pf_intern_all (pf_dictionary *d, const pf_bytes *names, size_t count,
                    uint32_t *numbers) {
  uint32_t hashes[2][AT_ONCE];
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
  return slot_of(d, name, hash_of(d, name))->number;
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
