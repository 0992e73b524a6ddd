/*
** scan_merge.c - merges a chunk into the scan of the events before it.
**
** First, for each slot of the chunk: its first enter gets the period and the
** outside that depend on earlier events; and while the scan has open calls of
** the slot, no enter has an outside and, with `outermost`, no call has a gross.
** Then, for each lane, the unmatched leaves end the calls that are open in the
** scan, and the open calls of the chunk are pushed onto its stack.
*/

#include <stdlib.h>

#include "kernels/statistics/scan.h"
#include "kernels/calls/stack.h"

typedef struct merge {
  pf_scan *scan, *chunk;
  uint32_t *lane_of; /* lane ids of the chunk to those of the scan */
  uint32_t *slot_of; /* slots of the chunk to those of the scan */
} merge;


/* {====== Checks ====== */

static bool has_begun (const pf_lane *lane) {
  return lane != NULL && lane->epoch != PF_NO_EPOCH;
}


/* Whether the unmatched leaves of a lane, and the earlier call at the bottom of
   its stack, match the topmost open calls of the scan. */
static bool calls_match (const merge *g, const pf_lane *lane,
                         const pf_lane *of_chunk) {
  const pf_lanes *const lanes = &g->scan->machine.lanes;
  const uint32_t open = lane->count - 1;
  const bool has_earlier =
      of_chunk->count > 1 && of_chunk->frames[1].is_earlier;
  if (of_chunk->nunmatched + has_earlier > open)
    return false;
  const pf_frame *top = &lane->frames[lane->count - 1];
  for (size_t i = 0; i < of_chunk->nunmatched; i++, top--)
    if (pf_frame_area(lanes, top) != of_chunk->unmatched[i].area)
      return false;
  return !has_earlier ||
         pf_frame_area(lanes, top) ==
             pf_frame_area(&g->chunk->machine.lanes, &of_chunk->frames[1]);
}


static bool lane_fits (const merge *g, uint32_t number) {
  const pf_machine *const m = &g->scan->machine;
  const pf_lane *const of_chunk = g->chunk->machine.lanes.lanes[number];
  const pf_lane *const lane = pf_lane_at(&m->lanes, g->lane_of[number]);
  if (!has_begun(of_chunk))
    return true;
  if (!has_begun(lane) || lane->epoch != m->epoch)
    return of_chunk->nunmatched == 0 &&
           !(of_chunk->count > 1 && of_chunk->frames[1].is_earlier);
  if (of_chunk->frames[0].start < lane->last ||
      lane->count + of_chunk->peak > m->options.max_depth)
    return false;
  for (uint32_t i = 1; i < lane->count; i++)
    if (lane->frames[i].is_line)
      return false;
  return calls_match(g, lane, of_chunk);
}


/* Lanes of variables have no stacks, but their times must not go back. */
static bool slot_fits (const merge *g, uint32_t number) {
  const pf_slot *const slot = &g->chunk->machine.lanes.slots[number];
  const pf_slot *const to = &g->scan->machine.lanes.slots[g->slot_of[number]];
  return slot->kind != PF_KIND_VALUE || slot->first_enter >= to->lane->last;
}


static bool fits (const merge *g) {
  const pf_lanes *const lanes = &g->chunk->machine.lanes;
  for (uint32_t i = 0; i < lanes->nlanes; i++)
    if (lanes->lanes[i] != NULL && !lane_fits(g, i))
      return false;
  for (uint32_t i = 0; i < lanes->nslots; i++)
    if (!slot_fits(g, i))
      return false;
  return true;
}

/* }====== */


/* {====== The ids of the scan ====== */

static pf_status map_lanes (merge *g) {
  const size_t count = g->chunk->events.lanes.count;
  g->lane_of = calloc(count + 1, sizeof *g->lane_of);
  if (g->lane_of == NULL)
    return PF_ENOMEM;
  for (uint32_t i = 0; i < count; i++)
    if (pf_events_same_lane(&g->scan->events, &g->chunk->events, i,
                            &g->lane_of[i]) != PF_OK)
      return PF_ENOMEM;
  return PF_OK;
}


/* Create missing slots in the order of the chunk's. */
static pf_status map_slots (merge *g) {
  const pf_lanes *const lanes = &g->chunk->machine.lanes;
  pf_machine *const m = &g->scan->machine;
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

/* The number of open calls of a slot. */
static uint32_t open_of (const pf_slot *slot) {
  uint32_t count = 0;
  for (uint32_t at = slot->top; at != 0; at = slot->lane->frames[at].below)
    count++;
  return count;
}


/* The period that ends with the first enter of a slot in the chunk. */
static int64_t period_before (const pf_slot *to, const pf_slot *slot) {
  return to->entered ? duration(elapsed(to->last_enter, slot->first_enter))
                     : PF_NO_TIME;
}


static int64_t outside_before (const pf_machine *m, const pf_slot *to,
                               const pf_slot *slot) {
  if (!slot->is_outside_open || to->top != 0)
    return PF_NO_TIME;
  if (to->left)
    return duration(elapsed(to->last_leave, slot->first_enter));
  if (!m->options.edges || m->epoch != 0)
    return PF_NO_TIME;
  return slot->first_enter < m->first
             ? 0
             : duration(elapsed(m->first, slot->first_enter));
}


/* Correct the accumulators of a slot's group, and merge them. */
static pf_status add_slot (merge *g, uint32_t number) {
  const pf_machine *const m = &g->scan->machine;
  const pf_slot *const slot = &g->chunk->machine.lanes.slots[number];
  const pf_slot *const to = &m->lanes.slots[g->slot_of[number]];
  pf_groups *const from = &g->chunk->groups;
  if (number >= from->nslots || from->slot_groups[number] == PF_NO_ID)
    return PF_OK;
  pf_call_sums *const t = &from->sums;
  const uint32_t group = from->slot_groups[number];
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
  if (pf_groups_of_slot(&g->scan->groups, &m->lanes, g->slot_of[number],
                        &into) != PF_OK)
    return PF_ENOMEM;
  return pf_call_sums_merge(&g->scan->groups.sums, into, t, group);
}


/* The scan continues with the last times of the chunk. */
static void renew_slot (const merge *g, uint32_t number) {
  const pf_slot *const slot = &g->chunk->machine.lanes.slots[number];
  pf_slot *const to = &g->scan->machine.lanes.slots[g->slot_of[number]];
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

/* If the topmost call was running when the chunk began, add its time up to
   `begin`, and `before`, its net time from there to its first event in the
   chunk. */
static void run_on (pf_frame *f, int64_t begin, uint64_t before) {
  if (f->state == PF_FRAME_RUNNING)
    f->net += elapsed(f->since, begin) + before;
}


/* End the calls that were left in the chunk. */
static void end_left_calls (pf_machine *m, pf_lane *lane,
                            const pf_lane *of_chunk) {
  int64_t begin = of_chunk->frames[0].start;
  for (size_t i = 0; i < of_chunk->nunmatched; i++) {
    const pf_unmatched_leave *const left = &of_chunk->unmatched[i];
    pf_frame *const f = &lane->frames[lane->count - 1];
    run_on(f, begin, left->before);
    f->state = PF_FRAME_SUSPENDED;
    f->net += left->net;
    f->children = add_clamped(f->children, left->children);
    close_top(m, lane, left->time, 0);
    begin = left->time;
  }
}


/* The topmost call continues as frame 0 of the chunk did, or as the earlier
   call at the bottom of its stack. Returns the number of frames that this used
   up. */
static uint32_t continue_top (pf_lane *lane, const pf_lane *of_chunk) {
  pf_frame *const f = &lane->frames[lane->count - 1];
  const bool has_earlier =
      of_chunk->count > 1 && of_chunk->frames[1].is_earlier;
  const pf_frame *const as = &of_chunk->frames[has_earlier ? 1 : 0];
  const int64_t begin = of_chunk->nunmatched > 0
                            ? of_chunk->unmatched[of_chunk->nunmatched - 1].time
                            : of_chunk->frames[0].start;
  run_on(f, begin, has_earlier ? of_chunk->before : as->net);
  f->children = add_clamped(f->children, as->children);
  if (has_earlier)
    f->net += as->net;
  if (has_earlier || f->state == PF_FRAME_RUNNING) {
    f->state = as->state;
    f->since = as->since;
  }
  return has_earlier ? 2 : 1;
}


/* Push an open call of the chunk onto the stack of the scan. */
static pf_status move_frame (merge *g, pf_lane *lane, const pf_frame *frame) {
  pf_machine *const m = &g->scan->machine;
  const pf_slot *const slot = &g->chunk->machine.lanes.slots[frame->slot];
  const call_event e = {lane, g->slot_of[frame->slot], frame->start, 0, 0};
  const pf_slot *const to = &m->lanes.slots[e.slot];
  const int64_t period =
      frame->is_first ? period_before(to, slot) : frame->period;
  int64_t outside = frame->is_first && slot->is_outside_open
                        ? outside_before(m, to, slot)
                        : frame->outside;
  if (to->top != 0)
    outside = PF_NO_TIME;
  if (lane->count == lane->capacity && !pf_lane_grow(lane))
    return PF_ENOMEM;
  pf_frame *const f = push(m, &e);
  f->period = period;
  f->outside = outside;
  f->since = frame->since;
  f->net = frame->net;
  f->children = frame->children;
  f->state = frame->state;
  return PF_OK;
}


static pf_status add_lane (merge *g, uint32_t number) {
  pf_machine *const m = &g->scan->machine;
  const pf_lane *const of_chunk = g->chunk->machine.lanes.lanes[number];
  pf_lane *const lane = pf_lane_at(&m->lanes, g->lane_of[number]);
  if (!has_begun(of_chunk))
    return PF_OK;
  if (lane->epoch != m->epoch)
    pf_lane_begin(lane, of_chunk->frames[0].start, m->epoch);
  end_left_calls(m, lane, of_chunk);
  pf_status status = PF_OK;
  for (uint32_t i = continue_top(lane, of_chunk);
       i < of_chunk->count && status == PF_OK; i++)
    status = move_frame(g, lane, &of_chunk->frames[i]);
  lane->last = of_chunk->last;
  return status;
}

/* }====== */


static pf_status merge_chunk (merge *g) {
  pf_machine *const m = &g->scan->machine;
  const pf_machine *const from = &g->chunk->machine;
  size_t unmatched = 0;
  for (size_t i = 0; i < from->lanes.nlanes; i++)
    if (from->lanes.lanes[i] != NULL)
      unmatched += from->lanes.lanes[i]->nunmatched;
  pf_status status = pf_machine_reserve(m, unmatched);
  if (status == PF_OK)
    status = pf_call_sums_flush(&g->chunk->groups.sums);
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
             ? pf_groups_add(&g->scan->groups, &m->lanes, m->calls, m->ncalls)
             : status;
}


pf_status pf_scan_merge (pf_scan *scan, pf_scan *chunk, bool *fit) {
  merge g = {scan, chunk, NULL, NULL};
  *fit = false;
  pf_status status = PF_OK;
  if (!chunk->machine.needs_reread && scan->machine.has_begun) {
    status = map_lanes(&g);
    if (status == PF_OK)
      status = map_slots(&g);
    *fit = status == PF_OK && fits(&g);
    if (*fit)
      status = merge_chunk(&g);
  }
  free(g.lane_of);
  free(g.slot_of);
  return status;
}
