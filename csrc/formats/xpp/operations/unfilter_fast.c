/*
** unfilter_fast.c - the fast path of unfilter: rows that only need the top of a
** stack, close no other calls and have no flags.
*/

#include <string.h>

#include "formats/xpp/operations/unfilter_state.h"
#include "model/rows/put_values.h"

/* The output columns; unwanted ones are NULL. */
typedef struct output {
  int64_t *times, *lanes;
  uint32_t *events, *areas;
  size_t row, capacity; /* the next row, and the limit */
} output;

/* For functions that every row needs: always inlined. */
#define HOT static inline __attribute__((always_inline))


/* One of two numbers without a branch: enters and leaves are in random order,
   so a branch would be mispredicted half of the time. */
HOT uint32_t select_id (bool first, uint32_t a, uint32_t b) {
  return b ^ ((a ^ b) & (0u - (uint32_t)first));
}


static void *column_of (const pf_batch *out, size_t column) {
  return column < out->ncolumns ? out->columns[column].data : NULL;
}


HOT void put (const unfilter *self, output *o, const entry *e, bool enters,
              uint32_t area) {
  const uint32_t name = select_id(enters, self->enter, self->leave);
  const size_t row = o->row++;
  if (o->times != NULL)
    o->times[row] = e->time;
  if (o->lanes != NULL)
    o->lanes[row] = e->lane->thread;
  if (o->events != NULL)
    o->events[row] = name;
  if (o->areas != NULL)
    o->areas[row] = area;
}


/* Process an i or I; the innermost call is not about to return. */
HOT bool process_enter (unfilter *self, output *o, const entry *e) {
  xpp_call_stack *const lane = e->lane;
  xpp_call_slot *const slot = &self->frames.slots[e->slot];
  if (xpp_frames_is_second(lane, e->slot, e->op)) {
    xpp_open_call_record(xpp_frames_top(lane), e->op, e->time);
    return true;
  }
  if (slot->area == PF_NO_AREA || lane->depth == lane->capacity ||
      (lane->depth == 0 && lane->first == INT64_MIN))
    return false;
  xpp_open_call *const call =
      &lane->frames[lane->depth]; /* there is capacity */
  /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference) */
  call->slot = e->slot;
  call->below = slot->top;
  call->gaps = self->frames.gaps;
  call->area = slot->area;
  memset(call->seen, 0, sizeof call->seen);
  xpp_open_call_record(call, e->op, e->time);
  slot->top = lane->depth++;
  put(self, o, e, true, slot->area);
  return true;
}


/* Whether the line of an i or o is one of the function on top of the stack, or
   of the one below it. If not, and if calls are recursive, the general path
   looks for a BREAK. */
HOT bool is_on_top (const unfilter *self, const entry *e, const int64_t *line) {
  const xpp_call_stack *const lane = e->lane;
  const uint32_t depth = lane->depth;
  if (line == NULL || depth == 0)
    return true;
  if (e->op == XPP_CALLING)
    return xpp_has_line(self->frames.slots[lane->frames[depth - 1].slot].lines,
                        *line);
  return e->op != XPP_RETURNED ||
         lane->frames[depth - 1].below == XPP_NO_FRAME ||
         (depth > 1 &&
          xpp_has_line(self->frames.slots[lane->frames[depth - 2].slot].lines,
                       *line));
}


/* Process a row. False when it needs the general path. */
HOT bool process (unfilter *self, output *o, const entry *e) {
  xpp_open_call *const top = xpp_frames_top(e->lane);
  const bool is_enter = e->op <= XPP_ENTERED;
  if (e->op == XPP_NO_OP || (top == NULL && !is_enter))
    return false;
  const bool is_returning =
      top != NULL && top->seen[XPP_RETURNING] && top->seen[XPP_CALLING];
  if (is_enter)
    return !is_returning && process_enter(self, o, e);
  if (top->slot != e->slot || (is_returning && e->op != XPP_RETURNED))
    return false;
  if (e->op == XPP_RETURNING && top->seen[XPP_CALLING]) {
    xpp_open_call_record(top, e->op, e->time); /* it ends at its o */
    return true;
  }
  self->frames.slots[e->slot].top = top->below;
  e->lane->depth--;
  put(self, o, e, false, top->area);
  return true;
}


/* Process rows up to the first unusual one. No call that interrupts tracing is
   open, and a new one is not processed here, because it has no area yet. */
HOT pf_status process_all (unfilter *self, output *o) {
  xpp_frames *const frames = &self->frames;
  const pf_column *const in = self->in.columns;
  const int64_t *const times = in[self->at.time].ints;
  const int64_t *const threads = in[self->at.thread].ints;
  const uint32_t *const ops = in[self->at.op].ids;
  const uint32_t *const calls = in[self->at.call].ids;
  const bool has_ranges =
      frames->ranges != NULL && frames->ranges->functions.count > 0;
  const int64_t *const lines = has_ranges ? in[self->at.line].ints : NULL;
  const size_t rows = self->in.rows;
  int64_t latest = self->latest;
  size_t row = self->row;
  pf_status status = PF_OK;
  for (; row < rows && o->row < o->capacity; row++) {
    xpp_call_row call_row;
    if (!xpp_frames_look_cached(frames, ops[row], calls[row], threads[row],
                                &call_row)) {
      status = xpp_frames_look(frames, &self->in, &self->at, row, &call_row);
      if (status != PF_OK)
        break;
    }
    const entry e = {&frames->lanes[call_row.lane], call_row.slot, call_row.op,
                     times[row]};
    if (!is_on_top(self, &e, lines == NULL ? NULL : &lines[row]) ||
        !process(self, o, &e))
      break;
    e.lane->orphan = XPP_NO_FRAME;
    e.lane->before = times[row];
    latest = e.time > latest ? e.time : latest;
  }
  if (row > self->row)
    self->kept = NO_BREAK;
  self->row = row;
  self->latest = latest;
  return status;
}


pf_status xpp_unfilter_fast (unfilter *self, pf_batch *out) {
  const out_columns *const to = &self->to;
  output o = {column_of(out, to->time),
              column_of(out, to->thread),
              column_of(out, to->event),
              column_of(out, to->area),
              out->rows,
              PF_BATCH_ROWS};
  const pf_status status = process_all(self, &o);
  if (to->flags < out->ncolumns)
    pf_put_none(&out->columns[to->flags], out->rows, o.row - out->rows);
  out->rows = o.row;
  return status;
}
