/*
** intern_table.h - which of the things of an array equals a new one: the hash
** table under areas, stacks and contexts. The things themselves are their
** owner's; here they are numbers from 0, and their hashes.
*/

#ifndef intern_table_h
#define intern_table_h

#include "profio.h"

#define PF_NOT_INTERNED UINT32_MAX

typedef struct pf_intern_slot {
  uint32_t hash;
  uint32_t number; /* or PF_NOT_INTERNED: free */
} pf_intern_slot;

typedef struct pf_intern_table {
  pf_intern_slot *slots;
  uint32_t count, capacity;
  uint32_t mask; /* slots are mask + 1; there are none while capacity is 0 */
  uint64_t seed; /* of the hashes: files cannot know it */
} pf_intern_table;

/* Whether thing `number` of the context's owner is the one looked for. */
typedef bool pf_is_same (const void *context, uint32_t number);

/*
** Mix one more word into a hash, which begins with table->seed. The factor is
** made of the hash: with one that is known, words could be found of which one
** takes back in the hash what the other has changed, whatever the seed is.
*/
static inline uint64_t pf_mix (uint64_t hash, uint64_t word) {
  __extension__ typedef unsigned __int128 wide;
  const wide product = (wide)(hash ^ word) * (hash * 0x9e3779b97f4a7c15u | 1);
  return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* The number of the thing that is the same, or PF_NOT_INTERNED. */
uint32_t pf_intern_table_find (const pf_intern_table *table, uint64_t hash,
                               pf_is_same *is_same, const void *context);

/* Make room for one more: its number will be table->count. False when out
   of memory or of numbers; nothing has changed then. */
bool pf_intern_table_reserve (pf_intern_table *table);

/* Take one more; there is room. */
uint32_t pf_intern_table_add (pf_intern_table *table, uint64_t hash);

/* The same where owners number their things, of which not all are here. */
void pf_intern_table_put (pf_intern_table *table, uint64_t hash,
                          uint32_t number);

/* Have all of `from` in an empty one, whose seed becomes the same. False when
   out of memory. */
bool pf_intern_table_copy (pf_intern_table *table, const pf_intern_table *from);

void pf_intern_table_free (pf_intern_table *table);

#endif
