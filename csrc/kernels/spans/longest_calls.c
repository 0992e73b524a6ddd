/*
** longest_calls.c - lists of up to twice as many calls as are kept; the shorter
** half goes when a list is full.
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
  if (a->length != b->length)
    return a->length < b->length;
  return a->start != b->start ? scattered(a->start) > scattered(b->start)
                              : a->frame > b->frame;
}


/* Moves calls so that the `most` longest ones come first, by partitions as in
   quicksort; `most` is above 0 and below the number of calls. */
static void select_longest (pf_overview_call *c, size_t count, size_t most) {
  size_t low = 0, high = count - 1;
  while (low < high) {
    const pf_overview_call pivot =
        c[low + (size_t)scattered((int64_t)(low ^ high)) % (high - low + 1)];
    size_t i = low, j = high;
    while (i <= j) {
      while (pf_overview_is_before(&pivot, &c[i]))
        i++;
      while (pf_overview_is_before(&c[j], &pivot))
        j--;
      if (i > j)
        break;
      const pf_overview_call moved = c[i];
      c[i++] = c[j];
      c[j] = moved;
      if (j == 0)
        break;
      j--;
    }
    if (most <= j)
      high = j;
    else if (most >= i)
      low = i;
    else
      return;
  }
}


void pf_overview_reduce (pf_overview_list *list, size_t most) {
  if (list->count <= most)
    return;
  if (most > 0)
    select_longest(list->calls, list->count, most);
  list->count = most;
  list->is_reduced = true;
  list->least.length = INT64_MAX; /* of an empty list */
  for (size_t i = 0; i < most; i++)
    if (i == 0 || pf_overview_is_before(&list->calls[i], &list->least))
      list->least = list->calls[i];
}


bool pf_overview_add (pf_overview_list *list, size_t most,
                      const pf_overview_call *call) {
  list->total++;
  if (list->count == 2 * most)
    pf_overview_reduce(list, most);
  if (pf_overview_has_dropped(list, call))
    return true;
  if (!pf_grow(&list->calls, &list->capacity, list->count + 1))
    return false;
  list->calls[list->count++] = *call;
  return true;
}


static int compare (int64_t a, int64_t b) {
  return a < b ? -1 : a > b;
}


/* A total order, as each value is a frame: qsort of different C libraries gives
   the same. */
static int by_start (const void *left, const void *right) {
  const pf_overview_call *const a = left, *const b = right;
  const int orders[] = {
      compare(a->start, b->start),
      compare((int64_t)a->opened, (int64_t)b->opened),
      compare(a->depth, b->depth),
      compare(b->length, a->length),
      compare(a->frame, b->frame),
  };
  for (size_t i = 0; i < sizeof orders / sizeof orders[0]; i++)
    if (orders[i] != 0)
      return orders[i];
  return 0;
}


void pf_overview_sort (pf_overview_list *list) {
  if (list->count > 0)
    qsort(list->calls, list->count, sizeof *list->calls, by_start);
}
