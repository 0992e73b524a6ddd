/*
** unfilter.c - the general path: a loop that writes at most one row per step.
** Calls that a row of the input ends are closed one by one before the row
** itself is processed, so the stage can pause anywhere when a batch is full.
*/

#include "formats/xpp/operations/unfilter.h"
#include "formats/xpp/operations/unfilter_state.h"
#include "model/base/switches.h"
#include "model/rows/table_reader.h"


/* Find the area of a call that begins, or of an orphaned leave; PF_NO_AREA when
   there is no column for it. */
static pf_status find_area (unfilter *self, uint32_t slot, uint32_t *area,
                            pf_error *error) {
  xpp_call_slot *const its = &self->frames.slots[slot];
  *area = PF_NO_AREA;
  if (self->to.area == NO_COLUMN)
    return PF_OK;
  const bool has_line =
      self->by_line && pf_has_value(&self->in, self->line, self->row);
  pf_area area_of = PF_AREA_NONE;
  area_of.name = its->name;
  if (has_line)
    area_of.line = self->in.columns[self->line].ints[self->row];
  else
    *area = its->area;
  if (*area == PF_NO_AREA)
    *area = pf_area_add(self->frames.dictionary, &area_of);
  if (!has_line)
    its->area = *area;
  if (*area != PF_NO_AREA)
    return PF_OK;
  return pf_no_memory(error);
}


/* Close the innermost call at `time` with flags, in an input row or NO_ROW. */
static pf_status end_call (unfilter *self, pf_batch *out, xpp_call_stack *lane,
                           int64_t time, unsigned flags, size_t row,
                           pf_error *error) {
  const xpp_open_call *const call = xpp_frames_top(lane);
  const out_row l = {lane, call->slot,  call->area, time,
                     row,  self->leave, call,       flags};
  const pf_status status = xpp_unfilter_put(self, out, &l, error);
  xpp_frames_pop(&self->frames, lane);
  return status;
}


/* Whether a call has an O and still expects its o. */
static bool is_returning (const xpp_open_call *call) {
  return call->seen[XPP_RETURNING] && call->seen[XPP_CALLING];
}


/* Close the innermost call, of which no more entries come, at the time of its
   last one. If it has no O, its end is missing: a gap. */
static pf_status end_finished (unfilter *self, pf_batch *out,
                               xpp_call_stack *lane, pf_error *error) {
  const xpp_open_call *const call = xpp_frames_top(lane);
  if (is_returning(call))
    return end_call(self, out, lane, call->time[XPP_RETURNING], 0, NO_ROW,
                    error);
  const xpp_call_op last = call->seen[XPP_ENTERED] ? XPP_ENTERED : XPP_CALLING;
  return end_call(self, out, lane, call->time[last], XPP_FLAG_GAP, NO_ROW,
                  error);
}


static void advance (unfilter *self, xpp_call_stack *lane) {
  lane->orphan = XPP_NO_FRAME;
  lane->before = lane->seen;
  self->row++;
  self->kept = NO_BREAK;
  self->is_swept = false;
}


/* {====== Calls that a BREAK left ====== */

#define MOST_SEARCHED 1024 /* calls, for the function to which a line belongs */

static const xpp_line_range *lines_at (const unfilter *self,
                                       const xpp_call_stack *lane, uint32_t i) {
  return &self->frames.slots[lane->frames[i].slot].lines;
}


/* The number of calls that remain when the function of a call `i` on a line
   goes on: up to the innermost one, from `depth` down, to which the line
   belongs, or all. Only the function on top can call, if it was entered. */
static uint32_t kept_calls (const unfilter *self, const xpp_call_stack *lane,
                            uint32_t depth, int64_t line) {
  const uint32_t last = depth > MOST_SEARCHED ? depth - MOST_SEARCHED : 0;
  if (depth == 0 || xpp_has_line(*lines_at(self, lane, depth - 1), line) ||
      (lane->frames[depth - 1].seen[XPP_ENTERED] &&
       lines_at(self, lane, depth - 1)->low >
           lines_at(self, lane, depth - 1)->high))
    return depth;
  for (uint32_t i = depth - 1; i-- > last;)
    if (lane->frames[i].seen[XPP_ENTERED] &&
        xpp_has_line(*lines_at(self, lane, i), line))
      return i + 1;
  return depth;
}


/* The innermost call of a slot whose caller goes on, on a line: the innermost
   one of all, if the line does not show which one. */
static uint32_t returning_call (const unfilter *self,
                                const xpp_call_stack *lane, uint32_t nearest,
                                int64_t line) {
  uint32_t i = nearest;
  for (unsigned n = 0; i != XPP_NO_FRAME && n < MOST_SEARCHED; n++) {
    if (i > 0 && xpp_has_line(*lines_at(self, lane, i - 1), line))
      return i;
    i = lane->frames[i].below;
  }
  return nearest;
}


/* The number of open calls of the thread that a row does not show to be
   left. */
static uint32_t find_kept (const unfilter *self, const entry *e) {
  const xpp_call_stack *const lane = e->lane;
  const uint32_t nearest = self->frames.slots[e->slot].top;
  const xpp_line_ranges *const ranges = self->frames.ranges;
  const bool has_line = ranges != NULL && ranges->functions.count > 0 &&
                        pf_has_value(&self->in, self->at.line, self->row);
  const int64_t line =
      has_line ? self->in.columns[self->at.line].ints[self->row] : 0;
  switch (e->op) {
    case XPP_CALLING:
      return has_line ? kept_calls(self, lane, lane->depth, line) : lane->depth;
    case XPP_RETURNING:
      return nearest == XPP_NO_FRAME ? lane->depth : nearest + 1;
    case XPP_RETURNED:
      if (nearest == XPP_NO_FRAME)
        return lane->depth;
      return (has_line ? returning_call(self, lane, nearest, line) : nearest) +
             1;
    default: return lane->depth;
  }
}


/* Close the innermost call, which was left: at the last row of the thread
   before, or, if tracing was interrupted meanwhile, at this one. */
static pf_status end_left (unfilter *self, pf_batch *out, const entry *e,
                           pf_error *error) {
  xpp_call_stack *const lane = e->lane;
  const xpp_open_call *const top = xpp_frames_top(lane);
  if (top->gaps < self->frames.gaps)
    return end_call(self, out, lane, e->time, XPP_FLAG_GAP, NO_ROW, error);
  const int64_t start =
      top->time[top->seen[XPP_CALLING] ? XPP_CALLING : XPP_ENTERED];
  self->left++;
  if (lane->depth == self->kept + 1 && e->time > start)
    self->after += (uint64_t)e->time - (uint64_t)start;
  return end_call(self, out, lane, lane->before, XPP_FLAG_UNWOUND, NO_ROW,
                  error);
}


/* An I or O states a line of its function. */
static pf_status learn (unfilter *self, const entry *e, pf_error *error) {
  xpp_frames *const f = &self->frames;
  const bool is_own = e->op == XPP_ENTERED || e->op == XPP_RETURNING;
  if (f->ranges == NULL || !f->ranges->learns ||
      !pf_has_value(&self->in, self->at.line, self->row))
    return PF_OK;
  f->ranges->has_calls |= !is_own;
  if (is_own &&
      xpp_line_ranges_add(f->ranges, f->has_file ? f->file : PF_NO_NAME,
                          f->slots[e->slot].name,
                          self->in.columns[self->at.line].ints[self->row],
                          &f->slots[e->slot].lines) != PF_OK)
    return pf_no_memory(error);
  return PF_OK;
}


/* The reading has ended: report its results. */
static void report (const unfilter *self) {
  xpp_line_ranges *const ranges = self->frames.ranges;
  if (ranges == NULL)
    return;
  ranges->left = self->left;
  ranges->after = self->after;
  ranges->total = 0;
  for (uint32_t i = 0; i < self->frames.nlanes; i++) {
    const xpp_call_stack *const lane = &self->frames.lanes[i];
    if (lane->first != INT64_MIN && lane->before > lane->first)
      ranges->total += (uint64_t)lane->before - (uint64_t)lane->first;
  }
}

/* }====== */


/* An i or I: the second entry of the innermost call, or a call that begins. */
static pf_status process_enter (unfilter *self, pf_batch *out, const entry *e,
                                pf_error *error) {
  const size_t row = self->row;
  if (xpp_frames_is_second(e->lane, e->slot, e->op)) {
    xpp_open_call_record(xpp_frames_top(e->lane), e->op, e->time);
    advance(self, e->lane);
    return PF_OK;
  }
  uint32_t area;
  const pf_status status = find_area(self, e->slot, &area, error);
  if (status != PF_OK)
    return status;
  xpp_open_call *const call = xpp_frames_push(&self->frames, e->lane, e->slot);
  if (call == NULL)
    return pf_no_memory(error);
  xpp_open_call_record(call, e->op, e->time);
  call->area = area;
  self->frames.gaps += self->frames.slots[e->slot].is_holder;
  advance(self, e->lane);
  const out_row l = {e->lane, e->slot,     area, e->time,
                     row,     self->enter, NULL, 0};
  return xpp_unfilter_put(self, out, &l, error);
}


/* A leave whose call is not open. An O and an o directly after it are one
   leave. */
static pf_status process_orphan (unfilter *self, pf_batch *out, const entry *e,
                                 pf_error *error) {
  const bool is_second = e->op == XPP_RETURNED && e->lane->orphan == e->slot;
  out_row l = {e->lane,   e->slot,     0,    e->time,
               self->row, self->leave, NULL, XPP_FLAG_ORPHAN};
  const pf_status status = find_area(self, e->slot, &l.area, error);
  advance(self, e->lane);
  if (status != PF_OK || is_second)
    return status;
  if (self->frames.gaps > 0)
    l.flags |= XPP_FLAG_GAP;
  if (e->op == XPP_RETURNING)
    e->lane->orphan = e->slot;
  return xpp_unfilter_put(self, out, &l, error);
}


/* An O or o: an orphan; or an entry of the innermost call, which ends with its
   last one. */
static pf_status process_leave (unfilter *self, pf_batch *out, const entry *e,
                                pf_error *error) {
  xpp_call_stack *const lane = e->lane;
  if (self->frames.slots[e->slot].top == XPP_NO_FRAME)
    return process_orphan(self, out, e, error);
  xpp_open_call *const top = xpp_frames_top(lane);
  const size_t row = self->row;
  xpp_open_call_record(top, e->op, e->time);
  advance(self, lane);
  if (e->op == XPP_RETURNING && top->seen[XPP_CALLING])
    return PF_OK; /* the call ends at its o */
  return end_call(self, out, lane, e->time, 0, row, error);
}


/* Close open calls until one row is written or all are closed. In a table of
   events calls are dropped, because the call machine closes its own. */
static pf_status sweep (unfilter *self, pf_batch *out, pf_error *error) {
  xpp_frames *const frames = &self->frames;
  while (self->closing_lane < frames->nlanes) {
    xpp_call_stack *const lane = &frames->lanes[self->closing_lane];
    const xpp_open_call *const top = xpp_frames_top(lane);
    if (top == NULL)
      self->closing_lane++;
    else if (is_returning(top) || frames->slots[top->slot].is_holder)
      return end_finished(self, out, lane, error);
    else if (self->copied == 0)
      xpp_frames_pop(frames, lane);
    else
      return end_call(self, out, lane, self->latest, self->close_flags, NO_ROW,
                      error);
  }
  self->has_gap = !self->has_ended;
  if (self->close_flags == XPP_FLAG_OPEN) { /* the clocks start again */
    self->latest = 0;
    for (uint32_t i = 0; i < frames->nlanes; i++) {
      frames->lanes[i].idle = frames->lanes[i].seen = 0;
      frames->lanes[i].shown = INT64_MIN;
    }
  }
  self->close_flags = 0;
  self->closing_lane = 0;
  return PF_OK;
}


/* Set *e to the next row of the input. */
static pf_status look (unfilter *self, entry *e, pf_error *error) {
  xpp_call_row call_row;
  if (xpp_frames_look(&self->frames, &self->in, &self->at, self->row,
                      &call_row) != PF_OK)
    return pf_no_memory(error);
  xpp_call_stack *const lane = &self->frames.lanes[call_row.lane];
  int64_t now = 0;
  if (self->at.time < self->in.ncolumns)
    now = pf_has_value(&self->in, self->at.time, self->row)
              ? self->in.columns[self->at.time].ints[self->row]
              : self->latest;
  *e = (entry){lane, call_row.slot, call_row.op, now};
  if (now > self->latest)
    self->latest = now;
  if (lane->first == INT64_MIN)
    lane->first = lane->before = now;
  /* the clock of a thread is stopped while it is in a function that waits */
  const xpp_open_call *const top = xpp_frames_top(lane);
  if (top != NULL && self->frames.slots[top->slot].is_idle && now > lane->seen)
    lane->idle += now - lane->seen;
  lane->seen = now;
  return PF_OK;
}


/* Whether the row proves that no more entries of the innermost call will come.
   A call that interrupts tracing has no leave. */
static bool ends_top (const unfilter *self, const entry *e) {
  const xpp_open_call *const top = xpp_frames_top(e->lane);
  if (top == NULL)
    return false;
  if (is_returning(top))
    return e->slot != top->slot || e->op != XPP_RETURNED;
  return self->frames.slots[top->slot].is_holder &&
         (e->slot != top->slot || e->op == XPP_CALLING ||
          (e->op == XPP_ENTERED && top->seen[XPP_ENTERED]));
}


/* Process many rows on the fast path, then one on the general path, which
   writes at most one row. It advances to the next input row when no more calls
   have to be closed before. */
static pf_status step (unfilter *self, pf_batch *out, pf_error *error) {
  if (self->is_fast && !self->has_gap && !self->frames.has_holders &&
      xpp_unfilter_fast(self, out) != PF_OK)
    return pf_no_memory(error);
  if (self->row == self->in.rows || out->rows == PF_BATCH_ROWS)
    return PF_OK;
  if (!self->is_swept && self->may_have_gaps) {
    self->is_swept = true;
    self->close_flags =
        xpp_frames_break(&self->frames, &self->in, &self->at, self->row);
    self->frames.gaps += self->close_flags == XPP_FLAG_GAP;
    return PF_OK;
  }
  entry e = {NULL, 0, XPP_NO_OP, 0};
  const pf_status status = look(self, &e, error);
  if (status != PF_OK ||
      e.lane == NULL) /* clang-tidy takes NULL for possible */
    return status;
  if (ends_top(self, &e))
    return end_finished(self, out, e.lane, error);
  if (self->kept == NO_BREAK) {
    if (learn(self, &e, error) != PF_OK)
      return error->status;
    self->kept = find_kept(self, &e);
  }
  if (e.lane->depth > self->kept)
    return end_left(self, out, &e, error);
  if (e.op == XPP_CALLING || e.op == XPP_ENTERED)
    return process_enter(self, out, &e, error);
  if (e.op != XPP_NO_OP)
    return process_leave(self, out, &e, error);
  const out_row l = {e.lane,    e.slot,     PF_NO_AREA, e.time,
                     self->row, PF_NO_NAME, NULL,       0};
  advance(self, e.lane);
  return self->copied == 0 ? PF_OK : xpp_unfilter_put(self, out, &l, error);
}


/* Open the batch for the input, with the columns that are wanted or needed. */
static pf_status open_input (unfilter *self, const pf_batch *out,
                             pf_error *error) {
  bool *const in = calloc(self->input->nfields + 1, sizeof *in);
  if (in == NULL)
    return pf_no_memory(error);
  for (size_t i = 0; i < self->copied; i++)
    in[i] = out->columns[i].data != NULL;
  xpp_entry_columns_want(self->input, &self->at, in);
  if (self->at.line != NO_COLUMN && (self->by_line || self->frames.ranges))
    in[self->at.line] = true;
  const size_t details[2][2] = {{self->to.line, self->line},
                                {self->to.params, self->params}};
  for (size_t i = 0; i < 2; i++)
    if (details[i][0] < out->ncolumns &&
        out->columns[details[i][0]].data != NULL)
      in[details[i][1]] = self->has_details = true;
  const pf_status status = pf_batch_for(&self->in, self->input, in);
  free(in);
  if (status != PF_OK)
    return pf_no_memory(error);
  self->is_open = true;
  return PF_OK;
}


/* Read the next batch of the input. Its rows may close all calls if they have
   flags or files. The fast path processes them if not, and if nothing else is
   needed and no value is missing. */
static pf_status pull (unfilter *self, pf_error *error) {
  const xpp_entry_columns *const at = &self->at;
  const xpp_line_ranges *const ranges = self->frames.ranges;
  const size_t needed[] = {at->thread, at->time, at->op, at->call};
  self->row = 0;
  self->in.rows = 0;
  const pf_status status = self->input->next(self->input, &self->in, error);
  if (status != PF_MORE) {
    self->in.rows = 0;
    return status;
  }
  self->may_have_gaps =
      at->file != NO_COLUMN ||
      (at->flags != NO_COLUMN &&
       pf_has_values(&self->in.columns[at->flags], self->in.rows));
  self->is_fast =
      PF_FAST(CALLS) && self->copied == 0 && !self->by_line &&
      !self->has_details && self->frames.nidle == 0 && !self->may_have_gaps &&
      (ranges == NULL ||
       (!ranges->learns &&
        (at->line == NO_COLUMN || !self->in.columns[at->line].has_missing)));
  for (size_t i = 0; i < 4; i++)
    self->is_fast &=
        needed[i] != NO_COLUMN && !self->in.columns[needed[i]].has_missing;
  return PF_MORE;
}


/* Output bytes point into the batch of the input, so a new one is read only for
   an empty output batch. */
pf_status xpp_unfilter_next (pf_reader *reader, pf_batch *out,
                             pf_error *error) {
  unfilter *const self = (unfilter *)(void *)reader;
  pf_status status = self->is_open ? PF_OK : open_input(self, out, error);
  pf_batch_clear(out);
  while (status == PF_OK && out->rows < PF_BATCH_ROWS) {
    if (self->close_flags != 0)
      status = sweep(self, out, error);
    else if (self->row < self->in.rows)
      status = step(self, out, error);
    else if (out->rows > 0 || self->has_ended)
      break;
    else if ((status = pull(self, error)) == PF_END) {
      self->has_ended = true;
      report(self);
      self->close_flags = XPP_FLAG_OPEN;
      status = PF_OK;
    }
  }
  return pf_batch_status(out, status);
}


void xpp_unfilter_close (pf_reader *reader) {
  unfilter *const self = (unfilter *)(void *)reader;
  if (self->is_open)
    pf_batch_close(&self->in);
  xpp_frames_close(&self->frames);
  free(self->idle);
  free(self);
}
