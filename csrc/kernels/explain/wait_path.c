/*
** wait_path.c - keeps the events of all lanes during the slowest call, linked
** by lane. Each step of following goes to an earlier event, so following ends.
*/

#include "kernels/explain/wait_path.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/explain/running.h"
#include "model/base/memory.h"


/* Append an event with the present state of its lane, linked to the previous
   one of the lane. PF_ENOMEM. */
static pf_status append (pf_wait_path *p, const pf_machine *m, uint32_t lane,
                         int64_t time, uint32_t waker) {
  const pf_lane *const state = pf_lane_at(&m->lanes, lane);
  const uint32_t area = pf_running_area(state);
  const bool is_open = pf_active_function(state) != NULL;
  if (p->nevents == PF_MAX_PATH_EVENTS) {
    p->is_full = true;
    return PF_OK;
  }
  if (!pf_grow(&p->events, &p->capacity, p->nevents + 1))
    return PF_ENOMEM;
  p->events[p->nevents++] =
      (pf_path_event){.time = time,
                      .lane = lane,
                      .area = area,
                      .is_suspended = is_open && area == PF_NO_AREA,
                      .prev = p->last[lane],
                      .waker = waker};
  p->last[lane] = (uint32_t)p->nevents;
  return PF_OK;
}


pf_status pf_path_before (pf_wait_path *p, const pf_machine *m, uint32_t lane) {
  if (!pf_grow_filled(&p->last, &p->nlanes, (size_t)lane + 1, 0))
    return PF_ENOMEM;
  return p->last[lane] != 0 ? PF_OK : append(p, m, lane, p->from, 0);
}


/* Returns 1 + the index of the last event of the last other lane on a core. 0:
   there is none, or it is not later than `since` (and, with `or_runs`, the lane
   does not run after it). */
static uint32_t last_on (const pf_wait_path *p, uint32_t core, uint32_t lane,
                         int64_t since, bool or_runs) {
  const struct pf_path_core *const c = &p->cores[core];
  const uint32_t other = c->lane == lane + 1 ? c->other : c->lane;
  const uint32_t at = other == 0 ? 0 : p->last[other - 1];
  if (at == 0)
    return 0;
  const pf_path_event *const e = &p->events[at - 1];
  return e->time > since || (or_runs && e->area != PF_NO_AREA) ? at : 0;
}


/* Returns 1 + the index of the event whose lane the path goes to in the gap
   before an event of `lane`, or 0. */
static uint32_t waker_of (const pf_wait_path *p, uint32_t lane, uint32_t core) {
  const pf_path_event *const last = &p->events[p->last[lane] - 1];
  const uint32_t at = last_on(p, core, lane, last->time, true);
  return at != 0 || core == 0 || !last->is_suspended
             ? at
             : last_on(p, 0, lane, last->time, false);
}


/* Make a lane the last one of a core; the one before becomes `other`. */
static void set_last (struct pf_path_core *core, uint32_t lane) {
  if (core->lane == lane + 1)
    return;
  core->other = core->lane;
  core->lane = lane + 1;
}


pf_status pf_path_after (pf_wait_path *p, const pf_machine *m, uint32_t lane,
                         uint32_t core, int64_t time) {
  if (!pf_grow_filled(&p->cores, &p->ncores, (size_t)core + 1, 0))
    return PF_ENOMEM;
  if (p->is_full)
    return PF_OK;
  const bool has_run = p->events[p->last[lane] - 1].area != PF_NO_AREA;
  const uint32_t waker = has_run ? 0 : waker_of(p, lane, core);
  set_last(&p->cores[core], lane);
  if (core != 0)
    set_last(&p->cores[0], lane);
  return append(p, m, lane, time, waker);
}


void pf_path_reset (pf_wait_path *p) {
  p->is_full = false;
  p->nevents = 0;
  if (p->last != NULL)
    memset(p->last, 0, p->nlanes * sizeof *p->last);
  if (p->cores != NULL)
    memset(p->cores, 0, p->ncores * sizeof *p->cores);
}


/* A lane that is followed back to the time `until`. */
typedef struct followed {
  uint32_t at;   /* index + 1 of the event before the time to explain, or 0 */
  uint32_t next; /* that of the event after it in the lane, or 0 */
  uint32_t lane;
  int64_t until;
} followed;

typedef struct walk {
  followed *stack;
  size_t depth, capacity;
} walk;


static pf_status follow (walk *w, const pf_wait_path *p, uint32_t at,
                         uint32_t next, int64_t until) {
  if (!pf_grow(&w->stack, &w->capacity, w->depth + 1))
    return PF_ENOMEM;
  w->stack[w->depth++] = (followed){at, next, p->events[at - 1].lane, until};
  return PF_OK;
}


/* Add the step from `start` to *stop, which precedes those so far, and set
   *stop to `start`. One in which nothing is known to run is of no lane.
   PF_ENOMEM. */
static pf_status add_step (pf_wait_path *p, uint32_t lane, uint32_t area,
                           int64_t start, int64_t *stop) {
  if (area == PF_NO_AREA)
    lane = PF_NO_SLOT;
  if (!pf_grow(&p->steps, &p->steps_capacity, p->nsteps + 1))
    return PF_ENOMEM;
  pf_path_step *const step = &p->steps[p->nsteps];
  if (p->nsteps > 0 && step[-1].lane == lane && step[-1].area == area)
    step[-1].start = start;
  else {
    *step = (pf_path_step){start, *stop, lane, area};
    p->nsteps++;
  }
  *stop = start;
  return PF_OK;
}


/* Explain the time after one event of the topmost lane, or leave the lane.
   *time moves back. */
static pf_status follow_once (pf_wait_path *p, walk *w, int64_t *time) {
  followed *const f = &w->stack[w->depth - 1];
  if (*time <= f->until) {
    w->depth--;
    return PF_OK;
  }
  if (f->at == 0)
    return add_step(p, f->lane, PF_NO_AREA, f->until, time);
  const pf_path_event *const e = &p->events[f->at - 1];
  const int64_t from = e->time > f->until ? e->time : f->until;
  const uint32_t next = f->next;
  const uint32_t waker = next == 0 ? 0 : p->events[next - 1].waker;
  f->next = f->at;
  f->at = e->prev;
  if (*time <= from)
    return PF_OK;
  /* Nothing ran: go on in the lane that explains the gap. */
  return waker != 0 && e->area == PF_NO_AREA
             ? follow(w, p, waker, 0, from)
             : add_step(p, e->lane, e->area, from, time);
}


pf_status pf_path_end (pf_wait_path *p) {
  walk w = {.stack = NULL};
  int64_t time = p->to;
  if (!p->is_wanted || p->is_full)
    return PF_OK;
  p->is_wanted = false;
  pf_status status = follow(&w, p, (uint32_t)p->nevents, 0, p->from);
  while (w.depth > 0 && status == PF_OK)
    status = follow_once(p, &w, &time);
  free(w.stack);
  return status;
}


void pf_path_free (pf_wait_path *p) {
  free(p->events);
  free(p->last);
  free(p->cores);
  free(p->steps);
}
