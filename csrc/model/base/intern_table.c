/*
** intern_table.c - open addressing with linear probing. A slot has the hash
** beside the id: few look-ups compare entries, and growing compares none.
*/

#include "model/base/intern_table.h"

#include <stdlib.h>
#include <string.h>

#include "model/base/memory.h"

#define FIRST_CAPACITY 64


static void place (pf_intern_table *t, pf_intern_slot thing) {
  uint32_t i = thing.hash >> t->shift;
  while (t->slots[i].number != PF_NOT_INTERNED)
    i = (i + 1) & t->mask;
  t->slots[i] = thing;
}


bool pf_intern_table_reserve_all (pf_intern_table *t, size_t count) {
  if (count <= t->capacity)
    return true;
  if (count > UINT32_MAX / 2)
    return false;
  uint32_t capacity = t->capacity == 0 ? FIRST_CAPACITY : t->capacity * 2;
  while (capacity < count)
    capacity *= 2;
  pf_intern_slot *const slots = pf_array((size_t)capacity * 2, sizeof *slots);
  if (slots == NULL)
    return false;
  memset(slots, 0xff, (size_t)capacity * 2 * sizeof *slots); /* all are free */
  pf_intern_slot *const old = t->slots;
  const size_t nold = (size_t)t->capacity * 2;
  t->slots = slots;
  t->capacity = capacity;
  t->mask = capacity * 2 - 1;
  t->shift = (unsigned)__builtin_clz(t->mask);
  /* In the order of the old slots, so that the new ones are written in
     order. */
  for (size_t i = 0; i < nold; i++)
    if (old[i].number != PF_NOT_INTERNED)
      place(t, old[i]);
  free(old);
  return true;
}


bool pf_intern_table_reserve (pf_intern_table *t) {
  return pf_intern_table_reserve_all(t, (size_t)t->count + 1);
}


void pf_intern_put_short (pf_intern_table *t, uint32_t hash, uint32_t number) {
  t->count++;
  place(t, (pf_intern_slot){hash, number});
}


void pf_intern_table_put (pf_intern_table *t, uint64_t hash, uint32_t number) {
  pf_intern_put_short(t, pf_intern_fold(hash), number);
}


uint32_t pf_intern_table_add (pf_intern_table *t, uint64_t hash) {
  const uint32_t number = t->count;
  pf_intern_table_put(t, hash, number);
  return number;
}


uint32_t pf_intern_append (pf_intern_table *t, uint64_t hash, void *array,
                           size_t *capacity, const void *element, size_t size) {
  const size_t count = (size_t)t->count + 1;
  if (!pf_intern_table_reserve(t) ||
      (count > *capacity && !pf_grow_array(array, capacity, count, size)))
    return PF_NOT_INTERNED;
  uint8_t *elements;
  memcpy(&elements, array, sizeof elements);
  memcpy(elements + t->count * size, element, size);
  return pf_intern_table_add(t, hash);
}


bool pf_intern_table_copy (pf_intern_table *t, const pf_intern_table *from) {
  const size_t nslots = (size_t)from->capacity * 2;
  pf_intern_slot *const slots = pf_array(nslots, sizeof *slots);
  if (slots == NULL)
    return false;
  if (nslots > 0)
    memcpy(slots, from->slots, nslots * sizeof *slots);
  pf_intern_table_free(t);
  *t = *from;
  t->slots = slots;
  return true;
}


void pf_intern_table_free (pf_intern_table *t) {
  free(t->slots);
  *t = (pf_intern_table){0};
}
