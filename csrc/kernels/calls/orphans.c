/*
** orphans.c - calls whose enter is not in the trace: they began before it, or
** their enter was lost. In a chunk they are recorded for its merge.
*/

#include "kernels/calls/stack.h"
#include "model/base/memory.h"


void pf_chunk_keep_first (pf_machine *m) {
  pf_chunk *const c = &m->chunk;
  if (pf_grow(&c->firsts, &c->firsts_capacity, c->nfirsts + 1))
    c->firsts[c->nfirsts++] = m->calls[m->ncalls];
  else
    m->is_out_of_memory = true;
}


void pf_chunk_end (pf_machine *m, pf_lane *lane, uint32_t slot,
                   const pf_frame *of, int64_t time) {
  pf_chunk *const c = &m->chunk;
  pf_frame *const base = &lane->frames[0];
  if (!pf_grow(&c->leaves, &c->leaves_capacity, c->nleaves + 1)) {
    m->is_out_of_memory = true;
    return;
  }
  pf_unmatched_leave *const leave = &c->leaves[c->nleaves++];
  *leave = (pf_unmatched_leave){.lane = lane->number,
                                .area = m->lanes.slots[slot].area,
                                .from = base->start,
                                .time = time};
  if (of != NULL) {
    leave->before = lane->before;
    leave->net = of->net;
    leave->children = of->children;
  }
  else {
    const pf_frame before = take_base(lane, time);
    leave->before = before.net;
    leave->children = before.children;
  }
  base->start = time;
  /* Earlier calls of the slot in the chunk lie in the one that ends. */
  m->chunk.needs_reread |= m->lanes.slots[slot].is_met;
  m->lanes.slots[slot].leaves++;
}


static pf_status push_in_chunk (pf_machine *m, uint32_t number, int64_t time,
                                unsigned flags, bool is_resume) {
  pf_lane *const lane = m->lanes.slots[number].lane;
  if (m->lanes.slots[number].kind != PF_KIND_FUNCTION || lane->count > 1) {
    m->chunk.needs_reread = true;
    return PF_OK;
  }
  if (make_room(m, lane, time) != PF_OK)
    return PF_ENOMEM;
  const pf_frame before = take_base(lane, time);
  pause_top(lane, time);
  pf_frame *const f = push(m, number, time, flags);
  lane->before = before.net;
  f->children = before.children;
  f->is_earlier = true;
  f->state = is_resume ? PF_FRAME_RUNNING : PF_FRAME_SUSPENDED;
  return PF_OK;
}


/* A leave without an enter. A function or state on an empty stack gets all the
   time of frame 0. */
pf_status pf_leave_orphan (pf_machine *m, uint32_t number, int64_t time,
                           unsigned flags) {
  pf_slot *const slot = &m->lanes.slots[number];
  pf_lane *const lane = slot->lane;
  if (m->is_chunk) {
    if (slot->kind != PF_KIND_FUNCTION || lane->count > 1) {
      m->chunk.needs_reread = true;
      return PF_OK;
    }
    slot->last_leave = time;
    slot->left = true;
    pf_chunk_end(m, lane, number, NULL, time);
    return PF_OK;
  }
  pf_frame f = {.start = time,
                .period = PF_NO_TIME,
                .outside = PF_NO_TIME,
                .slot = number,
                .word = word_of(slot),
                .stack = stack_of(m, pf_lane_innermost(lane), slot),
                .depth = pf_lane_innermost(lane)->depth + 1};
  if (lane->count == 1 && slot->kind != PF_KIND_LINE) {
    const pf_frame before = take_base(lane, time);
    f.start = before.start;
    f.net = before.net;
    f.children = before.children;
  }
  const uint64_t gross = add_clamped(f.net, f.children);
  const bool is_function = slot->kind == PF_KIND_FUNCTION;
  m->counts.calls += is_function;
  m->counts.unmatched += is_function;
  m->counts.crossed += is_function && lane->count > 1;
  if (lane->count == 1 && slot->kind == PF_KIND_FUNCTION)
    lane->frames[0].children = gross;
  else if (lane->count == 1 && slot->kind != PF_KIND_LINE)
    pf_lane_begin(lane, time, lane->epoch);
  slot->last_leave = time;
  slot->left = true;
  emit_frame(m, &f, pf_frame_area(pf_lane_innermost(lane)), gross, time,
             PF_CALL_ORPHAN | flags);
  return PF_OK;
}


/* A function without an enter appears while only a line is on the stack: move
   it below the line. */
static void swap_with_line (pf_machine *m, pf_lane *lane) {
  pf_frame *const f = lane->frames;
  const pf_frame line = f[1];
  f[1] = f[2];
  f[2] = line;
  f[2].depth = f[1].depth + 1;
  m->lanes.slots[f[1].slot].top = 1;
  m->lanes.slots[f[2].slot].top = 2;
}


/* A suspend or resume without an enter: push the call, if it can be there. It
   takes the children of frame 0 and, if it is suspended, its net. */
pf_status pf_push_orphan (pf_machine *m, uint32_t number, int64_t time,
                          unsigned flags, bool is_resume) {
  const pf_slot *const slot = &m->lanes.slots[number];
  pf_lane *const lane = slot->lane;
  const bool is_line = slot->kind == PF_KIND_LINE;
  const bool is_below = !is_line && lane->count == 2 && lane->frames[1].is_line;
  if (m->is_chunk)
    return push_in_chunk(m, number, time, flags, is_resume);
  if (slot->kind > PF_KIND_LINE || (!is_resume && lane->count > 1 && !is_below))
    return PF_OK;
  if (make_room(m, lane, time) != PF_OK)
    return PF_ENOMEM;
  pf_frame before = {.start = time};
  if (is_line)
    end_sibling(m, lane, time, PF_CALL_UNWOUND);
  else if (lane->count == 1 || is_below)
    before = take_base(lane, time);
  if (lane->count == 1)
    before.start = lane->frames[0].start;
  if (is_below)
    stop_running(&lane->frames[0], time, PF_FRAME_PAUSED);
  else if (!is_line)
    pause_top(lane, time);
  pf_frame *const f = push(m, number, time, flags);
  f->start = before.start;
  f->flags |= PF_CALL_ORPHAN;
  f->is_counted = false;
  f->children = before.children;
  f->net = is_resume ? 0 : before.net;
  f->state = is_resume ? PF_FRAME_RUNNING : PF_FRAME_SUSPENDED;
  if (is_below)
    swap_with_line(m, lane);
  return PF_OK;
}
