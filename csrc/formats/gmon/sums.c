/*
** sums.c - the sums of the encoder: an array with a hash table over it
** (open addressing, linear probing, load factor at most 1/2).
*/

#include <stdlib.h>
#include <string.h>

#include "formats/gmon/sums.h"
#include "model/base/intern_table.h"
#include "model/base/memory.h"
#include "model/dictionary/names.h"

#define FEW_BINS 65536 /* missing bins that are always written as zeros */


/* Returns the slot of a key, or the free slot for it. A free slot must
   exist. */
static size_t slot_of (const gmon_sums *sums, uint64_t a, uint64_t b) {
  const size_t mask = sums->nslots - 1;
  const uint64_t seed =
      (uint64_t)(uintptr_t)sums->slots; /* random: a file cannot provoke
                                           collisions */
  const uint64_t hash = pf_mix(pf_mix(pf_mix(0x9e3779b97f4a7c15u, seed), a), b);
  size_t slot = (size_t)(hash ^ hash >> 32) & mask;
  while (sums->slots[slot] != 0) {
    const gmon_sum *const sum = &sums->list[sums->slots[slot] - 1];
    if (sum->a == a && sum->b == b)
      break;
    slot = (slot + 1) & mask;
  }
  return slot;
}


/* Double the capacity, and rehash all entries. */
static bool grow (gmon_sums *sums) {
  const size_t capacity = sums->capacity == 0 ? 32 : sums->capacity * 2;
  if (capacity > UINT32_MAX / 2 || capacity > SIZE_MAX / sizeof *sums->list)
    return false;
  gmon_sums grown = {.list = calloc(capacity, sizeof *grown.list),
                     .count = sums->count,
                     .capacity = capacity,
                     .slots = calloc(2 * capacity, sizeof *grown.slots),
                     .nslots = 2 * capacity};
  if (grown.list == NULL || grown.slots == NULL) {
    gmon_sums_close(&grown);
    return false;
  }
  for (size_t i = 0; i < sums->capacity; i++) {
    grown.list[i] = sums->list[i];
    grown.slots[slot_of(&grown, grown.list[i].a, grown.list[i].b)] =
        (uint32_t)i + 1;
  }
  gmon_sums_close(sums);
  *sums = grown;
  return true;
}


size_t gmon_sums_find (const gmon_sums *sums, uint64_t a, uint64_t b) {
  if (sums->capacity == 0)
    return SIZE_MAX;
  const uint32_t number = sums->slots[slot_of(sums, a, b)];
  return number == 0 ? SIZE_MAX : number - 1;
}


gmon_sum *gmon_sums_get (gmon_sums *sums, uint64_t a, uint64_t b) {
  const size_t known = gmon_sums_find(sums, a, b);
  if (known != SIZE_MAX)
    return &sums->list[known];
  if (sums->count >= sums->capacity && !grow(sums))
    return NULL;
  sums->slots[slot_of(sums, a, b)] = (uint32_t)sums->count + 1;
  sums->list[sums->count] = (gmon_sum){a, b, 0};
  return &sums->list[sums->count++];
}


static int compare_sums (const void *left, const void *right) {
  const gmon_sum *const x = left, *const y = right;
  if (x->a != y->a)
    return x->a < y->a ? -1 : 1;
  return (x->b > y->b) - (x->b < y->b);
}


void gmon_sums_sort (gmon_sums *sums) {
  if (sums->count > 1)
    qsort(sums->list, sums->count, sizeof *sums->list, compare_sums);
}


void gmon_sums_close (gmon_sums *sums) {
  free(sums->list);
  free(sums->slots);
  *sums = (gmon_sums){.list = NULL};
}


static bool is_same (const gmon_set *a, const gmon_set *b) {
  return a->low == b->low && a->high == b->high && a->bins == b->bins &&
         a->rate == b->rate && a->dimension == b->dimension &&
         a->abbreviation == b->abbreviation;
}


/* Append bins of count 0 up to index `read`. */
static bool add_bins (gmon_set *set, uint64_t read) {
  if (read <= set->read && set->counts != NULL)
    return true;
  if (!pf_widen(&set->counts, (size_t)set->read, (size_t)read))
    return false;
  set->read = read;
  return true;
}


pf_status gmon_set_finish (gmon_set *set, bool extended, pf_error *error) {
  uint64_t bins = set->read;
  if (set->bins > 2 * set->read + FEW_BINS) {
    if (!gmon_scale_shorten(&set->scale, extended, &bins, &set->high))
      return pf_fail(
          error, PF_ELIMIT, PF_NO_OFFSET,
          "a histogram of %llu bins, of which %llu were read, cannot "
          "be written",
          (unsigned long long)set->bins, (unsigned long long)set->read);
    set->bins = bins;
  }
  return add_bins(set, set->bins) ? PF_OK : pf_no_memory(error);
}


/* Append a set with all counts 0. */
static bool append_set (gmon_sets *sets, const gmon_set *header,
                        bool extended) {
  if (!pf_grow(&sets->list, &sets->capacity, sets->count + 1))
    return false;
  gmon_set *const set = &sets->list[sets->count];
  *set = *header;
  set->counts = NULL;
  set->read = 0;
  if (!add_bins(set, header->read))
    return false;
  set->scale = gmon_scale_of(set->low, set->high, set->bins, extended);
  sets->count++;
  return true;
}


size_t gmon_sets_get (gmon_sets *sets, const gmon_set *header, bool extended) {
  const uint64_t names =
      (uint64_t)header->dimension << 32 | header->abbreviation;
  gmon_sum *const hash = gmon_sums_get(
      &sets->hashes, header->low + pf_mix(1, header->bins) + header->rate,
      header->high + pf_mix(1, names));
  if (hash == NULL)
    return SIZE_MAX;
  for (size_t i = (size_t)hash->count; i > 0; i = sets->list[i - 1].next)
    if (is_same(&sets->list[i - 1], header))
      return add_bins(&sets->list[i - 1], header->read) ? i - 1 : SIZE_MAX;
  if (!append_set(sets, header, extended))
    return SIZE_MAX;
  sets->list[sets->count - 1].next = (size_t)hash->count;
  hash->count = sets->count;
  return sets->count - 1;
}


/* A set with its texts, for sorting. */
typedef struct named_set {
  gmon_set set;
  pf_bytes dimension, abbreviation;
} named_set;


static int compare_numbers (uint64_t a, uint64_t b) {
  return (a > b) - (a < b);
}


static int compare_texts (pf_bytes a, pf_bytes b) {
  const size_t minimum = a.size < b.size ? a.size : b.size;
  const int order = memcmp(a.at, b.at, minimum);
  return order != 0 ? order : compare_numbers(a.size, b.size);
}


static int compare_sets (const void *left, const void *right) {
  const named_set *const x = left, *const y = right;
  int order = compare_numbers(x->set.low, y->set.low);
  if (order == 0)
    order = compare_numbers(x->set.high, y->set.high);
  if (order == 0)
    order = compare_numbers(x->set.bins, y->set.bins);
  if (order == 0)
    order = compare_numbers(x->set.rate, y->set.rate);
  if (order == 0)
    order = compare_texts(x->dimension, y->dimension);
  return order != 0 ? order : compare_texts(x->abbreviation, y->abbreviation);
}


bool gmon_sets_sort (gmon_sets *sets, const pf_dictionary *dictionary) {
  if (sets->count < 2)
    return true;
  named_set *const named = malloc(sets->count * sizeof *named);
  if (named == NULL)
    return false;
  for (size_t i = 0; i < sets->count; i++)
    named[i] =
        (named_set){sets->list[i], pf_name(dictionary, sets->list[i].dimension),
                    pf_name(dictionary, sets->list[i].abbreviation)};
  qsort(named, sets->count, sizeof *named, compare_sets);
  for (size_t i = 0; i < sets->count; i++)
    sets->list[i] = named[i].set;
  free(named);
  return true;
}


void gmon_sets_close (gmon_sets *sets) {
  for (size_t i = 0; i < sets->count; i++)
    free(sets->list[i].counts);
  free(sets->list);
  gmon_sums_close(&sets->hashes);
  *sets = (gmon_sets){.list = NULL};
}
