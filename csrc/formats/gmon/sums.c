/*
** sums.c - the sums of the encoder.
*/

#include <stdlib.h>

#include "formats/gmon/sums.h"
#include "model/base/memory.h"
#include "model/base/sorts.h"
#include "model/dictionary/names.h"

#define FEW_BINS    65536 /* missing bins that are always written as zeros */
#define HEADER_SIZE (offsetof(gmon_set, abbreviation) + sizeof(uint32_t))


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


size_t gmon_sets_get (gmon_sets *sets, const gmon_set *header, bool extended) {
  const size_t known = sets->known.count;
  const uint32_t number = pf_intern_element(
      &sets->known, &sets->list, &sets->capacity, header, HEADER_SIZE);
  if (number == PF_NOT_INTERNED)
    return SIZE_MAX;
  gmon_set *const set = &sets->list[number];
  if (number == known) { /* a new set without counts */
    set->counts = NULL;
    set->read = 0;
    set->scale = gmon_scale_of(set->low, set->high, set->bins, extended);
  }
  return add_bins(set, header->read) ? number : SIZE_MAX;
}


bool gmon_has_header (const gmon_set *set, const gmon_set *header) {
  return memcmp(set, header, HEADER_SIZE) == 0;
}


static int compare_sets (const void *dictionary, const void *left,
                         const void *right) {
  const gmon_set *const x = left, *const y = right;
  const uint64_t a[] = {x->low, x->high, x->bins, x->rate};
  const uint64_t b[] = {y->low, y->high, y->bins, y->rate};
  for (size_t i = 0; i < sizeof a / sizeof *a; i++)
    if (a[i] != b[i])
      return a[i] < b[i] ? -1 : 1;
  const int order = pf_name_compare(dictionary, x->dimension, y->dimension);
  return order != 0
             ? order
             : pf_name_compare(dictionary, x->abbreviation, y->abbreviation);
}


bool gmon_sets_sort (gmon_sets *sets, const pf_dictionary *dictionary) {
  gmon_set *const spare = pf_array(sets->known.count, sizeof *spare);
  if (spare != NULL)
    pf_sort(sets->list, spare, sets->known.count, sizeof *spare, compare_sets,
            dictionary);
  free(spare);
  return spare != NULL;
}


void gmon_sets_close (gmon_sets *sets) {
  for (size_t i = 0; i < sets->known.count; i++)
    free(sets->list[i].counts);
  free(sets->list);
  pf_intern_table_free(&sets->known);
  *sets = (gmon_sets){.list = NULL};
}
