/*
** open_perfscript.c - the format perfscript: score, facts, events and tables.
** lua/trace_part.c and checked_reader.c call it through pf_format_perfscript.
** The trace owns the perfscript_file, which owns nothing else.
*/

#include <stdio.h>
#include <stdlib.h>

#include "formats/perfscript/perfscript.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static const pf_field samples[] = PF_COLUMN_FIELDS(PERFSCRIPT_SAMPLES);
static const pf_field raw[] =
    PF_RAW_FIELDS("comment, sample, frame, source, record, blank or rest");


/* {====== Score ====== */

/* Whether a frame has a symbol with an offset, or a module. */
static bool is_whole_frame (pf_bytes text) {
  perfscript_frame frame;
  const bool is_valid =
      perfscript_is_frame(text) && perfscript_parse_frame(text, &frame);
  return is_valid && frame.symbol.size > 0 &&
         (frame.module.size > 0 || pf_trim(text).at[pf_trim(text).size - 1] !=
                                       frame.symbol.at[frame.symbol.size - 1]);
}


/* The score of a sample with the line after it, which is empty at the end. */
static int score_sample (const perfscript_header *h, pf_bytes next) {
  const bool has_frame =
      next.size > 0 && next.at[0] == '\t' && perfscript_is_frame(next);
  if (!h->has_tid || (h->comm.size == 0 && !has_frame && h->frame.size == 0))
    return 0;
  if (has_frame && ((h->has_time && h->has_event) || is_whole_frame(next)))
    return 90;
  if (h->has_time && h->has_event)
    return 80;
  return h->has_event && h->frame.size > 0 ? 70 : 0;
}


/* The first line that is no comment and no other record is a sample, with a
   frame after it, or with time and event. */
static int score (pf_bytes head, uint64_t size) {
  (void)size;
  for (size_t at = 0, length; at < head.size; at += length) {
    const pf_bytes text = pf_line_at(head, at, &length);
    if (pf_trim(text).size == 0 || text.at[0] == '#')
      continue;
    if (text.at[0] == '\t' || head.at[at + length - 1] != '\n')
      return 0;
    const perfscript_header h = perfscript_parse_header(text);
    if (h.is_record)
      continue;
    size_t ignored;
    return score_sample(&h, pf_line_at(head, at + length, &ignored));
  }
  return 0;
}


/* }====== */

/* {====== Events ====== */

/* Whether the periods of an event are ns: those of the clocks of Linux. */
static bool is_clock (pf_bytes name) {
  static const char *const clocks[] = {"cpu-clock", "task-clock"};
  for (size_t i = 0; i < COUNT(clocks); i++) {
    const pf_bytes clock = pf_bytes_of(clocks[i]);
    if (pf_begins_with(name, clocks[i]) &&
        (name.size == clock.size || name.at[clock.size] == ':' ||
         name.at[clock.size] == '/'))
      return true;
  }
  return false;
}


/* Adds an event, unless it is known. False if there are too many. */
static bool add_event (perfscript_file *file, pf_bytes name) {
  static const pf_table table = {.fields = samples, .nfields = COUNT(samples)};
  for (size_t i = 0; i < file->columns.count; i++)
    if (pf_bytes_equal(file->events[i].name, name))
      return true;
  perfscript_event *const event = &file->events[file->columns.count];
  pf_event_column *const column =
      pf_event_columns_add(&file->columns, name, true, &table, 1);
  if (column == NULL)
    return false;
  event->name = name;
  snprintf(event->counted, sizeof event->counted, "samples_of_%s",
           column->name);
  snprintf(column->help, sizeof column->help, "the period of %.*s [%s]",
           PF_SHOWN(name, 60), is_clock(name) ? "ns" : "events");
  return true;
}


/* }====== */

/* {====== Opening ====== */

/* Takes a fact of a comment "# name : value". */
static void take_fact (pf_trace *trace, pf_bytes text) {
  static const pf_known_fact known[] = {{"captured on", "captured_on"},
                                        {"hostname", "hostname"},
                                        {"os release", "os_release"},
                                        {"perf version", "perf_version"},
                                        {"arch", "arch"},
                                        {"cpudesc", "cpu"},
                                        {"cmdline", "cmdline"}};
  text = pf_text_after(text, 1);
  const uint8_t *const colon =
      text.size > 0 ? memchr(text.at, ':', text.size) : NULL;
  const size_t size = colon == NULL ? 0 : (size_t)(colon - text.at);
  if (size > 0)
    pf_info_known(trace, known, COUNT(known),
                  pf_trim((pf_bytes){text.at, size}),
                  pf_trim(pf_text_after(text, size + 1)));
}


/* Reads a line that may be the first one of a sample. */
static pf_status scan_header (pf_trace *trace, pf_bytes text, size_t at,
                              bool has_stack, pf_error *error) {
  perfscript_file *const file = trace->state;
  const perfscript_header h = perfscript_parse_header(text);
  const bool is_one = h.has_time || (h.has_event && h.has_tid) || has_stack;
  if (h.is_record || !is_one || (text.at[0] == ' ' && !h.has_tid))
    return PF_OK;
  if (!file->has_headers) {
    file->has_headers = true;
    file->has_time = h.has_time;
    file->has_tid = h.has_tid;
  }
  if (!h.has_event || !h.has_period || add_event(file, h.event))
    return PF_OK;
  return pf_warn(trace, PF_NOTE, "perfscript-many-events", PF_ELIMIT, at, error,
                 "more than %d events: no metric for %.*s", PF_EVENT_COLUMNS,
                 PF_SHOWN(h.event, 60));
}


/* Finds the events and the facts: columns are known before rows are read. */
static pf_status scan (pf_trace *trace, pf_error *error) {
  perfscript_file *const file = trace->state;
  const pf_bytes bytes = file->bytes;
  pf_status status = PF_OK;
  for (size_t at = 0, size; at < bytes.size && status == PF_OK; at += size) {
    if (bytes.at[at] == '\t') {
      const size_t end = pf_line_end(bytes, at);
      size = end - at + (end < bytes.size);
      file->has_frames = true;
      continue;
    }
    const pf_bytes text = pf_line_at(bytes, at, &size);
    const bool has_stack =
        at + size < bytes.size && bytes.at[at + size] == '\t';
    if (perfscript_is_comment(text))
      take_fact(trace, text);
    else if (pf_trim(text).size > 0 && bytes.at[at + size - 1] == '\n')
      status = scan_header(trace, text, at, has_stack, error);
  }
  return status;
}


/* Sets the columns of table samples: those of each event after the others. */
static void set_fields (perfscript_file *file) {
  pf_field *const fields = file->fields + COUNT(samples);
  memcpy(file->fields, samples, sizeof samples);
  file->ncounted = file->columns.count > 1 ? file->columns.count : 0;
  pf_event_columns_fields(&file->columns, fields);
  for (size_t i = 0; i < file->ncounted; i++)
    fields[file->columns.count + i] =
        (pf_field){file->events[i].counted, PF_INT, "1 for its samples"};
}


static pf_status open_trace (pf_trace *trace, pf_error *error) {
  perfscript_file *const file = trace->state;
  file->bytes = trace->sources[0].bytes;
  const pf_status status = scan(trace, error);
  if (status != PF_OK)
    return status;
  if (!file->has_headers && !file->has_frames)
    return pf_fail(error, PF_EFORMAT, 0,
                   "a sample expected: comm, thread, time: period event:");
  pf_info_bool(trace, "times", file->has_time);
  set_fields(file);
  file->tables[0] =
      (pf_table){"samples", file->fields,
                 COUNT(samples) + file->columns.count + file->ncounted, -1,
                 perfscript_open_table};
  file->tables[1] =
      (pf_table){"raw", raw, COUNT(raw), -1, perfscript_open_table};
  file->tables[2] = (pf_table){"events", pf_sampled_fields, PF_SAMPLED_COLUMNS,
                               -1, perfscript_open_table};
  trace->tables = file->tables;
  trace->ntables = pf_option_int(trace, "timeline", 0) != 0 ? 3 : 2;
  return PF_OK;
}


/* }====== */

const pf_format pf_format_perfscript = {.name = "perfscript",
                                        .score = score,
                                        .open = open_trace,
                                        .state_size = sizeof(perfscript_file)};
