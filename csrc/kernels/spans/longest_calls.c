/*
** longest_calls.c - heaps with the shortest call on top.
*/

#include "kernels/spans/longest_calls.h"

#include <stdlib.h>

#include "model/base/memory.h"


/* Returns a number without relation to the order of times. */
static uint64_t scattered (int64_t time) {
  const uint64_t word = (uint64_t)time * 0x9e3779b97f4a7c15u;
  return word ^ word >> 32;
}


bool pf_overview_is_before (const pf_overview_call *a,
                            const pf_overview_call *b) {
  return a->length != b->length ? a->length < b->length
                                : scattered(a->start) > scattered(b->start);
}


static void sift_down (pf_overview_list *list, size_t at) {
  pf_overview_call *const c = list->calls;
  const pf_overview_call moved = c[at];
  for (size_t child; (child = 2 * at + 1) < list->count; at = child) {
    if (child + 1 < list->count &&
        pf_overview_is_before(&c[child + 1], &c[child]))
      child++;
    if (!pf_overview_is_before(&c[child], &moved))
      break;
    c[at] = c[child];
  }
  c[at] = moved;
}


bool pf_overview_add (pf_overview_list *list, size_t most,
                      const pf_overview_call *call) {
  list->total++;
  if (list->count == most) {
    if (pf_overview_is_before(&list->calls[0], call)) {
      list->calls[0] = *call;
      sift_down(list, 0);
    }
    return true;
  }
  if (!pf_grow(&list->calls, &list->capacity, list->count + 1))
    return false;
  list->calls[list->count++] = *call;
  if (list->count == most)
    for (size_t i = most / 2; i-- > 0;)
      sift_down(list, i);
  return true;
}


static int by_length (const void *left, const void *right) {
  const pf_overview_call *const a = left, *const b = right;
  return pf_overview_is_before(b, a) ? -1 : pf_overview_is_before(a, b);
}


static int by_start (const void *left, const void *right) {
  const pf_overview_call *const a = left, *const b = right;
  if (a->start != b->start)
    return a->start < b->start ? -1 : 1;
  return a->depth < b->depth ? -1 : a->depth > b->depth;
}


void pf_overview_sort (pf_overview_list *list, bool is_by_length) {
  if (list->count > 0)
    qsort(list->calls, list->count, sizeof *list->calls,
          is_by_length ? by_length : by_start);
}
