/*
** open_br.c - the format br: line profiles of Business Rules! BASIC. The file
** has no header; opening pre-scans its first megabyte, or with option `wall`
** all of it, to decide what the page of the format leaves open. Options, and
** the mapping by which profio's recorder names itself, decide without evidence.
** Readers warn if the file has evidence against an assumed order later.
**
** Order of backtraces: a line of the main routine can only be the outermost
** frame. The outermost frame comes first if some groups of two or more
** backtraces have MAIN ROUTINE only on the first, and none only on the last.
** Else the innermost caller comes first, also without any evidence.
**
** Times: lines are written when they end, so the callees of a line precede it.
** Times are inclusive if at least MIN_CALLERS lines, and all that have callees,
** took at least as long as all their callees together; or if the sum of all
** times exceeds the elapsed time, which option `wall` states.
**
** lua/trace_part.c and checked_reader.c call it through pf_format_br; the trace
** owns the br_file.
*/

#include <stdlib.h>

#include "bytes/text.h"
#include "formats/br/br.h"
#include "model/base/memory.h"

#define PRESCAN_BYTES 1048576u /* bytes scanned before the first row is read */
#define MIN_CALLERS   8        /* needed for inclusive times */
#define MAX_INTERVAL  10000000000u /* ns between two samples */

/* Number of valid records at the begin of a file that are as good as a group:
   its mappings, or its first group, may be longer than the bytes that the score
   depends on. */
#define MIN_RECORDS 32

/* State of the scan for the score. */
typedef struct scan {
  bool is_mapped[256]; /* by the low byte of the number */
  bool in_group;
  bool is_likely;    /* a group is complete, or many records are valid */
  bool has_odd_name; /* a module's name is empty or has control bytes */
} scan;


/* Returns true if a record is allowed after those before it. */
static bool is_allowed (scan *s, const br_record *record) {
  switch (record->type) {
    case BR_MODULE:
      s->is_mapped[record->module & 0xff] = true;
      s->has_odd_name |= record->name.size == 0;
      for (size_t i = 0; i < record->name.size; i++)
        s->has_odd_name |=
            record->name.at[i] < 0x20 || record->name.at[i] == 0x7f;
      return true;
    case BR_LINE:
      if (s->in_group || !s->is_mapped[record->module & 0xff])
        return false;
      return s->in_group = true;
    case BR_END:
      if (!s->in_group)
        return false;
      s->in_group = false;
      return s->is_likely = true;
    default: return s->in_group;
  }
}


/* There is no magic number: the file must begin with a mapping and be valid up
   to the end of a group. With odd names, as those of Lua chunks, it must be
   valid to the end of `head`. The first group may end after `head`. */
static int score (pf_bytes head, uint64_t size) {
  scan s = {.in_group = false};
  br_record record;
  uint64_t at = 0;
  if (head.size == 0 || head.at[0] != BR_MODULE)
    return 0;
  s.is_likely = br_is_recording(head);
  for (unsigned count = 0; at < head.size; count++) {
    if (count == MIN_RECORDS && size > head.size)
      s.is_likely = true;
    const br_result found = br_record_at(head, at, &record);
    if (found == BR_TRUNCATED) /* at the end of `head` or of the file */
      return s.is_likely && (!s.has_odd_name || size > head.size) ? 60 : 0;
    if (found == BR_INVALID || !is_allowed(&s, &record))
      return s.is_likely && !s.has_odd_name ? 20 : 0;
    at += record.size;
  }
  if (!s.is_likely)
    return 0;
  return size > head.size || !s.in_group ? 70 : 60;
}


typedef struct prescan {
  br_parser parser;
  bool has_reached_end; /* the scan reached the end */
  bool is_recording;    /* written by profio's recorder */
  /* Evidence for the order of backtraces. */
  uint64_t backtraces;            /* number in all groups */
  uint64_t main_first, main_last; /* groups with the main routine at one end */
  /* Evidence for inclusive times. */
  uint64_t sum;             /* of all times, at most UINT64_MAX */
  uint64_t longer, shorter; /* callers, compared with their callees */
  br_callees callees;       /* owned */
} prescan;


static void inspect_order (prescan *s, const br_group *group) {
  s->backtraces += group->nframes - 1 + group->dropped;
  s->main_first += br_has_main_only(group, true);
  s->main_last += br_has_main_only(group, false);
}


static const char *decide_order (const prescan *s, br_interpretation *interp) {
  const pf_trace *const trace = s->parser.trace;
  interp->outer_first = pf_option_is(trace, "backtrace_order", "outer_first");
  if (interp->outer_first ||
      pf_option_is(trace, "backtrace_order", "inner_first"))
    return "given";
  if (s->is_recording)
    return "profio's recorder writes them so";
  interp->outer_first = s->main_first > 0 && s->main_last == 0;
  interp->is_assumed = s->main_first == 0 && s->main_last == 0;
  if (s->backtraces == 0)
    return "there are no backtraces";
  if (s->main_first > 0 && s->main_last > 0)
    return "assumed: the groups contradict each other";
  if (s->main_first > 0)
    return "the main routine stands on the first backtrace";
  if (s->main_last > 0)
    return "the main routine stands on the last backtrace";
  return "assumed: no group has the main routine at one end";
}


/* Compares a line with the lines that it called. */
static pf_status inspect_time (prescan *s, const br_group *group,
                               pf_error *error) {
  uint64_t called;
  if (!br_end_line(&s->callees, group, &called))
    return pf_no_memory(error);
  if (!br_has_time(group))
    return PF_OK;
  s->sum = br_sum(s->sum, group->spent);
  s->longer += called > 0 && group->spent >= called;
  s->shorter += group->spent < called;
  return PF_OK;
}


static const char *decide_times (const prescan *s, br_interpretation *interp) {
  const pf_trace *const trace = s->parser.trace;
  const int64_t wall = pf_option_int(trace, "wall", 0);
  interp->inclusive = pf_option_is(trace, "semantics", "inclusive");
  if (interp->inclusive || pf_option_is(trace, "semantics", "self"))
    return "given";
  if (s->parser.timed == 0 && interp->interval > 0)
    return "a sample stands for the time since the one before it";
  if (s->parser.timed == 0)
    return "there are no times";
  if (s->is_recording)
    return "profio's recorder writes them so";
  interp->inclusive = true;
  if (wall > 0 && s->sum > (uint64_t)wall)
    return "the sum of all times exceeds the elapsed time";
  if (s->longer >= MIN_CALLERS && s->shorter == 0)
    return "each line took at least as long as what it called";
  interp->inclusive = false;
  return s->shorter > 0 ? "some line took less time than what it called"
                        : "assumed: nothing says otherwise";
}


/* Returns the time between two samples that a recording states at the end of
   its name; 0: none. */
static int64_t interval_of (pf_bytes recorder) {
  static const char before[] = ", interval ", after[] = " ns";
  const size_t head = sizeof before - 1, tail = sizeof after - 1;
  size_t digits = 0;
  if (recorder.size < head + tail)
    return 0;
  const uint8_t *const end = recorder.at + recorder.size - tail;
  while (digits < recorder.size - tail && pf_digit(*(end - digits - 1)) < 10)
    digits++;
  uint64_t interval = 0;
  if (memcmp(end, after, tail) != 0 || recorder.size - tail < digits + head ||
      memcmp(end - digits - head, before, head) != 0 ||
      pf_parse_uint((pf_bytes){end - digits, digits}, 10, &interval) != PF_OK)
    return 0;
  return interval <= MAX_INTERVAL ? (int64_t)interval : 0;
}


/* Decides order and times, and sets the facts. PF_OK or PF_ENOMEM. */
static pf_status conclude (pf_trace *trace, const prescan *s,
                           br_interpretation *interp, pf_error *error) {
  const br_parser *const parser = &s->parser;
  pf_info_text(trace, "dialect",
               pf_bytes_of(parser->groups == 0               ? "empty"
                           : parser->timed == 0              ? "sampled"
                           : parser->timed == parser->groups ? "timed"
                                                             : "mixed"));
  pf_info_text(trace, "byte_order", pf_bytes_of("big"));
  if (s->has_reached_end) {
    pf_info_int(trace, "records", (int64_t)parser->groups);
    pf_info_int(trace, "mappings", (int64_t)parser->mappings);
  }
  const char *why = decide_order(s, interp);
  pf_info_text(
      trace, "backtrace_order",
      pf_bytes_of(interp->outer_first ? "outer_first" : "inner_first"));
  pf_info_text(trace, "backtrace_order_why", pf_bytes_of(why));
  interp->has_callers = s->backtraces > 0;
  pf_info_bool(trace, "has_backtraces", interp->has_callers);
  pf_info_int(trace, "main_first", (int64_t)s->main_first);
  pf_info_int(trace, "main_last", (int64_t)s->main_last);
  if (interp->interval > 0)
    pf_info_int(trace, "interval", interp->interval);
  why = decide_times(s, interp);
  pf_info_text(trace, "semantics",
               pf_bytes_of(interp->inclusive ? "inclusive" : "self"));
  pf_info_text(trace, "semantics_why", pf_bytes_of(why));
  if (s->main_first == 0 || s->main_last == 0)
    return PF_OK;
  return pf_warn(
      trace, PF_NOTE, "br-order-contradicts", PF_EFORMAT, PF_NO_OFFSET, error,
      "the main routine stands on the first backtrace of %llu "
      "groups and on the last of %llu",
      (unsigned long long)s->main_first, (unsigned long long)s->main_last);
}


/* Scans the first megabyte (with option `wall` the whole file, and for given
   inclusive times at least up to the first backtrace), sets *interp,
   and states the decisions and their reasons in facts. *rows is the number of
   groups, or -1 if the scan did not reach the end. PF_OK or a failure. */
static pf_status prescan_file (pf_trace *trace, br_interpretation *interp,
                               int64_t *rows, pf_error *error) {
  const bool reads_all = pf_option_int(trace, "wall", 0) > 0;
  const bool finds_callers = pf_option_is(trace, "semantics", "inclusive");
  prescan s = {.sum = 0};
  pf_bytes recorder;
  pf_status status = br_parser_open(&s.parser, trace, error);
  s.is_recording = br_recorded_by(trace, &recorder);
  if (s.is_recording) {
    pf_info_text(trace, "recorded_by", recorder);
    interp->interval = interval_of(recorder);
  }
  while (status == PF_OK && (reads_all || s.parser.at < PRESCAN_BYTES ||
                             (finds_callers && s.backtraces == 0))) {
    status = br_next_group(&s.parser, error);
    if (status != PF_MORE)
      break;
    inspect_order(&s, &s.parser.group);
    status = inspect_time(&s, &s.parser.group, error);
  }
  s.has_reached_end = status == PF_END;
  if (status >= 0) {
    *rows = s.has_reached_end ? (int64_t)s.parser.groups : -1;
    status = conclude(trace, &s, interp, error);
  }
  free(s.callees.times);
  br_parser_close(&s.parser);
  return status;
}


/* Refuses a file whose first byte is not a record type. Warns if the length of
   the first name exceeds the file in big-endian order, but not in
   little-endian. */
static pf_status check_start (pf_trace *trace, pf_error *error) {
  const pf_bytes bytes = trace->sources[0].bytes;
  br_record record;
  if (bytes.size == 0)
    return PF_OK;
  const br_result found = br_record_at(bytes, 0, &record);
  if (found == BR_INVALID)
    return pf_fail(error, PF_EFORMAT, 0,
                   "a record of type 1 or 3 to 9 expected, found %d",
                   bytes.at[0]);
  if (found != BR_TRUNCATED || record.type != BR_MODULE || bytes.size < 5 ||
      pf_load16(bytes.at + 3, false) > bytes.size - 5)
    return PF_OK;
  return pf_warn(trace, PF_NOTE, "br-little-endian", PF_EFORMAT, 3, error,
                 "the length of the first name is %u, or %u in little-endian "
                 "order, which would fit: numbers are read as big-endian",
                 pf_load16(bytes.at + 3, true), pf_load16(bytes.at + 3, false));
}


/* Whether the names in the first megabyte have bytes above 127, and all of them
   are UTF-8, as profio writes them. `charset` is a code page. */
static bool has_utf8_names (const pf_charset *charset, pf_bytes bytes) {
  br_record record;
  bool has_found = false;
  for (uint64_t at = 0; at < bytes.size && at < PRESCAN_BYTES;
       at += record.size) {
    if (br_record_at(bytes, at, &record) != BR_COMPLETE)
      break;
    if ((record.type != BR_MODULE && record.type != BR_FUNCTION) ||
        pf_is_same_in_utf8(charset, record.name))
      continue;
    if (!pf_is_utf8(record.name))
      return false;
    has_found = true;
  }
  return has_found;
}


/* Opens the charset, which is zeroed, that option code_page names, and states
   it in a fact. Without the option, and for "auto", it is CP437 unless the
   names are UTF-8. The names of a recording are always UTF-8, so the option is
   ignored for them. PF_EUNSUPPORTED for an unknown code page. */
static pf_status open_charset (pf_charset *charset, pf_trace *trace,
                               pf_error *error) {
  pf_bytes name, recorder;
  const bool is_given = pf_option_text(trace, "code_page", &name) &&
                        !pf_option_is(trace, "code_page", "auto");
  if (!is_given)
    name = pf_bytes_of("CP437");
  const pf_status status = pf_charset_open_given(charset, name, error);
  if (status != PF_OK)
    return status;
  if (br_recorded_by(trace, &recorder) ||
      (!is_given && has_utf8_names(charset, trace->sources[0].bytes)))
    memset(charset, 0, sizeof *charset);
  if (charset->kind != PF_TEXT_AS_BYTES)
    pf_info_text(trace, "code_page", pf_bytes_of(charset->name));
  return PF_OK;
}


static pf_status open_trace (pf_trace *trace, pf_error *error) {
  br_file *const file = trace->state;
  memcpy(file->tables, br_tables, sizeof br_tables);
  trace->tables = file->tables;
  trace->ntables = BR_TABLES;
  pf_status status = check_start(trace, error);
  if (status == PF_OK)
    status = open_charset(&file->charset, trace, error);
  if (status == PF_OK)
    status = prescan_file(trace, &file->interp, &file->tables[0].rows, error);
  return status;
}


const pf_format pf_format_br = {
    .name = "br",
    .score = score,
    .open = open_trace,
    .state_size = sizeof(br_file),
    .written = br_tables,
    .nwritten = BR_WRITTEN,
    .encoder = br_encoder,
};
