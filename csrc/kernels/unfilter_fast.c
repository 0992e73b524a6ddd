/*
** unfilter_fast.c - the loop of unfilter for most rows of events: one look at
** the top of a stack, nothing to be closed before, no flags.
*/

#include <string.h>

#include "kernels/unfilter_put.h"

/* Where events go: packed, or as columns; those that nobody wants are NULL. */
typedef struct outlet {
  pf_packed *packed;
  int64_t *times, *lanes;
  uint32_t *events, *areas;
  size_t row, room; /* the next one, and how many there may be */
} outlet;

/* A row of the input. */
typedef struct moment {
  pf_call_stack *lane;
  uint32_t lane_number, slot;
  pf_call_op letter;
  int64_t time;
} moment;

/* Of what each row needs: no call is made for it. */
#define HOT static inline __attribute__((always_inline))


static void *column_of (const pf_batch *out, size_t column) {
  return column < out->ncolumns ? out->columns[column].data : NULL;
}


/* An event as a time and a word. */
HOT void pack (outlet *o, const moment *m, bool enters, uint32_t area) {
  o->packed->times[o->row] = m->time;
  o->packed->words[o->row++] =
      area << PF_PACKED_AREA | m->lane_number << PF_PACKED_LANE |
      pf_select(enters, PF_EVENT_ENTER, PF_EVENT_LEAVE);
}


HOT void put (const unfilter *self, outlet *o, const moment *m, bool enters,
              uint32_t area) {
  if (o->packed != NULL) {
    pack(o, m, enters, area);
    return;
  }
  const uint32_t event = pf_select(enters, self->enter, self->leave);
  const size_t row = o->row++;
  if (o->times != NULL)
    o->times[row] = m->time;
  if (o->lanes != NULL)
    o->lanes[row] = m->lane->thread;
  if (o->events != NULL)
    o->events[row] = event;
  if (o->areas != NULL)
    o->areas[row] = area;
}


/* An i or an I, where the innermost call is not about to return. */
HOT bool take_enter (unfilter *self, outlet *o, const moment *m) {
  pf_call_stack *const lane = m->lane;
  pf_call_slot *const slot = &self->frames.slots[m->slot];
  if (pf_frames_is_second(lane, m->slot, m->letter)) {
    pf_open_call_record(pf_frames_top(lane), m->letter, m->time);
    return true;
  }
  if (slot->area == PF_NO_AREA || lane->depth == lane->room)
    return false;
  pf_open_call *const call = &lane->frames[lane->depth]; /* there is room */
  /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference) */
  call->slot = m->slot;
  call->below = slot->top;
  call->gaps = self->frames.gaps;
  call->area = slot->area;
  memset(call->seen, 0, sizeof call->seen);
  pf_open_call_record(call, m->letter, m->time);
  slot->top = lane->depth++;
  put(self, o, m, true, slot->area);
  return true;
}


/* An O or an o of the innermost call. */
HOT void take_leave (unfilter *self, outlet *o, const moment *m,
                     pf_open_call *top) {
  if (m->letter == PF_RETURNING && top->seen[PF_CALLING]) {
    pf_open_call_record(top, m->letter, m->time); /* it ends at its o */
    return;
  }
  self->frames.slots[m->slot].top = top->below;
  m->lane->depth--;
  put(self, o, m, false, top->area);
}


/* Take a row; false: it is none of the usual ones. */
HOT bool take (unfilter *self, outlet *o, const moment *m) {
  pf_open_call *const top = pf_frames_top(m->lane);
  const bool is_enter = m->letter <= PF_ENTERED;
  if (m->letter == PF_NO_OP || (top == NULL && !is_enter))
    return false;
  const bool is_returning =
      top != NULL && top->seen[PF_RETURNING] && top->seen[PF_CALLING];
  if (is_enter)
    return !is_returning && take_enter(self, o, m);
  if (top->slot != m->slot || (is_returning && m->letter != PF_RETURNED))
    return false;
  take_leave(self, o, m, top);
  return true;
}


/* An I, or the O of the innermost call, of a trace that has only these. Which
   of them comes is chance, and a branch on it is foreseen half of the time: so
   both are done alike. A leave writes into the frame that it gives up. */
HOT bool take_either (unfilter *self, outlet *o, const moment *m) {
  pf_call_stack *const lane = m->lane;
  pf_call_slot *const slot = &self->frames.slots[m->slot];
  const uint32_t depth = lane->depth;
  const bool enters = m->letter == PF_ENTERED, is_within = depth > 0;
  if (lane->room == 0 || slot->area == PF_NO_AREA ||
      (!enters && m->letter != PF_RETURNING))
    return false;
  const pf_open_call *const top = &lane->frames[depth - is_within];
  const bool has_room = depth < lane->room;
  const bool is_its = (is_within & (top->slot == m->slot)) != 0;
  const bool is_calling = (is_within & top->seen[PF_CALLING]) != 0;
  if (pf_select(enters, has_room, is_its) == 0 || is_calling)
    return false;
  const uint32_t below = top->below;
  pf_open_call *const call = &lane->frames[depth - !enters];
  call->slot = m->slot;
  call->below = slot->top;
  call->gaps = self->frames.gaps;
  call->area = slot->area;
  memset(call->seen, 0, sizeof call->seen);
  pf_open_call_record(call, PF_ENTERED, m->time);
  slot->top = pf_select(enters, depth, below);
  lane->depth = pf_select(enters, depth + 1, depth - 1);
  put(self, o, m, enters, slot->area);
  return true;
}


/* No row from `from` on has flags. */
static void clear_flags (pf_column *flags, size_t from, size_t to) {
  memset(flags->ids + from, 0, (to - from) * sizeof *flags->ids);
  for (; from < to && (from & 63) != 0; from++)
    pf_set_missing(flags, from);
  for (; from + 64 <= to; from += 64) {
    pf_set_missing(flags, from);
    flags->missing[from >> 6] = UINT64_MAX;
  }
  for (; from < to; from++)
    pf_set_missing(flags, from);
}


/* Whether an event of the row may stand in a word behind those before. */
HOT bool may_pack (const unfilter *self, const moment *m, int64_t latest) {
  return m->time >= latest && m->lane_number < UNFILTER_LANES &&
         self->frames.slots[m->slot].area <= PF_PACKED_MOST;
}


/* Take the rows up to one that is not usual. No call of a holder is open: a new
   one has no area yet, and is not taken here. */
HOT pf_status take_all (unfilter *self, outlet *o) {
  pf_frames *const frames = &self->frames;
  const pf_column *const in = self->in.columns;
  const int64_t *const times = in[self->at.time].ints;
  const int64_t *const threads = in[self->at.thread].ints;
  const uint32_t *const ops = in[self->at.op].ids;
  const uint32_t *const calls = in[self->at.call].ids;
  const size_t rows = self->in.rows;
  int64_t latest = self->latest;
  size_t row = self->row;
  pf_status status = PF_OK;
  for (; row < rows && o->row < o->room; row++) {
    pf_call_row mark;
    if (!pf_frames_look_cached(frames, ops[row], calls[row], threads[row],
                               &mark)) {
      status = pf_frames_look(frames, &self->in, &self->at, row, &mark);
      if (status != PF_OK)
        break;
    }
    const moment m = {&frames->lanes[mark.lane], mark.lane, mark.slot,
                      mark.letter, times[row]};
    if (o->packed != NULL && !may_pack(self, &m, latest))
      break;
    if (!take_either(self, o, &m) && !take(self, o, &m))
      break;
    m.lane->orphan = PF_NO_FRAME;
    latest = m.time > latest ? m.time : latest;
  }
  self->row = row;
  self->latest = latest;
  return status;
}


pf_status pf_unfilter_fast (unfilter *self, pf_batch *out) {
  const out_columns *const to = &self->to;
  outlet o = {NULL,
              column_of(out, to->time),
              column_of(out, to->thread),
              column_of(out, to->event),
              column_of(out, to->area),
              out->rows,
              PF_BATCH_ROWS};
  const pf_status status = take_all(self, &o);
  if (column_of(out, to->flags) != NULL)
    clear_flags(&out->columns[to->flags], out->rows, o.row);
  out->rows = o.row;
  return status;
}


pf_status pf_unfilter_pack (unfilter *self, pf_packed *packed) {
  outlet o = {.packed = packed, .room = PF_PACKED_ROWS};
  const pf_status status = take_all(self, &o);
  const pf_frames *const frames = &self->frames;
  for (uint32_t i = self->nthreads; i < frames->nlanes && i < UNFILTER_LANES;
       i++)
    self->threads[i] = frames->lanes[i].thread;
  self->nthreads = frames->nlanes;
  packed->threads = self->threads;
  packed->rows = o.row;
  return status;
}
