/*
** text_cache.h - a small cache from texts of a source to numbers, such as ids
** of names, for texts that occur in many rows. A text has one slot, and a new
** one replaces the one that was there; so a file can make it useless, but
** neither slow nor large.
**
** Used by readers of texts in formats, before they look up a name. Zero a
** cache before its first use. It borrows the texts, which stay valid while it
** is used, and allocates nothing.
*/

#ifndef text_cache_h
#define text_cache_h

#include "bytes/text.h"

#define PF_TEXT_BITS 12 /* of the number of a slot */

typedef struct pf_text_slot {
  pf_bytes text; /* its `at` is NULL: the slot is free */
  uint32_t value;
} pf_text_slot;

typedef struct pf_text_cache {
  pf_text_slot slots[1 << PF_TEXT_BITS];
} pf_text_cache;

/* A number from the first and last bytes of a text and those in the middle. */
static inline uint64_t pf_text_sample (pf_bytes text) {
  const uint8_t *const at = text.at;
  const size_t n = text.size;
  const uint64_t factor = 0x9e3779b97f4a7c15u;
  if (n >= 8)
    return ((pf_load64le(at) * factor ^ pf_load64le(at + n - 8)) * factor ^
            pf_load64le(at + n / 2 - 4)) +
           n;
  if (n >= 4)
    return ((uint64_t)pf_load32le(at) << 32 | pf_load32le(at + n - 4)) + n;
  return n == 0 ? 0
                : (uint64_t)at[0] << 16 | (uint64_t)at[n / 2] << 8 | at[n - 1];
}

/* The slot of a text. If it has another text or none (false), the caller sets
   both members. */
static inline bool pf_text_cached (pf_text_cache *cache, pf_bytes text,
                                   pf_text_slot **slot) {
  const uint64_t hash = pf_text_sample(text) * 0xd6e8feb86659fd93u;
  *slot = &cache->slots[hash >> (64 - PF_TEXT_BITS)]; /* the mixed bits */
  return (*slot)->text.at != NULL && pf_bytes_equal((*slot)->text, text);
}

#endif
