/*
** timed.c - the order of what happens. In a lane whose spans come by their end,
** one that is around another comes after it; in all others before it.
*/

#include "model/timeline/timed.h"

#include <stdlib.h>

#include "model/base/memory.h"

/* The order in a lane, as far as it is known. */
struct pf_timed_lane {
  int64_t start, end;       /* of the last item */
  int64_t last_end;         /* of the last span */
  bool has_items, was_span; /* the last item is one */
  bool is_unordered;        /* spans do not come by start, */
  bool is_unended;          /* nor by end */
};


void pf_order_free (pf_order *order) {
  free(order->lanes);
  free(order->items);
}


bool pf_timed_put (pf_timed_reader *self, const pf_timed *item) {
  if (!pf_grow(&self->held, &self->held_capacity, self->nheld + 1))
    return false;
  self->held[self->nheld++] = *item;
  return true;
}


/* Reads the items of the next event. */
static pf_status read_event (pf_timed_reader *self, pf_error *error) {
  self->nheld = self->at = 0;
  return self->next(self->context, self, error);
}


/* {====== The order of a file ====== */

/* At the same time spans come last, those that end last first. */
static int compare (const void *context, const void *left, const void *right) {
  const pf_order *const order = context;
  const pf_timed *const a = left, *const b = right;
  const bool is_span = pf_timed_kind_of(a) == PF_TIMED_SPAN;
  if (a->start != b->start)
    return a->start < b->start ? -1 : 1;
  if (is_span != (pf_timed_kind_of(b) == PF_TIMED_SPAN))
    return is_span ? 1 : -1;
  if (is_span && a->end != b->end)
    return a->end > b->end ? -1 : 1;
  if (is_span && a->lane != b->lane)
    return a->lane < b->lane ? -1 : 1;
  const struct pf_timed_lane *const lane = &order->lanes[a->lane];
  const int by_place = (a->place > b->place) - (a->place < b->place);
  return is_span && lane->is_unordered && !lane->is_unended ? -by_place
                                                            : by_place;
}


/* Compares an item with the last ones of the file and of its lane. */
static bool check_order (pf_order *order, const pf_timed *item) {
  if (!pf_grow_filled(&order->lanes, &order->lane_capacity,
                      (size_t)item->lane + 1, 0))
    return false;
  struct pf_timed_lane *const lane = &order->lanes[item->lane];
  if (!lane->has_items)
    *lane = (struct pf_timed_lane){
        .start = INT64_MIN, .end = INT64_MIN, .has_items = true};
  const bool is_span = pf_timed_kind_of(item) == PF_TIMED_SPAN;
  const bool is_level = item->start == lane->start && lane->was_span;
  const bool is_late = is_level && is_span && item->end > lane->end;
  order->is_ordered &=
      item->start >= order->last && !is_late && (is_span || !is_level);
  lane->is_unordered |= item->start < lane->start || is_late;
  lane->is_unended |= is_span && item->end < lane->last_end;
  lane->was_span = is_span;
  lane->start = item->start;
  if (is_span)
    lane->end = lane->last_end = item->end;
  order->last = item->start;
  return true;
}


/* Takes the items of an event: they are kept, unless there are too many. */
static bool keep (pf_timed_reader *self) {
  pf_order *const order = self->order;
  self->is_light |= order->nitems + self->nheld > PF_TIMED_KEPT;
  if (!self->is_light &&
      !pf_grow(&order->items, &order->capacity, order->nitems + self->nheld))
    return false;
  for (size_t i = 0; i < self->nheld; i++) {
    if (!check_order(order, &self->held[i]))
      return false;
    if (!self->is_light)
      order->items[order->nitems++] = self->held[i];
  }
  return true;
}


/* Sorts the items that are kept; frees them if these are not all. */
static pf_status end_scan (const pf_timed_reader *self, pf_error *error) {
  pf_order *const order = self->order;
  order->is_scanned = true;
  if (self->is_light) {
    free(order->items);
    order->items = NULL;
    return PF_OK;
  }
  if (order->is_ordered)
    return PF_OK;
  pf_timed *const spare = pf_array(order->nitems, sizeof *spare);
  if (spare == NULL)
    return pf_no_memory(error);
  pf_sort(order->items, spare, order->nitems, sizeof *spare, compare, order);
  free(spare);
  return PF_OK;
}


pf_status pf_timed_scan (pf_timed_reader *self, pf_error *error) {
  pf_order *const order = self->order;
  pf_status status;
  order->is_ordered = true;
  order->last = INT64_MIN;
  if (!pf_grow(&order->items, &order->capacity, 1))
    return pf_no_memory(error);
  do {
    status = read_event(self, error);
    if (status == PF_MORE && !keep(self))
      status = pf_no_memory(error);
  } while (status == PF_MORE);
  return status == PF_END ? end_scan(self, error) : status;
}


/* }====== */

/* {====== Reading ====== */

/* Reads the items of the next event that has some. */
static pf_status read_items (pf_timed_reader *self, pf_error *error) {
  pf_status status;
  do
    status = read_event(self, error);
  while (status == PF_MORE && self->nheld == 0);
  return status;
}


pf_status pf_timed_begin (pf_timed_reader *self, bool *is_sorted,
                          uint64_t *in_file, pf_error *error) {
  pf_status status;
  self->is_light = false;
  self->nheld = self->at = 0;
  *in_file = 0;
  *is_sorted = !self->order->is_ordered && self->order->items == NULL;
  if (!*is_sorted)
    return PF_OK;
  self->sorter = pf_sorter_new(sizeof(pf_timed), compare, self->order);
  if (self->sorter == NULL)
    return pf_no_memory(error);
  do {
    status = read_items(self, error);
    for (size_t i = 0; i < self->nheld && status == PF_MORE; i++)
      status = pf_sorter_add(self->sorter, &self->held[i], error);
  } while (status == PF_MORE);
  return status == PF_END ? pf_sorter_end(self->sorter, in_file, error)
                          : status;
}


pf_status pf_timed_next (pf_timed_reader *self, const pf_timed **item,
                         pf_error *error) {
  const pf_order *const order = self->order;
  if (order->items != NULL) {
    *item = &order->items[self->at];
    return self->at++ < order->nitems ? PF_MORE : PF_END;
  }
  if (self->sorter != NULL) {
    const void *element = NULL;
    const pf_status status = pf_sorter_next(self->sorter, &element, error);
    *item = element;
    return status;
  }
  if (self->at == self->nheld) {
    const pf_status status = read_items(self, error);
    if (status != PF_MORE)
      return status;
  }
  *item = &self->held[self->at++];
  return PF_MORE;
}


/* }====== */

void pf_timed_close (pf_timed_reader *self) {
  free(self->held);
  pf_sorter_close(self->sorter);
}
