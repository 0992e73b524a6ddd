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

#include <stdio.h>
#include <stdlib.h>

#include "formats/br/br.h"
#include "model/base/memory.h"

#define PRESCAN_BYTES 1048576u /* bytes scanned before the first row is read */
#define MIN_CALLERS   8        /* needed for inclusive times */

/* Evidence for the order of backtraces. */
typedef struct order {
  uint64_t backtraces;            /* number in all groups */
  uint64_t main_first, main_last; /* groups with the main routine first, last */
} order;

/* Evidence for inclusive times. */
typedef struct times {
  uint64_t sum;             /* of all times, at most UINT64_MAX */
  uint64_t longer, shorter; /* callers, compared with their callees */
} times;

typedef struct prescan {
  br_parser parser;
  bool reads_all;       /* not only the first PRESCAN_BYTES */
  bool has_reached_end; /* the scan reached the end */
  uint64_t *callees;    /* owned; by depth: time of the callees so far */
  size_t capacity;
  bool is_recording; /* written by profio's recorder */
} prescan;


/* Detects files of profio's recorder, whose order and times are known, and
   states the recorder in a fact. */
static void detect_recorder (pf_trace *trace, prescan *s) {
  pf_bytes author;
  s->is_recording = br_recorded_by(trace, &author);
  if (s->is_recording)
    pf_info_text(trace, "recorded_by", author);
}


/* The next group to scan. */
static pf_status next_group (prescan *s, pf_error *error) {
  if (!s->reads_all && s->parser.at >= PRESCAN_BYTES)
    return PF_END;
  const pf_status status = br_next_group(&s->parser, error);
  s->has_reached_end |= status == PF_END;
  return status;
}


/* {====== The order of backtraces ====== */

static void inspect_order (const br_group *group, order *seen) {
  const size_t n = group->nframes - 1;
  seen->backtraces += n + group->dropped;
  if (n < 2 || group->dropped > 0)
    return;
  const bool first = group->frames[1].routine == BR_IN_MAIN;
  const bool last = group->frames[n].routine == BR_IN_MAIN;
  seen->main_first += first && !last;
  seen->main_last += last && !first;
}


static const char *decide_order (const prescan *s, const order *seen,
                                 br_interpretation *interp) {
  if (s->is_recording) {
    interp->outer_first = false;
    return "profio's recorder writes them so";
  }
  interp->outer_first = seen->main_first > 0 && seen->main_last == 0;
  if (seen->backtraces == 0)
    return "there are no backtraces";
  if (seen->main_first > 0 && seen->main_last > 0)
    return "assumed: the groups contradict each other";
  if (seen->main_first > 0)
    return "the main routine stands on the first backtrace";
  if (seen->main_last > 0)
    return "the main routine stands on the last backtrace";
  return "assumed: no group has the main routine at one end";
}


static pf_status set_order (pf_trace *trace, const prescan *s,
                            const order *seen, br_interpretation *interp,
                            pf_error *error) {
  const char *why = decide_order(s, seen, interp);
  if (pf_option_is(trace, "backtrace_order", "inner_first") ||
      pf_option_is(trace, "backtrace_order", "outer_first")) {
    interp->outer_first = pf_option_is(trace, "backtrace_order", "outer_first");
    why = "given";
  }
  pf_info_text(trace, "backtrace_order",
               br_text(interp->outer_first ? "outer_first" : "inner_first"));
  pf_info_text(trace, "backtrace_order_why", br_text(why));
  interp->has_callers = seen->backtraces > 0;
  pf_info_bool(trace, "has_backtraces", interp->has_callers);
  pf_info_int(trace, "main_first", (int64_t)seen->main_first);
  pf_info_int(trace, "main_last", (int64_t)seen->main_last);
  if (seen->main_first == 0 || seen->main_last == 0)
    return PF_OK;
  return pf_warn(trace, PF_NOTE, "br-order-contradicts", PF_EFORMAT,
                 PF_NO_OFFSET, error,
                 "the main routine stands on the first backtrace of %llu "
                 "groups and on the last of %llu",
                 (unsigned long long)seen->main_first,
                 (unsigned long long)seen->main_last);
}

/* }====== */


/* {====== Times ====== */

static uint64_t capped_sum (uint64_t a, uint64_t b) {
  return b > UINT64_MAX - a ? UINT64_MAX : a + b;
}


/* Compares a line with the lines that it called. */
static pf_status inspect_time (prescan *s, const br_group *group, times *seen,
                               pf_error *error) {
  const size_t depth = group->nframes;
  if (!group->has_time || group->dropped > 0)
    return PF_OK;
  if (!pf_grow_filled(&s->callees, &s->capacity, depth + 2, 0))
    return pf_no_memory(error);
  seen->sum = capped_sum(seen->sum, group->spent);
  if (s->callees[depth + 1] > 0) {
    const bool fits = group->spent >= s->callees[depth + 1];
    seen->longer += fits;
    seen->shorter += !fits;
  }
  s->callees[depth + 1] = 0;
  s->callees[depth] = capped_sum(s->callees[depth], group->spent);
  return PF_OK;
}


static const char *decide_times (const pf_trace *trace, const prescan *s,
                                 const times *seen, br_interpretation *interp) {
  const int64_t wall = pf_option_int(trace, "wall", 0);
  interp->inclusive = pf_option_is(trace, "semantics", "inclusive");
  if (interp->inclusive || pf_option_is(trace, "semantics", "self"))
    return "given";
  if (s->parser.timed == 0)
    return "there are no times";
  if (s->is_recording)
    return "profio's recorder writes them so";
  interp->inclusive = true;
  if (wall > 0 && seen->sum > (uint64_t)wall)
    return "the sum of all times exceeds the elapsed time";
  if (seen->longer >= MIN_CALLERS && seen->shorter == 0)
    return "each line took at least as long as what it called";
  interp->inclusive = false;
  return seen->shorter > 0 ? "some line took less time than what it called"
                           : "assumed: nothing says otherwise";
}


static void set_times (pf_trace *trace, const prescan *s, const times *seen,
                       br_interpretation *interp) {
  const char *const why = decide_times(trace, s, seen, interp);
  pf_info_text(trace, "semantics",
               br_text(interp->inclusive ? "inclusive" : "self"));
  pf_info_text(trace, "semantics_why", br_text(why));
}

/* }====== */


static const char *dialect_of (const br_parser *parser) {
  if (parser->groups == 0)
    return "empty";
  if (parser->timed == 0)
    return "sampled";
  return parser->timed == parser->groups ? "timed" : "mixed";
}


static void set_dialect (pf_trace *trace, const prescan *s) {
  pf_info_text(trace, "dialect", br_text(dialect_of(&s->parser)));
  pf_info_text(trace, "byte_order", br_text("big"));
  if (!s->has_reached_end)
    return;
  pf_info_int(trace, "records", (int64_t)s->parser.groups);
  pf_info_int(trace, "mappings", (int64_t)s->parser.mappings);
}


/* Scans the groups for both kinds of evidence. */
static pf_status inspect_groups (prescan *s, order *backtraces, times *seen,
                                 pf_error *error) {
  pf_status status;
  while ((status = next_group(s, error)) == PF_MORE) {
    inspect_order(&s->parser.group, backtraces);
    status = inspect_time(s, &s->parser.group, seen, error);
    if (status < 0)
      break;
  }
  return status < 0 ? status : PF_OK;
}


pf_status br_prescan (pf_trace *trace, br_interpretation *interp, int64_t *rows,
                      pf_error *error) {
  prescan s = {.reads_all = pf_option_int(trace, "wall", 0) > 0};
  order backtraces = {.backtraces = 0};
  times seen = {.sum = 0};
  pf_status status = br_parser_open(&s.parser, trace, error);
  detect_recorder(trace, &s);
  if (status == PF_OK)
    status = inspect_groups(&s, &backtraces, &seen, error);
  if (status == PF_OK) {
    set_dialect(trace, &s);
    *rows = s.has_reached_end ? (int64_t)s.parser.groups : -1;
    status = set_order(trace, &s, &backtraces, interp, error);
    set_times(trace, &s, &seen, interp);
  }
  free(s.callees);
  br_parser_close(&s.parser);
  return status;
}
