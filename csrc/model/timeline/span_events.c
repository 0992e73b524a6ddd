/*
** span_events.c - stacks of lanes, and the rows of what happens in them.
*/

#include "model/timeline/span_events.h"

#include <stdio.h>
#include <stdlib.h>

#include "model/base/memory.h"

#define NONE UINT32_MAX

const pf_field pf_span_fields[] = PF_COLUMN_FIELDS(PF_SPAN_EVENTS);

/* Events, as column `event` has them. */
typedef enum event_word {
  ENTER,
  LEAVE,
  WRITE,
  END,
  EVENTS
} event_word;

/* The lanes for work of a process. */
struct pf_span_works {
  uint32_t *free; /* stacks */
  size_t nfree, capacity;
  unsigned count; /* of all */
};

typedef struct pf_span_works works;

/* {====== Stacks ====== */

/* Sets the name of a stack. */
static pf_status name_stack (pf_span_events *self, uint32_t stack,
                             const char *name, size_t size, unsigned order,
                             pf_error *error) {
  char text[600];
  if (!pf_grow_filled(&self->names, &self->name_capacity, (size_t)stack + 1,
                      0xFF))
    return pf_no_memory(error);
  const int used = snprintf(text, sizeof text, "%.*s", (int)size, name);
  if (order > 1)
    snprintf(text + used, sizeof text - (size_t)used, " (%u)", order);
  self->names[stack] = pf_intern_text(self->dictionary, text);
  return self->names[stack] == PF_NO_NAME ? pf_no_memory(error) : PF_OK;
}


/* The lanes for work of the process of a lane; NULL when out of memory. */
static works *works_of (pf_span_events *self, const pf_thread *lane) {
  const uint32_t process = pf_id_table_find(&self->lanes->pids, lane->pid);
  return pf_grow_filled(&self->works, &self->work_capacity, (size_t)process + 1,
                        0)
             ? &self->works[process]
             : NULL;
}


/* Sets *stack to one for work of a process: a free one, or a new one. */
static pf_status take_work (pf_span_events *self, const pf_thread *lane,
                            uint32_t *stack, pf_error *error) {
  works *const w = works_of(self, lane);
  char text[300] = "async";
  if (w == NULL)
    return pf_no_memory(error);
  if (w->nfree > 0) {
    *stack = w->free[--w->nfree];
    return PF_OK;
  }
  if (lane->process != PF_NO_NAME)
    snprintf(text, sizeof text, "%.*s/async",
             PF_SHOWN(pf_name(self->dictionary, lane->process), 200));
  return pf_nesting_stack(self->nesting, stack)
             ? name_stack(self, *stack, text, strlen(text), ++w->count, error)
             : pf_no_memory(error);
}


/* Sets *stack to the first stack of a lane. */
static pf_status stack_of (pf_span_events *self, uint32_t number,
                           uint32_t *stack, pf_error *error) {
  const pf_thread *const lane = &self->lanes->lanes[number];
  if (!pf_grow_filled(&self->of_lane, &self->lane_capacity, (size_t)number + 1,
                      0xFF))
    return pf_no_memory(error);
  *stack = self->of_lane[number];
  if (*stack != NONE)
    return PF_OK;
  pf_status status = PF_OK;
  if (lane->is_work)
    status = take_work(self, lane, stack, error);
  else if (!pf_nesting_stack(self->nesting, stack))
    status = pf_no_memory(error);
  else {
    const pf_bytes name = pf_name(self->dictionary, lane->name);
    status =
        name_stack(self, *stack, (const char *)name.at, name.size, 1, error);
  }
  if (status == PF_OK)
    self->of_lane[number] = *stack;
  return status;
}


/* Frees the stack of work that has ended. */
static pf_status release (pf_span_events *self, uint32_t number,
                          pf_error *error) {
  const pf_thread *const lane = &self->lanes->lanes[number];
  const uint32_t stack = self->of_lane[number];
  if (!lane->is_work || !pf_nesting_is_empty(self->nesting, stack))
    return PF_OK;
  works *const w = works_of(self, lane);
  if (w == NULL || !pf_grow(&w->free, &w->capacity, w->nfree + 1))
    return pf_no_memory(error);
  w->free[w->nfree++] = stack;
  self->of_lane[number] = NONE;
  return PF_OK;
}


static pf_status note (const pf_span_events *self, pf_span_note what,
                       const char *text, pf_error *error) {
  return self->note(self->context, what, text, pf_timed_place(self->item),
                    error);
}


static pf_status note_rounded (const pf_span_events *self, pf_error *error) {
  return note(self, PF_SPAN_ROUNDED,
              "times are rounded: events overlap by no more than that, and one "
              "is cut there",
              error);
}


/* Puts the span on a stack, with notes of what is unusual. */
static pf_status place (pf_span_events *self, pf_span *span, pf_error *error) {
  const pf_bytes name =
      pf_name(self->dictionary, self->lanes->lanes[self->item->lane].name);
  switch (pf_nesting_span(self->nesting, span, self->inexact)) {
    case PF_PLACED: return PF_OK;
    case PF_NOT_PLACED: return pf_no_memory(error);
    case PF_CUT: return note_rounded(self, error);
    case PF_BESIDE: break;
  }
  const unsigned order = pf_nesting_order(self->nesting, span->stack);
  const pf_status status = name_stack(self, span->stack, (const char *)name.at,
                                      name.size, order, error);
  return status == PF_OK
             ? note(self, PF_SPAN_OVERLAP,
                    "an event overlaps another one of its thread: it has a "
                    "lane beside it, and that one keeps its time",
                    error)
             : status;
}


/* }====== */

/* {====== Rows ====== */

/* Puts value and args of an item; without one they are missing. */
static void put_details (const pf_span_events *self, const pf_timed *item,
                         pf_column *c, size_t row) {
  const pf_timed_kind kind =
      item == NULL ? PF_TIMED_MARK : pf_timed_kind_of(item);
  const bool is_whole = kind == PF_TIMED_WRITE;
  double number = is_whole ? (double)item->end : 0;
  if (kind == PF_TIMED_NUMBER)
    memcpy(&number, &item->end, sizeof number);
  pf_put_int(&c[PF_SPAN_EVENTS_value], row, is_whole ? item->end : 0, is_whole);
  pf_put_num(&c[PF_SPAN_EVENTS_number], row, number,
             kind == PF_TIMED_NUMBER || is_whole);
  if (c[PF_SPAN_EVENTS_params].data != NULL) {
    const pf_bytes none = {NULL, 0};
    const pf_bytes params =
        item == NULL ? none : self->params(self->context, pf_timed_place(item));
    pf_put_bytes(&c[PF_SPAN_EVENTS_params], row, params, params.at != NULL);
  }
}


/* Puts a row, with the details of the item if it enters or writes. */
static void put (pf_span_events *self, pf_batch *batch, int64_t time,
                 event_word word, uint32_t area, uint32_t lane) {
  const pf_timed *const item = word == LEAVE || word == END ? NULL : self->item;
  pf_column *const c = batch->columns;
  const size_t row = batch->rows++;
  pf_put_int(&c[PF_SPAN_EVENTS_time], row, time, true);
  pf_put_id(&c[PF_SPAN_EVENTS_event], row, self->words[word]);
  pf_put_id(&c[PF_SPAN_EVENTS_area], row, area);
  pf_put_id(&c[PF_SPAN_EVENTS_lane], row, lane);
  if (batch->ncolumns > PF_SPAN_EVENTS_value)
    put_details(self, item, c, row);
  self->last = !self->has_rows || time > self->last ? time : self->last;
  self->has_rows = true;
}


static pf_status enter (pf_span_events *self, pf_batch *batch, uint32_t stack,
                        pf_error *error) {
  const pf_timed *const item = self->item;
  pf_span span = {item->end, stack, item->area};
  pf_status status = PF_OK;
  if (pf_timed_kind_of(item) == PF_TIMED_SPAN)
    status = place(self, &span, error);
  else if (!pf_nesting_begin(self->nesting, stack, item->area))
    status = pf_no_memory(error);
  if (status == PF_OK)
    put(self, batch, item->start, ENTER, item->area, self->names[span.stack]);
  return status;
}


static pf_status leave (pf_span_events *self, pf_batch *batch, uint32_t stack,
                        pf_error *error) {
  const pf_timed *const item = self->item;
  const bool is_work = self->lanes->lanes[item->lane].is_work;
  uint32_t area = item->area;
  if (!pf_nesting_end(self->nesting, stack, &area) &&
      (area == PF_NO_AREA || is_work)) {
    const pf_status status =
        note(self, PF_SPAN_UNMATCHED,
             "an event ends what has not begun, and is left out", error);
    return status == PF_OK ? release(self, item->lane, error) : status;
  }
  put(self, batch, item->start, LEAVE, area, self->names[stack]);
  return release(self, item->lane, error);
}


/* Puts a write. Counters belong to processes, and have their name if there are
   several. */
static pf_status write (pf_span_events *self, pf_batch *batch,
                        pf_error *error) {
  const pf_timed *const item = self->item;
  const pf_thread *const lane = &self->lanes->lanes[item->lane];
  pf_dictionary *const d = self->dictionary;
  pf_area area = *pf_area_at(d, item->area);
  uint32_t id = item->area;
  if (lane->process != PF_NO_NAME) {
    area.name = pf_intern_joined(d, pf_name(d, lane->process), "/",
                                 pf_name(d, area.name));
    id = area.name == PF_NO_NAME ? PF_NO_AREA : pf_area_add(d, &area);
  }
  if (id == PF_NO_AREA)
    return pf_no_memory(error);
  put(self, batch, item->start, WRITE, id, lane->name);
  return PF_OK;
}


/* Takes the item. */
static pf_status take_item (pf_span_events *self, pf_batch *batch,
                            pf_error *error) {
  const pf_timed *const item = self->item;
  const pf_timed_kind kind = pf_timed_kind_of(item);
  pf_span span, ended;
  uint32_t stack = NONE;
  const pf_status status = stack_of(self, item->lane, &stack, error);
  if (status != PF_OK)
    return status;
  const bool is_first =
      kind == PF_TIMED_END &&
      pf_nesting_ends_first(self->nesting, stack, item->start);
  if (!is_first && pf_nesting_due(self->nesting, item->start, &span)) {
    put(self, batch, span.end, LEAVE, span.area, self->names[span.stack]);
    return PF_OK;
  }
  span = (pf_span){item->end, stack, item->area};
  if (kind == PF_TIMED_SPAN && pf_nesting_cut(self->nesting, &span, item->start,
                                              self->inexact, &ended)) {
    put(self, batch, item->start, LEAVE, ended.area, self->names[stack]);
    return note_rounded(self, error);
  }
  self->is_taken = true;
  if (kind == PF_TIMED_END)
    return leave(self, batch, stack, error);
  if (kind == PF_TIMED_SPAN || kind == PF_TIMED_BEGIN)
    return enter(self, batch, stack, error);
  return write(self, batch, error);
}


/* Puts the rows that follow the last item. */
static pf_status put_last (pf_span_events *self, pf_batch *batch) {
  pf_span span;
  if (pf_nesting_due(self->nesting, INT64_MAX, &span)) {
    put(self, batch, span.end, LEAVE, span.area, self->names[span.stack]);
    return PF_MORE;
  }
  if (self->is_ended || !self->has_rows)
    return PF_END;
  self->is_ended = true;
  put(self, batch, self->last, END, PF_NO_AREA, PF_NO_NAME);
  return PF_MORE;
}


pf_status pf_span_events_step (pf_span_events *self, pf_batch *batch,
                               pf_error *error) {
  if (self->is_taken && !self->is_done) {
    const pf_status status = pf_timed_next(self->items, &self->item, error);
    if (status < 0)
      return status;
    self->is_done = status == PF_END;
    self->is_taken = false;
  }
  return self->is_done ? put_last(self, batch) : take_item(self, batch, error);
}


/* }====== */

pf_status pf_span_events_open (pf_span_events *self, pf_error *error) {
  static const char *const words[] = {"enter", "leave", "write", "end"};
  self->is_taken = true;
  self->nesting = pf_nesting_new(self->dictionary);
  return self->nesting == NULL ? pf_no_memory(error)
                               : pf_intern_texts(self->dictionary, words,
                                                 EVENTS, self->words, error);
}


void pf_span_events_close (pf_span_events *self) {
  pf_nesting_close(self->nesting);
  for (size_t i = 0; i < self->work_capacity; i++)
    free(self->works[i].free);
  free(self->works);
  free(self->names);
  free(self->of_lane);
}
