/*
** overview.c - summarises spans while they are read, with bounded memory for
** each track.
*/

#include "kernels/spans/overview.h"

#include <stdlib.h>
#include <string.h>

#include "model/base/memory.h"

/* Frames whose time in the current interval is counted. If there are more, a
   new one replaces the one with least time and inherits that time, so a frame
   with more than 1/32 of the time is always among them. */
#define COUNTED 32

typedef struct open_call {
  int64_t start;
  uint64_t opened;
  double value;
  uint32_t frame;
} open_call;

/* The number of calls without an enter that began at a base. */
typedef struct late_calls {
  uint32_t base, count;
} late_calls;

/* The state of a track while it is read. */
typedef struct overview_progress {
  open_call *open;
  size_t depth, capacity;
  int64_t last, base_time, idle_since;
  int64_t empty_since; /* the stack is empty, if it is, since this time */
  uint64_t gaps;       /* earlier times since the base in which it was empty */
  uint32_t base, late; /* number of bases; late calls of the last one */
  bool is_idle, has_begun;
  late_calls *lates;
  size_t nlates, lates_capacity;
  size_t interval;    /* to which the counts belong */
  int64_t begin, end; /* ns: begin <= time < end are in it; empty: not known */
  struct {
    uint32_t frame;
    int64_t time;
  } counts[COUNTED];
  size_t ncounts;
} overview_progress;


static size_t interval_at (const pf_overview *o, const pf_overview_track *t,
                           int64_t time) {
  const int64_t since = pf_time_between(o->options.first, time);
  const size_t at = (size_t)(since / t->width);
  return at < t->nintervals ? at : t->nintervals - 1;
}


/* Returns the begin of an interval in ns. */
static int64_t begin_of (const pf_overview *o, const pf_overview_track *t,
                         size_t interval) {
  const int64_t n = (int64_t)interval;
  const int64_t since = n > INT64_MAX / t->width ? INT64_MAX : n * t->width;
  return pf_time_after(o->options.first, since);
}


/* End the counts of the current interval: the frame with most time is kept. */
static void end_counts (pf_overview_track *t) {
  overview_progress *const p = t->progress;
  pf_overview_interval *const i = &t->intervals[p->interval];
  for (size_t n = 0; n < p->ncounts; n++)
    if (p->counts[n].time > i->top_time) {
      i->top_time = p->counts[n].time;
      i->top = p->counts[n].frame;
    }
  p->ncounts = 0;
}


/* Count time of a frame in the current interval. */
static void count_time (overview_progress *p, uint32_t frame, int64_t time) {
  size_t at = 0, least = 0;
  for (; at < p->ncounts && p->counts[at].frame != frame; at++)
    if (p->counts[at].time < p->counts[least].time)
      least = at;
  if (at == p->ncounts && at < COUNTED) {
    p->counts[at].frame = frame;
    p->counts[at].time = 0;
    p->ncounts++;
  }
  else if (at == COUNTED) {
    at = least;
    p->counts[at].frame = frame;
  }
  p->counts[at].time = pf_time_after(p->counts[at].time, time);
}


/* Make the interval of a time the current one. */
static void move_to (const pf_overview *o, pf_overview_track *t, int64_t time) {
  overview_progress *const p = t->progress;
  if (p->begin <= time && time < p->end)
    return;
  end_counts(t);
  p->interval = interval_at(o, t, time);
  p->begin = begin_of(o, t, p->interval);
  p->end = pf_time_after(p->begin, t->width);
}


/* Divide the time since the last row of the track among the intervals, and make
   that of `until` the current one. */
static void spend (const pf_overview *o, pf_overview_track *t, int64_t until) {
  overview_progress *const p = t->progress;
  int64_t from = p->last;
  p->last = until;
  while (p->depth > 0 && from < until) {
    move_to(o, t, from);
    pf_overview_interval *const i = &t->intervals[p->interval];
    const int64_t end = until <= p->end || from >= p->end ? until : p->end;
    const int64_t more = pf_time_between(from, end);
    if (p->is_idle)
      i->idle = pf_time_after(i->idle, more);
    else {
      i->busy = pf_time_after(i->busy, more);
      count_time(p, p->open[p->depth - 1].frame, more);
    }
    from = end;
  }
  move_to(o, t, until);
}


/* Count a call that was open since a base as active whenever its stack was
   empty. */
static void fill_since (const pf_overview *o, pf_overview_track *t,
                        int64_t from, int64_t until, uint32_t frame) {
  const size_t last = interval_at(o, t, until);
  for (size_t at = interval_at(o, t, from); at <= last && from < until; at++) {
    pf_overview_interval *const i = &t->intervals[at];
    const int64_t end = at == last ? until : begin_of(o, t, at + 1);
    const int64_t more =
        pf_time_between(from, end) - pf_time_after(i->busy, i->idle);
    if (more > 0)
      i->busy += more;
    if (more > i->top_time) {
      i->top_time = more;
      i->top = frame;
    }
    from = end;
  }
}

/* Add a track unless it is known. Sets *is_left_out if it is one of more
   variables than are wanted. False when out of memory. */
static bool add_track (pf_overview *o, uint32_t track, bool *is_left_out) {
  *is_left_out = false;
  if (pf_overview_track_at(o, track) != NULL)
    return true;
  if (o->known.list[track].kind != PF_KIND_FUNCTION &&
      o->nvariables++ >= o->options.most_variables) {
    *is_left_out = true;
    return true;
  }
  if (!pf_grow_filled(&o->tracks, &o->capacity, (size_t)track + 1, 0))
    return false;
  pf_overview_track *const t = &o->tracks[track];
  t->progress = calloc(1, sizeof *t->progress);
  t->nintervals = o->options.intervals;
  if (o->known.list[track].kind != PF_KIND_FUNCTION &&
      t->nintervals > PF_OVERVIEW_RANGES)
    t->nintervals = PF_OVERVIEW_RANGES;
  t->width = o->options.length / t->nintervals + 1;
  t->intervals = calloc(t->nintervals, sizeof *t->intervals);
  return t->progress != NULL && t->intervals != NULL;
}


/* Frames come in the order of their ids. */
static bool add_frame (pf_overview *o, const pf_span *span) {
  const size_t wanted = (size_t)span->frame + 1;
  if (!pf_grow(&o->areas, &o->areas_capacity, wanted) ||
      !pf_grow(&o->worst_track, &o->worst_track_capacity, wanted) ||
      !pf_grow(&o->worst, &o->worst_capacity, wanted))
    return false;
  if (span->frame > o->nframes) {
    o->nframes = span->frame;
    o->areas[span->frame] = span->area;
    o->worst[span->frame].length = -1;
  }
  return true;
}


static bool end_pause (const pf_overview *o, pf_overview_track *t,
                       int64_t time) {
  overview_progress *const p = t->progress;
  const pf_overview_call pause = {
      .start = p->idle_since, .length = pf_time_between(p->idle_since, time)};
  if (!p->is_idle || p->depth == 0 || pause.length <= 0)
    return true;
  p->idle_since = time;
  return pf_overview_add(&t->pauses, o->options.most_pauses, &pause);
}


/* Around the calls since the base a call was open that is known only now. If it
   was not active, as it is resumed now, the times with an empty stack are
   suspensions; only the last of them is known. */
static bool fill_gaps (const pf_overview *o, pf_overview_track *t,
                       const pf_span *span) {
  overview_progress *const p = t->progress;
  const pf_overview_call pause = {
      .start = p->empty_since,
      .length = pf_time_between(p->empty_since, span->time)};
  const uint64_t gaps = p->gaps;
  p->gaps = 0;
  if (span->net != 0) {
    fill_since(o, t, p->base_time, span->time, span->frame);
    return true;
  }
  t->pauses.total += gaps;
  return p->depth > 0 || pause.length <= 0 ||
         pf_overview_add(&t->pauses, o->options.most_pauses, &pause);
}


/* Open a call. `is_late`: it was open since the base, around all calls since
   then. */
static bool open_call_at (pf_overview *o, pf_overview_track *t,
                          const pf_span *span, bool is_late) {
  overview_progress *const p = t->progress;
  const int64_t start = is_late ? p->base_time : span->time;
  pf_overview_interval *const i =
      &t->intervals[is_late ? interval_at(o, t, start) : p->interval];
  if (!pf_grow(&p->open, &p->capacity, p->depth + 1) ||
      !pf_grow(&p->lates, &p->lates_capacity, p->nlates + 1))
    return false;
  const size_t place = is_late ? 0 : p->depth;
  p->gaps += !is_late && p->depth == 0 && span->time > p->empty_since;
  memmove(p->open + place + 1, p->open + place,
          (p->depth - place) * sizeof *p->open);
  if (is_late) {
    if (!fill_gaps(o, t, span))
      return false;
    if (p->late++ == 0)
      p->lates[p->nlates++] = (late_calls){p->base, 0};
    p->lates[p->nlates - 1].count = p->late;
  }
  p->open[place] = (open_call){start, is_late ? 0 : ++o->nopened,
                               pf_span_number(&span->value), span->frame};
  pf_interval_add_value(i, p->open[place].value);
  p->depth++;
  i->begun++;
  return true;
}


static bool close_call (pf_overview *o, pf_overview_track *t,
                        const pf_span *span) {
  overview_progress *const p = t->progress;
  if (p->depth == 0)
    return true;
  if (!end_pause(o, t, span->time))
    return false;
  const open_call *const c = &p->open[--p->depth];
  p->empty_since = span->time;
  const pf_overview_call call = {.start = c->start,
                                 .length =
                                     pf_time_between(c->start, span->time),
                                 .value = c->value,
                                 .opened = c->opened,
                                 .frame = c->frame,
                                 .depth = (uint32_t)p->depth + 1,
                                 .base = p->base,
                                 .late = p->late,
                                 .is_counted = span->is_counted};
  const bool is_lane = o->known.list[span->track].kind == PF_KIND_FUNCTION;
  if (is_lane && span->durations != NULL &&
      span->frame <= PF_OVERVIEW_DURATIONS &&
      !pf_durations_add(&o->durations, span->frame, span->durations, c->start,
                        span->track))
    return false;
  if (is_lane && pf_overview_is_before(&o->worst[c->frame], &call)) {
    o->worst[c->frame] = call;
    o->worst_track[c->frame] = span->track;
  }
  return pf_overview_keep(o, span->track, &call);
}


static void begin_base (overview_progress *p, int64_t time) {
  p->base++;
  p->late = 0;
  p->base_time = p->last = p->empty_since = time;
  p->gaps = 0;
  p->is_idle = false;
}


static pf_status take_span (void *context, const pf_span *span,
                            pf_error *error) {
  pf_overview *const o = context;
  bool is_left_out;
  if (!add_track(o, span->track, &is_left_out) || !add_frame(o, span))
    return pf_no_memory(error);
  if (is_left_out)
    return PF_OK;
  pf_overview_track *const t = &o->tracks[span->track];
  overview_progress *const p = t->progress;
  bool ok = true;
  if (span->kind == PF_SPAN_BASE) {
    begin_base(p, span->time);
    return PF_OK;
  }
  spend(o, t, span->time);
  switch (span->kind) {
    case PF_SPAN_OPEN: ok = open_call_at(o, t, span, false); break;
    case PF_SPAN_LATE: ok = open_call_at(o, t, span, true); break;
    case PF_SPAN_CLOSE: ok = close_call(o, t, span); break;
    case PF_SPAN_IDLE:
      p->is_idle = true;
      p->idle_since = span->time;
      break;
    case PF_SPAN_RUN:
      ok = end_pause(o, t, span->time);
      p->is_idle = false;
      break;
    case PF_SPAN_BASE: break;
  }
  return ok ? PF_OK : pf_no_memory(error);
}

/* Calls without an enter that were found after a call lie around it. */
static void add_late (const overview_progress *p, pf_overview_call *call) {
  size_t low = 0, high = p->nlates;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (p->lates[middle].base < call->base)
      low = middle + 1;
    else
      high = middle;
  }
  if (low < p->nlates && p->lates[low].base == call->base)
    call->depth += p->lates[low].count - call->late;
}


/* Ends the counts and lists after the last event. False when out of memory. */
static bool finish (pf_overview *o) {
  for (uint32_t i = 0; i < o->known.count; i++) {
    pf_overview_track *const t = pf_overview_track_at(o, i);
    if (t == NULL)
      continue;
    end_counts(t);
    if (pf_overview_has_values(o, i))
      pf_overview_reduce(&t->calls, o->options.most_values);
    pf_overview_reduce(&t->pauses, o->options.most_pauses);
    for (size_t n = 0; n < t->calls.count; n++)
      add_late(t->progress, &t->calls.calls[n]);
  }
  for (size_t frame = 1; frame <= o->nframes; frame++)
    if (o->worst[frame].length >= 0)
      add_late(o->tracks[o->worst_track[frame]].progress, &o->worst[frame]);
  return pf_durations_finish(&o->durations);
}


pf_status pf_overview_open (pf_reader *events,
                            const pf_overview_options *options,
                            pf_overview **overview, pf_error *error) {
  pf_overview *const o = calloc(1, sizeof *o);
  if (o == NULL)
    return pf_no_memory(error);
  o->options = *options;
  o->level = UINT64_MAX;
  o->most_held = 2 * (uint64_t)options->most_calls;
  const pf_spans spans = {
      .calls = options->calls, .variables = true, .idle = true};
  pf_durations_init(&o->durations, options->first, options->length);
  pf_status status =
      pf_spans_read(events, &spans, take_span, o, &o->known, error);
  if (status == PF_OK && !finish(o))
    status = pf_no_memory(error);
  if (status != PF_OK) {
    pf_overview_close(o);
    return status;
  }
  *overview = o;
  return PF_OK;
}


void pf_overview_close (pf_overview *o) {
  if (o == NULL)
    return;
  for (size_t i = 0; i < o->capacity; i++) {
    pf_overview_track *const t = &o->tracks[i];
    if (t->progress != NULL) {
      free(t->progress->open);
      free(t->progress->lates);
    }
    free(t->progress);
    free(t->calls.calls);
    free(t->pauses.calls);
    free(t->intervals);
  }
  pf_durations_close(&o->durations);
  free(o->tracks);
  free(o->areas);
  free(o->worst_track);
  free(o->worst);
  pf_span_tracks_close(&o->known);
  free(o);
}
