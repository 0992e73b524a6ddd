/*
** names.c - the dictionary: an open-addressing hash over strings that lie
** end to end in blocks, so that a name never moves.
*/

#include <stdlib.h>
#include <string.h>

#include "model/names.h"

#define BLOCK_SIZE 65536u

typedef struct block {
  struct block *next;
  size_t used, size;
  uint8_t bytes[];
} block;

struct pf_dictionary {
  pf_bytes *names;  /* by number */
  uint32_t *hashes; /* by number, so that growing needs no rehash */
  uint32_t *slots;  /* number + 1, or 0: free */
  uint32_t count, room;
  uint32_t mask; /* slots are mask + 1, a power of two */
  block *blocks; /* the newest first */
};


pf_dictionary *pf_dictionary_new (void) {
  pf_dictionary *d = calloc(1, sizeof *d);
  if (d == NULL)
    return NULL;
  d->mask = 255;
  d->slots = calloc(d->mask + 1, sizeof *d->slots);
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
  free(d->names);
  free(d->hashes);
  free(d->slots);
  free(d);
}


/* Eight bytes a step, multiplied and folded: fast on the short strings that
   names are, and good enough in all bits for a power-of-two table. */
static uint32_t hash_of (pf_bytes name) {
  const uint64_t k = 0x9e3779b97f4a7c15u;
  uint64_t h = name.size * k;
  const uint8_t *p = name.at;
  size_t left = name.size;
  for (; left >= 8; left -= 8, p += 8) {
    uint64_t w;
    memcpy(&w, p, 8);
    h = (h ^ w) * k;
    h ^= h >> 29;
  }
  if (left > 0) {
    uint64_t w = 0;
    memcpy(&w, p, left);
    h = (h ^ w) * k;
  }
  h ^= h >> 32;
  h *= 0xd6e8feb86659fd93u;
  return (uint32_t)(h ^ h >> 32);
}


/* The slot that holds the name, or the free one where it belongs. */
static uint32_t *slot_of (const pf_dictionary *d, pf_bytes name,
                          uint32_t hash) {
  for (uint32_t i = hash & d->mask;; i = (i + 1) & d->mask) {
    uint32_t *const slot = &d->slots[i];
    if (*slot == 0)
      return slot;
    const uint32_t n = *slot - 1;
    if (d->hashes[n] == hash && d->names[n].size == name.size &&
        (name.size == 0 || memcmp(d->names[n].at, name.at, name.size) == 0))
      return slot;
  }
}


static bool grow_slots (pf_dictionary *d) {
  const uint32_t mask = d->mask * 2 + 1;
  uint32_t *const slots = calloc((size_t)mask + 1, sizeof *slots);
  if (slots == NULL)
    return false;
  for (uint32_t n = 0; n < d->count; n++) {
    uint32_t i = d->hashes[n] & mask;
    while (slots[i] != 0)
      i = (i + 1) & mask;
    slots[i] = n + 1;
  }
  free(d->slots);
  d->slots = slots;
  d->mask = mask;
  return true;
}


static bool grow_names (pf_dictionary *d) {
  const uint32_t room = d->room == 0 ? 128 : d->room * 2;
  pf_bytes *const names = realloc(d->names, room * sizeof *names);
  if (names == NULL)
    return false;
  d->names = names;
  uint32_t *const hashes = realloc(d->hashes, room * sizeof *hashes);
  if (hashes == NULL)
    return false;
  d->hashes = hashes;
  d->room = room;
  return true;
}


/* A copy of the bytes with a NUL behind them; NULL when out of memory. */
static const uint8_t *keep (pf_dictionary *d, pf_bytes name) {
  block *b = d->blocks;
  if (b == NULL || b->size - b->used <= name.size) {
    const size_t size = name.size < BLOCK_SIZE ? BLOCK_SIZE : name.size + 1;
    b = malloc(sizeof *b + size);
    if (b == NULL)
      return NULL;
    *b = (block){d->blocks, 0, size};
    d->blocks = b;
  }
  uint8_t *const at = b->bytes + b->used;
  if (name.size > 0)
    memcpy(at, name.at, name.size);
  at[name.size] = 0;
  b->used += name.size + 1;
  return at;
}


uint32_t pf_intern (pf_dictionary *d, pf_bytes name) {
  const uint32_t hash = hash_of(name);
  uint32_t *slot = slot_of(d, name, hash);
  if (*slot != 0)
    return *slot - 1;
  if (d->count == PF_NO_NAME - 1)
    return PF_NO_NAME; /* numbers have run out */
  if (d->count >= d->mask / 2) {
    if (!grow_slots(d))
      return PF_NO_NAME;
    slot = slot_of(d, name, hash);
  }
  if (d->count == d->room && !grow_names(d))
    return PF_NO_NAME;
  const uint8_t *const at = keep(d, name);
  if (at == NULL)
    return PF_NO_NAME;
  const uint32_t number = d->count++;
  d->names[number] = (pf_bytes){at, name.size};
  d->hashes[number] = hash;
  *slot = number + 1;
  return number;
}


uint32_t pf_intern_text (pf_dictionary *d, const char *name) {
  return pf_intern(d, (pf_bytes){(const uint8_t *)name, strlen(name)});
}


uint32_t pf_find_name (const pf_dictionary *d, pf_bytes name) {
  return *slot_of(d, name, hash_of(name)) - 1; /* 0 - 1 is PF_NO_NAME */
}


pf_bytes pf_name (const pf_dictionary *d, uint32_t number) {
  if (number >= d->count)
    return (pf_bytes){(const uint8_t *)"", 0};
  return d->names[number];
}


uint32_t pf_names_count (const pf_dictionary *d) {
  return d->count;
}


int pf_name_compare (const pf_dictionary *d, uint32_t left, uint32_t right) {
  const pf_bytes a = pf_name(d, left), b = pf_name(d, right);
  const size_t least = a.size < b.size ? a.size : b.size;
  const int order = least == 0 ? 0 : memcmp(a.at, b.at, least);
  if (order != 0)
    return order < 0 ? -1 : 1;
  return (a.size > b.size) - (a.size < b.size);
}
