/*
** sorts.h - the two sorts: of pairs by their words, and of any elements by a
** comparison. Both are stable and need scratch memory of the size of the array.
** (qsort is used where equal elements cannot be distinguished.) Used by
** kernels, formats, model, lua and store. Nothing is allocated: the caller owns
** both arrays, and `spare` has capacity for `count` elements.
*/

#ifndef sorts_h
#define sorts_h

#include <string.h>

#include "profio.h"

/* Sort pairs by word, in time proportional to `count`. */
typedef struct pf_pair {
  uint64_t word;
  size_t row;
} pf_pair;
void pf_sort_pairs (pf_pair *pairs, pf_pair *spare, size_t count);

/* Returns a number below 0, 0, or above 0, as strcmp does. */
typedef int pf_compare (const void *context, const void *left,
                        const void *right);

#define PF_SORT_RUN 8 /* elements that are sorted by insertion */

/*
** Sort `count` elements of `size` bytes, by a merge sort over short runs that
** are sorted by insertion. Inline, so that constant sizes and comparisons need
** no calls.
*/
static inline void pf_sort (void *array, void *spare, size_t count, size_t size,
                            pf_compare *compare, const void *context) {
  uint8_t *const all = array, *const copy = spare;
  for (size_t i = 1; i < count; i++) {
    size_t at = i;
    memcpy(copy, all + i * size, size);
    for (; at % PF_SORT_RUN != 0 &&
           compare(context, all + (at - 1) * size, copy) > 0;
         at--)
      memcpy(all + at * size, all + (at - 1) * size, size);
    memcpy(all + at * size, copy, size);
  }
  for (size_t width = PF_SORT_RUN; width < count; width *= 2)
    for (size_t from = 0; from + width < count; from += 2 * width) {
      const size_t end = count - from < 2 * width ? count : from + 2 * width;
      size_t left = 0, right = from + width, to = from;
      memcpy(copy, all + from * size, width * size);
      while (left < width && right < end) {
        if (compare(context, copy + left * size, all + right * size) > 0)
          memcpy(all + to++ * size, all + right++ * size, size);
        else
          memcpy(all + to++ * size, copy + left++ * size, size);
      }
      memcpy(all + to * size, copy + left * size, (width - left) * size);
    }
}

#endif
