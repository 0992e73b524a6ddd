/*
** events_chrome.c - the table `events`: rows that enter and leave areas, made
** of items by model/rows/nesting.h.
**
** Work with an id gets the lane `async` of its process that was free last, as
** any number of it may overlap.
**
** Opened through pf_table.open by lua/checked_reader.c, which calls `close`;
** that frees the reader and its stacks. Values of PF_BYTES are borrowed from
** the source.
*/

#include <stdio.h>

#include "formats/chrome/chrome.h"
#include "model/base/memory.h"

#define NONE UINT32_MAX

/* Events, as column `event` has them. */
typedef enum event_word {
  ENTER,
  LEAVE,
  WRITE,
  END,
  EVENTS
} event_word;

/* The lanes for work of a process. */
typedef struct works {
  uint32_t *free; /* stacks */
  size_t nfree, capacity;
  unsigned count; /* of all */
} works;

typedef struct events_reader {
  pf_reader reader;
  chrome_items items;
  const chrome_item *item; /* the next one, unless it is taken */
  bool is_taken;
  pf_nesting *nesting;
  uint32_t *names; /* of lanes, by stack */
  size_t name_capacity;
  uint32_t *of_lane; /* its first stack, or NONE */
  size_t lane_capacity;
  works *works; /* by process */
  size_t work_capacity;
  int64_t last;           /* the latest time of a row */
  bool has_rows, is_done; /* all items are read; */
  bool is_ended;          /* so is the event `end` */
  uint32_t words[EVENTS]; /* names */
} events_reader;


/* {====== Stacks ====== */

/* Sets the name of a stack. */
static pf_status name_stack (events_reader *self, uint32_t stack,
                             const char *name, size_t size, unsigned order,
                             pf_error *error) {
  char text[600];
  if (!pf_grow_filled(&self->names, &self->name_capacity, (size_t)stack + 1,
                      0xFF))
    return pf_no_memory(error);
  const int used = snprintf(text, sizeof text, "%.*s", (int)size, name);
  if (order > 1)
    snprintf(text + used, sizeof text - (size_t)used, " (%u)", order);
  self->names[stack] = pf_intern_text(self->reader.dictionary, text);
  return self->names[stack] == PF_NO_NAME ? pf_no_memory(error) : PF_OK;
}


/* The lanes for work of the process of a lane; NULL when out of memory. */
static works *works_of (events_reader *self, const chrome_lane *lane) {
  const uint32_t process =
      pf_id_table_find(&self->items.file->lanes.pids, lane->pid);
  return pf_grow_filled(&self->works, &self->work_capacity, (size_t)process + 1,
                        0)
             ? &self->works[process]
             : NULL;
}


/* Sets *stack to one for work of a process: a free one, or a new one. */
static pf_status take_work (events_reader *self, const chrome_lane *lane,
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
             PF_SHOWN(pf_name(self->reader.dictionary, lane->process), 200));
  return pf_nesting_stack(self->nesting, stack)
             ? name_stack(self, *stack, text, strlen(text), ++w->count, error)
             : pf_no_memory(error);
}


/* Sets *stack to the first stack of a lane. */
static pf_status stack_of (events_reader *self, uint32_t number,
                           uint32_t *stack, pf_error *error) {
  const chrome_lane *const lane = &self->items.file->lanes.lanes[number];
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
    const pf_bytes name = pf_name(self->reader.dictionary, lane->name);
    status =
        name_stack(self, *stack, (const char *)name.at, name.size, 1, error);
  }
  if (status == PF_OK)
    self->of_lane[number] = *stack;
  return status;
}


/* Frees the stack of work that has ended. */
static pf_status release (events_reader *self, uint32_t number,
                          pf_error *error) {
  const chrome_lane *const lane = &self->items.file->lanes.lanes[number];
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


static pf_status note (const events_reader *self, const char *code,
                       const char *what, pf_error *error) {
  return chrome_warn(&self->items.parser, PF_NOTE, code,
                     (size_t)(self->item->place >> 3), what, error);
}


/* By how much the ends of two spans may differ that are one in truth: they are
   the sums of two rounded numbers each. */
static int64_t inexact (const events_reader *self) {
  const chrome_file *const file = self->items.file;
  return 2 * (file->step_of_ts > file->step_of_dur ? file->step_of_ts
                                                   : file->step_of_dur);
}


static pf_status note_rounded (const events_reader *self, pf_error *error) {
  return note(self, "chrome-rounded",
              "times are rounded: events overlap by no more than that, and one "
              "is cut there",
              error);
}


/* Puts the span on a stack, with notes of what is unusual. */
static pf_status place (events_reader *self, pf_span *span, pf_error *error) {
  const chrome_file *const file = self->items.file;
  const pf_bytes name = pf_name(self->reader.dictionary,
                                file->lanes.lanes[self->item->lane].name);
  switch (pf_nesting_span(self->nesting, span, inexact(self))) {
    case PF_PLACED: return PF_OK;
    case PF_NOT_PLACED: return pf_no_memory(error);
    case PF_CUT: return note_rounded(self, error);
    case PF_BESIDE: break;
  }
  const unsigned order = pf_nesting_order(self->nesting, span->stack);
  const pf_status status = name_stack(self, span->stack, (const char *)name.at,
                                      name.size, order, error);
  return status == PF_OK
             ? note(self, "chrome-overlap",
                    "an event overlaps another one of its thread: it has a "
                    "lane beside it, and that one keeps its time",
                    error)
             : status;
}


/* }====== */

/* {====== Rows ====== */

/* Puts the args of the event of an item, which may be NULL. */
static void put_args (const events_reader *self, pf_column *column, size_t row,
                      const chrome_item *item) {
  chrome_parser parser = {.bytes = self->items.parser.bytes, .is_quiet = true};
  chrome_event event = {.at = 0};
  pf_error error;
  if (item != NULL) {
    parser.at = (size_t)(item->place >> 3);
    (void)chrome_next(&parser, &event, &error);
  }
  const pf_json *const args = &event.texts[CHROME_ARGS];
  pf_put_bytes(column, row, args->text, args->kind != PF_JSON_NONE);
}


/* Puts a row, with value and args of the item if it enters or writes. */
static void put (events_reader *self, pf_batch *batch, int64_t time,
                 event_word word, uint32_t area, uint32_t lane) {
  const chrome_item *const item =
      word == LEAVE || word == END ? NULL : self->item;
  const chrome_kind kind = item == NULL ? CHROME_MARK : chrome_kind_of(item);
  const bool is_whole = kind == CHROME_WRITE;
  const size_t row = batch->rows++;
  pf_column *const c = batch->columns;
  double number = is_whole ? (double)item->end : 0;
  if (kind == CHROME_NUMBER)
    memcpy(&number, &item->end, sizeof number);
  pf_put_int(&c[CHROME_EVENTS_time], row, time, true);
  pf_put_id(&c[CHROME_EVENTS_event], row, self->words[word]);
  pf_put_id(&c[CHROME_EVENTS_area], row, area);
  pf_put_id(&c[CHROME_EVENTS_lane], row, lane);
  pf_put_int(&c[CHROME_EVENTS_value], row, is_whole ? item->end : 0, is_whole);
  pf_put_num(&c[CHROME_EVENTS_number], row, number,
             kind == CHROME_NUMBER || is_whole);
  if (c[CHROME_EVENTS_params].data != NULL)
    put_args(self, &c[CHROME_EVENTS_params], row, item);
  self->last = !self->has_rows || time > self->last ? time : self->last;
  self->has_rows = true;
}


static pf_status enter (events_reader *self, pf_batch *batch, uint32_t stack,
                        pf_error *error) {
  const chrome_item *const item = self->item;
  pf_span span = {item->end, stack, item->area};
  pf_status status = PF_OK;
  if (chrome_kind_of(item) == CHROME_SPAN)
    status = place(self, &span, error);
  else if (!pf_nesting_begin(self->nesting, stack, item->area))
    status = pf_no_memory(error);
  if (status == PF_OK)
    put(self, batch, item->start, ENTER, item->area, self->names[span.stack]);
  return status;
}


static pf_status leave (events_reader *self, pf_batch *batch, uint32_t stack,
                        pf_error *error) {
  const chrome_item *const item = self->item;
  const bool is_work = self->items.file->lanes.lanes[item->lane].is_work;
  uint32_t area = item->area;
  if (!pf_nesting_end(self->nesting, stack, &area) &&
      (area == PF_NO_AREA || is_work)) {
    const pf_status status =
        note(self, "chrome-unmatched",
             "an event ends what has not begun, and is left out", error);
    return status == PF_OK ? release(self, item->lane, error) : status;
  }
  put(self, batch, item->start, LEAVE, area, self->names[stack]);
  return release(self, item->lane, error);
}


/* Puts a write. Counters belong to processes, and have their name if there are
   several. */
static pf_status write (events_reader *self, pf_batch *batch, pf_error *error) {
  const chrome_item *const item = self->item;
  const chrome_lane *const lane = &self->items.file->lanes.lanes[item->lane];
  pf_dictionary *const d = self->reader.dictionary;
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
static pf_status take_item (events_reader *self, pf_batch *batch,
                            pf_error *error) {
  const chrome_item *const item = self->item;
  const chrome_kind kind = chrome_kind_of(item);
  pf_span span, ended;
  uint32_t stack = NONE;
  const pf_status status = stack_of(self, item->lane, &stack, error);
  if (status != PF_OK)
    return status;
  const bool is_first =
      kind == CHROME_END &&
      pf_nesting_ends_first(self->nesting, stack, item->start);
  if (!is_first && pf_nesting_due(self->nesting, item->start, &span)) {
    put(self, batch, span.end, LEAVE, span.area, self->names[span.stack]);
    return PF_OK;
  }
  span = (pf_span){item->end, stack, item->area};
  if (kind == CHROME_SPAN && pf_nesting_cut(self->nesting, &span, item->start,
                                            inexact(self), &ended)) {
    put(self, batch, item->start, LEAVE, ended.area, self->names[stack]);
    return note_rounded(self, error);
  }
  self->is_taken = true;
  if (kind == CHROME_END)
    return leave(self, batch, stack, error);
  if (kind == CHROME_SPAN || kind == CHROME_BEGIN)
    return enter(self, batch, stack, error);
  return write(self, batch, error);
}


/* Puts the rows that follow the last item. */
static pf_status put_last (events_reader *self, pf_batch *batch) {
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


static pf_status step (pf_reader *reader, pf_batch *batch, pf_error *error) {
  events_reader *const self = (events_reader *)(void *)reader;
  if (self->is_taken && !self->is_done) {
    const pf_status status =
        chrome_items_next(&self->items, &self->item, error);
    if (status < 0)
      return status;
    self->is_done = status == PF_END;
    self->is_taken = false;
  }
  return self->is_done ? put_last(self, batch) : take_item(self, batch, error);
}


PF_NEXT_BY_STEPS(next, step)


/* }====== */

static void close_reader (pf_reader *reader) {
  events_reader *const self = (events_reader *)(void *)reader;
  chrome_items_close(&self->items);
  pf_nesting_close(self->nesting);
  for (size_t i = 0; i < self->work_capacity; i++)
    free(self->works[i].free);
  free(self->works);
  free(self->names);
  free(self->of_lane);
  free(self);
}


pf_status chrome_open_events (pf_trace *trace, const pf_table *table,
                              pf_reader **reader, pf_error *error) {
  static const char *const words[] = {"enter", "leave", "write", "end"};
  events_reader *const self =
      pf_reader_new(sizeof *self, trace, table, next, error);
  if (self == NULL)
    return PF_ENOMEM;
  self->reader.close = close_reader;
  self->is_taken = true;
  self->nesting = pf_nesting_new(trace->dictionary);
  pf_status status = self->nesting == NULL ? pf_no_memory(error) : PF_OK;
  if (status == PF_OK)
    status = chrome_items_open(&self->items, trace, error);
  if (status == PF_OK)
    status =
        pf_intern_texts(trace->dictionary, words, EVENTS, self->words, error);
  return pf_reader_opened(&self->reader, status, reader);
}
