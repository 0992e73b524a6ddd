/*
** wait_path.c - keeps the events of all lanes while the call is open, linked by
** lane. Following the path goes from each event to an earlier one, so it ends.
*/

#include "kernels/explain/wait_path.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/explain/running.h"
#include "model/base/memory.h"


/* Append an event, after which the lane of the machine is as it is now, and link
   it to the previous one of the lane. PF_ENOMEM. */
static pf_status append (pf_wait_path *p, const pf_machine *m, uint32_t lane,
                         int64_t time, uint32_t waker) {
  const pf_lane *const at = pf_lane_at(&m->lanes, lane);
  const uint32_t area = pf_running_area(at);
  const bool is_open = pf_innermost_function(at) != NULL;
  if (p->nevents == PF_MAX_PATH_EVENTS) {
    p->is_over = true;
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


/* The last event of another lane on a core. Returns its index + 1, or 0 unless
   it was later than `since`, or its lane has been running since then and
   `or_runs`. */
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


/* The event to which the time before an event of a lane belongs, which did not
   run since its last one: index + 1, or 0. */
static uint32_t waker_of (const pf_wait_path *p, uint32_t lane, uint32_t core) {
  const pf_path_event *const last = &p->events[p->last[lane] - 1];
  const uint32_t at = last_on(p, core, lane, last->time, true);
  return at != 0 || core == 0 || !last->is_suspended
             ? at
             : last_on(p, 0, lane, last->time, false);
}


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
  if (p->is_over)
    return PF_OK;
  const bool has_run = p->events[p->last[lane] - 1].area != PF_NO_AREA;
  const uint32_t waker = has_run ? 0 : waker_of(p, lane, core);
  set_last(&p->cores[core], lane);
  if (core != 0)
    set_last(&p->cores[0], lane);
  return append(p, m, lane, time, waker);
}


void pf_path_reset (pf_wait_path *p) {
  if (p->nevents == PF_MAX_PATH_EVENTS)
    p->is_over = false;
  p->nevents = 0;
  if (p->last != NULL)
    memset(p->last, 0, p->nlanes * sizeof *p->last);
  if (p->cores != NULL)
    memset(p->cores, 0, p->ncores * sizeof *p->cores);
}


/* {====== Following the path ====== */

/* A lane that is followed back to the time `until`. */
typedef struct followed {
  uint32_t at;   /* index + 1 of the event before the time at hand, or 0 */
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


/* Add the time from `start` to *stop before the steps so far, and set *stop to
   `start`. A step in which nothing is known to run is of no lane. PF_ENOMEM. */
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


/* Follow the topmost lane for the time after one event, or leave it. */
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
  return waker != 0 && e->area == PF_NO_AREA
             ? follow(w, p, waker, 0, from)
             : add_step(p, e->lane, e->area, from, time);
}


pf_status pf_path_end (pf_wait_path *p) {
  walk w = {.stack = NULL};
  int64_t time = p->to;
  if (p->is_over)
    return PF_OK;
  p->is_over = true;
  pf_status status = follow(&w, p, (uint32_t)p->nevents, 0, p->from);
  while (w.depth > 0 && status == PF_OK)
    status = follow_once(p, &w, &time);
  free(w.stack);
  return status;
}

/* }====== */


void pf_path_free (pf_wait_path *p) {
  free(p->events);
  free(p->last);
  free(p->cores);
  free(p->steps);
}
