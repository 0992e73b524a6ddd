/*
** scan_merge.c - merges a chunk into the scan of the events before it. Called
** by pf_scan_chunks_read in scan.c (declared in scan.h), in the order of the
** table. It copies from the chunk, changes its first calls, and frees its own
** arrays.
**
** The slots come first: the first call of a slot gets its period and its
** outside. Then the unmatched leaves end calls that are open in the scan, and
** for each lane the open calls of the chunk are pushed onto its stack.
*/

#include <stdlib.h>

#include "kernels/calls/stack.h"
#include "kernels/statistics/scan.h"
#include "model/base/memory.h"


typedef struct merge {
  pf_scan *scan, *chunk;
  uint32_t *lane_of; /* lane ids of the chunk to those of the scan */
  uint32_t *slot_of; /* slots of the chunk to those of the scan */
  uint32_t *left;    /* by lane of the chunk: number of unmatched leaves */
} merge;


/* The earlier call at the bottom of a stack of the chunk, or NULL. */
static const pf_frame *earlier_of (const pf_lane *of_chunk) {
  return of_chunk->count > 1 && of_chunk->frames[1].is_earlier
             ? &of_chunk->frames[1]
             : NULL;
}


/* Whether the topmost open call of a lane in the scan, without those that the
   chunk has left so far, is of `area`, and the lane has no event after `from`,
   the time from which the call ran in the chunk. */
static bool is_open (const merge *g, uint32_t number, uint32_t area,
                     int64_t from) {
  const pf_machine *const m = &g->scan->machine;
  const pf_lane *const lane = pf_lane_at(&m->lanes, g->lane_of[number]);
  return lane != NULL && lane->epoch == m->epoch && from >= lane->last &&
         lane->count > g->left[number] + 1 &&
         pf_frame_area(&lane->frames[lane->count - 1 - g->left[number]]) ==
             area;
}


static bool lane_fits (const merge *g, uint32_t number) {
  const pf_machine *const m = &g->scan->machine;
  const pf_lanes *const lanes = &g->chunk->machine.lanes;
  const pf_lane *const of_chunk = lanes->lanes[number];
  const pf_lane *const lane = pf_lane_at(&m->lanes, g->lane_of[number]);
  if (of_chunk == NULL || of_chunk->epoch == PF_NO_EPOCH)
    return true;
  if (of_chunk->resumed != 0 || (lane != NULL && lane->resumed != 0))
    return false;
  const pf_frame *const earlier = earlier_of(of_chunk);
  const int64_t from = of_chunk->frames[0].start;
  if (earlier != NULL && !is_open(g, number, pf_frame_area(earlier), from))
    return false;
  if (lane == NULL || lane->epoch != m->epoch)
    return true;
  if (from < lane->last ||
      lane->count + g->chunk->machine.chunk.peak > m->options.max_depth)
    return false;
  for (uint32_t i = 1; i < lane->count; i++)
    if (lane->frames[i].is_line)
      return false;
  return true;
}


/* Whether a slot had calls in the chunk that lie in a call of the scan which
   stays open: they have no outside and, with `outermost`, no gross. */
static bool is_within (const merge *g, uint32_t number) {
  const pf_slot *const of = &g->chunk->machine.lanes.slots[number];
  const pf_slot *const to = &g->scan->machine.lanes.slots[g->slot_of[number]];
  uint32_t open = 0;
  for (uint32_t at = to->top; at != 0; at = to->lane->frames[at].below)
    open++;
  return of->is_met && open > of->leaves;
}


static bool fits (const merge *g) {
  const pf_chunk *const c = &g->chunk->machine.chunk;
  for (size_t i = 0; i < c->nleaves; i++) {
    const pf_unmatched_leave *const leave = &c->leaves[i];
    if (!is_open(g, leave->lane, leave->area, leave->from))
      return false;
    g->left[leave->lane]++;
  }
  for (uint32_t i = 0; i < g->chunk->machine.lanes.nlanes; i++)
    if (!lane_fits(g, i))
      return false;
  for (uint32_t i = 0; i < g->chunk->machine.lanes.nslots; i++)
    if (is_within(g, i))
      return false;
  /* Lanes of variables have no stacks, but their times must not go back. */
  for (size_t i = 0; i < c->nfirsts; i++) {
    const pf_slot *const to =
        &g->scan->machine.lanes.slots[g->slot_of[c->firsts[i].slot]];
    if (to->kind == PF_KIND_VALUE && c->firsts[i].start < to->lane->last)
      return false;
  }
  return true;
}


static pf_status map_lanes (merge *g) {
  const pf_id_table *const lanes = &g->chunk->events.lanes;
  const size_t count = lanes->count;
  g->lane_of = calloc(count + 1, sizeof *g->lane_of);
  g->left = calloc(count + 1, sizeof *g->left);
  if (g->lane_of == NULL || g->left == NULL)
    return PF_ENOMEM;
  for (uint32_t i = 0; i < count; i++)
    if (pf_events_lane_id(&g->scan->events, lanes->words[i],
                          i == lanes->missing, &g->lane_of[i]) != PF_OK)
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


/* Merge the groups of the chunk. */
static pf_status add_groups (const merge *g) {
  pf_call_groups *const to = &g->scan->groups, *const from = &g->chunk->groups;
  pf_lanes *const lanes = &g->scan->machine.lanes;
  const size_t count = from->keys.count;
  uint32_t *const groups = pf_array(count + 1, sizeof *groups);
  pf_status status = groups != NULL ? pf_call_groups_flush(from) : PF_ENOMEM;
  for (size_t i = 0; i < count && status == PF_OK; i++) {
    const uint64_t key = from->keys.words[i];
    status =
        from->by == PF_BY_LANE
            ? pf_call_groups_of_slot(to, lanes, g->slot_of[key], &groups[i])
            : pf_call_groups_of_key(to, key, &groups[i]);
  }
  if (status == PF_OK)
    status = pf_aggregates_merge(to->sums, from->sums, groups, count,
                                 to->keys.count);
  free(groups);
  return status;
}


/* Complete the first calls of slots, and add them. */
static pf_status add_firsts (const merge *g) {
  const pf_machine *const m = &g->scan->machine;
  pf_chunk *const c = &g->chunk->machine.chunk;
  for (size_t i = 0; i < c->nfirsts; i++) {
    pf_call *const call = &c->firsts[i];
    const uint32_t slot = g->slot_of[call->slot];
    const pf_slot *const to = &m->lanes.slots[slot];
    call->durations[PF_PERIOD] = period_of(to, call->start);
    if (call->durations[PF_OUTSIDE] == PF_NO_TIME && to->top == 0 &&
        to->kind < PF_KIND_STATE)
      call->durations[PF_OUTSIDE] = outside_of(m, to, call->start);
    call->slot = slot;
  }
  return pf_call_groups_add(&g->scan->groups, &g->scan->machine.lanes,
                            c->firsts, c->nfirsts);
}


/* If a call was running when the chunk, or its part of it, began at `from`, add
   its time up to there, and `before`, its net time from there to its first
   event. */
static void run_on (pf_frame *f, int64_t from, uint64_t before) {
  if (f->state == PF_FRAME_RUNNING)
    f->net += elapsed(f->since, from) + before;
}


/* End a call of the scan that was left in the chunk. */
static void end_left_call (const merge *g, const pf_unmatched_leave *left) {
  pf_machine *const m = &g->scan->machine;
  pf_lane *const lane = pf_lane_at(&m->lanes, g->lane_of[left->lane]);
  pf_frame *const f = &lane->frames[lane->count - 1];
  run_on(f, left->from, left->before);
  f->state = PF_FRAME_SUSPENDED;
  f->net += left->net;
  f->children = add_clamped(f->children, left->children);
  pf_close_top(m, lane, left->time, 0);
}


/* Push an open call of the chunk onto the stack of the scan. */
static pf_status move_frame (const merge *g, pf_lane *lane,
                             const pf_frame *frame) {
  pf_machine *const m = &g->scan->machine;
  const uint32_t slot = g->slot_of[frame->slot];
  const pf_slot *const to = &m->lanes.slots[slot];
  int64_t period = frame->period, outside = frame->outside;
  if (frame->is_first)
    period = period_of(to, frame->start);
  if (to->top != 0)
    outside = PF_NO_TIME;
  else if (frame->is_first && outside == PF_NO_TIME)
    outside = outside_of(m, to, frame->start);
  if (lane->count == lane->capacity && !pf_lane_grow(lane))
    return PF_ENOMEM;
  pf_frame *const f = push(m, slot, frame->start, 0);
  f->period = period;
  f->outside = outside;
  f->since = frame->since;
  f->net = frame->net;
  f->children = frame->children;
  f->state = frame->state;
  return PF_OK;
}


static pf_status add_lane (const merge *g, uint32_t number) {
  pf_machine *const m = &g->scan->machine;
  const pf_lane *const of_chunk = g->chunk->machine.lanes.lanes[number];
  pf_lane *const lane = pf_lane_at(&m->lanes, g->lane_of[number]);
  if (of_chunk == NULL || of_chunk->epoch == PF_NO_EPOCH || lane == NULL)
    return PF_OK;
  if (lane->epoch != m->epoch)
    pf_lane_begin(lane, of_chunk->frames[0].start, m->epoch);
  /* The topmost call continues as frame 0 of the chunk did, or as the earlier
     call at the bottom of its stack. */
  pf_frame *const f = &lane->frames[lane->count - 1];
  const pf_frame *const earlier = earlier_of(of_chunk);
  const pf_frame *const base = &of_chunk->frames[0];
  const pf_frame *const as = earlier != NULL ? earlier : base;
  run_on(f, base->start, earlier != NULL ? of_chunk->before : base->net);
  f->children = add_clamped(f->children, as->children);
  if (earlier != NULL)
    f->net += as->net;
  if (earlier != NULL || f->state == PF_FRAME_RUNNING) {
    f->state = as->state;
    f->since = as->since;
  }
  pf_status status = PF_OK;
  for (uint32_t i = earlier_of(of_chunk) != NULL ? 2 : 1;
       i < of_chunk->count && status == PF_OK; i++)
    status = move_frame(g, lane, &of_chunk->frames[i]);
  lane->last = of_chunk->last;
  return status;
}


static pf_status merge_chunk (const merge *g) {
  pf_machine *const m = &g->scan->machine;
  const pf_machine *const from = &g->chunk->machine;
  const pf_chunk *const c = &from->chunk;
  pf_status status = pf_machine_reserve(m, c->nleaves);
  if (status == PF_OK)
    status = add_groups(g);
  if (status == PF_OK)
    status = add_firsts(g);
  for (size_t i = 0; i < c->nleaves && status == PF_OK; i++)
    end_left_call(g, &c->leaves[i]);
  for (uint32_t i = 0; i < from->lanes.nlanes && status == PF_OK; i++)
    status = add_lane(g, i);
  for (uint32_t i = 0; i < from->lanes.nslots; i++) {
    /* The scan continues with the last times of the chunk. */
    const pf_slot *const slot = &g->chunk->machine.lanes.slots[i];
    pf_slot *const to = &g->scan->machine.lanes.slots[g->slot_of[i]];
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
  pf_add_call_counts(&m->counts, &from->counts);
  if (from->has_begun && from->last > m->last)
    m->last = from->last;
  return status == PF_OK ? pf_call_groups_add(&g->scan->groups, &m->lanes,
                                              m->calls, m->ncalls)
                         : status;
}


pf_status pf_scan_merge (pf_scan *scan, pf_scan *chunk, bool *fit) {
  merge g = {.scan = scan, .chunk = chunk};
  *fit = false;
  pf_status status = PF_OK;
  if (!chunk->machine.chunk.needs_reread && scan->machine.has_begun) {
    status = map_lanes(&g);
    if (status == PF_OK)
      status = map_slots(&g);
    *fit = status == PF_OK && fits(&g);
    if (*fit)
      status = merge_chunk(&g);
  }
  free(g.lane_of);
  free(g.slot_of);
  free(g.left);
  return status;
}
