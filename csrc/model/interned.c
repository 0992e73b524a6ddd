/*
** interned.c - open addressing over numbers; the hashes stand beside the
** things, so that growing looks at none of them.
*/

#include <stdlib.h>
#include <string.h>

#include "model/interned.h"


static uint32_t folded (uint64_t hash) {
  hash *= 0xd6e8feb86659fd93u;
  return (uint32_t)(hash ^ hash >> 32);
}


uint32_t pf_interned_find (const pf_interned *t, uint64_t hash,
                           pf_is_same *is_same, const void *context) {
  if (t->room == 0)
    return PF_NOT_INTERNED;
  const uint32_t short_hash = folded(hash);
  for (uint32_t i = short_hash & t->mask;; i = (i + 1) & t->mask) {
    const uint32_t number = t->slots[i];
    if (number == PF_NOT_INTERNED ||
        (t->hashes[number] == short_hash && is_same(context, number)))
      return number;
  }
}


static void place (pf_interned *t, uint32_t number) {
  uint32_t i = t->hashes[number] & t->mask;
  while (t->slots[i] != PF_NOT_INTERNED)
    i = (i + 1) & t->mask;
  t->slots[i] = number;
}


bool pf_interned_reserve (pf_interned *t) {
  if (t->count < t->room)
    return true;
  if (t->room > UINT32_MAX / 4)
    return false;
  const uint32_t room = t->room == 0 ? 64 : t->room * 2;
  uint32_t *const hashes = realloc(t->hashes, room * sizeof *hashes);
  if (hashes == NULL)
    return false;
  t->hashes = hashes;
  const size_t size = (size_t)room * 2 * sizeof *t->slots;
  uint32_t *const slots = malloc(size);
  if (slots == NULL)
    return false;
  memset(slots, 0xff, size); /* each is PF_NOT_INTERNED */
  free(t->slots);
  t->slots = slots;
  t->room = room;
  t->mask = room * 2 - 1;
  for (uint32_t number = 0; number < t->count; number++)
    place(t, number);
  return true;
}


uint32_t pf_interned_add (pf_interned *t, uint64_t hash) {
  const uint32_t number = t->count++;
  t->hashes[number] = folded(hash);
  place(t, number);
  return number;
}


bool pf_interned_copy (pf_interned *t, const pf_interned *from) {
  const size_t nslots = from->room == 0 ? 0 : (size_t)from->mask + 1;
  uint32_t *const slots = malloc((nslots + 1) * sizeof *slots);
  uint32_t *const hashes = malloc((from->room + 1u) * sizeof *hashes);
  if (slots == NULL || hashes == NULL) {
    free(slots);
    free(hashes);
    return false;
  }
  if (nslots > 0) {
    memcpy(slots, from->slots, nslots * sizeof *slots);
    memcpy(hashes, from->hashes, from->count * sizeof *hashes);
  }
  pf_interned_free(t);
  *t = *from;
  t->slots = slots;
  t->hashes = hashes;
  return true;
}


void pf_interned_free (pf_interned *t) {
  free(t->slots);
  free(t->hashes);
  *t = (pf_interned){0};
}
