/*
** open_chrome.c - the format chrome: score, members of the outer object and
** tables. lua/trace_part.c and checked_reader.c call it through
** pf_format_chrome. The trace owns the chrome_file, which owns its lanes.
*/

#include <stdlib.h>

#include "formats/chrome/chrome.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static const pf_field entries[] = PF_COLUMN_FIELDS(CHROME_ENTRIES);
static const pf_field raw[] = PF_RAW_FIELDS(
    "head, event, or rest: what cannot be read, and all after the events");

static const pf_table tables[] = {
    {"events", pf_span_fields, PF_SPAN_EVENTS_COLUMNS, -1, chrome_open_events},
    {"entries", entries, COUNT(entries), -1, chrome_open_entries},
    {"raw", raw, COUNT(raw), -1, chrome_open_raw},
};


/* {====== Members ====== */

/* Members of the outer object and of its otherData that are header facts. */
static const char *const facts[] = {
    "displayTimeUnit", "schemaVersion", "traceName", "baseTimeNanoseconds",
    "creator",         "trace",         "version",   "product",
    "command_line",    "losses",        "origin_ns"};


static void set_fact (pf_trace *trace, pf_bytes key, const pf_json *value) {
  chrome_file *const file = trace->state;
  int ps;
  if (value->kind == PF_JSON_OBJECT || value->kind == PF_JSON_ARRAY)
    return;
  if (pf_bytes_equal(key, pf_bytes_of("origin_ns")) &&
      pf_parse_scaled(value->text, 0, &file->origin, &ps) != PF_OK)
    file->origin = 0;
  for (size_t i = 0; i < COUNT(facts); i++)
    if (pf_bytes_equal(key, pf_bytes_of(facts[i])))
      pf_info_text(trace, facts[i], value->text);
}


/* Takes the members of otherData. */
static void set_facts (pf_trace *trace, pf_bytes object) {
  const uint8_t *const end = object.at + object.size;
  pf_json key, value;
  for (const uint8_t *p = object.at;
       (p = pf_json_next(p, end, &key, &value)) != NULL;)
    set_fact(trace, key.text, &value);
}


/* Reads members from `p` on, with the facts if there is a trace. Returns the
   position after the bracket of the array of events, or NULL. */
static const uint8_t *find_events (pf_trace *trace, const uint8_t *p,
                                   const uint8_t *end) {
  pf_json key, value;
  for (bool has = true; p != NULL && has;) {
    p = pf_json_key(p, end, &key);
    if (p == NULL)
      return NULL;
    if (p < end && *p == '[' &&
        pf_bytes_equal(key.text, pf_bytes_of("traceEvents")))
      return p + 1;
    p = pf_json_value(p, end, &value);
    if (p == NULL)
      return NULL;
    if (trace != NULL && pf_bytes_equal(key.text, pf_bytes_of("otherData")) &&
        value.kind == PF_JSON_OBJECT)
      set_facts(trace, value.text);
    else if (trace != NULL)
      set_fact(trace, key.text, &value);
    p = pf_json_more(p, end, '}', &has);
  }
  return NULL;
}


void chrome_read_members (pf_trace *trace, size_t at) {
  const pf_bytes bytes = trace->sources[0].bytes;
  const uint8_t *const end = bytes.at + bytes.size;
  bool has = false;
  const uint8_t *const p =
      at < bytes.size ? pf_json_more(bytes.at + at + 1, end, '}', &has) : NULL;
  if (p != NULL && has)
    (void)find_events(trace, p, end);
}


/* Returns the position after the bracket of the array of events; NULL: there is
   none. */
static const uint8_t *find_begin (pf_trace *trace, pf_bytes bytes) {
  static const char mark[] = "\xEF\xBB\xBF"; /* of UTF-8 */
  if (bytes.size == 0)
    return NULL;
  const uint8_t *const end = bytes.at + bytes.size;
  const bool has_mark = bytes.size >= 3 && memcmp(bytes.at, mark, 3) == 0;
  bool has;
  const uint8_t *p = pf_json_blanks(bytes.at + (has_mark ? 3 : 0), end);
  if (p < end && *p == '[')
    return p + 1;
  p = pf_json_begin(p, end, '{', &has);
  return p != NULL && has ? find_events(trace, p, end) : NULL;
}


/* }====== */

/* An array of events, by the first of them; or an object with such an array,
   which may begin after the head. */
static int score (pf_bytes head, uint64_t size) {
  const uint8_t *const end = head.at + head.size;
  const uint8_t *p = find_begin(NULL, head);
  if (p == NULL)
    return head.size > 0 && head.at[0] == '{' && head.size < size &&
                   pf_has_text(head, "\"traceEvents\"")
               ? 60
               : 0;
  chrome_parser parser = {.bytes = head, .is_quiet = true};
  chrome_event event;
  pf_error error;
  p = pf_json_blanks(p, end);
  if (p == end || *p == ']')
    return *pf_json_blanks(head.at, end) == '[' ? 0 : 90;
  parser.at = (size_t)(p - head.at);
  if (*p == '{' && chrome_next(&parser, &event, &error) == PF_MORE)
    return event.has_ts || event.phase == 'M' ? 90 : 0;
  return *p == '{' && head.size < size && pf_has_text(head, "\"ph\"") &&
                 pf_has_text(head, "\"ts\"")
             ? 60
             : 0;
}


static pf_status open_trace (pf_trace *trace, pf_error *error) {
  chrome_file *const file = trace->state;
  file->bytes = trace->sources[0].bytes;
  pf_threads_init(&file->lanes);
  pf_id_table_init(&file->works);
  file->last_lane = PF_NO_ID;
  const uint8_t *const begin = find_begin(trace, file->bytes);
  if (begin == NULL)
    return pf_fail(error, PF_EFORMAT, 0,
                   "an array of events expected, or an object with the member "
                   "traceEvents");
  file->begin = (size_t)(begin - file->bytes.at);
  trace->tables = tables;
  trace->ntables = COUNT(tables);
  return PF_OK;
}


static void close_trace (pf_trace *trace) {
  chrome_file *const file = trace->state;
  pf_threads_free(&file->lanes);
  pf_id_table_free(&file->works);
  pf_order_free(&file->order);
}


const pf_format pf_format_chrome = {.name = "chrome",
                                    .score = score,
                                    .open = open_trace,
                                    .close = close_trace,
                                    .state_size = sizeof(chrome_file)};
