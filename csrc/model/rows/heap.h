/*
** heap.h - a binary heap in an array of any elements: the first one comes
** before all others. Used by sorter.c and model/timeline. Nothing
** is allocated: the caller owns the array, which has room for the element that
** is pushed. Inline, so that constant sizes and comparisons need no calls.
*/

#ifndef heap_h
#define heap_h

#include <string.h>

#include "profio.h"

/* Whether an element comes before another one. */
typedef bool pf_before (const void *context, const void *left,
                        const void *right);

/* Push an element onto a heap of `count` elements of `size` bytes. */
static inline void pf_heap_push (void *array, size_t count, size_t size,
                                 pf_before *is_before, const void *context,
                                 const void *element) {
  uint8_t *const all = array;
  size_t at = count;
  for (size_t up; at > 0; at = up) {
    up = (at - 1) / 2;
    if (!is_before(context, element, all + up * size))
      break;
    memcpy(all + at * size, all + up * size, size);
  }
  memcpy(all + at * size, element, size);
}

/* Put an element at a place whose element is gone, and restore the order of the
   heap below it. `element` is outside of the array. */
static inline void pf_heap_sink (void *array, size_t count, size_t size,
                                 pf_before *is_before, const void *context,
                                 size_t at, const void *element) {
  uint8_t *const all = array;
  for (size_t child; (child = 2 * at + 1) < count; at = child) {
    if (child + 1 < count &&
        is_before(context, all + (child + 1) * size, all + child * size))
      child++;
    if (!is_before(context, all + child * size, element))
      break;
    memcpy(all + at * size, all + child * size, size);
  }
  memcpy(all + at * size, element, size);
}

#endif
