/*
** unfilter.c - one loop that puts out one row at a time: what a row of the
** input asks to be closed first is closed, call by call, before the row itself
** is taken. So the stage can stop anywhere when a batch is full.
*/

#include <stdlib.h>
#include <string.h>

#include "kernels/unfilter.h"
#include "kernels/unfilter_put.h"

/* {====== One step ====== */

/* A step puts out one row at most. It goes on to the next row of the input
   when nothing is left to be closed before. */

/* What the row at hand says. */
typedef struct entry {
  pf_call_stack *lane;
  uint32_t slot;
  pf_call_op letter;
  int64_t time;
} entry;


/* The area of a call that begins, or of a leave without one; no columns show
   it: none. */
static pf_status find_area (unfilter *self, uint32_t slot, uint32_t *area,
                            pf_error *error) {
  *area = PF_NO_AREA;
  if (self->to.area == NO_COLUMN)
    return PF_OK;
  const pf_column *const lines =
      self->line == NO_COLUMN ? NULL : &self->in.columns[self->line];
  if (lines != NULL && !pf_is_missing(lines, self->row)) {
    pf_area of_line = PF_AREA_NONE;
    of_line.name = self->frames.slots[slot].name;
    of_line.line = lines->ints[self->row];
    *area = pf_area_add(self->frames.dictionary, &of_line);
  }
  else
    *area = pf_frames_area(&self->frames, slot);
  if (*area != PF_NO_AREA)
    return PF_OK;
  return pf_fail(error, PF_ENOMEM, PF_NO_OFFSET, "out of memory");
}


/* Close the innermost call: it ends at `time`, with flags, and in the row of
   the input or one that is not there. */
static pf_status end_call (unfilter *self, pf_batch *out, pf_call_stack *lane,
                           int64_t time, unsigned flags, size_t row,
                           pf_error *error) {
  const pf_open_call *const call = pf_frames_top(lane);
  const line l = {lane, call->slot,  call->area, time,
                  row,  self->leave, call,       flags};
  const pf_status status = pf_unfilter_put(self, out, &l, error);
  pf_frames_pop(&self->frames, lane);
  return status;
}


/* Whether a call has said that it is about to return, and its caller shall say
   that it has. */
static bool is_returning (const pf_open_call *call) {
  return call->seen[PF_RETURNING] && call->seen[PF_CALLING];
}


/* Whether the trace was held inside the call. */
static bool is_holding (const unfilter *self, const pf_open_call *call) {
  return self->frames.slots[call->slot].is_holder;
}


/* Whether the row shows that nothing more will be said of a call. */
static bool is_past (const unfilter *self, const pf_open_call *call,
                     const entry *e) {
  if (is_returning(call))
    return e->slot != call->slot || e->letter != PF_RETURNED;
  return is_holding(self, call) &&
         (e->slot != call->slot || e->letter == PF_CALLING ||
          (e->letter == PF_ENTERED && call->seen[PF_ENTERED]));
}


/* Close such a call, the innermost one. */
static pf_status end_past (unfilter *self, pf_batch *out, pf_call_stack *lane,
                           pf_error *error) {
  const pf_open_call *const call = pf_frames_top(lane);
  if (is_returning(call))
    return end_call(self, out, lane, call->time[PF_RETURNING], 0, NO_ROW,
                    error);
  const pf_call_op last = call->seen[PF_ENTERED] ? PF_ENTERED : PF_CALLING;
  return end_call(self, out, lane, call->time[last], PF_FLAG_GAP, NO_ROW,
                  error);
}


/* The next row of the input is next. */
static void advance (unfilter *self, pf_call_stack *lane) {
  lane->orphan = PF_NO_FRAME;
  self->row++;
  self->is_swept = false;
}


static pf_status take_enter (unfilter *self, pf_batch *out, const entry *e,
                             pf_error *error) {
  const size_t row = self->row;
  if (pf_frames_is_second(e->lane, e->slot, e->letter)) {
    pf_open_call_record(pf_frames_top(e->lane), e->letter, e->time);
    advance(self, e->lane);
    return PF_OK;
  }
  uint32_t area;
  const pf_status status = find_area(self, e->slot, &area, error);
  if (status != PF_OK)
    return status;
  pf_open_call *const call = pf_frames_push(&self->frames, e->lane, e->slot);
  if (call == NULL)
    return pf_fail(error, PF_ENOMEM, PF_NO_OFFSET, "out of memory");
  pf_open_call_record(call, e->letter, e->time);
  call->area = area;
  self->frames.gaps += self->frames.slots[e->slot].is_holder;
  advance(self, e->lane);
  const line l = {e->lane, e->slot, area, e->time, row, self->enter, NULL, 0};
  return pf_unfilter_put(self, out, &l, error);
}


/* A leave whose call is not open. An O and the o right behind it are one. */
static pf_status take_orphan (unfilter *self, pf_batch *out, const entry *e,
                              pf_error *error) {
  const bool is_second = e->letter == PF_RETURNED && e->lane->orphan == e->slot;
  line l = {e->lane,   e->slot,     0,    e->time,
            self->row, self->leave, NULL, PF_FLAG_ORPHAN};
  const pf_status status = find_area(self, e->slot, &l.area, error);
  advance(self, e->lane);
  if (status != PF_OK || is_second)
    return status;
  if (self->frames.gaps > 0)
    l.flags |= PF_FLAG_GAP;
  if (e->letter == PF_RETURNING)
    e->lane->orphan = e->slot;
  return pf_unfilter_put(self, out, &l, error);
}


static pf_status take_leave (unfilter *self, pf_batch *out, const entry *e,
                             pf_error *error) {
  pf_call_stack *const lane = e->lane;
  const uint32_t nearest = self->frames.slots[e->slot].top;
  if (nearest == PF_NO_FRAME)
    return take_orphan(self, out, e, error);
  pf_open_call *const top = pf_frames_top(lane);
  if (nearest + 1 < lane->depth) {
    const bool has_gap = pf_open_call_has_gap(&self->frames, top);
    return end_call(self, out, lane, e->time,
                    has_gap ? PF_FLAG_GAP : PF_FLAG_UNWOUND, NO_ROW, error);
  }
  const size_t row = self->row;
  pf_open_call_record(top, e->letter, e->time);
  advance(self, lane);
  if (e->letter == PF_RETURNING && top->seen[PF_CALLING])
    return PF_OK; /* the call ends at its o */
  return end_call(self, out, lane, e->time, 0, row, error);
}


/* A row that is neither enter nor leave. */
static pf_status take_other (unfilter *self, pf_batch *out, const entry *e,
                             pf_error *error) {
  const line l = {e->lane,   e->slot,    PF_NO_AREA, e->time,
                  self->row, PF_NO_NAME, NULL,       0};
  advance(self, e->lane);
  return self->copied == 0 ? PF_OK : pf_unfilter_put(self, out, &l, error);
}


/* Returns the flags (PF_FLAG_...) of an input row, 0 if it has none. They
   describe the row itself, or a gap or a new run before it. */
static unsigned flags_of_row (const unfilter *self, size_t row) {
  const uint32_t given = pf_unfilter_flags(self, row);
  return given == self->flag_names[0]
             ? 0
             : pf_flags_in(pf_name(self->reader.dictionary, given));
}


/* With which flags all open calls end before a row: another file or another
   run begins, or rows before it are lost; 0: they do not. */
static unsigned closed_before (unfilter *self, size_t row) {
  const unsigned flags = flags_of_row(self, row);
  const bool is_new =
      pf_frames_new_file(&self->frames, &self->in, &self->at, row);
  return is_new || (flags & PF_FLAG_RUN) != 0 ? PF_FLAG_OPEN
                                              : flags & PF_FLAG_GAP;
}


/* The clocks of all threads begin anew. */
static void reset_clocks (unfilter *self) {
  self->latest = 0;
  for (uint32_t i = 0; i < self->frames.nlanes; i++) {
    pf_call_stack *const lane = &self->frames.lanes[i];
    lane->idle = lane->seen = 0;
    lane->shown = INT64_MIN;
  }
}


/* Close all open calls, one per step, from here on. */
static void begin_sweep (unfilter *self, unsigned flags) {
  self->closes = flags;
  self->closing = 0;
}


/* Who makes calls of events closes them himself. */
static pf_status sweep (unfilter *self, pf_batch *out, pf_error *error) {
  pf_frames *const frames = &self->frames;
  while (self->closing < frames->nlanes) {
    pf_call_stack *const lane = &frames->lanes[self->closing];
    const pf_open_call *const top = pf_frames_top(lane);
    if (top == NULL)
      self->closing++;
    else if (is_returning(top) || is_holding(self, top))
      return end_past(self, out, lane, error);
    else if (self->copied == 0)
      pf_frames_pop(frames, lane);
    else
      return end_call(self, out, lane, self->latest, self->closes, NO_ROW,
                      error);
  }
  self->has_gap = !self->has_ended;
  if (self->closes == PF_FLAG_OPEN)
    reset_clocks(self);
  self->closes = 0;
  return PF_OK;
}


/* The time of the row; where it is missing, the latest. */
static int64_t time_of (const unfilter *self, size_t row) {
  if (self->at.time >= self->in.ncolumns)
    return 0;
  const pf_column *const time = &self->in.columns[self->at.time];
  return pf_is_missing(time, row) ? self->latest : time->ints[row];
}


static pf_status look_at (unfilter *self, size_t row, entry *e,
                          pf_error *error) {
  pf_call_row mark;
  if (pf_frames_look(&self->frames, &self->in, &self->at, row, &mark) != PF_OK)
    return pf_fail(error, PF_ENOMEM, PF_NO_OFFSET, "out of memory");
  *e = (entry){&self->frames.lanes[mark.lane], mark.slot, mark.letter,
               time_of(self, row)};
  return PF_OK;
}


/* The clock of a thread stands still while it is in a function that waits. */
static void mind_idle (const unfilter *self, const entry *e) {
  pf_call_stack *const lane = e->lane;
  const pf_open_call *const top = pf_frames_top(lane);
  if (top != NULL && self->frames.slots[top->slot].is_idle &&
      e->time > lane->seen)
    lane->idle += e->time - lane->seen;
  lane->seen = e->time;
}


static pf_status step (unfilter *self, pf_batch *out, pf_error *error) {
  if (!self->is_swept && self->has_marks) {
    self->is_swept = true;
    const unsigned closes = closed_before(self, self->row);
    self->frames.gaps += closes == PF_FLAG_GAP;
    begin_sweep(self, closes);
    return PF_OK;
  }
  entry e = {NULL, 0, PF_NO_OP, 0};
  const pf_status status = look_at(self, self->row, &e, error);
  if (status != PF_OK || e.lane == NULL)
    return status;
  if (e.time > self->latest)
    self->latest = e.time;
  mind_idle(self, &e);
  if (e.lane->depth > 0 && is_past(self, pf_frames_top(e.lane), &e))
    return end_past(self, out, e.lane, error);
  switch (e.letter) {
    case PF_CALLING:
    case PF_ENTERED: return take_enter(self, out, &e, error);
    case PF_RETURNING:
    case PF_RETURNED: return take_leave(self, out, &e, error);
    default: return take_other(self, out, &e, error);
  }
}

/* }====== */


/* {====== The stage ====== */

/* Mark what events have of the input besides. */
static void want_details (unfilter *self, const pf_batch *out, bool *in) {
  const size_t columns[2][2] = {{self->to.line, self->lines},
                                {self->to.params, self->params}};
  for (size_t i = 0; i < 2; i++)
    if (columns[i][0] < out->ncolumns &&
        out->columns[columns[i][0]].data != NULL) {
      in[columns[i][1]] = true;
      self->has_details = true;
    }
}


/* The batch for the input: what is wanted of its columns, and what we need. */
static pf_status open_input (unfilter *self, const pf_batch *out,
                             pf_error *error) {
  bool *const in = calloc(self->input->nfields + 1, sizeof *in);
  if (in == NULL)
    return pf_fail(error, PF_ENOMEM, PF_NO_OFFSET, "out of memory");
  for (size_t i = 0; i < self->copied; i++)
    in[i] = out->columns[i].data != NULL;
  pf_entry_columns_want(self->input, &self->at, in);
  if (self->line != NO_COLUMN)
    in[self->line] = true;
  want_details(self, out, in);
  const pf_status status = pf_batch_for(&self->in, self->input, in);
  free(in);
  if (status != PF_OK)
    return pf_fail(error, status, PF_NO_OFFSET, "out of memory");
  self->is_open = true;
  return PF_OK;
}


/* Whether some row of the batch may say that all calls end before it. */
static bool has_marks (const unfilter *self) {
  if (self->at.file < self->in.ncolumns)
    return true;
  if (self->at.flags >= self->in.ncolumns)
    return false;
  const pf_column *const flags = &self->in.columns[self->at.flags];
  return pf_has_values(flags, self->in.rows);
}


/* Whether the batch has all values of a column. */
static bool is_whole (const unfilter *self, size_t column) {
  return column < self->in.ncolumns && !self->in.columns[column].has_missing;
}


/* Whether the rows of the batch may be taken the short way. */
static bool is_plain (const unfilter *self) {
  const pf_entry_columns *const at = &self->at;
  return self->copied == 0 && self->line == NO_COLUMN && !self->has_details &&
         self->frames.nidle == 0 && !self->has_marks &&
         is_whole(self, at->thread) && is_whole(self, at->time) &&
         is_whole(self, at->op) && is_whole(self, at->call);
}


/* What came instead of a batch when there was nobody to be told. */
static pf_status tell_pulled (unfilter *self, pf_error *error) {
  const pf_status status = self->pulled;
  self->pulled = PF_MORE;
  *error = self->failure;
  return status;
}


/* The next batch of the input. */
static pf_status pull (unfilter *self, bool relayed, pf_error *error) {
  if (self->pulled != PF_MORE)
    return tell_pulled(self, error);
  self->row = 0;
  self->in.rows = 0;
  self->in.relayed = relayed;
  const pf_status status = self->input->next(self->input, &self->in, error);
  if (status != PF_MORE) {
    self->in.rows = 0;
    return status;
  }
  self->has_marks = has_marks(self);
  self->is_plain = is_plain(self);
  return PF_MORE;
}


/* Whether the rows at hand may be taken the short way now. */
static bool goes_plain (const unfilter *self) {
  return self->is_plain && !self->has_gap && !self->frames.has_holders;
}


/* Take rows of the input: many that are plain, or one. */
static pf_status take_rows (unfilter *self, pf_batch *out, pf_error *error) {
  if (goes_plain(self) && pf_unfilter_fast(self, out) != PF_OK)
    return pf_fail(error, PF_ENOMEM, PF_NO_OFFSET, "out of memory");
  if (self->row == self->in.rows || out->rows == PF_BATCH_ROWS)
    return PF_OK;
  return step(self, out, error);
}


/* Bytes that were put out point into the input's batch: a new one is pulled
   only for an empty batch. */
pf_status pf_unfilter_next (pf_reader *reader, pf_batch *out, pf_error *error) {
  unfilter *const self = (unfilter *)(void *)reader;
  pf_status status = self->is_open ? PF_OK : open_input(self, out, error);
  pf_batch_clear(out);
  while (status == PF_OK && out->rows < PF_BATCH_ROWS) {
    if (self->closes != 0)
      status = sweep(self, out, error);
    else if (self->row < self->in.rows)
      status = take_rows(self, out, error);
    else if (out->rows > 0 || self->has_ended)
      break;
    else if ((status = pull(self, out->relayed, error)) == PF_END) {
      self->has_ended = true;
      begin_sweep(self, PF_FLAG_OPEN);
      status = PF_OK;
    }
  }
  if (status != PF_OK)
    return status;
  return out->rows > 0 ? PF_MORE : PF_END;
}


/* Events of plain rows as words. What is read instead of rows is told by
   `next`. */
bool pf_unfilter_pack_next (pf_reader *reader, pf_packed *events) {
  unfilter *const self = (unfilter *)(void *)reader;
  if (!self->is_open || self->closes != 0 || self->has_ended)
    return false;
  if (self->row == self->in.rows && self->pulled == PF_MORE)
    self->pulled = pull(self, false, &self->failure);
  return self->row < self->in.rows && goes_plain(self) &&
         pf_unfilter_pack(self, events) == PF_OK && events->rows > 0;
}


void pf_unfilter_close (pf_reader *reader) {
  unfilter *const self = (unfilter *)(void *)reader;
  if (self->is_open)
    pf_batch_close(&self->in);
  pf_frames_close(&self->frames);
  free(self->idle);
  free(self);
}

/* }====== */
