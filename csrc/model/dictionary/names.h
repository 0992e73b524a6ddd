/*
** names.h - the dictionary: dictionary encoding of strings. A name is stored
** once and has an id; ids count from 0 in the order in which names are added
** and never change. Areas (areas.h) and stacks (stacks.h) belong to the
** dictionary too.
**
** One thread at a time may add names. Other threads may look up names with ids
** that they know (pf_name) meanwhile, since entries never move.
**
** Used by all layers above bytes. A userdata of lua/binding.c owns the
** dictionary that the files of a trace share; readers and profiles borrow it.
** Code that needs a private one, such as model/writer/ring_encoder.c and
** kernels/group, opens it and frees it.
*/

#ifndef names_h
#define names_h

#include <stdatomic.h>
#include <string.h>

#include "bytes/cursor.h"
#include "model/base/intern_table.h"
#include "profio.h"

#define PF_NO_NAME UINT32_MAX

/* An empty dictionary, which the caller frees; NULL when out of memory. */
pf_dictionary *pf_dictionary_new (void);
void pf_dictionary_free (pf_dictionary *dictionary);

/* The id of a string, which is copied if it is new; PF_NO_NAME when out of
   memory. Average cost: one hash of the bytes and one comparison. */
uint32_t pf_intern (pf_dictionary *dictionary, pf_bytes name);

/* The same for a C string. */
uint32_t pf_intern_text (pf_dictionary *dictionary, const char *name);

/* The id of two strings with something between them; PF_NO_NAME when out of
   memory. */
uint32_t pf_intern_joined (pf_dictionary *dictionary, pf_bytes left,
                           const char *between, pf_bytes right);

/* Set `numbers` to the ids of `count` C strings. PF_OK, or PF_ENOMEM with a
   message. */
pf_status pf_intern_texts (pf_dictionary *dictionary, const char *const *names,
                           size_t count, uint32_t *numbers, pf_error *error);

/* A C string as a slice. */
static inline pf_bytes pf_bytes_of (const char *text) {
  return (pf_bytes){(const uint8_t *)text, strlen(text)};
}

/* The file name of a path without its folders, which end in a slash or a
   backslash; the whole path if it ends in one. */
static inline pf_bytes pf_base_name (pf_bytes path) {
  size_t start = path.size;
  while (start > 0 && path.at[start - 1] != '/' && path.at[start - 1] != '\\')
    start--;
  if (start == path.size)
    start = 0;
  return (pf_bytes){path.at + start, path.size - start};
}

/* Set `numbers` to the ids of `count` strings. Faster than pf_intern for each,
   since cache misses overlap. False when out of memory. */
bool pf_intern_all (pf_dictionary *dictionary, const pf_bytes *names,
                    size_t count, uint32_t *numbers);

/* Reserve capacity for `count` names in all. False when out of memory: nothing
   has changed. */
bool pf_names_reserve (pf_dictionary *dictionary, size_t count);

/* The id of a string, or PF_NO_NAME if it has not been added. */
uint32_t pf_find_name (const pf_dictionary *dictionary, pf_bytes name);

/* Compare two texts, or two names, by their bytes: -1, 0 or 1. */
int pf_text_compare (pf_bytes left, pf_bytes right);
int pf_name_compare (const pf_dictionary *dictionary, uint32_t left,
                     uint32_t right);


/* Private part: visible so that a look-up of a name needs no call. */

/* Entries are in segments: the first has capacity for 2^PF_NAMES_FIRST of them,
   each other one for twice as many as the one before. */
#define PF_NAMES_FIRST    7
#define PF_NAMES_SEGMENTS (32 - PF_NAMES_FIRST + 1)

struct pf_dictionary {
  pf_bytes *segments[PF_NAMES_SEGMENTS]; /* those after the last are NULL */
  _Atomic uint32_t count;
  uint64_t seed;                 /* of the hash; random, see intern_table.h */
  pf_intern_table table;         /* of the names */
  struct pf_names_block *blocks; /* the newest first */
  bool has_mangled;              /* some name looks mangled */
  bool lacks_memory;             /* a name could not be demangled or added */
  struct pf_areas *areas;        /* areas.h; NULL: none yet */
  struct pf_stacks *stacks;      /* stacks.h; NULL: none yet */
};


/* The offset of a mangled name of C++ or Rust in a name, or SIZE_MAX. It
   follows the dots that gprof puts before functions with descriptors, and the
   additional underscore of Mach-O and some COFF systems. */
static inline size_t pf_mangled_start (pf_bytes name) {
  const uint8_t *const p = name.at;
  size_t n = 0;
  while (n < 8 && n < name.size && p[n] == '.')
    n++;
  if (n + 3 < name.size && p[n] == '_' && p[n + 1] == '_')
    n++;
  const bool is_mangled =
      n + 2 < name.size && p[n] == '_' && (p[n + 1] == 'Z' || p[n + 1] == 'R');
  return is_mangled ? n : SIZE_MAX;
}


/* The number of names: ids are below this. */
static inline uint32_t pf_names_count (const pf_dictionary *dictionary) {
  return atomic_load_explicit(&dictionary->count, memory_order_relaxed);
}


/* The segment of an id, and its index there. */
static inline unsigned pf_names_place (uint32_t number, size_t *at) {
  const uint64_t n = number + (UINT64_C(1) << PF_NAMES_FIRST);
  const unsigned bit = 63 - (unsigned)__builtin_clzll(n);
  *at = (size_t)(n ^ UINT64_C(1) << bit);
  return bit - PF_NAMES_FIRST;
}


static inline const pf_bytes *pf_names_entry (const pf_dictionary *dictionary,
                                              uint32_t number) {
  size_t at;
  const unsigned segment = pf_names_place(number, &at);
  return &dictionary->segments[segment][at];
}


/* The bytes of a name, followed by a NUL; valid while the dictionary lives. The
   empty name for an id that does not exist. */
static inline pf_bytes pf_name (const pf_dictionary *dictionary,
                                uint32_t number) {
  if (number >= pf_names_count(dictionary))
    return (pf_bytes){(const uint8_t *)"", 0};
  return *pf_names_entry(dictionary, number);
}


/* Prefetch the entry of a name. */
static inline void pf_name_prefetch (const pf_dictionary *dictionary,
                                     uint32_t number) {
  if (number < pf_names_count(dictionary))
    __builtin_prefetch(pf_names_entry(dictionary, number));
}


/* Eight bytes of a name from `offset` on, padded with NUL, as a big-endian
   number: it compares like the bytes. */
static inline uint64_t pf_name_word (const pf_dictionary *dictionary,
                                     uint32_t number, size_t offset) {
  const pf_bytes name = pf_name(dictionary, number);
  const size_t left = offset < name.size ? name.size - offset : 0;
  if (left >= 8)
    return pf_load64be(name.at + offset);
  uint64_t word = 0;
  for (size_t i = 0; i < left; i++)
    word |= (uint64_t)name.at[offset + i] << (56 - 8 * i);
  return word;
}

#endif
