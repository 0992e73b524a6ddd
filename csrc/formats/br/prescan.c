/*
** prescan.c - decides what the page of the format leaves open.
**
** Order of backtraces: a line of the main routine can only be the outermost
** frame. If MAIN ROUTINE is on the last of two or more backtraces, and not on
** the first, the innermost caller comes first; in the opposite case the
** outermost.
**
** Times: lines are written when they end, so the callees of a line precede it.
** Times are inclusive if at least MIN_CALLERS lines, and all that have callees,
** took at least as long as all their callees together; or if the sum of all
** times exceeds the elapsed time, which option `wall` states.
*/

#include <stdlib.h>

#include "formats/br/br.h"
#include "model/base/memory.h"

#define PRESCAN_BYTES 1048576u /* bytes scanned before the first row is read */
#define MIN_CALLERS   8        /* needed for inclusive times */

typedef struct prescan {
  br_parser parser;
  bool has_reached_end; /* the scan reached the end */
  bool is_recording;    /* written by profio's recorder, whose order and times
                           are known */
  /* Evidence for the order of backtraces. */
  uint64_t backtraces;            /* number in all groups */
  uint64_t main_first, main_last; /* groups with the main routine first, last */
  /* Evidence for inclusive times. */
  uint64_t sum;             /* of all times, at most UINT64_MAX */
  uint64_t longer, shorter; /* callers, compared with their callees */
  uint64_t *callees;        /* owned; by depth: time of the callees so far */
  size_t capacity;
} prescan;


static void inspect_order (prescan *s, const br_group *group) {
  const size_t n = group->nframes - 1;
  s->backtraces += n + group->dropped;
  if (n < 2 || group->dropped > 0)
    return;
  const bool first = group->frames[1].routine == BR_IN_MAIN;
  const bool last = group->frames[n].routine == BR_IN_MAIN;
  s->main_first += first && !last;
  s->main_last += last && !first;
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


static uint64_t capped_sum (uint64_t a, uint64_t b) {
  return b > UINT64_MAX - a ? UINT64_MAX : a + b;
}


/* Compares a line with the lines that it called. */
static pf_status inspect_time (prescan *s, const br_group *group,
                               pf_error *error) {
  const size_t depth = group->nframes;
  if (!group->has_time || group->dropped > 0)
    return PF_OK;
  if (!pf_grow_filled(&s->callees, &s->capacity, depth + 2, 0))
    return pf_no_memory(error);
  s->sum = capped_sum(s->sum, group->spent);
  if (s->callees[depth + 1] > 0) {
    const bool fits = group->spent >= s->callees[depth + 1];
    s->longer += fits;
    s->shorter += !fits;
  }
  s->callees[depth + 1] = 0;
  s->callees[depth] = capped_sum(s->callees[depth], group->spent);
  return PF_OK;
}


static const char *decide_times (const prescan *s, br_interpretation *interp) {
  const pf_trace *const trace = s->parser.trace;
  const int64_t wall = pf_option_int(trace, "wall", 0);
  interp->inclusive = pf_option_is(trace, "semantics", "inclusive");
  if (interp->inclusive || pf_option_is(trace, "semantics", "self"))
    return "given";
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


/* Decides order and times, and sets the facts. */
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


pf_status br_prescan (pf_trace *trace, br_interpretation *interp, int64_t *rows,
                      pf_error *error) {
  const bool reads_all = pf_option_int(trace, "wall", 0) > 0;
  prescan s = {.sum = 0};
  pf_bytes recorder;
  pf_status status = br_parser_open(&s.parser, trace, error);
  s.is_recording = br_recorded_by(trace, &recorder);
  if (s.is_recording)
    pf_info_text(trace, "recorded_by", recorder);
  while (status == PF_OK && (reads_all || s.parser.at < PRESCAN_BYTES)) {
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
  free(s.callees);
  br_parser_close(&s.parser);
  return status;
}
