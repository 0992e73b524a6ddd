/*
** sums.c - the sums of the encoder.
*/

#include <stdlib.h>
#include <string.h>

#include "formats/gmon/sums.h"
#include "model/base/memory.h"
#include "model/dictionary/names.h"

#define FEW_BINS 65536 /* missing bins that are always written as zeros */


static uint64_t hash_of (const gmon_sums *sums, uint64_t a, uint64_t b) {
  return pf_mix(pf_mix(sums->known.seed, a), b);
}


typedef struct sum_key {
  const gmon_sum *list;
  uint64_t a, b;
} sum_key;


static bool is_sum (const void *context, uint32_t number) {
  const sum_key *const key = context;
  const gmon_sum *const sum = &key->list[number];
  return sum->a == key->a && sum->b == key->b;
}


size_t gmon_sums_find (const gmon_sums *sums, uint64_t a, uint64_t b) {
  const sum_key key = {sums->list, a, b};
  const uint32_t number =
      pf_intern_table_find(&sums->known, hash_of(sums, a, b), is_sum, &key);
  return number == PF_NOT_INTERNED ? SIZE_MAX : number;
}


gmon_sum *gmon_sums_get (gmon_sums *sums, uint64_t a, uint64_t b) {
  const size_t known = gmon_sums_find(sums, a, b);
  if (known != SIZE_MAX)
    return &sums->list[known];
  if (!pf_grow(&sums->list, &sums->capacity, sums->count + 1) ||
      !pf_intern_table_reserve(&sums->known))
    return NULL;
  if (sums->count == 0) /* random: a file cannot provoke collisions */
    sums->known.seed = pf_mix(0x9e3779b97f4a7c15u, (uintptr_t)sums->list);
  pf_intern_table_add(&sums->known, hash_of(sums, a, b));
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
  pf_intern_table_free(&sums->known);
  *sums = (gmon_sums){.list = NULL};
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
    if (sets->list[i - 1].low == header->low &&
        sets->list[i - 1].high == header->high &&
        sets->list[i - 1].bins == header->bins &&
        sets->list[i - 1].rate == header->rate &&
        sets->list[i - 1].dimension == header->dimension &&
        sets->list[i - 1].abbreviation == header->abbreviation)
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
