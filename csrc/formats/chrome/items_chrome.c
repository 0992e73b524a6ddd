/*
** items_chrome.c - what happens at a time, in the order of time: as the file
** has it if that is in order, else sorted, in a temporary file if it is large.
**
** Used by events_chrome.c, which owns the chrome_items.
*/

#include <stdio.h>
#include <stdlib.h>

#include "formats/chrome/chrome.h"
#include "model/base/memory.h"

/* {====== Areas ====== */

/* Sets *area to the area of a name, with the category of the event. */
static pf_status area_of (chrome_items *self, uint32_t class, uint32_t name,
                          uint32_t *area, pf_error *error) {
  pf_area added = PF_AREA_NONE;
  added.name = name;
  added.class = class;
  added.file = self->category;
  *area = pf_area_add(self->parser.trace->dictionary, &added);
  return *area == PF_NO_AREA ? pf_no_memory(error) : PF_OK;
}


/* Sets the category of the event, which most often is that of the last one. */
static pf_status set_category (chrome_items *self, pf_error *error) {
  const pf_json *const text = &self->event.texts[CHROME_CATEGORY];
  if (self->has_category && pf_bytes_equal(text->text, self->category_text))
    return PF_OK;
  self->has_category = true;
  self->category_text = text->text;
  return pf_intern_json(self->parser.trace->dictionary, text, &self->category,
                        error);
}


/* Joins a name and a text with something between them. */
static pf_status extend (pf_dictionary *d, uint32_t *name, const char *between,
                         pf_bytes text, pf_error *error) {
  *name = pf_intern_joined(d, pf_name(d, *name), between, text);
  return *name == PF_NO_NAME ? pf_no_memory(error) : PF_OK;
}


/* Sets *name to the name of an event, with the member of args that the option
   names. */
static pf_status name_of (chrome_items *self, uint32_t *name, pf_error *error) {
  pf_trace *const trace = self->parser.trace;
  pf_dictionary *const d = trace->dictionary;
  const pf_json *const args = &self->event.texts[CHROME_ARGS];
  uint32_t more;
  pf_json value;
  pf_status status = pf_intern_json(
      trace->dictionary, &self->event.texts[CHROME_NAME], name, error);
  if (status == PF_OK && *name == PF_NO_NAME)
    *name = self->unnamed;
  if (status != PF_OK || self->detail.size == 0 ||
      args->kind != PF_JSON_OBJECT ||
      !pf_json_member(args->text, self->detail, &value))
    return status;
  status = pf_intern_json(trace->dictionary, &value, &more, error);
  return status == PF_OK ? extend(d, name, " ", pf_name(d, more), error)
                         : status;
}


/* Sets *area to the function of an event. PF_NO_AREA: it has no name, and ends
   what has one. */
static pf_status function_of (chrome_items *self, uint32_t *area,
                              pf_error *error) {
  const pf_json *const text = &self->event.texts[CHROME_NAME];
  const pf_dictionary *const d = self->parser.trace->dictionary;
  pf_text_slot *slot;
  uint32_t name;
  *area = PF_NO_AREA;
  if (text->kind == PF_JSON_NONE && self->event.phase == 'E')
    return PF_OK;
  if (pf_text_cached(&self->functions, text->text, &slot) &&
      pf_area_at(d, slot->value)->file == self->category) {
    *area = slot->value;
    return PF_OK;
  }
  pf_status status = name_of(self, &name, error);
  if (status == PF_OK)
    status = area_of(self, self->function, name, area, error);
  if (self->detail.size == 0)
    *slot = (pf_text_slot){text->text, *area};
  return status;
}


/* }====== */

/* {====== Items of an event ====== */

/* Adds an item of the event. */
static pf_status hold (chrome_items *self, chrome_kind kind, int64_t start,
                       int64_t end, uint32_t lane, uint32_t area,
                       pf_error *error) {
  if (!pf_grow(&self->held, &self->held_capacity, self->nheld + 1))
    return pf_no_memory(error);
  self->held[self->nheld++] =
      (chrome_item){.start = start,
                    .end = end,
                    .place = (uint64_t)self->event.at << 3 | kind,
                    .lane = lane,
                    .area = area};
  return PF_OK;
}


/* Adds a value of a counter, or an instant (`value` is NULL). Its name is that
   of the counter and of the series (`key` NULL: there is no other). */
static pf_status hold_series (chrome_items *self, const pf_json *key,
                              const pf_json *value, int64_t start,
                              uint32_t lane, pf_error *error) {
  pf_trace *const trace = self->parser.trace;
  pf_dictionary *const d = trace->dictionary;
  uint32_t name, series = PF_NO_NAME, area = PF_NO_AREA;
  int64_t whole;
  int ps;
  double number;
  pf_status status = pf_intern_json(
      trace->dictionary, &self->event.texts[CHROME_NAME], &name, error);
  if (status == PF_OK && name == PF_NO_NAME)
    name = self->unnamed;
  if (status == PF_OK && self->event.texts[CHROME_ID].kind != PF_JSON_NONE)
    status = extend(d, &name, " ", self->event.texts[CHROME_ID].text, error);
  if (status == PF_OK && key != NULL)
    status = pf_intern_json(trace->dictionary, key, &series, error);
  if (status == PF_OK && key != NULL)
    status = extend(d, &name, ".", pf_name(d, series), error);
  if (status == PF_OK)
    status = area_of(self, self->variable, name, &area, error);
  if (status != PF_OK)
    return status;
  if (value == NULL)
    return hold(self, CHROME_MARK, start, 0, lane, area, error);
  if (memchr(value->text.at, '.', value->text.size) == NULL &&
      pf_parse_scaled(value->text, 0, &whole, &ps) == PF_OK && ps == 0)
    return hold(self, CHROME_WRITE, start, whole, lane, area, error);
  if (!pf_parse_double(value->text, &number))
    return PF_OK;
  memcpy(&whole, &number, sizeof whole);
  return hold(self, CHROME_NUMBER, start, whole, lane, area, error);
}


/* Adds the series of a counter. */
static pf_status hold_counter (chrome_items *self, int64_t start, uint32_t lane,
                               pf_error *error) {
  const pf_json *const args = &self->event.texts[CHROME_ARGS];
  pf_json key, value;
  pf_status status = PF_OK;
  bool has_others = false;
  if (args->kind != PF_JSON_OBJECT)
    return PF_OK;
  const uint8_t *const end = args->text.at + args->text.size;
  for (const uint8_t *p = args->text.at;
       status == PF_OK && (p = pf_json_next(p, end, &key, &value)) != NULL;) {
    has_others |= *pf_json_blanks(p, end) == ','; /* before the bracket */
    if (value.kind == PF_JSON_NUMBER || value.kind == PF_JSON_STRING)
      status = hold_series(self, has_others ? &key : NULL, &value, start, lane,
                           error);
  }
  return status;
}


/* The kind of its items; of counters and instants only the rank. */
static chrome_kind kind_of (const chrome_event *event) {
  switch (event->phase) {
    case 'X': return CHROME_SPAN;
    case 'E':
    case 'e':
    case 'F': return CHROME_END;
    case 'B':
    case 'b':
    case 'S': return CHROME_BEGIN;
    default: return CHROME_MARK;
  }
}


/* Sets the items of the event. */
static pf_status hold_event (chrome_items *self, pf_error *error) {
  chrome_file *const file = self->file;
  const chrome_event *const event = &self->event;
  int64_t start, end;
  uint32_t lane = 0, area = PF_NO_AREA;
  self->nheld = self->at = 0;
  if (!chrome_has_items(event->phase) ||
      !chrome_interval(event, file->origin, &start, &end))
    return PF_OK;
  pf_status status =
      chrome_lane_of(&file->lanes, self->parser.trace, event, &lane, error);
  if (status == PF_OK && self->is_light)
    return hold(self, kind_of(event), start, end, lane, PF_NO_AREA, error);
  if (status == PF_OK)
    status = set_category(self, error);
  if (status == PF_OK && event->phase == 'C')
    return hold_counter(self, start, lane, error);
  if (status == PF_OK && kind_of(event) == CHROME_MARK)
    return hold_series(self, NULL, NULL, start, lane, error);
  if (status == PF_OK)
    status = function_of(self, &area, error);
  if (status != PF_OK)
    return status;
  return hold(self, kind_of(event), start, end, lane, area, error);
}


/* Sets the items of the next event that has some. */
static pf_status hold_next (chrome_items *self, pf_error *error) {
  pf_status status;
  do {
    status = chrome_next(&self->parser, &self->event, error);
    if (status == PF_MORE)
      status = hold_event(self, error);
  } while (status == PF_MORE && self->nheld == 0);
  return status;
}


/* }====== */

/* {====== Order ====== */

/* At the same time spans come last, those that end last first. In a lane whose
   spans come by their end, the one around another comes after it. */
static int compare (const void *context, const void *left, const void *right) {
  const chrome_lanes *const lanes = context;
  const chrome_item *const a = left, *const b = right;
  const bool is_span = chrome_kind_of(a) == CHROME_SPAN;
  if (a->start != b->start)
    return a->start < b->start ? -1 : 1;
  if (is_span != (chrome_kind_of(b) == CHROME_SPAN))
    return is_span ? 1 : -1;
  if (is_span && a->end != b->end)
    return a->end > b->end ? -1 : 1;
  if (is_span && a->lane != b->lane)
    return a->lane < b->lane ? -1 : 1;
  const chrome_lane *const lane = &lanes->lanes[a->lane];
  const int order = (a->place > b->place) - (a->place < b->place);
  return is_span && lane->is_unordered && !lane->is_unended ? -order : order;
}


/* Compares an item with the last ones of the file and of its lane. */
static void check_order (chrome_file *file, const chrome_item *item,
                         int64_t *last) {
  chrome_lane *const lane = &file->lanes.lanes[item->lane];
  const bool is_span = chrome_kind_of(item) == CHROME_SPAN;
  const bool is_level = item->start == lane->start && lane->was_span;
  const bool is_late = is_level && is_span && item->end > lane->end;
  file->is_ordered &=
      item->start >= *last && !is_late && (is_span || !is_level);
  lane->is_unordered |= item->start < lane->start || is_late;
  lane->is_unended |= is_span && item->end < lane->last_end;
  lane->was_span = is_span;
  lane->start = item->start;
  if (is_span)
    lane->end = lane->last_end = item->end;
  *last = item->start;
}


/* The step to which a time seems to be rounded: by its digits, and as a double
   in microseconds. */
static int64_t step_of (chrome_time time) {
  const int64_t step = time.ps != 0 || time.ns % 10 != 0 ? 1
                       : time.ns % 100 != 0              ? 10
                       : time.ns % 1000 != 0             ? 100
                                                         : 1000;
  const int64_t of_double = time.ns >> 52;
  return step > of_double ? step : of_double;
}


static void keep_least (int64_t *least, int64_t step) {
  *least = step < *least ? step : *least;
}


/* Takes the items of the event: they are kept, unless there are too many. */
static pf_status scan_event (chrome_items *self, int64_t *last,
                             pf_error *error) {
  chrome_file *const file = self->file;
  const chrome_event *const event = &self->event;
  file->has_samples |= event->phase == 'P';
  if (event->phase == 'M')
    return chrome_take_metadata(&file->lanes, self->parser.trace, event, error);
  const pf_status status = hold_event(self, error);
  if (status != PF_OK)
    return status;
  if (event->has_ts)
    keep_least(&file->step_of_ts, step_of(event->ts));
  if (event->has_dur)
    keep_least(&file->step_of_dur, step_of(event->dur));
  self->is_light |= file->nitems + self->nheld > CHROME_HELD;
  if (!self->is_light &&
      !pf_grow(&file->items, &file->capacity, file->nitems + self->nheld))
    return pf_no_memory(error);
  for (size_t i = 0; i < self->nheld; i++) {
    check_order(file, &self->held[i], last);
    if (!self->is_light)
      file->items[file->nitems++] = self->held[i];
  }
  return PF_OK;
}


/* Sorts the items that are kept; frees them if these are not all. */
static pf_status end_scan (const chrome_items *self, pf_error *error) {
  chrome_file *const file = self->file;
  if (self->is_light) {
    free(file->items);
    file->items = NULL;
    return PF_OK;
  }
  if (file->is_ordered)
    return PF_OK;
  chrome_item *const spare = pf_array(file->nitems, sizeof *spare);
  if (spare == NULL)
    return pf_no_memory(error);
  pf_sort(file->items, spare, file->nitems, sizeof *spare, compare,
          &file->lanes);
  free(spare);
  return PF_OK;
}


static pf_status scan (chrome_items *self, pf_error *error) {
  chrome_file *const file = self->file;
  int64_t last = INT64_MIN;
  pf_status status = PF_OK;
  file->is_ordered = true;
  file->step_of_ts = file->step_of_dur = 1000;
  if (!pf_grow(&file->items, &file->capacity, 1))
    return pf_no_memory(error);
  while (status == PF_OK) {
    status = chrome_next(&self->parser, &self->event, error);
    if (status == PF_MORE)
      status = scan_event(self, &last, error);
  }
  if (status == PF_END)
    status = end_scan(self, error);
  if (status == PF_OK)
    status =
        chrome_name_lanes(&file->lanes, self->parser.trace->dictionary, error);
  file->is_scanned = status == PF_OK;
  chrome_read_members(self->parser.trace, self->parser.at);
  return status;
}


/* Sorts all items, which are too many to be kept. */
static pf_status sort (chrome_items *self, pf_error *error) {
  uint64_t in_file = 0;
  pf_status status;
  self->sorter =
      pf_sorter_new(sizeof(chrome_item), compare, &self->file->lanes);
  if (self->sorter == NULL)
    return pf_no_memory(error);
  do {
    status = hold_next(self, error);
    for (size_t i = 0; i < self->nheld && status == PF_MORE; i++)
      status = pf_sorter_add(self->sorter, &self->held[i], error);
  } while (status == PF_MORE);
  if (status == PF_END)
    status = pf_sorter_end(self->sorter, &in_file, error);
  if (status != PF_OK)
    return status;
  return pf_warn(self->parser.trace, PF_NOTE, "chrome-order", PF_EFORMAT,
                 PF_NO_OFFSET, error,
                 "the events do not come in the order of their start: they are "
                 "sorted in a temporary file of %llu MB",
                 (unsigned long long)(in_file / 1000000));
}


pf_status chrome_items_next (chrome_items *self, const chrome_item **item,
                             pf_error *error) {
  const chrome_file *const file = self->file;
  if (file->items != NULL) {
    *item = &file->items[self->at];
    return self->at++ < file->nitems ? PF_MORE : PF_END;
  }
  if (self->sorter != NULL) {
    const void *element = NULL;
    const pf_status status = pf_sorter_next(self->sorter, &element, error);
    *item = element;
    return status;
  }
  if (self->at == self->nheld) {
    const pf_status status = hold_next(self, error);
    if (status != PF_MORE)
      return status;
  }
  *item = &self->held[self->at++];
  return PF_MORE;
}


/* }====== */

pf_status chrome_items_open (chrome_items *self, pf_trace *trace,
                             pf_error *error) {
  static const char *const names[] = {"function", "variable", "(unnamed)"};
  chrome_file *const file = trace->state;
  const chrome_parser begin = {
      .trace = trace, .bytes = file->bytes, .at = file->begin};
  uint32_t ids[3];
  self->parser = begin;
  self->file = file;
  pf_status status = pf_intern_texts(trace->dictionary, names, 3, ids, error);
  if (status != PF_OK)
    return status;
  self->function = ids[0];
  self->variable = ids[1];
  self->unnamed = ids[2];
  (void)pf_option_text(trace, "detail", &self->detail);
  if (!file->is_scanned)
    status = scan(self, error);
  if (status == PF_OK && file->has_samples)
    status = pf_warn(trace, PF_NOTE, "chrome-samples", PF_EUNSUPPORTED,
                     PF_NO_OFFSET, error,
                     "the samples of a profiler in the file (ph P) are not in "
                     "table events");
  self->parser = begin;
  self->is_light = false;
  self->nheld = self->at = 0;
  return status == PF_OK && !file->is_ordered && file->items == NULL
             ? sort(self, error)
             : status;
}


void chrome_items_close (chrome_items *self) {
  free(self->held);
  pf_sorter_close(self->sorter);
}
