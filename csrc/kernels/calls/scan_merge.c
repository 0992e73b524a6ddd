/*
** scan_merge.c - a part behind what came before it.
**
** Of each slot of the part: its first enter gets the period and the time
** outside that only the pass knows; while the pass has calls of it open, no
** enter is outside and, when only the outermost count, no gross. Then, lane by
** lane, the pieces go to the calls they are of, which end, and what is open in
** the part is put on the stack.
*/

#include <stdlib.h>

#include "kernels/calls/scan.h"
#include "kernels/calls/stack.h"

typedef struct merge {
  pf_scan *pass, *part;
  uint32_t *lane_of; /* lanes of the part to those of the pass */
  uint32_t *slot_of; /* likewise */
} merge;


/* {====== Does it fit ====== */

static bool has_begun (const pf_lane *lane) {
  return lane != NULL && lane->epoch != PF_NO_EPOCH;
}


/* Whether the pieces of a lane, and the call at its bottom, are those of the
   topmost calls of the pass. */
static bool pieces_fit (const merge *g, const pf_lane *lane,
                        const pf_lane *of_part) {
  const pf_lanes *const lanes = &g->pass->machine.lanes;
  const uint32_t open = lane->count - 1;
  const bool has_old = of_part->count > 1 && of_part->frames[1].is_old;
  if (of_part->npieces + has_old > open)
    return false;
  const pf_frame *top = &lane->frames[lane->count - 1];
  for (size_t i = 0; i < of_part->npieces; i++, top--)
    if (pf_frame_area(lanes, top) != of_part->pieces[i].area)
      return false;
  return !has_old ||
         pf_frame_area(lanes, top) ==
             pf_frame_area(&g->part->machine.lanes, &of_part->frames[1]);
}


static bool lane_fits (const merge *g, uint32_t number) {
  const pf_machine *const m = &g->pass->machine;
  const pf_lane *const of_part = g->part->machine.lanes.lanes[number];
  const pf_lane *const lane = pf_lane_at(&m->lanes, g->lane_of[number]);
  if (!has_begun(of_part))
    return true;
  if (!has_begun(lane) || lane->epoch != m->epoch)
    return of_part->npieces == 0 &&
           !(of_part->count > 1 && of_part->frames[1].is_old);
  if (of_part->frames[0].start < lane->last ||
      lane->count + of_part->peak > m->options.max_depth)
    return false;
  for (uint32_t i = 1; i < lane->count; i++)
    if (lane->frames[i].is_line)
      return false;
  return pieces_fit(g, lane, of_part);
}


/* The lanes of variables have no pieces, but times. */
static bool slot_fits (const merge *g, uint32_t number) {
  const pf_slot *const slot = &g->part->machine.lanes.slots[number];
  const pf_slot *const to = &g->pass->machine.lanes.slots[g->slot_of[number]];
  return slot->kind != PF_KIND_VALUE || slot->first_enter >= to->lane->last;
}


static bool fits (const merge *g) {
  const pf_lanes *const lanes = &g->part->machine.lanes;
  for (uint32_t i = 0; i < lanes->nlanes; i++)
    if (lanes->lanes[i] != NULL && !lane_fits(g, i))
      return false;
  for (uint32_t i = 0; i < lanes->nslots; i++)
    if (!slot_fits(g, i))
      return false;
  return true;
}

/* }====== */


/* {====== The numbers of the pass ====== */

static pf_status map_lanes (merge *g) {
  const size_t count = g->part->events.lanes.count;
  g->lane_of = calloc(count + 1, sizeof *g->lane_of);
  if (g->lane_of == NULL)
    return PF_ENOMEM;
  for (uint32_t i = 0; i < count; i++)
    if (pf_events_same_lane(&g->pass->events, &g->part->events, i,
                            &g->lane_of[i]) != PF_OK)
      return PF_ENOMEM;
  return PF_OK;
}


/* Slots are made in the order in which the part has met them. */
static pf_status map_slots (merge *g) {
  const pf_lanes *const lanes = &g->part->machine.lanes;
  pf_machine *const m = &g->pass->machine;
  g->slot_of = calloc((size_t)lanes->nslots + 1, sizeof *g->slot_of);
  if (g->slot_of == NULL)
    return PF_ENOMEM;
  for (uint32_t i = 0; i < lanes->nslots; i++) {
    const pf_slot *const slot = &lanes->slots[i];
    const uint32_t number =
        slot->lane->number == PF_NO_SLOT ? 0 : slot->lane->number;
    if (pf_slot_find(&m->lanes, g->lane_of[number], slot->area, m->first,
                     &g->slot_of[i]) != PF_OK)
      return PF_ENOMEM;
    pf_slot *const to = &m->lanes.slots[g->slot_of[i]];
    if (to->epoch != m->epoch) {
      to->epoch = m->epoch;
      to->entered = to->left = false;
    }
  }
  return PF_OK;
}

/* }====== */


/* {====== Slots ====== */

/* How many calls of a slot are open. */
static uint32_t open_of (const pf_slot *slot) {
  uint32_t count = 0;
  for (uint32_t at = slot->top; at != 0; at = slot->lane->frames[at].below)
    count++;
  return count;
}


/* What came before the first enter of a slot in the part. */
static int64_t period_before (const pf_slot *to, const pf_slot *slot) {
  return to->entered ? length(span(to->last_enter, slot->first_enter))
                     : PF_NO_TIME;
}


static int64_t outside_before (const pf_machine *m, const pf_slot *to,
                               const pf_slot *slot) {
  if (!slot->is_outside_open || to->top != 0)
    return PF_NO_TIME;
  if (to->left)
    return length(span(to->last_leave, slot->first_enter));
  if (!m->options.edges || m->epoch != 0)
    return PF_NO_TIME;
  return slot->first_enter < m->first
             ? 0
             : length(span(m->first, slot->first_enter));
}


/* Settle what a slot of the part has in its group, and add that. */
static pf_status add_slot (merge *g, uint32_t number) {
  const pf_machine *const m = &g->pass->machine;
  const pf_slot *const slot = &g->part->machine.lanes.slots[number];
  const pf_slot *const to = &m->lanes.slots[g->slot_of[number]];
  pf_groups *const from = &g->part->groups;
  if (number >= from->nslots || from->of_slots[number] == PF_NO_ID)
    return PF_OK;
  pf_call_sums *const t = &from->tallies;
  const uint32_t group = from->of_slots[number];
  if (open_of(to) > slot->age) {
    pf_call_sums_clear(t, group, PF_OUTSIDE);
    if (m->options.outermost) {
      pf_call_sums_clear(t, group, PF_GROSS);
      pf_call_sums_clear(t, group, PF_CALL);
    }
  }
  if (slot->has_first && slot->is_first_kept &&
      (pf_call_sums_supply(t, group, PF_PERIOD, period_before(to, slot)) !=
           PF_OK ||
       (slot->kind < PF_KIND_STATE &&
        pf_call_sums_supply(t, group, PF_OUTSIDE,
                            outside_before(m, to, slot)) != PF_OK)))
    return PF_ENOMEM;
  uint32_t into;
  if (pf_groups_of_slot(&g->pass->groups, &m->lanes, g->slot_of[number],
                        &into) != PF_OK)
    return PF_ENOMEM;
  return pf_call_sums_merge(&g->pass->groups.tallies, into, t, group);
}


/* What the pass remembers of a slot is what the part does. */
static void renew_slot (const merge *g, uint32_t number) {
  const pf_slot *const slot = &g->part->machine.lanes.slots[number];
  pf_slot *const to = &g->pass->machine.lanes.slots[g->slot_of[number]];
  if (slot->entered) {
    to->entered = true;
    to->last_enter = slot->last_enter;
  }
  if (slot->left) {
    to->left = true;
    to->last_leave = slot->last_leave;
  }
  if (slot->kind == PF_KIND_VALUE)
    to->lane->last = slot->lane->last;
}

/* }====== */


/* {====== Stacks ====== */

/* The time in which the topmost call ran on into the part, until something
   happened to it at a time that is `before` later. */
static void run_on (pf_frame *f, int64_t begin, uint64_t before) {
  if (f->state == PF_FRAME_RUNNING)
    f->net += span(f->since, begin) + before;
}


/* End the calls that the part has left. */
static void add_pieces (pf_machine *m, pf_lane *lane, const pf_lane *of_part) {
  int64_t begin = of_part->frames[0].start;
  for (size_t i = 0; i < of_part->npieces; i++) {
    const pf_unmatched_leave *const piece = &of_part->pieces[i];
    pf_frame *const f = &lane->frames[lane->count - 1];
    run_on(f, begin, piece->before);
    f->state = PF_FRAME_SUSPENDED;
    f->net += piece->net;
    f->children = sum(f->children, piece->children);
    close_top(m, lane, piece->time, 0);
    begin = piece->time;
  }
}


/* The topmost call goes on as the base of the part did, or as the call that
   the part has met at the bottom of its stack; how many frames that were. */
static uint32_t continue_top (pf_lane *lane, const pf_lane *of_part) {
  pf_frame *const f = &lane->frames[lane->count - 1];
  const bool has_old = of_part->count > 1 && of_part->frames[1].is_old;
  const pf_frame *const as = &of_part->frames[has_old ? 1 : 0];
  const int64_t begin = of_part->npieces > 0
                            ? of_part->pieces[of_part->npieces - 1].time
                            : of_part->frames[0].start;
  run_on(f, begin, has_old ? of_part->before : as->net);
  f->children = sum(f->children, as->children);
  if (has_old)
    f->net += as->net;
  if (has_old || f->state == PF_FRAME_RUNNING) {
    f->state = as->state;
    f->since = as->since;
  }
  return has_old ? 2 : 1;
}


/* Put an open call of the part on the stack. */
static pf_status move_frame (merge *g, pf_lane *lane, const pf_frame *frame) {
  pf_machine *const m = &g->pass->machine;
  const pf_slot *const slot = &g->part->machine.lanes.slots[frame->slot];
  const moment at = {lane, g->slot_of[frame->slot], frame->start, 0, 0};
  const pf_slot *const to = &m->lanes.slots[at.slot];
  const int64_t period =
      frame->is_first ? period_before(to, slot) : frame->period;
  int64_t outside = frame->is_first && slot->is_outside_open
                        ? outside_before(m, to, slot)
                        : frame->outside;
  if (to->top != 0)
    outside = PF_NO_TIME;
  if (lane->count == lane->room && !pf_lane_grow(lane))
    return PF_ENOMEM;
  pf_frame *const f = push(m, &at);
  f->period = period;
  f->outside = outside;
  f->since = frame->since;
  f->net = frame->net;
  f->children = frame->children;
  f->state = frame->state;
  return PF_OK;
}


static pf_status add_lane (merge *g, uint32_t number) {
  pf_machine *const m = &g->pass->machine;
  const pf_lane *const of_part = g->part->machine.lanes.lanes[number];
  pf_lane *const lane = pf_lane_at(&m->lanes, g->lane_of[number]);
  if (!has_begun(of_part))
    return PF_OK;
  if (lane->epoch != m->epoch)
    pf_lane_begin(lane, of_part->frames[0].start, m->epoch);
  add_pieces(m, lane, of_part);
  pf_status status = PF_OK;
  for (uint32_t i = continue_top(lane, of_part);
       i < of_part->count && status == PF_OK; i++)
    status = move_frame(g, lane, &of_part->frames[i]);
  lane->last = of_part->last;
  return status;
}

/* }====== */


static pf_status add_part (merge *g) {
  pf_machine *const m = &g->pass->machine;
  const pf_machine *const from = &g->part->machine;
  size_t pieces = 0;
  for (size_t i = 0; i < from->lanes.nlanes; i++)
    if (from->lanes.lanes[i] != NULL)
      pieces += from->lanes.lanes[i]->npieces;
  pf_status status = pf_machine_reserve(m, pieces);
  if (status == PF_OK)
    status = pf_call_sums_flush(&g->part->groups.tallies);
  for (uint32_t i = 0; i < from->lanes.nslots && status == PF_OK; i++)
    status = add_slot(g, i);
  for (uint32_t i = 0; i < from->lanes.nlanes && status == PF_OK; i++)
    if (from->lanes.lanes[i] != NULL)
      status = add_lane(g, i);
  for (uint32_t i = 0; i < from->lanes.nslots; i++)
    renew_slot(g, i);
  if (from->has_begun && from->last > m->last)
    m->last = from->last;
  return status == PF_OK
             ? pf_groups_add(&g->pass->groups, &m->lanes, m->calls, m->ncalls)
             : status;
}


pf_status pf_scan_merge (pf_scan *pass, pf_scan *part, bool *fit) {
  merge g = {pass, part, NULL, NULL};
  *fit = false;
  pf_status status = PF_OK;
  if (!part->machine.needs_reread && pass->machine.has_begun) {
    status = map_lanes(&g);
    if (status == PF_OK)
      status = map_slots(&g);
    *fit = status == PF_OK && fits(&g);
    if (*fit)
      status = add_part(&g);
  }
  free(g.lane_of);
  free(g.slot_of);
  return status;
}
