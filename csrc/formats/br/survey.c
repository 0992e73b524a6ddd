/*
** survey.c - how to read what the page of the format leaves open.
**
** The order of backtraces: a line of the main routine can only be the
** outermost frame. MAIN ROUTINE on the last of two or more backtraces, and
** not on the first, says that the innermost caller comes first; on the first
** and not on the last it says the opposite.
**
** Whether times include calls: lines are written when they are done, so a
** line's callees stand before it. When each of CALLERS lines or more took at
** least as long as all its callees before it, times include them. Or the sum
** of all times is more than the time that passed, which option `wall` gives.
*/

#include <stdio.h>
#include <stdlib.h>

#include "formats/br/br.h"

#define SURVEYED 1048576u /* bytes looked at before the first row is given */
#define CALLERS  8        /* that must have taken as long as their callees */

/* What is seen of the order of backtraces. */
typedef struct order {
  uint64_t backtraces;            /* of all groups */
  uint64_t main_first, main_last; /* groups that say one or the other */
} order;

/* What is seen of the times. */
typedef struct times {
  uint64_t sum;             /* of all, no more than UINT64_MAX */
  uint64_t fitting, others; /* callers that took as long as their callees */
} times;

typedef struct survey {
  br_walk walk;
  bool everything;   /* and not only the beginning */
  bool complete;     /* it got to the end */
  uint64_t *callees; /* by depth: time of the lines that it called */
  size_t room;
  bool is_recording; /* profio's recorder wrote it */
} survey;


/* State in the trace's info that profio's recorder wrote the file: then it is
   known how the file is to be read. */
static void look_at_author (pf_trace *trace, survey *s) {
  pf_bytes author;
  s->is_recording = br_recorded_by(trace, &author);
  if (s->is_recording)
    pf_info_text(trace, "recorded_by", author);
}


/* The next group of the part that is looked at. */
static pf_status next_group (survey *s, pf_error *error) {
  if (!s->everything && s->walk.at >= SURVEYED)
    return PF_END;
  const pf_status status = br_next_group(&s->walk, error);
  s->complete |= status == PF_END;
  return status;
}


/* {====== The order of backtraces ====== */

static void look_at_order (const br_group *group, order *seen) {
  const size_t n = group->nframes - 1;
  seen->backtraces += n + group->dropped;
  if (n < 2 || group->dropped > 0)
    return;
  const bool first = group->frames[1].routine == BR_IN_MAIN;
  const bool last = group->frames[n].routine == BR_IN_MAIN;
  seen->main_first += first && !last;
  seen->main_last += last && !first;
}


static const char *decide_order (const survey *s, const order *seen,
                                 br_reading *reading) {
  if (s->is_recording) {
    reading->outer_first = false;
    return "profio's recorder writes them so";
  }
  reading->outer_first = seen->main_first > 0 && seen->main_last == 0;
  if (seen->backtraces == 0)
    return "there are no backtraces";
  if (seen->main_first > 0 && seen->main_last > 0)
    return "assumed: some groups say one thing, some the other";
  if (seen->main_first > 0)
    return "the main routine stands on the first backtrace";
  if (seen->main_last > 0)
    return "the main routine stands on the last backtrace";
  return "assumed: no group has the main routine at one end";
}


static pf_status settle_order (pf_trace *trace, const survey *s,
                               const order *seen, br_reading *reading,
                               pf_error *error) {
  const char *why = decide_order(s, seen, reading);
  if (pf_option_is(trace, "backtrace_order", "inner_first") ||
      pf_option_is(trace, "backtrace_order", "outer_first")) {
    reading->outer_first =
        pf_option_is(trace, "backtrace_order", "outer_first");
    why = "given";
  }
  pf_info_text(trace, "backtrace_order",
               br_text(reading->outer_first ? "outer_first" : "inner_first"));
  pf_info_text(trace, "backtrace_order_why", br_text(why));
  reading->has_callers = seen->backtraces > 0;
  pf_info_bool(trace, "has_backtraces", reading->has_callers);
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

static bool reserve_depth (survey *s, size_t depth) {
  if (depth < s->room)
    return true;
  const size_t room = depth + depth / 2 + 64;
  uint64_t *const callees = realloc(s->callees, room * sizeof *callees);
  if (callees == NULL)
    return false;
  memset(callees + s->room, 0, (room - s->room) * sizeof *callees);
  s->callees = callees;
  s->room = room;
  return true;
}


static uint64_t capped_sum (uint64_t a, uint64_t b) {
  return b > UINT64_MAX - a ? UINT64_MAX : a + b;
}


/* Hold a line that is done against the lines it called. */
static pf_status look_at_time (survey *s, const br_group *group, times *seen,
                               pf_error *error) {
  const size_t depth = group->nframes;
  if (!group->has_time || group->dropped > 0)
    return PF_OK;
  if (!reserve_depth(s, depth + 1))
    return br_no_memory(error);
  seen->sum = capped_sum(seen->sum, group->spent);
  if (s->callees[depth + 1] > 0) {
    const bool fits = group->spent >= s->callees[depth + 1];
    seen->fitting += fits;
    seen->others += !fits;
  }
  s->callees[depth + 1] = 0;
  s->callees[depth] = capped_sum(s->callees[depth], group->spent);
  return PF_OK;
}


static const char *decide_times (const pf_trace *trace, const survey *s,
                                 const times *seen, br_reading *reading) {
  const int64_t wall = pf_option_int(trace, "wall", 0);
  reading->inclusive = pf_option_is(trace, "semantics", "inclusive");
  if (reading->inclusive || pf_option_is(trace, "semantics", "self"))
    return "given";
  if (s->walk.timed == 0)
    return "there are no times";
  if (s->is_recording)
    return "profio's recorder writes them so";
  reading->inclusive = true;
  if (wall > 0 && seen->sum > (uint64_t)wall)
    return "all times together are more than the time that passed";
  if (seen->fitting >= CALLERS && seen->others == 0)
    return "each line took at least as long as what it called";
  reading->inclusive = false;
  return seen->others > 0 ? "some line took less time than what it called"
                          : "assumed: nothing says otherwise";
}


static void settle_times (pf_trace *trace, const survey *s, const times *seen,
                          br_reading *reading) {
  const char *const why = decide_times(trace, s, seen, reading);
  pf_info_text(trace, "semantics",
               br_text(reading->inclusive ? "inclusive" : "self"));
  pf_info_text(trace, "semantics_why", br_text(why));
}

/* }====== */


static const char *dialect_of (const br_walk *walk) {
  if (walk->groups == 0)
    return "empty";
  if (walk->timed == 0)
    return "sampled";
  return walk->timed == walk->groups ? "timed" : "mixed";
}


static void settle_dialect (pf_trace *trace, const survey *s) {
  pf_info_text(trace, "dialect", br_text(dialect_of(&s->walk)));
  pf_info_text(trace, "byte_order", br_text("big"));
  if (!s->complete)
    return;
  pf_info_int(trace, "records", (int64_t)s->walk.groups);
  pf_info_int(trace, "mappings", (int64_t)s->walk.mappings);
}


/* Look at all groups of the part; they tell both. */
static pf_status look (survey *s, order *backtraces, times *seen,
                       pf_error *error) {
  pf_status status;
  while ((status = next_group(s, error)) == PF_MORE) {
    look_at_order(&s->walk.group, backtraces);
    status = look_at_time(s, &s->walk.group, seen, error);
    if (status < 0)
      break;
  }
  return status < 0 ? status : PF_OK;
}


pf_status br_survey (pf_trace *trace, br_reading *reading, int64_t *rows,
                     pf_error *error) {
  survey s = {.everything = pf_option_int(trace, "wall", 0) > 0};
  order backtraces = {.backtraces = 0};
  times seen = {.sum = 0};
  pf_status status = br_walk_open(&s.walk, trace, error);
  look_at_author(trace, &s);
  if (status == PF_OK)
    status = look(&s, &backtraces, &seen, error);
  if (status == PF_OK) {
    settle_dialect(trace, &s);
    *rows = s.complete ? (int64_t)s.walk.groups : -1;
    status = settle_order(trace, &s, &backtraces, reading, error);
    settle_times(trace, &s, &seen, reading);
  }
  free(s.callees);
  br_walk_close(&s.walk);
  return status;
}
