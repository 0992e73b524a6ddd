/*
** open_callgrind.c - the format callgrind: score, header and tables.
** lua/trace_part.c and checked_reader.c call it through pf_format_callgrind.
** The trace owns the callgrind_file, which owns nothing else.
*/

#include <stdio.h>
#include <stdlib.h>

#include "formats/callgrind/callgrind.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static const pf_field costs[] = PF_COLUMN_FIELDS(CALLGRIND_COSTS);
static const pf_field calls[] = PF_COLUMN_FIELDS(CALLGRIND_CALLS);
static const pf_field raw[] =
    PF_RAW_FIELDS("header, name, cost, calls, inclusive, jump, blank or rest");


bool callgrind_split_header (pf_bytes text, pf_bytes *name, pf_bytes *value) {
  size_t size = 0;
  while (size < text.size && text.at[size] >= 'a' && text.at[size] <= 'z')
    size++;
  if (size == 0 || size == text.size || text.at[size] != ':')
    return false;
  *name = (pf_bytes){text.at, size};
  *value = pf_trim(pf_text_after(text, size + 1));
  return true;
}


/* The header of a file, or its beginning: the lines in front of the first name
   or cost. */
typedef struct header_cursor {
  pf_bytes bytes;
  size_t at;
} header_cursor;


/* Takes the next header line. False at the first line that is none. */
static bool next_header (header_cursor *c, pf_bytes *name, pf_bytes *value) {
  while (c->at < c->bytes.size) {
    size_t size;
    const pf_bytes text = pf_trim(pf_line_at(c->bytes, c->at, &size));
    const bool is_blank = text.size == 0 || text.at[0] == '#';
    if (!is_blank && !callgrind_split_header(text, name, value))
      return false;
    c->at += size;
    if (!is_blank)
      return true;
  }
  return false;
}


static bool is_key (pf_bytes name) {
  static const char *const keys[] = {
      "version", "creator", "pid",    "thread",    "part",    "cmd",
      "desc",    "event",   "events", "positions", "summary", "totals"};
  for (size_t i = 0; i < COUNT(keys); i++)
    if (pf_bytes_equal(name, pf_bytes_of(keys[i])))
      return true;
  return false;
}


/* A header with events, and a line of a name or position after it. */
static int score (pf_bytes head, uint64_t size) {
  header_cursor c = {head, 0};
  pf_bytes name, value;
  bool has_events = false;
  while (next_header(&c, &name, &value)) {
    if (!is_key(name))
      return 0;
    has_events |= pf_bytes_equal(name, pf_bytes_of("events"));
  }
  const pf_bytes rest = pf_text_after(head, c.at);
  if (!has_events || (rest.size == 0 && head.size < size))
    return 0;
  static const char *const begins[] = {"ob=", "fl=", "fn=", "fi=", "fe="};
  for (size_t i = 0; i < COUNT(begins); i++)
    if (rest.size > 3 && memcmp(rest.at, begins[i], 3) == 0)
      return 90;
  return rest.size == 0 ? 60 : 0;
}


/* {====== Events ====== */

/* The ns of a unit; 0: it is no time. */
static uint64_t ns_of (pf_bytes unit) {
  static const struct {
    const char *name;
    uint64_t ns;
  } units[] = {{"ns", 1},
               {"us", 1000},
               {"\xC2\xB5s", 1000},
               {"ms", 1000000},
               {"s", 1000000000}};
  for (size_t i = 0; i < COUNT(units); i++)
    if (pf_bytes_equal(unit, pf_bytes_of(units[i].name)))
      return units[i].ns;
  return 0;
}


/* Takes the unit in which the name of an event ends, as Xdebug's do:
   Time_(10ns), Memory_(bytes). Returns the factor from it to ns, or 1. */
static uint64_t take_unit (pf_bytes *name, pf_bytes *unit) {
  size_t at = name->size;
  while (at > 1 && name->at[at - 1] != '(')
    at--;
  pf_bytes text = pf_text_after(*name, at);
  if (at < 3 || text.size < 2 || text.at[text.size - 1] != ')')
    return 1;
  text.size--;
  uint64_t number = 1;
  const size_t digits = pf_count_digits(text, 10);
  if (digits > 9 ||
      (digits > 0 && pf_parse_uint((pf_bytes){text.at, digits}, 10, &number)))
    return 1;
  text = pf_text_after(text, digits);
  const uint64_t ns = ns_of(text);
  if (ns > 0 || digits == 0) {
    *unit = ns > 0 ? pf_bytes_of("ns") : text;
    name->size = name->at[at - 2] == '_' ? at - 2 : at - 1;
  }
  return ns == 0 ? 1 : ns * number;
}


/* Sets the columns of the events. */
static void set_events (callgrind_file *file, pf_bytes names) {
  static const pf_table tables[] = {{.fields = calls, .nfields = COUNT(calls)},
                                    {.fields = costs, .nfields = COUNT(costs)}};
  for (pf_bytes word; pf_next_word(&names, &word);) {
    pf_bytes unit = pf_bytes_of("events");
    const uint64_t factor = take_unit(&word, &unit);
    pf_event_column *const column =
        pf_event_columns_add(&file->events, word, false, tables, COUNT(tables));
    if (column == NULL)
      return;
    snprintf(column->help, sizeof column->help, "the count [%.*s]",
             PF_SHOWN(unit, 40));
    file->factors[file->events.count - 1] = factor;
    file->has_units |= factor != 1;
  }
}


/* Takes "event: NAME : LONG NAME, UNIT", as the export of profio states units.
 */
static void set_stated_unit (callgrind_file *file, pf_bytes value) {
  pf_bytes word, rest = value;
  size_t comma = value.size;
  if (!pf_next_word(&rest, &word))
    return;
  while (comma > 0 && value.at[comma - 1] != ',' && value.at[comma - 1] != ':')
    comma--;
  const pf_bytes unit = pf_trim(pf_text_after(value, comma));
  for (size_t i = 0;
       comma > 0 && value.at[comma - 1] == ',' && i < file->events.count; i++)
    if (pf_bytes_equal(word, pf_bytes_of(file->events.list[i].name)))
      snprintf(file->events.list[i].help, sizeof file->events.list[i].help,
               "the count [%.*s]", PF_SHOWN(unit, 40));
}


/* }====== */

static void set_info (pf_trace *trace, callgrind_file *file, pf_bytes name,
                      pf_bytes value) {
  static const pf_known_fact known[] = {
      {"version", "version"}, {"creator", "creator"}, {"cmd", "cmd"},
      {"pid", "pid"},         {"thread", "thread"},   {"desc", "desc"}};
  if (pf_bytes_equal(name, pf_bytes_of("creator")))
    file->is_estimate = pf_begins_with(value, "xdebug");
  pf_info_known(trace, known, COUNT(known), name, value);
}


/* Reads the header of the first part. */
static pf_status read_header (pf_trace *trace, callgrind_file *file,
                              pf_error *error) {
  pf_bytes name, value;
  header_cursor c = {file->bytes, 0};
  while (next_header(&c, &name, &value)) {
    if (pf_bytes_equal(name, pf_bytes_of("events")) &&
        file->events.count == 0) {
      file->names = value;
      set_events(file, value);
    }
    set_info(trace, file, name, value);
  }
  for (c.at = 0; next_header(&c, &name, &value);)
    if (pf_bytes_equal(name, pf_bytes_of("event")))
      set_stated_unit(file, value);
  return file->events.count > 0
             ? PF_OK
             : pf_fail(error, PF_EFORMAT, 0,
                       "a header with a line 'events: NAME ...' expected");
}


/* Sets the columns of a table: those in front, and one for each event. */
static pf_table table_of (callgrind_file *file, const char *name,
                          const pf_field *front, size_t count,
                          pf_field *fields) {
  memcpy(fields, front, count * sizeof *fields);
  pf_event_columns_fields(&file->events, fields + count);
  return (pf_table){name, fields, count + file->events.count, -1,
                    callgrind_open_table};
}


static pf_status open_trace (pf_trace *trace, pf_error *error) {
  callgrind_file *const file = trace->state;
  file->bytes = trace->sources[0].bytes;
  for (size_t at = file->bytes.size; at > 0 && file->last_feed == 0; at--)
    file->last_feed = file->bytes.at[at - 1] == '\n' ? at - 1 : 0;
  const pf_status status = read_header(trace, file, error);
  if (status != PF_OK)
    return status;
  file->tables[0] = table_of(file, "costs", costs, COUNT(costs), file->costs);
  file->tables[1] =
      table_of(file, "call_costs", calls, COUNT(calls), file->calls);
  file->tables[2] =
      (pf_table){"raw", raw, COUNT(raw), -1, callgrind_open_table};
  trace->tables = file->tables;
  trace->ntables = COUNT(file->tables);
  return PF_OK;
}


const pf_format pf_format_callgrind = {.name = "callgrind",
                                       .score = score,
                                       .open = open_trace,
                                       .state_size = sizeof(callgrind_file)};
