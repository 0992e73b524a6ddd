/*
** text_ids.h - distinct texts of a source, numbered from 0: a reader looks at
** each one once, and keeps what it stands for in an array of its own.
**
** Used by the format perfscript. Zero a pf_text_ids and set table.seed; free it
** by pf_text_ids_free. It borrows the texts, and grows with them.
*/

#ifndef text_ids_h
#define text_ids_h

#include <stdlib.h>

#include "bytes/text.h"
#include "model/base/intern_table.h"
#include "model/base/memory.h"

typedef struct pf_text_ids {
  pf_intern_table table;
  pf_bytes *texts;
  size_t capacity;
} pf_text_ids;

typedef struct pf_text_key {
  const pf_bytes *texts;
  pf_bytes text;
} pf_text_key;

static inline bool pf_is_same_text (const void *context, uint32_t number) {
  const pf_text_key *const key = context;
  return pf_bytes_equal(key->texts[number], key->text);
}

/* Set *id to that of a text, which is added if it is new: then *is_new is true.
   False when out of memory. */
static inline bool pf_text_id (pf_text_ids *ids, pf_bytes text, uint32_t *id,
                               bool *is_new) {
  const pf_text_key key = {ids->texts, text};
  const uint64_t hash =
      pf_mix(pf_mix_bytes(ids->table.seed, text.at, text.size), text.size);
  *id = pf_intern_table_find(&ids->table, hash, pf_is_same_text, &key);
  *is_new = *id == PF_NOT_INTERNED;
  if (!*is_new)
    return true;
  if (!pf_grow(&ids->texts, &ids->capacity, (size_t)ids->table.count + 1) ||
      !pf_intern_table_reserve(&ids->table))
    return false;
  *id = pf_intern_table_add(&ids->table, hash);
  ids->texts[*id] = text;
  return true;
}

static inline void pf_text_ids_free (pf_text_ids *ids) {
  pf_intern_table_free(&ids->table);
  free(ids->texts);
}

#endif
