/*
** items_chrome.c - what happens at a time: the items of events, which
** model/timeline/timed.h puts in order.
**
** Used by events_chrome.c, which owns the chrome_items.
*/

#include "formats/chrome/chrome.h"

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
static pf_status hold (chrome_items *self, pf_timed_kind kind, int64_t start,
                       int64_t end, uint32_t lane, uint32_t area,
                       pf_error *error) {
  const pf_timed item = {.start = start,
                         .end = end,
                         .place = (uint64_t)self->event.at << 3 | kind,
                         .lane = lane,
                         .area = area};
  return pf_timed_put(&self->items, &item) ? PF_OK : pf_no_memory(error);
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
    return hold(self, PF_TIMED_MARK, start, 0, lane, area, error);
  if (memchr(value->text.at, '.', value->text.size) == NULL &&
      pf_parse_scaled(value->text, 0, &whole, &ps) == PF_OK && ps == 0)
    return hold(self, PF_TIMED_WRITE, start, whole, lane, area, error);
  if (!pf_parse_double(value->text, &number))
    return PF_OK;
  memcpy(&whole, &number, sizeof whole);
  return hold(self, PF_TIMED_NUMBER, start, whole, lane, area, error);
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
static pf_timed_kind kind_of (const chrome_event *event) {
  switch (event->phase) {
    case 'X': return PF_TIMED_SPAN;
    case 'E':
    case 'e':
    case 'F': return PF_TIMED_END;
    case 'B':
    case 'b':
    case 'S': return PF_TIMED_BEGIN;
    default: return PF_TIMED_MARK;
  }
}


/* Sets the items of the event. */
static pf_status hold_event (chrome_items *self, pf_error *error) {
  chrome_file *const file = self->file;
  const chrome_event *const event = &self->event;
  int64_t start, end;
  uint32_t lane = 0, area = PF_NO_AREA;
  if (!chrome_has_items(event->phase) ||
      !chrome_interval(event, file->origin, &start, &end))
    return PF_OK;
  pf_status status = chrome_lane_of(self->parser.trace, event, &lane, error);
  if (status == PF_OK && self->items.is_light)
    return hold(self, kind_of(event), start, end, lane, PF_NO_AREA, error);
  if (status == PF_OK)
    status = set_category(self, error);
  if (status == PF_OK && event->phase == 'C')
    return hold_counter(self, start, lane, error);
  if (status == PF_OK && kind_of(event) == PF_TIMED_MARK)
    return hold_series(self, NULL, NULL, start, lane, error);
  if (status == PF_OK)
    status = function_of(self, &area, error);
  if (status != PF_OK)
    return status;
  return hold(self, kind_of(event), start, end, lane, area, error);
}


/* }====== */

/* {====== The first reading ====== */

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


/* Takes what only the first reading needs of the event. */
static pf_status scan_event (const chrome_items *self, pf_error *error) {
  chrome_file *const file = self->file;
  const chrome_event *const event = &self->event;
  file->has_samples |= event->phase == 'P';
  if (event->has_ts)
    keep_least(&file->step_of_ts, step_of(event->ts));
  if (event->has_dur)
    keep_least(&file->step_of_dur, step_of(event->dur));
  return event->phase == 'M'
             ? chrome_take_metadata(self->parser.trace, event, error)
             : PF_OK;
}


static pf_status next_items (void *context, pf_timed_reader *items,
                             pf_error *error) {
  chrome_items *const self = context;
  pf_status status = chrome_next(&self->parser, &self->event, error);
  if (status == PF_MORE && !items->order->is_scanned)
    status = scan_event(self, error);
  return status == PF_MORE ? hold_event(self, error) : status;
}


static pf_status scan (chrome_items *self, pf_error *error) {
  chrome_file *const file = self->file;
  pf_trace *const trace = self->parser.trace;
  file->step_of_ts = file->step_of_dur = 1000;
  const pf_status status = pf_timed_scan(&self->items, error);
  chrome_read_members(trace, self->parser.at);
  return status == PF_OK
             ? pf_threads_set_names(&file->lanes, trace->dictionary, error)
             : status;
}


/* }====== */

pf_status chrome_items_open (chrome_items *self, pf_trace *trace,
                             pf_error *error) {
  static const char *const names[] = {"function", "variable", "(unnamed)"};
  chrome_file *const file = trace->state;
  const chrome_parser begin = {
      .trace = trace, .bytes = file->bytes, .at = file->begin};
  uint32_t ids[3];
  uint64_t in_file;
  bool is_sorted = false;
  self->parser = begin;
  self->file = file;
  self->items = (pf_timed_reader){
      .order = &file->order, .next = next_items, .context = self};
  pf_status status = pf_intern_texts(trace->dictionary, names, 3, ids, error);
  if (status != PF_OK)
    return status;
  self->function = ids[0];
  self->variable = ids[1];
  self->unnamed = ids[2];
  (void)pf_option_text(trace, "detail", &self->detail);
  if (!file->order.is_scanned)
    status = scan(self, error);
  if (status == PF_OK && file->has_samples)
    status = pf_warn(trace, PF_NOTE, "chrome-samples", PF_EUNSUPPORTED,
                     PF_NO_OFFSET, error,
                     "the samples of a profiler in the file (ph P) are not in "
                     "table events");
  self->parser = begin;
  if (status == PF_OK)
    status = pf_timed_begin(&self->items, &is_sorted, &in_file, error);
  return status == PF_OK && is_sorted
             ? pf_warn(trace, PF_NOTE, "chrome-order", PF_EFORMAT, PF_NO_OFFSET,
                       error,
                       "the events do not come in the order of their start: "
                       "they are sorted in a temporary file of %llu MB",
                       (unsigned long long)(in_file / 1000000))
             : status;
}
