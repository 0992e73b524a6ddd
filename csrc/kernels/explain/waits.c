/*
** waits.c - each core has the list of the lanes that wait there; when its
** runner changes, the time since the last change is added to the open calls of
** all of them.
*/

#include "kernels/explain/waits.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/base/order.h"
#include "kernels/explain/running.h"
#include "model/base/memory.h"


pf_status pf_waits_core (pf_waits *w, const pf_column *column, size_t row,
                         uint32_t *core) {
  *core = 0;
  if (pf_is_missing(column, row) || column->ints[row] < 0)
    return PF_OK;
  const uint64_t word = pf_order_int(column->ints[row]);
  if (pf_id_table_words(&w->core_ids, &word, 1, core) != PF_OK)
    return PF_ENOMEM;
  ++*core;
  return pf_grow_filled(&w->cores, &w->ncores, (size_t)*core + 1, 0)
             ? PF_OK
             : PF_ENOMEM;
}


/* Add the time since the last addition to the open call of a lane that waits,
   as the runner of its core. */
static pf_status attribute (pf_waits *w, uint32_t lane, int64_t time) {
  pf_wait_lane *const l = &w->lanes[lane];
  const pf_wait_core *const core = &w->cores[l->core];
  uint32_t node;
  if (time <= l->since)
    return PF_OK;
  const pf_node_sum sum = {.count = 1, .elapsed = (pf_wide)time - l->since};
  l->since = time;
  if (core->runner == 0)
    return PF_OK;
  pf_open_lane *const open = pf_open_calls_lane(w->open, lane);
  if (open == NULL ||
      pf_subtree_wait(w->trees, l->node, core->runner - 1, &node) != PF_OK)
    return PF_ENOMEM;
  return pf_open_calls_add(w->open, open, node, &sum);
}


/* Change what runs on a core: a lane and its runner, + 1, or 0. */
static pf_status set_runner (pf_waits *w, uint32_t core, uint32_t lane,
                             uint32_t runner, int64_t time) {
  pf_wait_core *const c = &w->cores[core];
  pf_status status = PF_OK;
  if (c->runner == runner)
    return PF_OK;
  for (uint32_t at = c->first; at != 0 && status == PF_OK;
       at = w->lanes[at - 1].next)
    status = attribute(w, at - 1, time);
  c->lane = lane;
  c->runner = runner;
  return status;
}


static void begin_wait (pf_waits *w, uint32_t lane, uint32_t node,
                        int64_t time) {
  pf_wait_lane *const l = &w->lanes[lane];
  pf_wait_core *const c = &w->cores[l->core];
  l->is_waiting = true;
  l->node = node;
  l->since = time;
  l->prev = 0;
  l->next = c->first;
  if (c->first != 0)
    w->lanes[c->first - 1].prev = lane + 1;
  c->first = lane + 1;
}


pf_status pf_waits_before (pf_waits *w, uint32_t lane, int64_t time) {
  if (lane >= w->nlanes || !w->lanes[lane].is_waiting)
    return PF_OK;
  pf_wait_lane *const l = &w->lanes[lane];
  const pf_status status = attribute(w, lane, time);
  l->is_waiting = false;
  if (l->next != 0)
    w->lanes[l->next - 1].prev = l->prev;
  if (l->prev != 0)
    w->lanes[l->prev - 1].next = l->next;
  else
    w->cores[l->core].first = l->next;
  return status;
}


/* Find the runner of a lane whose innermost function runs. PF_ENOMEM. */
static pf_status find_runner (pf_waits *w, const pf_lanes *lanes,
                              uint32_t lane) {
  pf_wait_lane *const l = &w->lanes[lane];
  const uint32_t area = pf_outermost_area(pf_lane_at(lanes, lane));
  if (l->runner != 0 && l->area == area)
    return PF_OK;
  const uint64_t word = (uint64_t)lane << 32 | area;
  const pf_status status = pf_id_table_words(&w->runners, &word, 1, &l->runner);
  l->runner++;
  l->area = area;
  return status;
}


pf_status pf_waits_after (pf_waits *w, const pf_machine *m, uint32_t lane,
                          uint32_t core, int64_t time) {
  const pf_frame *const f = pf_active_function(pf_lane_at(&m->lanes, lane));
  const bool is_running = f != NULL && f->state == PF_FRAME_RUNNING;
  if (!pf_grow_filled(&w->lanes, &w->nlanes, (size_t)lane + 1, 0) ||
      !pf_grow_filled(&w->cores, &w->ncores, 1, 0))
    return PF_ENOMEM;
  pf_wait_lane *const l = &w->lanes[lane];
  const bool has_left =
      w->cores[l->core].lane == lane + 1 && (!is_running || l->core != core);
  if (has_left && set_runner(w, l->core, 0, 0, time) != PF_OK)
    return PF_ENOMEM;
  l->core = core;
  if (core == 0)
    return PF_OK;
  if (is_running)
    return find_runner(w, &m->lanes, lane) == PF_OK
               ? set_runner(w, core, lane + 1, l->runner, time)
               : PF_ENOMEM;
  const uint32_t node =
      f == NULL ? PF_NO_NODE : pf_subtree_of(w->trees, f->stack);
  if (node != PF_NO_NODE && !m->before_range)
    begin_wait(w, lane, node, time);
  return PF_OK;
}


void pf_waits_reset (pf_waits *w) {
  for (size_t i = 0; i < w->nlanes; i++)
    w->lanes[i].is_waiting = false;
  if (w->cores != NULL)
    memset(w->cores, 0, w->ncores * sizeof *w->cores);
}


void pf_waits_free (pf_waits *w) {
  pf_id_table_free(&w->core_ids);
  pf_id_table_free(&w->runners);
  free(w->cores);
  free(w->lanes);
}
